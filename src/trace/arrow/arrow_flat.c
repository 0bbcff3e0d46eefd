#include "arrow/arrow_flat.h"

#include <assert.h>
#include <string.h>

static void pad(struct ut_buf *b, size_t align)
{
	while (b->len % align)
		ut_buf_char(b, '\0');
}

static void arrow_flat_put(struct ut_buf *b, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ut_buf_char(b, (char)(value >> (8 * i) & 0xff));
}

static void patch(struct ut_buf *b, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		b->data[at + i] = (char)(value >> (8 * i) & 0xff);
}

void ut_flat_i64(struct ut_buf *b, int64_t value)
{
	arrow_flat_put(b, (uint64_t)value, 8);
}

void ut_flat_i32(struct ut_buf *b, int32_t value)
{
	arrow_flat_put(b, (uint32_t)value, 4);
}

size_t ut_flat_begin(struct ut_buf *b)
{
	size_t link = b->len;

	arrow_flat_put(b, 0, 4);
	return link;
}

/* What the link means begins here. */
static void aim(struct ut_buf *b, size_t link)
{
	pad(b, 8);
	patch(b, link, b->len - link, 4);
}

static size_t width(const struct ut_flat_field *f)
{
	return f->size == UT_FLAT_LINK ? 4 : (size_t)f->size;
}

/* Where each field lies, from the table's beginning; 0 = nowhere. Returns the size of all. */
static size_t arrow_flat_lay_out(const struct ut_flat_field *fields, size_t count, size_t *at)
{
	size_t size = 4; /* how far it is to the list of places */

	for (size_t i = 0; i < count; i++) {
		size_t w = width(&fields[i]);

		at[i] = 0;
		if (!w)
			continue;
		size = (size + w - 1) / w * w;
		at[i] = size;
		size += w;
	}
	return size;
}

void ut_flat_table(struct ut_buf *b, size_t link, struct ut_flat_field *fields, size_t count)
{
	size_t at[UT_FLAT_FIELDS], size, list, table;

	assert(count <= UT_FLAT_FIELDS);
	size = arrow_flat_lay_out(fields, count, at);
	aim(b, link);
	table = b->len;
	list = (table + size + 7) / 8 * 8; /* behind the table, so that links need not know it */
	arrow_flat_put(b, (uint64_t)(table - list), 4);
	for (size_t i = 0; i < count; i++) {
		if (!at[i])
			continue;
		while (b->len < table + at[i])
			ut_buf_char(b, '\0');
		fields[i].place = b->len;
		arrow_flat_put(b, fields[i].size == UT_FLAT_LINK ? 0 : (uint64_t)fields[i].value,
			       width(&fields[i]));
	}
	pad(b, 8);
	arrow_flat_put(b, 4 + 2 * count, 2);
	arrow_flat_put(b, size, 2);
	for (size_t i = 0; i < count; i++)
		arrow_flat_put(b, at[i], 2);
}

void ut_flat_string(struct ut_buf *b, size_t link, const char *text)
{
	size_t len = strlen(text);

	aim(b, link);
	arrow_flat_put(b, len, 4);
	ut_buf_add(b, text, len + 1);
}

void ut_flat_vector(struct ut_buf *b, size_t link, size_t count)
{
	pad(b, 8);
	arrow_flat_put(b, 0, 4); /* so that the elements begin at a multiple of 8 */
	patch(b, link, b->len - link, 4);
	arrow_flat_put(b, count, 4);
}

size_t ut_flat_links(struct ut_buf *b, size_t link, size_t count)
{
	size_t first;

	aim(b, link);
	arrow_flat_put(b, count, 4);
	first = b->len;
	for (size_t i = 0; i < count; i++)
		arrow_flat_put(b, 0, 4);
	return first;
}
