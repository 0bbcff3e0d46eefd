#include "text/csv_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "base/utf8.h"
#include "text/out.h"

static bool safe;

void ut_csv_set_safe(bool on)
{
	safe = on;
}

static bool is_number(const char *s, size_t len)
{
	char text[64], *end;

	if (len >= sizeof(text))
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	(void)strtod(text, &end);
	return end == text + len;
}

bool ut_csv_guarded(const char *s, size_t len)
{
	return safe && len && memchr("=+-@\t\r", s[0], 6) && !is_number(s, len);
}

bool ut_csv_plain(const char *s, size_t len)
{
	static const bool special[256] = {
		[','] = true, ['"'] = true, ['\n'] = true, ['\r'] = true
	};

	for (size_t i = 0; i < len; i++) {
		if (special[(unsigned char)s[i]])
			return false;
	}
	return true;
}

#define PIECE 4096u /* bytes for which room is made at once */

enum special {
	AS_THEY_ARE, /* NULs */
	REPLACED,    /* NULs */
	BLANKS,      /* NULs and all other control characters */
};

/* The text in to, quotes doubled; returns the end. Of one byte come three at most. */
static char *double_quotes(char *to, const char *s, size_t len, enum special special)
{
	for (size_t i = 0; i < len; i++) {
		if (!s[i] && special == REPLACED) {
			memcpy(to, UT_UTF8_BAD, strlen(UT_UTF8_BAD));
			to += strlen(UT_UTF8_BAD);
			continue;
		}
		*to++ = special == BLANKS && (unsigned char)s[i] < ' ' ? ' ' : s[i];
		if (s[i] == '"')
			*to++ = '"';
	}
	return to;
}

/* In quotes. */
static void put_quoted(struct ut_out *o, const char *s, size_t len, const char *open,
		       enum special special)
{
	ut_out_text(o, open);
	for (size_t i = 0, n; i < len; i += n) {
		n = len - i < PIECE ? len - i : PIECE;
		ut_out_advance(o, double_quotes(ut_out_reserve(o, n * strlen(UT_UTF8_BAD)), s + i,
						n, special));
	}
	ut_out_text(o, "\"");
}

void ut_csv_add_quoted(struct ut_buf *text, const char *s, size_t len)
{
	char *copy = ut_make(2 * len + 1);

	ut_buf_text(text, ut_csv_guarded(s, len) ? "\"'" : "\"");
	ut_buf_add(text, copy, (size_t)(double_quotes(copy, s, len, BLANKS) - copy));
	ut_buf_char(text, '"');
	free(copy);
}

void ut_csv_put_bytes(struct ut_out *o, const char *s, size_t len, bool guard)
{
	put_quoted(o, s, len, guard ? "\"'" : "\"", AS_THEY_ARE);
}

static void put_csv(struct ut_out *o, const char *s, size_t len, bool always)
{
	bool guard = ut_csv_guarded(s, len);
	bool quotes = always || guard || memchr(s, '\0', len) || !ut_csv_plain(s, len);

	if (quotes)
		put_quoted(o, s, len, guard ? "\"'" : "\"", REPLACED);
	else
		ut_out_write(o, s, len);
}

/* The same for bytes that are no UTF-8. */
static void put_csv_repaired(struct ut_out *o, const char *s, size_t len, bool always)
{
	char *copy = ut_make(3 * len);

	put_csv(o, copy, ut_utf8_copy(copy, s, len), always);
	free(copy);
}

void ut_csv_put_quoted(struct ut_out *o, const char *s, size_t len)
{
	(ut_utf8_valid(s, len) ? put_csv : put_csv_repaired)(o, s, len, true);
}

void ut_csv_put_field(struct ut_out *o, const char *s, size_t len)
{
	(ut_utf8_valid(s, len) ? put_csv : put_csv_repaired)(o, s, len, false);
}
