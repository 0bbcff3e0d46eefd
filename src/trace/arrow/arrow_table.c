#include "arrow/arrow_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_batch.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "text/json_text.h"

/* In the order in which one turns into the next when a value does not fit. */
enum kind {
	EMPTY, /* nothing but nulls so far */
	INTS = UT_ARROW_KIND_INT,
	REALS = UT_ARROW_KIND_REAL,
	TEXTS = UT_ARROW_KIND_TEXT,
	BLOBS,
};

struct column {
	char *name;
	enum kind kind;
	int64_t nulls;
	uint8_t *valid; /* a bit a row; NULL until the first null */
	size_t valid_cap;
	int64_t *numbers; /* values, bits of a double, or where the text of a row ends */
	size_t number_cap;
	char *bytes;
	size_t byte_count, byte_cap;
	bool is_small; /* whole numbers of 32 bits */
	bool was_long; /* a batch that was handed on had more text than 32 bits can number */
};

struct ut_arrow_table {
	struct column *columns;
	size_t count, next;
	int64_t rows; /* complete ones */
};

/* ---- values -------------------------------------------------------------------------------- */

static void arrow_table_put_bytes(struct column *c, const char *s, size_t len)
{
	c->bytes = ut_grow_raw(c->bytes, c->byte_count + len, &c->byte_cap, 1);
	if (len)
		memcpy(c->bytes + c->byte_count, s, len);
	c->byte_count += len;
}

static void put_repaired(struct column *c, struct ut_str s)
{
	if (ut_utf8_valid(s.ptr, s.len)) {
		arrow_table_put_bytes(c, s.ptr, s.len);
		return;
	}
	c->bytes = ut_grow_raw(c->bytes, c->byte_count + 3 * s.len, &c->byte_cap, 1);
	c->byte_count += ut_utf8_copy(c->bytes + c->byte_count, s.ptr, s.len);
}

static void arrow_table_put_number(struct column *c, int64_t rows, int64_t number)
{
	c->numbers = ut_grow_raw(c->numbers, (size_t)rows + 1, &c->number_cap, sizeof(*c->numbers));
	c->numbers[rows] = number;
}

static int64_t arrow_table_bits_of(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double real_of(int64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static bool is_null(const struct column *c, int64_t row)
{
	return c->valid && !(c->valid[row / 8] >> (row % 8) & 1);
}

static void mark(struct column *c, int64_t row, bool there)
{
	size_t bytes = (size_t)row / 8 + 1;

	if (there && !c->valid)
		return;
	if (!c->valid) { /* all before it are there */
		c->valid = ut_grow(NULL, bytes, &c->valid_cap, 1);
		for (int64_t i = 0; i < row; i++)
			c->valid[i / 8] = (uint8_t)(c->valid[i / 8] | 1u << (i % 8));
	}
	c->valid = ut_grow(c->valid, bytes, &c->valid_cap, 1);
	if (there)
		c->valid[row / 8] = (uint8_t)(c->valid[row / 8] | 1u << (row % 8));
	else
		c->nulls++;
}

/* ---- one type for all ---------------------------------------------------------------------- */

static void ints_to_reals(struct column *c, int64_t rows)
{
	for (int64_t i = 0; i < rows; i++)
		c->numbers[i] = arrow_table_bits_of((double)c->numbers[i]);
}

static void numbers_to_texts(struct column *c, int64_t rows)
{
	char digits[UT_DOUBLE_ROOM > 32 ? UT_DOUBLE_ROOM : 32];

	for (int64_t i = 0; i < rows; i++) {
		if (is_null(c, i))
			digits[0] = '\0';
		else if (c->kind == INTS)
			snprintf(digits, sizeof(digits), "%" PRId64, c->numbers[i]);
		else
			ut_double_digits(digits, real_of(c->numbers[i]));
		arrow_table_put_bytes(c, digits, strlen(digits));
		c->numbers[i] = (int64_t)c->byte_count;
	}
}

static void nulls_to_texts(struct column *c, int64_t rows)
{
	for (int64_t i = 0; i < rows; i++)
		c->numbers[i] = 0;
}

/* Makes the column at least that general. */
static void arrow_table_widen(struct column *c, int64_t rows, enum kind kind)
{
	if (kind <= c->kind)
		return;
	if (c->kind == INTS && kind == REALS)
		ints_to_reals(c, rows);
	else if (c->kind == EMPTY && kind >= TEXTS)
		nulls_to_texts(c, rows);
	else if (c->kind < TEXTS && kind >= TEXTS)
		numbers_to_texts(c, rows);
	c->kind = kind;
}

/* ---- cells --------------------------------------------------------------------------------- */

static struct column *begin_cell(struct ut_arrow_table *t, enum kind kind)
{
	struct column *c = &t->columns[t->next];

	arrow_table_widen(c, t->rows, kind);
	mark(c, t->rows, kind != EMPTY);
	return c;
}

static void end_cell(struct ut_arrow_table *t)
{
	if (++t->next == t->count) {
		t->next = 0;
		t->rows++;
	}
}

void ut_arrow_add_null(struct ut_arrow_table *t)
{
	struct column *c = begin_cell(t, EMPTY);

	arrow_table_put_number(c, t->rows, c->kind >= TEXTS ? (int64_t)c->byte_count : 0);
	end_cell(t);
}

void ut_arrow_add_int(struct ut_arrow_table *t, int64_t value)
{
	struct column *c = begin_cell(t, INTS);
	char digits[32];

	if (c->kind >= TEXTS) {
		snprintf(digits, sizeof(digits), "%" PRId64, value);
		arrow_table_put_bytes(c, digits, strlen(digits));
		value = (int64_t)c->byte_count;
	} else if (c->kind == REALS) {
		value = arrow_table_bits_of((double)value);
	}
	arrow_table_put_number(c, t->rows, value);
	end_cell(t);
}

void ut_arrow_add_real(struct ut_arrow_table *t, double value)
{
	struct column *c = begin_cell(t, REALS);
	char digits[UT_DOUBLE_ROOM];

	if (c->kind >= TEXTS) {
		ut_double_digits(digits, value);
		arrow_table_put_bytes(c, digits, strlen(digits));
		arrow_table_put_number(c, t->rows, (int64_t)c->byte_count);
	} else {
		arrow_table_put_number(c, t->rows, arrow_table_bits_of(value));
	}
	end_cell(t);
}

void ut_arrow_add_text(struct ut_arrow_table *t, struct ut_str text)
{
	struct column *c = begin_cell(t, TEXTS);

	if (c->kind == BLOBS)
		arrow_table_put_bytes(c, text.ptr, text.len);
	else
		put_repaired(c, text);
	arrow_table_put_number(c, t->rows, (int64_t)c->byte_count);
	end_cell(t);
}

void ut_arrow_add_bytes(struct ut_arrow_table *t, struct ut_str bytes)
{
	struct column *c = begin_cell(t, BLOBS);

	arrow_table_put_bytes(c, bytes.ptr, bytes.len);
	arrow_table_put_number(c, t->rows, (int64_t)c->byte_count);
	end_cell(t);
}

/* ---- the table ----------------------------------------------------------------------------- */

static char *copy_name(const char *name)
{
	size_t len = strlen(name);
	char *copy = ut_make(3 * len + 1);

	copy[ut_utf8_copy(copy, name, len)] = '\0';
	return copy;
}

struct ut_arrow_table *ut_arrow_table_new(const char *const *names, size_t columns)
{
	struct ut_arrow_table *t = ut_make(sizeof(*t));

	t->columns = ut_make((columns + !columns) * sizeof(*t->columns));
	t->count = columns;
	for (size_t i = 0; i < columns; i++)
		t->columns[i].name = copy_name(names[i]);
	return t;
}

void ut_arrow_table_free(struct ut_arrow_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		struct column *c = &t->columns[i];

		free(c->name);
		free(c->valid);
		free(c->numbers);
		free(c->bytes);
	}
	free(t->columns);
	free(t);
}

/* ---- the stream ---------------------------------------------------------------------------- */

static enum ut_arrow_type arrow_table_type_of(const struct column *c)
{
	bool is_long = c->was_long || c->byte_count > INT32_MAX;

	switch (c->kind) {
	case INTS:
		return c->is_small ? UT_ARROW_I32 : UT_ARROW_I64;
	case REALS:
		return UT_ARROW_F64;
	case BLOBS:
		return is_long ? UT_ARROW_LONG_BYTES : UT_ARROW_BYTES;
	case EMPTY:
	case TEXTS:
		break;
	}
	return is_long ? UT_ARROW_LONG_TEXT : UT_ARROW_TEXT;
}

/* Where texts end becomes where they begin, as Arrow has it: one number more than there are rows.
 */
static void *take_offsets(struct column *c, int64_t rows, bool is_long)
{
	int64_t *ends = c->numbers;
	int32_t *offsets = ut_make(((size_t)rows + 1) * (is_long ? 8 : 4));
	int64_t *long_offsets = (int64_t *)(void *)offsets;

	for (int64_t i = 0; i < rows; i++) {
		if (is_long)
			long_offsets[i + 1] = ends[i];
		else
			offsets[i + 1] = (int32_t)ends[i];
	}
	return offsets;
}

static struct ut_arrow_data take_column(struct column *c, int64_t rows)
{
	struct ut_arrow_data data = { .type = arrow_table_type_of(c),
				      .nulls = c->nulls,
				      .valid = c->valid };

	if (c->kind == EMPTY)
		nulls_to_texts(c, rows);
	if (data.type == UT_ARROW_I32) {
		int32_t *small = data.values = ut_make((size_t)rows * sizeof(*small));

		for (int64_t i = 0; i < rows; i++)
			small[i] = (int32_t)c->numbers[i];
	} else if (data.type == UT_ARROW_I64 || data.type == UT_ARROW_F64) {
		data.values = c->numbers;
		c->numbers = NULL;
	} else {
		data.values = take_offsets(c, rows,
					   data.type == UT_ARROW_LONG_TEXT ||
						   data.type == UT_ARROW_LONG_BYTES);
		data.bytes = c->bytes;
		c->bytes = NULL;
	}
	c->valid = NULL;
	return data;
}

void ut_arrow_table_fix(struct ut_arrow_table *t, const enum ut_arrow_kind *kinds)
{
	for (size_t i = 0; i < t->count; i++) {
		t->columns[i].is_small = kinds[i] == UT_ARROW_KIND_SMALL;
		t->columns[i].kind = t->columns[i].is_small ? INTS : (enum kind)kinds[i];
	}
}

int64_t ut_arrow_table_rows(const struct ut_arrow_table *t)
{
	return t->rows;
}

void ut_arrow_table_schema(const struct ut_arrow_table *t, struct ArrowSchema *out)
{
	struct ut_arrow_field *fields = ut_make((t->count + !t->count) * sizeof(*fields));

	for (size_t i = 0; i < t->count; i++)
		fields[i] = (struct ut_arrow_field){ t->columns[i].name,
						     arrow_table_type_of(&t->columns[i]), true };
	ut_arrow_schema(out, fields, t->count);
	free(fields);
}

static void empty_column(struct column *c)
{
	c->was_long = c->was_long || c->byte_count > INT32_MAX;
	c->valid_cap = c->byte_cap = c->byte_count = 0;
	c->nulls = 0;
	if (!c->numbers)
		c->number_cap = 0;
}

void ut_arrow_table_take(struct ut_arrow_table *t, struct ArrowArray *out)
{
	struct ut_arrow_data *data = ut_make((t->count + !t->count) * sizeof(*data));

	for (size_t i = 0; i < t->count; i++) {
		data[i] = take_column(&t->columns[i], t->rows);
		empty_column(&t->columns[i]);
	}
	ut_arrow_batch(out, data, t->count, t->rows);
	t->rows = 0;
	free(data);
}

struct stream {
	struct ut_arrow_table *table;
};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct stream *s = stream->private_data;

	ut_arrow_table_schema(s->table, out);
	return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct stream *s = stream->private_data;

	*out = (struct ArrowArray){ 0 };
	if (s->table->rows)
		ut_arrow_table_take(s->table, out);
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return NULL;
}

static void arrow_table_release(struct ArrowArrayStream *stream)
{
	struct stream *s = stream->private_data;

	ut_arrow_table_free(s->table);
	free(s);
	stream->release = NULL;
}

void ut_arrow_table_stream(struct ut_arrow_table *table, struct ArrowArrayStream *out)
{
	struct stream *s = ut_make(sizeof(*s));

	s->table = table;
	*out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, arrow_table_release,
					  s };
}
