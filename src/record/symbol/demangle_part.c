/*
 * demangle_part.c - see demangle.h: the readable parts of a C++ name.
 *
 * Compilers write names that the demangler of the C++ library does not read, mostly because of a
 * lambda inside template arguments. Scopes and functions are still there as plain words, each
 * behind its length. Whatever else there is, is skipped by its brackets (the letters N, I, F, ...
 * open one, E closes it) and shown as "...".
 */
#include "symbol/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define DEEP      256u /* brackets in brackets */
#define INSIDE    8u   /* functions in functions */
#define ANONYMOUS "_GLOBAL__N_"

struct part {
	const char *at, *end;
	struct ut_buf out;
	struct ut_str last; /* word: what constructors are called like */
};

static bool is_next(const struct part *p, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(p->end - p->at) >= len && !memcmp(p->at, with, len);
}

static char peek(const struct part *p, size_t ahead)
{
	return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : '\0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t demangle_part_take_number(struct part *p)
{
	size_t n = 0;

	for (; is_digit(peek(p, 0)) && n < 100000; p->at++)
		n = n * 10 + (size_t)(*p->at - '0');
	return n;
}

/* A word behind its length; an empty one if it is not all there. */
static struct ut_str take_word(struct part *p)
{
	size_t len = demangle_part_take_number(p);
	struct ut_str word = { p->at, len };

	if (len > (size_t)(p->end - p->at)) {
		p->at = p->end;
		return (struct ut_str){ "", 0 };
	}
	p->at += len;
	return word;
}

/* ---- what is skipped ----------------------------------------------------------------------- */

/* "0_", "_": a number that ends with an underscore. */
static void skip_index(struct part *p)
{
	while (is_digit(peek(p, 0)) || isupper((unsigned char)peek(p, 0)))
		p->at++;
	if (peek(p, 0) == '_')
		p->at++;
}

/* Behind the "L": "j4" of "Lj4E" is the value of a plain type, "3foo1" one of a type with a name.
 */
static void skip_value(struct part *p)
{
	if (is_next(p, "_Z"))
		p->at += 2;
	else if (is_digit(peek(p, 0)))
		take_word(p);
	else if (islower((unsigned char)peek(p, 0)))
		while (p->at < p->end && *p->at != 'E')
			p->at++;
}

/* One piece that is no bracket. */
static void skip_piece(struct part *p)
{
	char c = peek(p, 0), next = peek(p, 1);

	if (is_digit(c)) {
		take_word(p);
	} else if (c == 'S' && islower((unsigned char)next)) {
		p->at += 2;
	} else if (c == 'S' || c == 'T' || c == 'A') {
		p->at++;
		skip_index(p);
	} else if (c == 'D' && next == 'v') {
		p->at += 2;
		skip_index(p);
	} else if (c == 'U' && next == 't') {
		p->at += 2;
		skip_index(p);
	} else if (c == '_' && is_digit(next)) {
		p->at += 2; /* the second of several local ones */
	} else if (c == '_' && next == '_') {
		p->at += 2;
		skip_index(p);
	} else {
		p->at += c == 'D' && next ? 2 : 1;
	}
}

/* The letter of the bracket that opens here; '\0' = none does. */
static char opens(const struct part *p)
{
	char c = peek(p, 0), next = peek(p, 1);

	if (c == 'U')
		return next == 'l' ? 'U' : '\0';
	if (c == 'D')
		return next == 't' || next == 'T' ? 'D' : '\0';
	return c && strchr("NIFJXZL", c) ? c : '\0';
}

/* Behind the bracket that opens here. */
static void skip_bracket(struct part *p)
{
	char open[DEEP];
	size_t depth = 0;

	do {
		char c = opens(p), enclosing = depth ? open[depth - 1] : '\0';

		if (c == 'L' && enclosing == 'N') {
			p->at++; /* of what is known in one file only */
		} else if (c && depth < DEEP) {
			open[depth++] = c;
			p->at += c == 'U' || c == 'D' ? 2 : 1;
			if (c == 'L')
				skip_value(p);
		} else if (enclosing == 'L' && is_digit(peek(p, 0))) {
			p->at++; /* the value of an enum */
		} else if (peek(p, 0) == 'E' && depth) {
			p->at++;
			if (open[--depth] == 'U')
				skip_index(p);
		} else {
			skip_piece(p);
		}
	} while (depth && p->at < p->end);
}

/* ---- what is shown ------------------------------------------------------------------------- */

static void demangle_part_put(struct part *p, const char *text, size_t len)
{
	if (p->out.len)
		ut_buf_text(&p->out, "::");
	ut_buf_add(&p->out, text, len);
}

static void demangle_part_put_word(struct part *p)
{
	struct ut_str word = take_word(p);

	if (!word.len)
		return;
	if (ut_str_has_start(word, ANONYMOUS)) {
		demangle_part_put(p, "(anonymous namespace)", strlen("(anonymous namespace)"));
		return;
	}
	demangle_part_put(p, word.ptr, word.len);
	p->last = word;
}

static bool put_operator(struct part *p)
{
	static const char *const operators[][2] = {
		{ "cl", "()" }, { "ix", "[]" },   { "pl", "+" },       { "mi", "-" },
		{ "ml", "*" },  { "dv", "/" },    { "eq", "==" },      { "ne", "!=" },
		{ "lt", "<" },  { "gt", ">" },    { "le", "<=" },      { "ge", ">=" },
		{ "ls", "<<" }, { "rs", ">>" },   { "aS", "=" },       { "pL", "+=" },
		{ "pt", "->" }, { "nw", " new" }, { "dl", " delete" },
	};

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (is_next(p, operators[i][0])) {
			demangle_part_put(p, "operator", strlen("operator"));
			ut_buf_text(&p->out, operators[i][1]);
			p->at += 2;
			return true;
		}
	}
	return false;
}

/* Scopes and the name at their end, up to what is not understood. False: nothing is left. */
static bool put_piece(struct part *p)
{
	char c = peek(p, 0), next = peek(p, 1);

	if (is_digit(c)) {
		demangle_part_put_word(p);
	} else if (c == 'I') {
		skip_bracket(p);
		ut_buf_text(&p->out, "<...>");
	} else if (c == 'S' && next == 't') {
		demangle_part_put(p, "std", 3);
		p->at += 2;
	} else if (c == 'S' || c == 'T') {
		demangle_part_put(p, "...", 3);
		skip_piece(p);
	} else if (c == 'U') {
		demangle_part_put(p, next == 'l' ? "{lambda}" : "{unnamed}", next == 'l' ? 8 : 9);
		if (next == 'l')
			skip_bracket(p);
		else
			skip_piece(p);
	} else if ((c == 'C' || c == 'D') && is_digit(next) && p->last.len) {
		demangle_part_put(p, c == 'D' ? "~" : "", c == 'D');
		ut_buf_add(&p->out, p->last.ptr, p->last.len);
		p->at += 2;
	} else if (c == 'B' && is_digit(next)) {
		p->at++;
		take_word(p); /* a version of the interface */
	} else if (c == 'L' || c == 'K' || c == 'V' || c == 'R' || c == 'O') {
		p->at++; /* of what is known in one file only; const, volatile, &, && */
	} else {
		return put_operator(p);
	}
	return p->at < p->end;
}

static void demangle_part_put_name(struct part *p)
{
	bool nested = peek(p, 0) == 'N';

	if (nested)
		p->at++;
	while (p->at < p->end && *p->at != 'E' && put_piece(p)) {
		/* "3foov": a name of its own ends with its arguments, where parameters begin */
		struct ut_str made = { p->out.data, p->out.len };

		if (!nested && peek(p, 0) != 'I' && !ut_str_has_end(made, "std"))
			break;
	}
	if (nested && peek(p, 0) == 'E')
		p->at++;
}

/* Of something inside a function: "Z function E something". */
static void put_encoding(struct part *p)
{
	const char *after[INSIDE] = { NULL };
	size_t inside = 0;

	for (; peek(p, 0) == 'Z' && inside < INSIDE; inside++) {
		struct part skipped = *p;

		skip_bracket(&skipped);
		after[inside] = skipped.at;
		p->at++;
	}
	demangle_part_put_name(p);
	while (inside--) {
		p->at = after[inside];
		if (p->at < p->end && *p->at != 's' && *p->at != 'd')
			demangle_part_put_name(p);
	}
}

char *ut_demangle_part(const char *name)
{
	struct part p = { .at = name + 2, .end = name + strlen(name) };
	const char *dot = strchr(name, '.');
	char *made = NULL;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	if (dot)
		p.end = dot; /* ".cold", ".isra.0" */
	put_encoding(&p);
	if (p.last.len)
		made = strdup(p.out.data);
	ut_buf_release(&p.out);
	return made;
}
