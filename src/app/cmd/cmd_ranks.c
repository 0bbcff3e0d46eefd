/*
 * cmd_ranks.c - `unitrace ranks`: which rank of a parallel job makes the others wait.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/opt.h"
#include "cmd/last_recording.h"
#include "cmd/table_options.h"
#include "cmd/words.h"
#include "export/exporter.h"
#include "export/out_check.h"
#include "import/load.h"
#include "model/trace.h"
#include "mpijob/job.h"
#include "mpijob/rank_inputs.h"
#include "ranks/ranks_pack.h"
#include "ranks/ranks_table.h"
#include "ranks/ranks_timeline.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/replaced.h"
#include "text/table_report.h"

struct ranks_opts {
	struct ut_table_opts table;
	const char *by, *step, *output;
	const struct ut_exporter *format; /* of the output */
	uint64_t threads;
	bool waits, matrix, pop, steps, path, collectives, clocks, no_mpi, help;
	enum ut_rank_table what;
	bool chosen; /* one table, not the overview */
};

#define USUAL_ROWS 20
#define FEW_WAITS  8

/* ---- the work ------------------------------------------------------------------------------ */

static int cmd_ranks_add_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	(void)i;
	return ut_ranks_add(ctx, store, err);
}

/* What each process of ours has read comes together on the first, in the order of the files. */
static int cmd_ranks_gather(struct ut_ranks *r, struct ut_mpijob *job, struct ut_err *err)
{
	struct ut_gathered all = { 0 };
	struct ut_buf mine = { 0 };
	int rc = 0;

	if (job->ranks == 1)
		return 0;
	if (job->rank)
		ut_ranks_pack(r, &mine);
	ut_mpijob_gather(job, mine.data, mine.len, &all);
	for (size_t i = 1; !rc && i < all.count; i++)
		rc = ut_ranks_unpack(r, all.data + all.starts[i],
				     (size_t)(all.starts[i + 1] - all.starts[i]), err);
	ut_gathered_release(&all);
	ut_buf_release(&mine);
	return ut_mpijob_agree(job, rc, err);
}

static int cmd_ranks_read_all(const struct ranks_opts *o, struct ut_ranks *r, struct ut_mpijob *job,
			      const struct ut_words *words, struct ut_err *err)
{
	const struct ut_load how = { "ranks", ut_load_threads(o->threads), .checked = false,
				     .logger = ut_log_stderr() };
	const struct ut_rank_reader reader = { cmd_ranks_add_store, r };
	int rc = ut_rank_load(job, words->count, words->items, &how, &reader, err);

	return rc ? rc : cmd_ranks_gather(r, job, err);
}

/* ---- what is printed ----------------------------------------------------------------------- */

static void line(struct ut_out *out, const struct ut_rank_view *v,
		 void (*text)(const struct ut_rank_view *, struct ut_buf *))
{
	struct ut_buf b = { 0 };

	text(v, &b);
	ut_cell_text(out, b.data);
	ut_out_text(out, ".\n");
	ut_buf_release(&b);
}

static void overview(const struct ranks_opts *o, struct ut_out *out, const struct ut_rank_view *v)
{
	struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);

	line(out, v, ut_rank_summary_text);
	line(out, v, ut_rank_efficiency);
	ut_out_text(out, "\n");
	ut_rank_table_print(out, v, UT_RANK_TABLE_RANKS, &report);
	report.sort = NULL;
	report.limit = o->table.rows == UINT64_MAX ? FEW_WAITS : report.limit;
	if (v->sums.wait_count) {
		ut_out_text(out, "\n");
		ut_rank_table_print(out, v, UT_RANK_TABLE_WAITS, &report);
	}
	/* MPI's are in the tables above. */
	if (v->colls.others) {
		ut_out_text(out, "\n");
		ut_rank_table_print(out, v, UT_RANK_TABLE_COLLECTIVES, &report);
	}
}

/* For people: the sentence that comes first, and one table, or why there is none. */
static void print_table(const struct ranks_opts *o, struct ut_out *out,
			const struct ut_rank_view *v, const struct ut_report_opts *report)
{
	const char *empty_text = ut_rank_table_empty_text(v, o->what);

	line(out, v, ut_rank_summary_text);
	if (empty_text) {
		ut_out_fmt(out, "%s.\n", empty_text);
		return;
	}
	ut_out_text(out, "\n");
	ut_rank_table_print(out, v, o->what, report);
}

static int cmd_ranks_print(const struct ranks_opts *o, const struct ut_rank_view *v,
			   struct ut_err *err)
{
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);
	struct ut_out *out = ut_out_open("-", 0);

	if (o->table.json && !o->chosen) {
		ut_rank_json(out, v);
	} else if (o->chosen && report.format == UT_REPORT_TABLE) {
		print_table(o, out, v, &report);
	} else if (o->chosen || o->table.csv) {
		ut_rank_table_print(out, v, o->what, &report);
	} else {
		overview(o, out, v);
	}
	return ut_out_commit(out, err);
}

static int write_timeline(const struct ranks_opts *o, const struct ut_ranks *r, struct ut_err *err)
{
	struct ut_out *out = ut_out_open(o->output, UT_OUT_OVERWRITE);
	struct ut_sink *sink = o->format->open(out);
	struct ut_trace trace;

	ut_trace_init(&trace);
	ut_ranks_timeline(r, &trace, sink);
	o->format->end_trace(sink, &trace);
	o->format->close(sink);
	ut_trace_release(&trace);
	return ut_out_commit(out, err);
}

/* How well the clocks of several hosts are known. */
static void report_clocks(const struct ut_ranks *r)
{
	size_t proven = 0, contrary = 0;
	uint64_t worst = 0;
	char time[UT_CELL_TIME];

	if (r->clock_count < 2)
		return;
	for (size_t i = 0; i < r->clock_count; i++) {
		const struct ut_rank_clock *c = &r->clocks[i];
		uint64_t error = ut_time_map_worst(&c->map);

		contrary += c->contrary;
		proven += c->proven && !c->contrary;
		worst = c->proven && error > worst ? error : worst;
	}
	if (proven + contrary > 1)
		ut_log(UT_INFO,
		       "%zu clocks are brought together to within %s by what was measured and by "
		       "messages and collective operations (--clocks)",
		       proven + contrary, ut_cell_time(time, worst));
	if (proven + contrary < r->clock_count)
		ut_log(UT_WARN,
		       "%zu of %zu clocks are placed by their wall times alone: their times may be "
		       "wrong by milliseconds",
		       r->clock_count - proven - contrary, r->clock_count);
}

/* What the user should know before he believes it. */
static void cmd_ranks_warn(const struct ut_ranks *r)
{
	char time[UT_CELL_TIME];
	if (r->world > (int64_t)r->count)
		ut_log(UT_WARN, "%zu of %" PRId64 " ranks are here; what others do is not known%s",
		       r->count, r->world,
		       ut_ranks_ended(r) ? ""
					 : " (of a job that was killed recordings may be left as "
					   "*.session; these can be read, too)");
	report_clocks(r);
	if (r->backwards)
		ut_log(UT_WARN,
		       "%" PRIu64 " of %" PRIu64
		       " messages arrive before they were sent, by up to %s: the clocks of "
		       "the hosts are apart (see --clocks)",
		       r->backwards, r->messages, ut_cell_time(time, r->most_backwards));
}

static int cmd_ranks_show(const struct ranks_opts *o, struct ut_ranks *r, struct ut_err *err)
{
	struct ut_rank_view v = { 0 };
	int rc = ut_ranks_finalize(r, ut_load_threads(o->threads), err);

	if (rc)
		return rc;
	cmd_ranks_warn(r);
	ut_rank_view_make(&v, r, ut_str_of(o->step ? o->step : ""));
	if (o->step && !v.path.step_count)
		rc = ut_err_set(err, -ENOENT,
				"--step %s: no rank has an outermost task of this name", o->step);
	else
		rc = cmd_ranks_print(o, &v, err);
	if (!rc && o->output)
		rc = write_timeline(o, r, err);
	ut_rank_view_release(&v);
	return rc;
}

static int ranks(const struct ranks_opts *o, const struct ut_words *words, struct ut_err *err)
{
	struct ut_mpijob job = { .ranks = 1 };
	struct ut_err note = { 0 };
	struct ut_ranks r;
	bool first;
	int rc;

	if (!o->no_mpi && ut_mpijob_start(&job, &note) == UT_MPIJOB_IDLE)
		return UT_EXIT_OK;
	if (note.text[0])
		ut_log(UT_WARN, "%s", note.text);
	ut_keep_freed();
	ut_ranks_init(&r);
	rc = cmd_ranks_read_all(o, &r, &job, words, err);
	first = !job.rank;
	ut_mpijob_stop(&job);
	if (!rc && first)
		rc = cmd_ranks_show(o, &r, err);
	ut_ranks_release(&r);
	if (rc && first)
		return ut_cmd_fail(&ut_cmd_ranks, err);
	return rc ? UT_EXIT_FAILED : UT_EXIT_OK;
}

/* ---- the glue ------------------------------------------------------------------------------ */

static const struct ut_opt *cmd_ranks_make_table(struct ut_arena *a, struct ranks_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("What to show (a sentence, and the ranks)"),
		ut_opt_words(ut_opt_str(0, "by", "WHAT", &o->by,
					"a row for each rank, call or task of the program's own"),
			     "rank call task"),
		ut_opt_flag(0, "waits", &o->waits, "who was waited for, why, and in which call"),
		ut_opt_flag(0, "matrix", &o->matrix, "what went from which rank to which"),
		ut_opt_flag(0, "pop", &o->pop, "efficiency: load balance, serialisation, transfer"),
		ut_opt_flag(0, "steps", &o->steps, "each step, with the rank that it waited for"),
		ut_opt_str(0, "step", "TASK", &o->step,
			   "the task that is a step (the largest that all ranks have equally "
			   "often)"),
		ut_opt_flag(0, "path", &o->path, "what lies on the critical path"),
		ut_opt_flag(0, "collectives", &o->collectives,
			    "collective operations: bandwidth, how much is exposed, who is late"),
		ut_opt_flag(0, "clocks", &o->clocks,
			    "how the clocks of several hosts were brought together"),
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->output,
					"also write a timeline: calls with what they waited for, "
					"how many ranks wait"),
			     "<file>"),
		UT_TABLE_OPT_SORT(&o->table),
		UT_TABLE_OPT_ROWS(&o->table, "20"),
		UT_TABLE_OPT_LIMIT(&o->table),
		ut_opt_flag('j', "json", &o->table.json,
			    "print JSON, in ns; everything, unless one table is asked for"),
		UT_TABLE_OPT_CSV(&o->table),
		UT_TABLE_OPT_CSV_SAFE(&o->table),
		UT_TABLE_OPT_WIDTH(&o->table, "40"),
		UT_TABLE_OPT_COLOUR(&o->table),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read and sort (one per core)"),
			     1, 256),
		ut_opt_flag(0, "no-mpi", &o->no_mpi,
			    "under mpiexec: each process does the whole command by itself"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

/* The table that is asked for; none is the overview. */
static int cmd_ranks_choose(struct ranks_opts *o, struct ut_err *err)
{
	const struct {
		bool asked;
		enum ut_rank_table table;
	} tables[] = {
		{ o->by && !strcmp(o->by, "rank"), UT_RANK_TABLE_RANKS },
		{ o->by && !strcmp(o->by, "call"), UT_RANK_TABLE_CALLS },
		{ o->by && !strcmp(o->by, "task"), UT_RANK_TABLE_TASKS },
		{ o->waits, UT_RANK_TABLE_WAITS },
		{ o->matrix, UT_RANK_TABLE_MATRIX },
		{ o->pop, UT_RANK_TABLE_POP },
		{ o->steps, UT_RANK_TABLE_STEPS },
		{ o->path, UT_RANK_TABLE_PATH },
		{ o->collectives, UT_RANK_TABLE_COLLECTIVES },
		{ o->clocks, UT_RANK_TABLE_CLOCKS },
	};
	size_t asked = 0;

	o->what = UT_RANK_TABLE_RANKS;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		asked += tables[i].asked;
		o->what = tables[i].asked ? tables[i].table : o->what;
	}
	o->chosen = asked;
	if (asked > 1)
		return ut_err_set(err, -EINVAL,
				  "one table at a time: --by, --waits, --matrix, --pop, --steps, "
				  "--path, --collectives and --clocks exclude each other");
	if (o->by && !asked)
		return ut_err_set(err, -EINVAL, "--by: '%s' is none of rank, call, task", o->by);
	return 0;
}

/* Can the timeline be written, before all traces are read? */
static int check_output(struct ranks_opts *o, const struct ut_words *words, struct ut_err *err)
{
	if (!o->output)
		return 0;
	for (int i = 0; i < words->count; i++) {
		if (ut_same_file(o->output, words->items[i]))
			return ut_err_set(err, -EINVAL, "-o %s would take the place of an input",
					  o->output);
	}
	o->format = ut_exporter_by_file(o->output);
	if (!o->format)
		return ut_err_set(err, -EINVAL,
				  "%s: which format is that? .json, .pftrace, .utr, .csv, also "
				  "with .gz or .zst",
				  o->output);
	return ut_out_check(o->output, o->format, UT_OUT_OVERWRITE, err);
}

static int cmd_ranks_finalize(struct ranks_opts *o, const struct ut_words *words,
			      struct ut_err *err)
{
	int rc = ut_table_opts_check(&o->table, err);

	if (!rc)
		rc = cmd_ranks_choose(o, err);
	if (!rc)
		rc = check_output(o, words, err);
	return rc ? rc : ut_rank_table_check(o->what, o->table.sort, err);
}

static int cmd_ranks(int argc, const char *const *argv)
{
	struct ranks_opts opts = { .table = { UT_TABLE_OPTS } };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, cmd_ranks_make_table(&arena, &opts), argc, argv,
				&err);
	int status;

	if (!rc && opts.help)
		status = ut_cmd_help(&ut_cmd_ranks);
	else if (rc || cmd_ranks_finalize(&opts, &words, &err))
		status = ut_job_look().rank ? UT_EXIT_MISUSE : ut_cmd_misuse(&ut_cmd_ranks, &err);
	else if (!ut_last_recording_fill(&words, &arena))
		status = UT_EXIT_MISUSE;
	else
		status = ranks(&opts, &words, &err);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *ranks_options(struct ut_arena *a)
{
	return cmd_ranks_make_table(a, UT_NEW(a, struct ranks_opts));
}

const struct ut_cmd ut_cmd_ranks = {
	.name = "ranks",
	.usage = "[OPTIONS] [TRACE|DIRECTORY|PATTERN...]",
	.takes_last = true,
	.summary = "which rank of a job makes the others wait",
	.description =
		"Reads the traces of the ranks of a parallel job, merged or one by one, and says\n"
		"which rank makes the others wait, for how long, and in which of its own tasks.\n"
		"The time of each rank is split into useful time, waiting and transfer: who\n"
		"waits for whom (late sender, late receiver, late to a collective call), what\n"
		"was sent where, how efficient the job is, and what lies on its critical path.\n"
		"Under mpiexec the ranks share the traces; the result is the same.",
	.examples = "  record a job, and look at it:\n"
		    "    mpiexec -n 4 unitrace --chrome-mpi-logging --chrome-itt-logging ./solver\n"
		    "    unitrace ranks solver.*.json\n"
		    "  a timeline with each call's waiting and transfer:\n"
		    "    unitrace ranks -o waits.json solver.*.json\n"
		    "  what is sent where, as CSV:\n"
		    "    unitrace ranks --matrix --csv solver.*.json\n"
		    "  collective operations of NCCL or gloo, from files of torch.profiler:\n"
		    "    unitrace ranks --collectives rank*.pt.trace.json\n"
		    "  which of the program's own tasks are out of balance:\n"
		    "    unitrace ranks --by task solver.*.json\n",
	.options = ranks_options,
	.run = cmd_ranks,
};
