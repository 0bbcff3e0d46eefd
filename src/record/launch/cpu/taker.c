#include "launch/cpu/taker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "launch/cpu/jit_files.h"
#include "launch/cpu/perf.h"

#define SECOND UINT64_C(1000000000)

/* The kernel's chain: addresses of the kernel, then of the program, each part behind its mark. */
static void take_chain(struct ut_stack *to, const struct ut_perf_sample *p)
{
	bool kernel = false;

	for (uint64_t k = 0; k < p->chain_count && to->count < UT_STACK_MOST; k++) {
		uint64_t address = p->chain[k];

		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
			continue;
		}
		/* A return address belongs to the call before it. */
		if (k && p->chain[k - 1] < (uint64_t)PERF_CONTEXT_MAX)
			address--;
		to->frames[to->count++] = address;
		to->kernel += kernel;
	}
}

/* Calls that the CPU remembers: where they were made, the last one first. */
static void take_branches(struct ut_stack *to, const struct ut_perf_sample *p)
{
	/* in the kernel, all that is known of the program is which function called it */
	uint64_t ip = p->ip >> 63 ? p->branch_count ? p->branches[1] : 0 : p->ip;

	if (ip && to->count < UT_STACK_MOST)
		to->frames[to->count++] = ip;
	for (uint64_t k = 0; k < p->branch_count && to->count < UT_STACK_MOST; k++)
		to->frames[to->count++] = p->branches[UT_PERF_BRANCH * k];
}

static void take_stack(struct ut_taker *t, struct ut_image *i, const struct ut_perf_sample *p)
{
	struct ut_stack *to = &t->stack;

	to->count = to->kernel = 0;
	take_chain(to, p);
	if (p->regs && to->count < UT_STACK_MOST) {
		to->count += ut_unwinder_walk(&t->unwinder, i, p, to->frames + to->count,
					      UT_STACK_MOST - to->count);
		to->whole = t->unwinder.whole;
	} else {
		if (p->branches)
			take_branches(to, p);
		to->whole = false;
	}
	if (!to->count) {
		to->frames[to->count++] = p->ip;
		to->kernel += p->ip >> 63;
	}
	memset(to->places, 0, to->count * sizeof(*to->places));
	if (i->python)
		ut_weave(&t->weaver, i, &t->images.session, p, to);
}

static uint32_t taker_place_of(struct ut_taker *t, struct ut_image *i, uint64_t address,
			       uint64_t time)
{
	const struct ut_map *m = ut_maps_find(&i->maps, address, time);
	struct ut_module *module;

	if (!m) {
		ut_images_look(&t->images, i, time);
		m = ut_maps_find(&i->maps, address, time);
	}
	if (!m)
		return ut_image_place(i, &t->images.session, UT_MODULE_UNKNOWN, address);
	module = ut_module(&t->images.modules, m->module);
	ut_module_open(module, i->pid, m); /* its build id is told with it */
	if (module->kind == UT_CPU_MODULE_ANONYMOUS)
		ut_jit_files_look(i, &t->images.modules, time);
	if (module->kind == UT_CPU_MODULE_FILE || module->kind == UT_CPU_MODULE_VDSO)
		address = address - m->start + m->offset;
	return ut_image_place(i, &t->images.session, m->module, address);
}

/*
 * The place of a frame, called from that stack. Python may have gone on before we looked: then the
 * function is taken that was last seen to be called from the same place, which is nearly always the
 * same one, and otherwise each of them as often as it is seen.
 */
static uint32_t place_at(struct ut_taker *t, struct ut_image *i, size_t k, uint32_t caller,
			 uint64_t time)
{
	uint32_t place = t->stack.places[k], some;

	if (place && place != UT_PLACE_SOME) {
		if (k + 1 == t->stack.count || !t->stack.places[k + 1])
			ut_idmap_put(&i->called, (uint64_t)caller + 1, place);
		return place;
	}
	some = place ? ut_idmap_get(&i->called, (uint64_t)caller + 1) : 0;
	if (some)
		return some;
	return k < t->stack.kernel
		       ? ut_image_place(i, &t->images.session, UT_MODULE_KERNEL, t->stack.frames[k])
		       : taker_place_of(t, i, t->stack.frames[k], time);
}

static struct ut_taker_last *taker_last_of(struct ut_taker *t, const struct ut_image *i,
					   uint32_t tid)
{
	struct ut_taker_last *last = &t->last[tid % UT_TAKER_THREADS];

	if (last->image != i || last->tid != tid || last->changes != i->maps.changes) {
		last->image = i;
		last->tid = tid;
		last->changes = i->maps.changes;
		last->count = 0;
	}
	return last;
}

/* The number of the stack at hand. What it has in common with the last one is not looked up. */
static uint32_t number_stack(struct ut_taker *t, struct ut_image *i, const struct ut_perf_sample *p)
{
	struct ut_taker_last *last = taker_last_of(t, i, p->tid);
	const struct ut_stack *s = &t->stack;
	bool same = true;
	uint32_t stack = 0;

	for (size_t out = 0; out < s->count; out++) {
		size_t k = s->count - 1 - out;

		same = same && out < last->count && last->frames[out] == s->frames[k] &&
		       last->given[out] == s->places[k] && s->places[k] != UT_PLACE_SOME &&
		       k >= s->kernel;
		stack = same ? last->stacks[out]
			     : ut_image_stack(i, stack, place_at(t, i, k, stack, p->time));
		last->frames[out] = s->frames[k];
		last->given[out] = s->places[k];
		last->stacks[out] = stack;
	}
	last->count = s->count;
	/* looking up may have found something that is mapped there now */
	last->changes = i->maps.changes;
	return stack;
}

/* What was not taken counts for the next one that is: nothing is missing from the sums. */
static bool may_take_wait(struct ut_taker *t, uint64_t time)
{
	if (time > t->waits.since + SECOND / 10) {
		t->waits.since = time;
		t->waits.left = t->waits.hz / 10 + 1;
	}
	if (!t->waits.left)
		return false;
	t->waits.left--;
	return true;
}

void ut_taker_sample(struct ut_taker *t, const struct ut_perf_sample *p)
{
	struct ut_cpu_sample out = { .time = p->time, .tid = p->tid, .cpu = p->cpu };
	struct ut_image *i;

	if (!p->pid || p->pid == UINT32_MAX || p->pid == t->self ||
	    (p->wait && !may_take_wait(t, p->time)))
		return;
	i = ut_images_at(&t->images, p->pid, p->time);
	take_stack(t, i, p);
	out.stack = number_stack(t, i, p);
	out.weight = (uint32_t)(p->period < UINT32_MAX ? p->period : UINT32_MAX);
	if (p->wait) {
		ut_image_wait(i, &out);
	} else {
		ut_image_sample(i, &out);
		t->samples++;
	}
}

bool ut_taker_finds_python(struct ut_taker *t)
{
	bool found = false;

	for (size_t i = 0; i < t->images.count; i++)
		found |= ut_weaver_finds(t->images.items[i], &t->images.session);
	return found;
}

void ut_taker_init(struct ut_taker *t, const char *dir)
{
	t->self = (uint32_t)getpid();
	t->last = ut_make(UT_TAKER_THREADS * sizeof(*t->last));
	ut_images_init(&t->images, dir);
	ut_unwinder_init(&t->unwinder, &t->images.modules);
	ut_weaver_init(&t->weaver);
}

void ut_taker_release(struct ut_taker *t)
{
	free(t->last);
	ut_images_release(&t->images);
	ut_unwinder_release(&t->unwinder);
	ut_weaver_release(&t->weaver);
}
