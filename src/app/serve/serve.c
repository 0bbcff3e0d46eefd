#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "serve/serve_parts.h"

#define CLIENTS    64u
#define HEAD_MOST  (16u << 10)  /* bytes of a request's lines */
#define HEAD_LONG  (128u << 10) /* where paths are long: one comes again as the referrer */
#define BODY_MOST  (1u << 20)
#define DRAIN_MOST (1u << 20) /* that is read of a body after it was too large */
#define QUIET_S    20u        /* a client that neither sends nor takes anything */
#define LEAVE_MS   3000       /* a page that is loaded again is away for a moment */
#define GOODBYE_MS 1000       /* for pages to hear that we end */

/* Nothing older than TLS 1.2; what GnuTLS takes for good enough otherwise. */
#define TLS_KINDS "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* A request on its way in. */
struct pending {
	char *body;
	size_t len, cap;
	struct ut_body into;
	uint64_t written; /* to its file */
	uint64_t drained; /* read after it was refused */
	int status;       /* it is refused with that; 0 = it is fine so far */
	char client[INET6_ADDRSTRLEN];
};

static void request_done(void *ctx, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode how)
{
	struct pending *p = *state;

	(void)how;
	if (p) {
		free(p->body);
		if (p->into.fd >= 0)
			close(p->into.fd);
	}
	free(p);
	*state = NULL;
	ut_clients_of(connection)->is_busy = false;
	ut_serve_deadline(ctx, connection, UT_REQUEST_MS);
}

/* ---- requests ------------------------------------------------------------------------------- */

const char *ut_request_header(const struct ut_request *r, const char *name)
{
	return ut_mhd.lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *ut_request_cookie(const struct ut_request *r, const char *name)
{
	return ut_mhd.lookup_connection_value(r->connection, MHD_COOKIE_KIND, name);
}

const char *ut_request_argument(const struct ut_request *r, const char *name)
{
	return ut_mhd.lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

static enum ut_method method_of(const char *word)
{
	static const char *const words[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(word, words[i]))
			return (enum ut_method)i;
	}
	return strcmp(word, "HEAD") != 0 ? UT_METHODS : UT_METHOD_GET;
}

static bool is_allowed(const struct ut_serve *s, enum ut_method method)
{
	return method == UT_METHOD_GET || (method == UT_METHOD_POST && s->opts.posts) ||
	       (method < UT_METHODS && s->opts.methods);
}

static bool is_from_us(const struct ut_serve *s, const struct ut_request *request)
{
	const char *host = ut_request_header(request, "Host");
	const char *origin = ut_request_header(request, "Origin");

	if (!ut_auth_is_local_host(host) &&
	    !(host && s->opts.is_host && s->opts.is_host(s->opts.ctx, host)))
		return false;
	return ut_auth_is_same_origin(origin, host, s->opts.cert != NULL) ||
	       (s->opts.origin && !strcasecmp(origin, s->opts.origin));
}

/* Something that no form or link of another site can send. */
static bool is_marked(const struct ut_serve *s, const struct ut_request *request)
{
	const char *mark = ut_request_header(request, "X-Unitrace");

	return (mark && !strcmp(mark, "1")) ||
	       (s->opts.methods && ut_request_header(request, "Authorization"));
}

/* Who asks, from where and how: 0, or the status that says no. */
static int serve_check(const struct ut_serve *s, const struct ut_request *request,
		       struct ut_body *into)
{
	const char *length = ut_request_header(request, "Content-Length");
	int status;

	if (!ut_head_is_clear(request->connection))
		return 400;
	if (!is_from_us(s, request))
		return 403;
	if (!is_allowed(s, request->method))
		return 405;
	if (request->method != UT_METHOD_GET && !is_marked(s, request))
		return 403;
	into->most = request->method == UT_METHOD_GET ? 0 : BODY_MOST;
	status = s->opts.begin ? s->opts.begin(s->opts.ctx, request, into) : 0;
	if (!status && length && strtoull(length, NULL, 10) > into->most)
		status = 413;
	return status;
}

static bool serve_is_known(struct ut_serve *s, const struct ut_request *request)
{
	return !s->opts.token ||
	       ut_auth_has_cookie(&s->gate, ut_request_cookie(request, s->cookie));
}

/* A token becomes a cookie, and the address loses it; so does that of somebody known. */
static enum MHD_Result let_in(struct ut_serve *s, const struct ut_request *request,
			      const char *token)
{
	struct ut_reply reply = { .status = 303, .location = "/" };

	if (ut_auth_use_token(&s->gate, token))
		reply.cookie = ut_str_fmt(&reply.arena, "%s=%s; HttpOnly; SameSite=Strict; Path=/",
					  s->cookie, s->gate.cookie);
	else if (!serve_is_known(s, request))
		reply = (struct ut_reply){ .status = 401 };
	return ut_reply_send(s, request->connection, &reply);
}

static enum MHD_Result serve_answer(struct ut_serve *s, const struct ut_request *request)
{
	const char *token = ut_request_argument(request, "token");
	struct ut_reply reply = { 0 };
	enum MHD_Result result;

	ut_serve_deadline(s, request->connection, UT_REPLY_MS);
	/* HEAD is what previews of links and scanners send: it lets nobody in */
	if (s->opts.token && token && !strcmp(request->path, "/") && !request->is_post &&
	    !request->is_head)
		return let_in(s, request, token);
	if (!serve_is_known(s, request))
		return ut_reply_refuse(s, request->connection, 401);
	if (!s->opts.begin) /* otherwise the handler says who is known */
		ut_request_is_known(request);
	if (s->opts.live && ut_str_ends(request->path, s->opts.live) && !request->is_post)
		return ut_event_stream(s, request->connection);
	if (s->opts.serial)
		pthread_mutex_lock(&s->turn);
	s->opts.answer(s->opts.ctx, request, &reply);
	result = ut_reply_send(s, request->connection, &reply);
	if (s->opts.serial)
		pthread_mutex_unlock(&s->turn);
	return result;
}

/* ---- bodies --------------------------------------------------------------------------------- */

/* 0, or the status that says why not. */
static int write_body(struct pending *p, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(p->into.fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 507;
		p->written += (uint64_t)n;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static void take_body(struct pending *p, const char *data, size_t len)
{
	if (p->status) {
		p->drained += len;
		return;
	}
	if (p->len + p->written + len > p->into.most) {
		p->status = 413;
	} else if (p->into.fd >= 0) {
		p->status = write_body(p, data, len);
	} else {
		p->body = ut_grow(p->body, p->len + len + 1, &p->cap, 1);
		memcpy(p->body + p->len, data, len);
		p->len += len;
	}
}

static void name_client(struct MHD_Connection *connection, char to[INET6_ADDRSTRLEN])
{
	const union MHD_ConnectionInfo *info =
		ut_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *at = info ? info->client_addr : NULL;

	to[0] = '\0';
	if (at && at->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)at)->sin_addr, to,
			  INET6_ADDRSTRLEN);
	else if (at && at->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr, to,
			  INET6_ADDRSTRLEN);
}

static enum MHD_Result serve_refuse(struct ut_serve *s, struct MHD_Connection *connection,
				    int status, const struct pending *p)
{
	struct ut_reply reply = { .status = status };

	if ((status == 413 || status == 507) && p->into.why[0]) {
		reply.type = s->opts.methods ? "application/json" : NULL;
		reply.lent =
			ut_str_fmt(&reply.arena, s->opts.methods ? "{\"error\":\"%s\"}\n" : "%s\n",
				   p->into.why);
		reply.len = strlen(reply.lent);
	}
	return ut_reply_send(s, connection, &reply);
}

/* The head of the request is there. */
static enum MHD_Result serve_begin(struct ut_serve *s, struct ut_request *request, void **state)
{
	struct pending *p = ut_make(sizeof(*p));
	int status;

	p->into.fd = -1;
	*state = p;
	((struct ut_client *)request->from)->is_busy = true;
	((struct ut_client *)request->from)->is_known = false;
	ut_serve_deadline(s, request->connection, UT_REQUEST_MS);
	name_client(request->connection, p->client);
	request->client = p->client;
	status = serve_check(s, request, &p->into);
	return status ? serve_refuse(s, request->connection, status, p) : MHD_YES;
}

/* limits: libmicrohttpd calls it, NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *len, void **state)
{
	struct ut_serve *s = ctx;
	struct pending *p = *state;
	struct ut_request request = { .path = url,
				      .method = method_of(method),
				      .is_post = !strcmp(method, "POST"),
				      .is_head = !strcmp(method, "HEAD"),
				      .body_fd = -1,
				      .connection = connection,
				      .from = ut_clients_of(connection) };

	(void)version;
	if (!p)
		return serve_begin(s, &request, state);
	if (*len) {
		take_body(p, data, *len);
		*len = 0;
		if (p->drained > DRAIN_MOST) /* whoever goes on is not read any more */
			return MHD_NO;
		if (p->into.fd >= 0)
			ut_serve_deadline(s, connection, UT_REQUEST_MS);
		return MHD_YES;
	}
	if (p->status)
		return serve_refuse(s, connection, p->status, p);
	request.client = p->client;
	request.body = (struct ut_str){ p->body ? p->body : "", p->len };
	request.body_fd = p->into.fd;
	request.body_bytes = p->written;
	return serve_answer(s, &request);
}

/* ---- opening and running -------------------------------------------------------------------- */

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

static struct MHD_Daemon *serve_start(struct ut_serve *s, int fd)
{
	const struct MHD_OptionItem tls[] = {
		/* which take no pointers to constants, and change nothing */
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)s->opts.cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)s->opts.key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_KINDS },
		{ MHD_OPTION_END, 0, NULL },
	};
	const struct MHD_OptionItem none = { MHD_OPTION_END, 0, NULL };

	return ut_mhd.start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ITC | MHD_USE_ERROR_LOG | (s->opts.cert ? MHD_USE_TLS : 0),
		0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
		MHD_OPTION_UNESCAPE_CALLBACK, decode, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, s->opts.clients, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)(s->opts.long_paths ? HEAD_LONG : HEAD_MOST), MHD_OPTION_CONNECTION_TIMEOUT,
		QUIET_S, MHD_OPTION_NOTIFY_COMPLETED, request_done, s, MHD_OPTION_NOTIFY_CONNECTION,
		ut_clients_notify, s, MHD_OPTION_ARRAY, s->opts.cert ? tls : &none, MHD_OPTION_END);
}

int ut_serve_open(struct ut_serve **out, const struct ut_serve_opts *opts, struct ut_err *err)
{
	struct ut_serve *s;
	uint16_t port;
	int fd, rc = ut_mhd_load(err);

	*out = NULL;
	if (rc)
		return rc;
	fd = ut_serve_listen(opts, &port, err);
	if (fd < 0)
		return fd;
	s = ut_make(sizeof(*s));
	s->opts = *opts;
	s->opts.clients = opts->clients ? opts->clients : CLIENTS;
	s->port = port;
	snprintf(s->cookie, sizeof(s->cookie), "unitrace_%u", (unsigned int)s->port);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->turn, NULL);
	if (ut_auth_init(&s->gate))
		s->daemon = serve_start(s, fd);
	if (!s->daemon) {
		close(fd);
		ut_serve_close(s);
		return ut_err_set(err, -EIO, "the server could not be started%s",
				  opts->cert ? ": is the key that of the certificate?" : "");
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
	ut_auth_release(&s->gate);
	for (size_t i = 0; i < UT_STREAM_EVENTS; i++)
		free(s->events[i].text);
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
		snprintf(to, UT_SERVE_ADDRESS, "%s://%s:%u/", s->opts.cert ? "https" : "http",
			 s->opts.cert ? "localhost" : "127.0.0.1", (unsigned int)s->port);
		return;
	}
	ut_auth_add_token(&s->gate, token);
	snprintf(to, UT_SERVE_ADDRESS, "http://127.0.0.1:%u/?token=%s", (unsigned int)s->port,
		 token);
}

void ut_serve_run(struct ut_serve *s, const volatile sig_atomic_t *stop)
{
	int64_t left = 0; /* when the last page went */

	while (!*stop && !s->asked_to_stop) {
		poll(NULL, 0, UT_TICK_MS);
		ut_clients_cut_late(s);
		if (!s->opts.once || !s->had_page || s->pages)
			left = 0;
		else if (!left)
			left = ut_serve_now_ms();
		else if (ut_serve_now_ms() - left > LEAVE_MS)
			break;
	}
	s->stopping = true;
	for (int waited = 0; (s->pages || s->flows) && waited < GOODBYE_MS; waited += 10)
		poll(NULL, 0, 10);
}

void ut_serve_stop(struct ut_serve *s)
{
	s->asked_to_stop = true;
}

bool ut_serve_is_stopping(const struct ut_serve *s)
{
	return s->stopping;
}

int ut_serve_check(struct ut_err *err)
{
	return ut_mhd_load(err);
}
