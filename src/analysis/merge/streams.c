#include "merge/streams.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/grow.h"

#define AHEAD 3 /* frames: one being taken, one waiting, one being filled */

/* One stream on its way. What is not said to be the writer's is under the lock. */
struct lane {
	struct ut_stream *stream;
	struct ut_frame ring[AHEAD];
	unsigned int first, filled; /* of the ring */
	bool queued;                /* in the queue, or being filled */
	bool ended;
	int rc;
	struct ut_err *err;     /* NULL, or why it ended */
	struct ut_frame *frame; /* the writer's: being taken */
	uint32_t at;            /* the writer's: its next event */
};

struct pool {
	struct lane *lanes;
	size_t count;
	size_t *queue; /* lanes with room for a frame, oldest first; a ring of count */
	size_t queue_first, queue_len;
	bool threaded, stop;
	pthread_mutex_t lock;
	pthread_cond_t work, ready;
};

/* ---- filling -------------------------------------------------------------------------------- */

static void enqueue(struct pool *p, struct lane *l)
{
	p->queue[(p->queue_first + p->queue_len++) % p->count] = (size_t)(l - p->lanes);
	l->queued = true;
	pthread_cond_signal(&p->work);
}

static void note_end(struct lane *l, int rc, const struct ut_err *err)
{
	l->ended = true;
	l->rc = rc;
	if (rc < 0) {
		l->err = ut_make(sizeof(*l->err));
		*l->err = *err;
	}
}

static void *fill_frames(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct ut_err err = { 0 };
		struct ut_frame *frame;
		struct lane *l;
		int rc;

		while (!p->stop && !p->queue_len)
			pthread_cond_wait(&p->work, &p->lock);
		if (p->stop)
			break;
		l = &p->lanes[p->queue[p->queue_first]];
		p->queue_first = (p->queue_first + 1) % p->count;
		p->queue_len--;
		frame = &l->ring[(l->first + l->filled) % AHEAD];
		pthread_mutex_unlock(&p->lock);
		rc = l->stream->next(l->stream, frame, &err);
		pthread_mutex_lock(&p->lock);
		l->queued = false;
		if (rc == 1)
			l->filled++;
		else
			note_end(l, rc, &err);
		if (!l->ended && l->filled < AHEAD)
			enqueue(p, l);
		pthread_cond_signal(&p->ready);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- taking --------------------------------------------------------------------------------- */

static int next_frame_here(struct lane *l, struct ut_err *err)
{
	int rc = l->stream->next(l->stream, &l->ring[0], err);

	l->frame = rc == 1 ? &l->ring[0] : NULL;
	return rc < 0 ? rc : 0;
}

/* Gives the last frame back and waits for the next; frame is NULL at the end. */
static int next_frame(struct pool *p, struct lane *l, struct ut_err *err)
{
	l->at = 0;
	if (!p->threaded)
		return next_frame_here(l, err);
	pthread_mutex_lock(&p->lock);
	if (l->frame) {
		l->first = (l->first + 1) % AHEAD;
		l->filled--;
		if (!l->queued && !l->ended)
			enqueue(p, l);
	}
	while (!l->filled && !l->ended)
		pthread_cond_wait(&p->ready, &p->lock);
	l->frame = l->filled ? &l->ring[l->first] : NULL;
	pthread_mutex_unlock(&p->lock);
	if (!l->frame && l->rc < 0)
		return ut_err_set(err, l->rc, "%s", l->err->text);
	return 0;
}

/* A lane that still has events, with the key of its next one: what is compared lies together. */
struct head {
	int64_t key;
	struct lane *lane;
};

/* The first of all at the top. */
struct heap {
	struct head *items;
	size_t count;
};

/* Without a branch: which lane is first cannot be foreseen. */
static inline bool streams_before(const struct head *a, const struct head *b)
{
	return (a->key < b->key) | ((a->key == b->key) & (a->lane < b->lane));
}

/* From place i on down, to where it belongs. */
static void sift_down(struct heap *h, size_t i, struct head head)
{
	struct head *items = h->items;
	size_t child;

	for (; (child = 2 * i + 1) < h->count; i = child) {
		if (child + 1 < h->count)
			child += streams_before(&items[child + 1], &items[child]);
		if (!streams_before(&items[child], &head))
			break;
		items[i] = items[child];
	}
	items[i] = head;
}

static struct head head_of(struct lane *l)
{
	return (struct head){ l->frame->keys[l->at], l };
}

static bool goes_first(struct lane *l, uint32_t i, const struct head *other)
{
	return streams_before(&(struct head){ l->frame->keys[i], l }, other);
}

/* How far the lane at the top may go before another has to. Keys never fall: search, not walk. */
static uint32_t run_end(const struct heap *h)
{
	struct lane *l = h->items[0].lane;
	const struct head *other;
	uint32_t low = l->at + 1, high = l->frame->count, step = 1;

	if (h->count == 1)
		return high;
	other = &h->items[1];
	if (h->count > 2 && streams_before(&h->items[2], other))
		other = &h->items[2];
	if (low < high && !goes_first(l, low, other))
		return low; /* ranks in step: one event each */
	while (low + step < high && goes_first(l, low + step - 1, other)) {
		low += step;
		step *= 2;
	}
	high = low + step < high ? low + step : high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (goes_first(l, middle, other))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int start_heap(struct pool *p, struct heap *h, struct ut_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->count; i++) {
		rc = next_frame(p, &p->lanes[i], err);
		if (!rc && p->lanes[i].frame)
			h->items[h->count++] = head_of(&p->lanes[i]);
	}
	for (size_t i = h->count / 2; !rc && i-- > 0;)
		sift_down(h, i, h->items[i]);
	return rc;
}

static int take_all(struct pool *p, struct heap *h, struct ut_runs *to, struct ut_err *err)
{
	int rc = start_heap(p, h, err);

	while (!rc && h->count) {
		struct lane *l = h->items[0].lane;
		uint32_t end = run_end(h);

		rc = to->put(to, l->frame, l->at, end, err);
		l->at = end;
		if (!rc && l->at == l->frame->count)
			rc = next_frame(p, l, err);
		if (rc)
			break;
		if (l->frame)
			sift_down(h, 0, head_of(l));
		else if (--h->count)
			sift_down(h, 0, h->items[h->count]);
	}
	return rc;
}

/* ---- both ------------------------------------------------------------------------------------ */

static void streams_release(struct pool *p)
{
	for (size_t i = 0; i < p->count; i++) {
		for (size_t k = 0; k < AHEAD; k++)
			ut_frame_release(&p->lanes[i].ring[k]);
		free(p->lanes[i].err);
	}
	free(p->lanes);
	free(p->queue);
}

static void stop_workers(struct pool *p, pthread_t *workers, unsigned int count)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	while (count)
		pthread_join(workers[--count], NULL);
}

int ut_streams_merge(struct ut_stream *const *streams, size_t count, unsigned int threads,
		     struct ut_runs *to, struct ut_err *err)
{
	struct pool p = { .count = count,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .work = PTHREAD_COND_INITIALIZER,
			  .ready = PTHREAD_COND_INITIALIZER };
	struct heap h = { .items = ut_make((count + 1) * sizeof(struct head)) };
	pthread_t *workers = ut_make((threads + 1) * sizeof(*workers));
	unsigned int started = 0;
	int rc;

	p.lanes = ut_make((count + 1) * sizeof(*p.lanes));
	p.queue = ut_make((count + 1) * sizeof(*p.queue));
	for (size_t i = 0; i < count; i++) {
		p.lanes[i].stream = streams[i];
		enqueue(&p, &p.lanes[i]);
	}
	while (started < threads && started < count &&
	       !pthread_create(&workers[started], NULL, fill_frames, &p))
		started++;
	p.threaded = started > 0;
	rc = take_all(&p, &h, to, err);
	stop_workers(&p, workers, started);
	streams_release(&p);
	free(workers);
	free(h.items);
	return rc;
}
