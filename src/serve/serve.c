#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "serve/gatekeeper.h"
#include "serve/mhd.h"

#define CLIENTS     64u
#define BACKLOG     64
#define HEAD_MOST   (16u << 10) /* bytes of a request's lines */
#define BODY_MOST   (1u << 20)
#define QUIET_S     20u   /* a client that neither sends nor takes anything */
#define REQUEST_MS  20000 /* for a request to be complete */
#define REPLY_MS    120000
#define BEAT_MS     1000 /* of a stream: how late we notice that a page is gone */
#define LEAVE_MS    3000 /* a page that is loaded again is away for a moment */
#define TICK_MS     100  /* how late we may notice that we should stop */
#define GOODBYE_MS  1000 /* for pages to hear that we end */
#define COOKIE_ROOM 32
#define STREAM_ROOM 4096u

/* A connection, from the moment it is made. */
struct client {
	struct client *next, **link;
	int fd;
	int64_t deadline; /* ms; 0 = as long as it takes */
	bool is_cut;
};

/* The last thing that was told to pages: the whole, and what has changed since. */
enum {
	TIDINGS = 2
};

struct tidings {
	char *text;
	size_t len;
	uint64_t number;
};

struct ut_serve {
	struct ut_serve_opts opts;
	struct tidings tidings[TIDINGS]; /* under the lock */
	struct MHD_Daemon *daemon;
	struct ut_gatekeeper gate;
	char cookie[COOKIE_ROOM]; /* its name: cookies are shared by all ports of a host */
	uint16_t port;
	pthread_mutex_t lock; /* of the clients and tidings */
	struct client *clients;
	pthread_mutex_t turn; /* of a handler that wants one thread at a time */
	atomic_uint pages;
	atomic_bool had_page, asked_to_stop, stopping;
};

/* A request on its way in. */
struct pending {
	char *body;
	size_t len, cap;
	bool too_much;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- clients and their time ----------------------------------------------------------------- */

static void set_deadline(struct ut_serve *s, struct client *c, int64_t ms)
{
	pthread_mutex_lock(&s->lock);
	c->deadline = ms ? now_ms() + ms : 0;
	pthread_mutex_unlock(&s->lock);
}

static void come_and_go(void *ctx, struct MHD_Connection *connection, void **state,
			enum MHD_ConnectionNotificationCode what)
{
	struct ut_serve *s = ctx;
	struct client *c = *state;

	pthread_mutex_lock(&s->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		c = ut_make(sizeof(*c));
		c->fd = ut_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				->connect_fd;
		c->deadline = now_ms() + REQUEST_MS;
		c->next = s->clients;
		c->link = &s->clients;
		if (c->next)
			c->next->link = &c->next;
		s->clients = c;
		*state = c;
	} else if (c) {
		*c->link = c->next;
		if (c->next)
			c->next->link = c->link;
		free(c);
		*state = NULL;
	}
	pthread_mutex_unlock(&s->lock);
}

/* Who has not said what it wants by now never will. */
static void cut_late(struct ut_serve *s)
{
	int64_t now = now_ms();

	pthread_mutex_lock(&s->lock);
	for (struct client *c = s->clients; c; c = c->next) {
		if (!c->deadline || now < c->deadline || c->is_cut)
			continue;
		shutdown(c->fd, SHUT_RDWR);
		c->is_cut = true;
	}
	pthread_mutex_unlock(&s->lock);
}

static struct client *client_of(struct MHD_Connection *connection)
{
	return *(void *const *)ut_mhd.get_connection_info(connection,
							  MHD_CONNECTION_INFO_SOCKET_CONTEXT);
}

static void request_done(void *ctx, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode how)
{
	struct pending *p = *state;

	(void)how;
	if (p)
		free(p->body);
	free(p);
	*state = NULL;
	set_deadline(ctx, client_of(connection), REQUEST_MS);
}

/* ---- replies -------------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *r, const char *name, const char *value)
{
	if (value)
		ut_mhd.add_response_header(r, name, value);
}

static struct MHD_Response *make_response(struct ut_reply *reply)
{
	struct stat st;

	if (reply->data)
		return ut_mhd.create_response_from_buffer(reply->len, reply->data,
							  MHD_RESPMEM_MUST_FREE);
	if (reply->lent)
		return ut_mhd.create_response_from_buffer(
			reply->len, (void *)(uintptr_t)reply->lent, MHD_RESPMEM_PERSISTENT);
	if (reply->fd > 0 && !fstat(reply->fd, &st))
		return ut_mhd.create_response_from_fd64((uint64_t)st.st_size, reply->fd);
	return ut_mhd.create_response_from_buffer(0, (void *)(uintptr_t) "",
						  MHD_RESPMEM_PERSISTENT);
}

static const char *reason(int status)
{
	switch (status) {
	case 303:
		return "See Other\n";
	case 400:
		return "Bad Request\n";
	case 401:
		return "Unauthorized: open the address that unitrace printed; it works once\n";
	case 403:
		return "Forbidden\n";
	case 405:
		return "Method Not Allowed\n";
	case 413:
		return "Content Too Large\n";
	case 404:
		return "Not Found\n";
	default:
		return "Internal Server Error\n";
	}
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct ut_reply *reply,
				  const char *cookie)
{
	struct MHD_Response *r;
	char text[300];
	enum MHD_Result result;

	if (!reply->status)
		reply->status = 404;
	if (!reply->data && !reply->lent && reply->fd <= 0) {
		reply->lent = reason(reply->status);
		reply->len = strlen(reply->lent);
		reply->type = NULL;
	}
	r = make_response(reply);
	if (!r)
		return MHD_NO;
	add_header(r, "Content-Type", reply->type ? reply->type : "text/plain; charset=utf-8");
	add_header(r, "Content-Encoding", reply->encoding);
	add_header(r, "Content-Security-Policy", reply->policy);
	add_header(r, "Cache-Control", "no-store");
	add_header(r, "X-Content-Type-Options", "nosniff");
	add_header(r, "Referrer-Policy", "no-referrer");
	add_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	add_header(r, "Location", reply->location);
	add_header(r, "Set-Cookie", cookie);
	if (reply->save_as) {
		snprintf(text, sizeof(text), "attachment; filename=\"%s\"", reply->save_as);
		add_header(r, "Content-Disposition", text);
	}
	result = ut_mhd.queue_response(connection, (unsigned int)reply->status, r);
	ut_mhd.destroy_response(r);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int status)
{
	struct ut_reply reply = { .status = status };

	return send_reply(connection, &reply, NULL);
}

/* ---- streams -------------------------------------------------------------------------------- */

/* One page that listens. */
struct stream {
	struct ut_serve *s;
	uint64_t heard[TIDINGS]; /* number of the last one that was sent to it */
	char *text;              /* on its way */
	size_t len, at;
	bool is_told; /* that we end */
};

/* What the page has not heard yet becomes its text; false if it has heard everything. */
static bool find_news(struct stream *page)
{
	struct ut_serve *s = page->s;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < TIDINGS && !page->text; i++) {
		const struct tidings *t = &s->tidings[i];

		if (t->number == page->heard[i])
			continue;
		page->heard[i] = t->number;
		if (!t->text)
			continue;
		page->text = memcpy(ut_make(t->len), t->text, t->len);
		page->len = t->len;
		page->at = 0;
	}
	pthread_mutex_unlock(&s->lock);
	return page->text != NULL;
}

static ssize_t send_some(struct stream *page, char *to, size_t room)
{
	size_t some = page->len - page->at < room ? page->len - page->at : room;

	memcpy(to, page->text + page->at, some);
	page->at += some;
	if (page->at == page->len) {
		free(page->text);
		page->text = NULL;
	}
	return (ssize_t)some;
}

static ssize_t send_words(char *to, size_t room, const char *words)
{
	size_t len = strlen(words);

	if (len > room)
		return MHD_CONTENT_READER_END_OF_STREAM;
	memcpy(to, words, len);
	return (ssize_t)len;
}

/* A page is there as long as its stream is: a line now and then finds out. */
static ssize_t beat(void *ctx, uint64_t at, char *to, size_t room)
{
	struct stream *page = ctx;
	struct ut_serve *s = page->s;
	bool first = at == 0;

	if (page->text)
		return send_some(page, to, room);
	if (first)
		return send_words(to, room, "retry: 1000\n\n");
	for (int waited = 0; waited < BEAT_MS && !s->stopping; waited += TICK_MS) {
		if (find_news(page))
			return send_some(page, to, room);
		poll(NULL, 0, TICK_MS);
	}
	if (s->stopping && page->is_told)
		return MHD_CONTENT_READER_END_OF_STREAM;
	page->is_told = s->stopping;
	return send_words(to, room, s->stopping ? "event: end\ndata: {}\n\n" : ":\n\n");
}

static void end_stream(void *ctx)
{
	struct stream *page = ctx;

	page->s->pages--;
	free(page->text);
	free(page);
}

static enum MHD_Result start_stream(struct ut_serve *s, struct MHD_Connection *connection)
{
	struct stream *page = ut_make(sizeof(*page));
	struct MHD_Response *r = ut_mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_ROOM,
								      beat, page, end_stream);
	enum MHD_Result result;

	page->s = s;
	if (!r) {
		free(page);
		return MHD_NO;
	}
	s->pages++;
	s->had_page = true;
	set_deadline(s, client_of(connection), 0);
	add_header(r, "Content-Type", "text/event-stream");
	add_header(r, "Cache-Control", "no-store");
	result = ut_mhd.queue_response(connection, 200, r);
	ut_mhd.destroy_response(r);
	return result;
}

void ut_serve_tell(struct ut_serve *s, const char *event, const char *data, size_t len)
{
	size_t slot = event ? 1 : 0, cap = 0;
	char *text = NULL;
	int head;

	text = ut_grow(text, len + 64, &cap, 1);
	head = snprintf(text, 48, "%s%.32s%sdata: ", event ? "event: " : "", event ? event : "",
			event ? "\n" : "");
	memcpy(text + head, data, len);
	memcpy(text + head + len, "\n\n", 2);
	pthread_mutex_lock(&s->lock);
	for (size_t i = slot; i < TIDINGS; i++) { /* what changed is part of the whole by now */
		free(s->tidings[i].text);
		s->tidings[i] = (struct tidings){ .number = s->tidings[i].number + 1 };
	}
	s->tidings[slot].text = text;
	s->tidings[slot].len = (size_t)head + len + 2;
	pthread_mutex_unlock(&s->lock);
}

/* ---- requests ------------------------------------------------------------------------------- */

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return ut_mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Who asks, from where and how: 0, or the status that says no. */
static int check(const struct ut_serve *s, struct MHD_Connection *connection, const char *method)
{
	const char *host = header(connection, "Host"), *mark = header(connection, "X-Unitrace");
	const char *length = header(connection, "Content-Length");
	bool is_post = !strcmp(method, "POST");

	if (!ut_gatekeeper_is_us(host) || !ut_gatekeeper_same(header(connection, "Origin"), host))
		return 403;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
	    !(is_post && s->opts.posts))
		return 405;
	if (is_post && (!mark || strcmp(mark, "1") != 0))
		return 403;
	if (length && strtoull(length, NULL, 10) > (is_post ? BODY_MOST : 0))
		return 413;
	return 0;
}

static bool is_known(struct ut_serve *s, struct MHD_Connection *connection)
{
	return !s->opts.token ||
	       ut_gatekeeper_knows(&s->gate, ut_mhd.lookup_connection_value(
						     connection, MHD_COOKIE_KIND, s->cookie));
}

/* A token becomes a cookie, and the address loses it; so does that of somebody known. */
static enum MHD_Result let_in(struct ut_serve *s, struct MHD_Connection *connection,
			      const char *token)
{
	struct ut_reply reply = { .status = 303, .location = "/" };
	char cookie[COOKIE_ROOM + UT_SECRET + 64];

	if (!ut_gatekeeper_take(&s->gate, token))
		return is_known(s, connection) ? send_reply(connection, &reply, NULL)
					       : refuse(connection, 401);
	snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict; Path=/", s->cookie,
		 s->gate.cookie);
	return send_reply(connection, &reply, cookie);
}

static enum MHD_Result answer(struct ut_serve *s, struct MHD_Connection *connection,
			      const struct ut_request *request)
{
	const char *token =
		ut_mhd.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
	struct ut_reply reply = { 0 };
	enum MHD_Result result;

	set_deadline(s, client_of(connection), REPLY_MS);
	if (s->opts.token && token && !strcmp(request->path, "/") && !request->is_post)
		return let_in(s, connection, token);
	if (!is_known(s, connection))
		return refuse(connection, 401);
	if (s->opts.live && !strcmp(request->path, s->opts.live) && !request->is_post)
		return start_stream(s, connection);
	if (s->opts.serial)
		pthread_mutex_lock(&s->turn);
	s->opts.answer(s->opts.ctx, request, &reply);
	result = send_reply(connection, &reply, NULL);
	if (s->opts.serial)
		pthread_mutex_unlock(&s->turn);
	return result;
}

static void take_body(struct pending *p, const char *data, size_t len)
{
	if (p->too_much || p->len + len > BODY_MOST) {
		p->too_much = true;
		return;
	}
	p->body = ut_grow(p->body, p->len + len + 1, &p->cap, 1);
	memcpy(p->body + p->len, data, len);
	p->len += len;
}

/* limits: libmicrohttpd calls it, NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *len, void **state)
{
	struct ut_serve *s = ctx;
	struct pending *p = *state;
	struct ut_request request = { .path = url, .is_post = !strcmp(method, "POST") };

	(void)version;
	if (!p) {
		int status = check(s, connection, method);

		*state = ut_make(sizeof(*p));
		return status ? refuse(connection, status) : MHD_YES;
	}
	if (*len) {
		take_body(p, data, *len);
		*len = 0;
		return MHD_YES;
	}
	if (p->too_much)
		return refuse(connection, 413);
	request.body = (struct ut_str){ p->body ? p->body : "", p->len };
	return answer(s, connection, &request);
}

/* ---- opening and running -------------------------------------------------------------------- */

static int listen_on(uint16_t port, struct sockaddr_in *at, struct ut_err *err)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return ut_err_set(err, -errno, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)at, sizeof(*at)) || listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)at, &len)) {
		int code = errno;

		close(fd);
		return ut_err_set(err, -code,
				  "port %u: %s; -p chooses another one, -p 0 a free one",
				  (unsigned int)port, strerror(code));
	}
	return fd;
}

static void say_nothing(void *ctx, const char *format, va_list args)
{
	(void)ctx;
	(void)format;
	(void)args;
}

/* A path with a NUL in it is none that we know: it stays as it was written. */
static size_t decode(void *ctx, struct MHD_Connection *connection, char *text)
{
	(void)ctx;
	(void)connection;
	return strstr(text, "%00") ? strlen(text) : ut_mhd.http_unescape(text);
}

int ut_serve_open(struct ut_serve **out, const struct ut_serve_opts *opts, struct ut_err *err)
{
	struct sockaddr_in at;
	struct ut_serve *s;
	int fd, rc = ut_mhd_load(err);

	*out = NULL;
	if (rc)
		return rc;
	fd = listen_on(opts->port, &at, err);
	if (fd < 0)
		return fd;
	s = ut_make(sizeof(*s));
	s->opts = *opts;
	s->port = ntohs(at.sin_port);
	snprintf(s->cookie, sizeof(s->cookie), "unitrace_%u", (unsigned int)s->port);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->turn, NULL);
	if (ut_gatekeeper_init(&s->gate))
		s->daemon = ut_mhd.start_daemon(
			MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
				MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG,
			0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
			MHD_OPTION_UNESCAPE_CALLBACK, decode, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
			MHD_OPTION_CONNECTION_LIMIT, CLIENTS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			(size_t)HEAD_MOST, MHD_OPTION_CONNECTION_TIMEOUT, QUIET_S,
			MHD_OPTION_NOTIFY_COMPLETED, request_done, s, MHD_OPTION_NOTIFY_CONNECTION,
			come_and_go, s, MHD_OPTION_END);
	if (!s->daemon) {
		close(fd);
		ut_serve_close(s);
		return ut_err_set(err, -EIO, "the server could not be started");
	}
	*out = s;
	return 0;
}

void ut_serve_close(struct ut_serve *s)
{
	if (!s)
		return;
	s->stopping = true;
	if (s->daemon)
		ut_mhd.stop_daemon(s->daemon);
	ut_gatekeeper_release(&s->gate);
	for (size_t i = 0; i < TIDINGS; i++)
		free(s->tidings[i].text);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->turn);
	free(s);
}

uint16_t ut_serve_port(const struct ut_serve *s)
{
	return s->port;
}

void ut_serve_address(struct ut_serve *s, char to[UT_SERVE_ADDRESS])
{
	char token[UT_SECRET];

	if (!s->opts.token) {
		snprintf(to, UT_SERVE_ADDRESS, "http://127.0.0.1:%u/", (unsigned int)s->port);
		return;
	}
	ut_gatekeeper_token(&s->gate, token);
	snprintf(to, UT_SERVE_ADDRESS, "http://127.0.0.1:%u/?token=%s", (unsigned int)s->port,
		 token);
}

void ut_serve_run(struct ut_serve *s, const volatile sig_atomic_t *stop)
{
	int64_t left = 0; /* when the last page went */

	while (!*stop && !s->asked_to_stop) {
		poll(NULL, 0, TICK_MS);
		cut_late(s);
		if (!s->opts.once || !s->had_page || s->pages)
			left = 0;
		else if (!left)
			left = now_ms();
		else if (now_ms() - left > LEAVE_MS)
			break;
	}
	s->stopping = true;
	for (int waited = 0; s->pages && waited < GOODBYE_MS; waited += 10)
		poll(NULL, 0, 10);
}

void ut_serve_stop(struct ut_serve *s)
{
	s->asked_to_stop = true;
}

int ut_serve_check(struct ut_err *err)
{
	return ut_mhd_load(err);
}
