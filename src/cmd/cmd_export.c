/*
 * cmd_export.c - `unitrace export`: a trace, or a recording that is still on disk, in other
 * formats.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/last.h"
#include "cmd/words.h"
#include "import/inputs.h"
#include "import/spool/reader.h"
#include "session/output_check.h"
#include "session/outputs.h"
#include "session/spools.h"
#include "text/cells.h"
#include "text/replaced.h"
#include "wire/control.h"

struct export_opts {
	struct ut_output_opts out;
	bool live, remove, summary, csv_safe, help;
};

static const struct ut_output_who nobody = { .app = "unitrace", .rank = -1 };

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

/* A session directory or a spool file: what a collector of ours has written. */
static bool is_recording(const char *path)
{
	struct ut_spool_info *info;
	struct ut_arena arena = { 0 };
	struct stat st;
	bool yes = false;

	if (ut_path_is_dir(path)) {
		yes = ut_path_exists(ut_path_join(&arena, path, UT_CONTROL_FILE));
	} else if (!stat(path, &st) && S_ISREG(st.st_mode)) { /* a pipe can be read only once */
		info = UT_NEW(&arena, struct ut_spool_info);
		yes = !ut_spool_info(path, info, NULL);
	}
	ut_arena_release(&arena);
	return yes;
}

static bool all_recordings(int argc, const char *const *argv)
{
	for (int i = 0; i < argc; i++) {
		if (!is_recording(argv[i]))
			return false;
	}
	return true;
}

/* Traces of any format, ours among them. */
static int convert(const struct export_opts *o, int argc, const char *const *argv,
		   struct ut_err *err)
{
	struct ut_inputs in;
	struct ut_outputs out;
	int rc = ut_inputs_find(&in, argc, argv, ut_log_teller(), err);

	if (!rc && o->remove)
		rc = ut_err_set(err, -EINVAL, "--remove is for recordings; %s is none", argv[0]);
	if (!rc)
		rc = ut_replaced_check(o->out.output, in.paths, in.count, err);
	if (!rc) {
		ut_outputs_init(&out, &o->out, false);
		rc = ut_outputs_convert(&out, &in, err);
		if (!rc)
			rc = ut_outputs_finish(&out, &nobody, err);
		ut_outputs_release(&out);
	}
	ut_inputs_release(&in);
	return rc;
}

/* Recordings stream past, whatever their size. */
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
		finish_rc = ut_outputs_finish(&out, &nobody, err);
		rc = rc ? rc : finish_rc;
		ut_last_note(out.written.items, out.written.count, -1);
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
							    ut_str_fmt(a, "%s; may be repeated",
								       ut_output_format_list(a)))),
			     ut_output_format_words(a)),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->out.output,
					"one file for all processes; with %p (process id), %r "
					"(rank), %h (host) or %q{VAR} in its name one for each; "
					"- is standard output"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "output-dir-path", "DIR", &o->out.dir,
					"put the files there; made if missing"),
			     "<dir>"),
		ut_opt_flag(0, "overwrite", &o->out.overwrite,
			    "replace existing files also without -o"),
		ut_opt_flag(0, "csv-safe", &o->csv_safe,
			    "CSV: put a ' before texts that a spreadsheet would run as a formula"),
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

static int start(struct export_opts *o, const struct ut_words *words, struct ut_err *err)
{
	int (*work)(const struct export_opts *, int, const char *const *, struct ut_err *);
	int rc;

	if (ut_output_settle_formats(&o->out, err))
		return ut_cmd_misuse(&ut_cmd_export, err);
	if (o->out.quiet)
		ut_log_set_level(UT_WARN);
	o->out.no_summary = !o->summary;
	o->out.overwrite |= o->out.output != NULL; /* see replaced.h */
	ut_cell_csv_set_safe(o->csv_safe);
	rc = o->out.output || o->out.dir ? ut_output_check(&o->out, &nobody, err) : 0;
	if (rc == -EINVAL)
		return ut_cmd_misuse(&ut_cmd_export, err);
	work = all_recordings(words->count, words->items) ? export : convert;
	if (rc || work(o, words->count, words->items, err))
		return ut_cmd_fail(&ut_cmd_export, err);
	return UT_EXIT_OK;
}

static int cmd_export(int argc, const char *const *argv)
{
	struct export_opts opts = { .out = { .export_mode = true, .summary_rows = 20 } };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, make_table(&arena, &opts), argc, argv, &err);
	int status;

	if (!rc && opts.help)
		status = ut_cmd_help(&ut_cmd_export);
	else if (rc)
		status = ut_cmd_misuse(&ut_cmd_export, &err);
	else if (!ut_last_fill(&words, &arena))
		status = UT_EXIT_MISUSE;
	else
		status = start(&opts, &words, &err);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *export_options(struct ut_arena *a)
{
	return make_table(a, UT_NEW(a, struct export_opts));
}

const struct ut_cmd ut_cmd_export = {
	.name = "export",
	.usage = "[OPTIONS] [TRACE...]",
	.takes_last = true,
	.summary = "write a trace or a recording in another format",
	.description =
		"A TRACE is a file that unitrace can read (Chrome JSON, Perfetto, .utr; also gzip\n"
		"and zstd), a directory of such files, - for standard input, or a recording that\n"
		"unitrace left on disk: because the launcher was killed, because --keep-session\n"
		"asked for it, or because processes were still running. Formats are found by\n"
		"content.\n\n"
		"Without -o the result is in the current directory. It is named after the trace,\n"
		"with the format's suffix; of a recording there is one file per process,\n"
		"PROGRAM.PID[.RANK].json. Existing files are kept: the new one gets -2, -3, ...",
	.examples = "  unitrace export unitrace.app.4711.session\n"
		    "  unitrace export -o all.pftrace unitrace.*.session\n"
		    "  unitrace export --format perfetto,csv trace.json.gz\n"
		    "  unitrace export --remove -o 'run.%p.json' unitrace.app.4711.session\n",
	.options = export_options,
	.run = cmd_export,
};
