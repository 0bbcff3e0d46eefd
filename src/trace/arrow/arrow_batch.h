/*
 * arrow_batch.h - columns that exist already as a schema and an array of Arrow's C interface.
 *
 * What a batch holds is counted: columns, and texts that several batches share, are freed when the
 * last one that has them is released, in whatever order and on whatever thread that happens.
 */
#ifndef UT_ARROW_ARROW_BATCH_H
#define UT_ARROW_ARROW_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unitrace/arrow.h"

/* type, format of Arrow, bytes of a value */
#define UT_ARROW_TYPE_LIST(X)                                                                      \
	X(I64, "l", 8)                                                                             \
	X(F64, "g", 8)                                                                             \
	X(I32, "i", 4)                                                                             \
	X(TEXT, "u", 4)       /* offsets of 32 bits, count + 1 of them, and bytes */               \
	X(LONG_TEXT, "U", 8)  /* offsets of 64 bits */                                             \
	X(BYTES, "z", 4)      /* as TEXT */                                                        \
	X(LONG_BYTES, "Z", 8) /* as LONG_TEXT */                                                   \
	X(WORD, "i", 4)       /* numbers of 32 bits in a list of texts */

enum ut_arrow_type {
#define UT_ARROW_TYPE_ENUM(type, format, size) UT_ARROW_##type,
	UT_ARROW_TYPE_LIST(UT_ARROW_TYPE_ENUM)
#undef UT_ARROW_TYPE_ENUM
	UT_ARROW_TYPES
};

extern const char *const ut_arrow_formats[UT_ARROW_TYPES];

/* A list of texts that columns of UT_ARROW_WORD number, from 0. */
struct ut_arrow_words;

/* Takes both arrays, which are malloc'ed; count + 1 offsets. The caller has the first use of it. */
struct ut_arrow_words *ut_arrow_words_new(int32_t *offsets, char *bytes, int64_t count);
struct ut_arrow_words *ut_arrow_words_share(struct ut_arrow_words *words);
void ut_arrow_words_release(struct ut_arrow_words *words);

/* One column of a batch. Arrays are malloc'ed and taken by ut_arrow_batch(). */
struct ut_arrow_data {
	enum ut_arrow_type type;
	int64_t nulls;
	uint8_t *valid; /* a bit for each value, the lowest first; NULL = all are there */
	void *values;   /* or offsets */
	char *bytes;    /* of texts */
	struct ut_arrow_words *words; /* of UT_ARROW_WORD; stays the caller's */
};

/* A table of that many columns and rows. The structs of *columns may go, their arrays are taken. */
void ut_arrow_batch(struct ArrowArray *out, const struct ut_arrow_data *columns, size_t count,
		    int64_t rows);

/* One column of a schema; everything is copied. */
struct ut_arrow_field {
	const char *name; /* UTF-8 */
	enum ut_arrow_type type;
	bool nullable;
};

void ut_arrow_schema(struct ArrowSchema *out, const struct ut_arrow_field *fields, size_t count);

#endif
