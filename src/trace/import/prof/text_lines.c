#include "import/prof/text_lines.h"

#include <string.h>

#include "text/source.h"

#define PIECE 65536u

/* What has been handed out makes room. */
static void text_lines_make_room(struct ut_text_lines *l)
{
	if (!l->at)
		return;
	memmove(l->buf.data, l->buf.data + l->at, l->buf.len - l->at);
	l->buf.len -= l->at;
	l->at = 0;
}

static int text_lines_read_more(struct ut_text_lines *l, struct ut_err *err)
{
	char *to;
	ssize_t n;

	text_lines_make_room(l);
	to = ut_buf_reserve(&l->buf, PIECE);
	n = ut_source_read(l->source, to, PIECE, err);
	if (n < 0)
		return (int)n;
	ut_buf_advance(&l->buf, to + n);
	l->ended = !n;
	return 0;
}

bool ut_text_lines_next(struct ut_text_lines *l, struct ut_str *line, int *rc, struct ut_err *err)
{
	size_t seen = 0;

	*rc = 0;
	for (;;) {
		size_t left = l->buf.len - l->at;
		const char *start = left ? l->buf.data + l->at : NULL;
		const char *end = left > seen ? memchr(start + seen, '\n', left - seen) : NULL;

		if (end || (l->ended && left) || left > UT_TEXT_LINE_MOST) {
			size_t len = end ? (size_t)(end - start) : left;

			*line = (struct ut_str){ start, len };
			if (len && start[len - 1] == '\r')
				line->len--;
			l->offset = l->source->at - left;
			l->at += len + (end ? 1 : 0);
			return true;
		}
		if (l->ended)
			return false;
		seen = left;
		*rc = text_lines_read_more(l, err);
		if (*rc)
			return false;
	}
}

void ut_text_lines_release(struct ut_text_lines *l)
{
	ut_buf_release(&l->buf);
}
