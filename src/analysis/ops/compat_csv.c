/*
 * compat_csv.c - the report as CSV, byte for byte as Python's csv module writes it for tt-metal's
 * tools: CRLF, quotes where they are needed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/grow.h"
#include "base/str.h"
#include "ops/report.h"
#include "ops/write_report.h"
#include "text/csv_write.h"
#include "text/out.h"

#define PIECE 16u /* bytes that are looked at in one step; so many may be read behind a field */

/* Has it none of the bytes that a field can only have in quotes? */
static bool compat_csv_is_plain(const char *p, size_t len)
{
#if defined(__SSE2__)
	__m128i found = _mm_setzero_si128();
	unsigned int last;
	size_t i = 0;

	if (!len)
		return true;
	for (;; i += PIECE) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i now = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(',')),
					   _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));

		now = _mm_or_si128(now, _mm_cmpeq_epi8(v, _mm_set1_epi8('\n')));
		now = _mm_or_si128(now, _mm_cmpeq_epi8(v, _mm_set1_epi8('\r')));
		if (len - i <= PIECE) {
			last = (unsigned int)_mm_movemask_epi8(now);
			break;
		}
		found = _mm_or_si128(found, now);
	}
	last &= 0xffffu >> (PIECE - (len - i));
	return !last && !_mm_movemask_epi8(found);
#else
	return ut_csv_plain(p, len);
#endif
}

#define ROW 65536u /* bytes of a row that is made in one piece */

static bool compat_csv_fits(const struct ut_str *texts, size_t count)
{
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		if (texts[i].len > ROW)
			return false;
		len += texts[i].len + 1;
	}
	return len <= ROW;
}

/* Fields are copied first and looked at then: nearly all of them stay as they are. */
static void compat_csv_put_row(struct ut_out *out, const struct ut_str *texts, size_t count)
{
	bool one = compat_csv_fits(texts, count);
	char *p = ut_out_reserve(out, ROW + PIECE);

	for (size_t i = 0; i < count; i++) {
		if (i)
			*p++ = ',';
		if (one) {
			memcpy(p, texts[i].ptr, texts[i].len);
			if (compat_csv_is_plain(p, texts[i].len)) {
				p += texts[i].len;
				continue;
			}
		}
		ut_out_advance(out, p);
		if (!one && ut_csv_plain(texts[i].ptr, texts[i].len))
			ut_out_write(out, texts[i].ptr, texts[i].len);
		else
			ut_csv_put_quoted(out, texts[i].ptr, texts[i].len);
		p = ut_out_reserve(out, ROW + PIECE);
	}
	memcpy(p, "\r\n", 2);
	ut_out_advance(out, p + 2);
}

void ut_ops_write_csv(const struct ut_ops_report *r, struct ut_out *out)
{
	struct ut_str *texts = ut_make((r->shown + 1) * sizeof(*texts));

	for (size_t i = 0; i < r->shown; i++) {
		const char *name = r->columns[r->by_place[i]].name;

		texts[i] = (struct ut_str){ name, strlen(name) };
	}
	compat_csv_put_row(out, texts, r->shown);
	for (size_t row = 0; row < r->row_count; row++) {
		ut_ops_row_texts(r, row, texts);
		compat_csv_put_row(out, texts, r->shown);
	}
	free(texts);
}
