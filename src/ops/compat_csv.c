/*
 * compat_csv.c - the report as CSV, byte for byte as Python's csv module writes it for tt-metal's
 * tools: CRLF, quotes where they are needed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "ops/report.h"
#include "ops/write_report.h"
#include "text/cells.h"
#include "text/out.h"

/* The bytes that a field can only have in quotes. */
static const bool special[256] = { [','] = true, ['"'] = true, ['\n'] = true, ['\r'] = true };

static bool is_plain(struct ut_str text)
{
	const unsigned char *bytes = (const unsigned char *)text.ptr;
	unsigned int found = 0;

	for (size_t i = 0; i < text.len; i++)
		found |= special[bytes[i]];
	return !found;
}

#define PLAIN_ROW 65536u /* bytes of a row that is made in one piece */

/* A row that needs no quotes, as nearly all are; false if this is not one. */
static bool put_plain_row(struct ut_out *out, const struct ut_str *texts, size_t count)
{
	size_t len = count + 2;
	char *p;

	for (size_t i = 0; i < count; i++) {
		len += texts[i].len;
		if (texts[i].len > PLAIN_ROW || !is_plain(texts[i]))
			return false;
	}
	if (len > PLAIN_ROW)
		return false;
	p = ut_out_reserve(out, len);
	for (size_t i = 0; i < count; i++) {
		memcpy(p, texts[i].ptr, texts[i].len);
		p += texts[i].len;
		*p++ = ',';
	}
	p -= count > 0; /* the last comma */
	memcpy(p, "\r\n", 2);
	ut_out_advance(out, p + 2);
	return true;
}

static void put_row(struct ut_out *out, const struct ut_str *texts, size_t count)
{
	if (put_plain_row(out, texts, count))
		return;
	for (size_t i = 0; i < count; i++) {
		ut_out_write(out, ",", i > 0);
		if (is_plain(texts[i]))
			ut_out_write(out, texts[i].ptr, texts[i].len);
		else
			ut_cell_csv(out, texts[i].ptr, texts[i].len);
	}
	ut_out_text(out, "\r\n");
}

void ut_ops_write_csv(const struct ut_ops_report *r, struct ut_out *out)
{
	struct ut_str *texts = ut_make((r->shown + 1) * sizeof(*texts));

	for (size_t i = 0; i < r->shown; i++) {
		const char *name = r->columns[r->by_place[i]].name;

		texts[i] = (struct ut_str){ name, strlen(name) };
	}
	put_row(out, texts, r->shown);
	for (size_t row = 0; row < r->row_count; row++) {
		ut_ops_row_texts(r, row, texts);
		put_row(out, texts, r->shown);
	}
	free(texts);
}
