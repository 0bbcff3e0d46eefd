/*
 * spill.h - a stream of frames in a file, for merges of more files than can be open at once,
 * and for what one rank of a parallel merge hands to the others.
 *
 * The bytes are as in memory: such a file lives as long as the command and is read by the same
 * program.
 */
#ifndef UT_MERGE_SPILL_H
#define UT_MERGE_SPILL_H

#include "merge/streams.h"

/* A place between two events of a spill. */
struct ut_spill_cut {
	uint64_t frame; /* where the frame of the next event lies in the file */
	uint64_t event; /* the index of that event in its frame */
	uint64_t text;  /* bytes of events in front of it, in all */
};

/* Where to start a search: a frame, the key of its first event, and the text in front of it. */
struct ut_spill_mark {
	int64_t key;
	uint64_t frame, text;
};

#define UT_SPILL_MARKS 1024u

struct ut_spill {
	struct ut_runs runs; /* first: what is put here is written */
	struct ut_frame frame;
	int fd;
	const char *path; /* for messages; not owned */
	uint64_t start;   /* where it begins in the file; several spills may share one */
	uint64_t size;    /* where it ends so far */
	uint64_t text;    /* of all events in it */
	uint64_t frames;
	struct ut_spill_mark *marks; /* of every step-th frame, so that there are never too many */
	size_t mark_count;
	uint64_t step;
};

/* At the end of the file, where fd stands, too; fd is the caller's. */
void ut_spill_start(struct ut_spill *s, int fd, uint64_t start, const char *path);

/* Writes what is left. */
int ut_spill_finish(struct ut_spill *s, struct ut_err *err) UT_MUST_CHECK;
void ut_spill_release(struct ut_spill *s);

/* Of a finished spill whose file can be read, too: in front of the first event from key on. */
int ut_spill_find(const struct ut_spill *s, int64_t key, struct ut_spill_cut *cut,
		  struct ut_err *err) UT_MUST_CHECK;
struct ut_spill_cut ut_spill_begin(const struct ut_spill *s);
struct ut_spill_cut ut_spill_end(const struct ut_spill *s);

/* The other way round: a file that is one spill. fd is the caller's, and must stay open. */
struct ut_stream *ut_spill_open(int fd, const char *path);

/* The events between two cuts. */
struct ut_stream *ut_spill_open_part(int fd, const char *path, struct ut_spill_cut from,
				     struct ut_spill_cut to);

/*
 * A file without a name in the directory of beside (or in the current one), for reading and
 * writing; -errno. It vanishes with its last descriptor.
 */
int ut_spill_unnamed(const char *beside);

#endif
