/*
 * cmd_kernels.c - `unitrace kernels`: what each kernel is bound by, and which op or line of Python
 * launched it.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "cmd/command_line.h"
#include "cmd/table_options.h"
#include "import/inputs.h"
#include "import/load.h"
#include "ops/kernel_groups.h"
#include "ops/kernel_table.h"
#include "text/out.h"
#include "text/table_report.h"

#define USUAL_ROWS 20

struct kernels_opts {
	struct ut_table_opts table;
	const char *by;
	uint64_t threads;
	bool help;
};

static const char *const by_words[] = {
#define BY_WORD(name, word, title) word,
	UT_KERNEL_BY_LIST(BY_WORD)
#undef BY_WORD
};

static const struct ut_opt *cmd_kernels_make_table(struct ut_arena *a, struct kernels_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("What to show"),
		ut_opt_words(
			ut_opt_str(0, "by", "WHAT", &o->by,
				   "a row for each kernel, op, task or line of Python (kernel)"),
			"kernel op task line"),
		UT_TABLE_OPT_SORT(&o->table),
		UT_TABLE_OPT_ROWS(&o->table, "20"),
		UT_TABLE_OPT_LIMIT(&o->table),
		UT_TABLE_OPT_WIDTH(&o->table, "60 on a terminal"),
		ut_opt_heading("Output"),
		UT_TABLE_OPT_JSON(&o->table),
		UT_TABLE_OPT_CSV(&o->table),
		UT_TABLE_OPT_CSV_SAFE(&o->table),
		UT_TABLE_OPT_COLOUR(&o->table),
		ut_opt_heading("Other"),
		ut_opt_u64(0, "threads", "N", &o->threads, "threads that read (all processors)"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int find_by(const char *word, enum ut_kernel_by *by, struct ut_err *err)
{
	for (size_t i = 0; i < UT_KERNEL_BYS; i++) {
		if (!strcmp(word, by_words[i])) {
			*by = (enum ut_kernel_by)i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "--by '%s': kernel, op, task or line", word);
}

static int cmd_kernels_add_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	(void)i;
	(void)err;
	ut_kernel_groups_add(ctx, store);
	return 0;
}

static int kernels(const struct kernels_opts *o, enum ut_kernel_by by, const struct ut_words *words,
		   struct ut_err *err)
{
	const struct ut_load how = { "kernels", (unsigned int)o->threads, .checked = false,
				     .logger = ut_log_stderr() };
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);
	struct ut_inputs in = { 0 };
	struct ut_kernel_groups g;
	int rc = ut_inputs_find(&in, words->count, words->items, ut_log_stderr(), err);

	ut_kernel_groups_init(&g, by);
	if (!rc)
		rc = ut_load_each(&in, &how, cmd_kernels_add_store, &g, err);
	if (!rc && !g.group_count)
		rc = ut_err_set(err, -ENODATA,
				"no kernels in there; record with --chrome-kernel-logging");
	if (!rc) {
		struct ut_out *out = ut_out_open("-", 0);

		ut_kernel_groups_finish(&g);
		ut_kernel_table_print(out, &g, &report);
		rc = ut_out_commit(out, err);
	}
	ut_kernel_groups_release(&g);
	ut_inputs_release(&in);
	return rc;
}

static int cmd_kernels(int argc, const char *const *argv)
{
	struct kernels_opts opts = { .by = "kernel", .table = { UT_TABLE_OPTS } };
	struct ut_command_line line = { 0 };
	enum ut_kernel_by by = UT_BY_KERNEL;

	if (ut_command_line_parse(&line, &ut_cmd_kernels,
				  cmd_kernels_make_table(&line.arena, &opts), &opts.help, argc,
				  argv)) {
		if (ut_table_opts_check(&opts.table, &line.err) ||
		    ut_kernel_table_check(opts.table.sort, &line.err) ||
		    find_by(opts.by, &by, &line.err))
			line.status = ut_cmd_misuse(&ut_cmd_kernels, &line.err);
		else if (ut_command_line_last(&line) && kernels(&opts, by, &line.words, &line.err))
			line.status = ut_cmd_fail(&ut_cmd_kernels, &line.err);
	}
	return ut_command_line_end(&line);
}

static const struct ut_opt *kernels_options(struct ut_arena *a)
{
	return cmd_kernels_make_table(a, UT_NEW(a, struct kernels_opts));
}

const struct ut_cmd ut_cmd_kernels = {
	.name = "kernels",
	.usage = "[--by kernel|op|task|line] [--json|--csv] [TRACE...]",
	.summary = "say what each kernel is bound by, and which op or line of Python launched it",
	.description =
		"A sentence for each kernel: bound by DRAM at 81 % of its peak; latency-bound, "
		"and\n"
		"where it waits; too small for the device; the tail of the last wave; and so on.\n"
		"More can be said the more was recorded: how a kernel was launched is enough for\n"
		"some rules, counters (-q, -k) and samples of instructions (--stall-sampling)\n"
		"speak for others. Traces of torch.profiler will do, with what they have.\n\n"
		"'Could save' is how much of its time would be saved at most if what is said\n"
		"about it were mended; --sort lost puts those first where most could be.",
	.examples = "  unitrace kernels train.json\n"
		    "  unitrace kernels --by line --sort lost train.json\n",
	.takes_last = true,
	.options = kernels_options,
	.run = cmd_kernels,
};
