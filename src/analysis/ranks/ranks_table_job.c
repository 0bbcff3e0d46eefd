/* ranks_table_job.c - tables of the job as a whole: clocks of hosts, collective operations. */
#include <stdio.h>

#include "ranks/ranks_table_parts.h"
#include "text/cells.h"

/* ---- clocks -------------------------------------------------------------------------------- */

const struct ut_report_column ut_rank_clock_columns[UT_RANK_CLOCK_COLUMNS] = {
	TEXT("host", "Host"),
	COUNT("ranks", "Ranks"),
	TEXT("by", "Placed by"),
	TIME("error", "to within"),
	{ .key = "drift",
	  .title = "Drift, ppm",
	  .unit = "ppm",
	  .type = UT_REPORT_NUMBER,
	  .digits = UT_DIGITS_FIXED + 3 },
	TIME("apart", "Wall clock off"),
	COUNT("evidence", "Evidence"),
	COUNT("measured", "Measured"),
	COUNT("knots", "Rates"),
};

static const char *placed_by(const struct ut_rank_clock *c)
{
	if (c->root)
		return "it is the clock of all";
	if (c->contrary)
		return "evidence that contradicts itself";
	return c->proven ? "evidence" : c->evidence ? "wall clock and evidence" : "wall clock";
}

/* Times that may be negative. */
static struct ut_report_cell signed_time(int64_t value, char text[UT_CELL_TIME + 2])
{
	char bare[UT_CELL_TIME];

	if (value >= 0)
		return ut_report_i64(value);
	snprintf(text, UT_CELL_TIME + 2, "-%s", ut_cell_time(bare, (uint64_t)-value));
	return ut_report_said(ut_report_i64(value), text);
}

void ut_rank_add_clocks(struct ut_report *r, const struct ut_rank_view *v)
{
	for (size_t i = 0; i < v->ranks->clock_count; i++) {
		const struct ut_rank_clock *c = &v->ranks->clocks[i];
		uint64_t error = ut_time_map_worst(&c->map);
		char apart[UT_CELL_TIME + 2];
		const struct ut_report_cell cells[UT_RANK_CLOCK_COLUMNS] = {
			c->host ? ut_rank_string_cell(v, c->host)
				: ut_report_text(c->ranks > 1 ? "(several, in one file)"
							      : "(not recorded)"),
			ut_report_u64(c->ranks),
			ut_report_text(placed_by(c)),
			error == UT_TIME_UNKNOWN ? ut_report_said(ut_report_none(), "?")
						 : ut_report_u64(error),
			ut_report_real((double)ut_time_map_drift(&c->map) / 1000),
			signed_time(c->apart, apart),
			ut_report_u64(c->evidence),
			ut_report_u64(c->measured),
			ut_report_u64(c->map.count > 1 ? c->map.count - 1 : 1),
		};

		ut_report_add(r, cells);
	}
}

/* ---- collective operations ----------------------------------------------------------------- */

#define SPEED(k, t)                                                                                \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "GB_s", .type = UT_REPORT_NUMBER,                \
		.digits = UT_DIGITS_FIXED + 3                                                      \
	}

const struct ut_report_column ut_rank_coll_columns[UT_RANK_COLL_COLUMNS] = {
	TEXT("library", "Library"),
	TEXT("collective", "Collective"),
	TEXT("group", "Group"),
	COUNT("ranks", "Ranks"),
	COUNT("count", "Count"),
	BYTES("total", "Bytes"),
	BYTES("size", "Size"),
	TIME("mean", "Mean"),
	SPEED("algbw", "Alg. GB/s"),
	SPEED("busbw", "Bus GB/s"),
	TIME("spent", "In all ranks"),
	TIME("exposed", "Exposed"),
	SHARE("exposed_share", "of it"),
	TIME("wait", "Waits"),
	COUNT("late_rank", "for rank"),
	FOR_DATA("late_wait", "ns", UT_REPORT_TIME),
	FOR_DATA("late_times", NULL, UT_REPORT_COUNT),
	FOR_DATA("time", "ns", UT_REPORT_TIME),
	FOR_DATA("unfinished", NULL, UT_REPORT_COUNT),
};

void ut_rank_add_colls(struct ut_report *r, const struct ut_rank_view *v)
{
	for (size_t i = 0; i < v->colls.count; i++) {
		const struct ut_rank_by_coll *c = &v->colls.rows[i];
		const struct ut_report_cell none = ut_report_said(ut_report_none(), "-");
		double bus = ut_rank_coll_bus(c);
		const struct ut_report_cell cells[UT_RANK_COLL_COLUMNS] = {
			ut_rank_string_cell(v, c->library),
			ut_report_text(ut_coll_names[c->kind]),
			c->comm ? ut_rank_string_cell(v, c->comm) : none,
			c->ranks ? ut_report_u64(c->ranks) : none,
			ut_report_u64(c->count),
			c->bytes ? ut_report_u64(c->bytes) : none,
			c->bytes ? ut_report_u64(c->bytes / c->count) : none,
			c->count ? ut_report_u64(c->time / c->count) : none,
			c->bytes ? ut_report_real(ut_rank_coll_algorithm(c)) : none,
			c->bytes && bus > 0 ? ut_report_real(bus) : none,
			ut_report_u64(c->spent),
			ut_report_u64(c->exposed),
			ut_rank_share_cell(c->exposed, c->spent),
			ut_report_u64(c->wait),
			c->late_wait ? ut_rank_cell(v, c->late) : none,
			ut_report_u64(c->late_wait),
			ut_report_u64(c->late_times),
			ut_report_u64(c->time),
			ut_report_u64(c->unfinished),
		};

		ut_report_add(r, cells);
	}
}
