#include "text/json_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

void ut_double_digits(char to[UT_DOUBLE_ROOM], double value)
{
	char *comma;

	for (int digits = 15; digits <= 17; digits++) { /* 17 are always enough */
		snprintf(to, UT_DOUBLE_ROOM, "%.*g", digits, value);
		if (strtod(to, NULL) == value)
			break;
	}
	comma = strchr(to, ','); /* the user's locale has no say here */
	if (comma)
		*comma = '.';
}

void ut_json_text_double(struct ut_buf *b, double value)
{
	char text[UT_DOUBLE_ROOM];

	if (isnan(value) || isinf(value)) {
		ut_buf_text(b, isnan(value) ? "\"NaN\""
			       : value < 0  ? "\"-Infinity\""
					    : "\"Infinity\"");
		return;
	}
	ut_double_digits(text, value);
	ut_buf_text(b, text);
}

static void put_escaped(struct ut_buf *b, unsigned char c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: byte, letter */

	for (const char *n = named; *n; n += 2) {
		if ((unsigned char)*n == c) {
			ut_buf_char(b, '\\');
			ut_buf_char(b, n[1]);
			return;
		}
	}
	ut_buf_fmt(b, "\\u%04x", c);
}

static size_t plain_bytes(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x80 &&
	       s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

void ut_json_text_str(struct ut_buf *b, const char *s, size_t len)
{
	bool ok;

	ut_buf_char(b, '"');
	for (size_t i = 0, n; i < len; i += n) {
		n = plain_bytes(s + i, len - i);
		if (n) {
			ut_buf_add(b, s + i, n);
		} else if ((unsigned char)s[i] < 0x80) {
			put_escaped(b, (unsigned char)s[i]);
			n = 1;
		} else {
			n = ut_utf8_step(s + i, len - i, &ok);
			ut_buf_add(b, ok ? s + i : UT_UTF8_BAD, ok ? n : strlen(UT_UTF8_BAD));
		}
	}
	ut_buf_char(b, '"');
}
