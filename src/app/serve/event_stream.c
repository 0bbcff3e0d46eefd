/* event_stream.c - events sent to open pages, and how we know that the pages are still there. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "serve/serve_parts.h"

#define BEAT_MS     1000 /* how late we notice that a page is gone */
#define STREAM_ROOM 4096u

/* One page that listens. */
struct listener {
	struct ut_serve *s;
	uint64_t heard[UT_STREAM_EVENTS]; /* number of the last one that was sent to it */
	char *text;                       /* on its way */
	size_t len, at;
	bool is_reported; /* that we end */
};

/* What the page has not heard yet becomes its text; false if it has heard everything. */
static bool find_event(struct listener *page)
{
	struct ut_serve *s = page->s;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < UT_STREAM_EVENTS && !page->text; i++) {
		const struct ut_stream_event *t = &s->events[i];

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

static ssize_t send_some(struct listener *page, char *to, size_t room)
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
	struct listener *page = ctx;
	struct ut_serve *s = page->s;
	bool first = at == 0;

	if (page->text)
		return send_some(page, to, room);
	if (first)
		return send_words(to, room, "retry: 1000\n\n");
	for (int waited = 0; waited < BEAT_MS && !s->stopping; waited += UT_TICK_MS) {
		if (find_event(page))
			return send_some(page, to, room);
		poll(NULL, 0, UT_TICK_MS);
	}
	if (s->stopping && page->is_reported)
		return MHD_CONTENT_READER_END_OF_STREAM;
	page->is_reported = s->stopping;
	return send_words(to, room, s->stopping ? "event: end\ndata: {}\n\n" : ":\n\n");
}

static void end_stream(void *ctx)
{
	struct listener *page = ctx;

	page->s->pages--;
	free(page->text);
	free(page);
}

enum MHD_Result ut_event_stream(struct ut_serve *s, struct MHD_Connection *connection)
{
	struct listener *page = ut_make(sizeof(*page));
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
	ut_serve_deadline(s, connection, 0);
	ut_reply_header(r, "Content-Type", "text/event-stream");
	ut_reply_header(r, "Cache-Control", "no-store");
	result = ut_mhd.queue_response(connection, 200, r);
	ut_mhd.destroy_response(r);
	return result;
}

void ut_serve_notify(struct ut_serve *s, const char *event, const char *data, size_t len)
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
	for (size_t i = slot; i < UT_STREAM_EVENTS;
	     i++) { /* what changed is part of the whole by now */
		free(s->events[i].text);
		s->events[i] = (struct ut_stream_event){ .number = s->events[i].number + 1 };
	}
	s->events[slot].text = text;
	s->events[slot].len = (size_t)head + len + 2;
	pthread_mutex_unlock(&s->lock);
}
