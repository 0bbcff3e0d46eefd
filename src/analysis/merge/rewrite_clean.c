#include "merge/rewrite_clean.h"

#include <string.h>

#include "base/json_scan.h"
#include "base/str.h"

static bool is_hex(char c)
{
	return ut_json_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Bytes of the UTF-8 sequence at p; 0 if there is none. No surrogates, no long forms. */
static size_t utf8_bytes(const unsigned char *p, size_t left)
{
	/* by the upper five bits of the first byte */
	static const unsigned char length[32] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
						  0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 4, 0 };
	size_t n = length[*p >> 3];

	if (!n || n > left || *p == 0xc0 || *p == 0xc1 || *p > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

static bool look_closely(const char *p, const char *end)
{
	while (p < end) {
		size_t n = utf8_bytes((const unsigned char *)p, (size_t)(end - p));

		if (!n)
			return false;
		if (*p != '\\') {
			p += n;
			continue;
		}
		if (p[1] == 'u' && (end - p < 6 || !is_hex(p[2]) || !is_hex(p[3]) ||
				    !is_hex(p[4]) || !is_hex(p[5])))
			return false;
		p += 2;
	}
	return true;
}

#ifdef __SSE2__
/* ASCII without a backslash? */
static inline bool dull(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);

	/* what is not ASCII has its top bit set, as has the comparison */
	return !_mm_movemask_epi8(_mm_or_si128(x, _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'))));
}
#endif

bool ut_rewrite_is_clean(struct ut_str text)
{
	const char *p = text.ptr, *end = p + text.len;

#ifdef __SSE2__
	while (end - p >= 16 && dull(p))
		p += 16;
	if (end - p < 16 && text.len >= 16 && dull(end - 16))
		return true;
#endif
	return look_closely(p, end);
}

static void add_utf8(struct ut_buf *out, const char *p, const char *end)
{
	for (size_t n; p < end; p += n ? n : 1) {
		n = utf8_bytes((const unsigned char *)p, (size_t)(end - p));
		if (n)
			ut_buf_add(out, p, n);
		else
			ut_buf_text(out, "\xef\xbf\xbd");
	}
}

static void replace_bad_bytes(struct ut_buf *b)
{
	struct ut_buf good = { 0 };

	add_utf8(&good, b->data, b->data + b->len);
	ut_buf_release(b);
	*b = good;
}

void ut_rewrite_string(struct ut_str bytes, struct ut_buf *out)
{
	const char *p = bytes.ptr, *end = p + bytes.len, *plain;

	ut_buf_char(out, '"');
	while (p < end) {
		for (plain = p; p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= ' ';)
			p++;
		add_utf8(out, plain, p);
		if (p < end)
			ut_buf_fmt(out, "\\u%04x", (unsigned char)*p++);
	}
	ut_buf_char(out, '"');
}

void ut_rewrite_clean(struct ut_str text, struct ut_buf *out)
{
	out->len = 0;
	ut_json_minify(text, out);
	if (out->len && !look_closely(out->data, out->data + out->len))
		replace_bad_bytes(out);
}
