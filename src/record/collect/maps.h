/*
 * maps.h - which file the code at an address came from, so that functions can be named later.
 *
 * From /proc/self/maps: asking the loader would mean waiting for its lock. Any thread; no lock;
 * a file is looked up once.
 */
#ifndef UT_COLLECT_MAPS_H
#define UT_COLLECT_MAPS_H

#include <stdint.h>

/* Defines the mapping that holds this address, if it is not known yet. errno is kept. */
void ut_maps_define(uint64_t address);

#endif
