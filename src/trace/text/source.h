/*
 * source.h - the bytes of an input, wherever they come from: a file, standard input ("-"), gzip,
 * zstd, xz or bzip2 by content. No mapping: a file that is cut short while we read it is an end,
 * not a signal. One owner, one thread.
 */
#ifndef UT_TEXT_SOURCE_H
#define UT_TEXT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define UT_SOURCE_HEAD 4096u

struct ut_source {
	const char *path; /* as the user wrote it, for messages; not owned */
	int fd;
	bool seekable;             /* plain bytes of a regular file: ut_source_read_at() works */
	uint64_t size;             /* of the file; 0 = unknown */
	uint64_t at;               /* plain bytes handed out so far */
	uint64_t taken;            /* bytes of the file used so far: progress */
	uint64_t most;             /* bytes of the file that may be used: it seems to end there */
	char head[UT_SOURCE_HEAD]; /* the first bytes, after decompression */
	size_t head_len;
	void *unpack; /* decompressor */
	bool cut;     /* the compressed data ended in the middle; set when read() gives 0 */
};

/* Opens and looks at the first bytes; on failure nothing is left open. */
int ut_source_open(struct ut_source *s, const char *path, struct ut_err *err) UT_MUST_CHECK;
/* The same for the first bytes of a file, most of them: a look at what is there before the rest. */
int ut_source_open_head(struct ut_source *s, const char *path, uint64_t most,
			struct ut_err *err) UT_MUST_CHECK;
void ut_source_close(struct ut_source *s);

/* The next bytes, from the start: up to len, 0 at the end, negative errno with the reason. */
ssize_t ut_source_read(struct ut_source *s, void *to, size_t len, struct ut_err *err);

/* Bytes at a place; only if seekable; any thread. Short only at the end of the file. */
ssize_t ut_source_read_at(const struct ut_source *s, void *to, size_t len, uint64_t offset,
			  struct ut_err *err);

#endif
