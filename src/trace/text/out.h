/*
 * out.h - where exporters write: a buffer in front of a file that appears under its name only
 * when it is complete.
 *
 * Errors stick: after the first failure every call is a no-op and ut_out_commit() reports it, so
 * a writer checks once, at the end. A name ending in .gz or .zst is compressed on the way.
 * One owner, one thread.
 */
#ifndef UT_TEXT_OUT_H
#define UT_TEXT_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_arena;
struct ut_buf;
struct ut_out;

enum ut_out_flag {
	UT_OUT_OVERWRITE = 1u << 0, /* replace an existing file; otherwise commit is -EEXIST */
	UT_OUT_RENEW = 1u << 1,     /* with it: replacing is expected, the user is not told */
};

/*
 * "-" is standard output; what exists and is not a regular file (a pipe, /dev/null) is written
 * in place. Never NULL; a file that cannot be made is reported by commit.
 */
struct ut_out *ut_out_open(const char *path, unsigned int flags);

/*
 * For names that others may want at the same moment: a file that exists at commit stays, and ours
 * becomes the first free one of wanted-2, wanted-3, ... path is wanted or such a name that was free
 * a moment ago. wanted must outlive the out.
 */
struct ut_out *ut_out_open_numbered(const char *path, const char *wanted);

/* Collects in memory; ut_out_data() gives the bytes, owned by the out, with a NUL behind them. */
struct ut_out *ut_out_open_memory(void);
const char *ut_out_data(const struct ut_out *o, size_t *len);
/* The same bytes, now the caller's to free(); o is freed. */
char *ut_out_take(struct ut_out *o, size_t *len);
/* Starts again, in the same memory. */
void ut_out_clear(struct ut_out *o);

/* Flushes and moves the file to its name; frees o either way. On failure nothing is left. */
int ut_out_commit(struct ut_out *o, struct ut_err *err) UT_MUST_CHECK;

/* The same; *path receives the name that it got, in the arena. Unchanged on failure. */
int ut_out_commit_as(struct ut_out *o, struct ut_arena *a, const char **path,
		     struct ut_err *err) UT_MUST_CHECK;

/* What has gone wrong so far; 0 = nothing. */
int ut_out_error(const struct ut_out *o, struct ut_err *err);

/*
 * How many files have been replaced since the program began, by any thread, and one of them ("" =
 * none): nothing is replaced without a word, see replaced.h.
 */
size_t ut_out_replaced(char *path, size_t size);

/* Throws away what was written. NULL is fine. */
void ut_out_abandon(struct ut_out *o);

/*
 * For writers that need a file of their own, which they open by name (SQLite): the name of an empty
 * file beside the final one, to be complete before commit, which moves it. Nothing else may have
 * been or be written to o. NULL, and an error that sticks, if o is no plain file: standard output,
 * a pipe, compressed.
 */
const char *ut_out_file(struct ut_out *o);

/* An error that the writer has met on its way; sticks like our own. */
void ut_out_fail(struct ut_out *o, int code, const char *text);

void ut_out_write(struct ut_out *o, const void *data, size_t len);
void ut_out_text(struct ut_out *o, const char *s);
void ut_out_fmt(struct ut_out *o, const char *fmt, ...) UT_PRINTF(2, 3);
void ut_out_u64(struct ut_out *o, uint64_t value);
void ut_out_i64(struct ut_out *o, int64_t value);
void ut_out_us(struct ut_out *o, uint64_t ns); /* microseconds with three decimals, exactly */

/*
 * For writers that must be fast: n bytes of the buffer itself, to be filled and then claimed up to
 * end. Never NULL, also after an error.
 */
char *ut_out_reserve(struct ut_out *o, size_t n);
void ut_out_advance(struct ut_out *o, const char *end);

/* The buffer itself, for writers that know no files: what is added to it, before anything else is
 * written, is part of the file. */
struct ut_buf *ut_out_buffer(struct ut_out *o);

/* JSON of another one, which collects in memory, as one line: a blank stands for a line break. */
void ut_out_one_line(struct ut_out *o, const struct ut_out *json);

/* A JSON string with its quotes, valid for any bytes: bad UTF-8 becomes U+FFFD. */
void ut_out_json_str(struct ut_out *o, const char *s, size_t len);
/* A JSON number; what JSON cannot say (NaN, infinities) becomes a string. */
void ut_out_json_double(struct ut_out *o, double value);

#endif
