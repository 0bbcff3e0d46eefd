/*
 * compat_table.c - summary, active, ts_analysis, stats_summary: figures in columns, byte for byte
 * as the reference prints them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/write_output.h"
#include "base/str.h"
#include "text/out.h"
#include "text/shortest.h"

char *ut_ace_side_name(const char *output, const char *purpose, const char *ending)
{
	struct ut_buf b = { 0 }, bare = { 0 };
	const char *p = output, *cut, *dot;

	while ((cut = strstr(p, ".pt.trace"))) {
		ut_buf_add(&bare, p, (size_t)(cut - p));
		p = cut + 9;
	}
	ut_buf_text(&bare, p);
	dot = strrchr(bare.data, '.');
	ut_buf_add(&b, bare.data, dot ? (size_t)(dot - bare.data) : bare.len);
	ut_buf_fmt(&b, "_%s.%s", purpose, ending);
	ut_buf_release(&bare);
	return b.data;
}

static int commit(struct ut_ace_analysis *a, struct ut_out *o, char *name, const char *what,
		  struct ut_err *err)
{
	int rc = ut_out_commit(o, err);

	if (!rc && what)
		ut_ace_say(&a->messages, UT_ACE_INFO, "SEC statistics %s file created:  %s", what,
			   name);
	free(name);
	return rc;
}

static int write_summary(struct ut_ace_analysis *a, const char *output, struct ut_err *err)
{
	char *name = ut_ace_side_name(output, "summary", "csv");
	struct ut_out *o = ut_out_open(name, UT_OUT_OVERWRITE);

	ut_out_text(o,
		    "Time  \t Total Time\t Calls\t    Mean  \t  Median  \t    Min    \t   Max   \t"
		    "   StDev  \t  pid\t Name \n");
	for (size_t i = 0; i < a->found.stat_count; i++) {
		const struct ut_ace_stat *s = &a->found.stats[i];

		ut_out_fmt(o,
			   "%5.2f\t  %9.3f\t %5" PRIu64
			   "\t %8.3f\t %8.3f\t %8.3f\t %8.3f\t %8.3f\t "
			   "%4" PRId64 "\t %s\n",
			   s->share, s->total, s->calls, s->mean, s->median, s->min, s->max,
			   s->stdev, s->pid, ut_ace_str(&a->table, s->name).ptr);
	}
	return commit(a, o, name, "summary", err);
}

static int write_active(struct ut_ace_analysis *a, const char *output, struct ut_err *err)
{
	char *name = ut_ace_side_name(output, "active", "csv");
	struct ut_out *o = ut_out_open(name, UT_OUT_OVERWRITE);

	ut_out_text(o, "Total Kernel Time  \t  Elapsed Time\t  Start Time\t         End Time  \t "
		       "Active percentage  \t   pid \n");
	for (size_t i = 0; i < a->found.active_count; i++) {
		const struct ut_ace_active *s = &a->found.active[i];

		ut_out_fmt(o, "%9.3f\t  %9.3f\t  %9.3f\t %9.3f\t %5.2f\t %4" PRId64 "\n",
			   s->kernels, s->end - s->start, s->start, s->end, s->percent, s->pid);
	}
	return commit(a, o, name, "active", err);
}

static int write_stamps(struct ut_ace_analysis *a, const char *output, struct ut_err *err)
{
	char *name = ut_ace_side_name(output, "ts_analysis", "csv");
	struct ut_out *o = ut_out_open(name, UT_OUT_OVERWRITE);

	ut_out_text(o, "Calls  \t ");
	for (int i = 1; i < UT_ACE_STAMPS; i++)
		ut_out_fmt(o,
			   "TS%d-%d_Mean   \tTS%d-%d_Median  \tTS%d-%d_Min    \tTS%d-%d_Max   "
			   "\tTS%d-%d_StDev  \t",
			   i + 1, i, i + 1, i, i + 1, i, i + 1, i, i + 1, i);
	ut_out_text(o, "pid\t Name \n");
	for (size_t i = 0; i < a->found.stat_count; i++) {
		const struct ut_ace_stat *s = &a->found.stats[i];

		ut_out_fmt(o, " %5" PRIu64, s->calls);
		for (int k = 0; k < UT_ACE_STAMPS - 1; k++) {
			for (int n = 0; n < 5; n++)
				ut_out_fmt(o, "\t %8.3f", s->gap[k][n]);
		}
		ut_out_fmt(o, "\t %4" PRId64 "\t %s\n", s->pid, ut_ace_str(&a->table, s->name).ptr);
	}
	return commit(a, o, name, "timestamp analysis", err);
}

int ut_ace_write_stats(struct ut_ace_analysis *a, const char *output, struct ut_err *err)
{
	int rc = write_summary(a, output, err);

	if (!rc)
		rc = write_active(a, output, err);
	if (!rc)
		rc = write_stamps(a, output, err);
	return rc;
}

int ut_ace_write_comm(struct ut_ace_analysis *a, const char *output, struct ut_err *err)
{
	char *name = ut_ace_side_name(output, "stats_summary", "csv");
	struct ut_out *o = ut_out_open(name, UT_OUT_OVERWRITE);
	char one[UT_SHORTEST_ROOM], two[UT_SHORTEST_ROOM], three[UT_SHORTEST_ROOM];

	/* Without rows the reference puts the pid third. */
	ut_out_text(o, a->found.comm_count ? "pid,elapsed_time,comp_active_atime,"
					   : "elapsed_time,comp_active_atime,pid,");
	ut_out_text(o, "comm_active_atime,comp_active_atime_perc,comm_active_atime_perc\n");
	for (size_t i = 0; i < a->found.comm_count; i++) {
		const struct ut_ace_comm *c = &a->found.comm[i];
		double elapsed = c->end - c->start;

		ut_out_fmt(o, "%" PRId64 ",%s,%s,,%s,\n", c->pid, ut_shortest(one, elapsed),
			   ut_shortest(two, c->compute),
			   ut_shortest(three, elapsed > 0 ? c->compute / elapsed : 0));
	}
	return commit(a, o, name, NULL, err);
}
