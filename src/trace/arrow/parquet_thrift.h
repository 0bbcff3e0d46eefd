/*
 * parquet_thrift.h - the few shapes of Thrift's compact protocol that Parquet describes itself
 * with.
 *
 * Fields are written in ascending order; a struct inside another is opened as a field of it, or as
 * an element of a list, and closed again.
 */
#ifndef UT_ARROW_PARQUET_THRIFT_H
#define UT_ARROW_PARQUET_THRIFT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define UT_THRIFT_DEPTH 8u

enum ut_thrift_type {
	UT_THRIFT_I32 = 5,
	UT_THRIFT_I64 = 6,
	UT_THRIFT_BYTES = 8,
	UT_THRIFT_LIST = 9,
	UT_THRIFT_STRUCT = 12,
};

/* {&buf} is a struct that is open. */
struct ut_thrift {
	struct ut_buf *to;
	int last[UT_THRIFT_DEPTH]; /* number of the field before, of each struct that is open */
	unsigned int depth;
};

void ut_thrift_i32(struct ut_thrift *t, int field, int32_t value);
void ut_thrift_i64(struct ut_thrift *t, int field, int64_t value);
void ut_thrift_bytes(struct ut_thrift *t, int field, const void *bytes, size_t len);
void ut_thrift_text(struct ut_thrift *t, int field, const char *text);

/* A struct as a field; 0 = as the next element of a list. Closed by end, as is the outermost one.
 */
void ut_thrift_begin(struct ut_thrift *t, int field);
void ut_thrift_end(struct ut_thrift *t);

/* A list; as many elements of that type have to follow. */
void ut_thrift_list(struct ut_thrift *t, int field, enum ut_thrift_type type, size_t count);
void ut_thrift_element_i32(struct ut_thrift *t, int32_t value);
void ut_thrift_element_text(struct ut_thrift *t, const char *text);

/* A number in as few bytes as it needs, seven bits each. */
void ut_thrift_varint(struct ut_buf *to, uint64_t value);

#endif
