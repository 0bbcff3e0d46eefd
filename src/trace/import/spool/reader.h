/*
 * reader.h - reads what a collector recorded, also when the process died in the middle of it.
 *
 * The file is hostile input: every length and offset is checked against the bytes present, and a
 * damaged part costs only itself. Memory: the strings, the open tasks, what is joined across
 * threads (ids, frames, overlapped tasks) and one chunk at a time; not the file.
 */
#ifndef UT_IMPORT_SPOOL_READER_H
#define UT_IMPORT_SPOOL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_sink;
struct ut_trace;

/* What one look at the header tells. */
struct ut_spool_info {
	char path[4096];
	char name[256]; /* what the program is called */
	uint32_t pid;
	int32_t rank;        /* -1 = none */
	uint64_t start_mono; /* when the collector started, CLOCK_MONOTONIC ns */
	uint64_t bytes;      /* of records that were claimed */
	bool alive;          /* the process is still running on this machine */
};

int ut_spool_info(const char *path, struct ut_spool_info *info, struct ut_err *err) UT_MUST_CHECK;

/* All spools of a session, in order of their start; *list is malloc'ed. 0 spools is no error. */
int ut_spool_list(const char *session_dir, struct ut_spool_info **list, size_t *count,
		  struct ut_err *err) UT_MUST_CHECK;

/*
 * How much has been recorded by now, for those who watch it grow: bytes of records, and a number
 * that differs when there is something new. A look at a few words of each chunk.
 */
struct ut_spool_mark {
	uint64_t bytes, number;
};

int ut_spool_mark(const char *path, struct ut_spool_mark *mark, struct ut_err *err) UT_MUST_CHECK;

/*
 * Follows a recording while it is made. Each look goes on where the last one ended, and gives a
 * store of all there is by then, with its pyramid; numbers of tracks and types stay. What reaches
 * back to earlier times may be missing or late (arguments that are told about a task of which the
 * end was seen, joints of ids): who wants all of it reads the file once it is complete.
 *
 * -ENOTSUP: this one has to be read anew each time, since it is written over (flight recorder) or
 * its clock is not this machine's.
 */
struct ut_spool_live;
struct ut_store;

struct ut_spool_live *ut_spool_live_open(const char *path, struct ut_err *err) UT_MUST_CHECK;
/* 1: there is nothing new, and no store. */
int ut_spool_live_look(struct ut_spool_live *l, struct ut_store *store,
		       struct ut_err *err) UT_MUST_CHECK;
uint64_t ut_spool_live_bytes(const struct ut_spool_live *l); /* of records, by now */
void ut_spool_live_close(struct ut_spool_live *l); /* stores stay until they are released */

/* Fills the trace and feeds every event to the sink. */
int ut_import_spool(const char *path, struct ut_trace *trace, struct ut_sink *sink,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
