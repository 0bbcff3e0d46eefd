/*
 * cmd_merge.c - `unitrace merge`: several traces into one. Also as mergetrace and mergetrace.py.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/str.h"
#include "cmd/words.h"
#include "export/exporter.h"
#include "import/load.h"
#include "merge/merge.h"
#include "merge/merge_inputs.h"
#include "mpijob/rank_inputs.h"
#include "session/output_names.h"
#include "text/out.h"

#define DEFAULT_OUTPUT "unitrace.all.json"

struct merge_opts {
	struct ut_merge_rules rules;
	const char *output, *format, *pids, *ids;
	uint64_t threads;
	bool overwrite, strict, skip_invalid, no_mpi, quiet, help;
};

/* ---- the work -------------------------------------------------------------------------------- */

static int merge_run(struct ut_merge *m, struct ut_err *err)
{
	uint64_t total = 0;
	int64_t text = 0;
	int rc;

	ut_keep_freed();
	if (!m->job->rank)
		text = ut_merge_all_text(m);
	text = ut_mpijob_max(m->job, text);
	for (size_t i = 0; i < m->count; i++)
		total += 2 * m->sizes[i];
	ut_progress_start(m->progress, m->logger, "merge", total / (unsigned int)m->job->ranks);
	rc = text ? ut_merge_text(m, err) : ut_merge_model(m, err);
	ut_progress_done(m->progress);
	return ut_mpijob_agree(m->job, rc, err);
}

static void report_result(const struct ut_merge *m)
{
	size_t used = 0;

	for (size_t i = 0; i < m->count; i++)
		used += !m->files[i].left_out;
	ut_log(UT_INFO, "%" PRIu64 " events of %zu file%s are in %s", m->events, used,
	       used == 1 ? "" : "s", strcmp(m->output, "-") ? m->output : "stdout");
}

static int merge_merge(const struct merge_opts *o, struct ut_merge *m, int argc,
		       const char *const *argv, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_inputs in = { 0 };
	int rc = 0;

	if (!m->job->rank)
		rc = ut_merge_find(m, argc, argv, &in, err);
	rc = ut_mpijob_agree(m->job, rc, err);
	if (!rc) {
		ut_mpijob_list(m->job, &in, &m->sizes);
		m->count = in.count;
		m->files = UT_NEW_N(&arena, struct ut_merge_file, m->count);
	}
	for (size_t i = 0; !rc && i < m->count; i++) {
		m->files[i].path = m->files[i].name = in.paths[i];
		rc = ut_merge_keep(m, i, &arena, err);
	}
	rc = ut_mpijob_agree(m->job, rc, err);
	if (!rc)
		rc = merge_run(m, err);
	if (!rc && !m->job->rank && !o->quiet)
		report_result(m);
	for (size_t i = 0; m->files && i < m->count; i++)
		ut_facts_release(&m->files[i].facts);
	free(m->sizes);
	ut_inputs_release(&in);
	ut_arena_release(&arena);
	return rc;
}

/* ---- the glue -------------------------------------------------------------------------------- */

static int pick_word(const char *option, const char *value, const char *const *words, int *out,
		     struct ut_err *err)
{
	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], value)) {
			*out = i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "--%s does not know '%s'", option, value);
}

static int merge_finalize(struct merge_opts *o, struct ut_merge *m, struct ut_err *err)
{
	static const char *const words[] = { "auto", "keep", "renumber", NULL };
	int pids = 0, ids = 0;
	int rc = pick_word("pids", o->pids, words, &pids, err);

	if (!rc)
		rc = pick_word("ids", o->ids, words, &ids, err);
	if (!rc && ids == UT_MERGE_RENUMBER)
		rc = ut_err_set(err, -EINVAL, "--ids does not know 'renumber'");
	o->rules.pids = (enum ut_merge_numbers)pids;
	o->rules.ids = (enum ut_merge_numbers)ids;
	for (size_t i = 0; !rc && i < o->rules.offsets.count; i++)
		rc = ut_merge_check_offset(o->rules.offsets.items[i], NULL, err);
	m->format = o->format ? ut_exporter_by_name(o->format) : ut_exporter_by_file(o->output);
	if (!rc && o->format && !m->format)
		rc = ut_err_set(err, -EINVAL, "--format does not know '%s'", o->format);
	if (!m->format)
		m->format = &ut_export_chrome; /* whatever its name, as mergetrace.py does */
	return rc;
}

static const struct ut_opt *merge_make_table(struct ut_arena *a, struct merge_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->output,
					"the result (" DEFAULT_OUTPUT "); - is standard output"),
			     "<file>"),
		ut_opt_hidden(ut_opt_flag('f', "overwrite", &o->overwrite,
					  "replace an existing result, as is usual")),
		ut_opt_words(
			ut_opt_str(0, "format", "FORMAT", &o->format,
				   ut_str_fmt(a, "of the result, if its name does not tell: %s",
					      ut_output_format_list(a))),
			ut_output_format_words(a)),
		ut_opt_flag(0, "strict", &o->strict,
			    "give up if a file is no trace, instead of leaving it out"),
		ut_opt_hidden(ut_opt_flag(0, "skip-invalid", &o->skip_invalid,
					  "leave files out that are no traces, as is usual")),
		ut_opt_flag(0, "quiet", &o->quiet, "say nothing but problems"),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_heading("Clocks"),
		ut_opt_flag(
			0, "no-align", &o->rules.no_align,
			"leave all times as they are, whatever the files say about their clocks"),
		ut_opt_strs(0, "offset", "FILE=NS", &o->rules.offsets,
			    "add so many nanoseconds to the times of an input; may be repeated"),
		ut_opt_heading("Processes and numbers"),
		ut_opt_words(
			ut_opt_str(0, "pids", "HOW", &o->pids,
				   "auto: change those that an earlier file uses; keep: files "
				   "with the same pid tell of the same process; renumber: all, "
				   "from 1 on"),
			"auto keep renumber"),
		ut_opt_words(
			ut_opt_str(0, "ids", "HOW", &o->ids,
				   "numbers that pair flows and async events; auto: change those "
				   "that an earlier file uses; keep: they pair across files"),
			"auto keep"),
		ut_opt_heading("Work"),
		ut_opt_range(ut_opt_letter('j', ut_opt_u64(0, "threads", "N", &o->threads,
							   "threads that read (one per core)")),
			     1, 1024),
		ut_opt_flag(0, "no-mpi", &o->no_mpi,
			    "under mpiexec: each process does the whole command by itself"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int merge_work(const struct merge_opts *o, struct ut_merge *m, const struct ut_words *words,
		      struct ut_err *err)
{
	int rc = ut_mpijob_same(m->job, words->count, words->items, err);

	m->output = o->output;
	m->quiet = o->quiet;
	m->rules = o->rules;
	m->out_flags = UT_OUT_OVERWRITE; /* see replaced.h */
	if (o->quiet)
		ut_log_set_level(UT_WARN);
	m->strict = o->strict;
	m->threads = ut_load_threads(o->threads);
	return rc ? rc : merge_merge(o, m, words->count, words->items, err);
}

/* misuse: what was wrong with the words, 0 = nothing. All ranks end alike; rank 0 says why. */
static int merge_start(struct merge_opts *o, int misuse, const struct ut_words *words,
		       struct ut_err *err)
{
	struct ut_mpijob job = { .ranks = 1 };
	struct ut_progress progress = { 0 };
	struct ut_merge m = { .job = &job, .progress = &progress, .logger = ut_log_stderr() };
	struct ut_err note = { 0 };
	int status = UT_EXIT_OK;

	if (!misuse)
		misuse = merge_finalize(o, &m, err);
	if (!o->no_mpi && ut_mpijob_start(&job, &note) == UT_MPIJOB_IDLE)
		return UT_EXIT_OK;
	if (note.text[0])
		ut_log(UT_WARN, "%s", note.text);
	if (ut_mpijob_agree(&job, misuse, err))
		status = job.rank ? UT_EXIT_MISUSE : ut_cmd_misuse(&ut_cmd_merge, err);
	else if (merge_work(o, &m, words, err))
		status = job.rank ? UT_EXIT_FAILED : ut_cmd_fail(&ut_cmd_merge, err);
	ut_mpijob_stop(&job);
	return status;
}

static int cmd_merge(int argc, const char *const *argv)
{
	struct merge_opts opts = { .output = DEFAULT_OUTPUT, .pids = "auto", .ids = "auto" };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int misuse =
		ut_words_parse(&words, &arena, merge_make_table(&arena, &opts), argc, argv, &err);
	int status;

	if (!misuse && opts.help) {
		status = ut_cmd_help(&ut_cmd_merge);
	} else {
		if (!misuse && !words.count)
			misuse = ut_err_set(&err, -EINVAL, "no traces given");
		status = merge_start(&opts, misuse, &words, &err);
	}
	ut_opt_list_release(&opts.rules.offsets);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *merge_options(struct ut_arena *a)
{
	return merge_make_table(a, UT_NEW(a, struct merge_opts));
}

const struct ut_cmd ut_cmd_merge = {
	.name = "merge",
	.usage = "[-o FILE] [OPTIONS] TRACE|DIRECTORY|PATTERN...",
	.summary = "put several traces into one timeline",
	.description =
		"Merges traces of any format; of Chrome JSON, compressed or not, every event is\n"
		"copied as it is, in order of time, in memory that does not depend on the size\n"
		"of the files. Files that say when they were recorded are brought onto one\n"
		"clock. Pids that occur in several files are changed, and so are the numbers\n"
		"that pair events; ranks are told apart and come in order. Inputs are never\n"
		"changed. Under mpiexec the ranks share the work; the result is the same.",
	.examples = "  one timeline of all ranks:\n"
		    "    unitrace merge -o all.json solver.*.json\n"
		    "  of a directory, compressed:\n"
		    "    unitrace merge -o all.json.zst traces/\n"
		    "  with the work shared by 8 processes:\n"
		    "    mpiexec -n 8 unitrace merge -o all.json 'traces/rank*.json'\n",
	.options = merge_options,
	.run = cmd_merge,
};
