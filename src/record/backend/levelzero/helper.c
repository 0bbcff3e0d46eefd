/* helper.c - see helper.h; and the lock of ze_run.h. */
#include "backend/levelzero/helper.h"

#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/helper_thread.h"
#include "backend/levelzero/ze_measure.h"

#define PATIENCE UINT64_C(100000000) /* ns, with our own thread at the end */

/* ---- the lock ------------------------------------------------------------------------------ */

static _Atomic uint32_t owner; /* thread; 0 = nobody */

static _Thread_local uint32_t thread_id;

uint32_t ut_ze_thread(void)
{
	if (!thread_id)
		thread_id = (uint32_t)syscall(SYS_gettid);
	return thread_id;
}

bool ut_ze_try_lock(void)
{
	uint32_t nobody = 0;

	return atomic_compare_exchange_strong_explicit(&owner, &nobody, ut_ze_thread(),
						       memory_order_acquire, memory_order_relaxed);
}

bool ut_ze_lock(uint64_t patience_ns)
{
	uint64_t since = 0, now;

	while (!ut_ze_try_lock()) {
		if (atomic_load_explicit(&owner, memory_order_relaxed) == ut_ze_thread())
			return false; /* a signal handler, in the middle of it */
		now = ut_ze.host->now();
		since = since ? since : now;
		if (now - since > patience_ns)
			return false;
		sched_yield();
	}
	return true;
}

void ut_ze_unlock(void)
{
	atomic_store_explicit(&owner, 0, memory_order_release);
}

/* ---- the thread ---------------------------------------------------------------------------- */

static uint64_t count_waiting(void)
{
	uint64_t waiting = 0;

	for (struct ut_ze_stream *s = ut_ze_stream_last(); s; s = s->older)
		waiting += atomic_load(&s->waiting);
	return waiting;
}

static struct ut_helper helper = { .name = "unitrace-ze",
				   .look = ut_ze_helper_look,
				   .waiting = count_waiting,
				   .at_exit = ut_ze_helper_end };

void ut_ze_helper_look(void)
{
	if (!ut_ze_try_lock())
		return;
	for (struct ut_ze_stream *s = ut_ze_stream_last(); !atomic_load(&helper.ended) && s;
	     s = s->older) {
		if (atomic_load(&s->waiting))
			(void)ut_ze_stream_visit(s, 0);
	}
	ut_ze_unlock();
}

void ut_ze_helper_wake(void)
{
	ut_helper_wake(&helper);
}

/* ---- the end ------------------------------------------------------------------------------- */

static void helper_note(uint64_t count, const char *what)
{
	char text[200];

	if (!count)
		return;
	snprintf(text, sizeof(text), "Level Zero: %llu commands %s", (unsigned long long)count,
		 what);
	ut_ze.host->note(text);
}

static void note_losses(void)
{
	uint64_t untimed, dropped, unfinished = 0;

	for (struct ut_ze_stream *s = ut_ze_stream_last(); s; s = s->older) {
		for (struct ut_ze_run *r = s->first; r; r = r->next)
			unfinished += r->silent ? 0 : r->left;
	}
	ut_ze_run_losses(&untimed, &dropped);
	ut_ze_query_note_losses();
	helper_note(unfinished, "had not finished when the process ended");
	helper_note(dropped, "are missing: there was no memory for them");
	helper_note(untimed, "stand at their calls: the driver gave no times");
}

void ut_ze_helper_end(void)
{
	uint64_t waiting;

	if (atomic_load(&helper.ended))
		return;
	ut_ze_streams_end();
	waiting = ut_helper_end(&helper, ut_ze_helper_look);
	/* Our thread must be out of the driver before that goes; it does not come back. */
	if (ut_ze_lock(PATIENCE)) {
		note_losses();
		ut_ze_unlock();
	} else {
		helper_note(waiting,
			    "or more had not finished when the process ended inside the driver");
	}
}

void ut_ze_helper_forked(void)
{
	ut_ze_runs_forked();
	thread_id = 0;
	atomic_store(&owner, 0);
	ut_helper_forked(&helper);
}
