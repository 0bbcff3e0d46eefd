/*
 * arrow_flat.h - the few shapes of FlatBuffers that Arrow's file format describes itself with.
 *
 * Written from front to back: what a table refers to comes behind it, and its place is put into the
 * table then. Places are offsets into the buffer. Little-endian, as the format is.
 */
#ifndef UT_ARROW_ARROW_FLAT_H
#define UT_ARROW_ARROW_FLAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* A field of a table by its size; 0 = it is not there. Those of UT_FLAT_LINK are set later. */
enum ut_flat_size {
	UT_FLAT_NONE = 0,
	UT_FLAT_BYTE = 1,
	UT_FLAT_SHORT = 2,
	UT_FLAT_INT = 4,
	UT_FLAT_LONG = 8,
	UT_FLAT_LINK = 16, /* four bytes: how far it is to what it means */
};

struct ut_flat_field {
	enum ut_flat_size size;
	int64_t value;
	size_t place; /* of a link, once the table is written */
};

#define UT_FLAT_FIELDS 12u

/* The link to the root, which is written next. */
size_t ut_flat_begin(struct ut_buf *b);

/*
 * Each writes what a link means: a table of up to UT_FLAT_FIELDS fields, by their numbers; a text;
 * the head of a vector whose elements, of 8 bytes or several of them, follow; a vector of links,
 * which lie 4 bytes apart from the place that is returned.
 */
void ut_flat_table(struct ut_buf *b, size_t link, struct ut_flat_field *fields, size_t count);
void ut_flat_string(struct ut_buf *b, size_t link, const char *text);
void ut_flat_vector(struct ut_buf *b, size_t link, size_t count);
size_t ut_flat_links(struct ut_buf *b, size_t link, size_t count);

void ut_flat_i64(struct ut_buf *b, int64_t value);
void ut_flat_i32(struct ut_buf *b, int32_t value);

#endif
