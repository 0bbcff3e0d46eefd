/*
 * stats_pack.h - statistics as bytes, from one process to another.
 *
 * The bytes depend on what was counted and not on how: texts instead of ids, groups in order of
 * their texts. Equal statistics give equal bytes, and merging the bytes of all parts in any order
 * gives the statistics of the whole. The format is for programs of one version that run at the same
 * time; it is not for files.
 */
#ifndef UT_ANALYZE_STATS_PACK_H
#define UT_ANALYZE_STATS_PACK_H

#include <stddef.h>

#include "base/err.h"

struct ut_buf;
struct ut_stats;

/* Appends to out. Sorts what is kept in s, which stays the same otherwise. */
void ut_stats_pack(struct ut_stats *s, struct ut_buf *out);

/* Adds what was packed to s, which must have the same dimensions. Any bytes are safe. */
int ut_stats_unpack(struct ut_stats *s, const char *data, size_t len,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
