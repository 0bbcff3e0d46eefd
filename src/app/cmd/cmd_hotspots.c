/*
 * cmd_hotspots.c - `unitrace hotspots`: what a program spends its CPU time on. Runs it and looks at
 * the samples, or looks at those of a trace.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/guess.h"
#include "cmd/hotspots_options.h"
#include "cmd/hotspots_report.h"
#include "cmd/last_recording.h"
#include "cmd/record_run.h"
#include "cmd/record_then.h"
#include "cmd/words.h"

/* ---- the program --------------------------------------------------------------------------- */

static int cmd_hotspots_report(void *ctx, const struct ut_words *words, struct ut_err *err)
{
	return ut_hotspots_report(ctx, words, err);
}

static int run_program(struct ut_hotspots_opts *o, struct ut_arena *a, int argc,
		       const char *const *argv)
{
	struct ut_err err = { 0 };

	if (ut_hotspots_allow(o, &err))
		return ut_cmd_misuse(&ut_cmd_hotspots, &err);
	return ut_record_then(&(struct ut_record_then){ .cmd = &ut_cmd_hotspots,
							.record = &o->record,
							.report = cmd_hotspots_report,
							.ctx = o },
			      a, argc, argv);
}

/* ---- the glue ------------------------------------------------------------------------------ */

static int cmd_hotspots_start(struct ut_hotspots_opts *o, struct ut_arena *a, int argc,
			      const char *const *argv)
{
	struct ut_err err = { 0 };
	struct ut_words words = { 0 };
	const struct ut_opt *table = ut_hotspots_table(a, o);
	int left = ut_opt_parse(table, argc, argv, &err);

	if (left >= 0 && o->help)
		return ut_cmd_help(&ut_cmd_hotspots);
	if (left < 0 || ut_hotspots_finalize(o, a, &err))
		return ut_cmd_misuse(&ut_cmd_hotspots, &err);
	if (o->record.plan.sampling.pid) {
		if (ut_record_attach(&o->record, a, argc - left, &err))
			return ut_cmd_misuse(&ut_cmd_hotspots, &err);
		return run_program(o, a, 1, o->record.plan.argv);
	}
	if (left < argc && strcmp(argv[left], "-") != 0 && !ut_guess_is_trace(argv[left]))
		return run_program(o, a, argc - left, argv + left);
	/* behind a trace there may be more options */
	if (ut_words_parse(&words, a, table, argc - left, argv + left, &err) ||
	    ut_hotspots_finalize(o, a, &err))
		return ut_cmd_misuse(&ut_cmd_hotspots, &err);
	if (ut_hotspots_allow(o, &err))
		return ut_cmd_misuse(&ut_cmd_hotspots, &err);
	if (!ut_last_recording_fill(&words, a))
		return UT_EXIT_MISUSE;
	return ut_hotspots_report(o, &words, &err) ? ut_cmd_fail(&ut_cmd_hotspots, &err)
						   : UT_EXIT_OK;
}

static int cmd_hotspots(int argc, const char *const *argv)
{
	struct ut_hotspots_opts opts = { UT_HOTSPOTS_OPTS };
	struct ut_arena arena = { 0 };
	int status = cmd_hotspots_start(&opts, &arena, argc, argv);

	ut_hotspots_opts_release(&opts);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *hotspots_options(struct ut_arena *a)
{
	return ut_hotspots_table(a, UT_NEW(a, struct ut_hotspots_opts));
}

const struct ut_cmd ut_cmd_hotspots = {
	.name = "hotspots",
	.usage = "[OPTIONS] PROGRAM [ARGUMENTS] | [OPTIONS] [TRACE...]",
	.takes_last = true,
	.summary = "what a program spends its CPU time on",
	.description =
		"Runs PROGRAM and looks, a thousand times in each second of CPU time, which\n"
		"function each of its threads runs and who called it; all its children, too. The\n"
		"program is not changed: the kernel takes the samples. Then prints what to look "
		"at\n"
		"first, and a table: self is the time in a function itself, total that in what it\n"
		"called as well.\n"
		"\n"
		"The samples are in the timeline, together with the ITT tasks of the program, as\n"
		"after 'unitrace --sampling'. Given such a trace instead of a program, it prints\n"
		"the report again.",
	.examples = "  unitrace hotspots ./app\n"
		    "  unitrace hotspots --by task python train.py\n"
		    "  unitrace hotspots --by line app.4711.utr\n"
		    "  unitrace hotspots --threads ./app\n"
		    "  unitrace hotspots -p 4711 --duration 10s\n",
	.options = hotspots_options,
	.run = cmd_hotspots,
};
