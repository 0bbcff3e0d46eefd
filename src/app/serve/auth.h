/*
 * auth.h - who may ask: host names, origins, tokens and the cookie behind them.
 *
 * Tokens and cookies are 128 random bits. A token is good for one exchange, or for several by the
 * one browser that has begun it, for a minute: its page may be loaded again before the answer came;
 * comparing takes as long for a wrong one as for a right one. Any thread.
 */
#ifndef UT_SERVE_AUTH_H
#define UT_SERVE_AUTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/secret.h"

#define UT_TOKENS_MOST 16u

#define UT_EXCHANGE_S 60

/* A token that was exchanged, and by whom. */
struct ut_exchange {
	char token[UT_SECRET], browser[UT_SECRET];
	int64_t until; /* s */
};

struct ut_auth {
	pthread_mutex_t lock;
	char cookie[UT_SECRET];
	char tokens[UT_TOKENS_MOST][UT_SECRET]; /* not used yet; "" = free */
	struct ut_exchange last;                /* until < now = none */
};

/* False if there are no random numbers to be had. */
bool ut_auth_init(struct ut_auth *g);
void ut_auth_release(struct ut_auth *g);

/* A new token; the oldest one is forgotten if there are too many. */
void ut_auth_add_token(struct ut_auth *g, char to[UT_SECRET]);

/* Uses up the token; false if there is none like it. */
bool ut_auth_use_token(struct ut_auth *g, const char *token);

/* The same for a browser that has made itself a name of 32 hexadecimal digits: it may do so again
 * within UT_EXCHANGE_S, and nobody else. now: a clock in seconds. Other names are none. */
bool ut_auth_exchange_token(struct ut_auth *g, const char *token, const char *browser, int64_t now);

bool ut_auth_has_cookie(struct ut_auth *g, const char *cookie);

/* Is this host, with or without a port, a name of this machine's own? NULL is not. */
bool ut_auth_is_local_host(const char *host);

/* Does a request for this host come from a page of it? No origin at all does. */
bool ut_auth_is_same_origin(const char *origin, const char *host, bool is_tls);

#endif
