/*
 * cmd_analyze.c - `unitrace analyze`, also called acelyzer: traces of AIU jobs, put right and
 * analysed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "acelyzer/profile.h"
#include "acelyzer/stage.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "base/term.h"
#include "cmd/analyze_input.h"
#include "cmd/analyze_options.h"
#include "cmd/analyze_report.h"
#include "cmd/cmd.h"
#include "export/out_check.h"
#include "mpijob/mpijob.h"
#include "text/out.h"
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

/* What looks at the run while it goes on. */
struct watch {
	const struct ut_ace_setup *setup;
	struct ut_ace_extra extra; /* for reports */
	char *other;               /* what made the output, as JSON */
	bool reports, early;       /* early: while the stages run */
};

static int after_stage(void *ctx, struct ut_aiu *a, unsigned int number, const char *stage,
		       struct ut_err *err)
{
	struct watch *d = ctx;
	struct ut_buf b = { 0 };
	int rc;

	if (d->early)
		ut_ace_extra_after(&d->extra, a, stage);
	if (!d->setup->intermediate)
		return 0;
	ut_buf_fmt(&b, "%s_%02u_%s", d->setup->output, number, stage);
	rc = ut_ace_write_raw(a, b.data, b.data, err);
	ut_buf_release(&b);
	return rc;
}

static void read_logs(struct ut_aiu *a, const struct ut_ace_setup *s)
{
	struct ut_ace_complog_reader r = { .table = &a->table,
					   .messages = &a->messages,
					   .core = s->opts.core,
					   .release = s->opts.release };
	size_t n = 1, i = 0;

	if (!s->logs || !(s->opts.counters & UT_ACE_RCU_UTIL))
		return;
	for (const char *p = s->logs; *p; p++)
		n += *p == ',';
	if (n > 1)
		ut_ace_say(&a->messages, UT_ACE_INFO, "UTL: Multi-AIU logs provided. Entries: %zu",
			   n);
	a->logs.items = calloc(n, sizeof(*a->logs.items));
	if (!a->logs.items)
		abort();
	a->logs.count = n;
	for (const char *p = s->logs; i < n; i++) {
		size_t len = strcspn(p, ",");
		char *path = strndup(p, len);

		ut_ace_complog_read(&r, &a->logs.items[i], path ? path : "");
		free(path);
		p += len + (p[len] == ',');
	}
}

/* otherData of the output: what made it. */
static char *describe_run(const struct ut_aiu *a, const struct ut_ace_setup *s, int argc,
			  const char *const *argv)
{
	struct ut_out *o = ut_out_open_memory();
	struct ut_buf line = { 0 };
	size_t len;
	char *text;

	ut_buf_text(&line, "acelyzer");
	for (int i = 0; i < argc; i++)
		ut_buf_fmt(&line, " %s", argv[i]);
	ut_out_text(o, "{\"Application\":\"Acelyzer: Trace Post-Processing Tool "
		       "(unitrace " UT_VERSION ")\",\"CmdLine\":");
	ut_out_json_str(o, line.data, line.len);
	ut_out_fmt(o, ",\"Settings\":{\"compat\":\"%s\",\"freq\":[%g,%g],\"input\":",
		   s->opts.release >= UT_ACE_1_2 ? "1.2" : "1.0", s->opts.soc, s->opts.core);
	ut_out_json_str(o, s->input, strlen(s->input));
	ut_out_text(o, ",\"output\":");
	ut_out_json_str(o, s->output, strlen(s->output));
	ut_out_text(o, ",\"profile\":");
	ut_out_json_str(o, s->profile, strlen(s->profile));
	ut_out_text(o, "},\"Jobs\":[");
	for (size_t i = 0; i < a->table.job_count; i++) {
		ut_out_text(o, i ? "," : "");
		ut_out_json_str(o, a->table.jobs[i].path, strlen(a->table.jobs[i].path));
	}
	ut_out_text(o, "]}");
	text = strndup(ut_out_data(o, &len), 1u << 24);
	ut_out_abandon(o);
	ut_buf_release(&line);
	return text;
}

static int write_trace(struct ut_aiu *a, const struct ut_ace_setup *s, struct ut_ace_frame *f,
		       struct ut_err *err)
{
	size_t ranks;
	int rc;

	/* however it was made, a trace in order is what every viewer likes best */
	rc = ut_ace_pass_sort_final(a);
	if (rc)
		return rc;
	if (s->tb) {
		rc = ut_ace_write_tensorboard(a, f, s->output, s->write_trace, &ranks, err);
		if (!rc && ranks == 1)
			ut_ace_say(&a->messages, UT_ACE_WARN,
				   "TB_EXPORTER: Only 1 AIU is used, no distributed view");
		return rc;
	}
	if (!s->write_trace)
		return 0;
	if (!strcmp(s->format, "pddf"))
		return ut_ace_write_frame(a, s->output, err);
	if (!strcmp(s->format, "protobuf"))
		return ut_ace_write_perfetto(a, s->output, err);
	return ut_ace_write_trace(a, f, s->output, err);
}

static int write_results(struct ut_aiu *a, const struct ut_ace_setup *s, struct ut_ace_frame *f,
			 struct ut_err *err)
{
	int rc = 0;

	if (a->found.category_count)
		rc = ut_ace_write_categories(a, s->output, s->layout, err);
	if (!rc && a->found.has_stats)
		rc = ut_ace_write_stats(a, s->output, err);
	if (!rc && a->found.has_comm)
		rc = ut_ace_write_comm(a, s->output, err);
	if (!rc)
		rc = write_trace(a, s, f, err);
	return rc;
}

/* Said before hours of work, not after. */
static int check_places(const struct ut_ace_setup *s, struct ut_err *err)
{
	const char *const names[] = { s->write_trace ? s->output : NULL, s->report.json,
				      s->report.html };
	int rc = 0;

	/* An empty name stands for one beside the trace. */
	for (size_t i = 0; !rc && i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i] && (!i || names[i][0]))
			rc = ut_out_check(names[i], NULL, UT_OUT_OVERWRITE, err);
	}
	return rc;
}

/* The work. */
static int analyze(struct ut_aiu *a, struct watch *watch, int argc, const char *const *argv,
		   struct ut_err *err)
{
	const struct ut_ace_setup *s = watch->setup;
	struct ut_ace_profile profile;
	struct ut_ace_frame frame = { .trace_name = s->output, .time_unit = s->time_unit };
	bool look = s->intermediate || watch->early;
	struct ut_ace_profile_rules rules = { s->opts.release, &a->messages };
	int rc = ut_ace_profile_read(&profile, &rules, s->profile, err);

	if (!rc)
		rc = check_places(s, err);
	if (!rc)
		rc = ut_ace_input(a, s, &frame, err);
	if (rc)
		goto out;
	read_logs(a, s);
	if (watch->early)
		ut_ace_extra_init(&watch->extra, a);
	rc = ut_ace_run(a, &profile, look ? after_stage : NULL, watch, err);
	if (rc)
		goto out;
	frame.other = watch->other = describe_run(a, s, argc, argv);
	rc = write_results(a, s, &frame, err);
out:
	ut_ace_frame_release(&frame);
	return rc;
}

/* In the words of the reference, which prints its table of patterns. */
static void say_filters(struct ut_aiu *a, const struct ut_ace_setup *s)
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

static void say_start(struct ut_aiu *a, const struct ut_ace_setup *s)
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
			"COMPAT: %s is an option of release 1.2, so are the numbers (--compat=1.0 "
			"for those of 1.0)",
			s->newer_because);
	say_filters(a, s);
}

static int run(const struct ut_ace_setup *s, int argc, const char *const *argv)
{
	bool aside = ut_ace_report_speaks(&s->report), trusted = true;
	struct console console = { .level = s->level,
				   .colour = !aside && ut_term_has_colour(STDOUT_FILENO),
				   .to = aside ? stderr : stdout };
	struct watch watch = { .setup = s, .reports = ut_ace_reports(&s->report) };
	struct ut_err err = { 0 };
	struct ut_aiu a;
	int rc;

	ut_ace_init(&a, &s->opts);
	a.messages.tell = print_message;
	a.messages.ctx = &console;
	if (s->opts.counters & UT_ACE_POWER_TS3 && s->opts.counters & UT_ACE_POWER_TS4) {
		ut_ace_say(&a.messages, UT_ACE_ERROR,
			   "power_ts3 and power_ts4 are mutually exclusive");
		ut_ace_release(&a);
		return UT_EXIT_FAILED;
	}
	say_start(&a, s);
	watch.early = watch.reports && s->report.verify != UT_ACE_VERIFY_ONLY;
	rc = analyze(&a, &watch, argc, argv, &err);
	if (!rc) {
		ut_ace_say(&a.messages, UT_ACE_INFO, "Finishing Test parser. Return code= 0");
		ut_ace_say(&a.messages, UT_ACE_INFO, "Exported events:  %zu", a.table.seq_count);
	}
	fflush(stdout);
	if (!rc && watch.reports)
		rc = ut_ace_report_make(&a, &watch.extra, s, watch.other, &trusted, &err);
	fflush(stdout);
	ut_ace_extra_release(&watch.extra);
	free(watch.other);
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
	struct ut_mpijob spread = { .ranks = 1 };
	struct ut_err note = { 0 }, err = { 0 };
	int64_t status;

	if (!alone && ut_mpijob_start(&spread, &note) == UT_MPIJOB_IDLE)
		return UT_EXIT_OK;
	if (note.text[0])
		ut_log(UT_WARN, "%s", note.text);
	if (ut_mpijob_same(&spread, argc, argv, &err))
		status = spread.rank ? UT_EXIT_FAILED : ut_cmd_fail(&ut_cmd_analyze, &err);
	else
		status = ut_mpijob_max(&spread, spread.rank ? 0 : run(s, argc, argv));
	ut_mpijob_stop(&spread);
	return (int)status;
}

/* What the reference calls a failure rather than a misuse. */
static int refuse(const struct ut_err *err)
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
			status = refuse(&err);
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
