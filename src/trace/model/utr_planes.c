#include "model/utr_planes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/store.h"
#include "model/utr.h"

#define BLOCK_BYTES ((size_t)UT_BLOCK_ROWS * UT_UTR_ROW)

/* The columns of a block, in their order. */
static const struct {
	unsigned int size;
	bool steps; /* numbers that mostly grow a little */
} columns[] = { { 8, true }, { 8, false }, { 4, false }, { 4, true } };

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void split_column(const unsigned char *from, unsigned char *to, size_t rows, size_t column)
{
	uint64_t before = 0;

	for (size_t i = 0; i < rows; i++) {
		uint64_t value = 0, step;

		memcpy(&value, from + i * columns[column].size, columns[column].size);
		step = columns[column].steps ? value - before : value;
		before = value;
		for (unsigned int plane = 0; plane < columns[column].size; plane++)
			to[plane * rows + i] = (unsigned char)(step >> plane * 8);
	}
}

static void join_column(const unsigned char *from, unsigned char *to, size_t rows, size_t column)
{
	uint64_t before = 0;

	for (size_t i = 0; i < rows; i++) {
		uint64_t value = columns[column].steps ? before : 0;

		for (unsigned int plane = 0; plane < columns[column].size; plane++)
			value += (uint64_t)from[plane * rows + i] << plane * 8;
		before = value;
		memcpy(to + i * columns[column].size, &value, columns[column].size);
	}
}

/* A section of at least one item; NULL = the image has none, or is none. */
static void *utr_planes_find(char *image, size_t size, uint32_t id, uint64_t *bytes)
{
	struct ut_utr_header h;

	if (size < sizeof(h))
		return NULL;
	memcpy(&h, image, sizeof(h));
	if (memcmp(h.magic, UT_UTR_MAGIC, sizeof(h.magic)) != 0 || h.toc_offset > size ||
	    h.toc_count > (size - h.toc_offset) / sizeof(struct ut_utr_section))
		return NULL;
	for (uint32_t i = 0; i < h.toc_count; i++) {
		struct ut_utr_section s;

		memcpy(&s, image + h.toc_offset + i * sizeof(s), sizeof(s));
		if (s.id != id)
			continue;
		*bytes = s.size;
		return s.offset <= size && s.size <= size - s.offset ? image + s.offset : NULL;
	}
	return NULL;
}

static bool each_block(char *image, size_t size,
		       void (*turn)(const unsigned char *, unsigned char *, size_t, size_t))
{
	uint64_t track_bytes, left;
	const struct ut_utr_track *tracks =
		utr_planes_find(image, size, UT_UTR_TRACKS, &track_bytes);
	unsigned char *at = utr_planes_find(image, size, UT_UTR_ROWS, &left), *room;

	if (!tracks || !at)
		return false;
	room = ut_make(BLOCK_BYTES);
	for (uint64_t i = 0; i < track_bytes / sizeof(*tracks); i++) {
		for (uint64_t rows = tracks[i].rows; rows && left >= UT_UTR_ROW;) {
			uint64_t most = left / UT_UTR_ROW < rows ? left / UT_UTR_ROW : rows;
			size_t n = most < UT_BLOCK_ROWS ? (size_t)most : UT_BLOCK_ROWS, column = 0;

			for (size_t c = 0; c < COLUMNS; c++) {
				turn(at + column, room + column, n, c);
				column += n * columns[c].size;
			}
			memcpy(at, room, column);
			at += column;
			left -= column;
			rows -= n;
		}
	}
	free(room);
	return true;
}

bool ut_utr_split_rows(void *image, size_t size)
{
	return each_block(image, size, split_column);
}

bool ut_utr_join_rows(void *image, size_t size)
{
	return each_block(image, size, join_column);
}
