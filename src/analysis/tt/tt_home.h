/*
 * tt_home.h - where tt-metal's profiler keeps its files, when nobody says it.
 */
#ifndef UT_TT_TT_HOME_H
#define UT_TT_TT_HOME_H

struct ut_arena;
struct ut_logger;

/* The profiler's folder of 2023, below $TT_METAL_HOME; NULL: that is not set. */
const char *ut_tt_profiler(struct ut_arena *a);

/* Default input and output of a command. */
struct ut_tt_files {
	const char *input;  /* in the current folder, or in the profiler's of 2023 */
	const char *tracy;  /* in the folder of the Tracy-based profiler; "" = that folder */
	const char *output; /* beside the input of 2023 */
};

/*
 * The defaults as they are here: those of the current folder if the input is there or nowhere else,
 * then those below $TT_METAL_HOME, then of $TT_METAL_PROFILER_DIR or $TT_METAL_HOME/generated/
 * profiler. Which, is told unless it is the first. tracy is not filled in.
 */
struct ut_tt_files ut_tt_find(struct ut_arena *a, const struct ut_tt_files *defaults,
			      const struct ut_logger *logger);

#endif
