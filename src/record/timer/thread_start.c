/*
 * thread_start.c - each new thread gets its timer before its first function runs.
 *
 * pthread_create() is ours: it starts the thread in timer_thread_start_begin(), which arms the
 * timer and jumps to the program's function. What timer_thread_start_begin() needs to know waits in
 * a slot; without a free one, or where nothing is sampled, the thread starts as it would.
 */
#include "timer/timer.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "wire/sandbox.h"
#include "wire/signals.h"

#define EXPORT      __attribute__((visibility("default")))
#define WAITING     1024u
#define STACK_USUAL ((size_t)8 << 20)
#define UNSURE      ((size_t)64 << 10)

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);

struct waiting {
	_Atomic bool used;
	void *(*run)(void *);
	void *arg;
	size_t stack;
};

static struct waiting waiting[WAITING];
static _Atomic uint32_t next_waiting;
static size_t usual_stack = STACK_USUAL;

void ut_timer_threads_init(void)
{
	pthread_attr_t attr;
	size_t size;

	if (pthread_attr_init(&attr))
		return;
	if (!pthread_attr_getstacksize(&attr, &size) && size)
		usual_stack = size;
	pthread_attr_destroy(&attr);
}

static struct waiting *timer_thread_start_claim(void)
{
	for (uint32_t i = 0; i < WAITING; i++) {
		struct waiting *w = &waiting[atomic_fetch_add(&next_waiting, 1) % WAITING];
		bool expected = false;

		if (atomic_compare_exchange_strong(&w->used, &expected, true))
			return w;
	}
	return NULL;
}

/*
 * The stack ends below what the C library keeps for the thread. Where it begins is not quite known
 * (a guard, variables of the thread): its innermost part is left out, and so are small stacks.
 */
static void arm(size_t stack)
{
	uintptr_t high = (uintptr_t)pthread_self();
	size_t unsure = stack / 4 > UNSURE ? stack / 4 : UNSURE;

	ut_timer_arm(stack > unsure ? high - (stack - unsure) : high, high);
}

static void *timer_thread_start_begin(void *arg)
{
	struct waiting *w = arg;
	void *(*run)(void *) = w->run;
	void *program_arg = w->arg;
	size_t stack = w->stack;

	atomic_store(&w->used, false);
	/* Programs block all signals around pthread_create() to keep theirs away from workers. */
	if (!ut_sandbox_closed())
		ut_signals_let_in(UT_TIMER_SIGNAL);
	arm(stack);
	return run(program_arg);
}

int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static _Atomic(void *) cache;
	void *found = atomic_load_explicit(&cache, memory_order_relaxed);
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct waiting *w;
	int rc;

	if (!found) {
		found = dlsym(RTLD_NEXT, "pthread_create");
		atomic_store_explicit(&cache, found, memory_order_relaxed);
	}
	memcpy(&next, &found, sizeof(found));
	if (!next)
		return ENOSYS;
	w = ut_timer_on() && !ut_timer_me.locked_in ? timer_thread_start_claim() : NULL;
	if (!w)
		return next(id, attr, run, arg);
	w->run = run;
	w->arg = arg;
	if (!attr || pthread_attr_getstacksize(attr, &w->stack) || !w->stack)
		w->stack = usual_stack;
	rc = next(id, attr, timer_thread_start_begin, w);
	if (rc)
		atomic_store(&w->used, false);
	return rc;
}
