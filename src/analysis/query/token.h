/*
 * token.h - SQL text as words and signs, the way SQLite splits it.
 *
 * For what is rewritten before SQLite sees it: PerfettoSQL. Tokens point into the text, which ends
 * with a NUL; any bytes will do.
 */
#ifndef UT_QUERY_TOKEN_H
#define UT_QUERY_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum ut_token_type {
	UT_TOKEN_END,
	UT_TOKEN_SPACE,  /* and comments */
	UT_TOKEN_WORD,   /* a name or a keyword */
	UT_TOKEN_QUOTED, /* a name in "", `` or [] */
	UT_TOKEN_STRING, /* in '' */
	UT_TOKEN_NUMBER,
	UT_TOKEN_PARAMETER, /* $name, :name, @name, ?1 */
	UT_TOKEN_SIGN,      /* one character, != as two */
};

struct ut_token {
	enum ut_token_type type;
	const char *text;
	size_t len;
};

/* The token at *at, which is moved behind it. At the end of the text it stays there. */
struct ut_token ut_token_next(const char **at);

/* The same without spaces. */
struct ut_token ut_token_skip(const char **at);

/* Words in any case, signs as they are. */
bool ut_token_is(const struct ut_token *t, const char *word);

/* Does the text go on with this word or sign? If so *at is moved behind it. */
bool ut_token_take(const char **at, const char *word);

/* A name, quoted or not, as it is meant. False if there is none; *at then stays. */
bool ut_token_name(const char **at, struct ut_buf *name);

/* Adds a name in quotes: SQLite takes any text for a name then. */
void ut_token_put_name(struct ut_buf *to, const char *name);

/* Behind the bracket that closes the one before at; at the end of the text if none does. */
const char *ut_token_close(const char *at);

/* Where the statement ends: at its semicolon, or at the end of the text. */
const char *ut_token_end(const char *at);

#endif
