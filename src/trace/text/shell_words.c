#include "text/shell_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/grow.h"

struct splitting {
	struct ut_str rest;
	struct ut_buf word;
};

static char shell_words_take(struct splitting *s)
{
	char c = s->rest.ptr[0];

	s->rest.ptr++;
	s->rest.len--;
	return c;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || !c;
}

static int take_quoted(struct splitting *s, char quote, struct ut_err *err)
{
	while (s->rest.len) {
		char c = shell_words_take(s);

		if (c == quote)
			return 0;
		if (c == '\\' && quote == '"' && s->rest.len &&
		    (s->rest.ptr[0] == '"' || s->rest.ptr[0] == '\\'))
			c = shell_words_take(s);
		if (c)
			ut_buf_char(&s->word, c);
	}
	return ut_err_set(err, -EINVAL, "a quote is not closed");
}

static int take_protected(struct splitting *s, struct ut_err *err)
{
	char c;

	if (!s->rest.len)
		return ut_err_set(err, -EINVAL, "nothing follows the last backslash");
	c = shell_words_take(s);
	if (c != '\n' && c)
		ut_buf_char(&s->word, c);
	return 0;
}

/* Up to the blank behind the word. */
static int take_word(struct splitting *s, struct ut_err *err)
{
	int rc = 0;

	while (s->rest.len && !is_blank(s->rest.ptr[0]) && !rc) {
		char c = shell_words_take(s);

		if (c == '\'' || c == '"')
			rc = take_quoted(s, c, err);
		else if (c == '\\')
			rc = take_protected(s, err);
		else
			ut_buf_char(&s->word, c);
	}
	return rc;
}

static size_t line_at(struct ut_str text, const char *at)
{
	size_t line = 1;

	for (const char *p = text.ptr; p < at; p++)
		line += *p == '\n';
	return line;
}

int ut_shell_words(struct ut_arena *a, struct ut_str text, const char ***words, size_t *count,
		   size_t *line, struct ut_err *err)
{
	struct splitting s = { .rest = text };
	const char **all = NULL, *begin = text.ptr;
	size_t n = 0, cap = 0;
	int rc = 0;

	while (!rc) {
		while (s.rest.len && is_blank(s.rest.ptr[0]))
			shell_words_take(&s);
		if (!s.rest.len)
			break;
		begin = s.rest.ptr;
		rc = take_word(&s, err);
		all = ut_grow(all, n + 1, &cap, sizeof(*all));
		all[n++] = ut_buf_take(&s.word, a);
	}
	*words = UT_NEW_N(a, const char *, n + 1);
	if (n)
		memcpy(*words, all, n * sizeof(*all));
	*count = n;
	free(all);
	if (rc && line)
		*line = line_at(text, begin);
	return rc;
}

void ut_shell_quote(struct ut_buf *b, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=,+@%";

	if (word[0] && strspn(word, plain) == strlen(word)) {
		ut_buf_text(b, word);
		return;
	}
	ut_buf_char(b, '\'');
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			ut_buf_text(b, "'\\''");
		else
			ut_buf_char(b, *p);
	}
	ut_buf_char(b, '\'');
}
