/* opencl_command.c - see opencl_command.h. */
#include "backend/opencl_command.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* CUPTI counts calls in 32 bits: ours in the same process must not meet them. */
#define FIRST_CORRELATION (UINT64_C(1) << 32)

#define SLAB_COMMANDS  1024u
#define MOST_SLABS     4096u
#define A_FEW          4u                 /* told in passing, by who queues the next */
#define MILLISECOND    1000000u           /* ns */
#define LATEST         (1u * MILLISECOND) /* how late a record may come, as long as nobody looks */
#define LONGEST_STRIDE 64u
#define PATIENCE       (5u * MILLISECOND) /* with another thread that is telling */
#define NO_PROGRESS_MS 100u
#define LONGEST_MS     1000u

/* Values of at_work. */
enum {
	NO_WORK,
	AT_WORK,
	WORK_AGAIN, /* somebody came by: look again before you go */
};

/* A command under way. */
struct ut_cl_command {
	struct ut_cl_command *next;
	struct ut_cl_queue *queue;
	cl_event event; /* one reference is ours */
	uint64_t before, after, correlation, bytes, items;
	const struct ut_cl_shape *shape;
	uint32_t name, thread, track, commands;
	uint32_t number; /* of this slot, from 1 */
	_Atomic uint32_t next_free;
	uint8_t kind, direction;
	bool blocked; /* it had ended when the call returned */
};

static _Atomic uint64_t last_correlation = FIRST_CORRELATION;
static _Atomic uint64_t dropped, untimed, guessed;
static _Thread_local uint32_t thread_id;
static _Thread_local uint32_t inside; /* the runtime, on our way */

/* ---- slots --------------------------------------------------------------------------------- */

/* Low half: the number of the first free slot; high half: changes with every change. */
static _Atomic uint64_t free_slots;
static struct ut_cl_command *_Atomic slabs[MOST_SLABS];
static _Atomic uint32_t slab_count;

static struct ut_cl_command *slot(uint32_t number)
{
	struct ut_cl_command *slab =
		atomic_load_explicit(&slabs[(number - 1) / SLAB_COMMANDS], memory_order_acquire);

	return &slab[(number - 1) % SLAB_COMMANDS];
}

static void give(struct ut_cl_command *c)
{
	uint64_t head = atomic_load(&free_slots), mine;

	do {
		atomic_store_explicit(&c->next_free, (uint32_t)head, memory_order_relaxed);
		mine = ((head >> 32) + 1) << 32 | c->number;
	} while (!atomic_compare_exchange_weak(&free_slots, &head, mine));
}

static bool add_slab(void)
{
	uint32_t at = atomic_fetch_add(&slab_count, 1);
	struct ut_cl_command *slab;

	if (at >= MOST_SLABS) {
		atomic_fetch_sub(&slab_count, 1);
		return false;
	}
	slab = ut_cl_alloc(SLAB_COMMANDS * sizeof(*slab));
	if (!slab)
		return false; /* the number is lost with it: there is no memory anyway */
	atomic_store_explicit(&slabs[at], slab, memory_order_release);
	for (uint32_t i = 0; i < SLAB_COMMANDS; i++) {
		slab[i].number = at * SLAB_COMMANDS + i + 1;
		give(&slab[i]);
	}
	return true;
}

static struct ut_cl_command *take(void)
{
	uint64_t head = atomic_load(&free_slots), rest;
	struct ut_cl_command *c;

	do {
		while (!(uint32_t)head) {
			if (!add_slab())
				return NULL;
			head = atomic_load(&free_slots);
		}
		c = slot((uint32_t)head);
		rest = ((head >> 32) + 1) << 32 |
		       atomic_load_explicit(&c->next_free, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak(&free_slots, &head, rest));
	return c;
}

/* ---- before and after the call ------------------------------------------------------------- */

static uint32_t this_thread(void)
{
	if (!thread_id)
		thread_id = (uint32_t)syscall(SYS_gettid);
	return thread_id;
}

bool ut_cl_submit_opens(struct ut_cl_submit *s, cl_command_queue queue, const cl_event *event)
{
	/* A marker without an event is refused; with ours it would not be. */
	if (!ut_cl.work || !ut_cl.host->on() || (s->id == UT_CL_clEnqueueMarker && !event))
		return false;
	s->queue = ut_cl_queue_find(queue);
	if (s->queue && !s->queue->timed) {
		s->queue = NULL;
		atomic_fetch_add_explicit(&untimed, 1, memory_order_relaxed);
	}
	s->name = ut_cl.names[s->id];
	return s->queue;
}

void ut_cl_say_work(struct ut_cl_submit *s, enum ut_work_kind kind)
{
	s->kind = kind;
}

void ut_cl_say_copy(struct ut_cl_submit *s, enum ut_cl_direction direction, uint64_t bytes)
{
	s->kind = UT_WORK_COPY;
	s->direction = direction;
	s->bytes = bytes;
}

void ut_cl_say_fill(struct ut_cl_submit *s, uint64_t bytes)
{
	s->kind = UT_WORK_FILL;
	s->bytes = bytes;
}

void ut_cl_say_kernel(struct ut_cl_submit *s, cl_kernel kernel, uint32_t dimensions,
		      const size_t *global, const size_t *local)
{
	struct ut_cl_kernel *k = ut_cl_kernel_find(kernel);

	s->kind = UT_WORK_KERNEL;
	if (!k)
		return;
	s->name = k->name;
	if (!k->wanted) {
		s->queue = NULL;
		return;
	}
	s->shape = ut_cl_shape(k, dimensions, global, local);
	s->items = dimensions && global ? 1 : 0;
	for (uint32_t i = 0; global && i < dimensions && i < 3; i++)
		s->items *= global[i];
}

void ut_cl_say_buffer(struct ut_cl_submit *s, const void *buffer)
{
	struct ut_cl_buffer *b = ut_cl_buffer_find(buffer);

	s->kind = UT_WORK_OTHER;
	s->commands = b ? atomic_load(&b->commands) : 0;
}

cl_event *ut_cl_submit_begin(struct ut_cl_submit *s, cl_event *event)
{
	s->event = event;
	if (s->queue) {
		if (!event)
			s->event = &s->own;
		s->correlation =
			atomic_fetch_add_explicit(&last_correlation, 1, memory_order_relaxed) + 1;
	}
	s->told = ut_cl.calls || (ut_cl.submits && s->queue);
	inside++;
	if (s->told)
		ut_cl.host->call_begin(ut_cl.api, ut_cl.names[s->id], s->correlation);
	if (s->queue)
		s->before = ut_cl.host->now();
	return s->event;
}

cl_event *ut_cl_submit_end(struct ut_cl_submit *s)
{
	if (s->queue)
		s->after = ut_cl.host->now();
	inside--;
	return s->event == &s->own ? NULL : s->event;
}

/* ---- telling ------------------------------------------------------------------------------- */

enum {
	QUEUED,
	SUBMITTED,
	START,
	END
};

static bool read_times(cl_event event, cl_ulong times[4])
{
	static const cl_profiling_info which[] = { CL_PROFILING_COMMAND_QUEUED,
						   CL_PROFILING_COMMAND_SUBMIT,
						   CL_PROFILING_COMMAND_START,
						   CL_PROFILING_COMMAND_END };
	cl_api_clGetEventProfilingInfo next = UT_CL(clGetEventProfilingInfo, event);

	for (int i = 0; i < 4; i++) {
		if (next(event, which[i], sizeof(times[i]), &times[i], NULL))
			return false;
	}
	return times[END] != 0;
}

static size_t list_facts(const struct ut_cl_command *c, cl_int status, struct ut_fact *f)
{
	size_t n = 0;

	if (c->direction)
		f[n++] = (struct ut_fact){ ut_cl.key.direction, UT_VALUE_NAME,
					   ut_cl.directions[c->direction] };
	if (c->bytes)
		f[n++] = (struct ut_fact){ ut_cl.key.bytes, UT_VALUE_U64, c->bytes };
	if (c->shape && c->shape->global)
		f[n++] = (struct ut_fact){ ut_cl.key.global, UT_VALUE_NAME, c->shape->global };
	if (c->shape && c->shape->local)
		f[n++] = (struct ut_fact){ ut_cl.key.local, UT_VALUE_NAME, c->shape->local };
	if (!c->shape && c->items)
		f[n++] = (struct ut_fact){ ut_cl.key.items, UT_VALUE_U64, c->items };
	if (c->commands)
		f[n++] = (struct ut_fact){ ut_cl.key.commands, UT_VALUE_U64, c->commands };
	if (status < 0)
		f[n++] = (struct ut_fact){ ut_cl.key.status, UT_VALUE_I64,
					   (uint64_t)(int64_t)status };
	return n;
}

/*
 * Times of the device's in ours, none before the one before it. In a queue that keeps order a
 * command does not start before the previous one has ended, also when the offset has just moved.
 */
static void map_times(struct ut_cl_queue *q, const cl_ulong times[4], struct ut_work *w)
{
	const struct ut_cl_clock *clock = &q->device->clock;

	w->queued = ut_cl_clock_map(clock, times[QUEUED]);
	w->submitted = ut_cl_clock_map(clock, times[SUBMITTED]);
	w->start = ut_cl_clock_map(clock, times[START]);
	w->end = ut_cl_clock_map(clock, times[END]);
	if (q->ordered && times[START] >= q->last_end && w->start < q->last_mapped)
		w->start = q->last_mapped;
	if (w->submitted < w->queued)
		w->submitted = w->queued;
	if (w->start < w->submitted)
		w->start = w->submitted;
	if (w->end < w->start)
		w->end = w->start;
	q->last_end = times[END];
	q->last_mapped = w->end;
}

/*
 * A runtime that does not say when: the call is all that is known, and that the command is over.
 * Barriers and markers are like that for some; of others the user is told.
 */
static void guess_times(const struct ut_cl_command *c, struct ut_work *w)
{
	w->queued = w->submitted = c->before;
	w->start = w->end = c->after;
	if (c->kind != UT_WORK_SYNC)
		atomic_fetch_add_explicit(&guessed, 1, memory_order_relaxed);
}

/* Records what the device did. The command is over. */
static void tell(struct ut_cl_queue *q, struct ut_cl_command *c, cl_int status)
{
	struct ut_fact facts[8];
	struct ut_work w = { .queue = c->track,
			     .name = c->name,
			     .kind = c->kind,
			     .thread = c->thread,
			     .correlation = c->correlation,
			     .facts = facts };
	cl_ulong times[4] = { 0 };
	bool timed = read_times(c->event, times);

	ut_cl_device_look(q->device, c->after);
	if (timed) {
		ut_cl_clock_feed(&q->device->clock, UT_CL_CLOCK_QUEUED, times[QUEUED], c->before,
				 c->after);
		if (c->blocked)
			ut_cl_clock_feed(&q->device->clock, UT_CL_CLOCK_QUEUED, times[END],
					 c->before, c->after);
		map_times(q, times, &w);
		q->pace += (times[END] - times[START]) / 8 - q->pace / 8;
	} else {
		guess_times(c, &w);
	}
	w.fact_count = list_facts(c, status, facts);
	if (!timed)
		facts[w.fact_count++] =
			(struct ut_fact){ ut_cl.key.times, UT_VALUE_NAME, ut_cl.no_times };
	ut_cl.host->work(&w);
	UT_CL(clReleaseEvent, c->event)(c->event);
	give(c);
	atomic_fetch_sub(&q->waiting, 1);
}

/* ---- lists --------------------------------------------------------------------------------- */

static void push(_Atomic(struct ut_cl_command *) *list, struct ut_cl_command *c)
{
	c->next = atomic_load(list);
	while (!atomic_compare_exchange_weak(list, &c->next, c))
		;
}

/* What was pushed, oldest first; *last is the end of it. */
static struct ut_cl_command *take_all(_Atomic(struct ut_cl_command *) *list,
				      struct ut_cl_command **last)
{
	struct ut_cl_command *c = NULL, *oldest = NULL;

	if (atomic_load_explicit(list, memory_order_relaxed))
		c = atomic_exchange(list, NULL);
	*last = c;
	while (c) {
		struct ut_cl_command *next = c->next;

		c->next = oldest;
		oldest = c;
		c = next;
	}
	return oldest;
}

/* Is it over? Also when nobody can say any more. */
static bool is_over(const struct ut_cl_command *c, cl_int *status)
{
	*status = CL_COMPLETE;
	return UT_CL(clGetEventInfo, c->event)(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
					       sizeof(*status), status, NULL) ||
	       *status <= CL_COMPLETE;
}

static void tell_ordered(struct ut_cl_queue *q, uint32_t most)
{
	struct ut_cl_command *last, *c = take_all(&q->fresh, &last);
	cl_int status;

	if (c && q->first)
		q->last->next = c;
	else if (c)
		q->first = c;
	if (c)
		q->last = last;
	while ((c = q->first) && most-- && is_over(c, &status)) {
		q->first = c->next;
		tell(q, c, status);
	}
}

static void tell_done(struct ut_cl_queue *q)
{
	struct ut_cl_command *last, *c = take_all(&q->done, &last);

	while (c) {
		struct ut_cl_command *next = c->next;
		cl_int status;

		is_over(c, &status);
		tell(q, c, status);
		c = next;
	}
}

static void CL_CALLBACK on_complete(cl_event event, cl_int status, void *arg)
{
	struct ut_cl_queue *q = arg;

	(void)event;
	(void)status;
	atomic_store(&q->armed, false);
	ut_cl_harvest(q, UINT32_MAX);
}

/*
 * While commands wait, a callback is set on one of them: far enough from the first that a stream of
 * short ones is not slowed down by a callback each, and near enough that records come in time.
 */
static void arm(struct ut_cl_queue *q)
{
	struct ut_cl_command *c = q->first;
	uint64_t stride = LATEST / (q->pace + 1);
	cl_api_clSetEventCallback next;

	if (!c || atomic_exchange(&q->armed, true))
		return;
	for (uint64_t i = 0; i < stride && i < LONGEST_STRIDE && c->next; i++)
		c = c->next;
	/* Without callbacks records come when somebody looks. */
	next = q->device->has_callbacks ? UT_CL(clSetEventCallback, c->event) : NULL;
	if (next)
		next(c->event, CL_COMPLETE, on_complete, q);
}

/* True: the lists are ours now. False: who has them will look again. */
static bool begin_work(struct ut_cl_queue *q)
{
	uint32_t state = atomic_load(&q->at_work);

	for (;;) {
		if (state == WORK_AGAIN)
			return false;
		if (atomic_compare_exchange_weak(&q->at_work, &state,
						 state == NO_WORK ? AT_WORK : WORK_AGAIN))
			return state == NO_WORK;
	}
}

static bool end_work(struct ut_cl_queue *q)
{
	uint32_t state = AT_WORK;

	if (atomic_compare_exchange_strong(&q->at_work, &state, NO_WORK))
		return true;
	atomic_store(&q->at_work, AT_WORK);
	return false;
}

void ut_cl_harvest(struct ut_cl_queue *q, uint32_t most)
{
	int saved = errno;

	if (!atomic_load(&q->waiting) || !begin_work(q))
		return;
	inside++;
	do {
		tell_done(q);
		tell_ordered(q, most);
		arm(q);
	} while (!end_work(q));
	inside--;
	errno = saved;
}

void ut_cl_harvest_all(void)
{
	for (struct ut_cl_queue *q = ut_cl_queue_last(); q; q = (struct ut_cl_queue *)q->item.all)
		ut_cl_harvest(q, UINT32_MAX);
}

/* Another thread may be telling what the program is about to know. It needs a moment, not us. */
static void let_work(const struct ut_cl_queue *q)
{
	uint64_t begin = 0;

	while (atomic_load(&q->at_work) != NO_WORK) {
		uint64_t now = ut_cl.host->now();

		begin = begin ? begin : now;
		if (now - begin > PATIENCE)
			return;
		sched_yield();
	}
}

void ut_cl_harvest_complete(void)
{
	for (struct ut_cl_queue *q = ut_cl_queue_last(); q; q = (struct ut_cl_queue *)q->item.all) {
		if (!atomic_load(&q->waiting))
			continue;
		ut_cl_harvest(q, UINT32_MAX);
		let_work(q);
	}
}

/* ---- a new command ------------------------------------------------------------------------- */

static void CL_CALLBACK on_unordered(cl_event event, cl_int status, void *arg)
{
	struct ut_cl_command *c = arg;
	struct ut_cl_queue *q = c->queue;

	(void)event;
	(void)status;
	push(&q->done, c);
	ut_cl_harvest(q, UINT32_MAX);
}

static struct ut_cl_command *make_command(const struct ut_cl_submit *s)
{
	struct ut_cl_command *c = take();

	if (!c)
		return NULL;
	c->queue = s->queue;
	c->event = *s->event;
	c->before = s->before;
	c->after = s->after;
	c->correlation = s->correlation;
	c->bytes = s->bytes;
	c->items = s->items;
	c->shape = s->shape;
	c->name = s->name;
	c->thread = this_thread();
	c->track = s->queue->id;
	c->commands = s->commands;
	c->kind = (uint8_t)s->kind;
	c->direction = (uint8_t)s->direction;
	return c;
}

/* Gives up on a command: it is not told. */
static void drop(struct ut_cl_submit *s)
{
	atomic_fetch_add(&dropped, 1);
	UT_CL(clReleaseEvent, *s->event)(*s->event);
}

void ut_cl_submit_done(struct ut_cl_submit *s, cl_int code, bool is_complete)
{
	struct ut_cl_queue *q = s->queue;
	struct ut_cl_command *c;
	cl_api_clSetEventCallback callback;

	if (!q || code != CL_SUCCESS || !*s->event)
		return;
	if (s->event != &s->own)
		UT_CL(clRetainEvent, *s->event)(*s->event);
	c = make_command(s);
	if (!c) {
		drop(s);
		return;
	}
	c->blocked = is_complete;
	atomic_fetch_add(&q->waiting, 1);
	if (q->ordered) {
		push(&q->fresh, c);
		ut_cl_harvest(q, is_complete ? UINT32_MAX : A_FEW);
		if (is_complete)
			let_work(q);
		return;
	}
	callback = q->device->has_callbacks ? UT_CL(clSetEventCallback, *s->event) : NULL;
	if (!callback || callback(*s->event, CL_COMPLETE, on_unordered, c)) {
		give(c);
		atomic_fetch_sub(&q->waiting, 1);
		drop(s);
	}
}

/* ---- the end ------------------------------------------------------------------------------- */

static uint64_t count_waiting(void)
{
	uint64_t waiting = 0;

	for (struct ut_cl_queue *q = ut_cl_queue_last(); q; q = (struct ut_cl_queue *)q->item.all)
		waiting += atomic_load(&q->waiting);
	return waiting;
}

static void note_losses(uint64_t unfinished)
{
	uint64_t lost = atomic_exchange(&dropped, 0), without = atomic_exchange(&untimed, 0);
	uint64_t unknown = atomic_exchange(&guessed, 0);
	char text[200];

	if (unfinished) {
		snprintf(text, sizeof(text),
			 "OpenCL: %llu commands had not finished when the process ended",
			 (unsigned long long)unfinished);
		ut_cl.host->note(text);
	}
	if (lost) {
		snprintf(text, sizeof(text),
			 "OpenCL: %llu commands are missing: no memory or no callback for them",
			 (unsigned long long)lost);
		ut_cl.host->note(text);
	}
	if (without) {
		snprintf(text, sizeof(text),
			 "OpenCL: %llu commands are missing: their queue cannot be timed",
			 (unsigned long long)without);
		ut_cl.host->note(text);
	}
	if (unknown) {
		snprintf(text, sizeof(text),
			 "OpenCL: %llu commands stand at their calls: the runtime gave no times",
			 (unsigned long long)unknown);
		ut_cl.host->note(text);
	}
}

/*
 * Without us the program would be gone by now, so the wait is short and ends when nothing moves. If
 * it was ended from inside a call of the runtime's (a signal handler), asking could wait for ever.
 */
void ut_cl_drain(void)
{
	const struct timespec step = { 0, MILLISECOND };
	uint64_t waiting = count_waiting(), before = waiting;

	if (!inside) {
		for (uint32_t ms = 0, idle = 0; ms < LONGEST_MS && idle < NO_PROGRESS_MS; ms++) {
			ut_cl_harvest_all();
			waiting = count_waiting();
			if (!waiting)
				break;
			idle = waiting < before ? 0 : idle + 1;
			before = waiting;
			nanosleep(&step, NULL);
		}
	}
	note_losses(waiting);
}

void ut_cl_forget_commands(void)
{
	for (struct ut_cl_queue *q = ut_cl_queue_last(); q; q = (struct ut_cl_queue *)q->item.all) {
		atomic_store(&q->fresh, NULL);
		atomic_store(&q->done, NULL);
		q->first = q->last = NULL;
		atomic_store(&q->at_work, 0);
		atomic_store(&q->armed, false);
		atomic_store(&q->waiting, 0);
	}
	atomic_store(&dropped, 0);
	atomic_store(&untimed, 0);
	atomic_store(&guessed, 0);
	thread_id = 0;
	inside = 0;
}
