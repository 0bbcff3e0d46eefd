/*
 * hotspots.h - a profile as rows: self and total of functions, modules, lines, threads, tasks.
 *
 * Self is the weight of samples whose innermost frame belongs to a row. Total is that of samples
 * with such a frame anywhere on their stack, once each: a function that calls itself does not count
 * twice. Of Python's lines self is what was spent there and in anything that is not Python and was
 * called from there. Of tasks self is what was spent while no other was open inside, total what was
 * spent while it was open at all. Of own functions, those of the program itself (whose.h), it is
 * what was spent there and in libraries, interpreters and the kernel, called from there.
 *
 * Owner: the caller. Strings are those of the profile, which has to stay.
 */
#ifndef UT_SAMPLE_HOTSPOTS_H
#define UT_SAMPLE_HOTSPOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtab.h"
#include "sample/prof.h"

/* what rows stand for, its word on the command line, its title */
#define UT_HOT_BY_LIST(X)                                                                          \
	X(FUNCTION, "function", "Function")                                                        \
	X(OWN, "own", "Own function")                                                              \
	X(MODULE, "module", "Module")                                                              \
	X(LINE, "line", "Line")                                                                    \
	X(PYTHON_LINE, "python-line", "Python line")                                               \
	X(THREAD, "thread", "Thread")                                                              \
	X(TASK, "task", "Task")                                                                    \
	X(PROCESS, "process", "Process")

enum ut_hot_by {
#define UT_HOT_BY_ENUM(by, word, title) UT_HOT_BY_##by,
	UT_HOT_BY_LIST(UT_HOT_BY_ENUM)
#undef UT_HOT_BY_ENUM
	UT_HOT_BYS
};

extern const char *const ut_hot_by_words[UT_HOT_BYS];
extern const char *const ut_hot_by_titles[UT_HOT_BYS];

struct ut_hot_row {
	struct ut_prof_frame frame;        /* as far as it is the same for all of the row */
	const struct ut_prof_group *group; /* of threads, tasks, processes; else NULL */
	uint64_t self, total;
	uint64_t samples; /* that are self */
};

struct ut_hotspots {
	enum ut_hot_by by;
	const struct ut_prof *profile;
	struct ut_hot_row *rows; /* by self, then total, then name */
	size_t count, cap;
	struct ut_hashtab by_key;
};

void ut_hotspots_init(struct ut_hotspots *h, const struct ut_prof *p, enum ut_hot_by by);
void ut_hotspots_release(struct ut_hotspots *h);

/*
 * How much of the profile's weight libraries took for functions of the program itself: by that much
 * rows of own functions tell more than rows of functions. 0 where there is one such row at most.
 */
uint64_t ut_hotspots_for_own(const struct ut_prof *p);

/* "[outside any task]", "worker (4711)": what the row is called. Appends it. */
void ut_hot_row_name(const struct ut_hotspots *h, const struct ut_hot_row *r, struct ut_buf *b);

#endif
