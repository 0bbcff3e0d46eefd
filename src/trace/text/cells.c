#include "text/cells.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "text/out.h"

#define ELLIPSIS "\xe2\x80\xa6" /* one column */

size_t ut_cell_columns(const char *s, size_t len)
{
	size_t n = 0;
	bool ok;

	for (size_t i = 0; i < len; n++)
		i += ut_utf8_step(s + i, len - i, &ok);
	return n;
}

/* C0 and C1 controls: a name must not move the cursor or set the title. */
static bool is_control(const char *s, size_t n)
{
	unsigned char first = (unsigned char)s[0];

	return (n == 1 && (first < 0x20 || first == 0x7f)) ||
	       (n == 2 && first == 0xc2 && (unsigned char)s[1] < 0xa0);
}

size_t ut_cell_name(struct ut_buf *b, const char *s, size_t len, size_t max)
{
	size_t total = ut_cell_columns(s, len), at = 0, n;
	size_t head = total > max ? max / 2 : total;
	size_t tail = total > max ? total - (max - max / 2 - 1) : total;
	bool ok;

	ut_buf_text(b, ""); /* data is never NULL afterwards */
	for (size_t i = 0; i < len; i += n, at++) {
		n = ut_utf8_step(s + i, len - i, &ok);
		if (at == head && at < tail)
			ut_buf_text(b, ELLIPSIS);
		if (at >= head && at < tail)
			continue;
		if (!ok)
			ut_buf_text(b, UT_UTF8_BAD);
		else if (is_control(s + i, n))
			ut_buf_char(b, '?');
		else
			ut_buf_add(b, s + i, n);
	}
	return total > max ? max : total;
}

void ut_cell_text(struct ut_out *o, const char *s)
{
	struct ut_buf b = { 0 };

	ut_cell_name(&b, s, strlen(s), SIZE_MAX);
	ut_out_write(o, b.data, b.len);
	ut_buf_release(&b);
}

const char *ut_cell_time(char buf[UT_CELL_TIME], uint64_t ns)
{
	static const char *const units[] = { "us", "ms", "s" };
	double value = (double)ns / 1000;
	size_t unit = 0;
	int places = 0;

	if (ns < 1000) {
		snprintf(buf, UT_CELL_TIME, "%" PRIu64 " ns", ns);
		return buf;
	}
	/* 999.95 and more would be printed as 1000.0 */
	for (; value >= 999.95 && unit < 2; unit++)
		value /= 1000;
	for (double limit = 999.95; places < 3 && value < limit; limit /= 10)
		places++;
	snprintf(buf, UT_CELL_TIME, "%.*f %s", places, value, units[unit]);
	return buf;
}
