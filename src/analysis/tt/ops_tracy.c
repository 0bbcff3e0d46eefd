#include "tt/ops_tracy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#define UT_LOG_MODULE "tt"
#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "text/csv_read.h"
#include "tt/ops_tracy_device.h"
#include "tt/ops_tracy_host.h"
#include "tt/ops_tracy_info.h"
#include "tt/ops_tracy_log.h"
#include "tt/ops_tracy_sub.h"

#define MESSAGES "tracy_ops_data.csv"
#define TIMES    "tracy_ops_times.csv"
#define DEVICE   "cpp_device_perf_report.csv"
#define LOG      "profile_log_device.csv"

/* A device log alone is a sign only in ".logs": in 2023 it lay beside the folders of ops. */
const char *ut_ops_tracy_folder(struct ut_arena *a, const char *folder)
{
	static const char *const files[] = { MESSAGES, TIMES, DEVICE };
	const char *inner = ut_path_join(a, folder, ".logs");

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (ut_path_exists(ut_path_join(a, folder, files[i])))
			return folder;
		if (ut_path_exists(ut_path_join(a, inner, files[i])))
			return inner;
	}
	return ut_path_exists(ut_path_join(a, inner, LOG)) ? inner : NULL;
}

bool ut_ops_tracy_file(const char *path)
{
	static const char *const files[] = { MESSAGES, TIMES, DEVICE, LOG };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!strcmp(ut_path_base(path), files[i]))
			return true;
	}
	return false;
}

/* At the same time ops come first, then replays, then signposts. */
enum {
	ROW_OP,
	ROW_REPLAY,
	ROW_SIGNPOST,
};

/* An op as a message tells it. */
struct op {
	uint64_t id;
	int64_t device;
	bool on_device;
	uint32_t info;            /* number in infos; 0 = none */
	struct ut_tracy_info own; /* what its message adds to that; no cells = nothing */
	struct ut_str code;       /* for want of info */
	struct ut_str hit;
	const char *why; /* what is wrong with the message */
	uint32_t next;   /* of the same trace; 0 = none */
	int64_t when;    /* its place in the report: when it began, or else the message's time */
};

/* A sequence of ops that is captured once and replayed. */
struct trace {
	int64_t device, id;
	uint32_t first, last; /* ops */
	int64_t replays;
};

struct reader {
	struct ut_ops_report *r;
	struct ut_tracy_columns columns;
	struct ut_tracy_host host;
	struct ut_tracy_device device;
	struct ut_strtab programs; /* "device hash", in the order of infos */
	struct ut_tracy_info *infos;
	size_t info_count, info_cap;
	struct op *ops;
	size_t op_count, op_cap;
	struct ut_strtab trace_names; /* "device id", in the order of traces */
	struct trace *traces;
	size_t trace_count, trace_cap;
	size_t lost;             /* replays without device times */
	bool alone;              /* there are no messages: what the device did is all there is */
	struct ut_idmap open;    /* device -> the trace that is being captured */
	struct ut_idmap by_op;   /* of an op and its device -> its number in ops */
	struct ut_idmap devices; /* device -> its turn, from 1, in the order of their first ops */
	struct ut_idmap replays; /* trace and number of the replay -> its number in replay_times */
	struct ut_tracy_sub sub; /* what the log of markers says about runs of the report */
	bool has_sub;
	int64_t *replay_times;
	size_t replay_count, replay_cap;
};

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* Things are numbered in the order in which they are first named, from 1. */
static uint32_t ops_tracy_number_of(struct ut_strtab *t, struct ut_arena *a, int64_t device,
				    struct ut_str text)
{
	return ut_strtab_intern_z(
		t, ut_str_fmt(a, "%" PRId64 " %.*s", device, (int)text.len, text.ptr));
}

/* ---- what is known of an op ---------------------------------------------------------------- */

static const struct ut_tracy_info *info_of(const struct reader *d, const struct op *op)
{
	static const struct ut_tracy_info none;

	if (op->own.cells.count)
		return &op->own;
	return op->info ? &d->infos[op->info - 1] : &none;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void ops_tracy_put(struct reader *d, enum ut_tracy_word word, struct ut_str text)
{
	ut_ops_put(d->r, d->columns.id[word], ut_tracy_text(d->r, text));
}

static void put_z(struct reader *d, enum ut_tracy_word word, const char *text)
{
	ops_tracy_put(d, word, (struct ut_str){ text, strlen(text) });
}

/* round(x, 3) as Python prints it. */
static void put_util(struct reader *d, const struct ut_tracy_info *info,
		     const struct ut_tracy_run *run)
{
	char *text, *end;
	double util;

	if (!info->has_compute || !run->has_kernel_ns)
		return;
	util = run->kernel_ns > 0 ? 100.0 * info->compute / run->kernel_ns : 0;
	text = ut_str_fmt(&d->r->arena, "%.3f", util);
	for (end = text + strlen(text); end[-1] == '0' && end[-2] != '.'; end--)
		;
	*end = '\0';
	put_z(d, UT_TRACY_FPU_UTIL, text);
}

static void put_own(struct reader *d, const struct op *op)
{
	put_z(d, UT_TRACY_CALL, ut_str_fmt(&d->r->arena, "%" PRIu64, op->id));
	if (op->hit.len)
		ops_tracy_put(d, UT_TRACY_CACHE_HIT, op->hit);
	if (!op->info) {
		ops_tracy_put(d, UT_TRACY_OP_CODE, op->code);
		put_z(d, UT_TRACY_OP_TYPE, op->on_device ? "tt_dnn_device" : "");
	}
	ut_tracy_host_put(&d->host, &d->columns, d->r, op->id);
}

static void put_sub_device(struct reader *d, const struct ut_tracy_run *run)
{
	uint64_t sub_device;

	if (d->has_sub && ut_tracy_sub_find(&d->sub, &run->key, &sub_device))
		ut_ops_put_u64(d->r, d->columns.id[UT_TRACY_SUB_DEVICE], sub_device);
}

/* Ops of one replay: device by device, in the order of their numbers. */
static uint64_t replay_turn(const struct reader *d, const struct ut_tracy_key *key)
{
	return (uint64_t)ut_idmap_get(&d->devices, (uint64_t)key->device) << 44 |
	       (key->op & ((UINT64_C(1) << 44) - 1));
}

#define MOST_LOST 1000000u /* replays that only say that they are missing */

/*
 * Logs knew nothing of traces before 2025: the runs of a captured op are then those of its replays,
 * one after the other, and the capture itself is no run.
 */
static uint32_t take_run(struct reader *d, const struct ut_tracy_key *key, bool expected)
{
	const struct ut_tracy_key plain = { key->op, key->device, UT_TRACY_NO_TRACE,
					    UT_TRACY_NO_TRACE };
	uint32_t run;

	if (d->device.from_log && !expected)
		return 0;
	run = ut_tracy_device_take(&d->device, key);
	return run || !d->device.from_log ? run : ut_tracy_device_take(&d->device, &plain);
}

/* The op, with what it did on the device if that is known; `expected` says that it should be. */
static void add_op(struct reader *d, const struct op *op, const struct ut_tracy_key *key,
		   int64_t when, bool expected)
{
	const struct ut_tracy_info *info = info_of(d, op);
	bool replay = key->trace != UT_TRACY_NO_TRACE;
	uint32_t run = take_run(d, key, expected);
	bool missing = expected && !run &&
		       (replay || !ut_tracy_device_ran(&d->device, op->id, op->device));
	size_t first = d->r->cell_count;
	struct ut_ops_row *row;

	d->r->missing += missing;
	if (missing && replay && d->lost++ >= MOST_LOST)
		return;
	put_own(d, op);
	if (run) {
		put_util(d, info, &d->device.runs[run - 1]);
		put_sub_device(d, &d->device.runs[run - 1]);
	}
	if (replay && (!run || d->device.runs[run - 1].key.trace == UT_TRACY_NO_TRACE)) {
		put_z(d, UT_TRACY_TRACE, ut_str_fmt(&d->r->arena, "%" PRId64, key->trace));
		put_z(d, UT_TRACY_REPLAY, ut_str_fmt(&d->r->arena, "%" PRId64, key->replay));
	}
	if (op->why || missing)
		ut_ops_put_problem(d->r,
				   op->why ? op->why : "the device's report does not have this op");
	row = ut_ops_row_add(d->r);
	row->when = when;
	row->kind = replay ? ROW_REPLAY : ROW_OP;
	row->turn = replay ? replay_turn(d, key) : d->r->row_count;
	row->tag = run;
	row->parts[0] = info->cells;
	if (run)
		row->parts[1] = d->device.runs[run - 1].cells;
	row->parts[2] = ut_ops_since(d->r, first);
}

static void add_signpost(struct reader *d, struct ut_str text, struct ut_str time, int64_t when)
{
	const char *line = memchr(text.ptr, '\n', text.len);
	size_t len = line ? (size_t)(line - text.ptr) : text.len;
	size_t first = d->r->cell_count;
	struct ut_ops_row *row;

	ops_tracy_put(d, UT_TRACY_OP_CODE, (struct ut_str){ text.ptr, len });
	put_z(d, UT_TRACY_OP_TYPE, "signpost");
	ops_tracy_put(d, UT_TRACY_HOST_START, time);
	if (line)
		ops_tracy_put(d, UT_TRACY_ATTRIBUTES,
			      (struct ut_str){ line + 1, text.len - len - 1 });
	row = ut_ops_row_add(d->r);
	row->when = when;
	row->kind = ROW_SIGNPOST;
	row->turn = d->r->row_count;
	row->parts[0] = ut_ops_since(d->r, first);
}

static uint64_t pair(uint64_t a, uint64_t b)
{
	const uint64_t both[] = { a, b };

	return ut_hash_bytes(both, sizeof(both));
}

/* When a trace was replayed for the n-th time; else, when the op was captured. */
static int64_t replay_time(struct reader *d, const struct ut_tracy_key *key, const struct op *op)
{
	char id[24];
	int len = snprintf(id, sizeof(id), "%" PRId64, key->trace);
	uint32_t trace = ops_tracy_number_of(&d->trace_names, &d->r->arena, key->device,
					     (struct ut_str){ id, (size_t)len });
	uint32_t n = ut_idmap_get(&d->replays, pair(trace, (uint64_t)key->replay));

	return n ? d->replay_times[n - 1] : op->when;
}

/* A run of an op that the host knows, but not of this run. */
static void add_stray(struct reader *d, uint32_t n, const struct op *op)
{
	const struct ut_tracy_run *run = &d->device.runs[n - 1];
	const struct ut_tracy_info *info = info_of(d, op);
	bool replay = run->key.trace != UT_TRACY_NO_TRACE;
	size_t first = d->r->cell_count;
	struct ut_ops_row *row;

	put_own(d, op);
	put_util(d, info, run);
	put_sub_device(d, run);
	if (!replay)
		ut_ops_put_problem(d->r, "the device's report has this op more than once");
	row = ut_ops_row_add(d->r);
	row->when = replay ? replay_time(d, &run->key, op) : op->when;
	row->kind = replay ? ROW_REPLAY : ROW_OP;
	row->turn = replay ? replay_turn(d, &run->key) : d->r->row_count;
	row->tag = n;
	row->parts[0] = info->cells;
	row->parts[1] = run->cells;
	row->parts[2] = ut_ops_since(d->r, first);
}

/* What the device did and no message speaks of. */
static void add_orphan(struct reader *d, uint32_t n)
{
	const struct ut_tracy_run *run = &d->device.runs[n - 1];
	size_t first = d->r->cell_count;
	struct ut_ops_row *row;

	ops_tracy_put(d, UT_TRACY_OP_CODE, run->name);
	ut_ops_put_u64(d->r, d->columns.id[UT_TRACY_CALL], run->key.op);
	put_sub_device(d, run);
	if (!d->alone)
		ut_ops_put_problem(d->r, "no message of the host tells what this op was");
	row = ut_ops_row_add(d->r);
	row->when = INT64_MAX;
	row->turn = n;
	row->tag = n;
	row->parts[1] = run->cells;
	row->parts[2] = ut_ops_since(d->r, first);
}

static void add_unused(struct reader *d)
{
	for (uint32_t n = 1; n <= d->device.count; n++) {
		const struct ut_tracy_run *run = &d->device.runs[n - 1];
		uint32_t op = run->used ? 0
					: ut_idmap_get(&d->by_op, pair(run->key.op,
								       (uint64_t)run->key.device));

		if (op)
			add_stray(d, n, &d->ops[op - 1]);
		else if (!run->used)
			add_orphan(d, n);
	}
}

/* ---- messages ------------------------------------------------------------------------------ */

static struct ut_str ops_tracy_behind(struct ut_str s, size_t n)
{
	n = n < s.len ? n : s.len;
	return (struct ut_str){ s.ptr + n, s.len - n };
}

static struct ut_str trimmed(struct ut_str s)
{
	while (s.len && (*s.ptr == ' ' || *s.ptr == '\t'))
		s = ops_tracy_behind(s, 1);
	while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/* Up to the comma or the end, without blanks. */
static struct ut_str next_word(struct ut_str *rest)
{
	const char *comma = rest->len ? memchr(rest->ptr, ',', rest->len) : NULL;
	size_t len = comma ? (size_t)(comma - rest->ptr) : rest->len;
	struct ut_str word = trimmed((struct ut_str){ rest->ptr, len });

	*rest = ops_tracy_behind(*rest, len + 1);
	return word;
}

static int64_t ops_tracy_number(struct ut_str text)
{
	uint64_t value;

	return ut_csv_number(text, &value) && value <= INT64_MAX ? (int64_t)value : -1;
}

/* The name in quotes, which may hold commas; the rest follows it. */
static struct ut_str quoted(struct ut_str *rest)
{
	const char *open = rest->len ? memchr(rest->ptr, '"', rest->len) : NULL;
	struct ut_str name = { "", 0 };
	const char *close;

	if (!open)
		return name;
	*rest = ops_tracy_behind(*rest, (size_t)(open - rest->ptr) + 1);
	close = rest->len ? memchr(rest->ptr, '"', rest->len) : NULL;
	name = (struct ut_str){ rest->ptr, close ? (size_t)(close - rest->ptr) : rest->len };
	*rest = ops_tracy_behind(*rest, name.len + 1);
	return name;
}

static struct trace *trace_of(struct reader *d, struct ut_str rest)
{
	int64_t device = ops_tracy_number(next_word(&rest));
	struct ut_str id = next_word(&rest);
	uint32_t n = ops_tracy_number_of(&d->trace_names, &d->r->arena, device, id);

	if (n > d->trace_count) {
		d->traces = ut_grow(d->traces, n, &d->trace_cap, sizeof(*d->traces));
		d->trace_count = n;
		d->traces[n - 1] = (struct trace){ .device = device, .id = ops_tracy_number(id) };
	}
	return &d->traces[n - 1];
}

static void replay(struct reader *d, struct trace *t, int64_t when)
{
	t->replays++;
	d->replay_times =
		ut_grow(d->replay_times, ++d->replay_count, &d->replay_cap, sizeof(int64_t));
	d->replay_times[d->replay_count - 1] = when;
	ut_idmap_put(&d->replays, pair((uint64_t)(t - d->traces) + 1, (uint64_t)t->replays),
		     (uint32_t)d->replay_count);
	for (uint32_t n = t->first; n; n = d->ops[n - 1].next) {
		const struct op *op = &d->ops[n - 1];
		const struct ut_tracy_key key = { op->id, op->device, t->id, t->replays };

		add_op(d, op, &key, when, d->device.present && op->on_device);
	}
}

static void read_trace(struct reader *d, struct ut_str what, int64_t when)
{
	static const char begin[] = "BEGIN:", end[] = "END:", again[] = "REPLAY:";

	if (ut_str_has_start(what, begin)) {
		struct trace *t = trace_of(d, ops_tracy_behind(what, strlen(begin)));

		t->first = t->last = 0;
		ut_idmap_put(&d->open, (uint64_t)t->device, (uint32_t)(t - d->traces) + 1);
	} else if (ut_str_has_start(what, end)) {
		struct trace *t = trace_of(d, ops_tracy_behind(what, strlen(end)));

		ut_idmap_take(&d->open, (uint64_t)t->device);
	} else if (ut_str_has_start(what, again)) {
		replay(d, trace_of(d, ops_tracy_behind(what, strlen(again))), when);
	}
}

/*
 * A later op of a program may tell what is different about it, its tensors: all else is as with the
 * first. Cells of the same column: the last counts.
 */
static void add_to_info(struct reader *d, const struct ut_tracy_info *base,
			struct ut_tracy_info *own)
{
	struct ut_ops_range added = own->cells;
	size_t first = d->r->cell_count;

	for (size_t i = 0; i < base->cells.count; i++) {
		struct ut_ops_cell cell = d->r->cells[base->cells.first + i];
		uint32_t group = d->r->columns[cell.column].group;

		if (!(own->inputs && group == UT_TRACY_INPUTS) &&
		    !(own->outputs && group == UT_TRACY_OUTPUTS))
			ut_ops_put(d->r, cell.column, cell.text);
	}
	for (size_t i = 0; i < added.count; i++) {
		struct ut_ops_cell cell = d->r->cells[added.first + i];

		ut_ops_put(d->r, cell.column, cell.text);
	}
	own->cells = ut_ops_since(d->r, first);
	own->has_compute |= base->has_compute;
	own->compute = own->compute > 0 ? own->compute : base->compute;
}

/* What is known of a program: told with its first op, and meant by all later ones. */
static void read_info(struct reader *d, struct op *op, struct ut_str hash, struct ut_str json)
{
	struct ut_tracy_info reported = { 0 };
	uint32_t n = ops_tracy_number_of(&d->programs, &d->r->arena, op->device, hash);

	if (n > d->info_count) {
		d->infos = ut_grow(d->infos, n, &d->info_cap, sizeof(*d->infos));
		d->infos[n - 1] = (struct ut_tracy_info){ 0 };
		d->info_count = n;
	}
	if (!json.len && !hash.len)
		op->why = "its message tells nothing";
	else if (json.len)
		ut_tracy_info_read(&reported, &d->columns, d->r, json, &op->why);
	else if (!d->infos[n - 1].cells.count)
		op->why = "no message tells about its program";
	if (reported.cells.count && !reported.code && hash.len && d->infos[n - 1].cells.count) {
		add_to_info(d, &d->infos[n - 1], &reported);
		op->own = reported;
	} else if (json.len) {
		d->infos[n - 1] = reported;
	}
	op->info = d->infos[n - 1].cells.count && (json.len || hash.len) ? n : 0;
}

/* An op in the trace that its device is capturing runs with each replay; true if it is one. */
static bool capture(struct reader *d, uint32_t n)
{
	uint32_t open = ut_idmap_get(&d->open, (uint64_t)d->ops[n - 1].device);
	struct trace *t;

	if (!open)
		return false;
	t = &d->traces[open - 1];
	if (t->last)
		d->ops[t->last - 1].next = n;
	else
		t->first = n;
	t->last = n;
	return true;
}

static void keep_op(struct reader *d, const struct op *op)
{
	d->ops = ut_grow(d->ops, ++d->op_count, &d->op_cap, sizeof(*d->ops));
	d->ops[d->op_count - 1] = *op;
	ut_idmap_put(&d->by_op, pair(op->id, (uint64_t)op->device), (uint32_t)d->op_count);
	if (op->on_device && !ut_idmap_get(&d->devices, (uint64_t)op->device))
		ut_idmap_put(&d->devices, (uint64_t)op->device, (uint32_t)d->devices.count + 1);
}

static bool is_true(struct ut_str text)
{
	return ut_str_has_start(text, "1") || ut_str_has_start(text, "true") ||
	       ut_str_has_start(text, "True");
}

/* " ->" at the end of a line. */
static const char *find_arrow(struct ut_str text)
{
	const char *at = memmem(text.ptr, text.len, " ->\n", 4);

	return at ? at : memmem(text.ptr, text.len, " ->\r\n", 5);
}

/* "TT_DNN_...: "code", hash, device, hit, op ->" and JSON on the next lines, or not. */
static void read_op(struct reader *d, struct ut_str text, int64_t when)
{
	const char *at = find_arrow(text);
	struct ut_str json = { "", 0 }, hash, hit;
	struct op op = { .on_device = ut_str_has_start(text, "TT_DNN_DEVICE_OP") };
	struct ut_tracy_key key = { .trace = UT_TRACY_NO_TRACE, .replay = UT_TRACY_NO_TRACE };
	uint64_t start;
	bool captured;

	if (at) {
		json = ops_tracy_behind(text, (size_t)(at - text.ptr) + strlen(" ->"));
		text.len = (size_t)(at - text.ptr);
	}
	op.code = quoted(&text);
	next_word(&text);
	hash = next_word(&text);
	op.device = ops_tracy_number(next_word(&text));
	hit = next_word(&text);
	if (!ut_csv_number(next_word(&text), &op.id))
		op.id = 0;
	read_info(d, &op, hash, json);
	if (hit.len && (!json.len || op.own.cells.count)) /* else JSON tells it */
		op.hit =
			is_true(hit) ? (struct ut_str){ "True", 4 } : (struct ut_str){ "False", 5 };
	if (!op.id && op.info) /* a fallback says it only in its JSON */
		op.id = d->infos[op.info - 1].call;
	op.when = ut_tracy_host_start(&d->host, op.id, &start) && start <= INT64_MAX
			  ? (int64_t)start
			  : when;
	keep_op(d, &op);
	captured = capture(d, (uint32_t)d->op_count);
	key.op = op.id;
	key.device = op.device;
	add_op(d, &op, &key, op.when, d->device.present && op.on_device && !captured);
}

static void read_message(struct reader *d, const struct ut_csv *csv, size_t name, size_t total)
{
	static const char trace[] = "TT_METAL_TRACE_", post[] = "TT_SIGNPOST: ";
	struct ut_str text = ut_csv_field(csv, name);
	struct ut_str time = ut_csv_field(csv, total);
	int64_t when = ops_tracy_number(time);

	if (ut_str_has_start(text, post))
		add_signpost(d, ops_tracy_behind(text, strlen(post)), time, when);
	else if (ut_str_has_start(text, trace))
		read_trace(d, ops_tracy_behind(text, strlen(trace)), when);
	else if (ut_str_has_start(text, "TT_DNN_"))
		read_op(d, text, when);
}

static void read_messages(struct reader *d, struct ut_csv *csv)
{
	size_t name = ut_csv_find(csv, "MessageName"), total = ut_csv_find(csv, "total_ns");

	name = name == UT_CSV_NO_FIELD ? 0 : name;
	total = total == UT_CSV_NO_FIELD ? 1 : total;
	while (ut_csv_next(csv))
		read_message(d, csv, name, total);
}

static void ops_tracy_release(struct reader *d)
{
	ut_tracy_host_release(&d->host);
	ut_tracy_device_release(&d->device);
	free(d->infos);
	free(d->ops);
	free(d->traces);
	free(d->replay_times);
}

enum {
	FILE_MESSAGES,
	FILE_TIMES,
	FILE_DEVICE,
	FILES
};

/* What the devices did: from their report or, if need be or if asked for, from their markers. */
static int read_device(struct reader *d, struct ut_csv *report, const char *log,
		       const struct ut_ops_tracy_opts *opts, struct ut_err *err)
{
	int rc;

	if (!log || (report && !d->alone && !opts->legacy)) {
		if (opts->analyses.count)
			ut_logger_log(opts->logger, UT_WARN,
				      "-a is about " LOG ", which is not looked at");
		d->has_sub = log;
		if (log)
			ut_tracy_sub_read(&d->sub, &d->r->arena, log);
		ut_tracy_device_read(&d->device, &d->columns, d->r, report);
		return opts->legacy ? ut_err_set(err, -ENOENT, "there is no " LOG) : 0;
	}
	rc = ut_tracy_log_read(&d->device, d->r, log, opts, err);
	if (rc && report && !opts->legacy && !opts->analyses.count) {
		ut_logger_log(opts->logger, UT_WARN, "%s", err->text);
		*err = (struct ut_err){ 0 };
		ut_tracy_device_read(&d->device, &d->columns, d->r, report);
		return 0;
	}
	return rc;
}

/* Files that are NULL are not there. */
static int ops_tracy_read_all(struct ut_ops_report *r, struct ut_csv *files[FILES], const char *log,
			      const struct ut_ops_tracy_opts *opts, struct ut_err *err)
{
	struct ut_csv *messages = opts->device_only ? NULL : files[FILE_MESSAGES];
	struct reader d = { .r = r };
	int rc;

	ut_tracy_columns_init(&d.columns, r);
	ut_strtab_init(&d.programs, &r->arena);
	ut_strtab_init(&d.trace_names, &r->arena);
	ut_idmap_init(&d.open, &r->arena);
	ut_idmap_init(&d.by_op, &r->arena);
	ut_idmap_init(&d.devices, &r->arena);
	ut_idmap_init(&d.replays, &r->arena);
	d.alone = r->used_only = !messages;
	ut_tracy_host_read(&d.host, r, opts->device_only ? NULL : files[FILE_TIMES]);
	rc = read_device(&d, files[FILE_DEVICE], log, opts, err);
	if (messages)
		read_messages(&d, messages);
	add_unused(&d);
	ut_ops_report_order(r);
	ut_tracy_device_latencies(&d.device, &d.columns, r);
	ops_tracy_release(&d);
	return rc;
}

static const struct ut_csv layouts[FILES] = {
	[FILE_MESSAGES] = { .separator = ';', .quote = '`' },
	[FILE_TIMES] = { .separator = ',', .quote = '"', .trim = true },
	[FILE_DEVICE] = { .separator = ',', .quote = '"', .trim = true },
};

int ut_ops_read_tracy(struct ut_ops_report *r, const char *folder,
		      const struct ut_ops_tracy_opts *opts, struct ut_err *err)
{
	static const char *const names[FILES] = { MESSAGES, TIMES, DEVICE };
	struct ut_csv csv[FILES], *there[FILES] = { 0 };
	const char *log = ut_path_join(&r->arena, folder, LOG);
	int rc;

	for (int i = 0; i < FILES; i++) {
		const char *path = ut_path_join(&r->arena, folder, names[i]);
		struct ut_err bad = { 0 };

		csv[i] = layouts[i];
		if (!ut_path_exists(path))
			continue;
		if (ut_csv_open(&csv[i], &r->arena, path, &bad))
			ut_logger_log(opts->logger, UT_WARN, "%s; the report does without it",
				      bad.text);
		else
			there[i] = &csv[i];
	}
	rc = ops_tracy_read_all(r, there, ut_path_exists(log) ? log : NULL, opts, err);
	if (!rc && !r->row_count)
		rc = ut_err_set(err, -ENOENT, "%s: no op in " MESSAGES " or " DEVICE, folder);
	for (int i = 0; i < FILES; i++) {
		if (there[i])
			ut_csv_close(there[i]);
	}
	return rc;
}

void ut_ops_read_tracy_texts(struct ut_ops_report *r, struct ut_ops_text messages,
			     struct ut_ops_text times, struct ut_ops_text device)
{
	const struct ut_ops_text texts[FILES] = { messages, times, device };
	const struct ut_ops_tracy_opts opts = { 0 };
	struct ut_csv csv[FILES], *there[FILES];
	struct ut_err err = { 0 };

	for (int i = 0; i < FILES; i++) {
		csv[i] = layouts[i];
		ut_csv_open_text(&csv[i], &r->arena, texts[i].data, texts[i].len);
		there[i] = &csv[i];
	}
	/* only a log can fail */
	(void)ops_tracy_read_all(r, there, NULL, &opts, &err);
	for (int i = 0; i < FILES; i++)
		ut_csv_close(&csv[i]);
}
