#include "arrow/parquet_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/parquet_runs.h"
#include "arrow/parquet_thrift.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"

#if UT_HAVE_ZSTD
#include <zstd.h>
#endif

#define PAGE_ROWS  16384u
#define WORDS_MOST 65536u /* a dictionary of more is none */
#define LEVEL      3      /* of zstd */

enum {
	PAGE_DATA = 0,
	PAGE_DICTIONARY = 2,
};

/* One column while it is written. */
struct writer {
	struct ut_buf *to;
	const struct ArrowSchema *column;
	const struct ArrowArray *values;
	struct ut_parquet_chunk *chunk;
	struct ut_buf page, packed;
	uint32_t *numbers; /* of words, by row, or whether something is there */
	uint32_t *words;   /* row of the first time that a word comes */
	uint32_t word_count;
	bool has_words;
	int rc;
};

int ut_parquet_type(const struct ArrowSchema *column)
{
	switch (column->format[0]) {
	case 'i':
		return UT_PARQUET_INT32;
	case 'l':
		return UT_PARQUET_INT64;
	case 'g':
		return UT_PARQUET_DOUBLE;
	default:
		return UT_PARQUET_BYTES;
	}
}

int ut_parquet_codec(void)
{
	return UT_HAVE_ZSTD ? UT_PARQUET_ZSTD : UT_PARQUET_NOT_PACKED;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool is_there(const struct ArrowArray *a, int64_t row)
{
	const uint8_t *valid = a->buffers[0];

	return !a->null_count || !valid || valid[row / 8] >> (row % 8) & 1;
}

static struct ut_str parquet_page_text_at(const struct writer *w, int64_t row)
{
	const char *bytes = w->values->buffers[2];
	bool is_long = w->column->format[0] == 'U' || w->column->format[0] == 'Z';
	const int32_t *near = w->values->buffers[1];
	const int64_t *far = w->values->buffers[1];
	int64_t from = is_long ? far[row] : near[row], to = is_long ? far[row + 1] : near[row + 1];

	return (struct ut_str){ bytes ? bytes + from : "", (size_t)(to - from) };
}

static void put_u32(struct ut_buf *to, uint32_t value)
{
	ut_buf_add(to, (const char *)&value, sizeof(value));
}

static void parquet_page_put_text(struct ut_buf *to, struct ut_str text)
{
	put_u32(to, (uint32_t)text.len);
	ut_buf_add(to, text.ptr, text.len);
}

static void parquet_page_put_value(struct writer *w, int64_t row)
{
	const char *values = w->values->buffers[1];
	size_t size = ut_parquet_type(w->column) == UT_PARQUET_INT32 ? 4 : 8;

	if (ut_parquet_type(w->column) == UT_PARQUET_BYTES)
		parquet_page_put_text(&w->page, parquet_page_text_at(w, row));
	else
		ut_buf_add(&w->page, values + (size_t)row * size, size);
}

static void find_bounds(struct writer *w)
{
	const int64_t *wide = w->values->buffers[1];
	const int32_t *narrow = w->values->buffers[1];
	int type = ut_parquet_type(w->column);

	if (type != UT_PARQUET_INT32 && type != UT_PARQUET_INT64)
		return;
	for (int64_t i = 0; i < w->values->length; i++) {
		int64_t value = type == UT_PARQUET_INT32 ? narrow[i] : wide[i];

		if (!is_there(w->values, i))
			continue;
		if (!w->chunk->has_bounds || value < w->chunk->least)
			w->chunk->least = value;
		if (!w->chunk->has_bounds || value > w->chunk->most)
			w->chunk->most = value;
		w->chunk->has_bounds = true;
	}
}

/* ---- words --------------------------------------------------------------------------------- */

static uint32_t find_word(struct writer *w, struct ut_hashtab *table, int64_t row)
{
	struct ut_str text = parquet_page_text_at(w, row);
	uint32_t hash = (uint32_t)ut_hash_bytes(text.ptr, text.len), at = hash, number;

	while ((number = ut_hashtab_next(table, hash, &at)) &&
	       !ut_str_eq(parquet_page_text_at(w, w->words[number - 1]), text))
		;
	if (number)
		return number;
	w->words[w->word_count++] = (uint32_t)row;
	ut_hashtab_add(table, hash, w->word_count);
	return w->word_count;
}

/* A dictionary, if texts repeat: on average each twice, and not too many. */
static void find_words(struct writer *w)
{
	struct ut_hashtab table = { 0 };
	int64_t rows = w->values->length, seen = 0;

	w->has_words = ut_parquet_type(w->column) == UT_PARQUET_BYTES && rows < UINT32_MAX;
	w->words = ut_make((WORDS_MOST + 1) * sizeof(*w->words));
	for (int64_t i = 0; i < rows && w->has_words; i++) {
		if (!is_there(w->values, i))
			continue;
		w->numbers[i] = find_word(w, &table, i) - 1;
		seen++;
		w->has_words = w->word_count < WORDS_MOST &&
			       (seen < 4096 || w->word_count <= (uint64_t)seen / 2);
	}
	w->has_words &= w->word_count <= (uint64_t)seen / 2 && seen;
	ut_hashtab_release(&table);
}

/* ---- pages --------------------------------------------------------------------------------- */

#if UT_HAVE_ZSTD
static const struct ut_buf *pack_page(struct writer *w)
{
	size_t most = ZSTD_compressBound(w->page.len), len;
	char *room;

	w->packed.len = 0;
	room = ut_buf_reserve(&w->packed, most);
	len = ZSTD_compress(room, most, w->page.data, w->page.len, LEVEL);
	if (ZSTD_isError(len)) {
		w->rc = -ENOMEM;
		len = 0;
	}
	ut_buf_advance(&w->packed, room + len);
	return &w->packed;
}
#else
static const struct ut_buf *pack_page(struct writer *w)
{
	return &w->page;
}
#endif

/* The head of a page: which it is, how many values, how they are written. */
static void put_page(struct writer *w, int kind, size_t count, int encoding)
{
	const struct ut_buf *packed = w->page.len <= INT32_MAX ? pack_page(w) : NULL;
	struct ut_thrift t = { .to = w->to };
	size_t begin = w->to->len;

	if (!packed || packed->len > INT32_MAX) {
		w->rc = -E2BIG;
		return;
	}
	ut_thrift_i32(&t, 1, kind);
	ut_thrift_i32(&t, 2, (int32_t)w->page.len);
	ut_thrift_i32(&t, 3, (int32_t)packed->len);
	ut_thrift_begin(&t, kind == PAGE_DATA ? 5 : 7);
	ut_thrift_i32(&t, 1, (int32_t)count);
	ut_thrift_i32(&t, 2, encoding);
	if (kind == PAGE_DATA) {
		ut_thrift_i32(&t, 3, UT_PARQUET_RLE);
		ut_thrift_i32(&t, 4, UT_PARQUET_RLE);
	}
	ut_thrift_end(&t);
	ut_thrift_end(&t);
	w->chunk->plain_size += (int64_t)(w->to->len - begin + w->page.len);
	if (packed->len)
		ut_buf_add(w->to, packed->data, packed->len);
	w->chunk->packed_size += (int64_t)(w->to->len - begin);
}

static void put_dictionary(struct writer *w)
{
	w->page.len = 0;
	for (uint32_t i = 0; i < w->word_count; i++)
		parquet_page_put_text(&w->page, parquet_page_text_at(w, w->words[i]));
	put_page(w, PAGE_DICTIONARY, w->word_count, UT_PARQUET_PLAIN);
}

/* Which of the rows have a value; its length stands before it. */
static void put_levels(struct writer *w, int64_t first, size_t count)
{
	uint32_t *levels;
	struct ut_buf runs = { 0 };

	if (!(w->column->flags & ARROW_FLAG_NULLABLE))
		return;
	levels = ut_make(count * sizeof(*levels));
	for (size_t i = 0; i < count; i++)
		levels[i] = is_there(w->values, first + (int64_t)i);
	ut_parquet_runs(&runs, levels, count, 1);
	put_u32(&w->page, (uint32_t)runs.len);
	ut_buf_add(&w->page, runs.data, runs.len);
	ut_buf_release(&runs);
	free(levels);
}

static void put_numbers(struct writer *w, int64_t first, size_t count)
{
	unsigned int bits = ut_parquet_bits(w->word_count > 1 ? w->word_count - 1 : 1);
	size_t there = 0;

	for (size_t i = 0; i < count; i++) { /* those that are there, moved to the front */
		uint32_t number = w->numbers[first + (int64_t)i];

		if (is_there(w->values, first + (int64_t)i))
			w->numbers[(size_t)first + there++] = number;
	}
	ut_buf_char(&w->page, (char)bits);
	ut_parquet_runs(&w->page, w->numbers + first, there, bits);
}

static void parquet_page_put_rows(struct writer *w, int64_t first, size_t count)
{
	w->page.len = 0;
	put_levels(w, first, count);
	if (w->has_words) {
		put_numbers(w, first, count);
	} else {
		for (size_t i = 0; i < count; i++) {
			if (is_there(w->values, first + (int64_t)i))
				parquet_page_put_value(w, first + (int64_t)i);
		}
	}
	put_page(w, PAGE_DATA, count, w->has_words ? UT_PARQUET_DICTIONARY : UT_PARQUET_PLAIN);
}

int ut_parquet_column(struct ut_buf *to, int64_t at, const struct ArrowSchema *column,
		      const struct ArrowArray *values, struct ut_parquet_chunk *chunk)
{
	int64_t rows = values->length;
	struct writer w = { .to = to, .column = column, .values = values, .chunk = chunk };

	*chunk = (struct ut_parquet_chunk){ .values = rows, .nulls = values->null_count };
	w.numbers = ut_make(((size_t)rows + 1) * sizeof(*w.numbers));
	find_bounds(&w);
	find_words(&w);
	if (w.has_words) {
		chunk->dictionary = at + (int64_t)to->len;
		put_dictionary(&w);
	}
	chunk->data = at + (int64_t)to->len;
	for (int64_t i = 0; i < rows && !w.rc; i += PAGE_ROWS)
		parquet_page_put_rows(&w, i, (size_t)(rows - i < PAGE_ROWS ? rows - i : PAGE_ROWS));
	free(w.numbers);
	free(w.words);
	ut_buf_release(&w.page);
	ut_buf_release(&w.packed);
	return w.rc;
}
