/*
 * ranks_table_parts.h - what the files that make tables of ranks share.
 */
#ifndef UT_RANKS_RANKS_TABLE_PARTS_H
#define UT_RANKS_RANKS_TABLE_PARTS_H

#include "ranks/ranks_table.h"
#include "text/table_report.h"

#define UT_RANK_NAME_COLUMNS 40

#define TEXT(k, t)                                                                                 \
	{                                                                                          \
		.key = (k), .title = (t), .type = UT_REPORT_TEXT, .most = UT_RANK_NAME_COLUMNS     \
	}
#define COUNT(k, t)                                                                                \
	{                                                                                          \
		.key = (k), .title = (t), .type = UT_REPORT_COUNT                                  \
	}
#define TIME(k, t)                                                                                 \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "ns", .type = UT_REPORT_TIME                     \
	}
#define BYTES(k, t)                                                                                \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "bytes", .type = UT_REPORT_BYTES                 \
	}
#define SHARE(k, t)                                                                                \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "%", .type = UT_REPORT_SHARE                     \
	}
#define FOR_DATA(k, u, what)                                                                       \
	{                                                                                          \
		.key = (k), .unit = (u), .type = (what), .readers = UT_FOR_PROGRAMS                \
	}

#define COLUMNS(list)                                                                              \
	{                                                                                          \
		list, sizeof(list) / sizeof(*(list)), false                                        \
	}

static inline struct ut_report_cell ut_rank_share_cell(uint64_t a, uint64_t b)
{
	return b ? ut_report_real(100 * (double)a / (double)b) : ut_report_none();
}

static inline struct ut_report_cell ut_rank_cell(const struct ut_rank_view *v, uint32_t index)
{
	return ut_report_i64(v->ranks->items[index].rank);
}

static inline struct ut_report_cell ut_rank_string_cell(const struct ut_rank_view *v,
							uint32_t string)
{
	return ut_report_str(ut_strtab_get(&v->ranks->strings, string));
}

/* Tables of the job as a whole, of its clocks and collective operations: ranks_table_job.c. */
#define UT_RANK_CLOCK_COLUMNS 9
extern const struct ut_report_column ut_rank_clock_columns[UT_RANK_CLOCK_COLUMNS];
#define UT_RANK_COLL_COLUMNS 19
extern const struct ut_report_column ut_rank_coll_columns[UT_RANK_COLL_COLUMNS];
void ut_rank_add_colls(struct ut_report *r, const struct ut_rank_view *v);
void ut_rank_add_clocks(struct ut_report *r, const struct ut_rank_view *v);

#endif
