/*
 * sim_engine.c - when commands start and end, and what they do.
 *
 * A lane (a queue, an immediate list) works through its commands one after the other, on an engine
 * that does one thing at a time. Nothing runs by itself: whoever calls the driver first does all
 * that has happened meanwhile, in the order in which it happened (sim_pump()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim.h"

#define HISTORY 4096u /* kernels that have run */

pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sim_moved = PTHREAD_COND_INITIALIZER;

static struct sim_lane *lanes;
static uint64_t last_number;
static uint64_t next_time; /* of the next thing that happens; SIM_NEVER = somebody has to act */

static struct {
	const struct sim_device *device;
	struct sim_kernel_info info;
	uint64_t start, end;
} history[HISTORY];
static uint64_t history_count;

/* ---- lanes --------------------------------------------------------------------------------- */

void sim_lane_add(struct sim_lane *lane)
{
	lane->next = lanes;
	lanes = lane;
}

void sim_lane_remove(struct sim_lane *lane)
{
	struct sim_lane **p = &lanes;

	while (*p && *p != lane)
		p = &(*p)->next;
	if (*p)
		*p = lane->next;
}

void sim_free_command(struct sim_command *c)
{
	free(c->waits);
	free(c->wait_arms);
	free(c->queried);
	free(c->queried_arms);
	free(c);
}

static void *copy_of(const void *from, size_t size)
{
	void *to = size ? malloc(size) : NULL;

	if (to)
		memcpy(to, from, size);
	return to;
}

static uint64_t *arms_of(struct sim_event **events, uint32_t count)
{
	uint64_t *arms = count ? calloc(count, sizeof(*arms)) : NULL;

	for (uint32_t i = 0; arms && i < count; i++)
		arms[i] = events[i]->arm;
	return arms;
}

void sim_submit(struct sim_lane *lane, const struct sim_command *from, struct sim_list *list,
		uint64_t now)
{
	struct sim_command *c = copy_of(from, sizeof(*from));

	c->next = NULL;
	c->waits = copy_of(from->waits, from->wait_count * sizeof(struct sim_event *));
	c->wait_arms = arms_of(from->waits, from->wait_count);
	c->queried = copy_of(from->queried, from->queried_count * sizeof(struct sim_event *));
	c->queried_arms = arms_of(from->queried, from->queried_count);
	c->lane = lane;
	c->list = list;
	c->submitted = now;
	c->number = ++last_number;
	if (c->signal && c->work != SIM_WORK_RESET) {
		c->signal->users++;
		if (c->signal->counted) {
			c->signal_arm = ++c->signal->arm;
			c->signal->signaled = false;
			c->signal->stamps[c->signal_arm % SIM_ARMS].written = false;
		}
	}
	if (list)
		list->running++;
	if (lane->last)
		lane->last->next = c;
	else
		lane->first = c;
	lane->last = c;
	lane->pending++;
	next_time = 0;
}

/* ---- what commands do ---------------------------------------------------------------------- */

struct sim_stamp *sim_stamp_of(struct sim_event *e, uint64_t arm)
{
	return &e->stamps[e->counted ? arm % SIM_ARMS : 0];
}

static void signal_event(struct sim_command *c)
{
	struct sim_event *e = c->signal;
	struct sim_stamp *s = sim_stamp_of(e, c->signal_arm);

	*s = (struct sim_stamp){
		.start = c->start, .end = c->end, .device = c->lane->engine->device, .written = true
	};
	e->users--;
	if (!e->counted || e->arm == c->signal_arm) { /* else it stands for another by now */
		e->signaled = true;
		e->signaled_at = c->end;
	}
	if (e->gone && !e->users)
		sim_forget_event(e);
}

static void copy_box(const struct sim_command *c)
{
	const struct sim_box *b = &c->box;

	for (size_t z = 0; z < b->depth; z++) {
		for (size_t y = 0; y < b->height; y++)
			memcpy(c->to + z * b->to_slice + y * b->to_pitch,
			       c->from + z * b->from_slice + y * b->from_pitch, b->width);
	}
}

static void stamp_result(const struct sim_stamp *s, ze_kernel_timestamp_result_t *r)
{
	uint64_t mask = sim_mask(sim_config.bits);

	r->global.kernelStart = r->context.kernelStart = sim_ticks(s->device, s->start) & mask;
	r->global.kernelEnd = r->context.kernelEnd = sim_ticks(s->device, s->end) & mask;
}

static void query_stamps(const struct sim_command *c)
{
	for (uint32_t i = 0; i < c->queried_count; i++) {
		const struct sim_stamp *s = sim_stamp_of(c->queried[i], c->queried_arms[i]);
		ze_kernel_timestamp_result_t r;

		if (!s->written)
			sim_die("timestamps of an event are queried that has none");
		stamp_result(s, &r);
		memcpy(c->to + (c->offsets ? c->offsets[i] : i * sizeof(r)), &r, sizeof(r));
	}
}

static void remember_kernel(const struct sim_command *c)
{
	uint64_t at = history_count++ % HISTORY;

	history[at].device = c->lane->engine->device;
	history[at].info = c->kernel;
	history[at].start = c->start;
	history[at].end = c->end;
}

const struct sim_kernel_info *sim_ran_at(const struct sim_device *d, uint64_t ns)
{
	for (uint64_t i = history_count; i && history_count - i < HISTORY; i--) {
		uint64_t at = (i - 1) % HISTORY;

		if (history[at].start <= ns && ns < history[at].end &&
		    (history[at].device == d || history[at].device->root == d))
			return &history[at].info;
	}
	return NULL;
}

static void do_work(struct sim_command *c)
{
	uint64_t ticks;

	switch (c->work) {
	case SIM_WORK_COPY:
		memmove(c->to, c->from, c->bytes);
		break;
	case SIM_WORK_COPY_BOX:
		copy_box(c);
		break;
	case SIM_WORK_FILL:
		for (size_t i = 0; i < c->bytes; i++)
			c->to[i] = c->pattern[i % c->pattern_bytes];
		break;
	case SIM_WORK_RESET:
		c->signal->signaled = false;
		c->signal->stamps[0].written = false;
		break;
	case SIM_WORK_STAMP:
		ticks = sim_ticks(c->lane->engine->device, c->end) & sim_mask(sim_config.bits);
		memcpy(c->to, &ticks, sizeof(ticks));
		break;
	case SIM_WORK_QUERY_STAMPS:
		query_stamps(c);
		break;
	case SIM_WORK_CALLBACK:
		c->callback(c->data);
		break;
	case SIM_WORK_QUERY_BEGIN:
		sim_query_begin(c->query, c->end);
		break;
	case SIM_WORK_QUERY_END:
		sim_query_end(c->query, c->end);
		break;
	case SIM_WORK_FENCE:
		c->fence->signaled = true;
		break;
	case SIM_WORK_KERNEL:
	case SIM_WORK_BARRIER:
	case SIM_WORK_SIGNAL:
	case SIM_WORK_WAIT:
	case SIM_WORK_NOTHING:
		break;
	}
}

static void log_work(const struct sim_command *c)
{
	static const char *const kinds[] = { "kernel",   "copy", "copy",  "fill",  "barrier",
					     "signal",   "wait", "reset", "stamp", "query",
					     "callback", "",     "",      "",      "" };
	const struct sim_engine *e = c->lane->engine;

	if (sim_config.log < 0 || !*kinds[c->work])
		return;
	sim_log("WORK %s %d.%d %u.%u %llu %llu %s", kinds[c->work], (int)e->device->index,
		e->device->tile == SIM_MOST_TILES ? -1 : (int)e->device->tile, e->ordinal, e->index,
		(unsigned long long)c->start, (unsigned long long)c->end, c->name);
}

/* ---- time ---------------------------------------------------------------------------------- */

static bool is_done(struct sim_event *e, uint64_t arm, uint64_t *when)
{
	const struct sim_stamp *s = sim_stamp_of(e, arm);

	if (e->counted) {
		*when = s->end;
		return !arm || s->written || e->arm >= arm + SIM_ARMS;
	}
	*when = e->signaled_at;
	return e->signaled;
}

/* When it can start at the earliest; false: it waits for something. */
static bool is_ready(const struct sim_command *c, uint64_t *when)
{
	*when = c->submitted;
	for (uint32_t i = 0; i < c->wait_count; i++) {
		uint64_t t;

		if (!is_done(c->waits[i], c->wait_arms[i], &t))
			return false;
		*when = t > *when ? t : *when;
	}
	*when = c->lane->last_end > *when ? c->lane->last_end : *when;
	*when = c->lane->engine->free_at > *when ? c->lane->engine->free_at : *when;
	return true;
}

static void finish(struct sim_command *c)
{
	struct sim_lane *lane = c->lane;

	do_work(c);
	if (c->signal && c->work != SIM_WORK_RESET)
		signal_event(c);
	log_work(c);
	lane->engine->free_at = lane->last_end = c->end;
	lane->engine->running = NULL;
	lane->first = c->next;
	if (!lane->first)
		lane->last = NULL;
	lane->pending--;
	if (c->list)
		c->list->running--;
	sim_free_command(c);
}

/* The next thing that happens, and when. */
static struct sim_command *next_step(uint64_t *when, bool *ends)
{
	struct sim_command *best = NULL;

	*when = SIM_NEVER;
	*ends = false;
	for (struct sim_lane *lane = lanes; lane; lane = lane->next) {
		struct sim_command *c = lane->first, *running = lane->engine->running;
		uint64_t t = running ? running->end : 0;

		if (!c || (running && running != c) || (!running && !is_ready(c, &t)))
			continue;
		if (t < *when || (t == *when && running && !*ends) ||
		    (t == *when && best && (running != NULL) == *ends &&
		     c->number < best->number)) {
			best = c;
			*when = t;
			*ends = running != NULL;
		}
	}
	return best;
}

void sim_pump(void)
{
	uint64_t now = sim_now(), when;
	struct sim_command *c;
	bool ends, moved = false;

	if (now < next_time)
		return;
	while ((c = next_step(&when, &ends)) && when <= now) {
		moved = true;
		if (ends) {
			finish(c);
			continue;
		}
		c->start = when;
		c->end = when + c->ns;
		c->lane->engine->running = c;
		if (c->work == SIM_WORK_KERNEL)
			remember_kernel(c); /* reports are read while it runs */
		if (c->end <= now && !c->ns)
			finish(c);
	}
	next_time = when;
	if (moved)
		pthread_cond_broadcast(&sim_moved);
}

bool sim_is_signaled(const void *event)
{
	return ((const struct sim_event *)event)->signaled;
}

bool sim_is_drained(const void *lane)
{
	return !((const struct sim_lane *)lane)->pending;
}

static void sleep_until(uint64_t when)
{
	struct timespec t = { .tv_sec = (time_t)(when / 1000000000u),
			      .tv_nsec = (long)(when % 1000000000u) };

	pthread_mutex_unlock(&sim_lock);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
	pthread_mutex_lock(&sim_lock);
}

bool sim_wait(bool (*done)(const void *), const void *of, uint64_t timeout)
{
	uint64_t began = sim_now();
	uint64_t until = timeout > SIM_NEVER - began ? SIM_NEVER : began + timeout;

	for (;;) {
		uint64_t now, look;

		sim_pump();
		if (done(of))
			return true;
		now = sim_now();
		if (now >= until)
			return false;
		/* Another thread may act, too: look again soon. */
		look = now + 1000000;
		look = next_time < look ? next_time : look;
		sleep_until(look < until ? look : until);
	}
}

void sim_submit_moved(void)
{
	next_time = 0;
}
