#include "analyze/filter_options.h"

#include <string.h>

#include "analyze/filter.h"
#include "base/arena.h"
#include "base/opt.h"

const struct ut_opt *ut_filter_table(struct ut_arena *a, const struct ut_opt *own, size_t own_count,
				     struct ut_filter_opts *f)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Which events"),
		ut_opt_strs(0, "name", "PATTERN", &f->names,
			    "only events of this name; * and ? as in file names; may be repeated"),
		ut_opt_strs(0, "not-name", "PATTERN", &f->not_names, "no events of this name"),
		ut_opt_strs(0, "regex", "REGEX", &f->regexes,
			    "only events whose name has this in it (extended regular expression)"),
		ut_opt_strs(0, "cat", "PATTERN", &f->cats, "only events of this category"),
		ut_opt_strs(0, "thread", "PATTERN", &f->tracks,
			    "only threads, streams and counters of this name or number"),
		ut_opt_hidden(ut_opt_strs(0, "track", "PATTERN", &f->tracks, "the same")),
		ut_opt_strs(0, "pid", "N[-M]", &f->pids, "only these processes; N,M,... too"),
		ut_opt_strs(0, "rank", "N[-M]", &f->ranks, "only these ranks; N,M,... too"),
		ut_opt_words(ut_opt_strs(0, "kind", "KIND", &f->kinds,
					 "only span, instant, counter, async, flow, object; "
					 "several with commas"),
			     ut_filter_kind_words),
		ut_opt_str(0, "min-dur", "TIME", &f->min_dur, "no spans shorter than this (20us)"),
		ut_opt_str(0, "max-dur", "TIME", &f->max_dur, "no spans longer than this"),
		ut_opt_str(0, "from", "TIME", &f->from,
			   "from this time after the first event on (1.5s, 20ms); @TIME is a time "
			   "of the trace's own clock"),
		ut_opt_str(0, "to", "TIME", &f->to, "up to this time"),
		ut_opt_flag(0, "clip", &f->clip,
			    "cut spans off where the time begins and ends, rather than take those "
			    "that reach in as a whole"),
		ut_opt_end(),
	};
	const size_t count = sizeof(table) / sizeof(table[0]);
	struct ut_opt *all = UT_NEW_N(a, struct ut_opt, own_count + count);

	memcpy(all, own, own_count * sizeof(*own));
	memcpy(all + own_count, table, count * sizeof(*table));
	return all;
}
