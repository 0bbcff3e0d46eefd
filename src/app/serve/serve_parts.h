/*
 * serve_parts.h - what the files of this room share, and nobody else.
 */
#ifndef UT_SERVE_SERVE_PARTS_H
#define UT_SERVE_SERVE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "serve/auth.h"
#include "serve/mhd.h"
#include "serve/serve.h"

#define UT_HEAD_MS     10000 /* for the first request of a connection to begin */
#define UT_REQUEST_MS  20000 /* for a request, or the next part of a large one, to be there */
#define UT_REPLY_MS    120000
#define UT_TICK_MS     100 /* how late we may notice that we should stop */
#define UT_COOKIE_ROOM 32

/* A connection, from the moment it is made. */
struct ut_client {
	struct ut_client *next, **link;
	int fd;
	int64_t deadline; /* ms; 0 = as long as it takes */
	uint64_t origin;  /* the machine or network that it comes from; 0 = a socket of ours */
	bool is_cut;
	atomic_bool is_busy;  /* with a request */
	atomic_bool is_known; /* the last one was a user's */
};

/* The last event that was sent to pages: the whole, and what has changed since. */
enum {
	UT_STREAM_EVENTS = 2
};

struct ut_stream_event {
	char *text;
	size_t len;
	uint64_t number;
};

struct ut_serve {
	struct ut_serve_opts opts;
	struct ut_stream_event events[UT_STREAM_EVENTS]; /* under the lock */
	struct MHD_Daemon *daemon;
	struct ut_auth gate;
	char cookie[UT_COOKIE_ROOM]; /* its name: cookies are shared by all ports of a host */
	uint16_t port;
	pthread_mutex_t lock; /* of the clients and events */
	struct ut_client *clients;
	pthread_mutex_t turn; /* of a handler that wants one thread at a time */
	atomic_uint pages;
	atomic_uint flows; /* bodies that are made while they are sent */
	atomic_bool had_page, asked_to_stop, stopping;
};

int64_t ut_serve_now_ms(void);

/* What libmicrohttpd calls when a connection comes or goes; ctx is the server. */
void ut_clients_notify(void *ctx, struct MHD_Connection *connection, void **state,
		       enum MHD_ConnectionNotificationCode what);
struct ut_client *ut_clients_of(struct MHD_Connection *connection);
void ut_clients_cut_late(struct ut_serve *s);

/* Is there one way only to read the head of this request? */
bool ut_head_is_clear(struct MHD_Connection *connection);

/* When this client must be done with what it does; 0 = it may take as long as it likes. */
void ut_serve_deadline(struct ut_serve *s, struct MHD_Connection *connection, int64_t ms);

/* A socket that listens where opts say, or a negative errno. */
int ut_serve_listen(const struct ut_serve_opts *opts, uint16_t *port, struct ut_err *err);

/* What the reply holds is taken over in any case. */
enum MHD_Result ut_reply_send(struct ut_serve *s, struct MHD_Connection *connection,
			      struct ut_reply *reply);
enum MHD_Result ut_reply_refuse(struct ut_serve *s, struct MHD_Connection *connection, int status);
void ut_reply_header(struct MHD_Response *r, const char *name, const char *value);

/* The stream of a page that listens to the events of ut_serve_notify(). */
enum MHD_Result ut_event_stream(struct ut_serve *s, struct MHD_Connection *connection);

#endif
