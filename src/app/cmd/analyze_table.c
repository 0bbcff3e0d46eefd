/*
 * analyze_table.c - the options of `unitrace analyze` as a table, and words that need spreading
 * before the parser sees them.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "cmd/analyze_options.h"

#define COUNTERS "power_ts4 power_ts3 coll_bw bandwidth prep_queue rcu_util"

#define MOST_OPTIONS 80

/* The table under construction. */
struct options {
	struct ut_opt *items;
	size_t count;
};

static void analyze_table_add(struct options *o, const struct ut_opt *rows, size_t n)
{
	memcpy(o->items + o->count, rows, n * sizeof(*rows));
	o->count += n;
}

static void add_files(struct options *o, struct ut_ace_words *w)
{
	const struct ut_opt rows[] = {
		ut_opt_heading("Input and output"),
		ut_opt_words(ut_opt_str('i', "input", "FILES", &w->input,
					"files and quoted patterns, separated by commas or blanks"),
			     "<file>"),
		ut_opt_words(
			ut_opt_str(
				'o', "output", "FILE", &w->output,
				"the trace to write (processed_trace.json); tables get its name"),
			"<file>"),
		ut_opt_words(
			ut_opt_str(
				'c', "compiler_log", "FILE[,FILE...]", &w->compiler_log,
				"compiler log with ideal cycles; several: one per rank, in order"),
			"<file>"),
		ut_opt_words(ut_opt_str(0, "compiler_info", "FILE|DIR", &w->compiler_info,
					"the same, or a folder with inductor-spyre/*/perf (1.2)"),
			     "<file>"),
		ut_opt_words(ut_opt_str('f', "format", "NAME", &w->format,
					"json, pddf: spans as a text table (1.2), protobuf: for "
					"Perfetto, text: "
					"the report of -V (1.3)"),
			     "json pddf protobuf text"),
		ut_opt_flag(0, "tb", &w->tb,
			    "write for TensorBoard: .pt.trace.json, a file per rank"),
		ut_opt_flag(0, "disable_tb", &w->disable_tb,
			    "keep full names; no TensorBoard files"),
		ut_opt_flag(0, "disable_file", &w->disable_file, "write tables, but not the trace"),
		ut_opt_words(ut_opt_str(0, "time_unit", "UNIT", &w->time_unit,
					"displayTimeUnit of the trace: ns (default) or ms"),
			     "ns ms"),
		ut_opt_flag('I', "intermediate", &w->intermediate,
			    "write the events after every stage to OUTPUT_NN_STAGE"),
		ut_opt_flag('t', "no_stats", &w->no_stats,
			    "no summary, active and ts_analysis files"),
		ut_opt_words(
			ut_opt_str(0, "category_layout", "NAME", &w->layout,
				   "columns of the categories table: time (default) or cycles"),
			"time cycles"),
	};

	analyze_table_add(o, rows, sizeof(rows) / sizeof(rows[0]));
}

static void add_clocks(struct options *o, struct ut_ace_words *w)
{
	const struct ut_opt rows[] = {
		ut_opt_heading("Clocks"),
		ut_opt_str(0, "freq", "SOC[:CORE]", &w->freq,
			   "MHz of the cycle counter and of the ideal cycles (1000.0:1100.0)"),
		ut_opt_flag(0, "flex_ts_fix", &w->fix,
			    "move device events into their AIU Roundtrip"),
		ut_opt_flag('M', "no_mp_sync", &w->no_sync,
			    "do not align ranks by their collectives"),
		ut_opt_flag('S', "use_mp_sync_v2", &w->sync_v2,
			    "align ranks by shift and dilation"),
		ut_opt_flag(0, "ignore_crit", &w->ignore_crit,
			    "go on if stamps of an event go backwards"),
	};

	analyze_table_add(o, rows, sizeof(rows) / sizeof(rows[0]));
}

static void add_events(struct options *o, struct ut_ace_words *w)
{
	const struct ut_opt rows[] = {
		ut_opt_heading("Events"),
		ut_opt_words(ut_opt_strs('C', "counter", "NAME", &w->counters,
					 "counters to make, any number after -C; none: no counters "
					 "(power_ts4 coll_bw prep_queue rcu_util)"),
			     COUNTERS),
		ut_opt_words(
			ut_opt_str(
				'O', "overlap", "HOW", &w->overlap,
				"spans that do not nest: tid (default), drop, async, warn, shift"),
			"tid drop async warn shift"),
		ut_opt_str(0, "max_tid_streams", "N", &w->streams,
			   "threads that overlaps may use; -1: the next number (1.2: 5)"),
		ut_opt_str(0, "event_filter", "KEY:RE[,...]", &w->event_filter,
			   "drop spans whose KEY (args.Type) matches (1.2)"),
		ut_opt_str(0, "event_limit", "JSON", &w->event_limit,
			   "{\"skip\":N,\"count\":N,\"ts_start\":T,\"ts_end\":T} (1.2)"),
		ut_opt_str('F', "filter", "PHASES", &w->filter, "keep only these phases, e.g. C"),
		ut_opt_flag(0, "keep_prep", &w->keep_prep,
			    "keep Cmpt Prep spans beside their counter"),
		ut_opt_flag(0, "keep_names", &w->keep_names,
			    "keep numbers in the names of kernels"),
		ut_opt_flag(0, "drop_globals", &w->drop_globals, "drop round trips and the like"),
		ut_opt_flag('k', "skip_events", &w->skip, "leave more pairs out of the power"),
		ut_opt_flag('s', "split_events", &w->split,
			    "split device events in three (obsolete)"),
	};

	analyze_table_add(o, rows, sizeof(rows) / sizeof(rows[0]));
}

static void add_communication(struct options *o, struct ut_ace_words *w)
{
	const struct ut_opt rows[] = {
		ut_opt_heading("Communication"),
		ut_opt_flag(0, "flow", &w->flow,
			    "arrows between sends and receives of collectives"),
		ut_opt_flag('R', "build_coll_event", &w->coll,
			    "with --flow: a span per rank for each collective"),
		ut_opt_flag(0, "comm_summarize_seq", &w->summarize,
			    "the steps of a send or receive as one event"),
	};

	analyze_table_add(o, rows, sizeof(rows) / sizeof(rows[0]));
}

static void add_reports(struct options *o, struct ut_ace_words *w)
{
	const struct ut_opt rows[] = {
		ut_opt_heading("Reports"),
		ut_opt_words(
			ut_opt_str(0, "html", "[FILE]", &w->html,
				   "a page with step times, overlap, stragglers, kernels, energy "
				   "(OUTPUT_report.html)"),
			"<file>"),
		ut_opt_words(ut_opt_str(0, "json", "[FILE]", &w->json,
					"the same for programs (OUTPUT_report.json)"),
			     "<file>"),
		ut_opt_words(
			ut_opt_str('V', "verify", "[HOW]", &w->verify,
				   "tell how much can be trusted: alone, and change nothing (1.2, "
				   "1.3); "
				   "=report, and analyse; =strict[:PERCENT], and end with status "
				   "1 if there are errors or less than 95 % is sure"),
			"report strict"),
	};

	analyze_table_add(o, rows, sizeof(rows) / sizeof(rows[0]));
}

static void add_running(struct options *o, struct ut_ace_words *w)
{
	const struct ut_opt rows[] = {
		ut_opt_heading("Running"),
		ut_opt_words(
			ut_opt_str('P', "profile", "FILE", &w->profile,
				   "which stages run; also default, everything, torch_minimal, "
				   "verification (.json)"),
			"<file>"),
		ut_opt_words(ut_opt_str(0, "compat", "RELEASE", &w->compat,
					"numbers of acelyzer 1.0, 1.2 or 1.3 (the first that has "
					"the options)"),
			     "1.0 1.2 1.3"),
		ut_opt_flag(0, "power-stats", &w->power_stats,
			    "tell power with and without kernels (1.2)"),
		ut_opt_words(ut_opt_str('D', "loglevel", "N", &w->level,
					"0 errors, 1 warnings, 2 progress (default), 3, 4 more"),
			     "0 1 2 3 4"),
		ut_opt_range(
			ut_opt_u64(0, "threads", "N", &w->threads, "threads to use (0: all cores)"),
			0, 256),
		ut_opt_flag(0, "no-mpi", &w->no_mpi,
			    "under mpiexec: each process does the whole command by itself"),
		ut_opt_flag(0, "version", &w->version, "print the version"),
		ut_opt_flag('h', "help", &w->help, "show this help"),
	};

	analyze_table_add(o, rows, sizeof(rows) / sizeof(rows[0]));
}

/* Accepted because scripts have them. */
static void add_hidden(struct options *o, struct ut_ace_words *w)
{
	const struct ut_opt rows[] = {
		ut_opt_hidden(ut_opt_str(0, "compiler", "FILE", &w->compiler_log, "")),
		ut_opt_hidden(ut_opt_flag(0, "h", &w->help, "")), /* --html is no reading of it */
		ut_opt_hidden(ut_opt_flag(0, "counter-list", &w->counters_given, "")),
		ut_opt_hidden(ut_opt_str(0, "freq_scaling", "X", &w->freq_scaling, "")),
		ut_opt_hidden(ut_opt_flag('T', "sync_to_dev", &w->sync_to_dev, "")),
		ut_opt_hidden(ut_opt_str(0, "autopilot_data", "FILE", &w->autopilot, "")),
		ut_opt_hidden(ut_opt_flag(0, "disable_input_warnings", &w->no_warnings, "")),
	};

	analyze_table_add(o, rows, sizeof(rows) / sizeof(rows[0]));
}

/* limits: one table of options, one row after the other, NOLINTNEXTLINE(readability-function-size)
 */
const struct ut_opt *ut_ace_option_table(struct ut_arena *a, struct ut_ace_words *w)
{
	struct options o = { .items = UT_NEW_N(a, struct ut_opt, MOST_OPTIONS) };
	const struct ut_opt end = ut_opt_end();

	add_files(&o, w);
	add_clocks(&o, w);
	add_events(&o, w);
	add_communication(&o, w);
	add_reports(&o, w);
	add_running(&o, w);
	add_hidden(&o, w);
	analyze_table_add(&o, &end, 1);
	w->format = "json";
	w->time_unit = "ns";
	w->overlap = "tid";
	w->layout = "time";
	w->level = "2";
	w->freq = "1000.0:1100.0";
	w->freq_scaling = "0";
	return o.items;
}

struct spread {
	struct ut_arena *arena;
	const char **words;
	int count;
};

static void analyze_table_push(struct spread *s, const char *word)
{
	s->words[s->count++] = word;
}

/* Options look like options; negative numbers do not. */
static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

/* -C, --counter or a beginning of it that no other option has. */
static bool is_counter(const char *word)
{
	size_t len = strcspn(word, "=");

	if (word[0] != '-')
		return false;
	if (word[1] == 'C')
		return true;
	return len >= 5 && len <= 9 && !strncmp(word, "--counter", len);
}

/* Options that may stand without a value: how much of the word names them, dashes included. */
static const struct {
	const char *name;
	size_t least;
	bool next; /* a word behind it is its value */
} optional[] = {
	{ "--json", 3, true },
	{ "--html", 4, true },
	{ "--verify", 6, false },
};

/* Such an option without "="; how many words it takes, 0 = it is none. */
static int spread_optional(struct spread *s, int argc, const char *const *argv)
{
	size_t len = strlen(argv[0]);

	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		bool takes = optional[i].next && argc > 1 && !is_option(argv[1]);

		if (len < optional[i].least || strncmp(argv[0], optional[i].name, len) != 0)
			continue;
		analyze_table_push(
			s, ut_str_fmt(s->arena, "%s=%s", optional[i].name, takes ? argv[1] : ""));
		return takes ? 2 : 1;
	}
	return 0;
}

/* Only the last -C counts. */
static void forget_counters(struct spread *s)
{
	int kept = 0;

	for (int i = 0; i < s->count; i++) {
		if (strncmp(s->words[i], "--counter=", 10) != 0)
			s->words[kept++] = s->words[i];
	}
	s->count = kept;
}

/* Takes the values behind a -C; how many words that were. */
static int spread_counter(struct spread *s, int argc, const char *const *argv)
{
	const char *glued =
		argv[0][1] == 'C' ? (argv[0][2] ? argv[0] + 2 : NULL) : strchr(argv[0], '=');
	int n = 1;

	forget_counters(s);
	analyze_table_push(s, "--counter-list");
	if (glued) {
		analyze_table_push(s,
				   ut_str_fmt(s->arena, "--counter=%s", glued + (*glued == '=')));
		return n;
	}
	for (; n < argc && !is_option(argv[n]); n++)
		analyze_table_push(s, ut_str_fmt(s->arena, "--counter=%s", argv[n]));
	return n;
}

/* Does the option take the next word? Unknown ones do not: the parser will complain. */
static bool takes_value(const struct ut_opt *table, const char *word)
{
	size_t len = strlen(word);
	bool found = false;

	if (word[1] != '-') {
		for (; table->type; table++) {
			if (table->letter && table->letter == word[1])
				return ut_opt_has_value(table) && !word[2];
		}
		return false;
	}
	if (strchr(word, '='))
		return false;
	for (; table->type; table++) {
		if (!table->name || strncmp(table->name, word + 2, len - 2))
			continue;
		if (!table->name[len - 2])
			return ut_opt_has_value(table);
		found |= !table->hidden && ut_opt_has_value(table);
	}
	return found;
}

/* Does the letter stand for an option without a value? */
static bool is_flag(char c)
{
	return c && strchr("IkMRSstTVh", c);
}

/* "-tk" is "-t -k"; the last letter may take a value. */
static void spread_flags(struct spread *s, const char *word)
{
	const char *p = word + 1;

	for (; is_flag(*p); p++)
		analyze_table_push(s, *p == 'V' ? "--verify=" : ut_str_fmt(s->arena, "-%c", *p));
	if (*p)
		analyze_table_push(s, ut_str_fmt(s->arena, "-%s", p));
}

int ut_ace_spread(struct ut_arena *a, int argc, const char *const *argv, const char ***words,
		  int *count, struct ut_err *err)
{
	size_t room = 2;
	struct spread s = { .arena = a };
	const struct ut_opt *table = ut_ace_option_table(a, UT_NEW(a, struct ut_ace_words));
	bool value = false;
	int taken;

	for (int i = 0; i < argc; i++)
		room += strlen(argv[i]) + 2;
	s.words = UT_NEW_N(a, const char *, room);
	for (int i = 0; i < argc; i++) {
		const char *w = argv[i];

		if (value) { /* belongs to the option before */
			analyze_table_push(&s, w);
			value = false;
		} else if (is_counter(w)) {
			i += spread_counter(&s, argc - i, argv + i) - 1;
		} else if ((taken = spread_optional(&s, argc - i, argv + i)) > 0) {
			i += taken - 1;
		} else if (w[0] == '-' && (w[1] == 'V' || (is_flag(w[1]) && w[2]))) {
			spread_flags(&s, w);
			value = takes_value(table, s.words[s.count - 1]);
		} else if (is_option(w)) {
			analyze_table_push(&s, w);
			value = takes_value(table, w);
		} else {
			/* perhaps it is the value of an option that is written wrong */
			if (ut_opt_parse(table, s.count, s.words, err) < 0)
				return -EINVAL;
			return ut_err_set(err, -EINVAL,
					  "unrecognized arguments: %s; inputs follow -i", w);
		}
	}
	*words = s.words;
	*count = s.count;
	return 0;
}
