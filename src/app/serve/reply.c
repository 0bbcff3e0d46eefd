/* reply.c - what a client is sent. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "serve/serve_parts.h"

#define STREAM_ROOM (64u << 10)

void ut_reply_header(struct MHD_Response *r, const char *name, const char *value)
{
	if (value)
		ut_mhd.add_response_header(r, name, value);
}

/* ---- bodies --------------------------------------------------------------------------------- */

/* A body under way: as long as some of it is taken now and then, its client may go on. */
struct flow {
	struct ut_serve *s;
	struct MHD_Connection *connection;
	struct ut_reply_stream of;
};

static ssize_t read_flow(void *ctx, uint64_t at, char *to, size_t room)
{
	struct flow *f = ctx;
	ssize_t got;

	(void)at;
	ut_serve_deadline(f->s, f->connection, 0); /* the handler has time; the client has not */
	got = f->of.read(f->of.ctx, to, room);
	ut_serve_deadline(f->s, f->connection, UT_REPLY_MS);
	return got > 0 ? got : MHD_CONTENT_READER_END_OF_STREAM;
}

static void close_flow(void *ctx)
{
	struct flow *f = ctx;

	if (f->of.close)
		f->of.close(f->of.ctx);
	f->s->flows--;
	free(f);
}

struct file {
	int fd;
	uint64_t left;
};

static ssize_t reply_read_file(void *ctx, char *to, size_t room)
{
	struct file *f = ctx;
	ssize_t got;

	if (!f->left)
		return -1;
	do
		got = read(f->fd, to, room < f->left ? room : (size_t)f->left);
	while (got < 0 && errno == EINTR);
	if (got <= 0) /* it has become shorter: the client sees that something is missing */
		return -1;
	f->left -= (uint64_t)got;
	return got;
}

static void close_file(void *ctx)
{
	struct file *f = ctx;

	close(f->fd);
	free(f);
}

static struct MHD_Response *make_flow(struct ut_serve *s, struct MHD_Connection *connection,
				      uint64_t size, const struct ut_reply_stream *of)
{
	struct flow *f = ut_make(sizeof(*f));
	struct MHD_Response *r;

	*f = (struct flow){ s, connection, *of };
	s->flows++;
	r = ut_mhd.create_response_from_callback(size, STREAM_ROOM, read_flow, f, close_flow);
	if (!r)
		close_flow(f);
	return r;
}

static struct MHD_Response *make_file(struct ut_serve *s, struct MHD_Connection *connection, int fd)
{
	struct file *f;
	struct stat st;

	if (fstat(fd, &st)) {
		close(fd);
		return NULL;
	}
	f = ut_make(sizeof(*f));
	*f = (struct file){ fd, (uint64_t)st.st_size };
	return make_flow(s, connection, f->left,
			 &(struct ut_reply_stream){ reply_read_file, close_file, f });
}

static struct MHD_Response *make_response(struct ut_serve *s, struct MHD_Connection *connection,
					  struct ut_reply *reply)
{
	if (reply->data)
		return ut_mhd.create_response_from_buffer(reply->len, reply->data,
							  MHD_RESPMEM_MUST_FREE);
	if (reply->lent)
		return ut_mhd.create_response_from_buffer(
			reply->len, (void *)(uintptr_t)reply->lent,
			s->opts.methods ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT);
	if (reply->stream.read)
		return make_flow(s, connection, MHD_SIZE_UNKNOWN, &reply->stream);
	if (reply->fd > 0)
		return make_file(s, connection, reply->fd);
	return ut_mhd.create_response_from_buffer(0, (void *)(uintptr_t) "",
						  MHD_RESPMEM_PERSISTENT);
}

/* ---- the rest of it ------------------------------------------------------------------------- */

static const char *reply_reason(int status)
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
	case 429:
		return "Too Many Requests\n";
	case 507:
		return "Insufficient Storage\n";
	case 503:
		return "Service Unavailable\n";
	default:
		return "Internal Server Error\n";
	}
}

/* A name for the header, whatever is in it: RFC 6266 has a form for any bytes. */
static void add_save_as(struct MHD_Response *r, const char *name)
{
	struct ut_buf text = { 0 };

	ut_buf_text(&text, "attachment; filename=\"");
	for (const char *p = name; *p; p++)
		ut_buf_char(&text,
			    (unsigned char)*p < ' ' || strchr("\"\\\x7f", *p) || (signed char)*p < 0
				    ? '_'
				    : *p);
	ut_buf_text(&text, "\"; filename*=UTF-8''");
	for (const char *p = name; *p; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			     (*p >= '0' && *p <= '9') || strchr("-._~", *p);

		if (plain)
			ut_buf_char(&text, *p);
		else
			ut_buf_fmt(&text, "%%%02X", (unsigned char)*p);
	}
	ut_reply_header(r, "Content-Disposition", text.data);
	ut_buf_release(&text);
}

static void add_headers(struct MHD_Response *r, const struct ut_reply *reply)
{
	char text[16];

	ut_reply_header(r, "Content-Type", reply->type ? reply->type : "text/plain; charset=utf-8");
	ut_reply_header(r, "Content-Encoding", reply->encoding);
	ut_reply_header(r, "Content-Security-Policy", reply->policy);
	ut_reply_header(r, "Cache-Control", reply->cache ? reply->cache : "no-store");
	ut_reply_header(r, "X-Content-Type-Options", "nosniff");
	ut_reply_header(r, "Referrer-Policy", "no-referrer");
	ut_reply_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	ut_reply_header(r, "Location", reply->location);
	ut_reply_header(r, "Set-Cookie", reply->cookie);
	ut_reply_header(r, "ETag", reply->etag);
	if (reply->retry_after) {
		snprintf(text, sizeof(text), "%u", reply->retry_after);
		ut_reply_header(r, "Retry-After", text);
	}
	if (reply->save_as)
		add_save_as(r, reply->save_as);
}

static bool has_body(const struct ut_reply *reply)
{
	return reply->data || reply->lent || reply->fd > 0 || reply->stream.read;
}

enum MHD_Result ut_reply_send(struct ut_serve *s, struct MHD_Connection *connection,
			      struct ut_reply *reply)
{
	enum MHD_Result result = MHD_NO;
	struct MHD_Response *r;

	if (!reply->status)
		reply->status = 404;
	if (!has_body(reply) && reply->status != 204 && reply->status != 304) {
		const char *why = reply_reason(reply->status);
		int len = (int)strcspn(why, "\n");

		reply->lent = s->opts.methods ? ut_str_fmt(&reply->arena, "{\"error\":\"%.*s\"}\n",
							   len, why)
					      : why;
		reply->len = strlen(reply->lent);
		reply->type = s->opts.methods ? "application/json" : NULL;
	}
	r = make_response(s, connection, reply);
	if (r) {
		add_headers(r, reply);
		result = ut_mhd.queue_response(connection, (unsigned int)reply->status, r);
		ut_mhd.destroy_response(r);
	}
	ut_arena_release(&reply->arena);
	return result;
}

enum MHD_Result ut_reply_refuse(struct ut_serve *s, struct MHD_Connection *connection, int status)
{
	struct ut_reply reply = { .status = status };

	return ut_reply_send(s, connection, &reply);
}
