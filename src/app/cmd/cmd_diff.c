/*
 * cmd_diff.c - `unitrace diff`: what has become slower, faster, more, less.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acelyzer/diff_summary.h"
#include "acelyzer/summary_compare.h"
#include "analyze/diff.h"
#include "analyze/diff_rule.h"
#include "analyze/filter.h"
#include "analyze/filter_options.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "cmd/table_options.h"
#include "cmd/words.h"
#include "import/load.h"
#include "report/table_diff.h"
#include "text/out.h"
#include "text/table_report.h"

#define USUAL_ROWS 20

struct diff_opts {
	struct ut_filter_opts filter;
	struct ut_opt_list fail_if;
	struct ut_words words;
	const char *by, *confidence;
	struct ut_table_opts table;
	uint64_t min_count, threads;
	int against; /* how many words stand before --against; -1 = it is not there */
	bool help;
};

/* ---- the work ------------------------------------------------------------------------------ */

struct work {
	struct ut_filter filter;
	struct ut_diff_rules rules;
	unsigned int by, threads;
	struct ut_stats run;  /* the one that is being read */
	uint64_t missing;     /* records of all runs */
	struct ut_buf failed; /* the first process that failed, and how */
	bool samples;         /* a run has some */
};

/* A process that was asked to end by a signal is no failure of the run. */
static void note_failure(const struct ut_trace *t, struct ut_buf *out)
{
	struct ut_buf how = { 0 };

	for (size_t i = 0; !out->len && i < t->process_count; i++) {
		const struct ut_process *p = &t->processes[i];

		how.len = 0;
		if (!ut_process_failure(t, p, &how) || !strncmp(how.data, "signal 1 ", 9) ||
		    !strncmp(how.data, "signal 2 ", 9) || !strncmp(how.data, "signal 15 ", 10))
			continue;
		ut_buf_fmt(out, "%s (%" PRIu64 ") failed: %s",
			   ut_strtab_get(&t->strings, p->name).ptr, p->pid, how.data);
	}
	ut_buf_release(&how);
}

static int cmd_diff_add_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct work *w = ctx;

	(void)i;
	(void)err;
	ut_stats_add(&w->run, store, &w->filter, w->threads);
	for (uint32_t n = 0; n < store->types.count; n++)
		w->samples |= ut_store_type(store, n)->kind == UT_KIND_SAMPLE;
	w->missing += store->trace.losses.dropped + store->trace.losses.torn;
	if (!w->failed.len)
		note_failure(&store->trace, &w->failed);
	return 0;
}

/* One word is one run, however many traces it stands for. */
static int cmd_diff_add_run(struct work *w, struct ut_diff_side *side, const char *word,
			    struct ut_err *err)
{
	const struct ut_load how = { "diff", w->threads, .checked = false,
				     .logger = ut_log_stderr() };
	struct ut_inputs in = { 0 };
	int rc = ut_inputs_find(&in, 1, &word, ut_log_stderr(), err);

	ut_stats_init(&w->run, w->by);
	if (!rc)
		rc = ut_load_each(&in, &how, cmd_diff_add_store, w, err);
	if (!rc)
		ut_diff_side_add(side, &w->run);
	ut_stats_release(&w->run);
	ut_inputs_release(&in);
	return rc;
}

static int cmd_diff_print(const struct diff_opts *o, const struct ut_diff *d,
			  const struct ut_diff_rules *rules, bool *failed, struct ut_err *err)
{
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);
	struct ut_out *out = ut_out_open("-", 0);
	size_t count;
	struct ut_diff_failure *failures = ut_diff_rules_check(rules, d, &count);

	int rc;

	ut_diff_print(out, d, &report, failures, count);
	*failed = count;
	free(failures);
	rc = ut_out_commit(out, err);
	return rc || *failed ? rc : ut_diff_rules_compared(rules, d, err);
}

static void warn_if_apart(const struct ut_diff *d, bool samples)
{
	for (size_t i = 0; i < d->count; i++) {
		if (d->rows[i].before && d->rows[i].after)
			return;
	}
	ut_log(UT_WARN, "nothing was compared: no name is on both sides%s",
	       !d->count && samples ? "; 'unitrace hotspots --diff' compares samples" : "");
}

static int diff(const struct diff_opts *o, struct work *w, bool *failed, struct ut_err *err)
{
	int before = o->against >= 0 ? o->against : 1;
	struct ut_diff_side sides[2];
	struct ut_diff d = { 0 };
	int rc = 0;

	ut_diff_side_init(&sides[0], w->by);
	ut_diff_side_init(&sides[1], w->by);
	for (int i = 0; !rc && i < o->words.count; i++)
		rc = cmd_diff_add_run(w, &sides[i >= before], o->words.items[i], err);
	if (!rc) {
		ut_diff_make(&d, &sides[0], &sides[1], o->min_count);
		if (!w->rules.count)
			warn_if_apart(&d, w->samples);
		rc = cmd_diff_print(o, &d, &w->rules, failed, err);
		if (!rc && !*failed && w->rules.count && w->missing)
			rc = ut_err_set(err, -ENODATA,
					"--fail-if cannot be decided: %" PRIu64
					" records of the runs are missing",
					w->missing);
		if (!rc && !*failed && w->rules.count && w->failed.len)
			rc = ut_err_set(err, -ENODATA, "--fail-if cannot be decided: %s",
					w->failed.data);
	}
	ut_diff_release(&d);
	ut_diff_side_release(&sides[0]);
	ut_diff_side_release(&sides[1]);
	return rc;
}

/* ---- the glue ------------------------------------------------------------------------------ */

static int take_against(void *ctx, const char *value, struct ut_err *err)
{
	struct diff_opts *o = ctx;

	(void)value;
	if (o->against >= 0)
		return ut_err_set(err, -EINVAL, "there can be only one");
	o->against = o->words.count;
	return 0;
}

static const struct ut_opt *cmd_diff_make_table(struct ut_arena *a, struct diff_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_call("against", NULL, take_against, o,
			    "what stands before it are runs from before, what follows are runs "
			    "from after"),
		ut_opt_strs(0, "fail-if", "RULES", &o->fail_if,
			    "end with status 3 if something has changed like this: p50>5%, "
			    "total>10ms, count!=0, new, vanished; several with commas; "
			    "name~REGEX:p50>5% for some names only"),
		ut_opt_words(ut_opt_str(0, "confidence", "LEAST", &o->confidence,
					"how sure a change of time must be for --fail-if: noise, "
					"likely or sure (likely); with one run on each side: how "
					"far apart their calls, likely is 60% of pairs, sure 75%"),
			     "noise likely sure"),
		ut_opt_words(ut_opt_str(0, "by", "WHAT[,WHAT]", &o->by,
					"compare by name, category, thread, process, rank, or "
					"combination (name)"),
			     "name category thread process rank"),
		ut_opt_u64(0, "min-count", "N", &o->min_count,
			   "leave out what happened less often than this on both sides (1)"),
		UT_TABLE_OPT_SORT(&o->table),
		UT_TABLE_OPT_ROWS(&o->table, "20"),
		UT_TABLE_OPT_LIMIT(&o->table),
		UT_TABLE_OPT_JSON(&o->table),
		UT_TABLE_OPT_CSV(&o->table),
		UT_TABLE_OPT_CSV_SAFE(&o->table),
		UT_TABLE_OPT_WIDTH(&o->table, "48"),
		UT_TABLE_OPT_COLOUR(&o->table),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read and count (one per core)"),
			     1, 256),
		ut_opt_flag('h', "help", &o->help, "show this help"),
	};

	return ut_filter_table(a, table, sizeof(table) / sizeof(table[0]), &o->filter);
}

static int check_words(const struct diff_opts *o, struct ut_err *err)
{
	if (o->against < 0 && o->words.count != 2)
		return ut_err_set(err, -EINVAL,
				  "two runs are compared, before and after; more of them with "
				  "--against in between");
	if (o->against == 0 || o->against == o->words.count)
		return ut_err_set(err, -EINVAL, "there is nothing %s --against",
				  o->against ? "behind" : "before");
	return 0;
}

/* How many of the words are summaries of analyze. */
static int summaries(const struct diff_opts *o)
{
	int n = 0;

	for (int i = 0; i < o->words.count; i++)
		n += ut_ace_is_summary(o->words.items[i]);
	return n;
}

/* Several runs on a side: there is a verdict about them; else about calls. */
static int check_sort(const struct diff_opts *o, unsigned int by, struct ut_err *err)
{
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);

	if (summaries(o))
		return ut_diff_summary_check_sort(by & 1u << UT_BY_RANK, &report, err);
	return ut_diff_check_sort(by, o->words.count > 2, o->table.sort, err);
}

static int cmd_diff_finalize(const struct diff_opts *o, struct work *w, struct ut_err *err)
{
	struct ut_err inner = { 0 };
	int rc = check_words(o, err);

	if (!rc)
		rc = ut_table_opts_check(&o->table, err);
	if (!rc && ut_by_parse(o->by, &w->by, &inner))
		rc = ut_err_set(err, -EINVAL, "--by: %s", inner.text);
	for (size_t i = 0; !rc && i < o->fail_if.count; i++) {
		if (ut_diff_rules_add(&w->rules, o->fail_if.items[i], &inner))
			rc = ut_err_set(err, -EINVAL, "--fail-if: %s", inner.text);
	}
	w->rules.least = UT_SIGNIFICANCE_SURE;
	while (!rc && strcmp(o->confidence, ut_significance_words[w->rules.least])) {
		if (w->rules.least-- == UT_SIGNIFICANCE_NOISE)
			return ut_err_set(err, -EINVAL,
					  "--confidence: '%s' is none of noise, likely, sure",
					  o->confidence);
	}
	if (!rc)
		rc = check_sort(o, w->by, err);
	return rc ? rc : ut_filter_init(&w->filter, &o->filter, err);
}

/* Summaries have names and ranks, and are compared two at a time. */
static int check_summaries(const struct diff_opts *o, const struct work *w, struct ut_err *err)
{
	if (summaries(o) != o->words.count || o->words.count != 2)
		return ut_err_set(err, -EINVAL,
				  "summaries of analyze are compared two at a time, and not with "
				  "traces");
	if (w->by & ~(1u << UT_BY_NAME | 1u << UT_BY_RANK))
		return ut_err_set(err, -EINVAL,
				  "--by: a summary knows names and ranks only, not '%s'", o->by);
	if (!ut_filter_is_open(&w->filter))
		return ut_err_set(err, -EINVAL,
				  "options that choose events work on traces, not on summaries; "
				  "--fail-if takes name~REGEX");
	return 0;
}

static int diff_summaries(const struct diff_opts *o, const struct work *w, bool *failed,
			  struct ut_err *err)
{
	const struct ut_diff_summary d = { .before = o->words.items[0],
					   .after = o->words.items[1],
					   .by_rank = w->by & 1u << UT_BY_RANK,
					   .report = ut_table_report(&o->table, STDOUT_FILENO,
								     USUAL_ROWS),
					   .min_count = o->min_count };

	return ut_diff_summary(&d, &w->rules, failed, err);
}

static int cmd_diff_start(const struct diff_opts *o)
{
	struct work w = { .threads = ut_load_threads(o->threads) };
	struct ut_err err = { 0 };
	bool failed = false, summary = summaries(o) > 0;
	int status;

	if (summary)
		ut_diff_summary_metrics(&w.rules);
	if (cmd_diff_finalize(o, &w, &err) || (summary && check_summaries(o, &w, &err)))
		status = ut_cmd_misuse(&ut_cmd_diff, &err);
	else if (summary ? diff_summaries(o, &w, &failed, &err) : diff(o, &w, &failed, &err))
		status = ut_cmd_fail(&ut_cmd_diff, &err);
	else
		status = failed ? UT_EXIT_CHANGED : UT_EXIT_OK;
	ut_filter_release(&w.filter);
	ut_diff_rules_release(&w.rules);
	ut_buf_release(&w.failed);
	return status;
}

static int cmd_diff(int argc, const char *const *argv)
{
	struct diff_opts opts = {
		.by = "name",
		.confidence = "likely",
		.table = { UT_TABLE_OPTS },
		.min_count = 1,
		.against = -1,
	};
	struct ut_arena arena = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&opts.words, &arena, cmd_diff_make_table(&arena, &opts), argc, argv,
				&err);
	int status;

	if (rc)
		status = ut_cmd_misuse(&ut_cmd_diff, &err);
	else if (opts.help)
		status = ut_cmd_help(&ut_cmd_diff);
	else
		status = cmd_diff_start(&opts);
	ut_filter_opts_release(&opts.filter);
	ut_opt_list_release(&opts.fail_if);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *diff_options(struct ut_arena *a)
{
	return cmd_diff_make_table(a, UT_NEW(a, struct diff_opts));
}

const struct ut_cmd ut_cmd_diff = {
	.name = "diff",
	.usage = "[OPTIONS] BEFORE AFTER | BEFORE... --against AFTER...",
	.summary = "compare runs: what is slower, faster, new, gone",
	.description =
		"Compares the spans of two runs, or of two sets of runs, name by name: how many\n"
		"there were, how long they took, and what that says. Each word is one run; a\n"
		"directory or a quoted pattern is the traces of its ranks. The largest change of\n"
		"total time comes first. With several runs on a side these are the sample, and\n"
		"the verdict is how sure it is that the program has changed; one run on each\n"
		"side only tells how far apart the calls of the two are.\n"
		"\n"
		"Two summaries of analyze --json are compared figure by figure: step times,\n"
		"exposed communication, busy shares, time, energy and power of kernels.\n"
		"\n"
		"Exit status: 0, or 3 if a rule of --fail-if is met; 1 if a trace cannot be read, "
		"or\n"
		"if nothing could be compared for a rule: no spans, no common name, or a name\n"
		"that neither side has.",
	.examples = "  what has changed:\n"
		    "    unitrace diff before.json after.json\n"
		    "  three runs on each side, all ranks of each:\n"
		    "    unitrace diff old1/ old2/ old3/ --against new1/ new2/ new3/\n"
		    "  as a check in CI:\n"
		    "    unitrace diff base.utr now.json --fail-if 'p50>5%,new'\n"
		    "    unitrace diff old_report.json new_report.json --fail-if "
		    "'step>3%,exposed>1ms'\n",
	.options = diff_options,
	.run = cmd_diff,
};
