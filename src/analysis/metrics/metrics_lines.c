#include "metrics/metrics_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define PIECE ((size_t)1 << 20)
#define MOST  ((size_t)64 << 20) /* of a line: no name is that long */

int ut_lines_open(struct ut_lines *l, const char *path, struct ut_err *err)
{
	*l = (struct ut_lines){ .next = 1 };
	return ut_source_open(&l->source, path, err);
}

void ut_lines_close(struct ut_lines *l)
{
	ut_source_close(&l->source);
	free(l->data);
}

/* More bytes behind those that are there; what was given out is forgotten. */
static int metrics_lines_fill(struct ut_lines *l, struct ut_err *err)
{
	size_t room;
	ssize_t got;

	if (l->at) {
		memmove(l->data, l->data + l->at, l->len - l->at);
		l->len -= l->at;
		l->at = 0;
	}
	if (l->len >= MOST)
		return ut_err_set(err, -EINVAL, "%s:%" PRIu64 ": a line of more than %zu MiB",
				  l->source.path, l->next, MOST >> 20);
	room = l->len > PIECE ? l->len : PIECE; /* a long line is not searched again and again */
	l->data = ut_grow_raw(l->data, l->len + room + UT_LINES_PAD, &l->cap, 1);
	got = ut_source_read(&l->source, l->data + l->len, room, err);
	if (got < 0)
		return (int)got;
	l->len += (size_t)got;
	l->at_end = got == 0;
	memset(l->data + l->len, 0, UT_LINES_PAD);
	return 0;
}

const char *ut_lines_quote(struct ut_str line)
{
	const char *end = line.ptr + line.len, *p = line.ptr + 1;

	while (p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
		const char *next = p + 1;

		if (next == end || *next == ',' || *next == '\n' || *next == '\r')
			return p;
		p = next + (*next == '"');
	}
	return NULL;
}

/* Where the line at p ends; NULL: not in what is there. */
static const char *line_end(struct ut_lines *l, const char *p, const char *end)
{
	const char *quote = p, *first;

	while (quote < end && (*quote == ' ' || *quote == '\t'))
		quote++;
	first = memchr(quote, '\n', (size_t)(end - quote));
	if (quote == end || *quote != '"')
		return first;
	/* the name ends in this line, as a rule; otherwise it has line breaks */
	if (first && ut_lines_quote((struct ut_str){ quote, (size_t)(first - quote) }))
		return first;
	if (!l->no_quote)
		quote = ut_lines_quote((struct ut_str){ quote, (size_t)(end - quote) });
	l->no_quote |= l->at_end && !quote;
	if (l->no_quote)
		return first; /* never closed: a line like any other */
	return quote ? memchr(quote, '\n', (size_t)(end - quote)) : NULL;
}

static uint64_t breaks(const char *p, const char *end)
{
	uint64_t n = 0;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		n++;
		p++;
	}
	return n;
}

int ut_lines_next(struct ut_lines *l, struct ut_str *line, struct ut_err *err)
{
	const char *begin, *end;
	int rc;

	for (;;) {
		begin = l->at < l->len ? l->data + l->at : NULL;
		end = begin ? line_end(l, begin, l->data + l->len) : NULL;
		if (end || l->at_end)
			break;
		rc = metrics_lines_fill(l, err);
		if (rc)
			return rc;
	}
	if (!begin)
		return 0;
	l->is_whole = end != NULL;
	end = end ? end : l->data + l->len;
	l->line = l->next;
	l->next += 1 + (*begin == '"' || *begin == ' ' ? breaks(begin, end) : 0);
	l->at = (size_t)(end - l->data) + l->is_whole;
	*line = (struct ut_str){ begin, (size_t)(end - begin) };
	if (line->len && line->ptr[line->len - 1] == '\r')
		line->len--;
	return 1;
}
