/*
 * cmd_memory.c - `unitrace memory`: what a program keeps in memory. Runs it and looks at what it
 * allocates, or looks at a trace of such a run.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/guess.h"
#include "cmd/last_recording.h"
#include "cmd/record_options.h"
#include "cmd/record_then.h"
#include "cmd/table_options.h"
#include "cmd/words.h"
#include "export/exporter.h"
#include "import/load.h"
#include "sample/memory_report.h"
#include "sample/memory_table.h"
#include "text/out.h"
#include "text/table_report.h"

#define USUAL_ROWS 20

struct memory_opts {
	struct ut_table_opts table;
	const char *by;
	enum ut_memory_by how;
	struct ut_record_opts record;
	bool help;
};

/* ---- the report ---------------------------------------------------------------------------- */

static int memory_add_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	(void)i;
	(void)err;
	ut_memory_report_add(ctx, store);
	return 0;
}

static int memory_print(const struct memory_opts *o, struct ut_memory_report *r, struct ut_err *err)
{
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);
	struct ut_out *out = ut_out_open("-", 0);
	struct ut_buf summary_text = { 0 };

	ut_memory_report_sort(r);
	ut_memory_summary_text(&summary_text, r);
	if (report.format == UT_REPORT_TABLE && summary_text.len)
		ut_out_fmt(out, "%s\n\n", summary_text.data);
	ut_memory_print(out, r, &report);
	ut_buf_release(&summary_text);
	return ut_out_commit(out, err);
}

static int report(void *ctx, const struct ut_words *words, struct ut_err *err)
{
	const struct memory_opts *o = ctx;
	const struct ut_load how = { "memory", ut_load_threads(0), .logger = ut_log_stderr() };
	struct ut_inputs in = { .logger = how.logger };
	struct ut_memory_report r;
	int rc = ut_inputs_find(&in, words->count, words->items, how.logger, err);

	ut_memory_report_init(&r, o->how);
	if (!rc)
		rc = ut_load_each(&in, &how, memory_add_store, &r, err);
	if (!rc && !r.samples)
		rc = ut_err_set(err, -ENODATA,
				"%s: nothing about memory in it; 'unitrace --memory' records that",
				words->items[0]);
	if (!rc)
		rc = memory_print(o, &r, err);
	ut_memory_report_release(&r);
	ut_inputs_release(&in);
	return rc;
}

/* ---- the glue ------------------------------------------------------------------------------ */

/* Options of record that make sense here. */
static const char *const recorded[] = {
	"memory",        "output",       "output-dir-path", "overwrite",
	"quiet",         "start-paused", "session",         "follow-child-process",
	"wait-children", "max-size",     "disk-reserve",
};

#define RECORDED (sizeof(recorded) / sizeof(recorded[0]))

static const struct ut_opt *memory_make_table(struct ut_arena *a, struct memory_opts *o)
{
	const struct ut_opt own[] = {
		ut_opt_heading("The report"),
		ut_opt_words(ut_opt_str(0, "by", "WHAT", &o->by,
					"a row for each function, module, line, stack, thread, "
					"task or process (function)"),
			     "function module line stack thread task process"),
		UT_TABLE_OPT_SORT(&o->table),
		UT_TABLE_OPT_ROWS(&o->table, "20"),
		UT_TABLE_OPT_LIMIT(&o->table),
		UT_TABLE_OPT_JSON(&o->table),
		UT_TABLE_OPT_CSV(&o->table),
		UT_TABLE_OPT_CSV_SAFE(&o->table),
		UT_TABLE_OPT_WIDTH(&o->table, "60"),
		UT_TABLE_OPT_COLOUR(&o->table),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_heading("The recording"),
	};
	const size_t count = sizeof(own) / sizeof(own[0]);
	struct ut_opt *table = UT_NEW_N(a, struct ut_opt, count + RECORDED + 1);

	memcpy(table, own, sizeof(own));
	ut_record_opts_init(&o->record);
	ut_record_pick(ut_record_table(a, &o->record), recorded, RECORDED, table + count);
	return table; /* zeros end it */
}

static int memory_finalize(struct memory_opts *o, struct ut_err *err)
{
	struct ut_session_plan *plan = &o->record.plan;
	int rc = ut_table_opts_check(&o->table, err);

	if (!rc)
		rc = ut_memory_check_sort(o->table.sort, err);
	for (o->how = 0; !rc && strcmp(ut_memory_by_words[o->how], o->by) != 0;) {
		if (++o->how == UT_MEMORY_BYS)
			rc = ut_err_set(err, -EINVAL,
					"--by: '%s' is none of function, module, line, stack, "
					"thread, task, process",
					o->by);
	}
	plan->memory.on = true;
	plan->out.no_summary = true;
	if (!rc && !plan->out.output)
		rc = ut_output_add_formats(&plan->out, ut_export_utr.name, err);
	return rc ? rc : ut_record_check(&o->record, err);
}

static int memory_start(struct memory_opts *o, struct ut_arena *a, int argc,
			const char *const *argv)
{
	struct ut_err err = { 0 };
	struct ut_words words = { 0 };
	const struct ut_opt *table = memory_make_table(a, o);
	int left = ut_opt_parse(table, argc, argv, &err);

	if (left >= 0 && o->help)
		return ut_cmd_help(&ut_cmd_memory);
	if (left < 0 || memory_finalize(o, &err))
		return ut_cmd_misuse(&ut_cmd_memory, &err);
	if (left < argc && !ut_guess_is_trace(argv[left]))
		return ut_record_then(&(struct ut_record_then){ .cmd = &ut_cmd_memory,
								.record = &o->record,
								.report = report,
								.ctx = o },
				      a, argc - left, argv + left);
	/* behind a trace there may be more options */
	if (ut_words_parse(&words, a, table, argc - left, argv + left, &err) ||
	    memory_finalize(o, &err))
		return ut_cmd_misuse(&ut_cmd_memory, &err);
	if (!ut_last_recording_fill(&words, a))
		return UT_EXIT_MISUSE;
	return report(o, &words, &err) ? ut_cmd_fail(&ut_cmd_memory, &err) : UT_EXIT_OK;
}

static int cmd_memory(int argc, const char *const *argv)
{
	struct memory_opts opts = { .by = "function", .table = { UT_TABLE_OPTS } };
	struct ut_arena arena = { 0 };
	int status = memory_start(&opts, &arena, argc, argv);

	ut_record_opts_release(&opts.record);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *memory_options(struct ut_arena *a)
{
	return memory_make_table(a, UT_NEW(a, struct memory_opts));
}

const struct ut_cmd ut_cmd_memory = {
	.name = "memory",
	.usage = "[OPTIONS] PROGRAM [ARGUMENTS] | [OPTIONS] [TRACE...]",
	.takes_last = true,
	.summary = "what a program keeps in memory, and what it never frees",
	.description =
		"Runs PROGRAM with a look at what it and its children allocate: malloc(),\n"
		"operator new and their like of any allocator, and Python's objects. Then prints\n"
		"how much memory was in use when it was most and whose it was, what was never\n"
		"freed, and a table: who had it at the peak, who did not give it back, who\n"
		"allocated how much, how often and for how long.\n"
		"\n"
		"By default allocations are drawn at random, large ones always and small ones now\n"
		"and then, without bias and at the price of some percent of the time; the table\n"
		"says how far its numbers may be off. --memory=each looks at all of them.\n"
		"\n"
		"The trace has the live memory over time, and all of this in samples. Given such "
		"a\n"
		"trace instead of a program, it prints the report again.",
	.examples = "  unitrace memory ./app\n"
		    "  unitrace memory --by line python train.py\n"
		    "  unitrace memory --memory=each ./app\n"
		    "  unitrace memory --by stack --sort never_freed app.4711.utr\n",
	.options = memory_options,
	.run = cmd_memory,
};
