/*
 * merge_spill.h - a stream of frames in a file, for merges of more files than can be open at once,
 * and for what one rank of a parallel merge hands to rank 0.
 *
 * The bytes are as in memory: such a file lives as long as the command and is read by the same
 * program.
 */
#ifndef UT_CMD_MERGE_SPILL_H
#define UT_CMD_MERGE_SPILL_H

#include "cmd/merge_streams.h"

struct ut_spill {
	struct ut_runs runs; /* first: what is put here is written */
	struct ut_frame frame;
	int fd;
	const char *path; /* for messages; not owned */
};

/* fd is the caller's. */
void ut_spill_start(struct ut_spill *s, int fd, const char *path);

/* Writes what is left; releases the spill, also on failure. */
int ut_spill_finish(struct ut_spill *s, struct ut_err *err) UT_MUST_CHECK;

/* The other way round, from where fd stands, which is the stream's from now on. */
struct ut_stream *ut_spill_open(int fd, const char *path);

/*
 * A file without a name in the directory of beside (or in the current one), for reading and
 * writing; -errno. It vanishes with its last descriptor.
 */
int ut_spill_unnamed(const char *beside);

#endif
