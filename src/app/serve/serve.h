/*
 * serve.h - an HTTP server for pages of ours.
 *
 * It listens on 127.0.0.1, unless it is told otherwise, and answers only requests that name this
 * host, so that no page from elsewhere can reach it through a name of its own; one that says where
 * it comes from (Origin) must come from here, too. With a token, who comes with it first gets a
 * cookie, and everybody else is refused; handlers with ideas of their own about who may ask leave
 * the token out and look at the request. Requests have a size and a time to be complete; a slow,
 * silent or broken client costs a thread among a few dozen and is dropped in time, or when others
 * need its place. Heads that can be read in two ways are refused.
 *
 * Nothing of a path is ever taken from a request: the handler compares it with what it knows.
 */
#ifndef UT_SERVE_SERVE_H
#define UT_SERVE_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct ut_serve;

enum ut_method {
	UT_METHOD_GET, /* and HEAD */
	UT_METHOD_POST,
	UT_METHOD_PUT,
	UT_METHOD_PATCH,
	UT_METHOD_DELETE,
	UT_METHODS
};

struct ut_request {
	enum ut_method method;
	bool is_post;
	bool is_head;        /* nothing but the head of what GET would answer */
	const char *path;    /* decoded, without the query; begins with a slash */
	struct ut_str body;  /* unless it went into a file, see struct ut_body */
	int body_fd;         /* that file; -1 = none */
	uint64_t body_bytes; /* in it */
	const char *client;  /* where it comes from: an address without a port, "" = unknown */
	void *connection;    /* for the functions below */
	void *from;          /* the client's connection; NULL = none */
};

/* What the client has sent with the request; NULL = nothing. Lives as long as the request. */
const char *ut_request_header(const struct ut_request *r, const char *name);
const char *ut_request_cookie(const struct ut_request *r, const char *name);
const char *ut_request_argument(const struct ut_request *r, const char *name);

#define UT_WHO 64

/*
 * Who sends this, as far as that can be told from outside, so that limits for one are not evaded by
 * another address: "uid 1000" is a user of this machine, by whatever address; of version 6 it is
 * the network.
 */
void ut_request_who(const struct ut_request *r, char to[UT_WHO]);

/* The one who asks is a user of the handler's: his connection is not closed to make room. */
void ut_request_is_known(const struct ut_request *r);

/* A body that is made while it is sent. */
struct ut_reply_stream {
	/* At most room bytes, at least one; waits for them. -1: that was all. */
	ssize_t (*read)(void *ctx, char *to, size_t room);
	void (*close)(void *ctx); /* always called, once */
	void *ctx;
};

/* What to send. The handler fills it; {0} is 404. */
struct ut_reply {
	int status;           /* 200, 303, 404, ... */
	const char *type;     /* Content-Type; NULL = text/plain */
	const char *encoding; /* Content-Encoding; NULL = none */
	const char *policy;   /* Content-Security-Policy; NULL = none */
	const char *location; /* of 303; this and the texts below live until the arena's end */
	const char *save_as;  /* a download: the name offered */
	const char *cookie;   /* Set-Cookie; NULL = none */
	const char *cache;    /* Cache-Control; NULL = no-store */
	const char *etag;
	unsigned int retry_after; /* s; 0 = is not said */
	/* the body: bytes from malloc(), which are taken over; or that outlive the server; or a
	 * file, which is taken over; or a stream */
	char *data;
	const char *lent;
	size_t len;
	int fd; /* used if there are no bytes, and > 0 */
	struct ut_reply_stream stream;
	struct ut_arena arena; /* of the handler, until the reply is on its way */
};

typedef void (*ut_serve_fn)(void *ctx, const struct ut_request *request, struct ut_reply *reply);

/* Where the body of a request goes, and how much of it there may be. */
struct ut_body {
	uint64_t most; /* bytes; as begin() finds it: what is usual */
	int fd;        /* a file, which is closed when the request is over; -1 = memory */
	char why[240]; /* what is said if it is refused, or too large; "" = what is usual */
};

struct ut_serve_opts {
	uint16_t port;           /* 0 = any that is free */
	const char *port_option; /* what an error about it names; NULL = --port */
	bool anywhere;           /* listen on all addresses of this machine, not on 127.0.0.1 */
	int listen_fd;           /* a socket that listens already, taken over; 0 = none */
	unsigned int clients;    /* at most so many at a time; 0 = 64 */
	bool token;              /* only who has been given one may ask */
	bool posts;              /* POST is allowed, with the header X-Unitrace */
	bool methods; /* so are PUT, PATCH and DELETE; and the header Authorization, which
		       * browsers do not send by themselves either, instead of that one;
		       * what is refused is said in JSON */
	bool serial;  /* the handler is called by one thread at a time */
	bool once;    /* end when the last page is gone: the last stream, see below */
	const char
		*live; /* end of the path of a stream that pages keep open while they are there */
	const char *cert, *key; /* PEM, which outlive the server: speaks TLS; NULL = it does not */
	bool long_paths;        /* a path may be a name of a kernel: 60 KB of it */
	/* Is this host (as the request has it, with or without a port) one of ours? NULL: those of
	 * this machine alone. */
	bool (*is_host)(void *ctx, const char *host);
	const char *origin; /* pages from there are ours, too: a proxy's "https://host"; or NULL */
	/* The head of a request is there, and its body may follow: 0, or the status that refuses
	 * it. NULL: whatever is small enough is read. */
	int (*begin)(void *ctx, const struct ut_request *request, struct ut_body *body);
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

/* Does it end? For streams, which should then. */
bool ut_serve_is_stopping(const struct ut_serve *s);

/*
 * Tells all pages that keep the stream open, and those that come later: data is one line. Without
 * an event it is the whole and takes the place of everything told before; with one it is what has
 * changed since, and the last of them counts. When the server ends, pages hear the event "end".
 * Any thread.
 */
void ut_serve_notify(struct ut_serve *s, const char *event, const char *data, size_t len);

/* 0: there is a server. -ENOTSUP: not in this build; others: libmicrohttpd cannot be loaded. It is
 * loaded by this: only who is going to serve should ask, or who tells what there is. */
int ut_serve_check(struct ut_err *err) UT_MUST_CHECK;

#endif
