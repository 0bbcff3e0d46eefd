#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"

#define CLIENTS     32
#define REQUEST_MAX 8192 /* bytes of a request's lines */
#define PATIENCE_MS 15000
#define DRAIN_MS    2000
#define TICK_MS     200 /* how late we may notice that we should stop */

enum state {
	FREE,
	READING,
	WRITING,  /* head, then body */
	DRAINING, /* sent; what the client still says is heard, or it would lose our answer */
};

struct client {
	enum state state;
	int fd;
	int64_t deadline; /* ms */
	char in[REQUEST_MAX];
	size_t in_len;
	char head[1024];
	size_t head_len, head_sent;
	struct ut_http_reply reply;
	uint64_t body, body_sent; /* bytes */
};

struct ut_http {
	int fd;
	uint16_t port;
	struct client clients[CLIENTS];
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- opening ------------------------------------------------------------------------------- */

int ut_http_open(struct ut_http **http, uint16_t port, struct ut_err *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	*http = NULL;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return ut_err_set(err, -errno, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, CLIENTS) ||
	    getsockname(fd, (struct sockaddr *)&at, &len)) {
		int code = errno;

		close(fd);
		return ut_err_set(err, -code,
				  "port %u: %s; -p chooses another one, -p 0 a free one",
				  (unsigned int)port, strerror(code));
	}
	*http = ut_make(sizeof(**http));
	(*http)->fd = fd;
	(*http)->port = ntohs(at.sin_port);
	return 0;
}

uint16_t ut_http_port(const struct ut_http *http)
{
	return http->port;
}

static void drop_reply(struct ut_http_reply *r)
{
	free(r->data);
	if (r->fd > 0)
		close(r->fd);
	*r = (struct ut_http_reply){ 0 };
}

static void drop_client(struct client *c)
{
	drop_reply(&c->reply);
	close(c->fd);
	c->state = FREE;
}

void ut_http_close(struct ut_http *http)
{
	if (!http)
		return;
	for (size_t i = 0; i < CLIENTS; i++) {
		if (http->clients[i].state != FREE)
			drop_client(&http->clients[i]);
	}
	close(http->fd);
	free(http);
}

/* ---- requests ------------------------------------------------------------------------------ */

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = {
		{ 200, "OK" },
		{ 303, "See Other" },
		{ 400, "Bad Request" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].status == status)
			return reasons[i].text;
	}
	return "Unknown";
}

static void begin_writing(struct client *c, bool head_only)
{
	struct ut_http_reply *r = &c->reply;
	struct stat st;
	int len;

	if (!r->status)
		r->status = 404;
	if (!r->data && r->fd <= 0) {
		r->data = strdup(reason(r->status));
		r->len = r->data ? strlen(r->data) : 0;
		r->type = NULL;
	}
	c->body = r->len;
	if (!r->data && !fstat(r->fd, &st))
		c->body = (uint64_t)st.st_size;
	len = snprintf(c->head, sizeof(c->head),
		       "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %" PRIu64 "\r\n"
		       "Connection: close\r\nCache-Control: no-store\r\n"
		       "X-Content-Type-Options: nosniff\r\n%s%s%s%s%s%s\r\n",
		       r->status, reason(r->status),
		       r->type ? r->type : "text/plain; charset=utf-8", c->body,
		       r->location ? "Location: " : "", r->location ? r->location : "",
		       r->location ? "\r\n" : "",
		       r->save_as ? "Content-Disposition: attachment; filename=\"" : "",
		       r->save_as ? r->save_as : "", r->save_as ? "\"\r\n" : "");
	c->head_len = (size_t)len < sizeof(c->head) ? (size_t)len : sizeof(c->head) - 1;
	c->head_sent = c->body_sent = 0;
	if (head_only)
		c->body = 0;
	c->state = WRITING;
}

static void refuse(struct client *c, int status)
{
	c->reply = (struct ut_http_reply){ .status = status };
	begin_writing(c, false);
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* In place; false if it is no path. The query is cut off. */
static bool decode_path(char *path)
{
	char *to = path;

	if (*path != '/')
		return false;
	for (const char *p = path; *p && *p != '?' && *p != '#'; p++) {
		char c = *p;

		if (c == '%') {
			int high = hex(p[1]), low = high < 0 ? -1 : hex(p[2]);

			if (low < 0 || !(high | low))
				return false;
			c = (char)(high << 4 | low);
			p += 2;
		}
		*to++ = c;
	}
	*to = '\0';
	return true;
}

/* The value of a field, without blanks in front; NULL = not there. Lines are separated by NULs. */
static const char *find_field(const char *lines, const char *end, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = lines; p < end; p += strlen(p) + 1) {
		if (!strncasecmp(p, name, len) && p[len] == ':')
			return p + len + 1 + strspn(p + len + 1, " \t");
	}
	return NULL;
}

static bool is_us(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; host && i < 3; i++) {
		size_t len = strlen(names[i]);

		if (!strncasecmp(host, names[i], len) && (!host[len] || host[len] == ':'))
			return true;
	}
	return false;
}

/* The lines of a request are complete: from in to end, which is behind the empty line. */
static void take_request(struct client *c, char *end, ut_http_fn answer, void *ctx)
{
	char *line = c->in, *path, *version;
	bool head = !strncmp(line, "HEAD ", 5);

	for (char *p = line; p < end; p++) {
		if (*p == '\r' || *p == '\n')
			*p = '\0';
	}
	path = strchr(line, ' ');
	version = path ? strchr(path + 1, ' ') : NULL;
	if (!version || strncmp(version + 1, "HTTP/1.", 7) != 0) {
		refuse(c, 400);
		return;
	}
	*path++ = *version = '\0';
	if (!head && strcmp(line, "GET") != 0)
		refuse(c, 405);
	else if (!is_us(find_field(version + strlen(version + 1) + 2, end, "Host")))
		refuse(c, 403);
	else if (!decode_path(path))
		refuse(c, 400);
	else {
		c->reply = (struct ut_http_reply){ 0 };
		answer(ctx, path, &c->reply);
		begin_writing(c, head);
	}
}

static void read_client(struct client *c, ut_http_fn answer, void *ctx)
{
	size_t room = sizeof(c->in) - 1 - c->in_len;
	ssize_t got = recv(c->fd, c->in + c->in_len, room, 0);
	char *end;

	if (got <= 0) {
		if (!got || (errno != EAGAIN && errno != EINTR))
			drop_client(c);
		return;
	}
	c->in_len += (size_t)got;
	c->in[c->in_len] = '\0';
	if (memchr(c->in, '\0', c->in_len)) {
		refuse(c, 400);
		return;
	}
	end = strstr(c->in, "\r\n\r\n");
	if (end)
		take_request(c, end + 2, answer, ctx);
	else if (c->in_len == sizeof(c->in) - 1)
		refuse(c, 431);
}

/* ---- answers ------------------------------------------------------------------------------- */

static ssize_t send_body(struct client *c)
{
	uint64_t left = c->body - c->body_sent;
	off_t at = (off_t)c->body_sent;

	if (c->reply.data)
		return send(c->fd, c->reply.data + c->body_sent, left, MSG_NOSIGNAL);
	return sendfile(c->fd, c->reply.fd, &at, left < 1u << 20 ? left : 1u << 20);
}

static void drain_client(struct client *c)
{
	ssize_t got = recv(c->fd, c->in, sizeof(c->in), 0);

	if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
		drop_client(c);
}

static void write_client(struct client *c)
{
	ssize_t sent;

	if (c->head_sent < c->head_len) {
		sent = send(c->fd, c->head + c->head_sent, c->head_len - c->head_sent,
			    MSG_NOSIGNAL);
		c->head_sent += sent > 0 ? (size_t)sent : 0;
	} else if (c->body_sent < c->body) {
		sent = send_body(c);
		c->body_sent += sent > 0 ? (uint64_t)sent : 0;
	} else {
		shutdown(c->fd, SHUT_WR);
		c->state = DRAINING;
		c->deadline = now_ms() + DRAIN_MS;
		return;
	}
	if (sent > 0)
		c->deadline = now_ms() + PATIENCE_MS;
	else if (!sent || (errno != EAGAIN && errno != EINTR)) /* a file that became shorter */
		drop_client(c);
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void accept_client(struct ut_http *http)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	int fd = accept4(http->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *c = &http->clients[i];

		if (c->state != FREE)
			continue;
		c->state = READING;
		c->fd = fd;
		c->in_len = 0;
		c->deadline = now_ms() + PATIENCE_MS;
		return;
	}
	close(fd);
}

static void serve_clients(struct ut_http *http, const struct pollfd *polled, ut_http_fn answer,
			  void *ctx)
{
	int64_t now = now_ms();

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *c = &http->clients[i];

		if (c->state == FREE || polled[i].fd < 0)
			continue;
		if (polled[i].revents && c->state == READING)
			read_client(c, answer, ctx);
		else if (polled[i].revents && c->state == WRITING)
			write_client(c);
		else if (polled[i].revents && now <= c->deadline)
			drain_client(c);
		else if (now > c->deadline)
			drop_client(c);
	}
}

int ut_http_run(struct ut_http *http, ut_http_fn answer, void *ctx,
		const volatile sig_atomic_t *stop, struct ut_err *err)
{
	while (!*stop) {
		struct pollfd polled[CLIENTS + 1];

		for (size_t i = 0; i < CLIENTS; i++) {
			const struct client *c = &http->clients[i];

			polled[i].fd = c->state == FREE ? -1 : c->fd;
			polled[i].events = c->state == WRITING ? POLLOUT : POLLIN;
			polled[i].revents = 0;
		}
		polled[CLIENTS] = (struct pollfd){ .fd = http->fd, .events = POLLIN };
		if (poll(polled, CLIENTS + 1, TICK_MS) < 0 && errno != EINTR)
			return ut_err_set(err, -errno, "poll: %s", strerror(errno));
		serve_clients(http, polled, answer, ctx);
		if (polled[CLIENTS].revents)
			accept_client(http);
	}
	return 0;
}
