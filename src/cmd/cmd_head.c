/*
 * cmd_head.c - `unitrace head`: the first events of a trace.
 *
 * Text and packets are read from the start, and a file that ends early is no problem to their
 * importers: so we give them the first part only, and more of it until there are enough events.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/label.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/last.h"
#include "cmd/words.h"
#include "export/args_json.h"
#include "import/importer.h"
#include "text/cells.h"
#include "text/grid.h"
#include "text/out.h"
#include "text/source.h"

#define FIRST_PART   (UINT64_C(1) << 20) /* bytes; ten milliseconds of work at most */
#define NAME_COLUMNS 48
#define ARGS_COLUMNS 60

/* Bytes after which it is enough, if the last seven eighths of them held no event. */
#define BARREN_MOST (UINT64_C(1) << 29)

struct head_opts {
	uint64_t count;
	bool json, help;
};

/* ---- reading ------------------------------------------------------------------------------- */

/* The beginning of an input, unpacked, as a file in memory. */
struct part {
	struct ut_source source;
	int fd;
	uint64_t bytes;
	bool whole; /* there is no more */
};

static int read_more(struct part *p, uint64_t until, struct ut_err *err)
{
	char *buffer = ut_make(1u << 18);
	ssize_t n = 1;

	while (n > 0 && p->bytes < until) {
		n = ut_source_read(&p->source, buffer, 1u << 18, err);
		if (n > 0 && write(p->fd, buffer, (size_t)n) != n)
			n = ut_err_set(err, -errno, "%s: no memory for its beginning: %s",
				       p->source.path, strerror(errno));
		p->bytes += n > 0 ? (uint64_t)n : 0;
	}
	p->whole = n == 0;
	free(buffer);
	return n < 0 ? (int)n : 0;
}

/* The importer's words are about the file in memory; the user knows it by another name. */
static int rename_error(struct ut_err *err, const struct ut_err *inner, const char *from,
			const char *to)
{
	size_t len = strlen(from);

	if (!strncmp(inner->text, from, len))
		return ut_err_set(err, inner->code, "%s%s", to, inner->text + len);
	return ut_err_set(err, inner->code, "%s", inner->text);
}

static int load_part(struct part *p, uint64_t count, struct ut_store *store, struct ut_err *err)
{
	uint64_t until = FIRST_PART, had = 0; /* rows of the part before */
	struct ut_err before = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->fd);
	for (;; until *= 8) {
		struct ut_err inner = { 0 };
		int rc = read_more(p, until, err);

		if (rc)
			return rc;
		rc = ut_import(path, NULL, store, &inner);
		if (!rc && (p->whole || store->row_count >= count))
			return 0;
		if (!rc && p->bytes >= BARREN_MOST && store->row_count == had) {
			ut_store_release(store);
			return ut_err_set(err, -EPROTO,
					  "%s: offset %" PRIu64 ": %" PRIu64
					  " events up to here, and none in the last %" PRIu64
					  " MiB; ask for no more with -n",
					  p->source.path, p->bytes, had,
					  (p->bytes - p->bytes / 8) >> 20);
		}
		had = rc ? 0 : store->row_count;
		if (!rc)
			ut_store_release(store);
		else if (p->whole || p->bytes >= BARREN_MOST ||
			 !strcmp(inner.text, before.text)) /* more does not help */
			return rename_error(err, &inner, path, p->source.path);
		before = inner;
	}
}

static int load(const char *path, uint64_t count, struct ut_store *store, struct ut_err *err)
{
	struct part p = { .fd = -1 };
	const struct ut_importer *importer;
	int rc = ut_source_open(&p.source, path, err);

	if (rc)
		return rc;
	importer = ut_importer_of(&p.source, err);
	if (!importer) {
		ut_source_close(&p.source);
		return -EPROTO;
	}
	if (p.source.seekable && importer != &ut_import_chrome && importer != &ut_import_perfetto) {
		ut_source_close(&p.source);
		return ut_import(path, NULL, store, err);
	}
	p.fd = memfd_create("unitrace", MFD_CLOEXEC);
	if (p.fd < 0)
		rc = ut_err_set(err, -errno, "%s: no memory for its beginning: %s", path,
				strerror(errno));
	if (!rc)
		rc = load_part(&p, count, store, err);
	if (p.fd >= 0)
		close(p.fd);
	ut_source_close(&p.source);
	return rc;
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* A row, and where it was, to keep the order of those at the same time. */
struct row {
	uint64_t ts;
	uint32_t track;
	uint64_t number;
};

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* No track can have more than count of the first count. */
static struct row *first_rows(const struct ut_store *s, uint64_t *count)
{
	struct row *rows = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t t = 0; t < s->trace.track_count; t++) {
		for (uint64_t i = 0; i < *count && i < s->rows[t].count; i++) {
			const struct ut_block *b = &s->rows[t].blocks[i / UT_BLOCK_ROWS];

			rows = ut_grow(rows, n + 1, &cap, sizeof(*rows));
			rows[n++] = (struct row){ b->ts[i % UT_BLOCK_ROWS], t, i };
		}
	}
	if (n)
		qsort(rows, n, sizeof(*rows), by_time);
	*count = n < *count ? n : *count;
	return rows;
}

/* ---- printing ------------------------------------------------------------------------------ */

static const char *const kind_names[] = {
#define KIND_NAME(kind, text, val) text,
	UT_KIND_LIST(KIND_NAME)
#undef KIND_NAME
};

/* The row with its arguments in the trace's own array, until ut_trace_drop_args(mark). */
static struct ut_event event_of(struct ut_store *s, const struct row *r)
{
	const struct ut_block *b = &s->rows[r->track].blocks[r->number / UT_BLOCK_ROWS];
	struct ut_event e = ut_block_event(s, r->track, b, (uint32_t)(r->number % UT_BLOCK_ROWS));
	size_t mark = s->trace.arg_count, count = ut_arglists_get(&s->args, e.args, NULL, 0);

	for (size_t i = 0; i < count; i++)
		ut_trace_add_arg(&s->trace, 0, UT_ARG_END);
	ut_trace_close_args(&s->trace);
	ut_arglists_get(&s->args, e.args, s->trace.args + mark, count);
	e.args = count ? (uint32_t)mark : 0;
	return e;
}

static double counter_value(const struct ut_event *e)
{
	double value;

	memcpy(&value, &e->val, sizeof(value));
	if (e->flags & UT_EV_DOUBLE)
		return value;
	return e->flags & UT_EV_SIGNED ? (double)(int64_t)e->val : (double)e->val;
}

static void add_value(struct ut_grid *g, const struct ut_event *e)
{
	char time[UT_CELL_TIME];

	if (e->kind == UT_KIND_SPAN)
		ut_grid_fmt(g, "%s%s", ut_cell_time(time, e->val),
			    e->flags & UT_EV_UNFINISHED ? "+" : "");
	else if (e->kind == UT_KIND_COUNTER)
		ut_grid_fmt(g, "%.9g", counter_value(e));
	else if (e->kind == UT_KIND_INSTANT)
		ut_grid_text(g, "");
	else if (e->kind == UT_KIND_SAMPLE)
		ut_grid_fmt(g, "x%" PRIu32, ut_sample_weight(e->val));
	else
		ut_grid_fmt(g, "#%" PRIu64, e->val);
}

static void add_str(struct ut_grid *g, const struct ut_trace *t, uint32_t id, size_t max)
{
	struct ut_str s = ut_strtab_get(&t->strings, id);

	ut_grid_name(g, s.ptr, s.len, max);
}

static void add_args(struct ut_grid *g, const struct ut_trace *t, const struct ut_event *e)
{
	struct ut_out *memory = ut_out_open_memory();
	const char *data;
	size_t len;

	if (e->kind == UT_KIND_SAMPLE)
		ut_sample_json(memory, t, e);
	else if (e->args)
		ut_args_json(memory, t, e->args);
	data = ut_out_data(memory, &len);
	ut_grid_name(g, data, len, ARGS_COLUMNS);
	ut_out_abandon(memory);
}

static void add_row(struct ut_grid *g, struct ut_store *s, const struct row *r, uint64_t first)
{
	size_t mark = s->trace.arg_count;
	struct ut_event e = event_of(s, r);
	const struct ut_track *track = &s->trace.tracks[r->track];
	struct ut_buf process = { 0 }, thread = { 0 };

	ut_label_process(&process, &s->trace, track->process);
	ut_label_track(&thread, &s->trace, r->track);
	ut_grid_fmt(g, "%" PRIu64 ".%09" PRIu64, (e.ts - first) / 1000000000,
		    (e.ts - first) % 1000000000);
	ut_grid_name(g, process.data, process.len, NAME_COLUMNS / 2);
	ut_grid_name(g, thread.data, thread.len, NAME_COLUMNS / 2);
	ut_grid_text(g, e.kind < UT_KIND_COUNT ? kind_names[e.kind] : "?");
	add_value(g, &e);
	add_str(g, &s->trace, e.name, NAME_COLUMNS);
	add_str(g, &s->trace, e.cat, NAME_COLUMNS / 2);
	add_args(g, &s->trace, &e);
	ut_trace_drop_args(&s->trace, mark);
	ut_buf_release(&process);
	ut_buf_release(&thread);
}

static void put_text(struct ut_out *o, struct ut_store *s, const struct row *rows, uint64_t count)
{
	static const char *const titles[] = { "Time (s)", "Process", "Thread",   "Kind",
					      "Value",    "Name",    "Category", "Arguments" };
	struct ut_grid g = { 0 };

	if (!count) {
		ut_out_text(o, "no events\n");
		return;
	}
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		ut_grid_column(&g, titles[i], i == 0 || i == 4 ? UT_GRID_RIGHT : UT_GRID_LEFT);
	for (uint64_t i = 0; i < count; i++)
		add_row(&g, s, &rows[i], rows[0].ts);
	ut_grid_print(&g, o);
	ut_grid_release(&g);
}

static void put_json_str(struct ut_out *o, const char *key, const char *s, size_t len)
{
	ut_out_fmt(o, ",\"%s\":", key);
	ut_out_json_str(o, s, len);
}

static void put_json_place(struct ut_out *o, const struct ut_trace *t, uint32_t track)
{
	const struct ut_track *k = &t->tracks[track];
	struct ut_buf b = { 0 };

	ut_label_process(&b, t, k->process);
	put_json_str(o, "process", b.data, b.len);
	b.len = 0;
	ut_label_track(&b, t, track);
	put_json_str(o, "thread", b.data, b.len);
	ut_buf_release(&b);
}

static void put_json_row(struct ut_out *o, struct ut_store *s, const struct row *r)
{
	const struct ut_trace *t = &s->trace;
	size_t mark = t->arg_count;
	struct ut_event e = event_of(s, r);
	struct ut_str name = ut_strtab_get(&t->strings, e.name);
	struct ut_str cat = ut_strtab_get(&t->strings, e.cat);

	ut_out_fmt(o, "{\"ts_ns\":%" PRIu64 ",\"kind\":\"%s\"", e.ts,
		   e.kind < UT_KIND_COUNT ? kind_names[e.kind] : "?");
	put_json_str(o, "name", name.ptr, name.len);
	if (cat.len)
		put_json_str(o, "category", cat.ptr, cat.len);
	put_json_place(o, t, r->track);
	if (e.kind == UT_KIND_SPAN) {
		ut_out_fmt(o, ",\"dur_ns\":%" PRIu64 "%s", e.val,
			   e.flags & UT_EV_UNFINISHED ? ",\"unfinished\":true" : "");
	} else if (e.kind == UT_KIND_COUNTER) {
		ut_out_text(o, ",\"value\":");
		ut_out_json_double(o, counter_value(&e));
	} else if (e.kind == UT_KIND_SAMPLE) {
		ut_out_fmt(o, ",\"weight\":%" PRIu32 ",\"args\":", ut_sample_weight(e.val));
		ut_sample_json(o, t, &e);
	} else if (e.kind != UT_KIND_INSTANT) {
		ut_out_fmt(o, ",\"id\":%" PRIu64, e.val);
	}
	if (e.args && e.kind != UT_KIND_SAMPLE) {
		ut_out_text(o, ",\"args\":");
		ut_args_json(o, t, e.args);
	}
	ut_out_text(o, "}");
	ut_trace_drop_args(&s->trace, mark);
}

/* The work. */
static int head(const struct head_opts *opts, const char *path, struct ut_err *err)
{
	struct ut_out *out = ut_out_open("-", 0);
	uint64_t count = opts->count;
	struct ut_store store;
	struct row *rows;
	int rc = load(path, count, &store, err);

	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	rows = first_rows(&store, &count);
	if (opts->json) {
		ut_out_text(out, "[");
		for (uint64_t i = 0; i < count; i++) {
			ut_out_text(out, i ? ",\n" : "\n");
			put_json_row(out, &store, &rows[i]);
		}
		ut_out_text(out, "\n]\n");
	} else {
		put_text(out, &store, rows, count);
	}
	free(rows);
	ut_store_release(&store);
	return ut_out_commit(out, err);
}

static const struct ut_opt *make_table(struct ut_arena *a, struct head_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_u64('n', "count", "N", &o->count, "so many events (10)"),
		ut_opt_flag('j', "json", &o->json, "print JSON instead of text"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int refuse_several(struct ut_err *err)
{
	ut_err_set(err, -EINVAL, "one trace at a time, please");
	return ut_cmd_misuse(&ut_cmd_head, err);
}

static int cmd_head(int argc, const char *const *argv)
{
	struct head_opts opts = { .count = 10 };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, make_table(&arena, &opts), argc, argv, &err);
	int status;

	if (!rc && opts.help)
		status = ut_cmd_help(&ut_cmd_head);
	else if (rc)
		status = ut_cmd_misuse(&ut_cmd_head, &err);
	else if (!ut_last_fill(&words, &arena))
		status = UT_EXIT_MISUSE;
	else if (words.count > 1)
		status = refuse_several(&err);
	else if (head(&opts, words.items[0], &err))
		status = ut_cmd_fail(&ut_cmd_head, &err);
	else
		status = UT_EXIT_OK;
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *head_options(struct ut_arena *a)
{
	return make_table(a, UT_NEW(a, struct head_opts));
}

const struct ut_cmd ut_cmd_head = {
	.name = "head",
	.usage = "[-n N] [--json] [TRACE]",
	.takes_last = true,
	.summary = "print the first events of a trace",
	.description =
		"Prints the earliest events, one a line, with times since the first of them. Of\n"
		"Chrome JSON and Perfetto files only the first megabyte is read, and more only\n"
		"if there are too few events in it: so of a file whose events are in no order,\n"
		"these are the earliest of its beginning, and spans that end later in the file\n"
		"are marked with a plus. A program to record that is called head:\n"
		"unitrace -- head",
	.examples = "  unitrace head app.json.gz\n"
		    "  unitrace head -n 3 --json app.utr\n",
	.options = head_options,
	.run = cmd_head,
};
