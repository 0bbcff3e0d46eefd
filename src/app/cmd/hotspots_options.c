#include "cmd/hotspots_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/opt.h"
#include "base/str.h"
#include "draw/picture.h"
#include "export/exporter.h"
#include "export/out_check.h"
#include "sample/hotspots_table.h"
#include "symbol/debug_file.h"
#include "text/out.h"

/* Options of record that make sense here. */
static const char *const recorded[] = {
	"attach",         "all-processes",  "duration",     "sampling", "sampling-by",
	"sampling-event", "sampling-waits", "call-graph",   "output",   "output-dir-path",
	"overwrite",      "quiet",          "start-paused", "session",  "follow-child-process",
	"wait-children",  "max-size",       "disk-reserve",
};

#define RECORDED (sizeof(recorded) / sizeof(recorded[0]))

static size_t pick(const struct ut_opt *from, struct ut_opt *to)
{
	size_t count = 0;

	for (size_t i = 0; i < RECORDED; i++) {
		for (const struct ut_opt *o = from; o->type; o++) {
			if (o->name && !strcmp(o->name, recorded[i]))
				to[count++] = *o;
		}
	}
	return count;
}

static int set_threads(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_hotspots_opts *o = ctx;

	o->threads = true;
	o->every = !value;
	for (o->which = 0; value && strcmp(ut_threads_table_words[o->which], value) != 0;) {
		if (++o->which == UT_THREADS_TABLES)
			return ut_err_set(err, -EINVAL,
					  "'%s' is none of threads, cpus, regions, waits", value);
	}
	return 0;
}

/* limits: a table of options is one list */
const struct ut_opt *ut_hotspots_table(struct ut_arena *a, struct ut_hotspots_opts *o)
{
	const struct ut_opt own[] = {
		ut_opt_heading("The report"),
		ut_opt_words(ut_opt_str(0, "by", "WHAT", &o->by,
					"a row for each function, own function (with what it calls "
					"in libraries), module, line, python-line, thread, task or "
					"process (own, then function)"),
			     "function own module line python-line thread task process"),
		ut_opt_flag(0, "tree", &o->tree, "who called whom, from the top"),
		ut_opt_flag(0, "bottom-up", &o->bottom_up,
			    "functions by their own time, below each who called it"),
		ut_opt_str(0, "callers", "FUNCTION", &o->callers, "who called this function"),
		ut_opt_str(0, "callees", "FUNCTION", &o->callees, "what this function called"),
		ut_opt_str(0, "annotate", "FUNCTION", &o->annotate,
			   "the lines of this function with the time of each"),
		ut_opt_words(ut_opt_str(0, "show", "WHAT", &o->show,
					"of an annotated function: source, assembly or both "
					"(source)"),
			     "source assembly both"),
		ut_opt_words(ut_opt_str(0, "diff", "BEFORE", &o->before,
					"what has changed since this trace was recorded"),
			     "<file>"),
		ut_opt_flag(0, "folded", &o->folded,
			    "stacks, one to a line, with their time in ns: a;b;c 4711"),
		ut_opt_optional(ut_opt_words(
			ut_opt_call("threads", "WHAT", set_threads, o,
				    "what threads did instead: ran, spun, waited and for what; how "
				    "many CPUs were busy at once; how even parallel regions are. "
				    "All of that, or WHAT: threads, cpus, regions or waits"),
			"threads cpus regions waits")),
		ut_opt_str(0, "percent", "N", &o->percent,
			   "trees: leave out what takes less than N percent (1)"),
		UT_TABLE_OPT_SORT(&o->table),
		UT_TABLE_OPT_ROWS(&o->table, "20; trees: 60"),
		UT_TABLE_OPT_LIMIT(&o->table),
		UT_TABLE_OPT_JSON(&o->table),
		UT_TABLE_OPT_CSV(&o->table),
		UT_TABLE_OPT_CSV_SAFE(&o->table),
		UT_TABLE_OPT_WIDTH(&o->table, "60"),
		UT_TABLE_OPT_COLOUR(&o->table),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_heading("Which samples"),
		ut_opt_str(0, "from", "TIME", &o->filter.from,
			   "from this time after the first event on (1.5s, 20ms); @TIME is a time "
			   "of the trace's own clock"),
		ut_opt_str(0, "to", "TIME", &o->filter.to, "up to this time"),
		ut_opt_str(0, "window", "FROM,TO", &o->window, "both at once"),
		ut_opt_strs(0, "thread", "PATTERN", &o->filter.tracks,
			    "only threads of this name or number; * and ? as in file names"),
		ut_opt_strs(0, "pid", "N[-M]", &o->filter.pids, "only these processes"),
		ut_opt_strs(0, "rank", "N[-M]", &o->filter.ranks, "only these ranks"),
		ut_opt_str(0, "task", "PATTERN", &o->task, "only inside tasks of this name"),
		ut_opt_str(0, "function", "PATTERN", &o->function,
			   "only with this function on the stack"),
		ut_opt_str(0, "sampled", "EVENT", &o->sampled,
			   "of a trace with samples of several events: which (CPU time)"),
		ut_opt_heading("Names"),
		ut_opt_words(ut_opt_strs(0, "debug-dir", "DIR", &o->debug_folders,
					 "look for separate debug info here, too"),
			     "<dir>"),
		ut_opt_flag(0, "debuginfod", &o->debuginfod,
			    "ask the servers of DEBUGINFOD_URLS for debug info that is not here"),
		ut_opt_heading("The recording"),
	};
	const size_t count = sizeof(own) / sizeof(own[0]);
	struct ut_opt *table = UT_NEW_N(a, struct ut_opt, count + RECORDED + 1);

	memcpy(table, own, sizeof(own));
	ut_record_opts_init(&o->record);
	pick(ut_record_table(a, &o->record), table + count);
	return table; /* zeros end it */
}

/* ---- what was given ------------------------------------------------------------------------ */

static int finalize_by(struct ut_hotspots_opts *o, struct ut_err *err)
{
	for (o->how = 0; o->how < UT_HOT_BYS; o->how++) {
		if (!strcmp(ut_hot_by_words[o->how], o->by ? o->by : "function"))
			return 0;
	}
	return ut_err_set(err, -EINVAL,
			  "--by: '%s' is none of function, own, module, line, python-line, thread, "
			  "task, process",
			  o->by);
}

/* One report at a time. */
static int finalize_report(struct ut_hotspots_opts *o, struct ut_err *err)
{
	const struct {
		bool given;
		const char *option;
	} reports[] = {
		[UT_HOT_ROWS] = { o->by && strcmp(o->by, "function") != 0, "--by" },
		[UT_HOT_TREE] = { o->tree, "--tree" },
		[UT_HOT_BOTTOM_UP] = { o->bottom_up, "--bottom-up" },
		[UT_HOT_CALLERS] = { o->callers, "--callers" },
		[UT_HOT_CALLEES] = { o->callees, "--callees" },
		[UT_HOT_ANNOTATE] = { o->annotate, "--annotate" },
		[UT_HOT_DIFF] = { o->before, "--diff" },
		[UT_HOT_FOLDED] = { o->folded, "--folded" },
		[UT_HOT_THREADS] = { o->threads, "--threads" },
	};
	const char *first = NULL;

	o->report = UT_HOT_ROWS;
	for (unsigned int i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		if (!reports[i].given)
			continue;
		if (first)
			return ut_err_set(err, -EINVAL, "%s and %s are two reports; ask for one",
					  first, reports[i].option);
		first = reports[i].option;
		o->report = i;
	}
	return 0;
}

static int check_sort(const struct ut_hotspots_opts *o, struct ut_err *err)
{
	if (o->report == UT_HOT_ROWS)
		return ut_hotspots_check_sort(o->table.sort, err);
	if (o->report == UT_HOT_DIFF)
		return ut_prof_check_diff_sort(o->table.sort, err);
	if (o->report == UT_HOT_THREADS)
		return ut_threads_check_sort(o->which, o->table.sort, err);
	if (o->report != UT_HOT_ANNOTATE && o->report != UT_HOT_FOLDED)
		return ut_call_tree_check_sort(o->table.sort, err);
	return o->table.sort ? ut_err_set(err, -EINVAL, "--sort: this report has its order") : 0;
}

static int finalize_numbers(struct ut_hotspots_opts *o, struct ut_arena *a, struct ut_err *err)
{
	const char *comma = o->window ? strchr(o->window, ',') : NULL;
	char *end;

	o->least = strtod(o->percent, &end);
	if (*end || end == o->percent || !(o->least >= 0 && o->least <= 100))
		return ut_err_set(err, -EINVAL, "--percent: '%s' is no number from 0 to 100",
				  o->percent);
	if (o->window && !comma)
		return ut_err_set(err, -EINVAL, "--window: '%s' is not FROM,TO", o->window);
	if (comma) {
		o->filter.from = ut_arena_copy(a, o->window, (size_t)(comma - o->window));
		o->filter.to = comma + 1;
	}
	if (strcmp(o->show, "source") != 0 && strcmp(o->show, "assembly") != 0 &&
	    strcmp(o->show, "both") != 0)
		return ut_err_set(err, -EINVAL, "--show: '%s' is none of source, assembly, both",
				  o->show);
	return 0;
}

/* A picture is no trace: that one keeps its usual name. */
static int finalize_output(struct ut_hotspots_opts *o, struct ut_err *err)
{
	struct ut_output_opts *out = &o->record.plan.out;
	enum ut_picture_format format =
		out->output ? ut_picture_format_of(out->output) : UT_PICTURE_NONE;

	if (format != UT_PICTURE_NONE) {
		o->picture = out->output;
		out->output = NULL;
		if (ut_picture_check(format, err))
			return -EINVAL;
	}
	return out->output ? 0 : ut_output_add_formats(out, ut_export_utr.name, err);
}

int ut_hotspots_finalize(struct ut_hotspots_opts *o, struct ut_arena *a, struct ut_err *err)
{
	struct ut_session_plan *plan = &o->record.plan;
	int rc = ut_table_opts_check(&o->table, err);

	rc = rc ? rc : finalize_by(o, err);
	rc = rc ? rc : finalize_report(o, err);
	rc = rc ? rc : check_sort(o, err);
	rc = rc ? rc : finalize_numbers(o, a, err);
	rc = rc ? rc : finalize_output(o, err);
	plan->sampling.hz = plan->sampling.hz ? plan->sampling.hz : UT_SAMPLING_HZ;
	plan->out.no_summary = true;
	plan->sampling.waits |= o->threads;
	return rc ? rc : ut_record_check(&o->record, err);
}

int ut_hotspots_allow(const struct ut_hotspots_opts *o, struct ut_err *err)
{
	for (size_t i = 0; i < o->debug_folders.count; i++)
		ut_debug_file_look_in(o->debug_folders.items[i]);
	if (o->debuginfod && !ut_debug_file_allow_servers())
		return ut_err_set(err, -ENOTSUP,
				  "--debuginfod: its client is not installed (Debian: "
				  "libdebuginfod1)");
	return 0;
}

void ut_hotspots_opts_release(struct ut_hotspots_opts *o)
{
	ut_filter_opts_release(&o->filter);
	ut_opt_list_release(&o->debug_folders);
	ut_record_opts_release(&o->record);
}
