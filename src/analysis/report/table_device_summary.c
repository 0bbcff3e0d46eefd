/*
 * table_device_summary.c - how devices were used, for people.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/device_summary.h"
#include "base/str.h"
#include "report/table_device.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/table_report.h"

static double table_device_summary_share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0.0;
}

static void table_device_summary_put_cell(struct ut_out *o, struct ut_str name)
{
	struct ut_buf cell = { 0 };

	ut_cell_name(&cell, name.ptr, name.len, 100);
	ut_out_write(o, cell.data, cell.len);
	ut_buf_release(&cell);
}

/* Devices of several machines, or ranks, may have the same name. */
static bool has_several_owners(const struct ut_device_log *log, const struct ut_device_summary *s)
{
	for (size_t i = 1; i < s->use_count; i++) {
		const struct ut_device_info *a = &log->devices[s->uses[0].device];
		const struct ut_device_info *b = &log->devices[s->uses[i].device];

		if (a->host != b->host || a->rank != b->rank)
			return true;
	}
	return false;
}

static void put_device_name(struct ut_out *o, const struct ut_device_log *log,
			    const struct ut_device_use *u, bool with_owner)
{
	const struct ut_device_info *d = &log->devices[u->device];

	table_device_summary_put_cell(o, ut_strtab_get(&log->strings, d->name));
	if (with_owner && d->host) {
		ut_out_text(o, " on ");
		table_device_summary_put_cell(o, ut_strtab_get(&log->strings, d->host));
	}
	if (with_owner && d->rank >= 0)
		ut_out_fmt(o, " of rank %" PRId32, d->rank);
}

/* One line that says what to look at. */
static void put_limiter(struct ut_out *o, const struct ut_device_use *u)
{
	double quiet = table_device_summary_share(u->window - u->busy, u->window);

	switch (u->limiter) {
	case UT_LIMITER_DEVICE:
		ut_out_fmt(o, "device-bound: busy %.1f%% of the time; make its kernels faster\n",
			   table_device_summary_share(u->busy, u->window));
		break;
	case UT_LIMITER_HOST:
		ut_out_fmt(o,
			   "host-bound: idle %.1f%% of the time, %.1f%% because the host had not "
			   "launched what came next\n",
			   quiet, table_device_summary_share(u->starved, u->window));
		break;
	case UT_LIMITER_WAITS:
		ut_out_fmt(o,
			   "latency-bound: idle %.1f%% of the time, %.1f%% though the host had "
			   "launched what came next\n",
			   quiet, table_device_summary_share(u->delayed, u->window));
		break;
	case UT_LIMITER_IDLE:
		ut_out_fmt(
			o,
			"idle %.1f%% of the time; --chrome-kernel-logging tells whether the host "
			"is the reason\n",
			quiet);
		break;
	}
}

static void table_device_summary_put_share(struct ut_out *o, const char *what, uint64_t part,
					   uint64_t all)
{
	char text[UT_CELL_TIME];

	ut_out_fmt(o, "  %s %s (%.1f%%)", what, ut_cell_time(text, part),
		   table_device_summary_share(part, all));
}

static void table_device_summary_put_count(struct ut_out *o, uint64_t n, const char *one,
					   const char *many)
{
	ut_out_fmt(o, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

static void put_counts(struct ut_out *o, const struct ut_device_use *u)
{
	ut_out_text(o, "  ");
	table_device_summary_put_count(o, u->kernels, "kernel, ", "kernels, ");
	table_device_summary_put_count(o, u->copies, "copy", "copies");
	ut_out_fmt(o, " (%" PRIu64 " bytes), ", u->bytes);
	table_device_summary_put_count(o, u->fills, "fill, ", "fills, ");
	table_device_summary_put_count(o, u->others, "other\n", "others\n");
}

static void put_window(struct ut_out *o, const struct ut_device_use *u)
{
	char text[UT_CELL_TIME];

	ut_out_fmt(o, "  of %s from the first to the last work", ut_cell_time(text, u->window));
	if (u->paused)
		ut_out_fmt(o, ", %s of pauses left out", ut_cell_time(text, u->paused));
	if (u->run)
		ut_out_fmt(o, "; the recording lasted %s", ut_cell_time(text, u->run));
	ut_out_text(o, "\n");
}

static void put_use(struct ut_out *o, const struct ut_device_use *u)
{
	char a[UT_CELL_TIME], b[UT_CELL_TIME], c[UT_CELL_TIME];

	table_device_summary_put_share(o, "busy", u->busy, u->window);
	table_device_summary_put_share(o, "idle", u->window - u->busy, u->window);
	put_window(o, u);
	table_device_summary_put_share(o, "kernels", u->computing, u->window);
	table_device_summary_put_share(o, "copies", u->copying, u->window);
	table_device_summary_put_share(o, "both at once", u->both, u->window);
	if (u->copying)
		ut_out_fmt(o, ": %.1f%% of the copies hidden",
			   table_device_summary_share(u->both, u->copying));
	ut_out_text(o, "\n");
	put_counts(o, u);
	if (u->timed)
		ut_out_fmt(o,
			   "  launch to start: median %s, 99%% below %s, at most %s; queue depth "
			   "%.1f on average, %" PRIu64 " at most\n",
			   ut_cell_time(a, u->latency_p50), ut_cell_time(b, u->latency_p99),
			   ut_cell_time(c, u->latency_max), u->depth_mean, u->depth_max);
}

void ut_device_summary_people(struct ut_out *o, const struct ut_device_log *log,
			      const struct ut_device_summary *s, const struct ut_report_opts *opts)
{
	bool with_owner = has_several_owners(log, s);

	for (size_t i = 0; i < s->use_count; i++) {
		put_device_name(o, log, &s->uses[i], with_owner);
		ut_out_text(o, ": ");
		put_limiter(o, &s->uses[i]);
		put_use(o, &s->uses[i]);
	}
	if (!s->top_count)
		return;
	ut_out_text(o, "\n");
	ut_device_kernels(o, log, s, opts);
}

void ut_device_summary_text(struct ut_out *o, const struct ut_device_log *log,
			    const struct ut_device_summary *s, size_t limit)
{
	const struct ut_report_opts opts = { .limit = limit, .width = UT_REPORT_WIDTH_OWN };

	ut_device_summary_people(o, log, s, &opts);
}
