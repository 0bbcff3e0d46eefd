/*
 * http.h - a small HTTP server for pages of ours: GET and HEAD, one answer per connection.
 *
 * It listens on 127.0.0.1 only, answers only requests that name this host (so that no page from
 * elsewhere can reach it through a name of its own), and never reads a body. One thread, poll();
 * a slow, silent or broken client costs a place among a few dozen and is dropped in time.
 */
#ifndef UT_SERVE_HTTP_H
#define UT_SERVE_HTTP_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_http;

/* What to send. The handler fills it; {0} is 404. */
struct ut_http_reply {
	int status;           /* 200, 303, 404, ... */
	const char *type;     /* Content-Type; NULL = text/plain */
	const char *location; /* of 303; lives until the handler is called again */
	const char *save_as;  /* a download: the name offered; lives as long */
	/* the body: bytes from malloc() or a file, either is taken over */
	char *data;
	size_t len;
	int fd; /* used if data is NULL and > 0 */
};

/* path is the decoded path of the request, without the query; it begins with a slash. */
typedef void (*ut_http_fn)(void *ctx, const char *path, struct ut_http_reply *reply);

/* Port 0 takes a free one; ut_http_port() tells which. */
int ut_http_open(struct ut_http **http, uint16_t port, struct ut_err *err) UT_MUST_CHECK;
void ut_http_close(struct ut_http *http); /* NULL is fine */
uint16_t ut_http_port(const struct ut_http *http);

/* Until *stop is set, which a signal handler does. */
int ut_http_run(struct ut_http *http, ut_http_fn answer, void *ctx,
		const volatile sig_atomic_t *stop, struct ut_err *err) UT_MUST_CHECK;

#endif
