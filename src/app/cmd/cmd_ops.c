/*
 * cmd_ops.c - `unitrace ops`: a row per op of Tenstorrent's libraries, host and device together.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "cmd/view_serve.h"
#include "cmd/words.h"
#include "tt/ops_options.h"
#include "tt/ops_run.h"
#include "tt/ops_tracy.h"
#include "tt/tt_home.h"

static int set_format(void *ctx, const char *value, struct ut_err *err)
{
	static const char *const names[] = {
		[UT_OPS_AUTO] = "auto",
		[UT_OPS_SEED] = "2023",
		[UT_OPS_TRACY] = "2026",
		[UT_OPS_TRACE] = "trace",
	};
	enum ut_ops_format *format = ctx;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(value, names[i])) {
			*format = (enum ut_ops_format)i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "auto, 2023, 2026 or trace, not '%s'", value);
}

static const struct ut_opt *ops_table(struct ut_arena *a, struct ut_ops_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_words(ut_opt_str('i', "ops-folder", "DIR", &o->input,
					"the logs or a trace (" UT_OPS_INPUT
					", here or below $TT_METAL_HOME); the same as a plain "
					"word"),
			     "<dir>"),
		ut_opt_words(ut_opt_str('o', "output-folder", "DIR", &o->output,
					"where the report goes (" UT_OPS_OUTPUT
					"; reports beside .logs)"),
			     "<dir>"),
		ut_opt_str('n', "name-append", "TEXT", &o->append, "put behind the report's name"),
		ut_opt_flag(0, "date", &o->date, "the time becomes part of the report's name"),
		ut_opt_words(ut_opt_call("format", "YEAR", set_format, &o->format,
					 "logs and columns: auto, 2023, 2026 or trace"),
			     "auto 2023 2026 trace"),
		ut_opt_flag(0, "nested", &o->nested,
			    "traces: a row also for an op that another op has called"),
		ut_opt_flag(0, "device-only", &o->device_only,
			    "2026: only what the devices did, and times per core"),
		ut_opt_strs('a', "device-analysis-types", "NAME", &o->analyses,
			    "2026: of profile_log_device.csv only this analysis; may be repeated"),
		ut_opt_flag(0, "force-legacy-device-logs", &o->legacy,
			    "2026: profile_log_device.csv, also if there is a device report"),
		ut_opt_flag(0, "analyze-noc-traces", &o->noc_traces,
			    "2026: accepted; NoC columns come from the device report"),
		ut_opt_flag(0, "no-tarball", &o->no_tarball, "do not pack the logs"),
		ut_opt_flag(0, "webapp", &o->webapp, "then show the report on 127.0.0.1"),
		ut_opt_flag(0, "serve", &o->webapp, "the same as --webapp"),
		ut_opt_range(ut_opt_u64('p', "port", "PORT", &o->port,
					"where --webapp listens (8050); 0 takes a free one"),
			     0, 65535),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

/* The script of the Tracy-based tools knows one folder, -o: it reads .logs in it and writes reports
 * into it. */
static int ops_take_words(struct ut_ops_opts *o, const struct ut_words *words, struct ut_arena *a,
			  struct ut_err *err)
{
	if (words->count && o->input)
		return ut_err_set(err, -EINVAL, "-i or plain words, not both");
	if (words->count > 1 && (o->format == UT_OPS_SEED || o->format == UT_OPS_TRACY))
		return ut_err_set(err, -EINVAL, "one folder at a time");
	for (int i = 0; i < words->count && words->count > 1; i++) {
		if (ut_path_is_dir(words->items[i]) && o->format == UT_OPS_AUTO)
			return ut_err_set(err, -EINVAL, "%s: one folder at a time",
					  words->items[i]);
	}
	if (words->count) {
		o->input = words->items[0];
		o->traces = words->items;
		o->trace_count = words->count;
	}
	if (!o->input && o->output && ut_ops_tracy_folder(a, o->output)) {
		o->input = o->output;
		o->output = NULL;
	}
	if (!o->input) {
		const struct ut_tt_files usual = { UT_OPS_INPUT, "", UT_OPS_OUTPUT };
		const struct ut_tt_files here = ut_tt_find(a, &usual, o->logger);

		o->input = here.input;
		o->output = o->output || here.output == usual.output ? o->output : here.output;
	}
	return 0;
}

/* The page, and beside it the files of the report under fixed names. */
static int serve(const struct ut_ops_files *files, uint16_t port, struct ut_err *err)
{
	struct ut_view_file all[4];
	struct ut_view_offer offer = { .name = "ops report", .port = port, .files = all };
	const struct ut_view_file known[] = {
		{ "csv", "The report as CSV", files->csv, "text/csv; charset=utf-8", NULL },
		{ "json", "The report as JSON", files->json, "application/json", NULL },
		{ "cores", "Times per core as CSV", files->cores, "text/csv; charset=utf-8", NULL },
		{ "download", "The logs, packed", files->tarball, "application/gzip", NULL },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!known[i].file)
			continue;
		all[offer.file_count] = known[i];
		all[offer.file_count++].save_as = ut_path_base(known[i].file);
	}
	return ut_view_offer(&offer, files->view, err);
}

static int run(const struct ut_ops_opts *o, struct ut_arena *a, struct ut_err *err)
{
	struct ut_ops_files files;
	int rc = ut_ops_run(o, a, &files, err);

	if (rc)
		return rc;
	printf("%s\n", files.csv);
	fflush(stdout);
	if (o->webapp)
		return serve(&files, (uint16_t)o->port, err);
	if (files.page)
		ut_log(UT_INFO, "%s shows the report", files.page);
	return 0;
}

static int cmd_ops(int argc, const char *const *argv)
{
	struct ut_ops_opts opts = { .port = UT_OPS_PORT, .logger = ut_log_stderr() };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, ops_table(&arena, &opts), argc, argv, &err);
	int status = UT_EXIT_OK;

	if (!rc && !opts.help)
		rc = ops_take_words(&opts, &words, &arena, &err);
	if (rc)
		status = ut_cmd_misuse(&ut_cmd_ops, &err);
	else if (opts.help)
		status = ut_cmd_help(&ut_cmd_ops);
	else if (run(&opts, &arena, &err))
		status = ut_cmd_fail(&ut_cmd_ops, &err);
	ut_opt_list_release(&opts.analyses);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *ops_options(struct ut_arena *a)
{
	return ops_table(a, UT_NEW(a, struct ut_ops_opts));
}

const struct ut_cmd ut_cmd_ops = {
	.name = "ops",
	.usage = "[OPTIONS] [FOLDER | TRACE...]",
	.summary = "report host and device times of every op: Tenstorrent's logs, PyTorch's traces",
	.description =
		"Reads the logs of ops that tt-metal writes and does what its process_ops_logs.py\n"
		"does: a CSV file with a row per op, host and device together, and a tarball of\n"
		"the logs; the same rows as JSON and as a page. Both kinds of logs are known: a\n"
		"folder per op (2023) and exports of Tracy beside a device report (2026).\n\n"
		"A trace of ours or of torch.profiler gives the same report of a PyTorch program:\n"
		"a row per aten:: op with the kernels and copies that it has launched. Other\n"
		"programs have a row per task that launched something.\n\n"
		"Whatever is wrong with one op is told in its row; the others have theirs.",
	.examples = "  unitrace ops logs/ops\n"
		    "  unitrace ops -i generated/profiler -n resnet --date\n"
		    "  unitrace ops logs/ops --webapp -p 8050\n"
		    "  unitrace ops train.json\n",
	.options = ops_options,
	.run = cmd_ops,
};
