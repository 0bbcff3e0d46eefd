#include "ttops/today.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "ttops/csv.h"
#include "ttops/today_device.h"
#include "ttops/today_host.h"
#include "ttops/today_info.h"
#include "ttops/today_log.h"

#define MESSAGES "tracy_ops_data.csv"
#define TIMES    "tracy_ops_times.csv"
#define DEVICE   "cpp_device_perf_report.csv"
#define LOG      "profile_log_device.csv"

/* A device log alone is a sign only in ".logs": in 2023 it lay beside the folders of ops. */
const char *ut_ops_today_folder(struct ut_arena *a, const char *folder)
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
	uint32_t info;      /* number in infos; 0 = none */
	struct ut_str code; /* for want of info */
	struct ut_str hit;
	const char *why; /* what is wrong with the message */
	uint32_t next;   /* of the same trace; 0 = none */
};

/* A sequence of ops that is captured once and replayed. */
struct trace {
	int64_t device, id;
	uint32_t first, last; /* ops */
	int64_t replays;
};

struct reader {
	struct ut_ops_report *r;
	struct ut_today_columns columns;
	struct ut_today_host host;
	struct ut_today_device device;
	struct ut_strtab programs; /* "device hash", in the order of infos */
	struct ut_today_info *infos;
	size_t info_count, info_cap;
	struct op *ops;
	size_t op_count, op_cap;
	struct ut_strtab trace_names; /* "device id", in the order of traces */
	struct trace *traces;
	size_t trace_count, trace_cap;
	size_t lost;          /* replays without device times */
	bool alone;           /* there are no messages: what the device did is all there is */
	struct ut_idmap open; /* device -> the trace that is being captured */
};

/* ---- rows ---------------------------------------------------------------------------------- */

static void put(struct reader *d, enum ut_today_word word, struct ut_str text)
{
	ut_ops_put(d->r, d->columns.id[word], ut_today_text(d->r, text));
}

static void put_z(struct reader *d, enum ut_today_word word, const char *text)
{
	put(d, word, (struct ut_str){ text, strlen(text) });
}

/* round(x, 3) as Python prints it. */
static void put_util(struct reader *d, const struct ut_today_info *info,
		     const struct ut_today_run *run)
{
	char *text, *end;

	if (!info->has_compute || run->kernel_ns <= 0)
		return;
	text = ut_str_fmt(&d->r->arena, "%.3f", 100.0 * info->compute / run->kernel_ns);
	for (end = text + strlen(text); end[-1] == '0' && end[-2] != '.'; end--)
		;
	*end = '\0';
	put_z(d, UT_TODAY_FPU_UTIL, text);
}

static void put_own(struct reader *d, const struct op *op)
{
	put_z(d, UT_TODAY_CALL, ut_str_fmt(&d->r->arena, "%" PRIu64, op->id));
	if (op->hit.len)
		put(d, UT_TODAY_CACHE_HIT, op->hit);
	if (!op->info) {
		put(d, UT_TODAY_OP_CODE, op->code);
		put_z(d, UT_TODAY_OP_TYPE, op->on_device ? "tt_dnn_device" : "");
	}
	ut_today_host_put(&d->host, &d->columns, d->r, op->id);
}

#define MOST_LOST 1000000u /* replays that only say that they are missing */

/* The op, with what it did on the device if that is known; `expected` says that it should be. */
static void add_op(struct reader *d, const struct op *op, const struct ut_today_key *key,
		   int64_t when, bool expected)
{
	const struct ut_today_info none = { 0 };
	const struct ut_today_info *info = op->info ? &d->infos[op->info - 1] : &none;
	uint32_t run = ut_today_device_take(&d->device, key);
	bool replay = key->trace != UT_TODAY_NO_TRACE, missing = expected && !run;
	size_t first = d->r->cell_count;
	struct ut_ops_row *row;

	d->r->missing += missing;
	if (missing && replay && d->lost++ >= MOST_LOST)
		return;
	put_own(d, op);
	if (run)
		put_util(d, info, &d->device.runs[run - 1]);
	if (replay && !run) {
		put_z(d, UT_TODAY_TRACE, ut_str_fmt(&d->r->arena, "%" PRId64, key->trace));
		put_z(d, UT_TODAY_REPLAY, ut_str_fmt(&d->r->arena, "%" PRId64, key->replay));
	}
	if (op->why || missing)
		ut_ops_put_problem(d->r,
				   op->why ? op->why : "the device's report does not have this op");
	row = ut_ops_row_add(d->r);
	row->when = when;
	row->kind = replay ? ROW_REPLAY : ROW_OP;
	row->turn = replay && run ? run : d->r->row_count + UINT32_MAX;
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

	put(d, UT_TODAY_OP_CODE, (struct ut_str){ text.ptr, len });
	put_z(d, UT_TODAY_OP_TYPE, "signpost");
	put(d, UT_TODAY_HOST_START, time);
	if (line)
		put(d, UT_TODAY_ATTRIBUTES, (struct ut_str){ line + 1, text.len - len - 1 });
	row = ut_ops_row_add(d->r);
	row->when = when;
	row->kind = ROW_SIGNPOST;
	row->turn = d->r->row_count;
	row->parts[0] = ut_ops_since(d->r, first);
}

/* What the device did and no message speaks of. */
static void add_orphans(struct reader *d)
{
	for (size_t i = 0; i < d->device.count; i++) {
		const struct ut_today_run *run = &d->device.runs[i];
		size_t first = d->r->cell_count;
		struct ut_ops_row *row;

		if (run->used)
			continue;
		put(d, UT_TODAY_OP_CODE, run->name);
		ut_ops_put_u64(d->r, d->columns.id[UT_TODAY_CALL], run->key.op);
		if (!d->alone)
			ut_ops_put_problem(d->r, "no message of the host tells what this op was");
		row = ut_ops_row_add(d->r);
		row->when = INT64_MAX;
		row->turn = i;
		row->tag = (uint32_t)i + 1;
		row->parts[1] = run->cells;
		row->parts[2] = ut_ops_since(d->r, first);
	}
}

/* ---- messages ------------------------------------------------------------------------------ */

static bool starts(struct ut_str s, const char *prefix)
{
	size_t len = strlen(prefix);

	return s.len >= len && !memcmp(s.ptr, prefix, len);
}

static struct ut_str behind(struct ut_str s, size_t n)
{
	n = n < s.len ? n : s.len;
	return (struct ut_str){ s.ptr + n, s.len - n };
}

static struct ut_str trimmed(struct ut_str s)
{
	while (s.len && (*s.ptr == ' ' || *s.ptr == '\t'))
		s = behind(s, 1);
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

	*rest = behind(*rest, len + 1);
	return word;
}

static int64_t number(struct ut_str text)
{
	uint64_t value;

	return ut_ops_number(text, &value) && value <= INT64_MAX ? (int64_t)value : -1;
}

/* The name in quotes, which may hold commas; the rest follows it. */
static struct ut_str quoted(struct ut_str *rest)
{
	const char *open = rest->len ? memchr(rest->ptr, '"', rest->len) : NULL;
	struct ut_str name = { "", 0 };
	const char *close;

	if (!open)
		return name;
	*rest = behind(*rest, (size_t)(open - rest->ptr) + 1);
	close = rest->len ? memchr(rest->ptr, '"', rest->len) : NULL;
	name = (struct ut_str){ rest->ptr, close ? (size_t)(close - rest->ptr) : rest->len };
	*rest = behind(*rest, name.len + 1);
	return name;
}

/* Things are numbered in the order in which they are first named, from 1. */
static uint32_t number_of(struct ut_strtab *t, struct ut_arena *a, int64_t device,
			  struct ut_str text)
{
	return ut_strtab_intern_z(
		t, ut_str_fmt(a, "%" PRId64 " %.*s", device, (int)text.len, text.ptr));
}

static struct trace *trace_of(struct reader *d, struct ut_str rest)
{
	int64_t device = number(next_word(&rest));
	struct ut_str id = next_word(&rest);
	uint32_t n = number_of(&d->trace_names, &d->r->arena, device, id);

	if (n > d->trace_count) {
		d->traces = ut_grow(d->traces, n, &d->trace_cap, sizeof(*d->traces));
		d->trace_count = n;
		d->traces[n - 1] = (struct trace){ .device = device, .id = number(id) };
	}
	return &d->traces[n - 1];
}

static void replay(struct reader *d, struct trace *t, int64_t when)
{
	t->replays++;
	for (uint32_t n = t->first; n; n = d->ops[n - 1].next) {
		const struct op *op = &d->ops[n - 1];
		const struct ut_today_key key = { op->id, op->device, t->id, t->replays };

		add_op(d, op, &key, when, d->device.present && op->on_device);
	}
}

static void read_trace(struct reader *d, struct ut_str what, int64_t when)
{
	static const char begin[] = "BEGIN:", end[] = "END:", again[] = "REPLAY:";

	if (starts(what, begin)) {
		struct trace *t = trace_of(d, behind(what, strlen(begin)));

		t->first = t->last = 0;
		ut_idmap_put(&d->open, (uint64_t)t->device, (uint32_t)(t - d->traces) + 1);
	} else if (starts(what, end)) {
		struct trace *t = trace_of(d, behind(what, strlen(end)));

		ut_idmap_take(&d->open, (uint64_t)t->device);
	} else if (starts(what, again)) {
		replay(d, trace_of(d, behind(what, strlen(again))), when);
	}
}

/* What is known of a program: told with its first op, and meant by all later ones. */
static void read_info(struct reader *d, struct op *op, struct ut_str hash, struct ut_str json)
{
	uint32_t n = number_of(&d->programs, &d->r->arena, op->device, hash);

	if (n > d->info_count) {
		d->infos = ut_grow(d->infos, n, &d->info_cap, sizeof(*d->infos));
		d->infos[n - 1] = (struct ut_today_info){ 0 };
		d->info_count = n;
	}
	if (json.len)
		ut_today_info_read(&d->infos[n - 1], &d->columns, d->r, json, &op->why);
	else if (!d->infos[n - 1].cells.count)
		op->why = "no message tells about its program";
	op->info = d->infos[n - 1].cells.count ? n : 0;
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

/* "TT_DNN_...: "code", hash, device, hit, op ->" and JSON on the next lines, or not. */
static void read_op(struct reader *d, struct ut_str text, int64_t when)
{
	static const char arrow[] = " ->\n";
	const char *at = memmem(text.ptr, text.len, arrow, strlen(arrow));
	struct ut_str json = { "", 0 }, hash, hit;
	struct op op = { .on_device = starts(text, "TT_DNN_DEVICE_OP") };
	struct ut_today_key key = { .trace = UT_TODAY_NO_TRACE, .replay = UT_TODAY_NO_TRACE };
	bool captured;

	if (at) {
		json = behind(text, (size_t)(at - text.ptr) + strlen(arrow));
		text.len = (size_t)(at - text.ptr);
	}
	op.code = quoted(&text);
	next_word(&text);
	hash = next_word(&text);
	op.device = number(next_word(&text));
	hit = next_word(&text);
	if (!ut_ops_number(next_word(&text), &op.id))
		op.id = 0;
	if (hit.len)
		op.hit = *hit.ptr == 't' ? (struct ut_str){ "True", 4 }
					 : (struct ut_str){ "False", 5 };
	read_info(d, &op, hash, json);
	if (!op.id && op.info) /* a fallback says it only in its JSON */
		op.id = d->infos[op.info - 1].call;
	d->ops = ut_grow(d->ops, ++d->op_count, &d->op_cap, sizeof(*d->ops));
	d->ops[d->op_count - 1] = op;
	captured = capture(d, (uint32_t)d->op_count);
	key.op = op.id;
	key.device = op.device;
	add_op(d, &op, &key, when, d->device.present && op.on_device && !captured);
}

static void read_message(struct reader *d, const struct ut_ops_csv *csv)
{
	static const char trace[] = "TT_METAL_TRACE_", post[] = "TT_SIGNPOST: ";
	struct ut_str text = ut_ops_csv_field(csv, 0);
	struct ut_str time = ut_ops_csv_field(csv, csv->count - 1);
	int64_t when = number(time);

	if (starts(text, post))
		add_signpost(d, behind(text, strlen(post)), time, when);
	else if (starts(text, trace))
		read_trace(d, behind(text, strlen(trace)), when);
	else if (starts(text, "TT_DNN_"))
		read_op(d, text, when);
}

static void release(struct reader *d)
{
	ut_today_host_release(&d->host);
	ut_today_device_release(&d->device);
	free(d->infos);
	free(d->ops);
	free(d->traces);
}

/* What is NULL is not there. */
static int read_all(struct ut_ops_report *r, struct ut_ops_csv *messages, struct ut_ops_csv *times,
		    struct ut_ops_csv *device, const char *log, struct ut_err *err)
{
	struct reader d = { .r = r };
	int rc = 0;

	ut_today_columns_init(&d.columns, r);
	ut_strtab_init(&d.programs, &r->arena);
	ut_strtab_init(&d.trace_names, &r->arena);
	ut_idmap_init(&d.open, &r->arena);
	d.alone = r->used_only = !messages;
	ut_today_host_read(&d.host, r, times);
	if (!device && log)
		rc = ut_today_log_read(&d.device, &d.columns, r, log, err);
	else
		ut_today_device_read(&d.device, &d.columns, r, device);
	while (messages && ut_ops_csv_next(messages))
		read_message(&d, messages);
	add_orphans(&d);
	ut_ops_report_order(r);
	ut_today_device_latencies(&d.device, &d.columns, r);
	release(&d);
	return rc;
}

enum {
	FILE_MESSAGES,
	FILE_TIMES,
	FILE_DEVICE,
	FILES
};

static const struct ut_ops_csv layouts[FILES] = {
	[FILE_MESSAGES] = { .separator = ';', .quote = '`' },
	[FILE_TIMES] = { .separator = ',', .quote = '"' },
	[FILE_DEVICE] = { .separator = ',', .quote = '"' },
};

int ut_ops_read_today(struct ut_ops_report *r, const char *folder, struct ut_err *err)
{
	static const char *const names[FILES] = { MESSAGES, TIMES, DEVICE };
	struct ut_ops_csv csv[FILES], *there[FILES] = { 0 };
	const char *log;
	int rc = 0;

	for (int i = 0; !rc && i < FILES; i++) {
		const char *path = ut_path_join(&r->arena, folder, names[i]);

		csv[i] = layouts[i];
		if (!ut_path_exists(path))
			continue;
		rc = ut_ops_csv_open(&csv[i], &r->arena, path, err);
		if (!rc)
			there[i] = &csv[i];
	}
	log = ut_path_join(&r->arena, folder, LOG);
	if (!rc)
		rc = read_all(r, there[FILE_MESSAGES], there[FILE_TIMES], there[FILE_DEVICE],
			      ut_path_exists(log) ? log : NULL, err);
	if (!rc && !r->row_count)
		rc = ut_err_set(err, -ENOENT, "%s: no op in " MESSAGES " or " DEVICE, folder);
	for (int i = 0; i < FILES; i++) {
		if (there[i])
			ut_ops_csv_close(there[i]);
	}
	return rc;
}

void ut_ops_read_today_texts(struct ut_ops_report *r, struct ut_ops_text messages,
			     struct ut_ops_text times, struct ut_ops_text device)
{
	const struct ut_ops_text texts[FILES] = { messages, times, device };
	struct ut_ops_csv csv[FILES];

	for (int i = 0; i < FILES; i++) {
		csv[i] = layouts[i];
		ut_ops_csv_open_text(&csv[i], &r->arena, texts[i].data, texts[i].len);
	}
	/* only a log can fail */
	(void)read_all(r, &csv[FILE_MESSAGES], &csv[FILE_TIMES], &csv[FILE_DEVICE], NULL, NULL);
	for (int i = 0; i < FILES; i++)
		ut_ops_csv_close(&csv[i]);
}
