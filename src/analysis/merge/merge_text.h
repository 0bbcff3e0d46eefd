/*
 * merge_text.h - what merging text alone (merge_text.c) and with others (ranks.c) share.
 */
#ifndef UT_MERGE_MERGE_TEXT_H
#define UT_MERGE_MERGE_TEXT_H

#include "merge/merge.h"
#include "merge/streams.h"

#define UT_MERGE_HEAD "{\"traceEvents\":["

/* Streams, and the descriptors that they read from. {0} is empty. */
struct ut_streams {
	struct ut_stream **items;
	size_t count, cap;
	int *fds;
	size_t fd_count, fd_cap;
};

void ut_streams_add(struct ut_streams *s, struct ut_stream *stream);
void ut_streams_add_fd(struct ut_streams *s, int fd);
void ut_streams_release(struct ut_streams *s); /* closes all of them */

/* A stream for each of the files [first, first + count) that is not left out. */
/* seen: an array of facts to be filled while files are read, by index; NULL if facts are known. */
void ut_merge_open_files(const struct ut_merge *m, size_t first, size_t count,
			 struct ut_facts *seen, struct ut_streams *s);

/*
 * Groups of streams become streams of a temporary file, until there are few enough for the memory
 * and for the number of files that may be open.
 */
int ut_merge_narrow(const struct ut_merge *m, struct ut_streams *s,
		    struct ut_err *err) UT_MUST_CHECK;

/* Comes between the last event and what follows behind it: it may fill in the plan, or fail. */
struct ut_merge_check {
	int (*fn)(struct ut_merge_check *check, struct ut_err *err);
};

/* The result out of all streams, by this process alone. check may be NULL. */
int ut_merge_write(struct ut_merge *m, const struct ut_merge_plan *plan, struct ut_streams *s,
		   struct ut_merge_check *check, struct ut_err *err) UT_MUST_CHECK;

/*
 * Merges while it takes its only look at the files, by a guess at what is in them: merge_once.c.
 * False: there is nothing to guess from, or the guess was wrong, or something failed; then there
 * is no result.
 */
bool ut_merge_once(struct ut_merge *m);

/* Everybody gets the facts of all files; each rank has those of [first, first + count). */
int ut_merge_exchange(struct ut_merge *m, size_t first, size_t count,
		      struct ut_err *err) UT_MUST_CHECK;

/* The result, by all ranks; each begins with the files [first, first + count). */
int ut_merge_together(struct ut_merge *m, const struct ut_merge_plan *plan, size_t first,
		      size_t count, struct ut_err *err) UT_MUST_CHECK;

#endif
