#include "text/csv_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/source.h"

#define MOST_LINE ((size_t)16 << 20)
#define MOST_TEXT ((size_t)4 << 30)

/* An input that never ends, or is no table, is no reason to take all memory. */
static int check_size(const struct ut_buf *b, size_t line, const char *path, struct ut_err *err)
{
	if (b->len - line > MOST_LINE)
		return ut_err_set(err, -EFBIG, "%s: offset %zu: a line of over 16 MiB; no table",
				  path, line);
	if (b->len > MOST_TEXT)
		return ut_err_set(err, -EFBIG, "%s: over 4 GiB, too much for a table", path);
	return 0;
}

static int csv_read_read_all(const char *path, struct ut_buf *b, struct ut_err *err)
{
	char piece[16384];
	struct ut_source source;
	size_t line = 0; /* where the last one starts */
	ssize_t got;
	int rc = ut_source_open(&source, path, err);

	if (rc)
		return rc;
	while (!rc && (got = ut_source_read(&source, piece, sizeof(piece), err)) != 0) {
		const char *newline = got > 0 ? memrchr(piece, '\n', (size_t)got) : NULL;

		if (newline)
			line = b->len + (size_t)(newline - piece) + 1;
		if (got > 0)
			ut_buf_add(b, piece, (size_t)got);
		rc = got < 0 ? (int)got : check_size(b, line, path, err);
	}
	ut_source_close(&source);
	return rc;
}

void ut_csv_open_text(struct ut_csv *c, struct ut_arena *a, char *text, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors put it in front */

	c->at = text;
	c->end = text + len;
	if (len >= strlen(mark) && !memcmp(text, mark, strlen(mark)))
		c->at += strlen(mark);
	c->next_line = 1;
	if (!ut_csv_next(c))
		return;
	c->title_count = c->count;
	c->titles = UT_NEW_N(a, struct ut_str, c->count);
	memcpy(c->titles, c->fields, c->count * sizeof(*c->titles));
}

int ut_csv_open(struct ut_csv *c, struct ut_arena *a, const char *path, struct ut_err *err)
{
	struct ut_buf b = { 0 };
	int rc = csv_read_read_all(path, &b, err);
	size_t len = b.len;

	if (rc)
		ut_buf_release(&b);
	else
		ut_csv_open_text(c, a, ut_buf_take(&b, a), len);
	return rc;
}

void ut_csv_close(struct ut_csv *c)
{
	free(c->fields);
	c->fields = NULL;
}

static void add_field(struct ut_csv *c, char *from, char *to)
{
	while (c->trim && from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (c->trim && from < to && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	c->fields = ut_grow(c->fields, c->count + 1, &c->cap, sizeof(*c->fields));
	c->fields[c->count++] = (struct ut_str){ from, (size_t)(to - from) };
}

/* A field in quotes; two of them stand for one. Returns where its text ends now. */
static char *unquote(struct ut_csv *c, char *to)
{
	for (c->at++; c->at < c->end; c->at++) {
		if (*c->at == c->quote) {
			if (c->at + 1 == c->end || c->at[1] != c->quote) {
				c->at++;
				break;
			}
			c->at++;
		}
		c->next_line += *c->at == '\n';
		*to++ = *c->at;
	}
	return to;
}

/* The text of a field moves to the front of itself if quotes go; the rest is taken as it is. */
static void read_field(struct ut_csv *c)
{
	char *from = c->at, *to = c->at;

	if (c->quote && c->at < c->end && *c->at == c->quote)
		to = unquote(c, to);
	while (c->at < c->end && *c->at != c->separator && *c->at != '\n')
		*to++ = *c->at++;
	if ((c->at == c->end || *c->at == '\n') && to > from && to[-1] == '\r')
		to--;
	add_field(c, from, to);
}

bool ut_csv_next(struct ut_csv *c)
{
	do {
		char ended;

		if (c->at == c->end)
			return false;
		c->count = 0;
		c->line = c->next_line;
		do {
			read_field(c);
			ended = c->at < c->end ? *c->at++ : '\n';
		} while (ended == c->separator);
		c->next_line++;
	} while (c->count == 1 && !c->fields[0].len);
	return true;
}

size_t ut_csv_find(const struct ut_csv *c, const char *title)
{
	for (size_t i = 0; i < c->title_count; i++) {
		if (ut_str_is(c->titles[i], title))
			return i;
	}
	return UT_CSV_NO_FIELD;
}

struct ut_str ut_csv_field(const struct ut_csv *c, size_t field)
{
	return field < c->count ? c->fields[field] : (struct ut_str){ "", 0 };
}

#define SAFE_DIGITS 19u /* that any number may have without being too large */

bool ut_csv_number(struct ut_str text, uint64_t *value)
{
	size_t safe = text.len < SAFE_DIGITS ? text.len : SAFE_DIGITS;
	uint64_t first = 0;

	*value = 0;
	for (size_t i = 0; i < safe; i++) {
		unsigned int digit = (unsigned int)(text.ptr[i] - '0');

		if (digit > 9)
			return false;
		first = first * 10 + digit;
	}
	*value = first;
	for (size_t i = safe; i < text.len; i++) {
		unsigned int digit = (unsigned int)(text.ptr[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(*value, 10u, value) ||
		    __builtin_add_overflow(*value, digit, value))
			return false;
	}
	return text.len != 0;
}
