/*
 * cmd_head.c - `unitrace head`: the first events of a trace.
 *
 * Text and packets are read from the start, and a file that ends early is no problem to their
 * importers: so we give them the first part only, and more of it until there are enough events.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/label.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/command_line.h"
#include "cmd/table_options.h"
#include "export/args_json.h"
#include "import/importer.h"
#include "model/counter.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/source.h"
#include "text/table_report.h"

#define FIRST_PART   (UINT64_C(1) << 20) /* bytes; ten milliseconds of work at most */
#define NAME_COLUMNS 48
#define ARGS_COLUMNS 60

/* Bytes after which it is enough, if the last seven eighths of them held no event. */
#define BARREN_MOST (UINT64_C(1) << 29)

struct head_opts {
	struct ut_table_opts table;
	uint64_t count;
	bool help;
};

/* ---- reading ------------------------------------------------------------------------------- */

/* The beginning of an input, unpacked, as a file in memory. */
struct part {
	struct ut_source source;
	int fd;
	uint64_t bytes;
	bool whole; /* there is no more */
};

static int head_read_more(struct part *p, uint64_t until, struct ut_err *err)
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
		int rc = head_read_more(p, until, err);

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

static int head_load(const char *path, uint64_t count, struct ut_store *store, struct ut_err *err)
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

static int head_by_time(const void *a, const void *b)
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
		qsort(rows, n, sizeof(*rows), head_by_time);
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
static struct ut_event head_event_of(struct ut_store *s, const struct row *r)
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

/* JSON has the number of an event by its kind, and in an order of its own. */
static const struct ut_report_column columns[] = {
	{ .key = "ts",
	  .title = "Time (s)",
	  .unit = "ns",
	  .type = UT_REPORT_TIME,
	  .readers = UT_FOR_PEOPLE },
	{ .key = "process",
	  .title = "Process",
	  .type = UT_REPORT_TEXT,
	  .readers = UT_FOR_PEOPLE,
	  .most = NAME_COLUMNS / 2 },
	{ .key = "thread",
	  .title = "Thread",
	  .type = UT_REPORT_TEXT,
	  .readers = UT_FOR_PEOPLE,
	  .most = NAME_COLUMNS / 2 },
	{ .key = "ts", .unit = "ns", .type = UT_REPORT_TIME, .readers = UT_FOR_PROGRAMS },
	{ .key = "kind", .title = "Kind", .type = UT_REPORT_WORD },
	{ .key = "value", .title = "Value", .type = UT_REPORT_NUMBER, .readers = UT_FOR_PEOPLE },
	{ .key = "name", .title = "Name", .type = UT_REPORT_TEXT, .most = NAME_COLUMNS },
	{ .key = "category",
	  .title = "Category",
	  .type = UT_REPORT_TEXT,
	  .most = NAME_COLUMNS / 2,
	  .optional = true },
	{ .key = "process", .type = UT_REPORT_TEXT, .readers = UT_FOR_PROGRAMS },
	{ .key = "thread", .type = UT_REPORT_TEXT, .readers = UT_FOR_PROGRAMS },
	{ .key = "dur",
	  .unit = "ns",
	  .type = UT_REPORT_TIME,
	  .readers = UT_FOR_PROGRAMS,
	  .optional = true },
	{ .key = "unfinished",
	  .type = UT_REPORT_WORD,
	  .readers = UT_FOR_PROGRAMS,
	  .optional = true },
	{ .key = "value", .type = UT_REPORT_NUMBER, .readers = UT_FOR_PROGRAMS, .optional = true },
	{ .key = "weight", .type = UT_REPORT_COUNT, .readers = UT_FOR_JSON, .optional = true },
	{ .key = "id", .type = UT_REPORT_COUNT, .readers = UT_FOR_PROGRAMS, .optional = true },
	{ .key = "args",
	  .title = "Arguments",
	  .type = UT_REPORT_TEXT,
	  .most = ARGS_COLUMNS,
	  .optional = true },
};

static const struct ut_report_table event_table = { .columns = columns,
						    .count = sizeof(columns) / sizeof(columns[0]) };

/* What an event's number is: a length, a value, or what joins it with another; people see one. */
struct number {
	struct ut_report_cell shown, dur, unfinished, value, weight, id;
	char text[UT_CELL_TIME + 1];
};

static void head_take_number(struct number *n, const struct ut_event *e)
{
	bool unfinished = e->kind == UT_KIND_SPAN && e->flags & UT_EV_UNFINISHED;
	char time[UT_CELL_TIME];

	*n = (struct number){ 0 };
	if (e->kind == UT_KIND_SPAN) {
		n->shown = n->dur = ut_report_u64(e->val);
		snprintf(n->text, sizeof(n->text), "%s%s", ut_cell_time(time, e->val),
			 unfinished ? "+" : "");
	} else if (e->kind == UT_KIND_COUNTER && ut_counter_ends(e->val, e->flags)) {
		snprintf(n->text, sizeof(n->text), "-");
	} else if (e->kind == UT_KIND_COUNTER) {
		double value = ut_counter_value(e->val, e->flags);

		n->shown = n->value = ut_report_real(value);
		snprintf(n->text, sizeof(n->text), "%.9g", value);
	} else if (e->kind == UT_KIND_SAMPLE) {
		n->shown = n->weight = ut_report_u64(ut_sample_weight(e->val));
		snprintf(n->text, sizeof(n->text), "x%" PRIu32, ut_sample_weight(e->val));
	} else if (e->kind != UT_KIND_INSTANT) {
		n->shown = n->id = ut_report_u64(e->val);
		snprintf(n->text, sizeof(n->text), "#%" PRIu64, e->val);
	}
	if (unfinished)
		n->unfinished = (struct ut_report_cell){ .type = UT_CELL_BOOL, .u64 = 1 };
	n->shown.said = n->text;
}

/* Where texts of a row are made. */
struct scratch {
	struct ut_buf process, thread;
	struct ut_out *args;
};

static struct ut_report_cell args_cell(struct scratch *x, const struct ut_trace *t,
				       const struct ut_event *e)
{
	struct ut_report_cell cell = { .type = UT_CELL_JSON };

	if (!e->args && e->kind != UT_KIND_SAMPLE)
		return ut_report_none();
	ut_out_clear(x->args);
	if (e->kind == UT_KIND_SAMPLE)
		ut_sample_json(x->args, t, e);
	else
		ut_args_json(x->args, t, e->args);
	cell.text.ptr = ut_out_data(x->args, &cell.text.len);
	return cell;
}

static void head_add_row(struct ut_report *r, struct ut_store *s, const struct row *row,
			 uint64_t first, struct scratch *x)
{
	size_t mark = s->trace.arg_count;
	struct ut_event e = head_event_of(s, row);
	struct ut_str cat = ut_strtab_get(&s->trace.strings, e.cat);
	struct ut_report_cell process, thread;
	struct number n;
	char seconds[48];

	x->process.len = x->thread.len = 0;
	ut_label_process(&x->process, &s->trace, s->trace.tracks[row->track].process);
	ut_label_track(&x->thread, &s->trace, row->track);
	process = ut_report_str((struct ut_str){ x->process.data, x->process.len });
	thread = ut_report_str((struct ut_str){ x->thread.data, x->thread.len });
	snprintf(seconds, sizeof(seconds), "%" PRIu64 ".%09" PRIu64, (e.ts - first) / 1000000000,
		 (e.ts - first) % 1000000000);
	head_take_number(&n, &e);
	ut_report_add(r, (const struct ut_report_cell[]){
				 ut_report_said(ut_report_u64(e.ts), seconds),
				 process,
				 thread,
				 ut_report_u64(e.ts),
				 ut_report_text(e.kind < UT_KIND_COUNT ? kind_names[e.kind] : "?"),
				 n.shown,
				 ut_report_str(ut_strtab_get(&s->trace.strings, e.name)),
				 cat.len ? ut_report_str(cat) : ut_report_none(),
				 process,
				 thread,
				 n.dur,
				 n.unfinished,
				 n.value,
				 n.weight,
				 n.id,
				 args_cell(x, &s->trace, &e),
			 });
	ut_trace_drop_args(&s->trace, mark);
}

static void head_put_rows(struct ut_out *o, struct ut_store *s, const struct row *rows,
			  uint64_t count, const struct ut_report_opts *opts)
{
	struct scratch x = { .args = ut_out_open_memory() };
	struct ut_report *r = ut_report_start(o, opts, &event_table);

	for (uint64_t i = 0; i < count; i++)
		head_add_row(r, s, &rows[i], rows[0].ts, &x);
	ut_report_finish(r);
	ut_out_abandon(x.args);
	ut_buf_release(&x.process);
	ut_buf_release(&x.thread);
}

/* The work. */
static int head(const struct head_opts *opts, const char *path, struct ut_err *err)
{
	struct ut_report_opts report = ut_table_report(&opts->table, STDOUT_FILENO, 0);
	struct ut_out *out = ut_out_open("-", 0);
	uint64_t count = opts->count;
	struct ut_store store;
	struct row *rows;
	int rc = head_load(path, count, &store, err);

	report.first = "\n";
	report.close = "\n]\n";
	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	rows = first_rows(&store, &count);
	if (!count && report.format == UT_REPORT_TABLE)
		ut_out_text(out, "no events\n");
	else
		head_put_rows(out, &store, rows, count, &report);
	free(rows);
	ut_store_release(&store);
	return ut_out_commit(out, err);
}

static const struct ut_opt *head_make_table(struct ut_arena *a, struct head_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_u64('n', "count", "N", &o->count, "so many events (10)"),
		ut_opt_hidden(ut_opt_u64(0, "rows", "N", &o->count, "the same")),
		ut_opt_hidden(ut_opt_u64(0, "limit", "N", &o->count, "the same")),
		UT_TABLE_OPT_SORT(&o->table),
		ut_opt_flag('j', "json", &o->table.json, "print JSON instead of text"),
		UT_TABLE_OPT_CSV(&o->table),
		UT_TABLE_OPT_CSV_SAFE(&o->table),
		UT_TABLE_OPT_WIDTH(&o->table, "48, other texts less"),
		UT_TABLE_OPT_COLOUR(&o->table),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int head_start(struct head_opts *o, struct ut_command_line *l)
{
	if (ut_table_opts_check(&o->table, &l->err) ||
	    ut_report_check_sort(&event_table, o->table.sort, &l->err))
		return ut_cmd_misuse(&ut_cmd_head, &l->err);
	if (!ut_command_line_last(l))
		return l->status;
	if (l->words.count > 1) {
		ut_err_set(&l->err, -EINVAL, "one trace at a time, please");
		return ut_cmd_misuse(&ut_cmd_head, &l->err);
	}
	return head(o, l->words.items[0], &l->err) ? ut_cmd_fail(&ut_cmd_head, &l->err)
						   : UT_EXIT_OK;
}

static int cmd_head(int argc, const char *const *argv)
{
	struct head_opts opts = { .table = { UT_TABLE_OPTS }, .count = 10 };
	struct ut_command_line line = { 0 };

	if (ut_command_line_parse(&line, &ut_cmd_head, head_make_table(&line.arena, &opts),
				  &opts.help, argc, argv))
		line.status = head_start(&opts, &line);
	return ut_command_line_end(&line);
}

static const struct ut_opt *head_options(struct ut_arena *a)
{
	return head_make_table(a, UT_NEW(a, struct head_opts));
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
