/*
 * read_slices.c - every slice, straight from the columns to Arrow's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "arrow/arrow_batch.h"
#include "base/grow.h"
#include "model/strtab.h"
#include "query/field.h"
#include "query/traces.h"
#include "read/read_options.h"
#include "read/read_trace.h"

#define BATCH_ROWS 65536

/* column, its type, whether a value may be missing */
#define COLUMN_LIST(X)                                                                             \
	X(id, I64, false)                                                                          \
	X(ts, I64, false)                                                                          \
	X(dur, I64, false)                                                                         \
	X(name, WORD, true)                                                                        \
	X(cat, WORD, true)                                                                         \
	X(track_id, I32, false)                                                                    \
	X(thread_name, WORD, true)                                                                 \
	X(tid, I64, true)                                                                          \
	X(process_name, WORD, true)                                                                \
	X(pid, I64, true)                                                                          \
	X(rank, I32, true)                                                                         \
	X(trace, I32, false)

enum column {
#define COLUMN_ENUM(name, type, nullable) COLUMN_##name,
	COLUMN_LIST(COLUMN_ENUM)
#undef COLUMN_ENUM
	COLUMNS
};

static const struct ut_arrow_field fields[COLUMNS] = {
#define COLUMN_FIELD(name, type, nullable) { #name, UT_ARROW_##type, nullable },
	COLUMN_LIST(COLUMN_FIELD)
#undef COLUMN_FIELD
};

#define NO_WORD (-1)

/* What all rows of a type have in common. */
struct type {
	int32_t name, cat; /* numbers of words */
	uint8_t kind;      /* enum ut_kind */
	bool wanted;
};

/* What all rows of a track have in common. */
struct place {
	int32_t thread_name, process_name, track_id, trace;
	int64_t tid, pid, rank;
	bool has_tid, has_pid, has_rank;
};

struct stream {
	struct unitrace_trace *trace;
	struct ut_read_options options;
	struct ut_traces traces;
	struct ut_filter_view *views; /* one per trace */
	struct type **types;          /* of each trace */
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_arrow_words *words;
	uint32_t track; /* where the next row lies */
	uint64_t row;
};

/* The batch that is being filled. */
struct batch {
	struct ut_arrow_data columns[COLUMNS];
	int64_t rows;
};

/* ---- words --------------------------------------------------------------------------------- */

static int32_t read_slices_word_of(struct stream *s, struct ut_datum d)
{
	if (d.type != UT_DATUM_TEXT)
		return NO_WORD;
	if (!d.text.len) /* which the table of strings does not number */
		return 0;
	return (int32_t)ut_strtab_intern(&s->strings, d.text.ptr, d.text.len);
}

/* Number 0 is the empty text. */
static int make_words(struct stream *s, struct ut_err *err)
{
	uint32_t count = s->strings.count + 1;
	int32_t *offsets = ut_make((count + 1) * sizeof(*offsets));
	size_t size = 0;
	char *bytes;

	for (uint32_t i = 1; i < count; i++)
		size += ut_strtab_get(&s->strings, i).len;
	if (size > INT32_MAX) {
		free(offsets);
		return ut_err_set(err, -EFBIG, "the names of these traces take more than 2 GB");
	}
	bytes = ut_make(size + 1);
	for (uint32_t i = 1; i < count; i++) {
		struct ut_str text = ut_strtab_get(&s->strings, i);

		memcpy(bytes + offsets[i], text.ptr, text.len);
		offsets[i + 1] = offsets[i] + (int32_t)text.len;
	}
	s->words = ut_arrow_words_new(offsets, bytes, count);
	return 0;
}

/* They are slices of no length. */
static bool is_instant(uint8_t kind)
{
	return kind == UT_KIND_INSTANT || kind == UT_KIND_ASYNC_INSTANT;
}

static void make_types(struct stream *s, size_t trace)
{
	const struct ut_qtrace *q = &s->traces.traces[trace];
	struct type *types = UT_NEW_N(&s->arena, struct type, q->store->types.count + 1);

	for (uint32_t i = 0; i < q->store->types.count; i++) {
		types[i].kind = ut_store_type(q->store, i)->kind;
		types[i].wanted = types[i].kind == UT_KIND_SPAN ||
				  types[i].kind == UT_KIND_ASYNC_BEGIN || is_instant(types[i].kind);
		if (!types[i].wanted)
			continue;
		types[i].name = read_slices_word_of(s, ut_field_of_type(q, i, UT_FIELD_NAME));
		types[i].cat = read_slices_word_of(s, ut_field_of_type(q, i, UT_FIELD_CAT));
	}
	s->types[trace] = types;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool read_slices_number_of(const struct stream *s, const struct ut_qtrack *k,
				  enum ut_field f, int64_t *to)
{
	struct ut_datum d = ut_field_of_track(&s->traces, k, f);

	*to = d.type == UT_DATUM_INT ? d.number : 0;
	return d.type == UT_DATUM_INT;
}

static struct place read_slices_place_of(struct stream *s, uint32_t track)
{
	const struct ut_qtrack *k = &s->traces.tracks[track];
	struct place p = { .track_id = (int32_t)track, .trace = (int32_t)k->trace };

	p.thread_name =
		read_slices_word_of(s, ut_field_of_track(&s->traces, k, UT_FIELD_THREAD_NAME));
	p.process_name =
		read_slices_word_of(s, ut_field_of_track(&s->traces, k, UT_FIELD_PROCESS_NAME));
	p.has_tid = read_slices_number_of(s, k, UT_FIELD_TID, &p.tid);
	p.has_pid = read_slices_number_of(s, k, UT_FIELD_PID, &p.pid);
	p.has_rank = read_slices_number_of(s, k, UT_FIELD_RANK, &p.rank);
	return p;
}

static void begin_batch(struct batch *b, struct stream *s)
{
	static const size_t sizes[UT_ARROW_TYPES] = {
#define TYPE_SIZE(type, format, size) size,
		UT_ARROW_TYPE_LIST(TYPE_SIZE)
#undef TYPE_SIZE
	};

	*b = (struct batch){ 0 };
	for (int i = 0; i < COLUMNS; i++) {
		struct ut_arrow_data *c = &b->columns[i];
		size_t cap = 0;

		c->type = fields[i].type;
		c->words = s->words;
		c->values = ut_grow_raw(NULL, BATCH_ROWS, &cap, sizes[c->type]);
		if (fields[i].nullable)
			c->valid = ut_make(BATCH_ROWS / 8);
	}
}

static void discard(struct batch *b)
{
	for (int i = 0; i < COLUMNS; i++) {
		free(b->columns[i].values);
		free(b->columns[i].valid);
	}
}

static void put_valid(struct ut_arrow_data *c, int64_t row, bool there)
{
	if (there)
		c->valid[row / 8] = (uint8_t)(c->valid[row / 8] | 1u << (row % 8));
	else
		c->nulls++;
}

static void read_slices_put_word(struct batch *b, enum column column, int64_t row, int32_t word)
{
	((int32_t *)b->columns[column].values)[row] = word < 0 ? 0 : word;
	put_valid(&b->columns[column], row, word != NO_WORD);
}

static void put_i64(struct batch *b, enum column column, int64_t row, int64_t value)
{
	((int64_t *)b->columns[column].values)[row] = value;
}

/* Rows [from, to) have a value: whole bytes at a time, since a track has many rows. */
static void fill_valid(struct ut_arrow_data *c, int64_t from, int64_t to, bool there)
{
	if (!there) {
		c->nulls += to - from;
		return;
	}
	for (; from < to && from % 8; from++)
		put_valid(c, from, true);
	if (to - from >= 8) {
		memset(c->valid + from / 8, 0xff, (size_t)(to - from) / 8);
		from += (to - from) / 8 * 8;
	}
	for (; from < to; from++)
		put_valid(c, from, true);
}

static void fill_i32(struct batch *b, enum column column, int64_t from, int64_t to, int64_t value)
{
	int32_t *values = b->columns[column].values;

	for (int64_t i = from; i < to; i++)
		values[i] = (int32_t)value;
}

static void fill_i64(struct batch *b, enum column column, int64_t from, int64_t to, int64_t value)
{
	int64_t *values = b->columns[column].values;

	for (int64_t i = from; i < to; i++)
		values[i] = value;
}

static void fill_word(struct batch *b, enum column column, int64_t from, int64_t to, int32_t word)
{
	fill_i32(b, column, from, to, word == NO_WORD ? 0 : word);
	fill_valid(&b->columns[column], from, to, word != NO_WORD);
}

/* What rows [from, to) of the batch have from their track. */
static void read_slices_put_place(struct batch *b, const struct place *p, int64_t from, int64_t to)
{
	fill_i32(b, COLUMN_track_id, from, to, p->track_id);
	fill_i32(b, COLUMN_trace, from, to, p->trace);
	fill_i32(b, COLUMN_rank, from, to, p->rank);
	fill_i64(b, COLUMN_tid, from, to, p->tid);
	fill_i64(b, COLUMN_pid, from, to, p->pid);
	fill_word(b, COLUMN_thread_name, from, to, p->thread_name);
	fill_word(b, COLUMN_process_name, from, to, p->process_name);
	fill_valid(&b->columns[COLUMN_tid], from, to, p->has_tid);
	fill_valid(&b->columns[COLUMN_pid], from, to, p->has_pid);
	fill_valid(&b->columns[COLUMN_rank], from, to, p->has_rank);
}

/* Where an event ends; only those that may overlap need a look at the rest of their track. */
static uint64_t read_slices_end_of(struct stream *s, uint8_t kind, const struct ut_place *p)
{
	uint64_t ts = p->block->ts[p->i];
	uint64_t end = ts + p->block->val[p->i];

	if (kind == UT_KIND_SPAN)
		return end < ts ? UINT64_MAX : end;
	return is_instant(kind) ? ts : ut_place_end(&s->traces, p);
}

static bool read_slices_is_wanted(const struct ut_filter_view *v, uint8_t kind, uint64_t ts,
				  uint64_t end)
{
	if (!v->rows)
		return true;
	return is_instant(kind) ? ut_filter_wants_timestamp(v, ts)
				: ut_filter_wants_span(v, ts, end);
}

/* Rows of one block, as many as the batch has room for. How many were looked at. */
static uint32_t put_block(struct stream *s, struct batch *b, const struct ut_qtrack *k,
			  struct ut_place *p)
{
	const struct type *types = s->types[k->trace];
	const struct ut_filter_view *v = &s->views[k->trace];
	uint32_t type_count = p->trace->store->types.count;
	uint32_t first = p->i;

	for (; p->i < p->block->count && b->rows < BATCH_ROWS; p->i++, p->row++) {
		uint32_t number = p->block->type[p->i];
		const struct type *type = &types[number < type_count ? number : 0];
		uint64_t ts = p->block->ts[p->i], end;

		if (!type->wanted || !ut_filter_wants(v, k->local, number))
			continue;
		end = read_slices_end_of(s, type->kind, p);
		if (!read_slices_is_wanted(v, type->kind, ts, end))
			continue;
		put_i64(b, COLUMN_id, b->rows, (int64_t)(k->first_id + p->row));
		put_i64(b, COLUMN_ts, b->rows, ut_datum_clamp(ts));
		put_i64(b, COLUMN_dur, b->rows, ut_datum_clamp(end - ts));
		read_slices_put_word(b, COLUMN_name, b->rows, type->name);
		read_slices_put_word(b, COLUMN_cat, b->rows++, type->cat);
	}
	return p->i - first;
}

/* Rows of a track from s->row on. True when it has no more. */
static bool put_track(struct stream *s, struct batch *b)
{
	struct ut_qtrack *k = &s->traces.tracks[s->track];
	const struct place place = read_slices_place_of(s, s->track);
	int64_t from = b->rows;

	while (s->row < k->rows->count && b->rows < BATCH_ROWS) {
		struct ut_place p;

		ut_traces_place(&s->traces, s->track, s->row, &p);
		s->row += put_block(s, b, k, &p);
	}
	read_slices_put_place(b, &place, from, b->rows);
	return s->row >= k->rows->count;
}

/* ---- the stream ---------------------------------------------------------------------------- */

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	(void)stream;
	ut_arrow_schema(out, fields, COLUMNS);
	return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct stream *s = stream->private_data;
	struct batch b;

	*out = (struct ArrowArray){ 0 };
	begin_batch(&b, s);
	while (s->track < s->traces.track_count && b.rows < BATCH_ROWS) {
		if (put_track(s, &b)) {
			s->track++;
			s->row = 0;
		}
	}
	if (b.rows)
		ut_arrow_batch(out, b.columns, COLUMNS, b.rows);
	else
		discard(&b);
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return NULL;
}

static void free_stream(struct stream *s)
{
	for (size_t i = 0; s->views && i < s->traces.count; i++)
		ut_filter_view_release(&s->views[i]);
	ut_arrow_words_release(s->words);
	ut_traces_release(&s->traces);
	ut_read_options_release(&s->options);
	ut_arena_release(&s->arena);
	ut_read_drop(s->trace);
	free(s);
}

static void read_slices_release(struct ArrowArrayStream *stream)
{
	free_stream(stream->private_data);
	stream->release = NULL;
}

/* All words are known before the first row is read: one list serves all batches. */
static int read_slices_prepare(struct stream *s, struct ut_err *err)
{
	size_t count = s->trace->inputs.count;

	s->views = UT_NEW_N(&s->arena, struct ut_filter_view, count + 1);
	s->types = UT_NEW_N(&s->arena, struct type *, count + 1);
	for (size_t i = 0; i < count; i++)
		ut_traces_add(&s->traces, s->trace->inputs.paths[i], &s->trace->stores[i]);
	ut_traces_ready(&s->traces);
	for (size_t i = 0; i < count; i++) {
		ut_filter_view_init(&s->views[i], &s->options.filter, &s->trace->stores[i]);
		make_types(s, i);
	}
	for (uint32_t i = 0; i < s->traces.track_count; i++)
		read_slices_place_of(s, i);
	return make_words(s, err);
}

int unitrace_slices(struct unitrace_trace *trace, const char *const *options,
		    struct ArrowArrayStream *out, struct unitrace_error *error)
{
	struct stream *s = ut_make(sizeof(*s));
	struct ut_err err = { 0 };
	int rc;

	*out = (struct ArrowArrayStream){ 0 };
	s->trace = trace;
	ut_read_share(trace);
	ut_traces_init(&s->traces);
	ut_strtab_init(&s->strings, &s->arena);
	rc = ut_read_options_parse(&s->options, options, &err);
	if (!rc)
		rc = read_slices_prepare(s, &err);
	if (rc)
		free_stream(s);
	else
		*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error,
						  read_slices_release, s };
	return ut_read_result(rc, &err, error);
}
