/*
 * cmd_stats.c - `unitrace stats`: how often and how long, per name, thread, process or rank.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/filter.h"
#include "analyze/filter_options.h"
#include "analyze/filter_why.h"
#include "analyze/stats.h"
#include "analyze/stats_pack.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/last_recording.h"
#include "cmd/stats_device.h"
#include "cmd/table_options.h"
#include "cmd/words.h"
#include "import/load.h"
#include "mpijob/job.h"
#include "mpijob/rank_inputs.h"
#include "report/table_device.h"
#include "report/table_stats.h"
#include "text/out.h"
#include "text/table_report.h"

struct stats_opts {
	struct ut_filter_opts filter;
	struct ut_stats_view view;
	struct ut_table_opts table;
	const char *by;
	uint64_t threads;
	bool counters, instants, device, no_mpi, help;
};

#define USUAL_ROWS 20

static const char sort_words[] = "total self count min max mean p50 p90 p99 stddev name";

/* ---- the work ------------------------------------------------------------------------------ */

struct work {
	struct ut_stats stats;
	struct ut_filter filter;
	unsigned int threads;
	struct ut_buf why; /* nothing of the first trace passed the filter */
};

/* Groups may be there of which no span was wanted. */
static bool is_empty(const struct ut_stats *s)
{
	for (size_t i = 1; i <= s->group_count; i++) {
		if (s->groups[i].dist.count || s->groups[i].instants || s->groups[i].unfinished)
			return false;
	}
	return !s->counter_count;
}

static int cmd_stats_add_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct work *w = ctx;

	(void)i;
	(void)err;
	ut_stats_add(&w->stats, store, &w->filter, w->threads);
	if (is_empty(&w->stats) && store->row_count && !w->why.len &&
	    !ut_filter_is_open(&w->filter))
		ut_filter_why(&w->why, w->filter.opts, store);
	return 0;
}

static void pack(void *ctx, char **data, size_t *len)
{
	struct work *w = ctx;
	struct ut_buf b = { 0 };

	ut_stats_pack(&w->stats, &b);
	*data = b.data;
	*len = b.len;
}

static int fold(void *ctx, const char *data, size_t len, struct ut_err *err)
{
	struct work *w = ctx;

	return ut_stats_unpack(&w->stats, data, len, err);
}

/* Every rank its share of the inputs; rank 0 has the sum in the end. */
static int cmd_stats_count(struct work *w, struct ut_mpijob *job, const struct ut_words *words,
			   struct ut_err *err)
{
	const struct ut_fold reduce = { pack, fold, w };
	const struct ut_load how = { "stats", w->threads, .checked = false,
				     .logger = ut_log_stderr() };
	const struct ut_rank_reader reader = { cmd_stats_add_store, w };
	int rc = ut_rank_load(job, words->count, words->items, &how, &reader, err);

	return rc ? rc : ut_mpijob_reduce(job, &reduce, err);
}

static int cmd_stats_print(const struct stats_opts *o, struct ut_stats *s, struct ut_err *err)
{
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);
	struct ut_out *out = ut_out_open("-", 0);

	ut_stats_print(out, s, &o->view, &report);
	return ut_out_commit(out, err);
}

static int stats(const struct stats_opts *o, struct work *w, const struct ut_words *words,
		 struct ut_err *err)
{
	struct ut_mpijob job = { .ranks = 1 };
	struct ut_err note = { 0 };
	bool first;
	int rc;

	if (!o->no_mpi && ut_mpijob_start(&job, &note) == UT_MPIJOB_IDLE)
		return UT_EXIT_OK;
	if (note.text[0])
		ut_log(UT_WARN, "%s", note.text);
	rc = cmd_stats_count(w, &job, words, err);
	first = !job.rank;
	ut_mpijob_stop(&job);
	if (!rc && first)
		rc = cmd_stats_print(o, &w->stats, err);
	if (!rc && first && w->why.len && is_empty(&w->stats))
		ut_log(UT_WARN, "no event fits %s", w->why.data);
	ut_buf_release(&w->why);
	if (rc && first)
		return ut_cmd_fail(&ut_cmd_stats, err);
	return rc ? UT_EXIT_FAILED : UT_EXIT_OK;
}

/* What --device would do nothing about must not look as if it did. */
static int check_device(const struct stats_opts *o, struct ut_err *err)
{
	struct ut_filter filter;
	bool all;

	if (o->counters || o->instants || o->view.histogram || strcmp(o->by, "name"))
		return ut_err_set(err, -EINVAL,
				  "--device is a report of its own; --by, --counters, --instants "
				  "and --histogram are not for it");
	if (ut_filter_init(&filter, &o->filter, err))
		return -EINVAL;
	all = ut_filter_is_open(&filter);
	ut_filter_release(&filter);
	return all ? 0
		   : ut_err_set(err, -EINVAL,
				"--device is about whole traces; 'unitrace filter' writes a "
				"trace of the events that are meant");
}

static int device_stats(const struct stats_opts *o, const struct ut_words *words,
			struct ut_err *err)
{
	const struct ut_stats_device d = {
		.report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS),
		.threads = ut_load_threads(o->threads),
	};

	if (ut_table_opts_check(&o->table, err) || check_device(o, err) ||
	    ut_device_check_sort(&d.report, err))
		return ut_cmd_misuse(&ut_cmd_stats, err);
	return ut_stats_device(&d, words, err) ? ut_cmd_fail(&ut_cmd_stats, err) : UT_EXIT_OK;
}

/* ---- the glue ------------------------------------------------------------------------------ */

static const struct ut_opt *cmd_stats_make_table(struct ut_arena *a, struct stats_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_str(0, "by", "WHAT[,WHAT]", &o->by,
					"one row for each name, category, thread, process, rank, "
					"or combination (name)"),
			     "name category thread process rank"),
		ut_opt_words(UT_TABLE_OPT_SORT(&o->table), sort_words),
		UT_TABLE_OPT_ROWS(&o->table, "20"),
		UT_TABLE_OPT_LIMIT(&o->table),
		ut_opt_flag(0, "counters", &o->counters, "the counters instead of the spans"),
		ut_opt_flag(0, "instants", &o->instants, "the instants instead of the spans"),
		ut_opt_flag(0, "device", &o->device,
			    "how devices were used: busy, idle, latency, kernels"),
		ut_opt_str(0, "histogram", "PATTERN", &o->view.histogram,
			   "how the lengths of spans of this name are spread"),
		ut_opt_flag('j', "json", &o->table.json, "print JSON, with everything, in ns"),
		UT_TABLE_OPT_CSV(&o->table),
		UT_TABLE_OPT_CSV_SAFE(&o->table),
		UT_TABLE_OPT_WIDTH(&o->table, "48"),
		UT_TABLE_OPT_COLOUR(&o->table),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read and count (one per core)"),
			     1, 256),
		ut_opt_flag(0, "no-mpi", &o->no_mpi,
			    "under mpiexec: each process does the whole command by itself"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
	};

	return ut_filter_table(a, table, sizeof(table) / sizeof(table[0]), &o->filter);
}

static int cmd_stats_finalize(struct stats_opts *o, unsigned int *by, struct ut_err *err)
{
	struct ut_err inner = { 0 };
	int rc = ut_table_opts_check(&o->table, err);

	if (rc)
		return rc;
	if (ut_by_parse(o->by, by, &inner))
		return ut_err_set(err, -EINVAL, "--by: %s", inner.text);
	if (o->counters && o->instants)
		return ut_err_set(err, -EINVAL, "--counters and --instants exclude each other");
	if (o->view.histogram && o->table.csv)
		return ut_err_set(err, -EINVAL, "--histogram is not for --csv; take --json");
	if (o->view.histogram && !(*by & 1u << UT_BY_NAME))
		return ut_err_set(err, -EINVAL, "--histogram needs --by name");
	o->view.what = o->counters   ? UT_STATS_COUNTERS
		       : o->instants ? UT_STATS_INSTANTS
				     : UT_STATS_SPANS;
	return ut_stats_check_sort(*by, &o->view, o->table.sort, err);
}

static int cmd_stats_start(struct stats_opts *o, const struct ut_words *words, struct ut_err *err)
{
	struct work w = { .threads = ut_load_threads(o->threads) };
	unsigned int by = 0;
	int status;

	if (cmd_stats_finalize(o, &by, err) || ut_filter_init(&w.filter, &o->filter, err))
		return ut_job_look().rank ? UT_EXIT_MISUSE : ut_cmd_misuse(&ut_cmd_stats, err);
	ut_stats_init(&w.stats, by);
	status = stats(o, &w, words, err);
	ut_stats_release(&w.stats);
	ut_filter_release(&w.filter);
	return status;
}

static int cmd_stats(int argc, const char *const *argv)
{
	struct stats_opts opts = { .by = "name", .table = { UT_TABLE_OPTS } };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, cmd_stats_make_table(&arena, &opts), argc, argv,
				&err);
	int status;

	if (!rc && opts.help)
		status = ut_cmd_help(&ut_cmd_stats);
	else if (rc)
		status = ut_job_look().rank ? UT_EXIT_MISUSE : ut_cmd_misuse(&ut_cmd_stats, &err);
	else if (!ut_last_recording_fill(&words, &arena))
		status = UT_EXIT_MISUSE;
	else
		status = opts.device ? device_stats(&opts, &words, &err)
				     : cmd_stats_start(&opts, &words, &err);
	ut_filter_opts_release(&opts.filter);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *stats_options(struct ut_arena *a)
{
	return cmd_stats_make_table(a, UT_NEW(a, struct stats_opts));
}

const struct ut_cmd ut_cmd_stats = {
	.name = "stats",
	.usage = "[OPTIONS] [TRACE|DIRECTORY|PATTERN...]",
	.takes_last = true,
	.summary = "count spans and add up their time",
	.description =
		"Prints a table of spans: how many there were of each name, how long they took\n"
		"in all, by themselves (without the spans inside them), on average, at most, and\n"
		"how long half, 90 % and 99 % of them took at most. Several traces are counted\n"
		"together, one after the other; memory holds only a few of them at a time.\n"
		"Under mpiexec the ranks share the traces; the result is the same.",
	.examples = "  what takes most of the time:\n"
		    "    unitrace stats app.json\n"
		    "  all ranks, one row for each name and rank:\n"
		    "    unitrace stats --by name,rank ranks/\n"
		    "  between the first and the third second, as JSON:\n"
		    "    unitrace stats --from 1s --to 3s --json app.json\n"
		    "  how well the devices were used:\n"
		    "    unitrace stats --device app.json\n"
		    "  with the traces shared by 8 processes:\n"
		    "    mpiexec -n 8 unitrace stats 'ranks/*.json'\n",
	.options = stats_options,
	.run = cmd_stats,
};
