#include "base/regex.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
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
static void regex_put_group(struct text *t)
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
			regex_put_group(t);
		else if (strchr("*+?}", c) && t->at < t->end && *t->at == '?' && t->at++)
			ut_buf_char(&t->out, c);
		else
			ut_buf_char(&t->out, c);
	}
}

/*
 * What the C library makes of a pattern, roughly in its nodes. Where nothing has to be matched
 * (?, *, |, groups) ways around it are added, and lists of ways are long and nested: BRANCH.
 */
#define WEIGHT_MAX 32768.0
#define REPEAT_MAX 2048.0 /* of what is repeated, written out */
#define DEPTH_MAX  128
#define BRANCH     8

struct weight {
	double sum[DEPTH_MAX];  /* of a group so far, the last one included */
	double last[DEPTH_MAX]; /* what a repetition repeats */
	size_t depth;
	bool repeated, too_often; /* the last one; something */
};

static void add_weight(struct weight *w, double weight)
{
	w->last[w->depth] = weight;
	w->sum[w->depth] += weight;
	w->repeated = false;
}

static void repeat(struct weight *w, double times, double more)
{
	double once = w->last[w->depth], all = once * times + more;

	w->sum[w->depth] += all - once;
	w->last[w->depth] = all;
	w->too_often |= w->repeated || (times > 1 && all > REPEAT_MAX);
	w->repeated = true;
}

/* Behind the [ of a set: behind its ]. */
static const char *skip_set(const char *at)
{
	at += *at == '^';
	at += *at == ']';
	while (*at && *at != ']') {
		char kind = *at++;

		if (kind == '[' && *at && strchr(":.=", *at)) {
			char close[] = { *at, ']', '\0' };
			const char *end = strstr(at + 1, close);

			at = end ? end + 2 : at;
		}
	}
	return at + (*at == ']');
}

/* Behind the { of {2}, {2,} or {2,5}; of anything else it is a letter. */
static const char *skip_times(struct weight *w, const char *at)
{
	char *end;
	double least = (double)strtoul(at, &end, 10), most = least;

	if (*end == ',') {
		most = (double)strtoul(end + 1, &end, 10);
		most = most > least ? most : least + 1;
	}
	if (end == at || *end != '}') {
		add_weight(w, 1);
		return at;
	}
	repeat(w, most > 1 ? most : 1, most > least ? BRANCH * most : 1);
	return end + 1;
}

/* False: deeper than it may be. */
static bool skip_group(struct weight *w, char c)
{
	if (c == '(') {
		if (++w->depth == DEPTH_MAX)
			return false;
		w->sum[w->depth] = w->last[w->depth] = 0;
		w->repeated = false;
	} else if (w->depth > 0) {
		w->depth--;
		add_weight(w, w->sum[w->depth + 1] + BRANCH);
	}
	return true;
}

/* Why the pattern is more than we want to compile; NULL = it is not. */
static const char *too_much(const char *at)
{
	struct weight w = { .depth = 0 };
	double all = 0;

	while (*at) {
		char c = *at++;

		if (c == '(' || c == ')') {
			if (!skip_group(&w, c))
				return "groups are nested too deep";
		} else if (c == '[') {
			at = skip_set(at);
			add_weight(&w, 1);
		} else if (c == '{') {
			at = skip_times(&w, at);
		} else if (c == '*' || c == '?' || c == '+') {
			repeat(&w, c == '+' ? 2 : 1, BRANCH);
		} else {
			at += c == '\\' && *at;
			add_weight(&w, c == '|' ? BRANCH : 1);
		}
	}
	for (size_t i = 0; i <= w.depth; i++)
		all += w.sum[i];
	if (!w.too_often && all <= WEIGHT_MAX)
		return NULL;
	return "its repetitions multiply to more than can be searched for";
}

/* reason has 128 bytes. NULL = done. */
static const char *compile_extended(regex_t *regex, const char *text, int flags, char *reason)
{
	const char *why = too_much(text);
	int rc = why ? 0 : regcomp(regex, text, flags);

	if (!rc)
		return why;
	regerror(rc, regex, reason, 128);
	return reason;
}

static int compile(regex_t *regex, const char *pattern, size_t len, bool places, struct ut_err *err)
{
	struct text t = { .at = pattern,
			  .end = pattern + len,
			  .flags = REG_EXTENDED | (places ? 0 : REG_NOSUB),
			  .places = places };
	char reason[128];

	translate(&t);
	ut_buf_char(&t.out, '\0');
	if (!t.why)
		t.why = compile_extended(regex, t.out.data, t.flags, reason);
	ut_buf_release(&t.out);
	if (t.why)
		return ut_err_set(err, -EINVAL, "'%.*s': %s", (int)len, pattern, t.why);
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

int ut_regex_extended(regex_t *regex, const char *pattern, struct ut_err *err)
{
	char reason[128];
	const char *why = compile_extended(regex, pattern, REG_EXTENDED | REG_NOSUB, reason);

	return why ? ut_err_set(err, -EINVAL, "'%s': %s", pattern, why) : 0;
}
