/*
 * cmd_analyze.c - `unitrace analyze`, also called acelyzer: traces of AIU jobs, put right and
 * analysed.
 */
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "acelyzer/analyze_job.h"
#include "acelyzer/reports.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/str.h"
#include "base/term.h"
#include "cmd/analyze_options.h"
#include "cmd/cmd.h"
#include "mpijob/mpijob.h"
#include "version.h"

/* How the console speaks. */
struct console {
	int level;
	bool colour;
	FILE *to;
};

/* "2026-01-31T12:00:00.123456     INFO text ": every part of a line is followed by a blank. */
static void print_message(void *ctx, const struct ut_ace_message *m)
{
	static const char *const names[] = { "ERROR", "WARNING", "INFO", "DEBUG", "TRACE" };
	static const char *const colours[] = { "\033[91m", "\033[93m", "", "", "" };
	const struct console *c = ctx;
	bool colour = c->colour && m->level <= UT_ACE_WARN;
	struct timeval now;
	struct tm tm;
	char day[32];

	if ((int)m->level > c->level)
		return;
	gettimeofday(&now, NULL);
	localtime_r(&now.tv_sec, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(c->to, "%s.%06ld %s%8s%s %s \n", day, (long)now.tv_usec,
		colour ? colours[m->level] : "", names[m->level], colour ? "\033[0m" : "", m->text);
}

/* In the words of the reference, which prints its table of patterns. */
static void say_filters(struct ut_ace_analysis *a, const struct ut_ace_setup *s)
{
	struct ut_buf list = { 0 };

	if (s->filter_odd)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "FLTR: key:regex pattern not found in event filter. Skipping %s",
			   s->filter_odd);
	if (s->filter_lost)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "FLTR: '%s' does not count, another pattern for its key follows; use "
			   "one with | in it",
			   s->filter_lost);
	if (!s->filter_count)
		return;
	for (size_t i = 0; i < s->filter_count; i++)
		ut_buf_fmt(&list, "%s'%s': re.compile('%s')", i ? ", " : "", s->filters[i].path,
			   s->filters[i].pattern);
	ut_ace_say(&a->messages, UT_ACE_INFO,
		   "FLTR: Event filtering is active. %zu filters enabled: {%s}", s->filter_count,
		   list.data);
	ut_buf_release(&list);
}

static void say_start(struct ut_ace_analysis *a, const struct ut_ace_setup *s)
{
	if (s->soc_only)
		printf("HINT: --freq only specified SoC freqency %s. Using default core freq %.1f. "
		       "You may specify both by using: --freq=<soc>:<core>\n",
		       s->soc_only, s->opts.core);
	if (s->opts.counters & UT_ACE_RCU_UTIL && !s->logs)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "rcu_util counter requested but no compiler log%s provided. No "
			   "utilization will be plotted.",
			   s->opts.release >= UT_ACE_1_2 ? "/inductor spyre directory path" : "");
	ut_ace_say(&a->messages, UT_ACE_INFO, "Starting Test parser");
	if (s->newer_because)
		ut_ace_say(
			&a->messages, UT_ACE_INFO,
			"COMPAT: %s is an option of release %s, so are the numbers (--compat=1.0 "
			"for those of 1.0)",
			s->newer_because, s->opts.release >= UT_ACE_1_3 ? "1.3" : "1.2");
	say_filters(a, s);
}

static int analyze_run(const struct ut_ace_setup *s, int argc, const char *const *argv)
{
	bool aside = ut_ace_report_speaks(&s->report), trusted = true;
	struct console console = { .level = s->level,
				   .colour = !aside && ut_term_has_colour(STDOUT_FILENO),
				   .to = aside ? stderr : stdout };
	const struct ut_ace_request request = { .setup = s, .argc = argc, .argv = argv };
	struct ut_err err = { 0 };
	struct ut_ace_analysis a;
	int rc;

	ut_ace_init(&a, &s->opts);
	a.messages.notify = print_message;
	a.messages.ctx = &console;
	if (s->opts.counters & UT_ACE_POWER_TS3 && s->opts.counters & UT_ACE_POWER_TS4) {
		ut_ace_say(&a.messages, UT_ACE_ERROR,
			   "power_ts3 and power_ts4 are mutually exclusive");
		ut_ace_release(&a);
		return UT_EXIT_FAILED;
	}
	say_start(&a, s);
	rc = ut_ace_analyze(&request, &a, &trusted, &err);
	ut_ace_release(&a);
	if (rc)
		return ut_cmd_fail(&ut_cmd_analyze, &err);
	return trusted ? UT_EXIT_OK : UT_EXIT_FAILED;
}

/*
 * Under mpiexec the command is started once per rank, but there is one trace to write: rank 0 does
 * that, and all end with its status. The stages need all events of all files on one clock, so
 * sharing them out would save little.
 */
static int run_once(const struct ut_ace_setup *s, bool alone, int argc, const char *const *argv)
{
	struct ut_mpijob job = { .ranks = 1 };
	struct ut_err note = { 0 }, err = { 0 };
	int64_t status;

	if (!alone && ut_mpijob_start(&job, &note) == UT_MPIJOB_IDLE)
		return UT_EXIT_OK;
	if (note.text[0])
		ut_log(UT_WARN, "%s", note.text);
	if (ut_mpijob_same(&job, argc, argv, &err))
		status = job.rank ? UT_EXIT_FAILED : ut_cmd_fail(&ut_cmd_analyze, &err);
	else
		status = ut_mpijob_max(&job, job.rank ? 0 : analyze_run(s, argc, argv));
	ut_mpijob_stop(&job);
	return (int)status;
}

/* What the reference calls a failure rather than a misuse. */
static int analyze_refuse(const struct ut_err *err)
{
	printf("ERROR: %s\n", err->text);
	return UT_EXIT_FAILED;
}

static int cmd_analyze(int argc, const char *const *argv)
{
	struct ut_ace_words words = { 0 };
	struct ut_ace_setup setup = { 0 };
	struct ut_arena arena = { 0 };
	struct ut_err err = { 0 };
	const char **spread = NULL;
	int count = 0, status;
	const struct ut_opt *table = ut_ace_option_table(&arena, &words);

	if (ut_ace_spread(&arena, argc, argv, &spread, &count, &err) ||
	    ut_opt_parse(table, count, spread, &err) < 0) {
		status = ut_cmd_misuse(&ut_cmd_analyze, &err);
	} else if (words.help) {
		status = ut_cmd_help(&ut_cmd_analyze);
	} else if (words.version) {
		printf(UT_VERSION "\n");
		status = UT_EXIT_OK;
	} else {
		status = ut_ace_check(&words, &setup, &arena, &err);
		if (status == UT_EXIT_MISUSE)
			status = ut_cmd_misuse(&ut_cmd_analyze, &err);
		else if (status)
			status = analyze_refuse(&err);
		else
			status = run_once(&setup, words.no_mpi, argc, argv);
	}
	ut_ace_setup_release(&setup);
	ut_opt_list_release(&words.counters);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *analyze_options(struct ut_arena *a)
{
	return ut_ace_option_table(a, UT_NEW(a, struct ut_ace_words));
}

const struct ut_cmd ut_cmd_analyze = {
	.name = "analyze",
	.usage = "-i FILES [-c LOG] [-o FILE] [OPTIONS]",
	.summary = "put traces of AIU jobs right and analyse them (acelyzer)",
	.description =
		"Reads flex and torch traces of jobs on AIU devices, maps the cycles of the\n"
		"devices to the host's clock, aligns ranks, and writes one trace with counters\n"
		"for power, utilisation and bandwidth, and tables of kernels and categories.\n\n"
		"Takes the command lines of acelyzer 1.0 and 1.2 and gives their numbers; the\n"
		"program is also installed under that name. A program to record that is called\n"
		"analyze: unitrace -- analyze",
	.examples = "  acelyzer -i \"jobs/hap-*.json\" -c compile.log -o hap_trace.json\n"
		    "  unitrace analyze -i \"rank_*.json\" --freq 560:800 --flow -R --tb\n"
		    "  unitrace analyze -i \"rank_*.json\" --html --verify=strict\n",
	.options = analyze_options,
	.run = cmd_analyze,
};
