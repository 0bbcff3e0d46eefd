/*
 * cmd_query.c - `unitrace query`: SQL over traces.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/last_recording.h"
#include "cmd/query_print.h"
#include "cmd/table_options.h"
#include "cmd/words.h"
#include "export/out_check.h"
#include "import/inputs.h"
#include "import/load.h"
#include "model/store.h"
#include "query/query.h"
#include "query/query_why.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/replaced.h"

struct query_opts {
	struct ut_table_opts table;
	struct ut_report_opts report;
	const char *file, *output, *format_word;
	uint64_t threads, timeout;
	bool overwrite, schema, help;
};

/* Everything that a query needs while it runs. */
struct work {
	const struct query_opts *opts;
	struct ut_query *query;
	const struct ut_inputs *inputs;
	struct ut_store *stores; /* one per input */
	struct ut_out *out;      /* NULL: one of its own for each statement, on standard output */
};

/* ---- interrupts ---------------------------------------------------------------------------- */

static struct ut_query *volatile running; /* what Ctrl-C ends; NULL = nothing */
static volatile sig_atomic_t interrupted, too_late;

static void on_interrupt(int number)
{
	int saved_errno = errno;

	if (number == SIGALRM)
		too_late = 1;
	else
		interrupted = 1;
	if (running)
		ut_query_interrupt(running);
	errno = saved_errno;
}

static void catch_interrupts(void)
{
	struct sigaction action = { .sa_handler = on_interrupt };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
}

/*
 * --timeout: after so many seconds the SQL is ended as by Ctrl-C; 0 switches that off. It is told
 * again and again, because SQLite does not remember what it hears between two statements.
 */
static void set_alarm(uint64_t seconds)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
	struct itimerval timer = { .it_value.tv_sec = (time_t)seconds,
				   .it_interval.tv_usec = seconds ? 50000 : 0 };

	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Ends as the shell expects of a program that was interrupted, so that its loops end, too. */
static int end_interrupted(void)
{
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
	return UT_EXIT_FAILED;
}

/* ---- running ------------------------------------------------------------------------------- */

static struct ut_out *open_out(struct work *w)
{
	return w->out ? w->out : ut_out_open("-", 0);
}

/* 0 or the failure; rows that came before it are printed. */
static int close_out(struct work *w, struct ut_out *out, int rc, struct ut_err *err)
{
	int close_rc;

	if (w->out)
		return rc;
	close_rc = ut_out_commit(out, err);
	return rc ? rc : close_rc;
}

/* A name with a slip in it is no mistake of SQL: only that nothing came tells of it. */
static void report_why(const struct work *w, const char *sql)
{
	struct ut_buf why = { 0 };

	ut_query_why(&why, sql, w->stores, w->inputs->count);
	if (why.len)
		ut_log(UT_INFO, "%s", why.data);
	ut_buf_release(&why);
}

static int run_sql(struct work *w, const char *sql, struct ut_err *err)
{
	struct ut_out *out = open_out(w);
	struct ut_print print;
	bool no_rows;
	int rc;

	ut_print_init(&print, out, &w->opts->report);
	interrupted = too_late = 0;
	running = w->query;
	if (w->opts->timeout)
		set_alarm(w->opts->timeout);
	rc = ut_query_run(w->query, sql, &print.result, err);
	if (w->opts->timeout)
		set_alarm(0);
	running = NULL;
	if (rc == -EINTR && too_late && !interrupted) {
		*err = (struct ut_err){ 0 };
		rc = ut_err_set(err, -ETIME, "the SQL took longer than %" PRIu64 " s (--timeout)",
				w->opts->timeout);
	}
	if (print.rc) {
		*err = print.err;
		rc = print.rc;
	}
	ut_print_release(&print);
	no_rows = !rc && !print.rows;
	rc = close_out(w, out, rc, err);
	if (!rc && no_rows)
		report_why(w, sql);
	return rc;
}

static int print_schema(struct work *w, const char *table, struct ut_err *err)
{
	struct ut_out *out;
	struct ut_buf text = { 0 };

	if (!ut_query_schema(&text, table)) {
		if (table)
			return ut_err_set(err, -EINVAL, "no table %s; .tables lists them", table);
		return ut_err_set(err, -ENOTSUP, "built without SQLite: there are no tables");
	}
	out = open_out(w);
	ut_out_write(out, text.data, text.len);
	ut_buf_release(&text);
	return close_out(w, out, 0, err);
}

static int print_tables(struct work *w, struct ut_err *err)
{
	struct ut_out *out = open_out(w);

	for (const char *const *t = ut_query_tables(); *t; t++)
		ut_out_fmt(out, "%s\n", *t);
	return close_out(w, out, 0, err);
}

static const char dot_help[] = ".tables           the names of all tables\n"
			       ".schema [TABLE]   what their columns mean\n"
			       ".quit             leave\n";

static int print_help(struct work *w, struct ut_err *err)
{
	struct ut_out *out = open_out(w);

	ut_out_text(out, dot_help);
	return close_out(w, out, 0, err);
}

/* A line like ".schema slice". *quit is set by .quit. */
static int run_dot(struct work *w, const char *line, bool *quit, struct ut_err *err)
{
	char word[16] = "", table[64] = "";

	sscanf(line, "%15s %63s", word, table);
	if (!strcmp(word, ".quit") || !strcmp(word, ".exit"))
		*quit = true;
	else if (!strcmp(word, ".tables"))
		return print_tables(w, err);
	else if (!strcmp(word, ".schema"))
		return print_schema(w, table[0] ? table : NULL, err);
	else if (!strcmp(word, ".help"))
		return print_help(w, err);
	else
		return ut_err_set(err, -EINVAL,
				  "no command %s; there are .tables, .schema, .help, "
				  ".quit",
				  word);
	return 0;
}

static bool is_blank(const char *s)
{
	return !s || !s[strspn(s, " \t\r\n")];
}

/* One line of a script or of a prompt: pending is the statement so far. */
static int cmd_query_take_line(struct work *w, struct ut_buf *pending, const char *line, bool *quit,
			       struct ut_err *err)
{
	int rc;

	if (is_blank(pending->data) && line[0] == '.') {
		pending->len = 0;
		return run_dot(w, line, quit, err);
	}
	ut_buf_text(pending, line);
	if (!ut_query_complete(pending->data))
		return 0;
	rc = run_sql(w, pending->data, err);
	pending->len = 0;
	ut_buf_text(pending, "");
	return rc;
}

static bool has_dots(const char *sql)
{
	return sql[0] == '.' || strstr(sql, "\n.");
}

/* A whole text. Without dot commands in one go: SQLite then knows the lines of mistakes. */
static int run_script(struct work *w, const char *sql, struct ut_err *err)
{
	struct ut_buf pending = { 0 };
	bool quit = false;
	int rc = 0;

	if (!has_dots(sql))
		return run_sql(w, sql, err);
	while (*sql && !rc && !quit) {
		size_t len = strcspn(sql, "\n");
		struct ut_buf line = { 0 };

		len += sql[len] == '\n';
		ut_buf_add(&line, sql, len);
		rc = cmd_query_take_line(w, &pending, line.data, &quit, err);
		ut_buf_release(&line);
		sql += len;
	}
	if (!rc && !is_blank(pending.data))
		rc = run_sql(w, pending.data, err);
	ut_buf_release(&pending);
	return rc;
}

/* ---- the prompt ---------------------------------------------------------------------------- */

/* A character of standard input; 0 at its end, -EINTR after Ctrl-C, which only gets in here. */
static int read_char(const sigset_t *mask)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char c;

	while (ppoll(&input, 1, NULL, mask) < 0) {
		if (interrupted)
			return -EINTR;
		if (errno != EINTR)
			return 0;
	}
	return read(STDIN_FILENO, &c, 1) == 1 ? c : 0;
}

/*
 * The next line, with its end; NULL when there is none. Interrupted: an empty text. Ctrl-C is held
 * back from before the prompt is seen until somebody waits for it: it must not come in between.
 */
static char *cmd_query_read_line(const char *prompt, struct ut_buf *line)
{
	sigset_t interrupt, before;
	int c;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	interrupted = 0;
	line->len = 0;
	fputs(prompt, stderr);
	do {
		c = read_char(&before);
		if (c > 0)
			ut_buf_char(line, (char)c);
	} while (c > 0 && c != '\n');
	if (c < 0) {
		fputs("\n", stderr);
		line->len = 0;
	}
	ut_buf_text(line, ""); /* ends it with a NUL */
	sigprocmask(SIG_SETMASK, &before, NULL);
	return c || line->len ? line->data : NULL;
}

static int prompt(struct work *w)
{
	struct ut_buf pending = { 0 }, line = { 0 };
	bool quit = false;

	fprintf(stderr, "%zu trace%s. SQL ends with a semicolon; .help tells more.\n",
		w->inputs->count, w->inputs->count == 1 ? "" : "s");
	while (!quit) {
		struct ut_err err = { 0 };
		const char *text = cmd_query_read_line(
			is_blank(pending.data) ? "unitrace> " : "     ...> ", &line);

		if (!text)
			break;
		if (interrupted || !*text) {
			pending.len = 0; /* Ctrl-C: start again */
			ut_buf_text(&pending, "");
		} else if (cmd_query_take_line(w, &pending, text, &quit, &err)) {
			pending.len = 0;
			ut_buf_text(&pending, "");
			ut_log(UT_ERR, "%s", err.text);
		}
	}
	ut_buf_release(&pending);
	ut_buf_release(&line);
	return 0;
}

/* ---- the work ------------------------------------------------------------------------------ */

static int keep_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct work *w = ctx;

	(void)err;
	ut_store_move(&w->stores[i], store);
	ut_query_add(w->query, w->inputs->paths[i], &w->stores[i]);
	return 0;
}

static int cmd_query_read_all(FILE *from, const char *name, struct ut_buf *text, struct ut_err *err)
{
	char part[4096];
	size_t n;

	while ((n = fread(part, 1, sizeof(part), from)) > 0)
		ut_buf_add(text, part, n);
	if (ferror(from))
		return ut_err_set(err, -EIO, "%s: cannot be read", name);
	ut_buf_text(text, "");
	return 0;
}

static int cmd_query_read_file(const char *path, struct ut_buf *text, struct ut_err *err)
{
	FILE *from = !strcmp(path, "-") ? stdin : fopen(path, "re");
	int rc;

	if (!from)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = cmd_query_read_all(from, path, text, err);
	if (from != stdin)
		fclose(from);
	return rc;
}

/* sql NULL: it comes from a file, from standard input or from a prompt. */
static int cmd_query_ask(struct work *w, const char *sql, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	int rc = 0;

	if (sql)
		return run_script(w, sql, err);
	if (!w->opts->file && isatty(STDIN_FILENO) && !w->out)
		return prompt(w);
	rc = cmd_query_read_file(w->opts->file ? w->opts->file : "-", &text, err);
	if (!rc)
		rc = run_script(w, text.data, err);
	ut_buf_release(&text);
	return rc;
}

static int load_and_ask(struct work *w, const char *sql, struct ut_err *err)
{
	const struct ut_load how = { "reading", ut_load_threads(w->opts->threads), .checked = false,
				     .logger = ut_log_stderr() };
	int rc = ut_replaced_check(w->opts->output, w->inputs->paths, w->inputs->count, err);

	if (!rc && w->opts->output)
		rc = ut_out_check(w->opts->output, NULL, UT_OUT_OVERWRITE, err);
	if (!rc)
		rc = ut_load_each(w->inputs, &how, keep_store, w, err);
	if (rc)
		return rc;
	if (w->opts->output)
		w->out = ut_out_open(w->opts->output, UT_OUT_OVERWRITE);
	catch_interrupts();
	rc = cmd_query_ask(w, sql, err);
	if (w->out && rc)
		ut_out_abandon(w->out);
	else if (w->out)
		rc = ut_out_commit(w->out, err);
	return rc;
}

static int query(const struct query_opts *o, const struct ut_inputs *inputs, const char *sql,
		 struct ut_err *err)
{
	struct work w = { .opts = o, .inputs = inputs };
	int rc = ut_query_open(&w.query, ut_load_threads(o->threads), err);

	w.stores = ut_make((inputs->count + 1) * sizeof(*w.stores));
	if (!rc)
		rc = load_and_ask(&w, sql, err);
	ut_query_close(w.query);
	for (size_t i = 0; i < inputs->count; i++)
		ut_store_release(&w.stores[i]);
	free(w.stores);
	return rc;
}

/* ---- the glue ------------------------------------------------------------------------------ */

static const struct ut_opt *cmd_query_make_table(struct ut_arena *a, struct query_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_str('f', "file", "FILE", &o->file,
					"read the SQL from this file; - is standard input"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "format", "FORMAT", &o->format_word,
					"table (the default), csv, tsv, json, jsonl (one object "
					"per line) or page (columns with their types, rows as "
					"lists)"),
			     "table csv tsv json jsonl page"),
		ut_opt_flag('j', "json", &o->table.json, "the same as --format json"),
		ut_opt_flag(0, "csv", &o->table.csv, "the same as --format csv"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->output,
					"write the results there, once all of them are complete"),
			     "<file>"),
		ut_opt_hidden(ut_opt_flag(0, "overwrite", &o->overwrite,
					  "replace an existing file, as is usual")),
		UT_TABLE_OPT_CSV_SAFE(&o->table),
		UT_TABLE_OPT_SORT(&o->table),
		UT_TABLE_OPT_ROWS(&o->table, "all"),
		UT_TABLE_OPT_LIMIT(&o->table),
		UT_TABLE_OPT_WIDTH(&o->table, "60 on a terminal, otherwise all"),
		UT_TABLE_OPT_COLOUR(&o->table),
		ut_opt_flag(0, "schema", &o->schema,
			    "describe all tables, columns and functions; needs no trace"),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read and count (one per core)"),
			     1, 256),
		ut_opt_range(ut_opt_u64(0, "timeout", "SECONDS", &o->timeout,
					"end SQL that takes longer (never)"),
			     1, 31536000),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

/* The last word, if it looks like SQL (or a dot command) and no file is called so. */
static const char *take_sql(struct ut_words *words)
{
	const char *last = words->count ? words->items[words->count - 1] : NULL;

	if (!last || ut_path_exists(last))
		return NULL;
	if (!strpbrk(last, " \t\n") && !ut_str_starts(last, ".tables") &&
	    !ut_str_starts(last, ".schema"))
		return NULL;
	words->count--;
	return last;
}

/* --json and --csv are short for --format. */
static int finalize_format(struct query_opts *o, struct ut_err *err)
{
	const char *flag = o->table.json ? "json" : o->table.csv ? "csv" : NULL;
	int format = 0;

	if (flag && o->format_word && strcmp(o->format_word, flag) != 0)
		return ut_err_set(err, -EINVAL, "--%s and --format %s exclude each other", flag,
				  o->format_word);
	if (!o->format_word)
		o->format_word = flag ? flag : "table";
	while (format < UT_REPORT_FORMATS &&
	       strcmp(ut_report_format_words[format], o->format_word) != 0)
		format++;
	if (format == UT_REPORT_FORMATS)
		return ut_err_set(err, -EINVAL,
				  "--format does not know '%s'; it takes table, csv, tsv, json, "
				  "jsonl, page",
				  o->format_word);
	o->report = ut_table_report(&o->table, o->output ? -1 : STDOUT_FILENO, 0);
	o->report.format = (enum ut_report_format)format;
	if (o->report.format != UT_REPORT_TABLE)
		o->report.limit = o->table.limit != UINT64_MAX ? o->table.limit : 0;
	if (o->report.width == UT_REPORT_WIDTH_OWN)
		o->report.width = o->report.screen ? UT_CELL_PAD : 0;
	return 0;
}

static int cmd_query_finalize(struct query_opts *o, const struct ut_words *words, const char *sql,
			      struct ut_err *err)
{
	int rc = ut_table_opts_check(&o->table, err);

	if (!rc)
		rc = finalize_format(o, err);
	if (rc)
		return rc;
	for (int i = 0; i < words->count && !sql; i++) {
		if (!strcmp(words->items[i], "-") && (!o->file || !strcmp(o->file, "-")))
			return ut_err_set(err, -EINVAL,
					  "the trace comes from standard input: give the SQL as "
					  "the last word or with -f");
	}
	return 0;
}

static int cmd_query_start(struct query_opts *o, const struct ut_words *words, const char *sql,
			   struct ut_err *err)
{
	struct ut_inputs inputs = { 0 };
	int rc = ut_inputs_find(&inputs, words->count, words->items, ut_log_stderr(), err);

	if (!rc)
		rc = query(o, &inputs, sql, err);
	ut_inputs_release(&inputs);
	if (!rc)
		return UT_EXIT_OK;
	if (rc == -EINTR && interrupted)
		return end_interrupted();
	return rc == -EPIPE ? UT_EXIT_FAILED : ut_cmd_fail(&ut_cmd_query, err);
}

static int schema(struct ut_err *err)
{
	struct work w = { 0 };

	return print_schema(&w, NULL, err) ? ut_cmd_fail(&ut_cmd_query, err) : UT_EXIT_OK;
}

static int cmd_query(int argc, const char *const *argv)
{
	struct query_opts opts = { .table = { UT_TABLE_OPTS } };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, cmd_query_make_table(&arena, &opts), argc, argv,
				&err);
	const char *sql = rc || opts.file ? NULL : take_sql(&words);
	int status;

	if (!rc && opts.help)
		status = ut_cmd_help(&ut_cmd_query);
	else if (!rc && opts.schema)
		status = schema(&err);
	else if (rc || cmd_query_finalize(&opts, &words, sql, &err))
		status = ut_cmd_misuse(&ut_cmd_query, &err);
	else if (!ut_last_recording_fill(&words, &arena))
		status = UT_EXIT_MISUSE;
	else
		status = cmd_query_start(&opts, &words, sql, &err);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *query_options(struct ut_arena *a)
{
	return cmd_query_make_table(a, UT_NEW(a, struct query_opts));
}

const struct ut_cmd ut_cmd_query = {
	.name = "query",
	.usage = "[OPTIONS] [TRACE|DIRECTORY|PATTERN...] [SQL]",
	.takes_last = true,
	.summary = "ask traces questions in SQL",
	.description =
		"Answers SQL about traces. They are tables: slice, slice_stats, device_work, "
		"instant,\n"
		"counter, flow, args, thread, process, track, trace, metadata, event; --schema\n"
		"describes them. Times are nanoseconds. Nothing is copied and nothing can be\n"
		"written, except temporary tables and views. The last word is the SQL if it\n"
		"contains a blank and is no file; without it and without -f the SQL is read from\n"
		"standard input, which on a terminal is a prompt. Several statements are "
		"separated\n"
		"by semicolons. SQL written for Perfetto runs as it is.",
	.examples =
		"  what takes most of the time:\n"
		"    unitrace query app.json 'select name, count, total, p99 from slice_stats\n"
		"                             order by total desc limit 10'\n"
		"  the longest slices of all ranks, as CSV:\n"
		"    unitrace query --format csv ranks/ 'select rank, name, ts, dur from slice\n"
		"                                        order by dur desc limit 100'\n"
		"  look around:\n"
		"    unitrace query app.json\n",
	.options = query_options,
	.run = cmd_query,
};
