/*
 * output_log.h - what a program says, kept in a result: all of it up to a size, then its beginning
 * and its end. A place in it is counted from the beginning, whether what was there is still kept or
 * not.
 *
 *     output.txt         the beginning
 *     output.more.txt    the end, if there is more; its first line says how much lies between
 */
#ifndef UT_WORKBENCH_OUTPUT_LOG_H
#define UT_WORKBENCH_OUTPUT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_buf;

#define UT_OUTPUT_HEAD (512u << 10)
#define UT_OUTPUT_TAIL (512u << 10) /* is kept at least, and four times as much at most */

/* One writer. {-1, -1} is closed. */
struct ut_output_log {
	int at;         /* the result's folder, not ours */
	int head, tail; /* files */
	uint64_t head_bytes, tail_bytes;
	uint64_t gap; /* bytes between the two that are gone */
};

int ut_output_log_open(struct ut_output_log *l, int at, struct ut_err *err) UT_MUST_CHECK;
void ut_output_log_add(struct ut_output_log *l, const char *text, size_t len);
void ut_output_log_close(struct ut_output_log *l);

/*
 * What was said from a place on, at most so many bytes, added to text. *from becomes where it
 * really begins (later, if that is gone), *next where it ends. Any number of readers.
 */
int ut_output_log_read(int at, uint64_t *from, size_t most, struct ut_buf *text, uint64_t *next,
		       struct ut_err *err) UT_MUST_CHECK;

#endif
