/*
 * cmd_devlog.c - `unitrace devlog`: a device log of Tenstorrent chips, analysed.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/path.h"
#include "cmd/devlog_serve.h"
#include "cmd/table_options.h"
#include "cmd/words.h"
#include "export/exporter.h"
#include "export/out_check.h"
#include "text/out.h"
#include "text/table_report.h"
#include "tt/devlog_options.h"
#include "tt/devlog_page.h"
#include "tt/devlog_run.h"
#include "tt/log_compare.h"
#include "tt/tt_home.h"

/* The command line: the log, and how its tables are printed. */
struct devlog_opts {
	struct ut_devlog_opts log;
	struct ut_table_opts table;
};

/* The log beside another one: a table, and nothing is written. */
static int cmd_devlog_compare(const struct ut_devlog_opts *o, struct ut_err *err)
{
	struct ut_devlog before, after;
	struct ut_out *out;
	int rc = ut_devlog_open(&before, o->input, o, err);

	if (rc)
		return rc;
	rc = ut_devlog_open(&after, o->compare, o, err);
	if (rc) {
		ut_devlog_close(&before);
		return rc;
	}
	if (before.log.zones != after.log.zones) {
		rc = ut_err_set(err, -EINVAL,
				"%s and %s: one has zones, the other only timer numbers", o->input,
				o->compare);
	} else {
		out = ut_out_open("-", 0);
		ut_tt_compare(&before.analysis, &after.analysis, out, &o->report);
		rc = ut_out_commit(out, err);
	}
	ut_devlog_close(&before);
	ut_devlog_close(&after);
	return rc;
}

static int check_places(const struct ut_devlog_opts *o, struct ut_err *err)
{
	int rc = ut_out_check_folder(o->output, err);

	for (size_t i = 0; !rc && i < o->traces.count; i++)
		rc = ut_out_check(o->traces.items[i], ut_exporter_by_file(o->traces.items[i]),
				  UT_OUT_OVERWRITE, err);
	return rc;
}

/* The work. */
static int devlog(const struct ut_devlog_opts *o, struct ut_err *err)
{
	struct ut_devlog d;
	int rc = check_places(o, err);

	if (!rc)
		rc = ut_devlog_open(&d, o->input, o, err);
	if (rc)
		return rc;
	rc = ut_devlog_write(&d, o->input, o, err);
	ut_devlog_close(&d);
	return rc;
}

static int set_align(void *ctx, const char *value, struct ut_err *err)
{
	static const char *const names[] = {
		[UT_TT_ALIGN_AUTO] = "auto",
		[UT_TT_ALIGN_NONE] = "none",
		[UT_TT_ALIGN_START] = "start",
		[UT_TT_ALIGN_OPS] = "ops",
	};
	enum ut_tt_align *how = ctx;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(value, names[i])) {
			*how = (enum ut_tt_align)i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "auto, ops, start or none, not '%s'", value);
}

static const struct ut_opt *devlog_table(struct ut_arena *a, struct devlog_opts *all)
{
	struct ut_devlog_opts *o = &all->log;
	const struct ut_opt table[] = {
		ut_opt_heading("Input and output"),
		ut_opt_words(ut_opt_str('d', "device-input-log", "FILE", &o->input,
					"the log (" UT_DEVLOG_INPUT
					", here or below $TT_METAL_HOME); the same as a plain "
					"word"),
			     "<file>"),
		ut_opt_words(ut_opt_str('o', "output-folder", "DIR", &o->output,
					"where results go (" UT_DEVLOG_OUTPUT ")"),
			     "<dir>"),
		ut_opt_str('s', "setup", "NAME", &o->setup,
			   "further rules, by the names of the original (default_setup)"),
		ut_opt_str(0, "arch", "NAME", &o->arch, "architecture, if the log does not say it"),
		ut_opt_range(ut_opt_u64(0, "frequency", "MHZ", &o->mhz,
					"clock of the chips, instead of what the log says"),
			     1, 1000000),
		ut_opt_heading("What is left out"),
		ut_opt_flag(0, "no-print-stats", &o->no_print_stats, "print no statistics"),
		ut_opt_flag(0, "no-plots", &o->no_plots, "write no pages"),
		ut_opt_flag(0, "no-artifacts", &o->no_artifacts, "write no tarball"),
		ut_opt_flag(0, "no-analysis-json", &o->no_analysis,
			    "do not write device_analysis_data.json, which is large"),
		ut_opt_flag(0, "no-op-detection", &o->no_ops, "do not look for ops"),
		ut_opt_flag(0, "no-webapp", &o->no_webapp,
			    "do not serve, neither with --serve nor as process_device_log.py"),
		ut_opt_heading("Further"),
		ut_opt_flag(0, "analysis-json", &o->analysis,
			    "write device_analysis_data.json also for over 5 million rows"),
		ut_opt_flag(0, "kernels", &o->kernels, "print a row per op (or launch) and chip"),
		ut_opt_words(
			ut_opt_str(0, "compare", "LOG", &o->compare,
				   "print what changed from the log to this one; write nothing"),
			"<file>"),
		ut_opt_words(
			ut_opt_strs('t', "trace", "FILE", &o->traces,
				    "write the timeline also here; the suffix chooses the format"),
			"<file>"),
		ut_opt_words(ut_opt_call("align", "HOW", set_align, &o->alignment,
					 "clocks of several chips: auto, ops, start or none"),
			     "auto ops start none"),
		UT_TABLE_OPT_JSON(&all->table),
		ut_opt_flag(0, "csv", &all->table.csv,
			    "print CSV: the table of --kernels or --compare, no statistics; so "
			    "does --json"),
		UT_TABLE_OPT_CSV_SAFE(&all->table),
		UT_TABLE_OPT_SORT(&all->table),
		UT_TABLE_OPT_ROWS(&all->table, "all"),
		UT_TABLE_OPT_LIMIT(&all->table),
		UT_TABLE_OPT_COLOUR(&all->table),
		ut_opt_flag(0, "serve", &o->serve,
			    "then show the results on 127.0.0.1; process_device_log.py does"),
		ut_opt_range(ut_opt_u64('p', "port", "PORT", &o->port,
					"where --serve listens (8050); 0 takes a free one"),
			     0, 65535),
		ut_opt_range(
			ut_opt_u64(0, "page-bars", "N", &o->page_bars,
				   "most bars in a page (1000000); of more, the longest are there"),
			1, UINT32_MAX),
		ut_opt_flag(0, "any-arch", &o->any_arch,
			    "statistics for all architectures, also in old logs"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int take_defaults(struct ut_devlog_opts *o, struct ut_arena *a, struct ut_err *err)
{
	const struct ut_tt_files usual = { UT_DEVLOG_INPUT, UT_DEVLOG_TRACY, UT_DEVLOG_OUTPUT };
	struct ut_tt_files here = usual;

	if (!o->input)
		here = ut_tt_find(a, &usual, o->logger);
	if (!o->input && !ut_path_exists(here.input))
		return ut_err_set(err, -EINVAL,
				  "no log given, and there is no " UT_DEVLOG_INPUT
				  ", neither here nor below $TT_METAL_HOME");
	o->input = o->input ? o->input : here.input;
	o->output = o->output ? o->output : here.output;
	return 0;
}

/* What --csv and the like are about. */
static int check_table(const struct ut_devlog_opts *o, const struct ut_table_opts *t,
		       struct ut_err *err)
{
	int rc = ut_table_opts_check(t, err);

	if (!rc && (t->json || t->csv || t->sort) && !o->kernels && !o->compare)
		rc = ut_err_set(err, -EINVAL,
				"--json, --csv and --sort are about the tables of --kernels and "
				"--compare");
	if (!rc && o->compare)
		rc = ut_tt_compare_check_sort(t->sort, err);
	return rc;
}

static int cmd_devlog_take_words(struct ut_devlog_opts *o, const struct ut_words *words,
				 struct ut_arena *a, struct ut_err *err)
{
	if (words->count > 1 || (words->count && o->input))
		return ut_err_set(err, -EINVAL, "one log at a time");
	if (words->count)
		o->input = words->items[0];
	for (size_t i = 0; i < o->traces.count; i++) {
		if (!ut_exporter_by_file(o->traces.items[i]))
			return ut_err_set(err, -EINVAL, "%s: no format has this suffix",
					  o->traces.items[i]);
	}
	return take_defaults(o, a, err);
}

static int cmd_devlog_run(const struct ut_devlog_opts *o, struct ut_err *err)
{
	int rc = o->compare ? cmd_devlog_compare(o, err) : devlog(o, err);

	if (!rc && o->serve && !o->no_webapp && !o->compare)
		rc = ut_devlog_serve(o, devlog, err);
	return rc;
}

static int cmd_devlog(int argc, const char *const *argv)
{
	struct devlog_opts all = { .log = { .logger = ut_log_stderr(),
					    .port = UT_DEVLOG_PORT,
					    .page_bars = UT_TT_PAGE_BARS },
				   .table = { UT_TABLE_OPTS } };
	struct ut_devlog_opts *opts = &all.log;
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, devlog_table(&arena, &all), argc, argv, &err);
	int status = UT_EXIT_OK;

	if (!rc && !opts->help)
		rc = check_table(opts, &all.table, &err);
	if (!rc && !opts->help)
		rc = cmd_devlog_take_words(opts, &words, &arena, &err);
	opts->report = ut_table_report(&all.table, STDOUT_FILENO, 0);
	if (rc)
		status = ut_cmd_misuse(&ut_cmd_devlog, &err);
	else if (opts->help)
		status = ut_cmd_help(&ut_cmd_devlog);
	else if (cmd_devlog_run(opts, &err))
		status = ut_cmd_fail(&ut_cmd_devlog, &err);
	ut_opt_list_release(&opts->traces);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *devlog_options(struct ut_arena *a)
{
	return devlog_table(a, UT_NEW(a, struct devlog_opts));
}

const struct ut_cmd ut_cmd_devlog = {
	.name = "devlog",
	.usage = "[OPTIONS] [LOG]",
	.summary = "analyse a device log of Tenstorrent chips",
	.description =
		"Reads profile_log_device.csv of any version of tt-metal and writes into a folder\n"
		"what its process_device_log.py does: statistics, timestamps by core, timelines,\n"
		"the analysis as JSON, a page to look at, all of it in a tarball. Says what is\n"
		"doubtful in the log: markers that are missing, a counter that wrapped.",
	.examples = "  unitrace devlog profile_log_device.csv\n"
		    "  unitrace devlog -d profile_log_device.csv -o results --no-print-stats\n"
		    "  unitrace devlog yesterday.csv --compare today.csv\n"
		    "  unitrace devlog profile_log_device.csv --serve\n",
	.options = devlog_options,
	.run = cmd_devlog,
};
