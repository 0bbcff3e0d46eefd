/*
 * arrow.h - tables in memory as other programs take them: Arrow's C data and stream interfaces.
 *
 * The layout of these three structs is a public specification, the same in every library that
 * speaks it (pandas, polars, DuckDB, Arrow itself), so tables change hands without a copy. Whoever
 * has one calls its release() once, or has somebody else take it over by copying the struct and
 * setting release to NULL. A program that has the structs from another header keeps those.
 */
#ifndef UNITRACE_ARROW_H
#define UNITRACE_ARROW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

/* What a column, or a table (format "+s", a child for each column), is made of. */
struct ArrowSchema {
	const char *format;   /* "l" int64, "g" double, "u" UTF-8, ... */
	const char *name;     /* may be NULL */
	const char *metadata; /* may be NULL */
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary; /* of what: the column holds numbers of its values */
	void (*release)(struct ArrowSchema *schema); /* NULL = somebody has taken or released it */
	void *private_data;
};

/* The values of a column, or of some rows of a table. */
struct ArrowArray {
	int64_t length;
	int64_t null_count; /* -1 = not counted */
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* A table, some rows at a time. Functions return 0 or an errno. */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
	/* At the end: 0, and out->release is NULL. */
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};
#endif

#ifdef __cplusplus
}
#endif

#endif
