#include "arrow/arrow_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_flat.h"
#include "base/grow.h"
#include "text/out.h"

#if UT_HAVE_ZSTD
#include <zstd.h>
#endif

#define MAGIC "ARROW1"

/* Numbers of the format: version 5, and kinds of messages and types. */
enum {
	VERSION = 4,
	HEADER_SCHEMA = 1,
	HEADER_BATCH = 3,
	TYPE_INT = 2,
	TYPE_REAL = 3,
	TYPE_BINARY = 4,
	TYPE_UTF8 = 5,
	TYPE_LARGE_BINARY = 19,
	TYPE_LARGE_UTF8 = 20,
	REAL_DOUBLE = 2,
	CODEC_ZSTD = 1,
};

/* Where a batch lies in the file. */
struct block {
	int64_t offset, body;
	int32_t head;
};

struct ut_arrow_file {
	struct ut_out *out;
	struct ArrowSchema schema;
	struct block *blocks;
	size_t block_count, block_cap;
	int64_t at; /* bytes written */
	struct ut_buf head, body;
};

static void write_bytes(struct ut_arrow_file *f, const void *data, size_t len)
{
	ut_out_write(f->out, data, len);
	f->at += (int64_t)len;
}

static void write_padding(struct ut_arrow_file *f)
{
	static const char zeros[8];

	write_bytes(f, zeros, (size_t)(-f->at & 7));
}

/* ---- descriptions -------------------------------------------------------------------------- */

static int arrow_file_type_of(const struct ArrowSchema *c)
{
	switch (c->format[0]) {
	case 'l':
	case 'i':
		return TYPE_INT;
	case 'g':
		return TYPE_REAL;
	case 'z':
		return TYPE_BINARY;
	case 'U':
		return TYPE_LARGE_UTF8;
	case 'Z':
		return TYPE_LARGE_BINARY;
	default:
		return TYPE_UTF8;
	}
}

static void put_type(struct ut_buf *b, size_t link, const struct ArrowSchema *c)
{
	struct ut_flat_field whole[] = {
		{ UT_FLAT_INT, c->format[0] == 'i' ? 32 : 64, 0 },
		{ UT_FLAT_BYTE, 1, 0 }, /* signed */
	};
	struct ut_flat_field real[] = { { UT_FLAT_SHORT, REAL_DOUBLE, 0 } };

	if (arrow_file_type_of(c) == TYPE_INT)
		ut_flat_table(b, link, whole, 2);
	else if (arrow_file_type_of(c) == TYPE_REAL)
		ut_flat_table(b, link, real, 1);
	else
		ut_flat_table(b, link, NULL, 0);
}

static void arrow_file_put_column(struct ut_buf *b, size_t link, const struct ArrowSchema *c)
{
	struct ut_flat_field fields[] = {
		{ UT_FLAT_LINK, 0, 0 },                                     /* name */
		{ UT_FLAT_BYTE, (c->flags & ARROW_FLAG_NULLABLE) != 0, 0 }, /* may be missing */
		{ UT_FLAT_BYTE, arrow_file_type_of(c), 0 },                 /* which type */
		{ UT_FLAT_LINK, 0, 0 },                                     /* the type */
		{ UT_FLAT_NONE, 0, 0 },                                     /* dictionary */
		{ UT_FLAT_LINK, 0, 0 },                                     /* children */
	};

	ut_flat_table(b, link, fields, 6);
	ut_flat_string(b, fields[0].place, c->name);
	put_type(b, fields[3].place, c);
	ut_flat_links(b, fields[5].place, 0);
}

static void put_schema(struct ut_buf *b, size_t link, const struct ArrowSchema *schema)
{
	struct ut_flat_field fields[] = { { UT_FLAT_SHORT, 0, 0 }, { UT_FLAT_LINK, 0, 0 } };
	size_t columns;

	ut_flat_table(b, link, fields, 2);
	columns = ut_flat_links(b, fields[1].place, (size_t)schema->n_children);
	for (int64_t i = 0; i < schema->n_children; i++)
		arrow_file_put_column(b, columns + 4 * (size_t)i, schema->children[i]);
}

/* The table around what a message is about; the link to that. */
static size_t begin_message(struct ut_buf *b, int header, int64_t body)
{
	struct ut_flat_field fields[] = {
		{ UT_FLAT_SHORT, VERSION, 0 },
		{ UT_FLAT_BYTE, header, 0 },
		{ UT_FLAT_LINK, 0, 0 },
		{ UT_FLAT_LONG, body, 0 },
	};

	b->len = 0;
	ut_flat_table(b, ut_flat_begin(b), fields, 4);
	return fields[2].place;
}

/* ---- messages ------------------------------------------------------------------------------ */

/* The description, which begins 8 bytes behind a multiple of 8, and the body. */
static struct block write_message(struct ut_arrow_file *f, const struct ut_buf *body)
{
	struct block block = { .offset = f->at, .body = (int64_t)body->len };
	uint32_t frame[2] = { UINT32_MAX, 0 };

	while (f->head.len % 8)
		ut_buf_char(&f->head, '\0');
	frame[1] = (uint32_t)f->head.len;
	block.head = (int32_t)(f->head.len + sizeof(frame));
	write_bytes(f, frame, sizeof(frame));
	write_bytes(f, f->head.data, f->head.len);
	if (body->len)
		write_bytes(f, body->data, body->len);
	return block;
}

struct ut_arrow_file *ut_arrow_file_begin(struct ut_out *out, struct ArrowSchema *schema)
{
	struct ut_arrow_file *f = ut_make(sizeof(*f));

	f->out = out;
	f->schema = *schema;
	schema->release = NULL;
	write_bytes(f, MAGIC "\0\0", 8);
	put_schema(&f->head, begin_message(&f->head, HEADER_SCHEMA, 0), &f->schema);
	write_message(f, &f->body);
	return f;
}

/* ---- batches ------------------------------------------------------------------------------- */

/* A buffer of a batch: where it lies in the body. */
struct piece {
	int64_t offset, length;
};

static void add_raw(struct ut_buf *body, const void *data, size_t len)
{
	ut_buf_add(body, data, len);
}

#if UT_HAVE_ZSTD
/* How long it is, then what it became; -1, then the bytes as they are if that does not help. */
static void add_packed(struct ut_buf *body, const void *data, size_t len)
{
	size_t most = ZSTD_compressBound(len), packed;
	size_t head = body->len;
	char *room;

	ut_flat_i64(body, (int64_t)len);
	room = ut_buf_reserve(body, most);
	packed = ZSTD_compress(room, most, data, len, 1);
	if (ZSTD_isError(packed) || packed >= len) {
		body->len = head;
		ut_flat_i64(body, -1);
		add_raw(body, data, len);
		return;
	}
	ut_buf_advance(body, room + packed);
}
#else
#define add_packed add_raw
#endif

static struct piece add_buffer(struct ut_buf *body, const void *data, size_t len)
{
	struct piece piece = { .offset = (int64_t)body->len };

	if (data && len)
		add_packed(body, data, len);
	piece.length = (int64_t)body->len - piece.offset;
	while (body->len % 8)
		ut_buf_char(body, '\0');
	return piece;
}

static size_t value_size(const struct ArrowSchema *c)
{
	return strchr("iuz", c->format[0]) ? 4 : 8;
}

static size_t text_length(const struct ArrowSchema *c, const struct ArrowArray *a)
{
	if (value_size(c) == 4)
		return (size_t)((const int32_t *)a->buffers[1])[a->length];
	return (size_t)((const int64_t *)a->buffers[1])[a->length];
}

/* The buffers of a column; how many there are. */
static size_t add_column(struct ut_buf *body, const struct ArrowSchema *c,
			 const struct ArrowArray *a, struct piece *pieces)
{
	bool is_text = a->n_buffers == 3;
	size_t rows = (size_t)a->length;

	pieces[0] = add_buffer(body, a->null_count ? a->buffers[0] : NULL, (rows + 7) / 8);
	pieces[1] = add_buffer(body, a->buffers[1], (rows + is_text) * value_size(c));
	if (is_text)
		pieces[2] = add_buffer(body, a->buffers[2], text_length(c, a));
	return is_text ? 3 : 2;
}

static void put_batch(struct ut_buf *b, size_t link, const struct ArrowArray *batch,
		      const struct piece *pieces, size_t piece_count)
{
	struct ut_flat_field fields[] = {
		{ UT_FLAT_LONG, batch->length, 0 },
		{ UT_FLAT_LINK, 0, 0 },
		{ UT_FLAT_LINK, 0, 0 },
		{ UT_HAVE_ZSTD ? UT_FLAT_LINK : UT_FLAT_NONE, 0, 0 },
	};
	struct ut_flat_field codec[] = { { UT_FLAT_BYTE, CODEC_ZSTD, 0 }, { UT_FLAT_BYTE, 0, 0 } };

	ut_flat_table(b, link, fields, 4);
	ut_flat_vector(b, fields[1].place, (size_t)batch->n_children);
	for (int64_t i = 0; i < batch->n_children; i++) {
		ut_flat_i64(b, batch->children[i]->length);
		ut_flat_i64(b, batch->children[i]->null_count);
	}
	ut_flat_vector(b, fields[2].place, piece_count);
	for (size_t i = 0; i < piece_count; i++) {
		ut_flat_i64(b, pieces[i].offset);
		ut_flat_i64(b, pieces[i].length);
	}
	if (fields[3].size)
		ut_flat_table(b, fields[3].place, codec, 2);
}

void ut_arrow_file_add(struct ut_arrow_file *f, struct ArrowArray *batch)
{
	struct piece *pieces = ut_make((3 * (size_t)batch->n_children + 1) * sizeof(*pieces));
	size_t count = 0;

	f->body.len = 0;
	for (int64_t i = 0; i < batch->n_children; i++)
		count += add_column(&f->body, f->schema.children[i], batch->children[i],
				    pieces + count);
	put_batch(&f->head, begin_message(&f->head, HEADER_BATCH, (int64_t)f->body.len), batch,
		  pieces, count);
	f->blocks = ut_grow(f->blocks, f->block_count + 1, &f->block_cap, sizeof(*f->blocks));
	f->blocks[f->block_count++] = write_message(f, &f->body);
	batch->release(batch);
	free(pieces);
}

/* ---- the end ------------------------------------------------------------------------------- */

static void put_contents(struct ut_arrow_file *f)
{
	struct ut_flat_field fields[] = {
		{ UT_FLAT_SHORT, VERSION, 0 },
		{ UT_FLAT_LINK, 0, 0 },
		{ UT_FLAT_LINK, 0, 0 }, /* dictionaries: none */
		{ UT_FLAT_LINK, 0, 0 },
	};

	f->head.len = 0;
	ut_flat_table(&f->head, ut_flat_begin(&f->head), fields, 4);
	put_schema(&f->head, fields[1].place, &f->schema);
	ut_flat_vector(&f->head, fields[2].place, 0);
	ut_flat_vector(&f->head, fields[3].place, f->block_count);
	for (size_t i = 0; i < f->block_count; i++) {
		ut_flat_i64(&f->head, f->blocks[i].offset);
		ut_flat_i32(&f->head, f->blocks[i].head);
		ut_flat_i32(&f->head, 0);
		ut_flat_i64(&f->head, f->blocks[i].body);
	}
}

void ut_arrow_file_end(struct ut_arrow_file *f)
{
	static const uint32_t end_of_stream[2] = { UINT32_MAX, 0 };
	uint32_t size;

	write_padding(f);
	write_bytes(f, end_of_stream, sizeof(end_of_stream));
	put_contents(f);
	size = (uint32_t)f->head.len;
	write_bytes(f, f->head.data, f->head.len);
	write_bytes(f, &size, sizeof(size));
	write_bytes(f, MAGIC, strlen(MAGIC));
	f->schema.release(&f->schema);
	ut_buf_release(&f->head);
	ut_buf_release(&f->body);
	free(f->blocks);
	free(f);
}
