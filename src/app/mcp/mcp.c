#include "mcp/mcp.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "mcp/mcp_message.h"
#include "mcp/mcp_tools.h"
#include "query/query.h"
#include "text/json_doc.h"

#define WAITING_MOST 64u
#define LOOK_MS      100 /* how often we look whether what runs takes too long */

/* A call that waits, or runs. */
struct task {
	struct ut_mcp_message message;
	struct ut_mcp_job job;
	struct task *next;
};

/* The thread that reads owns everything but what the lock guards. */
struct loop {
	struct ut_mcp_server server;
	int in, out;
	struct ut_buf line; /* what has been read of a message so far */
	bool too_long;      /* the rest of this line is stepped over */

	pthread_mutex_t lock;
	pthread_cond_t changed;     /* for the one who works */
	struct task *first, **last; /* waiting */
	struct task *running;       /* NULL = nothing */
	struct timespec began;      /* of running */
	size_t waiting;
	bool closed;  /* nothing more will come */
	bool is_done; /* the one who works has gone home */

	pthread_mutex_t writing;
	_Atomic bool gone; /* the client does not listen any more */
};

/* ---- writing ------------------------------------------------------------------------------- */

static void mcp_say(struct loop *l, const struct ut_buf *text)
{
	size_t done = 0;

	pthread_mutex_lock(&l->writing);
	while (!l->gone && done < text->len) {
		ssize_t n = write(l->out, text->data + done, text->len - done);

		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			l->gone = true;
	}
	pthread_mutex_unlock(&l->writing);
}

static void mcp_refuse(struct loop *l, const struct ut_doc *id, int code, const char *why)
{
	struct ut_buf text = { 0 };

	ut_mcp_refuse(id, code, why, &text);
	mcp_say(l, &text);
	ut_buf_release(&text);
}

/* ---- the one who works --------------------------------------------------------------------- */

static void free_task(struct task *t)
{
	ut_mcp_message_release(&t->message);
	free(t);
}

/* The next call; NULL when there will be none. */
static struct task *take_task(struct loop *l)
{
	struct task *t;

	pthread_mutex_lock(&l->lock);
	while (!l->first && !l->closed)
		pthread_cond_wait(&l->changed, &l->lock);
	t = l->first;
	if (t) {
		l->first = t->next;
		if (!l->first)
			l->last = &l->first;
		l->waiting--;
		clock_gettime(CLOCK_MONOTONIC, &l->began);
	}
	l->running = t;
	l->is_done = !t;
	pthread_mutex_unlock(&l->lock);
	return t;
}

static void *mcp_work(void *ctx)
{
	struct loop *l = ctx;
	struct task *t;

	while ((t = take_task(l))) {
		struct ut_buf text = { 0 };

		if (!l->gone)
			ut_mcp_answer(&l->server, &t->message, &t->job, &text);
		mcp_say(l, &text);
		ut_buf_release(&text);
		pthread_mutex_lock(&l->lock);
		l->running = NULL;
		pthread_mutex_unlock(&l->lock);
		free_task(t);
	}
	return NULL;
}

/* ---- what calls are told meanwhile --------------------------------------------------------- */

static void interrupt(struct task *t)
{
	struct ut_query *query = atomic_load(&t->job.running);

	if (query)
		ut_query_interrupt(query);
}

/* Again and again, because SQLite does not remember what it hears between two statements. */
static bool mcp_look(struct loop *l)
{
	struct timespec now;
	bool is_done;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&l->lock);
	if (l->running) {
		if ((uint64_t)(now.tv_sec - l->began.tv_sec) >= l->server.timeout)
			l->running->job.too_late = true;
		if (l->running->job.too_late || l->running->job.cancelled || l->gone)
			interrupt(l->running);
	}
	is_done = l->is_done;
	pthread_mutex_unlock(&l->lock);
	return is_done;
}

static void cancel(struct loop *l, const struct ut_doc *id)
{
	pthread_mutex_lock(&l->lock);
	if (l->running && ut_mcp_same_id(l->running->message.id, id)) {
		l->running->job.cancelled = true;
		interrupt(l->running);
	}
	for (struct task **at = &l->first; *at;) {
		struct task *t = *at;

		if (!ut_mcp_same_id(t->message.id, id)) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		if (!t->next)
			l->last = at;
		l->waiting--;
		free_task(t);
	}
	pthread_mutex_unlock(&l->lock);
}

static bool enqueue(struct loop *l, struct task *t)
{
	bool room;

	pthread_mutex_lock(&l->lock);
	room = l->waiting < WAITING_MOST;
	if (room) {
		*l->last = t;
		l->last = &t->next;
		l->waiting++;
		pthread_cond_signal(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return room;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool is_cancel(const struct ut_mcp_message *m)
{
	return !m->wrong && m->method && !strcmp(m->method, "notifications/cancelled");
}

static void take_message(struct loop *l, struct ut_str text)
{
	struct task *t;
	struct ut_buf answer = { 0 };

	if (!ut_str_trim(text).len)
		return;
	t = ut_make(sizeof(*t));
	ut_mcp_message_read(&t->message, text);
	if (ut_mcp_message_is_call(&t->message)) {
		if (enqueue(l, t))
			return;
		mcp_refuse(l, t->message.id, UT_MCP_BUSY, "too many calls are waiting");
	} else if (is_cancel(&t->message)) {
		cancel(l, ut_doc_get(t->message.params, "requestId"));
	} else {
		ut_mcp_answer(&l->server, &t->message, NULL, &answer);
		mcp_say(l, &answer);
		ut_buf_release(&answer);
	}
	free_task(t);
}

/* Whole lines of what has come. */
static void take_bytes(struct loop *l, const char *bytes, size_t len)
{
	while (len) {
		const char *newline = memchr(bytes, '\n', len);
		size_t some = newline ? (size_t)(newline - bytes) : len;

		if (!l->too_long && l->line.len + some > UT_MCP_LINE) {
			mcp_refuse(l, NULL, UT_MCP_NO_JSON, "this message is too long");
			l->too_long = true;
		}
		if (!l->too_long)
			ut_buf_add(&l->line, bytes, some);
		if (!newline)
			return;
		if (!l->too_long)
			take_message(l, (struct ut_str){ l->line.data, l->line.len });
		l->line.len = 0;
		l->too_long = false;
		bytes = newline + 1;
		len -= some + 1;
	}
}

/* False at the end. */
static bool read_some(struct loop *l)
{
	char bytes[16384];
	ssize_t n = read(l->in, bytes, sizeof(bytes));

	if (n > 0)
		take_bytes(l, bytes, (size_t)n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static void listen_to_client(struct loop *l)
{
	struct pollfd from = { .fd = l->in, .events = POLLIN };

	while (!l->gone) {
		int n = poll(&from, 1, LOOK_MS);

		mcp_look(l);
		if (n > 0 && !read_some(l))
			return;
	}
}

/* What was asked for is answered, also after the last question. */
static void mcp_finish(struct loop *l)
{
	const struct timespec pause_time = { 0, LOOK_MS * 100000L };

	if (l->line.len && !l->too_long)
		take_message(l, (struct ut_str){ l->line.data, l->line.len });
	pthread_mutex_lock(&l->lock);
	l->closed = true;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->lock);
	while (!mcp_look(l))
		nanosleep(&pause_time, NULL);
}

static int mcp_run(struct loop *l, struct ut_err *err)
{
	pthread_t worker;
	int rc = pthread_create(&worker, NULL, mcp_work, l);

	if (rc)
		return ut_err_set(err, -rc, "no thread for tools: %s", strerror(rc));
	listen_to_client(l);
	mcp_finish(l);
	pthread_join(worker, NULL);
	return 0;
}

int ut_mcp_serve(const struct ut_mcp_options *options, int in, int out, struct ut_err *err)
{
	struct loop l = { .in = in, .out = out };
	int rc = ut_mcp_server_init(&l.server, options, err);

	l.last = &l.first;
	pthread_mutex_init(&l.lock, NULL);
	pthread_mutex_init(&l.writing, NULL);
	pthread_cond_init(&l.changed, NULL);
	if (!rc)
		rc = mcp_run(&l, err);
	ut_mcp_server_release(&l.server);
	ut_buf_release(&l.line);
	pthread_cond_destroy(&l.changed);
	pthread_mutex_destroy(&l.writing);
	pthread_mutex_destroy(&l.lock);
	return rc;
}
