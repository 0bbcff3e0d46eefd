/*
 * analyze_options.c - from words to a setup that can run.
 */
#include "cmd/analyze_options.h"

#include <errno.h>
#include <float.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acelyzer/reports.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/regex.h"
#include "base/str.h"
#include "cmd/cmd.h"

#define DEFAULT_CORE   1100.0
#define MOST_THREADS   256
#define STRICT_PERCENT 95.0

static const struct {
	const char *name;
	unsigned int bit;
} counters[] = {
	{ "power_ts4", UT_ACE_POWER_TS4 },   { "power_ts3", UT_ACE_POWER_TS3 },
	{ "coll_bw", UT_ACE_COLL_BW },       { "bandwidth", UT_ACE_BANDWIDTH },
	{ "prep_queue", UT_ACE_PREP_QUEUE }, { "rcu_util", UT_ACE_RCU_UTIL },
};

static const char *const overlaps[] = { "tid", "drop", "async", "warn", "shift" };

/* A word of a list by its number; -1 = none of them. */
static int analyze_options_word_of(const char *word, const char *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (!strcmp(word, list[i]))
			return i;
	}
	return -1;
}

static int check_counters(const struct ut_ace_words *w, struct ut_ace_setup *s, struct ut_err *err)
{
	s->opts.counters = w->counters_given ? 0
					     : UT_ACE_POWER_TS4 | UT_ACE_COLL_BW |
						       UT_ACE_PREP_QUEUE | UT_ACE_RCU_UTIL;
	for (size_t i = 0; i < w->counters.count; i++) {
		size_t k = 0;

		while (k < sizeof(counters) / sizeof(counters[0]) &&
		       strcmp(w->counters.items[i], counters[k].name) != 0)
			k++;
		if (k == sizeof(counters) / sizeof(counters[0])) {
			ut_err_set(
				err, -EINVAL,
				"argument -C/--counter: invalid choice: '%s' (choose from "
				"'power_ts4', 'power_ts3', 'coll_bw', 'bandwidth', 'prep_queue', "
				"'rcu_util')",
				w->counters.items[i]);
			return UT_EXIT_MISUSE;
		}
		s->opts.counters |= counters[k].bit;
	}
	return UT_EXIT_OK;
}

static bool read_mhz(const char *text, size_t len, double *out)
{
	char copy[64], *end;

	if (!len || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	*out = strtod(copy, &end);
	return end != copy && end[strspn(end, " ")] == 0;
}

/* SOC or SOC:CORE. What follows a second colon is ignored, as it always was. */
static int check_freq(const char *text, struct ut_ace_setup *s, struct ut_err *err)
{
	const char *colon = strchr(text, ':');
	size_t first = colon ? (size_t)(colon - text) : strlen(text);

	s->opts.core = DEFAULT_CORE;
	s->soc_only = colon ? NULL : text;
	if (!read_mhz(text, first, &s->opts.soc) ||
	    (colon && !read_mhz(colon + 1, strcspn(colon + 1, ":"), &s->opts.core))) {
		ut_err_set(err, -EINVAL, "Frequency setting requires float values.");
		return UT_EXIT_FAILED;
	}
	if (!(s->opts.soc > 0 && s->opts.core > 0 && s->opts.soc < 1e9 && s->opts.core < 1e9)) {
		ut_err_set(
			err, -EINVAL,
			"Frequency settings are required to be a positive non-zero float value.");
		return UT_EXIT_FAILED;
	}
	return UT_EXIT_OK;
}

/* The place for the pattern of a member: the last one that is given counts, as it always did. */
static struct ut_ace_filter *filter_for(struct ut_ace_setup *s, const char *path)
{
	for (size_t i = 0; i < s->filter_count; i++) {
		struct ut_ace_filter *f = &s->filters[i];

		if (strcmp(f->path, path))
			continue;
		regfree(f->regex);
		free(f->regex);
		s->filter_lost = f->pattern;
		return f;
	}
	s->filters = ut_grow(s->filters, s->filter_count + 1, &s->filter_cap, sizeof(*s->filters));
	return &s->filters[s->filter_count++];
}

static int add_filter(struct ut_ace_setup *s, struct ut_arena *a, const char *item, size_t len,
		      struct ut_err *err)
{
	const char *colon = memchr(item, ':', len);
	size_t rest = colon ? (size_t)(item + len - colon - 1) : 0;
	struct ut_err inner = { 0 };
	const char *path;
	regex_t *regex;

	/* like the reference: an entry that is no KEY:PATTERN does not count */
	if (!colon || memchr(colon + 1, ':', rest)) {
		s->filter_odd = ut_arena_copy(a, item, len);
		return UT_EXIT_OK;
	}
	regex = ut_make(sizeof(*regex));
	if (ut_regex(regex, colon + 1, rest, &inner)) {
		free(regex);
		ut_err_set(err, -EINVAL, "argument --event_filter: %s", inner.text);
		return UT_EXIT_MISUSE;
	}
	path = ut_arena_copy(a, item, (size_t)(colon - item));
	*filter_for(s, path) = (struct ut_ace_filter){ .path = path,
						       .pattern = ut_arena_copy(a, colon + 1, rest),
						       .regex = regex };
	return UT_EXIT_OK;
}

static int check_filters(const char *text, struct ut_ace_setup *s, struct ut_arena *a,
			 struct ut_err *err)
{
	int status = UT_EXIT_OK;

	for (const char *p = text; p && *p && status == UT_EXIT_OK;) {
		size_t len = strcspn(p, ",");

		status = add_filter(s, a, p, len, err);
		p += len + (p[len] == ',');
	}
	s->opts.filters = s->filters;
	s->opts.filter_count = s->filter_count;
	return status;
}

static bool read_limit(struct ut_ace_limit *l, struct ut_arena *a, struct ut_str key,
		       struct ut_str value)
{
	struct ut_json_number n;
	bool number = ut_json_number(value, &n) != UT_JSON_NOT;

	if (ut_str_is(key, "no_count_types") && *value.ptr == '"')
		l->free_types = ut_arena_copy(a, value.ptr + 1, value.len - 2);
	else if (!number)
		return false;
	else if (ut_str_is(key, "skip"))
		l->skip = (int64_t)n.f64;
	else if (ut_str_is(key, "count"))
		l->count = n.f64 < 9e18 ? (int64_t)n.f64 : INT64_MAX;
	else if (ut_str_is(key, "ts_start"))
		l->ts_start = n.f64;
	else if (ut_str_is(key, "ts_end"))
		l->ts_end = n.f64;
	else
		return false;
	return true;
}

static int check_limit(const char *text, struct ut_ace_setup *s, struct ut_arena *a,
		       struct ut_err *err)
{
	struct ut_ace_limit *l = &s->opts.limit;
	struct ut_str key, value;
	struct ut_json j;
	bool ok;

	*l = (struct ut_ace_limit){ .count = INT64_MAX, .ts_end = DBL_MAX, .free_types = "M" };
	if (!text)
		return UT_EXIT_OK;
	ut_json_init_text(&j, text, strlen(text));
	ok = ut_json_peek(&j) == '{';
	if (ok) {
		ut_json_enter(&j);
		while (ok && ut_json_member(&j, &key))
			ok = ut_json_skip(&j, &value) && read_limit(l, a, key, value);
		ok &= !j.trouble;
	}
	ut_json_release(&j);
	if (ok)
		return UT_EXIT_OK;
	ut_err_set(err, -EINVAL,
		   "argument --event_limit: invalid value: '%s'; a JSON object with skip, count, "
		   "ts_start, ts_end, no_count_types is expected",
		   text);
	return UT_EXIT_MISUSE;
}

static int analyze_options_choose(const char *option, const char *word, const char *const *list,
				  int n, int *out, struct ut_err *err)
{
	struct ut_buf b = { 0 };

	*out = analyze_options_word_of(word, list, n);
	if (*out >= 0)
		return UT_EXIT_OK;
	for (int i = 0; i < n; i++)
		ut_buf_fmt(&b, "%s'%s'", i ? ", " : "", list[i]);
	ut_err_set(err, -EINVAL, "argument %s: invalid choice: '%s' (choose from %s)", option, word,
		   b.data);
	ut_buf_release(&b);
	return UT_EXIT_MISUSE;
}

/* Options with a fixed set of values. */
static int check_choices(const struct ut_ace_words *w, struct ut_ace_setup *s, struct ut_err *err)
{
	static const char *const levels[] = { "0", "1", "2", "3", "4" };
	static const char *const formats[] = { "json", "pddf", "protobuf", "text" };
	static const char *const units[] = { "ns", "ms" };
	static const char *const compats[] = { "1.0", "1.2", "1.3" };
	static const char *const layouts[] = { "time", "cycles" };
	int overlap, layout, unused, status;

	status = analyze_options_choose("-D/--loglevel", w->level, levels, 5, &s->level, err);
	if (!status)
		status = analyze_options_choose("-f/--format", w->format, formats, 4, &unused, err);
	if (!status)
		status =
			analyze_options_choose("--time_unit", w->time_unit, units, 2, &unused, err);
	if (!status)
		status = analyze_options_choose("-O/--overlap", w->overlap, overlaps, 5, &overlap,
						err);
	if (!status)
		status = analyze_options_choose("--category_layout", w->layout, layouts, 2, &layout,
						err);
	if (!status && w->compat)
		status = analyze_options_choose("--compat", w->compat, compats, 3, &unused, err);
	if (status)
		return status;
	s->opts.overlap = (enum ut_ace_overlap)overlap;
	s->layout = layout ? UT_ACE_LAYOUT_CYCLES : UT_ACE_LAYOUT_TIME;
	s->format = w->format;
	s->time_unit = w->time_unit;
	return UT_EXIT_OK;
}

/* The first option that release 1.0 does not have; NULL = none. */
static const char *new_option(const struct ut_ace_words *w)
{
	bool profile = w->profile && (!strcmp(w->profile, "torch_minimal.json") ||
				      !strcmp(w->profile, "verification.json"));

	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ !strcmp(w->format, "text"), "--format text" },
		{ w->event_filter, "--event_filter" },
		{ w->event_limit, "--event_limit" },
		{ w->streams, "--max_tid_streams" },
		{ w->power_stats, "--power-stats" },
		{ w->verify && !*w->verify, "--verify" },
		{ w->compiler_info, "--compiler_info" },
		{ profile, "--profile" },
		{ !strcmp(w->format, "pddf"), "--format pddf" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i].given)
			return options[i].name;
	}
	return NULL;
}

static int check_streams(const char *text, struct ut_ace_setup *s, struct ut_err *err)
{
	char *end;

	s->opts.tid_streams = 5;
	if (!text)
		return UT_EXIT_OK;
	s->opts.tid_streams = strtoll(text, &end, 10);
	if (end != text && !*end)
		return UT_EXIT_OK;
	ut_err_set(err, -EINVAL, "argument --max_tid_streams: invalid int value: '%s'", text);
	return UT_EXIT_MISUSE;
}

/* As asked for, else the first one that has the options. */
static enum ut_ace_release release_of(const struct ut_ace_words *w, const char *newer_because)
{
	if (w->compat)
		return !strcmp(w->compat, "1.3")   ? UT_ACE_1_3
		       : !strcmp(w->compat, "1.2") ? UT_ACE_1_2
						   : UT_ACE_1_0;
	if (!strcmp(w->format, "text"))
		return UT_ACE_1_3;
	return newer_because ? UT_ACE_1_2 : UT_ACE_1_0;
}

/* What -V of release 1.3 writes is another thing. Exit status. */
static int check_summary(const struct ut_ace_words *w, const struct ut_ace_setup *s,
			 struct ut_err *err)
{
	bool verification = ut_ace_verifies(&s->opts);

	if (!strcmp(w->format, "text") && !verification)
		ut_err_set(err, -EINVAL,
			   "argument -f/--format: text is for the report of -V in release 1.3");
	else if (verification && (w->json || w->html))
		ut_err_set(err, -EINVAL,
			   "%s: -V of release 1.3 analyses nothing; use --verify=report",
			   w->json ? "--json" : "--html");
	else
		return UT_EXIT_OK;
	return UT_EXIT_MISUSE;
}

static void copy_flags(const struct ut_ace_words *w, struct ut_ace_setup *s)
{
	struct ut_ace_opts *o = &s->opts;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	o->flow = w->flow;
	o->coll_events = w->coll;
	o->summarize = w->summarize;
	o->flex_ts_fix = w->fix;
	o->no_mp_sync = w->no_sync;
	o->mp_sync_v2 = w->sync_v2;
	o->keep_prep = w->keep_prep;
	o->keep_names = w->keep_names;
	o->drop_globals = w->drop_globals;
	o->skip_events = w->skip;
	o->split_events = w->split;
	o->ignore_crit = w->ignore_crit;
	o->stats = !w->no_stats;
	o->refine = !w->disable_tb;
	o->power_stats = w->power_stats;
	o->verify = s->report.verify == UT_ACE_VERIFY_ONLY;
	o->keep_phases = w->filter ? w->filter : "";
	o->threads = (unsigned int)(w->threads ? w->threads : cores > 0 ? (uint64_t)cores : 1);
	s->input = w->input;
	s->logs = w->compiler_info ? w->compiler_info : w->compiler_log;
	s->tb = w->tb && !w->disable_tb;
	s->write_trace = !w->disable_file;
	s->intermediate = w->intermediate;
	s->output = w->output                        ? w->output
		    : !strcmp(w->format, "protobuf") ? "processed_trace.pftrace"
						     : "processed_trace.json";
	s->newer_because = w->compat ? NULL : new_option(w);
	o->release = release_of(w, s->newer_because);
	if (!w->output && ut_ace_verifies(o))
		s->output = "report.json";
	o->no_coll_bw = o->release >= UT_ACE_1_2 && !w->counters_given && !w->coll;
	/* --tb of release 1.2 leaves complete torch traces alone */
	s->profile = w->profile                          ? w->profile
		     : o->verify                         ? "verification.json"
		     : w->tb && o->release >= UT_ACE_1_2 ? "torch_minimal.json"
							 : "default.json";
}

/* "strict" or "strict:99.5". */
static bool read_strict(const char *word, double *percent)
{
	char *end;

	*percent = STRICT_PERCENT;
	if (strncmp(word, "strict", 6))
		return false;
	if (!word[6])
		return true;
	if (word[6] != ':' || !word[7])
		return false;
	*percent = strtod(word + 7, &end);
	return !*end && *percent >= 0 && *percent <= 100;
}

/* --verify=HOW, and where reports go. Exit status. */
static int check_reports(const struct ut_ace_words *w, struct ut_ace_report_wants *r,
			 struct ut_err *err)
{
	const char *how = w->verify;

	r->json = w->json;
	r->html = w->html;
	if (!how)
		return UT_EXIT_OK;
	if (!*how)
		r->verify = UT_ACE_VERIFY_ONLY;
	else if (!strcmp(how, "report"))
		r->verify = UT_ACE_VERIFY_REPORT;
	else if (read_strict(how, &r->least))
		r->verify = UT_ACE_VERIFY_STRICT;
	/* the other stream if a report takes this one */
	r->text = ut_ace_report_speaks(r) ? "/dev/stderr" : "-";
	if (r->verify)
		return UT_EXIT_OK;
	ut_err_set(err, -EINVAL,
		   "argument -V/--verify: invalid choice: '%s' (choose from 'report', 'strict', "
		   "'strict:PERCENT')",
		   how);
	return UT_EXIT_MISUSE;
}

int ut_ace_check(const struct ut_ace_words *w, struct ut_ace_setup *s, struct ut_arena *a,
		 struct ut_err *err)
{
	double scaling = 0;
	int status;

	*s = (struct ut_ace_setup){ 0 };
	if (!w->input) {
		ut_err_set(err, -EINVAL, "one of the arguments -i/--input --version is required");
		return UT_EXIT_MISUSE;
	}
	status = check_choices(w, s, err);
	if (!status)
		status = check_counters(w, s, err);
	if (!status)
		status = check_limit(w->event_limit, s, a, err);
	if (!status)
		status = check_filters(w->event_filter, s, a, err);
	if (!status)
		status = check_streams(w->streams, s, err);
	if (!status)
		status = check_reports(w, &s->report, err);
	if (!status)
		status = check_freq(w->freq, s, err);
	if (status)
		return status;
	if (!read_mhz(w->freq_scaling, strlen(w->freq_scaling), &scaling)) {
		ut_err_set(err, -EINVAL, "argument --freq_scaling: invalid float value: '%s'",
			   w->freq_scaling);
		return UT_EXIT_MISUSE;
	}
	if (scaling != 0) {
		ut_err_set(err, -EINVAL,
			   "Use of obsolete cmdline '--freq_scaling'. Use "
			   "'--freq=<soc>:<core>' instead!");
		return UT_EXIT_FAILED;
	}
	copy_flags(w, s);
	return check_summary(w, s, err);
}

void ut_ace_setup_release(struct ut_ace_setup *s)
{
	for (size_t i = 0; i < s->filter_count; i++) {
		regfree(s->filters[i].regex);
		free(s->filters[i].regex);
	}
	free(s->filters);
	*s = (struct ut_ace_setup){ 0 };
}
