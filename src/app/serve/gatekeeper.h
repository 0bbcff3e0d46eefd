/*
 * gatekeeper.h - who may ask: host names, origins, tokens and the cookie behind them.
 *
 * Tokens and cookies are 128 random bits. A token is good for one exchange, or for several by the
 * one browser that has begun it, for a minute: its page may be loaded again before the answer came;
 * comparing takes as long for a wrong one as for a right one. Any thread.
 */
#ifndef UT_SERVE_GATEKEEPER_H
#define UT_SERVE_GATEKEEPER_H

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

struct ut_gatekeeper {
	pthread_mutex_t lock;
	char cookie[UT_SECRET];
	char tokens[UT_TOKENS_MOST][UT_SECRET]; /* not used yet; "" = free */
	struct ut_exchange last;                /* until < now = none */
};

/* False if there are no random numbers to be had. */
bool ut_gatekeeper_init(struct ut_gatekeeper *g);
void ut_gatekeeper_release(struct ut_gatekeeper *g);

/* A new token; the oldest one is forgotten if there are too many. */
void ut_gatekeeper_token(struct ut_gatekeeper *g, char to[UT_SECRET]);

/* Uses up the token; false if there is none like it. */
bool ut_gatekeeper_take(struct ut_gatekeeper *g, const char *token);

/* The same for a browser that has made itself a name of 32 hexadecimal digits: it may do so again
 * within UT_EXCHANGE_S, and nobody else. now: a clock in seconds. Other names are none. */
bool ut_gatekeeper_exchange(struct ut_gatekeeper *g, const char *token, const char *browser,
			    int64_t now);

bool ut_gatekeeper_knows(struct ut_gatekeeper *g, const char *cookie);

/* Is this host, with or without a port, a name of this machine's own? NULL is not. */
bool ut_gatekeeper_is_us(const char *host);

/* Does a request for this host come from a page of it? No origin at all does. */
bool ut_gatekeeper_same(const char *origin, const char *host, bool is_tls);

#endif
