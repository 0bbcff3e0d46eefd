#include "query/token.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool starts_word(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_word(char c)
{
	return starts_word(c) || isdigit((unsigned char)c) || c == '$';
}

static size_t word_len(const char *s)
{
	size_t n = 0;

	while (in_word(s[n]))
		n++;
	return n;
}

/* Up to the closing quote, which twice stands for itself; to the end if there is none. */
static size_t quoted_len(const char *s, char quote)
{
	size_t n = 1;

	while (s[n]) {
		if (s[n] == quote && (quote == ']' || s[n + 1] != quote))
			return n + 1;
		n += s[n] == quote ? 2 : 1;
	}
	return n;
}

static size_t space_len(const char *s)
{
	size_t n = 0;
	const char *end;

	for (;;) {
		if (isspace((unsigned char)s[n])) {
			n++;
		} else if (s[n] == '-' && s[n + 1] == '-') {
			n += strcspn(s + n, "\n");
		} else if (s[n] == '/' && s[n + 1] == '*') {
			end = strstr(s + n + 2, "*/");
			n = end ? (size_t)(end - s) + 2 : n + strlen(s + n);
		} else {
			return n;
		}
	}
}

static size_t number_len(const char *s)
{
	size_t n = 1;

	while (in_word(s[n]) || s[n] == '.' ||
	       ((s[n] == '+' || s[n] == '-') && (s[n - 1] == 'e' || s[n - 1] == 'E')))
		n++;
	return n;
}

static struct ut_token read(const char *s)
{
	if (!*s)
		return (struct ut_token){ UT_TOKEN_END, s, 0 };
	if (space_len(s))
		return (struct ut_token){ UT_TOKEN_SPACE, s, space_len(s) };
	if ((*s == 'x' || *s == 'X') && s[1] == '\'')
		return (struct ut_token){ UT_TOKEN_STRING, s, 1 + quoted_len(s + 1, '\'') };
	if (starts_word(*s))
		return (struct ut_token){ UT_TOKEN_WORD, s, word_len(s) };
	if (*s == '\'')
		return (struct ut_token){ UT_TOKEN_STRING, s, quoted_len(s, '\'') };
	if (*s == '"' || *s == '`' || *s == '[')
		return (struct ut_token){ UT_TOKEN_QUOTED, s, quoted_len(s, *s == '[' ? ']' : *s) };
	if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
		return (struct ut_token){ UT_TOKEN_NUMBER, s, number_len(s) };
	if (strchr("$:@?#", *s))
		return (struct ut_token){ UT_TOKEN_PARAMETER, s, 1 + word_len(s + 1) };
	return (struct ut_token){ UT_TOKEN_SIGN, s, *s == '!' && s[1] == '=' ? 2 : 1 };
}

struct ut_token ut_token_next(const char **at)
{
	struct ut_token t = read(*at);

	*at += t.len;
	return t;
}

struct ut_token ut_token_skip(const char **at)
{
	struct ut_token t;

	do
		t = ut_token_next(at);
	while (t.type == UT_TOKEN_SPACE);
	return t;
}

bool ut_token_is(const struct ut_token *t, const char *word)
{
	return (t->type == UT_TOKEN_WORD || t->type == UT_TOKEN_SIGN) && strlen(word) == t->len &&
	       !strncasecmp(t->text, word, t->len);
}

bool ut_token_take(const char **at, const char *word)
{
	const char *next = *at;
	struct ut_token t = ut_token_skip(&next);

	if (!ut_token_is(&t, word))
		return false;
	*at = next;
	return true;
}

bool ut_token_name(const char **at, struct ut_buf *name)
{
	const char *next = *at;
	struct ut_token t = ut_token_skip(&next);

	name->len = 0;
	if (t.type == UT_TOKEN_WORD) {
		ut_buf_add(name, t.text, t.len);
	} else if (t.type == UT_TOKEN_QUOTED && t.len > 2) {
		for (size_t i = 1; i + 1 < t.len; i++) {
			ut_buf_char(name, t.text[i]);
			i += t.text[i] == t.text[0]; /* a doubled quote stands for one */
		}
	} else {
		return false;
	}
	*at = next;
	return true;
}

void ut_token_put_name(struct ut_buf *to, const char *name)
{
	ut_buf_char(to, '"');
	for (; *name; name++) {
		if (*name == '"')
			ut_buf_char(to, '"');
		ut_buf_char(to, *name);
	}
	ut_buf_char(to, '"');
}

const char *ut_token_close(const char *at)
{
	size_t depth = 1;

	while (depth) {
		struct ut_token t = ut_token_next(&at);

		if (t.type == UT_TOKEN_END)
			break;
		depth += ut_token_is(&t, "(");
		depth -= ut_token_is(&t, ")");
	}
	return at;
}

const char *ut_token_end(const char *at)
{
	for (;;) {
		const char *here = at;
		struct ut_token t = ut_token_next(&at);

		if (t.type == UT_TOKEN_END || ut_token_is(&t, ";"))
			return here;
	}
}
