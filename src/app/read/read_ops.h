/*
 * read_ops.h - the table "ops" of read.h.
 */
#ifndef UT_READ_READ_OPS_H
#define UT_READ_READ_OPS_H

struct unitrace_trace;
struct ut_arrow_table;
struct ut_read_options;

/* The caller's; in the order of time, at most o->limit rows (0 = all). */
struct ut_arrow_table *ut_read_ops(struct unitrace_trace *trace, const struct ut_read_options *o);

#endif
