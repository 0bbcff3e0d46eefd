#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define MAX_WORD 48 /* longer words are not typed by hand */

static void str_reserve(struct ut_buf *b, size_t more)
{
	size_t need = b->len + more + 1;
	size_t cap = b->cap ? b->cap : 64;

	if (need <= b->cap)
		return;
	while (cap < need)
		cap *= 2;
	b->data = realloc(b->data, cap);
	if (!b->data) {
		fprintf(stderr, "unitrace: out of memory (%zu bytes wanted)\n", cap);
		abort();
	}
	b->cap = cap;
}

void ut_buf_add(struct ut_buf *b, const char *s, size_t len)
{
	str_reserve(b, len);
	if (len)
		memcpy(b->data + b->len, s, len);
	b->len += len;
	b->data[b->len] = '\0';
}

char *ut_buf_reserve(struct ut_buf *b, size_t n)
{
	str_reserve(b, n);
	return b->data + b->len;
}

void ut_buf_advance(struct ut_buf *b, const char *end)
{
	b->len = (size_t)(end - b->data);
	b->data[b->len] = '\0';
}

void ut_buf_text(struct ut_buf *b, const char *s)
{
	ut_buf_add(b, s, strlen(s));
}

void ut_buf_char(struct ut_buf *b, char c)
{
	ut_buf_add(b, &c, 1);
}

static void buf_vfmt(struct ut_buf *b, const char *fmt, va_list ap) UT_PRINTF(2, 0);

static void buf_vfmt(struct ut_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	str_reserve(b, 0);
	va_copy(again, ap);
	len = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	if (len > 0 && (size_t)len >= b->cap - b->len) {
		str_reserve(b, (size_t)len);
		vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
	}
	va_end(again);
	b->len += len > 0 ? (size_t)len : 0;
}

void ut_buf_fmt(struct ut_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
}

void ut_buf_release(struct ut_buf *b)
{
	free(b->data);
	*b = (struct ut_buf){ 0 };
}

char *ut_buf_take(struct ut_buf *b, struct ut_arena *a)
{
	char *copy = ut_arena_copy(a, b->data, b->len);

	ut_buf_release(b);
	return copy;
}

char *ut_str_fmt(struct ut_arena *a, const char *fmt, ...)
{
	struct ut_buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	return ut_buf_take(&b, a);
}

bool ut_str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool ut_str_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), tail = strlen(suffix);

	return len >= tail && !strcmp(s + len - tail, suffix);
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int m = a < b ? a : b;

	return m < c ? m : c;
}

unsigned int ut_str_distance(const char *a, const char *b)
{
	unsigned int row[3][MAX_WORD + 1]; /* this row, the one above, the one above that */
	unsigned int *now = row[0], *up = row[1], *up2 = row[2], *spare;
	size_t alen = strlen(a), blen = strlen(b);

	if (alen > MAX_WORD || blen > MAX_WORD)
		return 99;
	for (size_t j = 0; j <= blen; j++)
		now[j] = (unsigned int)j;
	for (size_t i = 1; i <= alen; i++) {
		spare = up2;
		up2 = up;
		up = now;
		now = spare;
		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= blen; j++) {
			unsigned int change = up[j - 1] + (a[i - 1] != b[j - 1]);

			now[j] = min3(up[j] + 1, now[j - 1] + 1, change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < now[j])
				now[j] = up2[j - 2] + 1;
		}
	}
	return now[blen];
}

bool ut_str_closer(const char *a, const char *b, unsigned int *distance)
{
	unsigned int d = ut_str_distance(a, b);

	/* A third of the letters wrong is a typo; more is another word. */
	if (d >= *distance || (size_t)d * 3 > strlen(a) + 1 || d >= strlen(b))
		return false;
	*distance = d;
	return true;
}
