#include "draw/typeset.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "draw/scene.h"

#define MONO_WIDTH  600
#define OTHER_WIDTH 600 /* letters beyond ASCII, as a rule */
#define WIDE_WIDTH  1000
#define ELLIPSIS    "\xe2\x80\xa6"
#define BOLD_MORE   1.07 /* bold is wider by about this */

/* Of Helvetica, in thousandths of the size, from the blank to the tilde. */
static const unsigned short widths[95] = {
	278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, /* 0 - / */
	556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, /* 0 - ? */
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, /* @ - O */
	667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, /* P - _ */
	333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, /* ` - o */
	556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,      /* p - ~ */
};

static unsigned int letter_width(const char *s, size_t len)
{
	unsigned char c = (unsigned char)s[0];

	if (len == 1)
		return c >= ' ' && c <= '~' ? widths[c - ' '] : 0;
	if (len == sizeof(ELLIPSIS) - 1 && !memcmp(s, ELLIPSIS, len))
		return WIDE_WIDTH;
	return c >= 0xe3 ? WIDE_WIDTH : OTHER_WIDTH; /* from U+3000: CJK, pictures */
}

bool ut_text_is_measured(struct ut_str text)
{
	for (size_t i = 0; i < text.len;) {
		bool ok;
		size_t step = ut_utf8_step(text.ptr + i, text.len - i, &ok);

		if (step > 1 &&
		    (step != sizeof(ELLIPSIS) - 1 || memcmp(text.ptr + i, ELLIPSIS, step) != 0))
			return false;
		i += step;
	}
	return true;
}

double ut_text_width(const struct ut_lettering *type, struct ut_str text)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < text.len;) {
		bool ok;
		size_t step = ut_utf8_step(text.ptr + i, text.len - i, &ok);

		sum += type->is_mono && (unsigned char)text.ptr[i] < 0xe3
			       ? MONO_WIDTH
			       : letter_width(text.ptr + i, step);
		i += step;
	}
	return (double)sum / 1000 * type->size * (type->is_bold ? BOLD_MORE : 1);
}

/* The longest start that is no wider; letters are taken whole. */
static size_t start_within(const struct ut_lettering *type, struct ut_str text, double width)
{
	size_t at = 0;
	double used = 0;

	while (at < text.len) {
		bool ok;
		size_t step = ut_utf8_step(text.ptr + at, text.len - at, &ok);

		used += ut_text_width(type, (struct ut_str){ text.ptr + at, step });
		if (used > width)
			break;
		at += step;
	}
	return at;
}

struct ut_str ut_text_fit(struct ut_arena *a, const struct ut_lettering *type, struct ut_str text,
			  double width)
{
	static const struct ut_str dots = { ELLIPSIS, sizeof(ELLIPSIS) - 1 };
	double all = ut_text_width(type, text), room = width - ut_text_width(type, dots);
	size_t head, tail;
	char *to;

	if (all <= width)
		return text;
	if (room <= 0)
		return (struct ut_str){ "", 0 };
	head = start_within(type, text, room / 2);
	/* what must go is at least this wide; the rest is the tail */
	tail = head +
	       start_within(type, (struct ut_str){ text.ptr + head, text.len - head }, all - room);
	while (tail < text.len &&
	       ut_text_width(type, (struct ut_str){ text.ptr + tail, text.len - tail }) >
		       room - ut_text_width(type, (struct ut_str){ text.ptr, head })) {
		bool ok;

		tail += ut_utf8_step(text.ptr + tail, text.len - tail, &ok);
	}
	to = ut_arena_alloc(a, head + dots.len + (text.len - tail) + 1, 1);
	memcpy(to, text.ptr, head);
	memcpy(to + head, dots.ptr, dots.len);
	memcpy(to + head + dots.len, text.ptr + tail, text.len - tail);
	return (struct ut_str){ to, head + dots.len + (text.len - tail) };
}
