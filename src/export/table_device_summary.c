/*
 * table_device_summary.c - how devices were used, for people.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/device_summary.h"
#include "base/str.h"
#include "export/cells.h"
#include "export/grid.h"
#include "export/out.h"
#include "export/table_device.h"

#define KERNEL_COLUMNS 60
#define TASK_COLUMNS   32

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0.0;
}

static void put_device_name(struct ut_out *o, const struct ut_device_log *log,
			    const struct ut_device_use *u)
{
	struct ut_str name = ut_strtab_get(&log->strings, log->devices[u->device].name);
	struct ut_buf cell = { 0 };

	ut_cell_name(&cell, name.ptr, name.len, 100);
	ut_out_write(o, cell.data, cell.len);
	ut_buf_release(&cell);
}

/* One line that says what to look at. */
static void put_verdict(struct ut_out *o, const struct ut_device_use *u)
{
	uint64_t window = u->last - u->first, quiet = window - u->busy;

	switch (u->verdict) {
	case UT_VERDICT_DEVICE:
		ut_out_fmt(o, "device-bound: busy %.1f%% of the time; make its kernels faster\n",
			   share(u->busy, window));
		break;
	case UT_VERDICT_HOST:
		ut_out_fmt(o,
			   "host-bound: idle %.1f%% of the time, %.1f%% because nothing had been "
			   "submitted\n",
			   share(quiet, window), share(u->starved, window));
		break;
	case UT_VERDICT_WAITS:
		ut_out_fmt(o,
			   "latency-bound: idle %.1f%% of the time, %.1f%% though work had been "
			   "submitted\n",
			   share(quiet, window), share(quiet - u->starved, window));
		break;
	case UT_VERDICT_IDLE:
		ut_out_fmt(
			o,
			"idle %.1f%% of the time; --chrome-kernel-logging tells whether the host "
			"is the reason\n",
			share(quiet, window));
		break;
	}
}

static void put_share(struct ut_out *o, const char *what, uint64_t part, uint64_t all)
{
	char text[UT_CELL_TIME];

	ut_out_fmt(o, "  %s %s (%.1f%%)", what, ut_cell_time(text, part), share(part, all));
}

static void put_use(struct ut_out *o, const struct ut_device_log *log,
		    const struct ut_device_use *u)
{
	uint64_t window = u->last - u->first;
	char a[UT_CELL_TIME], b[UT_CELL_TIME], c[UT_CELL_TIME];

	put_device_name(o, log, u);
	ut_out_text(o, ": ");
	put_verdict(o, u);
	put_share(o, "busy", u->busy, window);
	put_share(o, "idle", window - u->busy, window);
	ut_out_fmt(o, "  of %s from the first to the last work\n", ut_cell_time(a, window));
	put_share(o, "kernels", u->computing, window);
	put_share(o, "copies", u->copying, window);
	put_share(o, "both at once", u->both, window);
	ut_out_fmt(o,
		   "\n  %" PRIu64 " kernels, %" PRIu64 " copies (%" PRIu64 " bytes), %" PRIu64
		   " fills, %" PRIu64 " others\n",
		   u->kernels, u->copies, u->bytes, u->fills, u->others);
	if (u->timed)
		ut_out_fmt(o,
			   "  launch to start: median %s, 99%% below %s, at most %s; queue depth "
			   "%.1f on average, %" PRIu64 " at most\n",
			   ut_cell_time(a, u->latency_p50), ut_cell_time(b, u->latency_p99),
			   ut_cell_time(c, u->latency_max), u->depth_mean, u->depth_max);
}

static void put_kernels(struct ut_out *o, const struct ut_device_log *log,
			const struct ut_device_summary *s, size_t rows)
{
	struct ut_grid g = { 0 };

	ut_grid_column(&g, "Kernel", UT_GRID_LEFT);
	ut_grid_column(&g, "Launched by", UT_GRID_LEFT);
	ut_grid_column(&g, "Calls", UT_GRID_RIGHT);
	ut_grid_column(&g, "Total", UT_GRID_RIGHT);
	ut_grid_column(&g, "Average", UT_GRID_RIGHT);
	ut_grid_column(&g, "Share", UT_GRID_RIGHT);
	for (size_t i = 0; i < rows; i++) {
		const struct ut_device_top *t = &s->tops[i];
		struct ut_str name = ut_strtab_get(&log->strings, t->name);
		struct ut_str task = ut_strtab_get(&log->strings, t->task);

		ut_grid_name(&g, name.ptr, name.len, KERNEL_COLUMNS);
		if (t->task)
			ut_grid_name(&g, task.ptr, task.len, TASK_COLUMNS);
		else
			ut_grid_text(&g, "-");
		ut_grid_count(&g, t->calls);
		ut_grid_time(&g, t->total);
		ut_grid_time(&g, t->total / t->calls);
		ut_grid_fmt(&g, "%.1f%%", share(t->total, s->kernel_total));
	}
	ut_grid_print(&g, o);
	ut_grid_release(&g);
}

void ut_device_summary_text(struct ut_out *o, const struct ut_device_log *log,
			    const struct ut_device_summary *s, size_t limit)
{
	size_t rows = limit && limit < s->top_count ? limit : s->top_count;

	for (size_t i = 0; i < s->use_count; i++)
		put_use(o, log, &s->uses[i]);
	if (!rows)
		return;
	ut_out_text(o, "\n");
	put_kernels(o, log, s, rows);
	if (rows < s->top_count)
		ut_out_fmt(o, "... and %zu more\n", s->top_count - rows);
}
