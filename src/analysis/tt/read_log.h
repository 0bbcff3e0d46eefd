/*
 * read_log.h - reads a device log: any layout, with or without its first lines, by column name.
 *
 * One pass over the bytes. A row costs 24 bytes; what rows of one marker share is kept once.
 */
#ifndef UT_TT_READ_LOG_H
#define UT_TT_READ_LOG_H

#include <sys/types.h>

#include "base/err.h"
#include "tt/devlog.h"

/* The user knows better than the log, or it does not say. */
struct ut_tt_read_opts {
	const char *arch; /* NULL = as the log says */
	uint64_t mhz;     /* 0 = as the log says */
};

/* Up to len bytes; 0 = the end; a negative errno with the reason. */
typedef ssize_t (*ut_tt_read_fn)(void *ctx, void *to, size_t len, struct ut_err *err);

/*
 * Fills log, which the caller has initialised and releases, also on failure. Errors name the line:
 * "PATH:LINE: ...".
 */
int ut_tt_read(struct ut_tt_log *log, const char *path, ut_tt_read_fn read, void *ctx,
	       const struct ut_tt_read_opts *opts, struct ut_err *err) UT_MUST_CHECK;

/* The same from a file, "-" for standard input; gzip and zstd are unpacked. */
int ut_tt_read_file(struct ut_tt_log *log, const char *path, const struct ut_tt_read_opts *opts,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
