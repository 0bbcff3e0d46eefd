#include "tt/ops_tracy_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "text/csv_read.h"
#include "tt/durations.h"
#include "tt/ops_tracy.h"
#include "tt/ops_tracy_cores.h"
#include "tt/ops_tracy_counters.h"
#include "tt/read_log.h"

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
	{ "dispatch_total_cq_cmd_op_time", "DISPATCH TOTAL CQ CMD OP TIME [ns]", SPAN },
	{ "dispatch_go_send_wait_time", "DISPATCH GO SEND WAIT TIME [ns]", SPAN },
};

struct reader {
	struct ut_tracy_device *d;
	struct ut_ops_report *r;
	const struct ut_tt_log *log;
	const struct ut_tt_analysis *a;
	bool chip;       /* rows tell about the chip, too */
	uint32_t *seen;  /* per core: the last run that it took part in */
	uint32_t serial; /* of the run */
	struct ut_arena arena;
	struct ut_idmap dispatched; /* op + 1 -> its number in the chip's dispatch_ops, plus 1 */
	struct ut_tracy_counters counters;
};

static void ops_tracy_log_put(struct reader *d, const char *name, const char *text)
{
	uint32_t column;

	if (ut_tracy_column_find(d->r, (struct ut_str){ name, strlen(name) }, &column))
		ut_ops_put(d->r, column, (struct ut_str){ text, strlen(text) });
}

static void ops_tracy_log_put_u64(struct reader *d, const char *name, uint64_t value)
{
	ops_tracy_log_put(d, name, ut_str_fmt(&d->r->arena, "%" PRIu64, value));
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

static struct ut_tracy_cycles cycles_between(const struct reader *d,
					     const struct ut_tt_result *result)
{
	const struct ut_tt_span *span = &d->a->spans[result->span];
	struct ut_tracy_cycles c = { 0 };

	if (!result->stats.count || span->start == UT_TT_NO_ROW || span->end == UT_TT_NO_ROW)
		return c;
	return (struct ut_tracy_cycles){ true, d->log->rows[span->start].ts,
					 d->log->rows[span->end].ts };
}

static void ops_tracy_log_put_result(struct reader *d, struct ut_tracy_run *run,
				     const struct ut_tt_result *result)
{
	const char *rule = d->a->setup.rules[result->rule]->name;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		double ns =
			cycles_of(&result->stats, sources[i].value) * 1000.0 / (double)d->log->mhz;

		if (strcmp(rule, sources[i].rule))
			continue;
		ops_tracy_log_put(d, sources[i].column, ut_str_fmt(&d->r->arena, "%.0f", ns));
		if (!strcmp(rule, "device_fw_duration")) {
			run->fw = cycles_between(d, result);
			run->fw_ns = ns;
		} else if (!strcmp(rule, "device_kernel_duration")) {
			run->kernel = cycles_between(d, result);
			run->kernel_ns = ns;
			run->has_kernel_ns = true;
		} else if (!strcmp(rule, "device_kernel_duration_dm_start")) {
			run->dm = cycles_between(d, result);
		}
	}
}

/* A number of {"sub_device_id":0;...}, in the first of the rows that has it. */
static bool find_meta(const struct reader *d, const uint32_t *rows, size_t count, const char *name,
		      struct ut_str *value)
{
	char key[64];
	size_t len = (size_t)snprintf(key, sizeof(key), "\"%s\":", name);

	for (size_t i = 0; i < count; i++) {
		struct ut_str meta =
			ut_tt_str(d->log, d->log->marks[d->log->rows[rows[i]].mark].meta);
		const char *at = meta.len ? memmem(meta.ptr, meta.len, key, len) : NULL;
		const char *end = meta.ptr + meta.len;

		if (!at)
			continue;
		for (at += len; at < end && *at == ' '; at++)
			;
		*value = (struct ut_str){ at, 0 };
		while (at + value->len < end && at[value->len] >= '0' && at[value->len] <= '9')
			value->len++;
		return true;
	}
	return false;
}

static void put_sub_device(struct reader *d, const uint32_t *rows, size_t count)
{
	struct ut_str value;

	if (find_meta(d, rows, count, "sub_device_id", &value))
		ops_tracy_log_put(d, "SUB DEVICE ID",
				  ut_arena_copy(&d->r->arena, value.ptr, value.len));
}

/* ---- cores that dispatch ------------------------------------------------------------------- */

/* Their ops are those of the host that they sent to other cores: found by the host's number. */
static void find_dispatched(struct reader *d, const struct ut_tt_chip_results *results)
{
	ut_arena_release(&d->arena);
	ut_idmap_init(&d->dispatched, &d->arena);
	for (size_t i = 0; d->chip && i < results->dispatch_count; i++) {
		const struct ut_tt_dispatch_op *o = &results->dispatch_ops[i];
		const struct ut_tt_ops *ops = &d->a->dispatch[o->dispatch].ops;
		struct ut_str text;
		uint64_t op;

		if (find_meta(d, ops->rows + ops->first[o->op],
			      ops->first[o->op + 1] - ops->first[o->op], "workers_runtime_id",
			      &text) &&
		    ut_csv_number(text, &op))
			ut_idmap_put(&d->dispatched, op + 1, (uint32_t)i + 1);
	}
}

/* An op that runs several times was dispatched once, for its first run. */
static void put_dispatched(struct reader *d, struct ut_tracy_run *run,
			   const struct ut_tt_chip_results *results)
{
	uint32_t n = ut_idmap_take(&d->dispatched, run->key.op + 1);
	const struct ut_tt_dispatch_op *o = n ? &results->dispatch_ops[n - 1] : NULL;
	const struct ut_tt_scope *scope = o ? &d->a->dispatch[o->dispatch].scopes[o->op] : NULL;

	for (size_t i = 0; scope && i < scope->count; i++)
		ops_tracy_log_put_result(d, run, &d->a->results[scope->result + i]);
}

/* ---- ops ----------------------------------------------------------------------------------- */

static void put_chip(struct reader *d, const uint32_t *rows, size_t count)
{
	uint64_t cores = 0;

	d->serial++;
	for (size_t i = 0; i < count; i++) {
		const struct ut_tt_row *row = &d->log->rows[rows[i]];
		struct ut_str zone = ut_tt_str(d->log, d->log->marks[row->mark].zone);
		uint32_t *seen = &d->seen[d->log->lanes[row->lane].core];

		if (!memmem(zone.ptr, zone.len, "FW", 2))
			continue;
		cores += *seen != d->serial;
		*seen = d->serial;
	}
	ops_tracy_log_put(d, "DEVICE ARCH", ut_str_fmt(&d->r->arena, "%s", d->log->arch));
	ops_tracy_log_put_u64(d, "CORE COUNT", cores);
	if (d->log->max_cores >= 0)
		ops_tracy_log_put_u64(d, "AVAILABLE WORKER CORE COUNT",
				      (uint64_t)d->log->max_cores);
}

/* A report of devices alone has no averages over all cores. */
static void put_counters(struct reader *d, const struct ut_tracy_run *run,
			 const struct ut_tt_mark *mark)
{
	const struct ut_tracy_counted counted = {
		.op = mark->host,
		.replay = mark->replay,
		.kernel = d->chip && run->kernel.known ? run->kernel.end - run->kernel.start : 0,
		.cores = d->log->max_cores,
	};

	ut_tracy_counters_put(&d->counters, d->r, &counted);
}

static int64_t or_none(int64_t trace)
{
	return trace < 0 ? UT_TRACY_NO_TRACE : trace;
}

static void ops_tracy_log_add_run(struct reader *d, uint32_t chip, size_t op)
{
	const struct ut_tt_chip_results *results = &d->a->chips[chip];
	const struct ut_tt_scope *scope = &results->op_scopes[op];
	const uint32_t *rows = results->ops.rows + results->ops.first[op];
	size_t count = results->ops.first[op + 1] - results->ops.first[op];
	const struct ut_tt_mark *mark = &d->log->marks[d->log->rows[rows[0]].mark];
	struct ut_tracy_run run = { .key = { .op = mark->host,
					     .device = d->log->chips[chip].id,
					     .trace = or_none(mark->trace),
					     .replay = or_none(mark->replay) },
				    .name = { "", 0 } };
	size_t first = d->r->cell_count;

	for (size_t i = 0; i < scope->count; i++)
		ops_tracy_log_put_result(d, &run, &d->a->results[scope->result + i]);
	put_dispatched(d, &run, results);
	put_counters(d, &run, mark);
	put_sub_device(d, rows, count);
	if (d->chip)
		put_chip(d, rows, count);
	if (run.fw.known) {
		ops_tracy_log_put_u64(d, "DEVICE FW START CYCLE", run.fw.start);
		ops_tracy_log_put_u64(d, "DEVICE FW END CYCLE", run.fw.end);
	}
	if (run.key.trace != UT_TRACY_NO_TRACE)
		ops_tracy_log_put_u64(d, "METAL TRACE ID", (uint64_t)run.key.trace);
	if (run.key.replay != UT_TRACY_NO_TRACE)
		ops_tracy_log_put_u64(d, "METAL TRACE REPLAY SESSION ID", (uint64_t)run.key.replay);
	run.cells = ut_ops_since(d->r, first);
	ut_tracy_device_add(d->d, &run);
}

static void add_runs(struct ut_tracy_device *d, struct ut_ops_report *r,
		     const struct ut_tt_log *log, const struct ut_tt_analysis *a)
{
	struct reader reader = {
		.d = d,
		.r = r,
		.log = log,
		.a = a,
		.chip = !r->used_only,
		.seen = UT_NEW_N(&r->arena, uint32_t, log->core_count + 1),
	};

	d->present = d->from_log = true;
	d->ns_per_cycle = log->mhz ? 1000.0 / (double)log->mhz : 0;
	for (uint32_t c = 0; c < log->chip_count; c++) {
		find_dispatched(&reader, &a->chips[c]);
		ut_tracy_counters_read(&reader.counters, log, &log->chips[c]);
		for (size_t op = 0; op < a->chips[c].ops.count; op++)
			ops_tracy_log_add_run(&reader, c, op);
	}
	ut_tracy_counters_release(&reader.counters);
	ut_arena_release(&reader.arena);
}

/* ---- which rules --------------------------------------------------------------------------- */

static int unknown_analysis(const struct ut_tt_setup *all, const char *name, struct ut_arena *a,
			    struct ut_err *err)
{
	struct ut_buf names = { 0 };

	for (size_t i = 0; i < all->count; i++) {
		ut_buf_text(&names, i ? ", " : "");
		ut_buf_text(&names, all->rules[all->by_name[i]]->name);
	}
	return ut_err_set(err, -EINVAL, "-a %s: no such analysis; there are %s", name,
			  ut_buf_take(&names, a));
}

/* Leaves the rules that were asked for, in the order of the setup. */
static int pick_rules(struct ut_tt_setup *setup, const struct ut_opt_list *wanted,
		      struct ut_arena *a, struct ut_err *err)
{
	const struct ut_tt_setup all = *setup;
	uint8_t number[UT_TT_MAX_RULES];
	size_t named = 0;

	setup->count = 0;
	for (size_t i = 0; i < all.count; i++) {
		for (size_t k = 0; k < wanted->count; k++) {
			if (strcmp(all.rules[i]->name, wanted->items[k]) != 0)
				continue;
			number[i] = (uint8_t)setup->count;
			setup->rules[setup->count++] = all.rules[i];
			break;
		}
	}
	for (size_t k = 0; k < wanted->count; k++) {
		size_t i = 0;

		while (i < all.count && strcmp(all.rules[i]->name, wanted->items[k]) != 0)
			i++;
		if (i == all.count)
			return unknown_analysis(&all, wanted->items[k], a, err);
	}
	for (size_t i = 0; i < all.count; i++) {
		uint8_t rule = all.by_name[i];
		size_t k = 0;

		while (k < setup->count && setup->rules[k] != all.rules[rule])
			k++;
		if (k < setup->count)
			setup->by_name[named++] = number[rule];
	}
	return 0;
}

int ut_tracy_log_read(struct ut_tracy_device *d, struct ut_ops_report *r, const char *path,
		      const struct ut_ops_tracy_opts *opts, struct ut_err *err)
{
	const struct ut_tt_read_opts read_opts = { 0 };
	struct ut_tt_analysis analysis;
	struct ut_tt_setup setup;
	struct ut_tt_log log;
	int rc;

	ut_tracy_device_read(d, NULL, r, NULL);
	ut_tt_log_init(&log);
	rc = ut_tt_read_file(&log, path, &read_opts, err);
	if (!rc && (!log.zones || !ut_tt_setup_find(&setup, true, NULL)))
		rc = ut_err_set(err, -EINVAL,
				"%s: a log of timer numbers, which knows no ops; "
				"'unitrace devlog' reads it",
				path);
	if (!rc && opts->analyses.count)
		rc = pick_rules(&setup, &opts->analyses, &r->arena, err);
	if (!rc) {
		ut_tt_analyze(&analysis, &log, &setup);
		add_runs(d, r, &log, &analysis);
		if (r->used_only && opts->cores)
			ut_tracy_cores_put(opts->cores, &log, &analysis);
		ut_tt_analysis_release(&analysis);
	}
	ut_tt_log_release(&log);
	return rc;
}
