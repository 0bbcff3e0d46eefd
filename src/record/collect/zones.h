/*
 * zones.h - the collector's side of unitrace/zones.h; host.c hands it to those who join.
 */
#ifndef UT_COLLECT_ZONES_H
#define UT_COLLECT_ZONES_H

struct ut_zones;

extern const struct ut_zones ut_zones;

#endif
