/*
 * cmd_export.c - `unitrace export`: timelines from a recording that is still on disk.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "cmd/outputs.h"
#include "cmd/spools.h"
#include "import/spool.h"

struct export_opts {
	struct ut_output_opts out;
	bool live, remove, summary, help;
};

static int refuse_alive(const struct ut_spools *s, struct ut_err *err)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].alive)
			return ut_err_set(err, -EBUSY,
					  "%s: process %u is still recording; wait for its end or "
					  "export what is there with --live",
					  s->items[i].path, s->items[i].pid);
	}
	return 0;
}

static int remove_inputs(int argc, const char *const *argv, struct ut_err *err)
{
	for (int i = 0; i < argc; i++) {
		int rc = ut_path_remove_tree(argv[i], err);

		if (rc)
			return rc;
	}
	return 0;
}

/* The work. */
static int export(const struct export_opts *o, int argc, const char *const *argv,
		  struct ut_err *err)
{
	struct ut_spools spools = { 0 };
	struct ut_outputs out;
	int rc, finish_rc;

	rc = ut_spools_open(&spools, argc, argv, err);
	if (!rc && !spools.count)
		rc = ut_err_set(err, -ENODATA, "%s: no process has recorded anything there",
				argv[0]);
	if (!rc && !o->live)
		rc = refuse_alive(&spools, err);
	if (!rc) {
		ut_outputs_init(&out, &o->out, false);
		rc = ut_outputs_export(&out, spools.items, spools.count, err);
		finish_rc = ut_outputs_finish(
			&out, &(struct ut_output_who){ .app = "unitrace", .rank = -1 }, err);
		rc = rc ? rc : finish_rc;
		ut_outputs_release(&out);
	}
	if (!rc && o->remove)
		rc = remove_inputs(argc, argv, err);
	ut_spools_close(&spools);
	return rc;
}

static int set_format(void *ctx, const char *value, struct ut_err *err)
{
	return ut_output_add_formats(ctx, value, err);
}

static const struct ut_opt *make_table(struct ut_arena *a, struct export_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_letter('f', ut_opt_call("format", "FORMAT[,FORMAT]", set_format,
							    &o->out,
							    "chrome (the default), perfetto; may "
							    "be repeated")),
			     ut_output_format_words(a)),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->out.output,
					"one file for all processes; with %p (process id), %r "
					"(rank), %h (host) or %q{VAR} in its name one for each; "
					"- is standard output"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "output-dir-path", "DIR", &o->out.dir,
					"put the files there; made if missing"),
			     "<dir>"),
		ut_opt_flag(0, "overwrite", &o->out.overwrite, "replace existing files"),
		ut_opt_flag(0, "live", &o->live, "do not refuse when a process is still recording"),
		ut_opt_flag(0, "remove", &o->remove, "remove the recording afterwards"),
		ut_opt_flag(0, "summary", &o->summary, "print the table of tasks, too"),
		ut_opt_u64(0, "summary-rows", "N", &o->out.summary_rows,
			   "rows of that table, 0 for all (20)"),
		ut_opt_flag(0, "quiet", &o->out.quiet, "say nothing but problems"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int start(struct export_opts *o, const struct ut_opt *table, int argc,
		 const char *const *argv)
{
	struct ut_err err = { 0 };
	int left = ut_opt_parse(table, argc, argv, &err);

	if (left >= 0 && o->help)
		return ut_cmd_help(&ut_cmd_export);
	if (left == argc)
		ut_err_set(&err, -EINVAL, "no session directory or spool file given");
	if (left < 0 || left == argc || ut_output_settle_formats(&o->out, &err))
		return ut_cmd_misuse(&ut_cmd_export, &err);
	if (o->out.quiet)
		ut_log_set_level(UT_WARN);
	o->out.no_summary = !o->summary;
	if (export(o, argc - left, argv + left, &err))
		return ut_cmd_fail(&ut_cmd_export, &err);
	return UT_EXIT_OK;
}

static int cmd_export(int argc, const char *const *argv)
{
	struct export_opts opts = { .out = { .export_mode = true, .summary_rows = 20 } };
	struct ut_arena arena = { 0 };
	int status = start(&opts, make_table(&arena, &opts), argc, argv);

	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *export_options(struct ut_arena *a)
{
	return make_table(a, UT_NEW(a, struct export_opts));
}

const struct ut_cmd ut_cmd_export = {
	.name = "export",
	.usage = "[OPTIONS] SESSION-DIR|SPOOL-FILE...",
	.summary = "write timelines from a recording on disk",
	.description =
		"Writes the timelines of a recording that unitrace left on disk: because the\n"
		"launcher was killed, because --keep-session asked for it, or because processes\n"
		"were still running. Without -o there is one file per process in the current\n"
		"directory, named PROGRAM.PID[.RANK].json. Existing files are kept: the new one\n"
		"gets -2, -3, ...",
	.examples = "  unitrace export unitrace.app.4711.session\n"
		    "  unitrace export -o all.pftrace unitrace.*.session\n"
		    "  unitrace export --remove -o 'run.%p.json' unitrace.app.4711.session\n",
	.options = export_options,
	.run = cmd_export,
};
