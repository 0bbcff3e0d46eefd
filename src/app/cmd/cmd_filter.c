/*
 * cmd_filter.c - `unitrace filter`: a part of a trace as a trace of its own.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/filter.h"
#include "analyze/filter_options.h"
#include "analyze/filter_sink.h"
#include "analyze/filter_why.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/last_recording.h"
#include "cmd/words.h"
#include "export/exporter.h"
#include "export/out_check.h"
#include "import/load.h"
#include "session/output_names.h"
#include "text/out.h"
#include "text/replaced.h"

struct filter_opts {
	struct ut_filter_opts filter;
	const char *output, *format_name;
	const struct ut_exporter *format;
	uint64_t threads;
	bool overwrite, quiet, help;
};

struct work {
	const struct filter_opts *opts;
	struct ut_filter filter;
	uint64_t kept, all;
	struct ut_buf why; /* nothing was kept */
};

static int write_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct work *w = ctx;
	const struct ut_exporter *format = w->opts->format;
	struct ut_out *out = ut_out_open(w->opts->output, UT_OUT_OVERWRITE);
	struct ut_sink *sink = format->open(out);
	struct ut_filter_sink chosen;
	struct ut_filter_view view;

	(void)i;
	ut_filter_view_init(&view, &w->filter, store);
	ut_filter_sink_init(&chosen, &view, sink);
	ut_store_send(store, 0, &chosen.sink);
	format->end_trace(sink, &chosen.trace);
	format->close(sink);
	w->kept = chosen.kept;
	w->all = store->row_count;
	if (!w->kept && w->all)
		ut_filter_why(&w->why, &w->opts->filter, store);
	ut_filter_sink_release(&chosen);
	ut_filter_view_release(&view);
	return ut_out_commit(out, err);
}

/* The work. */
static int filter(struct work *w, const char *input, struct ut_err *err)
{
	const struct filter_opts *o = w->opts;
	const struct ut_load how = { "filter", ut_load_threads(o->threads), .checked = true,
				     .logger = ut_log_stderr() };
	struct ut_inputs in = { 0 };
	int rc = ut_out_check(o->output, o->format, UT_OUT_OVERWRITE, err);

	if (!rc)
		rc = ut_inputs_find(&in, 1, &input, ut_log_stderr(), err);
	if (!rc && in.count != 1)
		rc = ut_err_set(err, -EINVAL,
				"%s: %zu traces; take one, or put them into one with 'unitrace "
				"merge'",
				input, in.count);
	if (!rc)
		rc = ut_replaced_check(o->output, in.paths, in.count, err);
	if (!rc)
		rc = ut_load_each(&in, &how, write_store, w, err);
	if (o->quiet)
		ut_log_set_level(UT_WARN);
	if (!rc)
		ut_log(UT_INFO, "%" PRIu64 " of %" PRIu64 " events are in %s", w->kept, w->all,
		       strcmp(o->output, "-") ? o->output : "stdout");
	if (!rc && w->why.len)
		ut_log(UT_WARN, "no event fits %s", w->why.data);
	ut_buf_release(&w->why);
	ut_inputs_release(&in);
	return rc;
}

static const struct ut_opt *cmd_filter_make_table(struct ut_arena *a, struct filter_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->output,
					"the new trace; its name tells the format; - is standard "
					"output"),
			     "<file>"),
		ut_opt_words(ut_opt_str('f', "format", "FORMAT", &o->format_name,
					ut_str_fmt(a, "if the name does not tell: %s",
						   ut_output_format_list(a))),
			     ut_output_format_words(a)),
		ut_opt_hidden(ut_opt_flag(0, "overwrite", &o->overwrite,
					  "replace an existing file, as is usual")),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read (one per core)"),
			     1, 256),
		ut_opt_flag(0, "quiet", &o->quiet, "say nothing but problems"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
	};

	return ut_filter_table(a, table, sizeof(table) / sizeof(table[0]), &o->filter);
}

static int cmd_filter_finalize(struct filter_opts *o, const struct ut_words *words,
			       struct ut_err *err)
{
	if (words->count != 1)
		return ut_err_set(err, -EINVAL, "one trace at a time, please");
	if (!o->output)
		return ut_err_set(err, -EINVAL, "-o FILE is missing");
	o->format = o->format_name ? ut_exporter_by_name(o->format_name)
				   : ut_exporter_by_file(o->output);
	if (o->format_name && !o->format)
		return ut_err_set(err, -EINVAL, "--format does not know '%s'", o->format_name);
	if (!o->format && !strcmp(o->output, "-"))
		o->format = &ut_export_chrome;
	if (!o->format)
		return ut_err_set(err, -EINVAL,
				  "%s: which format is that? .json, .pftrace, .utr, .csv, also "
				  "with .gz or .zst; or say --format",
				  o->output);
	if (o->filter.clip && !o->filter.from && !o->filter.to)
		return ut_err_set(err, -EINVAL, "--clip needs --from or --to");
	return 0;
}

static int cmd_filter_start(struct filter_opts *o, const struct ut_words *words)
{
	struct work w = { .opts = o };
	struct ut_err err = { 0 };
	int rc;

	if (cmd_filter_finalize(o, words, &err) || ut_filter_init(&w.filter, &o->filter, &err))
		return ut_cmd_misuse(&ut_cmd_filter, &err);
	rc = filter(&w, words->items[0], &err);
	ut_filter_release(&w.filter);
	return rc ? ut_cmd_fail(&ut_cmd_filter, &err) : UT_EXIT_OK;
}

static int cmd_filter(int argc, const char *const *argv)
{
	struct filter_opts opts = { 0 };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, cmd_filter_make_table(&arena, &opts), argc, argv,
				&err);
	int status;

	if (rc)
		status = ut_cmd_misuse(&ut_cmd_filter, &err);
	else if (opts.help)
		status = ut_cmd_help(&ut_cmd_filter);
	else if (!ut_last_recording_fill(&words, &arena))
		status = UT_EXIT_MISUSE;
	else
		status = cmd_filter_start(&opts, &words);
	ut_filter_opts_release(&opts.filter);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *filter_options(struct ut_arena *a)
{
	return cmd_filter_make_table(a, UT_NEW(a, struct filter_opts));
}

const struct ut_cmd ut_cmd_filter = {
	.name = "filter",
	.usage = "-o FILE [OPTIONS] [TRACE]",
	.takes_last = true,
	.summary = "write a part of a trace: by time, name, thread, length",
	.description =
		"Writes the events that fit all of the given conditions; of --name and --regex\n"
		"one is enough. What belongs together stays together: spans that reach into the\n"
		"time are kept whole unless --clip cuts them, counters keep their last value\n"
		"from before it, flows stay only if the spans at both ends do, and processes and\n"
		"threads of which nothing is left are gone.",
	.examples = "  two seconds out of a long trace:\n"
		    "    unitrace filter -o part.json --from 10s --to 12s app.json.gz\n"
		    "  what rank 3 did for longer than a millisecond:\n"
		    "    unitrace filter -o slow.utr --rank 3 --min-dur 1ms all.utr\n",
	.options = filter_options,
	.run = cmd_filter,
};
