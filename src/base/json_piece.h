/*
 * json_piece.h - steps through JSON that lies in memory in one piece, in place.
 *
 * For values that a reader has accepted and kept (arguments, ids): json.h would copy each of them
 * into a window of its own first. Any bytes are safe; of text that is no JSON the answer is only
 * some place that is not behind the end. What a string stands for: ut_json_decode().
 */
#ifndef UT_BASE_JSON_PIECE_H
#define UT_BASE_JSON_PIECE_H

#include <stdbool.h>
#include <stddef.h>

static inline const char *ut_json_behind_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
		p++;
	return p;
}

/* p is on the quote that opens a string; end if no other closes it. */
static inline const char *ut_json_closing_quote(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p : end;
}

static inline const char *ut_json_behind_string(const char *p, const char *end)
{
	p = ut_json_closing_quote(p, end);
	return p < end ? p + 1 : end;
}

/* To the comma or the bracket that follows a value of any kind: what is in strings does not count.
 */
static inline const char *ut_json_behind_value(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = ut_json_behind_string(p, end);
			continue;
		}
		if (!depth && (*p == ',' || *p == ']' || *p == '}'))
			break;
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		p++;
	}
	return p;
}

#endif
