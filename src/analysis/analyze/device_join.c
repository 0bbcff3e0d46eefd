#include "analyze/device_join.h"

#include <stdlib.h>

#include "analyze/device_log.h"
#include "base/grow.h"
#include "base/sort.h"
#include "model/trace.h"

/* Work that waited longer did not: its times are of another clock (a converted trace). */
#define LONGEST_WAIT UINT64_C(600000000000)

#define SEVERAL UINT32_MAX /* programs of a rank */

/* ---- the trace that is being read ---------------------------------------------------------- */

static void device_join_start_trace(struct ut_device_join *j)
{
	ut_arena_release(&j->arena);
	ut_idmap_init(&j->leave_of, &j->arena);
	free(j->owners);
	j->owners = NULL;
	j->owner_cap = 0;
	j->leave_count = j->arrival_count = 0;
}

void ut_device_join_init(struct ut_device_join *j)
{
	*j = (struct ut_device_join){ 0 };
	device_join_start_trace(j);
}

void ut_device_join_release(struct ut_device_join *j)
{
	free(j->submits);
	free(j->owners);
	free(j->leaves);
	free(j->arrivals);
	ut_arena_release(&j->arena);
	*j = (struct ut_device_join){ 0 };
}

static struct ut_device_owner *owner_of(struct ut_device_join *j, uint32_t process)
{
	j->owners = ut_grow(j->owners, (size_t)process + 1, &j->owner_cap, sizeof(*j->owners));
	return &j->owners[process];
}

void ut_device_join_call(struct ut_device_join *j, const struct ut_device_submit *s)
{
	owner_of(j, s->process)->calls = true;
	j->submits = ut_grow_raw(j->submits, j->submit_count + 1, &j->submit_cap, sizeof(*s));
	j->submits[j->submit_count++] = *s;
}

void ut_device_join_leaves(struct ut_device_join *j, uint64_t arrow,
			   const struct ut_device_leave *from)
{
	j->leaves = ut_grow_raw(j->leaves, j->leave_count + 1, &j->leave_cap, sizeof(*from));
	j->leaves[j->leave_count++] = *from;
	ut_idmap_put(&j->leave_of, arrow, (uint32_t)j->leave_count);
}

static const struct ut_device_leave *leave_of(const struct ut_device_join *j, uint64_t arrow)
{
	uint32_t at = ut_idmap_get(&j->leave_of, arrow);

	return at ? &j->leaves[at - 1] : NULL;
}

static void set_program(const struct ut_device_join *j, struct ut_device_owner *o)
{
	const struct ut_device_leave *from = o->has_arrow ? leave_of(j, o->arrow) : NULL;

	if (from)
		o->program = from->process + 1;
}

/* One arrow is enough to know the program, and its call may come later than the work. */
void ut_device_join_arrives(struct ut_device_join *j, uint32_t process,
			    const struct ut_device_arrival *at)
{
	struct ut_device_owner *o = owner_of(j, process);

	if (!o->program) {
		o->has_arrow = true;
		o->arrow = at->arrow;
		set_program(j, o);
	}
	j->arrivals = ut_grow_raw(j->arrivals, j->arrival_count + 1, &j->arrival_cap, sizeof(*at));
	j->arrivals[j->arrival_count++] = *at;
}

/* The only process of each rank that called, plus 1; SEVERAL. */
static void find_callers(struct ut_device_join *j, const struct ut_trace *t, struct ut_idmap *of)
{
	ut_idmap_init(of, &j->arena);
	for (uint32_t i = 0; i < t->process_count && i < j->owner_cap; i++) {
		uint32_t rank = (uint32_t)t->processes[i].rank;

		if (j->owners[i].calls)
			ut_idmap_put(of, rank, ut_idmap_get(of, rank) ? SEVERAL : i + 1);
	}
}

static uint32_t program_of(struct ut_device_join *j, const struct ut_trace *t,
			   const struct ut_idmap *callers, uint32_t process)
{
	struct ut_device_owner *o = owner_of(j, process);
	uint32_t only = ut_idmap_get(callers, (uint32_t)t->processes[process].rank);

	if (!o->program)
		set_program(j, o);
	if (!o->program && only != SEVERAL)
		o->program = only;
	return o->program;
}

static int device_join_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int device_join_by_place(const void *a, const void *b)
{
	const struct ut_device_arrival *x = a, *y = b;
	int order = device_join_compare(x->track, y->track);

	return order ? order : device_join_compare(x->time, y->time);
}

/* Work without a number: the arrow that ends where it begins. */
static void follow_arrow(const struct ut_device_join *j, struct ut_device_work *w)
{
	const struct ut_device_arrival wanted = { .time = w->start, .track = w->queue };
	const struct ut_device_arrival *at = bsearch(&wanted, j->arrivals, j->arrival_count,
						     sizeof(wanted), device_join_by_place);
	const struct ut_device_leave *from = at ? leave_of(j, at->arrow) : NULL;

	if (from)
		w->called = w->handed = w->queued = ut_device_sane(from->time, w->start);
}

void ut_device_join_end_trace(struct ut_device_join *j, const struct ut_trace *t,
			      struct ut_device_work *works, size_t first, size_t end)
{
	struct ut_idmap callers;

	find_callers(j, t, &callers);
	ut_sort(j->arrivals, j->arrival_count, sizeof(*j->arrivals), device_join_by_place);
	for (size_t i = first; i < end; i++) {
		works[i].program = program_of(j, t, &callers, works[i].program);
		if (j->arrival_count && !works[i].correlation && !works[i].queued)
			follow_arrow(j, &works[i]);
	}
	device_join_start_trace(j);
}

/* ---- all of them --------------------------------------------------------------------------- */

static int by_correlation(const void *a, const void *b)
{
	const struct ut_device_submit *x = a, *y = b;
	int order = device_join_compare(x->source, y->source);

	order = order ? order : device_join_compare(x->process, y->process);
	order = order ? order : device_join_compare(x->correlation, y->correlation);
	return order ? order : device_join_compare(x->start, y->start);
}

/* The outermost call with this number: the driver's call inside the runtime's shares it. */
static const struct ut_device_submit *find_submit(const struct ut_device_join *j,
						  const struct ut_device_work *w)
{
	const struct ut_device_submit wanted = { .source = w->source,
						 .process = w->program - 1,
						 .correlation = w->correlation };
	size_t lo = 0, hi = j->submit_count;
	const struct ut_device_submit *s;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_correlation(&j->submits[mid], &wanted) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == j->submit_count)
		return NULL;
	s = &j->submits[lo];
	return s->source == wanted.source && s->process == wanted.process &&
			       s->correlation == wanted.correlation
		       ? s
		       : NULL;
}

uint64_t ut_device_sane(uint64_t before, uint64_t start)
{
	return before <= start && start - before < LONGEST_WAIT ? before : 0;
}

/* A runtime that does not tell when work was queued and submitted did both during the call. */
static void device_join_join(const struct ut_device_join *j, struct ut_device_work *w)
{
	const struct ut_device_submit *s = w->correlation && w->program ? find_submit(j, w) : NULL;

	if (!s)
		return;
	w->thread = w->thread ? w->thread : s->thread;
	w->called = ut_device_sane(s->start, w->start);
	if (w->called)
		w->handed = s->end < w->start ? s->end : w->start;
	if (!w->queued)
		w->queued = w->called;
	if (!w->submitted)
		w->submitted = w->handed;
}

void ut_device_join_finish(struct ut_device_join *j, struct ut_device_work *works, size_t count)
{
	ut_sort(j->submits, j->submit_count, sizeof(*j->submits), by_correlation);
	for (size_t i = 0; i < count; i++)
		device_join_join(j, &works[i]);
	/* not needed again, and large */
	free(j->submits);
	j->submits = NULL;
	j->submit_count = j->submit_cap = 0;
}
