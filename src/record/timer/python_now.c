/*
 * python_now.c - see timer.h: which Python functions the interrupted thread runs.
 *
 * They are read here, at the moment of the sample, since from outside it is always later: on a busy
 * machine up to a third of the functions have returned by then. The frames are this thread's, so
 * nobody changes them meanwhile; but it may be interrupted anywhere, also while it links one, and
 * what is known of them is known from headers of versions. So memory other than the thread's stack
 * is asked about before it is read. That takes system calls: none where the program has locked
 * itself in since it began.
 */
#include <dlfcn.h>
#include <string.h>

#include "base/readable.h"
#include "symbol/python_frames.h"
#include "timer/timer.h"
#include "wire/sandbox.h"

#define PAGES      16u /* that one look remembers */
#define MOST_TRIES 2000u

static struct {
	uint64_t state; /* address of the interpreter's state */
	uint32_t version;
	void *(*this_thread)(void); /* PyGILState_GetThisThreadState(); NULL = there is no Python */
	struct ut_python_layout layout;
	_Atomic bool ready; /* the layout is known */
	_Atomic bool busy;  /* a thread finds it out */
	uint32_t tries;
} p;

/* ---- memory -------------------------------------------------------------------------------- */

/* What is known to be there. */
struct look {
	uintptr_t low, high; /* of the thread's stack */
	uintptr_t known[PAGES];
	unsigned int next;
};

static bool is_there(struct look *l, uintptr_t page)
{
	for (unsigned int i = 0; i < PAGES; i++) {
		if (l->known[i] == page)
			return true;
	}
	if (!ut_readable_page(page))
		return false;
	l->known[l->next++ % PAGES] = page;
	return true;
}

static bool read_here(void *ctx, uint64_t address, void *to, size_t len)
{
	struct look *l = ctx;
	uintptr_t page = address & ~(uintptr_t)(UT_READABLE_PAGE - 1), end = address + len;

	if (address < UT_READABLE_PAGE || end < address || end > UINTPTR_MAX / 2)
		return false;
	for (; (address < l->low || end > l->high) && page < end; page += UT_READABLE_PAGE) {
		if (!is_there(l, page))
			return false;
	}
	memcpy(to, (const void *)(uintptr_t)address, len);
	return true;
}

/* ---- frames -------------------------------------------------------------------------------- */

/* It starts like any program: for a while there is nothing to see. */
static bool python_now_is_ready(const struct ut_python_memory *m)
{
	if (atomic_load_explicit(&p.ready, memory_order_acquire))
		return true;
	if (atomic_exchange(&p.busy, true))
		return false;
	if (p.tries < MOST_TRIES) {
		p.tries++;
		if (ut_python_layout(m, p.state, p.version, ut_timer_me.tid, &p.layout))
			atomic_store_explicit(&p.ready, true, memory_order_release);
	}
	atomic_store(&p.busy, false);
	return atomic_load(&p.ready);
}

static void take_call(const struct ut_python_memory *m, struct ut_timer_python *to,
		      const struct ut_python_seen *seen)
{
	uint64_t check = 0;

	if (seen->code && !ut_python_fingerprint(&p.layout, m, seen->code, &check))
		check = 0; /* nothing that is found there later is this one */
	if (seen->code)
		to->calls[to->count++] = (struct ut_timer_call){
			.code = seen->code,
			.check = check,
			.at = seen->at < UINT32_MAX ? (uint32_t)seen->at : UINT32_MAX,
			.first = seen->first,
		};
	else if (to->count) /* no function, but what entered the loop */
		to->calls[to->count - 1].first = 1;
}

static void take_calls(const struct ut_python_memory *m, uint64_t thread,
		       struct ut_timer_python *to)
{
	uint64_t frame = ut_python_innermost(&p.layout, m, thread);
	struct ut_python_seen seen;

	for (unsigned int i = 0; frame && i < 2 * UT_TIMER_PYTHON; i++) {
		if (to->count == UT_TIMER_PYTHON)
			break;
		if (!ut_python_see(&p.layout, m, frame, &seen)) {
			frame = 0;
			break;
		}
		take_call(m, to, &seen);
		frame = seen.previous;
	}
	to->rest = frame;
}

void ut_timer_python_take(struct ut_timer_python *to, uintptr_t sp)
{
	struct look l = { .next = 0 };
	const struct ut_python_memory m = { read_here, &l };
	void *thread;

	to->known = to->count = 0;
	to->rest = 0;
	if (!p.this_thread || ut_sandbox_closed())
		return;
	if (sp >= ut_timer_me.low && sp < ut_timer_me.high) {
		l.low = sp;
		l.high = ut_timer_me.high;
	}
	thread = p.this_thread();
	if (thread && !python_now_is_ready(&m))
		return;
	if (thread)
		take_calls(&m, (uint64_t)(uintptr_t)thread, to);
	to->known = 1;
}

/* ---- finding it ---------------------------------------------------------------------------- */

void ut_timer_python_find(void)
{
	void *state = dlsym(RTLD_DEFAULT, "_PyRuntime");
	void *thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	void *version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	const char *(*get_version)(void);

	if (!state || !thread || !version)
		return;
	memcpy(&get_version, &version, sizeof(version));
	p.state = (uint64_t)(uintptr_t)state;
	p.version = ut_python_version(get_version());
	memcpy(&p.this_thread, &thread, sizeof(thread));
}
