#include "import/perfetto_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* How many bytes at s are one character, by Unicode's table 3-7; 0 if they are none. */
static size_t character(const unsigned char *s, size_t len)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (n > len)
		return 0;
	low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : low;
	high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : high;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	return n;
}

void ut_pf_text_string(struct ut_buf *b, const char *s, size_t len)
{
	ut_buf_char(b, '"');
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = character((const unsigned char *)s + i, len - i);
		if (!n)
			ut_buf_text(b, "\xef\xbf\xbd");
		else if (s[i] == '"' || s[i] == '\\')
			ut_buf_fmt(b, "\\%c", s[i]);
		else if ((unsigned char)s[i] < 0x20)
			ut_buf_fmt(b, "\\u%04x", (unsigned int)(unsigned char)s[i]);
		else
			ut_buf_add(b, s + i, n);
	}
	ut_buf_char(b, '"');
}

void ut_pf_text_double(struct ut_buf *b, double value)
{
	char text[40];

	if (isnan(value) || isinf(value)) {
		ut_buf_text(b, isnan(value) ? "\"NaN\""
			       : value < 0  ? "\"-Infinity\""
					    : "\"Infinity\"");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) { /* 17 are always enough */
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	ut_buf_text(b, text);
	if (!strpbrk(text, ".e"))
		ut_buf_text(b, ".0");
}
