/*
 * serve.h - an HTTP server for pages of ours, on this machine.
 *
 * It listens on 127.0.0.1 and answers only requests that name this host, so that no page from
 * elsewhere can reach it through a name of its own; one that says where it comes from (Origin) must
 * come from here, too. With a token, who comes with it first gets a cookie, and everybody else is
 * refused. Requests have a size and a time to be complete; a slow, silent or broken client costs a
 * thread among a few dozen and is dropped in time.
 *
 * Nothing of a path is ever taken from a request: the handler compares it with what it knows.
 */
#ifndef UT_SERVE_SERVE_H
#define UT_SERVE_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_serve;

struct ut_request {
	bool is_post;
	const char *path;   /* decoded, without the query; begins with a slash */
	struct ut_str body; /* of a POST */
};

/* What to send. The handler fills it; {0} is 404. */
struct ut_reply {
	int status;           /* 200, 303, 404, ... */
	const char *type;     /* Content-Type; NULL = text/plain */
	const char *encoding; /* Content-Encoding; NULL = none */
	const char *policy;   /* Content-Security-Policy; NULL = none */
	const char *location; /* of 303; lives until the handler is called again */
	const char *save_as;  /* a download: the name offered; lives as long */
	/* the body: bytes from malloc(), which are taken over; or that outlive the server; or a
	 * file, which is taken over */
	char *data;
	const char *lent;
	size_t len;
	int fd; /* used if there are no bytes, and > 0 */
};

typedef void (*ut_serve_fn)(void *ctx, const struct ut_request *request, struct ut_reply *reply);

struct ut_serve_opts {
	uint16_t port;    /* 0 = any that is free */
	bool token;       /* only who has been given one may ask */
	bool posts;       /* POST is allowed, with the header X-Unitrace */
	bool serial;      /* the handler is called by one thread at a time */
	bool once;        /* end when the last page is gone: the last stream, see below */
	const char *live; /* path of a stream that pages keep open as long as they are there */
	ut_serve_fn answer;
	void *ctx;
};

/* Without libmicrohttpd err is as ut_serve_check() says. opts is copied. */
int ut_serve_open(struct ut_serve **s, const struct ut_serve_opts *opts,
		  struct ut_err *err) UT_MUST_CHECK;
void ut_serve_close(struct ut_serve *s); /* NULL is fine */
uint16_t ut_serve_port(const struct ut_serve *s);

#define UT_SERVE_ADDRESS 96

/* Where to look, with a token that has not been given out before. */
void ut_serve_address(struct ut_serve *s, char to[UT_SERVE_ADDRESS]);

/* Until *stop is set, which a signal handler does, or the last page is gone if that is asked. */
void ut_serve_run(struct ut_serve *s, const volatile sig_atomic_t *stop);

/* Ends ut_serve_run() soon. Any thread. */
void ut_serve_stop(struct ut_serve *s);

/*
 * Tells all pages that keep the stream open, and those that come later: data is one line. Without
 * an event it is the whole and takes the place of everything told before; with one it is what has
 * changed since, and the last of them counts. When the server ends, pages hear the event "end".
 * Any thread.
 */
void ut_serve_tell(struct ut_serve *s, const char *event, const char *data, size_t len);

/* 0: there is a server. -ENOTSUP: not in this build; others: libmicrohttpd cannot be loaded. It is
 * loaded by this: only who is going to serve should ask, or who tells what there is. */
int ut_serve_check(struct ut_err *err) UT_MUST_CHECK;

#endif
