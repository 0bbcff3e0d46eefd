/*
 * json_string.c - what strings stand for, and values rewritten as strict JSON.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/str.h"
#include "base/utf8.h"

#define REPLACEMENT 0xfffdu

/* Four hex digits at p; -1 if they are none. */
static int hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = (char)(p[i] | 32);

		if (ut_json_digit(p[i]))
			v = v << 4 | (p[i] - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (c - 'a' + 10);
		else
			return -1;
	}
	return v;
}

bool ut_json_escape_ok(const char *p)
{
	if (p[1] == 'u')
		return hex4(p + 2, p + 6) >= 0;
	return p[1] && strchr("\"\\/bfnrt", p[1]);
}

/* p is behind "\u"; on return behind what was used of the text. */
static char *put_unicode(char *out, const char **p, const char *end)
{
	int c = hex4(*p, end), low = -1;

	if (c < 0) { /* no escape after all: keep what is there */
		*out++ = '\\';
		*out++ = 'u';
		return out;
	}
	*p += 4;
	if (c >= 0xd800 && c < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u')
		low = hex4(*p + 2, end);
	if (low >= 0xdc00 && low < 0xe000) {
		*p += 6;
		return out + ut_utf8_put(out, 0x10000u + ((uint32_t)(c - 0xd800) << 10) +
						      (uint32_t)(low - 0xdc00));
	}
	return out + ut_utf8_put(out, c >= 0xd800 && c < 0xe000 ? REPLACEMENT : (uint32_t)c);
}

bool ut_json_escaped(struct ut_str raw)
{
	return memchr(raw.ptr, '\\', raw.len);
}

size_t ut_json_decode(struct ut_str raw, char *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p = raw.ptr, *end = p + raw.len, *back, *plain;
	char *o = out;

	while (p < end) {
		back = memchr(p, '\\', (size_t)(end - p));
		if (!back || back + 1 == end)
			back = end;
		memcpy(o, p, (size_t)(back - p));
		o += back - p;
		if (back == end)
			break;
		p = back + 2;
		plain = back[1] ? strchr(from, back[1]) : NULL;
		if (plain) {
			*o++ = to[plain - from];
		} else if (back[1] == 'u') {
			o = put_unicode(o, &p, end);
		} else {
			*o++ = '\\';
			*o++ = back[1];
		}
	}
	return (size_t)(o - out);
}

/* One character as JSON wants it, in the shortest spelling. */
static void put_strict(struct ut_buf *out, uint32_t c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: byte, letter */
	char utf8[4];

	for (const char *n = named; *n; n += 2) {
		if ((unsigned char)*n == c) {
			ut_buf_char(out, '\\');
			ut_buf_char(out, n[1]);
			return;
		}
	}
	if (c < ' ')
		ut_buf_fmt(out, "\\u%04x", c);
	else
		ut_buf_add(out, utf8, ut_utf8_put(utf8, c));
}

/* The escape at p as one character; returns behind it. */
static const char *strict_escape(const char *p, struct ut_buf *out)
{
	struct ut_str raw = { p, p[1] == 'u' ? 6 : 2 };
	char utf8[12];
	int high;

	if (!ut_json_escape_ok(p)) { /* it was meant as it stands */
		put_strict(out, '\\');
		return p + 1;
	}
	high = p[1] == 'u' ? hex4(p + 2, p + 6) : 0;
	if (high >= 0xd800 && high < 0xdc00 && p[6] == '\\' && p[7] == 'u' &&
	    ut_json_escape_ok(p + 6) && (hex4(p + 8, p + 12) & 0xfc00) == 0xdc00)
		raw.len = 12;
	if (ut_json_decode(raw, utf8) == 1)
		put_strict(out, (unsigned char)utf8[0]);
	else
		ut_buf_add(out, utf8, ut_json_decode(raw, utf8));
	return p + raw.len;
}

/* From the opening quote; returns behind the closing one. Equal strings come out equal. */
static const char *strict_string(const char *p, struct ut_buf *out)
{
	const char *q;

	ut_buf_char(out, '"');
	for (p++;; p = q) {
		q = ut_json_special(p);
		ut_buf_add(out, p, (size_t)(q - p));
		if (*q == '"') {
			ut_buf_char(out, '"');
			return q + 1;
		}
		if (*q == '\\')
			q = strict_escape(q, out);
		else
			put_strict(out, (unsigned char)*q++);
	}
}

/* 007, +1, .5, 5. and the like: the digits stay, what is around them is put right. */
static void put_odd_number(struct ut_str text, struct ut_buf *out)
{
	const char *p = text.ptr, *end = p + text.len;

	if (*p == '-')
		ut_buf_char(out, '-');
	if (*p == '-' || *p == '+')
		p++;
	while (p + 1 < end && *p == '0' && ut_json_digit(p[1]))
		p++;
	if (!ut_json_digit(*p))
		ut_buf_char(out, '0');
	for (; p < end; p++) {
		if (*p != '.' || (p + 1 < end && ut_json_digit(p[1])))
			ut_buf_char(out, *p);
	}
}

static void json_string_put_number(struct ut_str text, double value, struct ut_buf *out)
{
	if (isnan(value))
		ut_buf_text(out, "\"NaN\"");
	else if (isinf(value) && !memchr("+-.0123456789", text.ptr[text.len - 1], 13))
		ut_buf_text(out, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		put_odd_number(text, out);
}

static const char *strict_word(const char *p, const char *end, struct ut_buf *out)
{
	struct ut_json_number n;
	struct ut_str word = { p, 0 };

	while (p < end && !strchr(" \t\r\n,:[]{}\"", *p) && (unsigned char)*p > ' ')
		p++;
	word.len = (size_t)(p - word.ptr);
	if (!ut_json_strict_number(word) && ut_json_number(word, &n) != UT_JSON_NOT)
		json_string_put_number(word, n.f64, out);
	else
		ut_buf_add(out, word.ptr, word.len);
	return p;
}

void ut_json_minify(struct ut_str value, struct ut_buf *out)
{
	const char *p = value.ptr, *end = p + value.len;
	bool after = false; /* a value: commas are ours, the writer's do not count */

	while (p < end) {
		char c = *p;

		if ((unsigned char)c <= ' ' || c == ',') {
			p++;
		} else if (c == '}' || c == ']' || c == ':') {
			ut_buf_char(out, c);
			after = c != ':';
			p++;
		} else {
			if (after)
				ut_buf_char(out, ',');
			after = c != '{' && c != '[';
			if (c == '"')
				p = strict_string(p, out);
			else if (after)
				p = strict_word(p, end, out);
			else
				ut_buf_char(out, *p++);
		}
	}
}
