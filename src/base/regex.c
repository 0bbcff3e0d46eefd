#include "base/regex.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/str.h"

struct text {
	const char *at, *end;
	struct ut_buf out;
	int flags;       /* of regcomp() */
	bool places;     /* it counts what matches */
	const char *why; /* it cannot be done */
};

/* A class letter as what stands in brackets; NULL = it is none. */
static const char *members_of(char c)
{
	switch (c) {
	case 'd':
		return "0-9";
	case 'w':
		return "[:alnum:]_";
	case 's':
		return "[:space:]";
	default:
		return NULL;
	}
}

static char control_of(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* An escape outside of brackets; the cursor is on the letter. */
static void put_escape(struct text *t)
{
	char c = *t->at++;

	if (c == 'd')
		ut_buf_text(&t->out, "[0-9]");
	else if (c == 'D')
		ut_buf_text(&t->out, "[^0-9]");
	else if (c == 'A')
		ut_buf_text(&t->out, "\\`");
	else if (c == 'Z')
		ut_buf_text(&t->out, "\\'");
	else if (c >= '0' && c <= '9')
		t->why = "references to groups are not supported";
	else if (control_of(c) != c)
		ut_buf_char(&t->out, control_of(c));
	else if (strchr("wWsSbB", c) || !(c == '_' || (c >= 'a' && c <= 'z') ||
					  (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80))
		ut_buf_fmt(&t->out, "\\%c", c);
	else
		t->why = "an escape that is not known";
}

/*
 * [...]: there a backslash means nothing to an extended expression, and ], ^ and - have their
 * places: first, not first, last.
 */
struct set {
	struct ut_buf text;
	bool no, bracket, hat, dash;
};

/* edge: a dash here is no range. */
static void add_member(struct text *t, struct set *s, char c, bool escaped, bool edge)
{
	if (escaped && members_of(c))
		ut_buf_text(&s->text, members_of(c));
	else if (escaped && strchr("DWS", c))
		t->why = "\\D, \\W and \\S are not supported in brackets";
	else if (c == ']')
		s->bracket = true;
	else if (c == '^')
		s->hat = true;
	else if (c == '-' && (escaped || edge))
		s->dash = true;
	else
		ut_buf_char(&s->text, escaped ? control_of(c) : c);
}

static void put_set(struct ut_buf *out, const struct set *s)
{
	bool lone = s->hat && !s->no && !s->text.len && !s->bracket; /* would be a negation */

	if (lone) {
		ut_buf_text(out, s->dash ? "[-^]" : "\\^");
		return;
	}
	ut_buf_fmt(out, "[%s%s", s->no ? "^" : "", s->bracket ? "]" : "");
	ut_buf_add(out, s->text.data, s->text.len);
	ut_buf_fmt(out, "%s%s]", s->hat ? "^" : "", s->dash ? "-" : "");
}

static void put_brackets(struct text *t)
{
	struct set s = { .no = t->at < t->end && *t->at == '^' };
	const char *first = t->at += s.no;

	for (; t->at < t->end && (*t->at != ']' || t->at == first); t->at++) {
		bool escaped = *t->at == '\\' && t->at + 1 < t->end;
		bool edge = t->at == first || (t->at + 1 < t->end && t->at[1] == ']');

		t->at += escaped;
		add_member(t, &s, *t->at, escaped, edge);
	}
	if (t->at == t->end)
		t->why = "a [ without its ]";
	t->at++;
	put_set(&t->out, &s);
	ut_buf_release(&s.text);
}

/* What follows "(?". */
static void put_group(struct text *t)
{
	size_t left = (size_t)(t->end - t->at);
	const char *name_end;

	if (left && *t->at == ':') {
		t->at++;
		ut_buf_char(&t->out, '(');
	} else if (left > 1 && !memcmp(t->at, "i)", 2)) {
		t->at += 2;
		t->flags |= REG_ICASE;
	} else if (left > 1 && !memcmp(t->at, "P<", 2) &&
		   (name_end = memchr(t->at, '>', left)) != NULL) {
		t->at = name_end + 1;
		ut_buf_char(&t->out, '(');
	} else {
		t->why = "looking ahead or behind is not supported";
	}
}

static void translate(struct text *t)
{
	while (t->at < t->end && !t->why) {
		char c = *t->at++;

		if (c == '\\' && t->at < t->end)
			put_escape(t);
		else if (c == '[')
			put_brackets(t);
		else if (t->places && strchr("(*+?}", c) && t->at < t->end && *t->at == '?')
			t->why = "what it takes of the text cannot be told";
		else if (c == '(' && t->at < t->end && *t->at == '?' && t->at++)
			put_group(t);
		else if (strchr("*+?}", c) && t->at < t->end && *t->at == '?' && t->at++)
			ut_buf_char(&t->out, c);
		else
			ut_buf_char(&t->out, c);
	}
}

static int compile(regex_t *regex, const char *pattern, size_t len, bool places, struct ut_err *err)
{
	struct text t = { .at = pattern,
			  .end = pattern + len,
			  .flags = REG_EXTENDED | (places ? 0 : REG_NOSUB),
			  .places = places };
	char reason[128];
	int rc = 0;

	translate(&t);
	ut_buf_char(&t.out, '\0');
	if (!t.why) {
		rc = regcomp(regex, t.out.data, t.flags);
		if (rc)
			regerror(rc, regex, reason, sizeof(reason));
	}
	ut_buf_release(&t.out);
	if (t.why || rc)
		return ut_err_set(err, -EINVAL, "'%.*s': %s", (int)len, pattern,
				  t.why ? t.why : reason);
	return 0;
}

int ut_regex(regex_t *regex, const char *pattern, size_t len, struct ut_err *err)
{
	return compile(regex, pattern, len, false, err);
}

int ut_regex_places(regex_t *regex, const char *pattern, size_t len, struct ut_err *err)
{
	return compile(regex, pattern, len, true, err);
}
