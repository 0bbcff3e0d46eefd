/*
 * analyze_options.h - the command line of `unitrace analyze`: that of acelyzer 1.0, 1.2 and
 * 1.3 together.
 *
 * Where both give different numbers for the same input, 1.0 counts, because that is the release
 * its manual describes. An option that 1.0 lacks selects the first release that has it, so that a
 * command line gives what it gave before; --compat decides for itself.
 */
#ifndef UT_CMD_ANALYZE_OPTIONS_H
#define UT_CMD_ANALYZE_OPTIONS_H

#include "acelyzer/analyze_setup.h"
#include "base/opt.h"

struct ut_arena;

/* As typed. */
struct ut_ace_words {
	struct ut_opt_list counters;
	bool counters_given, help, version;
	const char *input, *output, *compiler_log, *compiler_info, *freq, *freq_scaling, *level;
	const char *format, *event_filter, *event_limit, *filter, *overlap, *streams, *time_unit;
	const char *profile, *autopilot, *compat, *layout;
	const char *json, *html, *verify; /* "" = without a value */
	bool flow, coll, summarize, fix, no_sync, sync_v2, keep_prep, keep_names, drop_globals;
	bool skip, split, no_stats, tb, disable_tb, disable_file, intermediate, power_stats;
	bool ignore_crit, sync_to_dev, no_warnings, no_mpi;
	uint64_t threads;
};

const struct ut_opt *ut_ace_option_table(struct ut_arena *a, struct ut_ace_words *w);

/*
 * Spreads what the option parser does not know: -C with any number of values, flags in one word.
 * The words live in the arena. On failure -EINVAL.
 */
int ut_ace_spread(struct ut_arena *a, int argc, const char *const *argv, const char ***words,
		  int *count, struct ut_err *err) UT_MUST_CHECK;

/* Exit status: 0 fine, 1 refused, 2 misuse; err says why. */
int ut_ace_check(const struct ut_ace_words *w, struct ut_ace_setup *s, struct ut_arena *a,
		 struct ut_err *err);
void ut_ace_setup_release(struct ut_ace_setup *s);

#endif
