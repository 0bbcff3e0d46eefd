#include "site/proxy.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/str.h"
#include "serve/serve.h"

#define HEAD_MOST (16u << 10)
#define WAIT_MS   120000 /* for an answer to begin or to go on: SQL may take 30 s */

/* An answer on its way. */
struct answer {
	int fd;
	char buf[HEAD_MOST];
	size_t at, end; /* what has been read and not been handed on */
	bool is_chunked;
	uint64_t left; /* bytes of the body, or of the chunk that we are in */
};

/* ---- asking --------------------------------------------------------------------------------- */

static int proxy_send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int proxy_ask(int fd, const struct ut_request *r, const char *path)
{
	struct ut_buf head = { 0 };
	int rc;

	ut_buf_fmt(&head,
		   "%s %s HTTP/1.1\r\nHost: localhost\r\nX-Unitrace: 1\r\nConnection: close\r\n",
		   r->is_post ? "POST" : "GET", path);
	if (r->is_post)
		ut_buf_fmt(&head, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			   r->body.len);
	ut_buf_text(&head, "\r\n");
	rc = proxy_send_all(fd, head.data, head.len);
	if (!rc)
		rc = proxy_send_all(fd, r->body.ptr, r->is_post ? r->body.len : 0);
	ut_buf_release(&head);
	return rc;
}

/* ---- the answer ----------------------------------------------------------------------------- */

/* Waits for some bytes; 0 or less at the end. */
static ssize_t proxy_take(struct answer *a, char *to, size_t room)
{
	struct pollfd p = { .fd = a->fd, .events = POLLIN };
	ssize_t got;

	if (poll(&p, 1, WAIT_MS) <= 0)
		return -1;
	do
		got = read(a->fd, to, room);
	while (got < 0 && errno == EINTR);
	return got;
}

/* More bytes behind those that are there; false at the end. */
static bool proxy_fill(struct answer *a)
{
	ssize_t got;

	if (a->at == a->end)
		a->at = a->end = 0;
	got = a->end == sizeof(a->buf) ? -1
				       : proxy_take(a, a->buf + a->end, sizeof(a->buf) - a->end);
	if (got > 0)
		a->end += (size_t)got;
	return got > 0;
}

/* A line of the head, without its end; NULL where there is none. */
static char *proxy_next_line(struct answer *a)
{
	for (;;) {
		char *start = a->buf + a->at, *end = memmem(start, a->end - a->at, "\r\n", 2);

		if (end) {
			*end = '\0';
			a->at = (size_t)(end - a->buf) + 2;
			return start;
		}
		if (a->at) { /* room for more: what was read is not needed any more */
			memmove(a->buf, start, a->end - a->at);
			a->end -= a->at;
			a->at = 0;
		}
		if (!proxy_fill(a))
			return NULL;
	}
}

static const char *proxy_value_of(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncasecmp(line, name, len) != 0 || line[len] != ':')
		return NULL;
	line += len + 1;
	return line + strspn(line, " \t");
}

/* Who answers may be another machine: what it says becomes no page and no header of ours. */
static const char *proxy_known(const char *type)
{
	static const char *const types[] = { "application/json", "text/event-stream",
					     "text/plain; charset=utf-8" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(type, types[i]))
			return types[i];
	}
	return "application/octet-stream";
}

static int proxy_read_head(struct answer *a, struct ut_reply *reply)
{
	const char *line = proxy_next_line(a), *value;

	if (!line || strncmp(line, "HTTP/1.1 ", 9) != 0)
		return -EPROTO;
	reply->status = atoi(line + 9);
	a->left = UINT64_MAX; /* until the connection ends */
	while ((line = proxy_next_line(a)) && *line) {
		if ((value = proxy_value_of(line, "Content-Type")))
			reply->type = proxy_known(value);
		else if ((value = proxy_value_of(line, "Content-Encoding")))
			reply->encoding = strcmp(value, "gzip") ? NULL : "gzip";
		else if ((value = proxy_value_of(line, "Content-Length")))
			a->left = strtoull(value, NULL, 10);
		else if ((value = proxy_value_of(line, "Transfer-Encoding")))
			a->is_chunked = !strcasecmp(value, "chunked");
	}
	if (a->is_chunked)
		a->left = 0;
	return line && reply->status >= 100 && reply->status < 600 ? 0 : -EPROTO;
}

/* Into the next chunk; false behind the last. */
static bool next_chunk(struct answer *a)
{
	const char *line = proxy_next_line(a);
	char *end;

	if (line && !*line) /* behind the chunk before */
		line = proxy_next_line(a);
	a->left = line ? strtoull(line, &end, 16) : 0;
	return a->left > 0;
}

static ssize_t read_answer(void *ctx, char *to, size_t room)
{
	struct answer *a = ctx;
	size_t some;
	ssize_t got;

	if (!a->left && (!a->is_chunked || !next_chunk(a)))
		return -1;
	if (room > a->left)
		room = (size_t)a->left;
	some = a->end - a->at < room ? a->end - a->at : room;
	if (some) {
		memcpy(to, a->buf + a->at, some);
		a->at += some;
		got = (ssize_t)some;
	} else {
		got = proxy_take(a, to, room);
	}
	if (got <= 0) { /* the viewer has ended in the middle of it */
		a->left = 0;
		a->is_chunked = false;
		return -1;
	}
	if (a->left != UINT64_MAX)
		a->left -= (uint64_t)got;
	return got;
}

static void close_answer(void *ctx)
{
	struct answer *a = ctx;

	close(a->fd);
	free(a);
}

int ut_proxy(int fd, const struct ut_request *request, const char *path, struct ut_reply *reply,
	     struct ut_err *err)
{
	struct answer *a = ut_make(sizeof(*a));
	int rc = proxy_ask(fd, request, path);

	a->fd = fd;
	if (!rc)
		rc = proxy_read_head(a, reply);
	if (!rc) {
		reply->stream = (struct ut_reply_stream){ read_answer, close_answer, a };
		return 0;
	}
	close_answer(a);
	reply->status = 0;
	return ut_err_set(err, rc, "the viewer gave no answer: %s", strerror(-rc));
}
