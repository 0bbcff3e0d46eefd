#include "site/events.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "site/evaluator.h"
#include "site/site_call.h"
#include "workbench/supervisor.h"

#define LOOK_MS 500
#define TIDY_S  10
#define TICK_MS 50
#define BEAT_MS 5000 /* how late we notice that a page is gone */
#define KEPT    256u /* messages; who is further behind hears that something has changed */
#define RUNS    64u

struct message {
	char *text;
	size_t len;
};

/* A run that is under way. */
struct watched {
	char *project, *result; /* NULL = free */
	char *last;             /* what was told about it */
	bool is_held;           /* paused, because the data directory is full */
};

struct ut_events {
	pthread_mutex_t lock;
	struct message messages[KEPT]; /* the nth lies at n % KEPT */
	uint64_t number;               /* of messages so far */
	struct watched runs[RUNS];
	atomic_bool stop, is_running;
	pthread_t looker;
	struct ut_site *site;
};

struct ut_events *ut_events_new(void)
{
	struct ut_events *e = ut_make(sizeof(*e));

	pthread_mutex_init(&e->lock, NULL);
	return e;
}

static void events_forget(struct watched *w)
{
	free(w->project);
	free(w->result);
	free(w->last);
	*w = (struct watched){ 0 };
}

void ut_events_free(struct ut_events *e)
{
	if (!e)
		return;
	ut_events_stop(e);
	for (size_t i = 0; i < KEPT; i++)
		free(e->messages[i].text);
	for (size_t i = 0; i < RUNS; i++)
		events_forget(&e->runs[i]);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static void events_report(struct ut_events *e, const char *event, const char *data)
{
	struct ut_buf text = { 0 };
	struct message *m;

	ut_buf_fmt(&text, "event: %s\ndata: %s\n\n", event, data);
	pthread_mutex_lock(&e->lock);
	m = &e->messages[e->number++ % KEPT];
	free(m->text);
	*m = (struct message){ text.data, text.len };
	pthread_mutex_unlock(&e->lock);
}

void ut_events_changed(struct ut_events *e)
{
	events_report(e, "changed", "{}");
}

/* ---- runs ----------------------------------------------------------------------------------- */

static char *events_copied(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(ut_make(size), text, size);
}

void ut_events_watch(struct ut_events *e, const char *project, const char *result)
{
	struct watched *at = NULL;
	bool known = false;

	pthread_mutex_lock(&e->lock);
	for (size_t i = 0; i < RUNS; i++) {
		struct watched *w = &e->runs[i];

		known |= w->project && !strcmp(w->project, project) && !strcmp(w->result, result);
		if (!w->project && !at)
			at = w;
	}
	if (at && !known)
		*at = (struct watched){ .project = events_copied(project),
					.result = events_copied(result) };
	pthread_mutex_unlock(&e->lock);
}

static bool is_busy(enum ut_result_state state)
{
	return state == UT_RESULT_STARTING || state == UT_RESULT_RUNNING ||
	       state == UT_RESULT_PAUSED || state == UT_RESULT_WRITING;
}

/* Whoever kept it was killed: somebody else has to see to what is left. */
static void recover(struct ut_events *e, const char *project, const char *result)
{
	int at = ut_data_dir_open_result(&e->site->data_dir, project, result, NULL);

	if (at < 0)
		return;
	if (!ut_supervisor_recover(at, e->site->opts.program, NULL, NULL))
		ut_events_watch(e, project, result);
	close(at);
}

static void report_run(struct ut_events *e, struct watched *w, const struct ut_data_dir_result *r)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer out = { .to = &text };

	ut_write_open(&out, NULL, '{');
	ut_write_text(&out, "project", w->project);
	ut_data_dir_write_result(&out, r);
	ut_write_close(&out, '}');
	if (!w->last || strcmp(w->last, text.data) != 0) {
		free(w->last);
		w->last = events_copied(text.data);
		events_report(e, "run", text.data);
	}
	ut_buf_release(&text);
}

/* The data directory is full: recording ends, and the program goes on. */
static void events_hold(struct ut_events *e, struct watched *w)
{
	int at = ut_data_dir_open_result(&e->site->data_dir, w->project, w->result, NULL);

	if (at < 0)
		return;
	if (!ut_supervisor_send(at, UT_SUPERVISOR_PAUSE, NULL) && !w->is_held)
		ut_logger_log(
			e->site->opts.logger, UT_WARN,
			"serve: the data directory has reached its quota: '%s' in '%s' is paused",
			w->result, w->project);
	w->is_held = true;
	close(at);
}

/* What one run does; false when it does nothing any more. */
static bool look_at_run(struct ut_events *e, struct watched *w)
{
	struct ut_arena arena = { 0 };
	struct ut_data_dir_result r;
	int rc = ut_data_dir_find_result(&e->site->data_dir, &arena, w->project, w->result, &r,
					 NULL);
	bool busy = !rc && is_busy(r.state);

	if (!rc)
		report_run(e, w, &r);
	if (!rc && r.state == UT_RESULT_RUNNING && ut_storage_is_full(&e->site->storage))
		events_hold(e, w);
	if (!busy) {
		/* what its viewer shows has become files, and there is more than was recorded */
		ut_viewers_tidy(e->site->viewers);
		ut_events_changed(e);
		if (!rc && r.state == UT_RESULT_CUT)
			recover(e, w->project, w->result);
		else if (!rc)
			ut_evaluator_add(e->site->evaluator, w->project, w->result, true);
	}
	ut_arena_release(&arena);
	return busy;
}

static void look_at_runs(struct ut_events *e)
{
	for (size_t i = 0; i < RUNS; i++) {
		struct watched w;

		/* only this thread takes runs away, so it may look without the lock */
		pthread_mutex_lock(&e->lock);
		w = e->runs[i];
		pthread_mutex_unlock(&e->lock);
		if (!w.project)
			continue;
		if (look_at_run(e, &w)) {
			e->runs[i].last = w.last;
			e->runs[i].is_held = w.is_held;
			continue;
		}
		pthread_mutex_lock(&e->lock);
		e->runs[i] = (struct watched){ 0 };
		pthread_mutex_unlock(&e->lock);
		events_forget(&w);
	}
}

/* Runs that were started before we were: they go on, or have been cut off. */
static void find_runs(struct ut_events *e)
{
	struct ut_arena arena = { 0 };
	struct ut_data_dir_tree tree;

	if (!ut_data_dir_list(&e->site->data_dir, &arena, &tree, NULL)) {
		for (size_t i = 0; i < tree.count; i++) {
			const struct ut_data_dir_project *p = &tree.projects[i];

			for (size_t k = 0; k < p->count; k++) {
				if (is_busy(p->results[k].state))
					ut_events_watch(e, p->name, p->results[k].name);
				else if (p->results[k].state == UT_RESULT_CUT)
					recover(e, p->name, p->results[k].name);
			}
		}
	}
	ut_arena_release(&arena);
}

static void *events_look(void *ctx)
{
	struct ut_events *e = ctx;
	int waited = 0, tidied = 0;

	find_runs(e);
	while (!e->stop) {
		poll(NULL, 0, TICK_MS);
		waited += TICK_MS;
		if (waited < LOOK_MS)
			continue;
		tidied += waited;
		waited = 0;
		look_at_runs(e);
		if (tidied >= TIDY_S * 1000) {
			tidied = 0;
			ut_viewers_tidy(e->site->viewers);
		}
	}
	return NULL;
}

void ut_events_run(struct ut_events *e, struct ut_site *site)
{
	e->site = site;
	if (!e->is_running)
		e->is_running = !pthread_create(&e->looker, NULL, events_look, e);
}

void ut_events_stop(struct ut_events *e)
{
	e->stop = true;
	if (e->is_running)
		pthread_join(e->looker, NULL);
	e->is_running = false;
}

/* ---- listeners ------------------------------------------------------------------------------ */

struct listener {
	struct ut_events *events;
	struct ut_serve *server;
	uint64_t heard;
	bool has_begun, is_reported;
};

static ssize_t events_put(char *to, size_t room, const char *text, size_t len)
{
	if (len > room)
		return -1;
	memcpy(to, text, len);
	return (ssize_t)len;
}

static ssize_t events_say(char *to, size_t room, const char *text)
{
	return events_put(to, room, text, strlen(text));
}

/* The next message; 0: there is none. */
static ssize_t next_message(struct listener *l, char *to, size_t room)
{
	struct ut_events *e = l->events;
	ssize_t got = 0;

	pthread_mutex_lock(&e->lock);
	if (e->number - l->heard > KEPT) { /* too far behind */
		l->heard = e->number;
		got = events_say(to, room, "event: changed\ndata: {}\n\n");
	} else if (e->number != l->heard) {
		const struct message *m = &e->messages[l->heard++ % KEPT];

		got = events_put(to, room, m->text, m->len);
	}
	pthread_mutex_unlock(&e->lock);
	return got;
}

static ssize_t listen(void *ctx, char *to, size_t room)
{
	struct listener *l = ctx;
	ssize_t got;

	if (!l->has_begun) {
		l->has_begun = true;
		return events_say(to, room, "retry: 1000\n\n");
	}
	for (int waited = 0; waited < BEAT_MS; waited += TICK_MS) {
		if (l->events->stop || ut_serve_is_stopping(l->server)) {
			bool reported = l->is_reported;

			l->is_reported = true;
			return reported ? -1 : events_say(to, room, "event: end\ndata: {}\n\n");
		}
		got = next_message(l, to, room);
		if (got)
			return got;
		poll(NULL, 0, TICK_MS);
	}
	return events_say(to, room, ":\n\n");
}

int ut_api_events(struct ut_call *c, struct ut_err *err)
{
	struct listener *l = ut_make(sizeof(*l));

	(void)err;
	l->events = c->site->events;
	l->server = c->site->server;
	pthread_mutex_lock(&l->events->lock);
	l->heard = l->events->number;
	pthread_mutex_unlock(&l->events->lock);
	c->reply->status = 200;
	c->reply->type = "text/event-stream";
	c->reply->stream = (struct ut_reply_stream){ listen, free, l };
	return 0;
}
