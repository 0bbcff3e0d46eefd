/*
 * scan_parts.h - between scan.c and the two other orders of rows, scan_merge.c and scan_group.c.
 * Nobody else includes it.
 */
#ifndef UT_QUERY_SCAN_PARTS_H
#define UT_QUERY_SCAN_PARTS_H

#include "query/scan.h"

/* Per type of a trace: 1 = wanted, as far as the type can tell. */
const uint8_t *ut_scan_passes(struct ut_scan *s, uint32_t trace);

/* Is a row wanted, as far as its own numbers can tell? */
bool ut_scan_row_passes(const struct ut_scan *s, const struct ut_place *p);

/* The next track with rows [*low, *high) that can be wanted; false if there is none. */
bool ut_scan_next_track(struct ut_scan *s, uint32_t *track, uint64_t *low, uint64_t *high);

/* Back to the first track. */
void ut_scan_rewind(struct ut_scan *s);

/* The next row in the order of ids; results as ut_scan_next(). */
int ut_scan_step(struct ut_scan *s);

int ut_scan_next_merged(struct ut_scan *s);
void ut_scan_end_merge(struct ut_scan *s);

int ut_scan_next_grouped(struct ut_scan *s);
void ut_scan_end_groups(struct ut_scan *s);

#endif
