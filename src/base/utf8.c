#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

size_t ut_utf8_step(const char *text, size_t len, bool *ok)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t want, i;

	*ok = s[0] < 0x80;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 1;
	want = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	/* The first of the following bytes decides on overlong, surrogate and too large. */
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	for (i = 1; i < want && i < len; i++) {
		if (s[i] < low || s[i] > high)
			return i;
		low = 0x80;
		high = 0xbf;
	}
	*ok = i == want;
	return i;
}

/* Most text is ASCII, which eight bytes at a time can be seen to be. */
static size_t ascii_bytes(const char *s, size_t len)
{
	size_t i = 0;
	uint64_t word;

	for (; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, s + i, sizeof(word));
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
	return i;
}

bool ut_utf8_valid(const char *s, size_t len)
{
	bool ok = true;

	for (size_t i = ascii_bytes(s, len); i < len && ok;)
		i += ut_utf8_step(s + i, len - i, &ok);
	return ok;
}

size_t ut_utf8_copy(char *to, const char *s, size_t len)
{
	size_t n, out = 0;
	bool ok;

	for (size_t i = 0; i < len; i += n) {
		n = ut_utf8_step(s + i, len - i, &ok);
		memcpy(to + out, ok ? s + i : UT_UTF8_BAD, ok ? n : 3);
		out += ok ? n : 3;
	}
	return out;
}
