/*
 * cmd_info.c - `unitrace info`: what is in a recording or a trace.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/size.h"
#include "cmd/command_line.h"
#include "cmd/words.h"
#include "import/load.h"
#include "import/spool/reader.h"
#include "model/event.h"
#include "model/sink.h"
#include "report/about.h"
#include "session/spools.h"
#include "text/out.h"
#include "text/source.h"

struct info_opts {
	uint64_t threads;
	bool json, help;
};

struct work {
	const struct info_opts *opts;
	struct ut_out *out;
	size_t reported; /* how many things have been described */
};

static void info_next(struct work *w)
{
	if (w->reported++)
		ut_out_text(w->out, w->opts->json ? ",\n" : "\n");
}

/* ---- recordings ---------------------------------------------------------------------------- */

/* Counts what passes: a recording need not be in memory for that. */
struct counter {
	struct ut_sink sink; /* first */
	uint64_t by_kind[UT_KIND_COUNT];
};

static void count_event(struct ut_sink *sink, const struct ut_trace *trace,
			const struct ut_event *event)
{
	struct counter *c = (struct counter *)sink;

	(void)trace;
	if (event->kind < UT_KIND_COUNT)
		c->by_kind[event->kind]++;
}

static uint64_t count_threads(const struct ut_trace *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->track_count; i++)
		n += t->tracks[i].type == UT_TRACK_THREAD;
	return n;
}

static void spool_text(struct ut_out *out, const struct ut_spool_info *info,
		       const struct ut_trace *t, const struct counter *c)
{
	char bytes[32], time[32];

	ut_out_fmt(out, "%s\n  process   %s, pid %" PRIu32, info->path, info->name, info->pid);
	if (info->rank >= 0)
		ut_out_fmt(out, ", rank %" PRId32, info->rank);
	ut_out_fmt(out, "%s\n", info->alive ? ", still running" : "");
	ut_out_fmt(out, "  recorded  %s in %s\n", ut_size_text(bytes, sizeof(bytes), info->bytes),
		   ut_time_text(time, sizeof(time), t->last - t->first));
	ut_out_fmt(out, "  threads   %" PRIu64 "\n  strings   %" PRIu32 "\n", count_threads(t),
		   t->strings.count);
	ut_about_counts_text(out, c->by_kind, &t->losses);
}

static void info_put_str(struct ut_out *out, const char *key, const char *value)
{
	ut_out_fmt(out, "\"%s\":", key);
	ut_out_json_str(out, value, strlen(value));
	ut_out_text(out, ",");
}

static void spool_json(struct ut_out *out, const struct ut_spool_info *info,
		       const struct ut_trace *t, const struct counter *c)
{
	ut_out_text(out, "{");
	info_put_str(out, "path", info->path);
	info_put_str(out, "format", "spool");
	info_put_str(out, "name", info->name);
	ut_out_fmt(out, "\"pid\":%" PRIu32 ",\"rank\":", info->pid);
	if (info->rank >= 0)
		ut_out_fmt(out, "%" PRId32, info->rank);
	else
		ut_out_text(out, "null");
	ut_out_fmt(out, ",\"alive\":%s,\"bytes\":%" PRIu64 ",\"threads\":%" PRIu64,
		   info->alive ? "true" : "false", info->bytes, count_threads(t));
	ut_out_fmt(out, ",\"strings\":%" PRIu32 ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64,
		   t->strings.count, t->first, t->last);
	ut_about_counts_json(out, c->by_kind, &t->losses);
	ut_out_text(out, "}");
}

static int report_spool(struct work *w, const struct ut_spool_info *info, struct ut_err *err)
{
	struct counter counter = { .sink.event = count_event };
	struct ut_trace trace;
	int rc;

	ut_trace_init(&trace);
	rc = ut_import_spool(info->path, &trace, &counter.sink, err);
	if (!rc) {
		info_next(w);
		(w->opts->json ? spool_json : spool_text)(w->out, info, &trace, &counter);
	}
	ut_trace_release(&trace);
	return rc;
}

/* A session directory or a spool file. *any says whether it was one. */
static int report_spools(struct work *w, const char *word, bool *any, struct ut_err *err)
{
	struct ut_spools spools = { 0 };
	int rc = ut_spools_open(&spools, 1, &word, err);

	*any = spools.count;
	for (size_t i = 0; !rc && i < spools.count; i++)
		rc = report_spool(w, &spools.items[i], err);
	ut_spools_close(&spools);
	return rc;
}

/* ---- traces of any format ------------------------------------------------------------------ */

static const char *format_of(const char *path)
{
	const struct ut_importer *importer;
	struct ut_source s;

	if (!strcmp(path, "-") || ut_source_open(&s, path, NULL))
		return "unknown";
	importer = ut_importer_for(s.head, s.head_len);
	ut_source_close(&s);
	return importer ? importer->name : "unknown";
}

struct one {
	struct work *work;
	struct ut_about about;
};

static int report_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct one *o = ctx;

	(void)i;
	(void)err;
	o->about.store = store;
	info_next(o->work);
	(o->work->opts->json ? ut_about_json : ut_about_text)(o->work->out, &o->about);
	return 0;
}

static int report_trace(struct work *w, char *path, struct ut_err *err)
{
	struct one one = { .work = w, .about = { .path = path, .format = format_of(path) } };
	const struct ut_load how = { "info", ut_load_threads(w->opts->threads), .checked = false,
				     .logger = ut_log_stderr(), .reports_losses = true };
	const struct ut_inputs in = { .paths = &path, .count = 1 };
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		one.about.bytes = (uint64_t)st.st_size;
	return ut_load_each(&in, &how, report_store, &one, err);
}

static int report_word(struct work *w, const char *word, struct ut_err *err)
{
	struct ut_inputs in = { 0 };
	bool any = false;
	int rc = 0;

	if (ut_path_is_dir(word)) /* a session: its processes in the order of their start */
		rc = report_spools(w, word, &any, err);
	if (rc || any)
		return rc;
	rc = ut_inputs_find(&in, 1, &word, ut_log_stderr(), err);
	for (size_t i = 0; !rc && i < in.count; i++) {
		if (!strcmp(format_of(in.paths[i]), ut_import_spool_file.name))
			rc = report_spools(w, in.paths[i], &any, err);
		else
			rc = report_trace(w, in.paths[i], err);
	}
	ut_inputs_release(&in);
	return rc;
}

/* ---- the glue ------------------------------------------------------------------------------ */

/* The work. */
static int info(const struct info_opts *o, const struct ut_words *words, struct ut_err *err)
{
	struct work w = { .opts = o, .out = ut_out_open("-", 0) };
	int rc = 0;

	ut_out_text(w.out, o->json ? "[" : "");
	for (int i = 0; !rc && i < words->count; i++)
		rc = report_word(&w, words->items[i], err);
	ut_out_text(w.out, o->json ? "]\n" : "");
	if (rc) {
		ut_out_abandon(w.out);
		return rc;
	}
	return ut_out_commit(w.out, err);
}

static const struct ut_opt *info_make_table(struct ut_arena *a, struct info_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_flag('j', "json", &o->json, "print JSON instead of text"),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read a trace (one per core)"),
			     1, 256),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int cmd_info(int argc, const char *const *argv)
{
	struct info_opts opts = { 0 };
	struct ut_command_line line = { 0 };

	if (ut_command_line_read(&line, &ut_cmd_info, info_make_table(&line.arena, &opts),
				 &opts.help, argc, argv))
		line.status = info(&opts, &line.words, &line.err)
				      ? ut_cmd_fail(&ut_cmd_info, &line.err)
				      : UT_EXIT_OK;
	return ut_command_line_end(&line);
}

static const struct ut_opt *info_options(struct ut_arena *a)
{
	return info_make_table(a, UT_NEW(a, struct info_opts));
}

const struct ut_cmd ut_cmd_info = {
	.name = "info",
	.usage = "[--json] [SESSION-DIR|SPOOL-FILE|TRACE|DIRECTORY|PATTERN...]",
	.takes_last = true,
	.summary = "say what is in a recording or a trace",
	.description =
		"Tells for each recorded process its name, id, rank and threads, the number of\n"
		"events of each kind, the time they span, their size on disk, and what was\n"
		"lost. For traces of other formats: the format and the tool that wrote it,\n"
		"processes and tracks, events, time and clock, what was lost, and which other\n"
		"things the file says about itself. A program to record that is called info:\n"
		"unitrace -- info",
	.examples = "  unitrace info unitrace.app.4711.session\n"
		    "  unitrace info --json trace.json.gz\n",
	.options = info_options,
	.run = cmd_info,
};
