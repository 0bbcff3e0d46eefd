/*
 * store.h - a whole trace in memory: columns, sorted per track.
 *
 * Rows of a track lie in blocks of UT_BLOCK_ROWS (only the last block is shorter), each block
 * holds its columns one after the other: the same bytes in memory and in a .utr file, which is
 * mapped and used as it is. Order of rows, per track: by ts; at the same ts spans first, the
 * longer (outer) before the shorter; otherwise as they came.
 *
 * A store is made by ut_build_finish() (build.h) or opened from a file, and is read-only from then
 * on, by any number of threads. Owner: whoever releases it. Numbers in the columns (types, lists of
 * arguments) may come from a damaged file: use the accessors, which check.
 */
#ifndef UT_MODEL_STORE_H
#define UT_MODEL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arglists.h"
#include "model/event.h"
#include "model/trace.h"
#include "model/types.h"

#define UT_BLOCK_ROWS 16384u

struct ut_block {
	const uint64_t *ts;   /* ns */
	const uint64_t *val;  /* see UT_KIND_LIST in event.h */
	const uint32_t *type; /* number in store->types */
	const uint32_t *args; /* list in store->args; 0 = none */
	uint32_t count;
};

/* The rows of one track. */
struct ut_rows {
	struct ut_block *blocks;
	uint64_t count;
	uint64_t first, last; /* the first ts, the last end; 0 when empty */
};

struct ut_sink;
struct ut_pyramid;
struct ut_device_records;
struct ut_loan;

struct ut_store {
	struct ut_trace trace; /* strings, processes, tracks, losses, clock; its args hold only
				* what the trace itself refers to (tracks, global, file) */
	struct ut_types types;
	struct ut_arglists args;
	struct ut_rows *rows;              /* one per track of the trace */
	uint64_t row_count;                /* of all tracks */
	struct ut_pyramid *pyramid;        /* NULL until somebody needs it: pyramid.h */
	struct ut_device_records *devices; /* NULL until ut_store_devices() */
	struct ut_device_records
		*saved_devices; /* as a file has them, perhaps wrong; NULL = none */
	void *map;              /* the file that the columns lie in; NULL = in memory */
	size_t map_size;
	struct ut_loan *loan; /* rows and lists belong to somebody else: growing.h; NULL = ours */
};

void ut_store_release(struct ut_store *s);

/* *to becomes what *from was; *from is empty. (A plain copy would keep a pointer into itself.) */
void ut_store_move(struct ut_store *to, struct ut_store *from);

/* Makes the trace as long as its rows; it may know of signs of life before and after them. */
void ut_store_span(struct ut_store *s);

static inline size_t ut_rows_blocks(const struct ut_rows *r)
{
	return (size_t)((r->count + UT_BLOCK_ROWS - 1) / UT_BLOCK_ROWS);
}

/* The first row at or behind a time; count if there is none. */
uint64_t ut_rows_find(const struct ut_rows *r, uint64_t ts);

static inline const struct ut_type *ut_store_type(const struct ut_store *s, uint32_t number)
{
	return ut_types_get(&s->types, number);
}

/* Row i of block b as an event; args is the list's number in store->args, not an index into
 * the trace's arguments. */
static inline struct ut_event ut_block_event(const struct ut_store *s, uint32_t track,
					     const struct ut_block *b, uint32_t i)
{
	const struct ut_type *type = ut_store_type(s, b->type[i]);

	return (struct ut_event){ .ts = b->ts[i],
				  .val = b->val[i],
				  .name = type->name,
				  .cat = type->cat,
				  .track = track,
				  .args = b->args[i],
				  .kind = type->kind,
				  .flags = type->flags };
}

/* Where a span ends; other kinds end where they begin. Never wraps around. */
static inline uint64_t ut_event_end(const struct ut_event *e)
{
	if (e->kind != UT_KIND_SPAN)
		return e->ts;
	return e->ts + e->val < e->ts ? UINT64_MAX : e->ts + e->val;
}

/*
 * Hands all rows to a sink, track by track, with their arguments in the trace's array (sink.h).
 * shift is added to every time, to bring several traces onto one clock. Changes the trace's args
 * array while it runs, so: one thread per store.
 */
void ut_store_send(struct ut_store *s, int64_t shift, struct ut_sink *sink);

#endif
