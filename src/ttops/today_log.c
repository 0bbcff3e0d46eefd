#include "ttops/today_log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "ttdev/analyze.h"
#include "ttdev/read.h"

/* Which number of a rule's result goes where. */
enum value {
	SPAN, /* from start to end: one per op */
	SUM,
	MIN,
	MAX,
	AVERAGE,
};

static const struct {
	const char *rule, *column;
	enum value value;
} sources[] = {
	{ "device_fw_duration", "DEVICE FW DURATION [ns]", SPAN },
	{ "device_kernel_duration", "DEVICE KERNEL DURATION [ns]", SPAN },
	{ "device_kernel_duration_dm_start", "DEVICE KERNEL DURATION DM START [ns]", SPAN },
	{ "device_kernel_duration_per_core", "DEVICE KERNEL DURATION PER CORE MIN [ns]", MIN },
	{ "device_kernel_duration_per_core", "DEVICE KERNEL DURATION PER CORE MAX [ns]", MAX },
	{ "device_kernel_duration_per_core", "DEVICE KERNEL DURATION PER CORE AVG [ns]", AVERAGE },
	{ "device_kernel_first_to_last_start", "DEVICE KERNEL FIRST TO LAST START [ns]", SPAN },
	{ "device_brisc_kernel_duration", "DEVICE BRISC KERNEL DURATION [ns]", SPAN },
	{ "device_ncrisc_kernel_duration", "DEVICE NCRISC KERNEL DURATION [ns]", SPAN },
	{ "device_trisc0_kernel_duration", "DEVICE TRISC0 KERNEL DURATION [ns]", SPAN },
	{ "device_trisc1_kernel_duration", "DEVICE TRISC1 KERNEL DURATION [ns]", SPAN },
	{ "device_trisc2_kernel_duration", "DEVICE TRISC2 KERNEL DURATION [ns]", SPAN },
	{ "device_erisc_kernel_duration", "DEVICE ERISC KERNEL DURATION [ns]", SPAN },
	{ "device_compute_cb_wait_front", "DEVICE COMPUTE CB WAIT FRONT [ns]", SUM },
	{ "device_compute_cb_reserve_back", "DEVICE COMPUTE CB RESERVE BACK [ns]", SUM },
};

struct reader {
	struct ut_today_device *d;
	struct ut_ops_report *r;
	const struct ut_tt_log *log;
	const struct ut_tt_analysis *a;
	bool chip;       /* rows tell about the chip, too */
	uint32_t *seen;  /* per core: the last run that it took part in */
	uint32_t serial; /* of the run */
};

static void put(struct reader *d, const char *name, const char *text)
{
	uint32_t column;

	if (ut_today_column_find(d->r, (struct ut_str){ name, strlen(name) }, &column))
		ut_ops_put(d->r, column, (struct ut_str){ text, strlen(text) });
}

static void put_u64(struct reader *d, const char *name, uint64_t value)
{
	put(d, name, ut_str_fmt(&d->r->arena, "%" PRIu64, value));
}

static double cycles_of(const struct ut_tt_stats *stats, enum value value)
{
	switch (value) {
	case SPAN:
	case MAX:
		return (double)stats->max;
	case SUM:
		return (double)stats->sum;
	case MIN:
		return (double)stats->min;
	case AVERAGE:
		return stats->average;
	}
	return 0;
}

static struct ut_today_cycles cycles_between(const struct reader *d,
					     const struct ut_tt_result *result)
{
	const struct ut_tt_span *span = &d->a->spans[result->span];
	struct ut_today_cycles c = { 0 };

	if (!result->stats.count || span->start == UT_TT_NO_ROW || span->end == UT_TT_NO_ROW)
		return c;
	return (struct ut_today_cycles){ true, d->log->rows[span->start].ts,
					 d->log->rows[span->end].ts };
}

static void put_result(struct reader *d, struct ut_today_run *run,
		       const struct ut_tt_result *result)
{
	const char *rule = d->a->setup.rules[result->rule]->name;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		double ns =
			cycles_of(&result->stats, sources[i].value) * 1000.0 / (double)d->log->mhz;

		if (strcmp(rule, sources[i].rule))
			continue;
		put(d, sources[i].column, ut_str_fmt(&d->r->arena, "%.0f", ns));
		if (!strcmp(rule, "device_fw_duration")) {
			run->fw = cycles_between(d, result);
			run->fw_ns = ns;
		} else if (!strcmp(rule, "device_kernel_duration")) {
			run->kernel = cycles_between(d, result);
			run->kernel_ns = ns;
		} else if (!strcmp(rule, "device_kernel_duration_dm_start")) {
			run->dm = cycles_between(d, result);
		}
	}
}

/* {"sub_device_id":0;...} in any of the op's markers. */
static void put_sub_device(struct reader *d, const uint32_t *rows, size_t count)
{
	static const char key[] = "\"sub_device_id\":";

	for (size_t i = 0; i < count; i++) {
		struct ut_str meta =
			ut_tt_str(d->log, d->log->marks[d->log->rows[rows[i]].mark].meta);
		const char *at = meta.len ? memmem(meta.ptr, meta.len, key, strlen(key)) : NULL;
		size_t n = 0;

		if (!at)
			continue;
		at += strlen(key);
		while (at + n < meta.ptr + meta.len && at[n] >= '0' && at[n] <= '9')
			n++;
		put(d, "SUB DEVICE ID", ut_arena_copy(&d->r->arena, at, n));
		return;
	}
}

static void put_chip(struct reader *d, const uint32_t *rows, size_t count)
{
	uint64_t cores = 0;

	d->serial++;
	for (size_t i = 0; i < count; i++) {
		uint32_t *seen = &d->seen[d->log->lanes[d->log->rows[rows[i]].lane].core];

		cores += *seen != d->serial;
		*seen = d->serial;
	}
	put(d, "DEVICE ARCH", ut_str_fmt(&d->r->arena, "%s", d->log->arch));
	put_u64(d, "CORE COUNT", cores);
	if (d->log->max_cores >= 0)
		put_u64(d, "AVAILABLE WORKER CORE COUNT", (uint64_t)d->log->max_cores);
}

static int64_t or_none(int64_t trace)
{
	return trace < 0 ? UT_TODAY_NO_TRACE : trace;
}

static void add_run(struct reader *d, uint32_t chip, size_t op)
{
	const struct ut_tt_chip_results *results = &d->a->chips[chip];
	const struct ut_tt_scope *scope = &results->op_scopes[op];
	const uint32_t *rows = results->ops.rows + results->ops.first[op];
	size_t count = results->ops.first[op + 1] - results->ops.first[op];
	const struct ut_tt_mark *mark = &d->log->marks[d->log->rows[rows[0]].mark];
	struct ut_today_run run = { .key = { .op = mark->host,
					     .device = d->log->chips[chip].id,
					     .trace = or_none(mark->trace),
					     .replay = or_none(mark->replay) },
				    .name = { "", 0 } };
	size_t first = d->r->cell_count;

	for (size_t i = 0; i < scope->count; i++)
		put_result(d, &run, &d->a->results[scope->result + i]);
	put_sub_device(d, rows, count);
	if (d->chip)
		put_chip(d, rows, count);
	if (run.fw.known) {
		put_u64(d, "DEVICE FW START CYCLE", run.fw.start);
		put_u64(d, "DEVICE FW END CYCLE", run.fw.end);
	}
	if (run.key.trace != UT_TODAY_NO_TRACE)
		put_u64(d, "METAL TRACE ID", (uint64_t)run.key.trace);
	if (run.key.replay != UT_TODAY_NO_TRACE)
		put_u64(d, "METAL TRACE REPLAY SESSION ID", (uint64_t)run.key.replay);
	run.cells = ut_ops_since(d->r, first);
	ut_today_device_add(d->d, &run);
}

int ut_today_log_read(struct ut_today_device *d, const struct ut_today_columns *columns,
		      struct ut_ops_report *r, const char *path, struct ut_err *err)
{
	const struct ut_tt_read_opts opts = { 0 };
	struct ut_tt_analysis analysis;
	struct ut_tt_setup setup;
	struct ut_tt_log log;
	int rc;

	ut_today_device_read(d, columns, r, NULL);
	ut_tt_log_init(&log);
	rc = ut_tt_read_file(&log, path, &opts, err);
	if (!rc && (!log.zones || !ut_tt_setup_find(&setup, true, NULL)))
		rc = ut_err_set(err, -EINVAL,
				"%s: a log of timer numbers, which knows no ops; "
				"'unitrace devlog' reads it",
				path);
	if (!rc) {
		struct reader reader = {
			.d = d,
			.r = r,
			.log = &log,
			.a = &analysis,
			.chip = !r->used_only,
			.seen = UT_NEW_N(&r->arena, uint32_t, log.core_count + 1),
		};

		d->present = true;
		ut_tt_analyze(&analysis, &log, &setup);
		for (uint32_t c = 0; c < log.chip_count; c++) {
			for (size_t op = 0; op < analysis.chips[c].ops.count; op++)
				add_run(&reader, c, op);
		}
		ut_tt_analysis_release(&analysis);
	}
	ut_tt_log_release(&log);
	return rc;
}
