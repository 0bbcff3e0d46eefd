/*
 * filter_why.h - which condition has left nothing of a trace, and what was perhaps meant.
 */
#ifndef UT_ANALYZE_FILTER_WHY_H
#define UT_ANALYZE_FILTER_WHY_H

struct ut_buf;
struct ut_filter_opts;
struct ut_store;

/*
 * Appends the conditions that nothing in the store fits, each taken alone, with the nearest name
 * that there is: "--name blurr (did you mean 'blur'?)". If each of several fits something, lists
 * them and says that they do not fit together.
 */
void ut_filter_why(struct ut_buf *b, const struct ut_filter_opts *opts,
		   const struct ut_store *store);

/* The name of an event that is nearest to word; NULL if none is near enough to ask. */
const char *ut_filter_nearest(const struct ut_store *store, const char *word);

#endif
