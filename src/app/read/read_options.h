/*
 * read_options.h - options of read.h, "key=value", read by the tables of the command line.
 */
#ifndef UT_READ_READ_OPTIONS_H
#define UT_READ_READ_OPTIONS_H

#include "analyze/filter.h"
#include "base/arena.h"
#include "base/err.h"

struct ut_opt;

/* What tables and slices can be told. release frees what parse has made. */
struct ut_read_options {
	const char *by, *sort, *title;
	uint64_t limit, min_count, max_slices;
	struct ut_filter_opts events;
	struct ut_filter filter;
	struct ut_arena arena;
};

int ut_read_options_parse(struct ut_read_options *o, const char *const *options,
			  struct ut_err *err) UT_MUST_CHECK;
void ut_read_options_release(struct ut_read_options *o);

#endif
