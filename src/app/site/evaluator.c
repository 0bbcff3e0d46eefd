#include "site/evaluator.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "serve/serve.h"
#include "site/events.h"
#include "site/proxy.h"
#include "site/site_call.h"
#include "workbench/folder.h"
#include "workbench/supervisor.h"

#define WAITING     256u /* results; more are evaluated when somebody looks at them */
#define ANSWER_MOST (32u << 20)
#define TRIES       600 /* of a viewer that still reads: each waits a while */
#define AGAIN_MS    200
#define TICK_MS     50
#define SHORT_MOST  20u
#define FAILED      "failed" /* in place of a tool: what the trace says about its end */

struct wanted {
	char *project, *result;
	bool anew;
};

struct ut_evaluator {
	pthread_mutex_t lock;
	struct wanted queue[WAITING];
	size_t count;
	int tunnel; /* a copy of the connection that is being asked; -1 = none */
	atomic_bool stop, is_running;
	pthread_t thread;
	struct ut_site *site;
};

struct ut_evaluator *ut_evaluator_new(void)
{
	struct ut_evaluator *j = ut_make(sizeof(*j));

	pthread_mutex_init(&j->lock, NULL);
	j->tunnel = -1;
	return j;
}

static void evaluator_forget(struct wanted *w)
{
	free(w->project);
	free(w->result);
	*w = (struct wanted){ 0 };
}

void ut_evaluator_free(struct ut_evaluator *j)
{
	if (!j)
		return;
	ut_evaluator_stop(j);
	for (size_t i = 0; i < j->count; i++)
		evaluator_forget(&j->queue[i]);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

static char *evaluator_copied(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(ut_make(size), text, size);
}

void ut_evaluator_add(struct ut_evaluator *j, const char *project, const char *result, bool anew)
{
	bool known = false;

	pthread_mutex_lock(&j->lock);
	for (size_t i = 0; i < j->count && !known; i++) {
		known = !strcmp(j->queue[i].project, project) &&
			!strcmp(j->queue[i].result, result);
		j->queue[i].anew |= known && anew;
	}
	if (!known && j->count < WAITING)
		j->queue[j->count++] = (struct wanted){ evaluator_copied(project),
							evaluator_copied(result), anew };
	pthread_mutex_unlock(&j->lock);
}

/* ---- asking --------------------------------------------------------------------------------- */

/* All of an answer. */
static int read_reply(struct ut_reply *reply, struct ut_buf *text)
{
	char piece[8192];
	ssize_t got;

	while (reply->stream.read &&
	       (got = reply->stream.read(reply->stream.ctx, piece, sizeof(piece))) > 0) {
		if (text->len + (size_t)got > ANSWER_MOST)
			return -EFBIG;
		ut_buf_add(text, piece, (size_t)got);
	}
	return 0;
}

/* Who ends us need not wait for an answer. */
static void set_talk(struct ut_evaluator *j, int fd)
{
	pthread_mutex_lock(&j->lock);
	if (j->tunnel >= 0)
		close(j->tunnel);
	j->tunnel = fd;
	if (fd >= 0 && j->stop)
		shutdown(fd, SHUT_RDWR);
	pthread_mutex_unlock(&j->lock);
}

/* One question; the status, or why there is none. */
static int ask_once(struct ut_evaluator *j, const struct ut_viewed *what, const char *path,
		    const char *body, struct ut_buf *text)
{
	struct ut_request request = { .method = UT_METHOD_POST,
				      .is_post = true,
				      .path = path,
				      .body = ut_str_of(body),
				      .body_fd = -1,
				      .client = "" };
	struct ut_reply reply = { 0 };
	int fd = ut_viewers_connect(j->site->viewers, what, NULL), rc;

	if (fd < 0)
		return fd;
	set_talk(j, dup(fd));
	rc = ut_proxy(fd, &request, path, &reply, NULL);
	if (!rc)
		rc = read_reply(&reply, text);
	if (reply.stream.close)
		reply.stream.close(reply.stream.ctx);
	if (!rc)
		rc = reply.encoding ? -EPROTO : reply.status;
	ut_arena_release(&reply.arena);
	set_talk(j, -1);
	return rc;
}

/* The answer as it was read; NULL: there is none. A trace may be read for a while. */
static const struct ut_doc *evaluator_ask(struct ut_evaluator *j, struct ut_arena *a,
					  const struct wanted *w, const char *path,
					  const char *body)
{
	const struct ut_viewed what = { .project = w->project, .result = w->result };
	const struct ut_doc *t = NULL;
	struct ut_buf text = { 0 };
	int status = 503;

	for (int tries = 0; tries < TRIES && !j->stop && status == 503; tries++) {
		if (tries)
			poll(NULL, 0, AGAIN_MS);
		text.len = 0;
		status = ask_once(j, &what, path, body, &text);
	}
	if (status != 200 || !text.len ||
	    ut_doc_read(a, (struct ut_str){ text.data, text.len }, &t, NULL))
		t = NULL;
	ut_buf_release(&text);
	return t;
}

/* Did a program of it fail? */
static bool is_failed(const struct ut_doc *info)
{
	const char *failed = ut_doc_text(info, "failed");

	return failed && failed[0];
}

/* The first of what tools have found, as the page takes it; else of what the trace itself says. */
static const struct ut_doc *find_first(struct ut_evaluator *j, struct ut_arena *a,
				       const struct wanted *w, const char **tool)
{
	const struct ut_doc *info = evaluator_ask(j, a, w, "/api/info", "{}"), *list;
	const struct ut_doc *tools = ut_doc_get(info, "tools");

	*tool = "";
	if (is_failed(info)) { /* what else was found is of a run that did not complete */
		list = evaluator_ask(j, a, w, "/api/findings", "{\"scope\":{}}");
		*tool = FAILED;
		return list && list->kind == UT_DOC_LIST ? list->first : NULL;
	}
	for (const struct ut_doc *t = tools ? tools->first : NULL; t; t = t->next) {
		const struct ut_doc *sheets = ut_doc_get(t, "sheets");
		const char *id = ut_doc_text(t, "id");

		for (const struct ut_doc *s = sheets ? sheets->first : NULL; id && s; s = s->next) {
			struct ut_buf body = { 0 };
			struct ut_json_writer out = { .to = &body };

			if (!ut_str_is(s->text, "findings"))
				continue;
			ut_write_open(&out, NULL, '{');
			ut_write_text(&out, "tool", id);
			ut_write_text(&out, "name", "findings");
			ut_write_close(&out, '}');
			list = evaluator_ask(j, a, w, "/api/sheet", body.data);
			ut_buf_release(&body);
			if (list && list->kind == UT_DOC_LIST && list->first) {
				*tool = id;
				return list->first;
			}
		}
	}
	if (!info)
		return NULL;
	list = evaluator_ask(j, a, w, "/api/findings", "{\"scope\":{}}");
	return list && list->kind == UT_DOC_LIST ? list->first : NULL;
}

/* ---- in a word ------------------------------------------------------------------------------ */

/* "Host-bound: launch ...", "Imbalance, even out ...": what stands in front is a name for it. */
static const char *evaluator_word_of(struct ut_arena *a, const struct ut_doc *finding,
				     const char *tool)
{
	const char *say = ut_doc_text(finding, "say"), *about = ut_doc_text(finding, "about");
	const char *tone = ut_doc_text(finding, "tone");
	size_t len = strcspn(say ? say : "", ":, ");

	if (!say || !tone || !tone[0])
		return "";
	if (!strcmp(tool, FAILED))
		return FAILED;
	if (len <= SHORT_MOST && (say[len] == ':' || say[len] == ','))
		return ut_arena_copy(a, say, len);
	if (len > 6 && len <= SHORT_MOST && !strncmp(say + len - 6, "-bound", 6))
		return ut_arena_copy(a, say, len); /* "Host-bound by Python: ..." */
	if (about && !strcmp(about, "idle"))
		return "idle device";
	if (about && !strcmp(about, "ranks"))
		return "Imbalance";
	if (about && !strcmp(about, "unseen"))
		return "few samples";
	if (!strcmp(tool, "hotspots"))
		return "hot spot";
	return !strcmp(tone, "bad") ? "slow" : "look";
}

static void write_verdict(struct ut_evaluator *j, int at, struct ut_arena *a,
			  const struct ut_doc *finding, const char *tool)
{
	static const char *const members[] = { "tone", "say", "why" };
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };

	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "verdict", evaluator_word_of(a, finding, tool));
	for (size_t i = 0; i < 3; i++) {
		const char *value = ut_doc_text(finding, members[i]);

		ut_write_text(&w, members[i], value ? value : "");
	}
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	if (!ut_folder_write(at, UT_SUMMARY_FILE, (struct ut_str){ text.data, text.len }, NULL))
		ut_events_changed(j->site->events);
	ut_buf_release(&text);
}

static void evaluator_evaluate(struct ut_evaluator *j, const struct wanted *w)
{
	struct ut_arena arena = { 0 };
	const struct ut_doc *finding;
	const char *tool = "";
	int at = ut_data_dir_open_result(&j->site->data_dir, w->project, w->result, NULL);

	if (at < 0)
		return;
	if (!ut_supervisor_is_running(at) &&
	    (w->anew || faccessat(at, UT_SUMMARY_FILE, F_OK, AT_SYMLINK_NOFOLLOW))) {
		finding = find_first(j, &arena, w, &tool);
		if (finding && !j->stop)
			write_verdict(j, at, &arena, finding, tool);
	}
	close(at);
	ut_arena_release(&arena);
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void *evaluator_work(void *ctx)
{
	struct ut_evaluator *j = ctx;

	while (!j->stop) {
		struct wanted w = { 0 };

		pthread_mutex_lock(&j->lock);
		if (j->count) {
			w = j->queue[0];
			memmove(j->queue, j->queue + 1, --j->count * sizeof(*j->queue));
		}
		pthread_mutex_unlock(&j->lock);
		if (w.project)
			evaluator_evaluate(j, &w);
		else
			poll(NULL, 0, TICK_MS);
		evaluator_forget(&w);
	}
	return NULL;
}

void ut_evaluator_run(struct ut_evaluator *j, struct ut_site *site)
{
	j->site = site;
	if (!j->is_running)
		j->is_running = !pthread_create(&j->thread, NULL, evaluator_work, j);
}

void ut_evaluator_stop(struct ut_evaluator *j)
{
	pthread_mutex_lock(&j->lock);
	j->stop = true;
	if (j->tunnel >= 0)
		shutdown(j->tunnel, SHUT_RDWR);
	pthread_mutex_unlock(&j->lock);
	if (j->is_running)
		pthread_join(j->thread, NULL);
	j->is_running = false;
}
