/* command.c - see command.h. */
#include "backend/opencl/command.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "backend/opencl/harvest.h"

/* CUPTI counts calls in 32 bits: ours in the same process must not meet them. */
#define FIRST_CORRELATION (UINT64_C(1) << 32)

#define SLAB_COMMANDS 1024u
#define MOST_SLABS    4096u

static _Atomic uint64_t last_correlation = FIRST_CORRELATION;
static _Atomic uint64_t dropped_count, untimed_count;
static _Thread_local uint32_t thread_id;

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

void ut_cl_command_free(struct ut_cl_command *c)
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
	slab = ut_guest_alloc(SLAB_COMMANDS * sizeof(*slab));
	if (!slab)
		return false; /* the number is lost with it: there is no memory anyway */
	atomic_store_explicit(&slabs[at], slab, memory_order_release);
	for (uint32_t i = 0; i < SLAB_COMMANDS; i++) {
		slab[i].number = at * SLAB_COMMANDS + i + 1;
		ut_cl_command_free(&slab[i]);
	}
	return true;
}

static struct ut_cl_command *command_take(void)
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
	bool untimed = false;

	/* A marker without an event is refused; with ours it would not be. */
	if (!ut_cl.work || !ut_cl.host->on() || (s->id == UT_CL_clEnqueueMarker && !event))
		return false;
	s->row = ut_cl_queue_row(queue, &untimed);
	if (untimed)
		atomic_fetch_add_explicit(&untimed_count, 1, memory_order_relaxed);
	s->name = ut_cl.names[s->id];
	return s->row;
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
	if (!k || dimensions > 3) /* will be refused */
		return;
	s->name = k->name;
	if (!k->wanted) {
		s->row = NULL;
		return;
	}
	s->shape = ut_cl_shape(k, dimensions, global, local);
	s->items = dimensions && global ? 1 : 0;
	for (uint32_t i = 0; global && i < dimensions; i++)
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
	if (s->row) {
		if (!event)
			s->event = &s->own;
		s->correlation =
			atomic_fetch_add_explicit(&last_correlation, 1, memory_order_relaxed) + 1;
	}
	s->reported = ut_cl.calls || (ut_cl.submits && s->row);
	ut_cl_inside++;
	if (s->reported)
		ut_cl.host->call_begin(ut_cl.api, ut_cl.names[s->id], s->correlation);
	if (s->row)
		s->before = ut_cl.host->now();
	return s->event;
}

cl_event *ut_cl_submit_end(struct ut_cl_submit *s)
{
	if (s->row)
		s->after = ut_cl.host->now();
	ut_cl_inside--;
	return s->event == &s->own ? NULL : s->event;
}

static struct ut_cl_command *make_command(const struct ut_cl_submit *s)
{
	struct ut_cl_command *c = command_take();

	if (!c)
		return NULL;
	c->event = *s->event;
	c->before = s->before;
	c->after = s->after;
	c->correlation = s->correlation;
	c->bytes = s->bytes;
	c->items = s->items;
	c->shape = s->shape;
	c->name = s->name;
	c->thread = this_thread();
	c->track = s->row->id;
	c->commands = s->commands;
	c->kind = (uint8_t)s->kind;
	c->direction = (uint8_t)s->direction;
	return c;
}

void ut_cl_submit_done(struct ut_cl_submit *s, cl_int code, bool is_complete)
{
	struct ut_cl_command *c;

	if (!s->row || code != CL_SUCCESS || !*s->event)
		return;
	if (s->event != &s->own)
		UT_CL(clRetainEvent, *s->event)(*s->event);
	c = make_command(s);
	if (c) {
		c->blocked = is_complete;
		ut_cl_harvest_add(s->row, c, is_complete);
	} else {
		atomic_fetch_add(&dropped_count, 1);
		UT_CL(clReleaseEvent, *s->event)(*s->event);
	}
}

void ut_cl_command_losses(uint64_t *dropped, uint64_t *untimed)
{
	*dropped = atomic_exchange(&dropped_count, 0);
	*untimed = atomic_exchange(&untimed_count, 0);
}

void ut_cl_command_forked(void)
{
	atomic_store(&dropped_count, 0);
	atomic_store(&untimed_count, 0);
	thread_id = 0;
}
