#include "arrow/parquet_file.h"

#include <stdlib.h>
#include <string.h>

#include "arrow/parquet_page.h"
#include "arrow/parquet_thrift.h"
#include "base/grow.h"
#include "text/out.h"
#include "version.h"

#define MAGIC "PAR1"

/* Numbers of the format. */
enum {
	VERSION = 2,
	REQUIRED = 0,
	OPTIONAL = 1,
	CONVERTED_UTF8 = 0,
	LOGICAL_STRING = 1,
};

struct group {
	int64_t rows, at;
	struct ut_parquet_chunk *chunks; /* one per column */
};

struct ut_parquet {
	struct ut_out *out;
	struct ArrowSchema schema;
	struct group *groups;
	size_t group_count, group_cap;
	int64_t at; /* bytes written */
	struct ut_buf bytes;
};

static void write_bytes(struct ut_parquet *p, const void *data, size_t len)
{
	ut_out_write(p->out, data, len);
	p->at += (int64_t)len;
}

struct ut_parquet *ut_parquet_begin(struct ut_out *out, struct ArrowSchema *schema)
{
	struct ut_parquet *p = ut_make(sizeof(*p));

	p->out = out;
	p->schema = *schema;
	schema->release = NULL;
	write_bytes(p, MAGIC, strlen(MAGIC));
	return p;
}

void ut_parquet_add(struct ut_parquet *p, struct ArrowArray *batch)
{
	struct group *g;

	p->groups = ut_grow(p->groups, p->group_count + 1, &p->group_cap, sizeof(*p->groups));
	g = &p->groups[p->group_count++];
	*g = (struct group){ .rows = batch->length, .at = p->at };
	g->chunks = ut_make(((size_t)batch->n_children + 1) * sizeof(*g->chunks));
	for (int64_t i = 0; i < batch->n_children; i++) {
		int rc;

		p->bytes.len = 0;
		rc = ut_parquet_column(&p->bytes, p->at, p->schema.children[i], batch->children[i],
				       &g->chunks[i]);
		if (rc)
			ut_out_fail(p->out, rc, "a column of these rows is too large for Parquet");
		write_bytes(p, p->bytes.data, p->bytes.len);
	}
	batch->release(batch);
}

/* ---- the table of contents ----------------------------------------------------------------- */

static void put_schema(struct ut_thrift *t, const struct ArrowSchema *schema)
{
	ut_thrift_list(t, 2, UT_THRIFT_STRUCT, (size_t)schema->n_children + 1);
	ut_thrift_begin(t, 0);
	ut_thrift_text(t, 4, "schema");
	ut_thrift_i32(t, 5, (int32_t)schema->n_children);
	ut_thrift_end(t);
	for (int64_t i = 0; i < schema->n_children; i++) {
		const struct ArrowSchema *c = schema->children[i];
		bool is_text = c->format[0] == 'u' || c->format[0] == 'U';

		ut_thrift_begin(t, 0);
		ut_thrift_i32(t, 1, ut_parquet_type(c));
		ut_thrift_i32(t, 3, c->flags & ARROW_FLAG_NULLABLE ? OPTIONAL : REQUIRED);
		ut_thrift_text(t, 4, c->name);
		if (is_text) {
			ut_thrift_i32(t, 6, CONVERTED_UTF8);
			ut_thrift_begin(t, 10);
			ut_thrift_begin(t, LOGICAL_STRING);
			ut_thrift_end(t);
			ut_thrift_end(t);
		}
		ut_thrift_end(t);
	}
}

static void put_bounds(struct ut_thrift *t, const struct ArrowSchema *column,
		       const struct ut_parquet_chunk *c)
{
	size_t size = ut_parquet_type(column) == UT_PARQUET_INT32 ? 4 : 8;

	ut_thrift_begin(t, 12);
	ut_thrift_i64(t, 3, c->nulls);
	if (c->has_bounds) { /* little-endian, as numbers are here: the first bytes of an int64 */
		ut_thrift_bytes(t, 5, &c->most, size);
		ut_thrift_bytes(t, 6, &c->least, size);
	}
	ut_thrift_end(t);
}

static void put_chunk(struct ut_thrift *t, const struct ArrowSchema *column,
		      const struct ut_parquet_chunk *c)
{
	int64_t first = c->dictionary ? c->dictionary : c->data;

	ut_thrift_begin(t, 0);
	ut_thrift_i64(t, 2, first);
	ut_thrift_begin(t, 3);
	ut_thrift_i32(t, 1, ut_parquet_type(column));
	ut_thrift_list(t, 2, UT_THRIFT_I32, c->dictionary ? 3 : 2);
	ut_thrift_element_i32(t, UT_PARQUET_PLAIN);
	ut_thrift_element_i32(t, UT_PARQUET_RLE);
	if (c->dictionary)
		ut_thrift_element_i32(t, UT_PARQUET_DICTIONARY);
	ut_thrift_list(t, 3, UT_THRIFT_BYTES, 1);
	ut_thrift_element_text(t, column->name);
	ut_thrift_i32(t, 4, ut_parquet_codec());
	ut_thrift_i64(t, 5, c->values);
	ut_thrift_i64(t, 6, c->plain_size);
	ut_thrift_i64(t, 7, c->packed_size);
	ut_thrift_i64(t, 9, c->data);
	if (c->dictionary)
		ut_thrift_i64(t, 11, c->dictionary);
	put_bounds(t, column, c);
	ut_thrift_end(t);
	ut_thrift_end(t);
}

static void parquet_file_put_group(struct ut_thrift *t, const struct ArrowSchema *schema,
				   const struct group *g)
{
	int64_t plain = 0, packed = 0;

	ut_thrift_begin(t, 0);
	ut_thrift_list(t, 1, UT_THRIFT_STRUCT, (size_t)schema->n_children);
	for (int64_t i = 0; i < schema->n_children; i++) {
		put_chunk(t, schema->children[i], &g->chunks[i]);
		plain += g->chunks[i].plain_size;
		packed += g->chunks[i].packed_size;
	}
	ut_thrift_i64(t, 2, plain);
	ut_thrift_i64(t, 3, g->rows);
	ut_thrift_i64(t, 5, g->at);
	ut_thrift_i64(t, 6, packed);
	ut_thrift_end(t);
}

static void put_contents(struct ut_parquet *p)
{
	struct ut_thrift t = { .to = &p->bytes };
	int64_t rows = 0;

	p->bytes.len = 0;
	for (size_t i = 0; i < p->group_count; i++)
		rows += p->groups[i].rows;
	ut_thrift_i32(&t, 1, VERSION);
	put_schema(&t, &p->schema);
	ut_thrift_i64(&t, 3, rows);
	ut_thrift_list(&t, 4, UT_THRIFT_STRUCT, p->group_count);
	for (size_t i = 0; i < p->group_count; i++)
		parquet_file_put_group(&t, &p->schema, &p->groups[i]);
	ut_thrift_text(&t, 6, "unitrace version " UT_VERSION);
	ut_thrift_list(&t, 7, UT_THRIFT_STRUCT, (size_t)p->schema.n_children);
	for (int64_t i = 0; i < p->schema.n_children; i++) {
		ut_thrift_begin(&t, 0); /* bounds are in the order of the type */
		ut_thrift_begin(&t, 1);
		ut_thrift_end(&t);
		ut_thrift_end(&t);
	}
	ut_thrift_end(&t);
}

void ut_parquet_end(struct ut_parquet *p)
{
	uint32_t size;

	put_contents(p);
	size = (uint32_t)p->bytes.len;
	write_bytes(p, p->bytes.data, p->bytes.len);
	write_bytes(p, &size, sizeof(size));
	write_bytes(p, MAGIC, strlen(MAGIC));
	p->schema.release(&p->schema);
	for (size_t i = 0; i < p->group_count; i++)
		free(p->groups[i].chunks);
	free(p->groups);
	ut_buf_release(&p->bytes);
	free(p);
}
