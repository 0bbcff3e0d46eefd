/*
 * cmd_validate.c - `unitrace validate`: what is wrong with a trace.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/check.h"
#include "analyze/label.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/last_recording.h"
#include "cmd/words.h"
#include "import/load.h"
#include "report/about.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/source.h"

#define NAME_COLUMNS 60

struct validate_opts {
	uint64_t threads;
	bool json, strict, help;
};

/* ---- one trace ----------------------------------------------------------------------------- */

/* What the importer had to say. */
struct warning {
	char *text;
	bool lost; /* else repaired */
};

struct warnings {
	struct warning *items;
	size_t count, cap;
};

struct report {
	const char *path;
	const char *format; /* "" = nobody knows */
	char failure[1024]; /* it could not be read, or a checksum is wrong */
	bool is_loaded;
	struct ut_store store;
	struct ut_check check;
	struct warnings warnings;
};

static void validate_keep(struct warnings *w, const char *text, bool lost)
{
	struct warning *new;

	w->items = ut_grow(w->items, w->count + 1, &w->cap, sizeof(*w->items));
	new = &w->items[w->count++];
	new->lost = lost;
	new->text = ut_make(strlen(text) + 1);
	memcpy(new->text, text, strlen(text));
}

static void keep_repair(void *ctx, const char *path, const char *text)
{
	(void)path;
	validate_keep(ctx, text, false);
}

static void keep_loss(void *ctx, const char *path, const char *text)
{
	(void)path;
	validate_keep(ctx, text, true);
}

static const char *weight_of(const struct warning *w)
{
	return w->lost ? "lost" : "repaired";
}

static void find_format(struct report *r)
{
	const struct ut_importer *importer;
	struct ut_source s;

	r->format = "";
	if (!strcmp(r->path, "-") || ut_source_open(&s, r->path, NULL))
		return;
	importer = ut_importer_for(s.head, s.head_len);
	r->format = importer ? importer->name : "";
	ut_source_close(&s);
}

/* The path stands above already. */
static void keep_failure(struct report *r, const char *text)
{
	size_t len = strlen(r->path);

	if (!strncmp(text, r->path, len) && !strncmp(text + len, ": ", 2))
		text += len + 2;
	snprintf(r->failure, sizeof(r->failure), "%s", text);
}

static void examine(struct report *r, unsigned int threads)
{
	const struct ut_import_opts opts = { .threads = threads,
					     .warn = keep_repair,
					     .lost = keep_loss,
					     .ctx = &r->warnings,
					     .checked = true };
	struct ut_err err = { 0 };
	int rc;

	find_format(r);
	rc = ut_import(r->path, &opts, &r->store, &err);
	if (rc) {
		keep_failure(r, err.text[0] ? err.text : strerror(-rc));
		return;
	}
	r->is_loaded = true;
	ut_check_store(&r->check, &r->store);
}

static void validate_release(struct report *r)
{
	for (size_t i = 0; i < r->warnings.count; i++)
		free(r->warnings.items[i].text);
	free(r->warnings.items);
	ut_store_release(&r->store);
}

/* How bad it is, counted in kinds of findings. */
struct outcome {
	size_t lost, odd;
};

static struct outcome validate_evaluate(const struct report *r)
{
	struct outcome v = { .lost = r->failure[0] != '\0' };

	for (size_t i = 0; i < r->warnings.count; i++) {
		if (r->warnings.items[i].lost)
			v.lost++;
		else
			v.odd++;
	}
	for (size_t i = 0; r->is_loaded && i < UT_CHECK_COUNT; i++) {
		if (!r->check.findings[i].count)
			continue;
		if (ut_check_kinds[i].weight == UT_CHECK_LOST)
			v.lost++;
		else
			v.odd++;
	}
	return v;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* "'step' on main (1) of app (100) at 1.500000000 s": as far as it is known. */
static void add_example(struct ut_buf *b, const struct report *r, const struct ut_finding *f)
{
	const struct ut_trace *t = &r->store.trace;
	struct ut_str name = ut_strtab_get(&t->strings, f->name);
	uint64_t since = f->ts - t->first;
	struct ut_buf label = { 0 };

	if (f->track == UT_CHECK_NOWHERE)
		return;
	ut_buf_text(b, "; first: ");
	if (name.len) {
		ut_buf_char(b, '\'');
		ut_cell_name(b, name.ptr, name.len, NAME_COLUMNS);
		ut_buf_text(b, "' ");
	}
	ut_buf_text(b, "on ");
	ut_label_track(&label, t, f->track);
	ut_buf_text(&label, " of ");
	ut_label_process(&label, t, t->tracks[f->track].process);
	ut_cell_name(b, label.data, label.len, SIZE_MAX);
	ut_buf_release(&label);
	if (f->ts >= t->first)
		ut_buf_fmt(b, " at %" PRIu64 ".%09" PRIu64 " s", since / 1000000000,
			   since % 1000000000);
}

static void put_findings(struct ut_out *o, const struct report *r)
{
	for (size_t i = 0; r->is_loaded && i < UT_CHECK_COUNT; i++) {
		const struct ut_finding *f = &r->check.findings[i];
		struct ut_buf b = { 0 };

		if (!f->count)
			continue;
		ut_buf_text(&b, ut_check_kinds[i].text);
		add_example(&b, r, f);
		ut_out_fmt(o, "  %-8s  %" PRIu64 " x %s: ",
			   ut_check_kinds[i].weight == UT_CHECK_LOST ? "lost" : "odd", f->count,
			   ut_check_kinds[i].word);
		ut_out_write(o, b.data, b.len);
		ut_out_text(o, "\n");
		ut_buf_release(&b);
	}
}

/* Processes that failed: the trace is as good as any, what it shows is not. */
static bool put_failures(struct ut_out *o, const struct report *r)
{
	const struct ut_trace *t = &r->store.trace;
	struct ut_buf how = { 0 };
	bool any = false;

	for (size_t i = 0; r->is_loaded && i < t->process_count; i++) {
		const struct ut_process *p = &t->processes[i];
		struct ut_str name = ut_strtab_get(&t->strings, p->name);
		struct ut_buf b = { 0 };

		how.len = 0;
		if (!ut_process_failure(t, p, &how))
			continue;
		ut_cell_name(&b, name.ptr, name.len, NAME_COLUMNS);
		ut_out_fmt(o, "  program   %s (%" PRIu64 ") failed: %s\n", b.data, p->pid,
			   how.data);
		ut_buf_release(&b);
		any = true;
	}
	ut_buf_release(&how);
	return any;
}

static void validate_put_text(struct ut_out *o, const struct report *r)
{
	struct outcome v = validate_evaluate(r);
	bool failed;

	ut_cell_text(o, r->path);
	if (r->failure[0]) {
		ut_out_text(o, "\n  lost      ");
		ut_cell_text(o, r->failure);
	}
	ut_out_text(o, "\n");
	if (r->is_loaded) {
		ut_out_text(o, "  format    ");
		ut_about_line(o, &r->store, r->format);
		ut_out_text(o, "\n");
	}
	for (size_t i = 0; i < r->warnings.count; i++) {
		ut_out_fmt(o, "  %-8s  ", weight_of(&r->warnings.items[i]));
		ut_cell_text(o, r->warnings.items[i].text);
		ut_out_text(o, "\n");
	}
	put_findings(o, r);
	failed = put_failures(o, r);
	if (!v.lost && !v.odd)
		ut_out_text(o, failed ? "  good      nothing else to complain about\n"
				      : "  good      nothing to complain about\n");
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_str(struct ut_out *o, const char *key, const char *text)
{
	ut_out_fmt(o, "\"%s\":", key);
	ut_out_json_str(o, text, strlen(text));
}

static void json_example(struct ut_out *o, const struct report *r, const struct ut_finding *f)
{
	const struct ut_trace *t = &r->store.trace;
	struct ut_str name = ut_strtab_get(&t->strings, f->name);
	struct ut_buf b = { 0 };

	if (f->track == UT_CHECK_NOWHERE)
		return;
	ut_out_text(o, ",\"first\":{\"name\":");
	ut_out_json_str(o, name.ptr, name.len);
	ut_label_track(&b, t, f->track);
	ut_out_text(o, ",\"thread\":");
	ut_out_json_str(o, b.data, b.len);
	b.len = 0;
	ut_label_process(&b, t, t->tracks[f->track].process);
	ut_out_text(o, ",\"process\":");
	ut_out_json_str(o, b.data, b.len);
	ut_out_fmt(o, ",\"ts_ns\":%" PRIu64 "}", f->ts);
	ut_buf_release(&b);
}

static void json_findings(struct ut_out *o, const struct report *r)
{
	const char *comma = "\n";

	ut_out_text(o, ",\n \"findings\":[");
	for (size_t i = 0; r->is_loaded && i < UT_CHECK_COUNT; i++) {
		const struct ut_finding *f = &r->check.findings[i];

		if (!f->count)
			continue;
		ut_out_fmt(o, "%s  {\"id\":\"%s\",\"weight\":\"%s\",\"count\":%" PRIu64 ",", comma,
			   ut_check_kinds[i].word,
			   ut_check_kinds[i].weight == UT_CHECK_LOST ? "lost" : "odd", f->count);
		json_str(o, "text", ut_check_kinds[i].text);
		json_example(o, r, f);
		ut_out_text(o, "}");
		comma = ",\n";
	}
	ut_out_text(o, "]");
}

static void validate_put_json(struct ut_out *o, const struct report *r)
{
	struct outcome v = validate_evaluate(r);

	ut_out_text(o, "{");
	json_str(o, "path", r->path);
	ut_out_text(o, ",");
	json_str(o, "format", r->format);
	ut_out_text(o, ",");
	json_str(o, "dialect", r->is_loaded ? ut_about_dialect(&r->store.trace) : "");
	ut_out_fmt(o, ",\"verdict\":\"%s\",\"failure\":", v.lost ? "lost" : v.odd ? "odd" : "good");
	if (r->failure[0])
		ut_out_json_str(o, r->failure, strlen(r->failure));
	else
		ut_out_text(o, "null");
	ut_out_text(o, ",\n \"warnings\":[");
	for (size_t i = 0; i < r->warnings.count; i++) {
		ut_out_fmt(o, "%s{\"weight\":\"%s\",", i ? "," : "",
			   weight_of(&r->warnings.items[i]));
		json_str(o, "text", r->warnings.items[i].text);
		ut_out_text(o, "}");
	}
	ut_out_text(o, "]");
	json_findings(o, r);
	ut_out_text(o, "}");
}

/* ---- the glue ------------------------------------------------------------------------------ */

/* The work. */
static int validate(const struct validate_opts *opts, const struct ut_words *words, bool *bad,
		    struct ut_err *err)
{
	struct ut_out *out = ut_out_open("-", 0);
	struct ut_inputs in = { 0 };
	int rc = ut_inputs_find(&in, words->count, words->items, ut_log_stderr(), err);

	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	ut_out_text(out, opts->json ? "[" : "");
	for (size_t i = 0; i < in.count; i++) {
		struct report r = { .path = in.paths[i] };
		struct outcome v;

		examine(&r, ut_load_threads(opts->threads));
		v = validate_evaluate(&r);
		*bad |= v.lost || (opts->strict && v.odd);
		ut_out_text(out, opts->json && i ? ",\n" : "");
		(opts->json ? validate_put_json : validate_put_text)(out, &r);
		validate_release(&r);
	}
	ut_out_text(out, opts->json ? "]\n" : "");
	ut_inputs_release(&in);
	return ut_out_commit(out, err);
}

static const struct ut_opt *validate_make_table(struct ut_arena *a, struct validate_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_flag(0, "strict", &o->strict,
			    "end with status 1 also for what is repaired or only odd"),
		ut_opt_flag('j', "json", &o->json, "print JSON instead of text"),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read (one per core)"),
			     1, 256),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int cmd_validate(int argc, const char *const *argv)
{
	struct validate_opts opts = { 0 };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	bool bad = false;
	int rc = ut_words_parse(&words, &arena, validate_make_table(&arena, &opts), argc, argv,
				&err);
	int status;

	if (!rc && opts.help)
		status = ut_cmd_help(&ut_cmd_validate);
	else if (rc)
		status = ut_cmd_misuse(&ut_cmd_validate, &err);
	else if (!ut_last_recording_fill(&words, &arena))
		status = UT_EXIT_MISUSE;
	else if (validate(&opts, &words, &bad, &err))
		status = ut_cmd_fail(&ut_cmd_validate, &err);
	else
		status = bad ? UT_EXIT_FAILED : UT_EXIT_OK;
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *validate_options(struct ut_arena *a)
{
	return validate_make_table(a, UT_NEW(a, struct validate_opts));
}

const struct ut_cmd ut_cmd_validate = {
	.name = "validate",
	.usage = "[--strict] [--json] [TRACE|DIRECTORY|PATTERN...]",
	.takes_last = true,
	.summary = "say what is wrong with a trace",
	.description =
		"Reads traces and tells which format and which tool's dialect they are, what had\n"
		"to be repaired to read them, and what is missing or odd in them: spans that\n"
		"overlap, never ended or are there twice, flows and async spans without a\n"
		"partner, clocks that jump, ids that two share; each with the number of such\n"
		"events and the first of them. Of .utr files all checksums are compared.\n"
		"\n"
		"Exit status: 0; 1 if information is lost, with --strict also if something is\n"
		"repaired or odd.",
	.examples = "  unitrace validate app.json\n"
		    "  unitrace validate --strict --json ranks/\n",
	.options = validate_options,
	.run = cmd_validate,
};
