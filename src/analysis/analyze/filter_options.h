/*
 * filter_options.h - the options that choose events, the same in all commands that have them.
 */
#ifndef UT_ANALYZE_FILTER_OPTIONS_H
#define UT_ANALYZE_FILTER_OPTIONS_H

#include <stddef.h>

struct ut_arena;
struct ut_filter_opts;
struct ut_opt;

/* A command's own options (own_count of them, without ut_opt_end) and, behind them, those. */
const struct ut_opt *ut_filter_table(struct ut_arena *a, const struct ut_opt *own, size_t own_count,
				     struct ut_filter_opts *filter);

#endif
