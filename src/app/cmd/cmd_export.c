/*
 * cmd_export.c - `unitrace export`: a trace, or a recording that is still on disk, in other
 * formats.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/command_line.h"
#include "cmd/session_print.h"
#include "cmd/words.h"
#include "mpijob/job.h"
#include "mpijob/rank_inputs.h"
#include "session/session_export.h"
#include "text/csv_write.h"

struct export_opts {
	struct ut_export_plan plan;
	bool summary, csv_safe, no_mpi, help;
};

static int set_format(void *ctx, const char *value, struct ut_err *err)
{
	return ut_output_add_formats(ctx, value, err);
}

static int set_disk_reserve(void *ctx, const char *value, struct ut_err *err)
{
	return ut_disk_reserve_parse(value, ctx, err);
}

static const struct ut_opt *export_make_table(struct ut_arena *a, struct export_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_letter('f', ut_opt_call("format", "FORMAT[,FORMAT]", set_format,
							    &o->plan.out,
							    ut_str_fmt(a, "%s; may be repeated",
								       ut_output_format_list(a)))),
			     ut_output_format_words(a)),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->plan.out.output,
					"one file for all processes; with %p (process id), %r "
					"(rank), %h (host) or %q{VAR} in its name one for each; "
					"- is standard output"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "output-dir-path", "DIR", &o->plan.out.dir,
					"put the files there; made if missing"),
			     "<dir>"),
		ut_opt_flag(0, "overwrite", &o->plan.out.overwrite,
			    "replace existing files also without -o"),
		ut_opt_flag(0, "csv-safe", &o->csv_safe,
			    "CSV: put a ' before texts that a spreadsheet would run as a formula"),
		ut_opt_call("disk-reserve", "SIZE|PERCENT|0", set_disk_reserve, &o->plan.reserve,
			    "stop writing before less than this is free on the disk (5%, at "
			    "least 2GiB); 0: fill it"),
		ut_opt_flag(0, "live", &o->plan.live,
			    "do not refuse when a process is still recording"),
		ut_opt_flag(0, "remove", &o->plan.remove, "remove the recording afterwards"),
		ut_opt_flag(0, "summary", &o->summary, "print the table of tasks, too"),
		ut_opt_u64(0, "summary-rows", "N", &o->plan.out.summary_rows,
			   "rows of that table, 0 for all (20)"),
		ut_opt_flag(0, "quiet", &o->plan.out.quiet, "say nothing but problems"),
		ut_opt_flag(0, "no-mpi", &o->no_mpi,
			    "under mpiexec: each process does the whole command by itself"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int write_files(struct export_opts *o, int count, const char *const *inputs,
		       struct ut_err *err)
{
	const struct ut_session_client client = ut_session_print();
	int rc;

	o->plan.count = count;
	o->plan.inputs = inputs;
	rc = ut_session_export_check(&o->plan, &client, err);
	if (rc == -EINVAL)
		return ut_cmd_misuse(&ut_cmd_export, err);
	if (rc || ut_session_export(&o->plan, &client, err))
		return ut_cmd_fail(&ut_cmd_export, err);
	return UT_EXIT_OK;
}

/* The ranks of a job share the inputs: each of those becomes files of its own anyway. */
static int write_share(struct export_opts *o, struct ut_mpijob *job, const struct ut_words *words,
		       struct ut_err *err)
{
	struct ut_inputs in = { .logger = ut_log_stderr() };
	uint64_t *sizes = NULL;
	int status = UT_EXIT_OK;
	int rc = ut_mpijob_same(job, words->count, words->items, err);

	if (!rc)
		rc = ut_rank_inputs(job, words->count, words->items, &in, &sizes, err);
	if (rc) {
		status = job->rank ? UT_EXIT_FAILED : ut_cmd_fail(&ut_cmd_export, err);
	} else {
		ut_mpijob_keep_share(job, &in, sizes);
		if (in.count)
			status = write_files(o, (int)in.count, (const char *const *)in.paths, err);
	}
	free(sizes);
	ut_inputs_release(&in);
	return status;
}

static bool is_file_each(const struct export_opts *o)
{
	const char *name = o->plan.out.output;

	return name && (strstr(name, "%p") || strstr(name, "%r"));
}

static int export_write_all(struct export_opts *o, const struct ut_words *words, struct ut_err *err)
{
	struct ut_mpijob job = { .ranks = 1 };
	struct ut_err note = { 0 };
	int status;

	if (o->no_mpi || !is_file_each(o))
		return write_files(o, words->count, words->items, err);
	if (ut_mpijob_start(&job, &note) == UT_MPIJOB_IDLE)
		return UT_EXIT_OK;
	if (note.text[0])
		ut_log(UT_WARN, "%s", note.text);
	status = job.ranks > 1 ? write_share(o, &job, words, err)
			       : write_files(o, words->count, words->items, err);
	ut_mpijob_stop(&job);
	return status;
}

static int export_start(struct export_opts *o, const struct ut_words *words, struct ut_err *err)
{
	struct ut_output_opts *out = &o->plan.out;

	if (ut_output_finalize_formats(out, err))
		return ut_cmd_misuse(&ut_cmd_export, err);
	if (out->quiet)
		ut_log_set_level(UT_WARN);
	out->no_summary = !o->summary;
	out->overwrite |= out->output != NULL; /* see replaced.h */
	ut_csv_set_safe(o->csv_safe);
	return export_write_all(o, words, err);
}

static int cmd_export(int argc, const char *const *argv)
{
	struct export_opts opts = { .plan.out = { .export_mode = true, .summary_rows = 20 } };
	struct ut_command_line line = { 0 };

	if (ut_command_line_read(&line, &ut_cmd_export, export_make_table(&line.arena, &opts),
				 &opts.help, argc, argv))
		line.status = export_start(&opts, &line.words, &line.err);
	return ut_command_line_end(&line);
}

static const struct ut_opt *export_options(struct ut_arena *a)
{
	return export_make_table(a, UT_NEW(a, struct export_opts));
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
		"PROGRAM.PID[.RANK].json. Existing files are kept: the new one gets -2, -3, ...\n\n"
		"Under mpiexec, with %p or %r in the name, the ranks share the traces.",
	.examples = "  unitrace export unitrace.app.4711.session\n"
		    "  unitrace export -o all.pftrace unitrace.*.session\n"
		    "  unitrace export --format perfetto,csv trace.json.gz\n"
		    "  mpiexec -n 8 unitrace export -o 'lake/rank=%r/%p.arrow' ranks/\n"
		    "  unitrace export --remove -o 'run.%p.json' unitrace.app.4711.session\n",
	.options = export_options,
	.run = cmd_export,
};
