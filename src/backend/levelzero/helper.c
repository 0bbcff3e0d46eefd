/* helper.c - see helper.h; and the lock of ze_run.h. */
#include "backend/levelzero/helper.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/levelzero/ze_measure.h"

#define MS             UINT64_C(1000000) /* ns */
#define TICK           (10 * MS)
#define QUIET_TICKS    100u /* without a command, until it goes to sleep */
#define STACK          ((size_t)256 << 10)
#define NO_PROGRESS_MS 100u
#define LONGEST_MS     1000u

static _Atomic bool ended; /* nobody asks the driver any more */

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

static struct {
	atomic_flag started;
	_Atomic bool runs, asleep;
	sem_t wake;
} helper;

static uint64_t count_waiting(void)
{
	uint64_t waiting = 0;

	for (struct ut_ze_stream *s = ut_ze_stream_last(); s; s = s->older)
		waiting += atomic_load(&s->waiting);
	return waiting;
}

void ut_ze_helper_look(void)
{
	if (!ut_ze_try_lock())
		return;
	for (struct ut_ze_stream *s = ut_ze_stream_last(); !atomic_load(&ended) && s;
	     s = s->older) {
		if (atomic_load(&s->waiting))
			(void)ut_ze_stream_visit(s, 0);
	}
	ut_ze_unlock();
}

static void *help(void *arg)
{
	const struct timespec tick = { 0, TICK };
	uint32_t quiet = 0;

	while (!atomic_load(&ended)) {
		nanosleep(&tick, NULL);
		ut_ze_helper_look();
		quiet = count_waiting() ? 0 : quiet + 1;
		if (quiet < QUIET_TICKS)
			continue;
		atomic_store(&helper.asleep, true);
		if (!count_waiting()) {
			while (sem_wait(&helper.wake) && errno == EINTR)
				;
		}
		atomic_store(&helper.asleep, false);
		quiet = 0;
	}
	return arg;
}

/* A thread that no signal of the program's will ever find. */
static void start_helper(void)
{
	int saved = errno;
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;

	sem_init(&helper.wake, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	if (!pthread_create(&thread, &attr, help, NULL)) {
		atomic_store(&helper.runs, true);
		pthread_setname_np(thread, "unitrace-ze");
	}
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
}

void ut_ze_helper_wake(void)
{
	if (UT_UNLIKELY(!atomic_flag_test_and_set(&helper.started))) {
		/* As late as possible, so that it is called before the driver's own. */
		atexit(ut_ze_helper_end);
		start_helper();
	}
	if (UT_UNLIKELY(atomic_load_explicit(&helper.asleep, memory_order_seq_cst)))
		sem_post(&helper.wake);
}

/* ---- the end ------------------------------------------------------------------------------- */

static void note(uint64_t count, const char *what)
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
	note(unfinished, "had not finished when the process ended");
	note(dropped, "are missing: there was no memory for them");
	note(untimed, "stand at their calls: the driver gave no times");
}

/*
 * Without us the program would be gone by now, so the wait is short and ends when nothing moves.
 * Our thread does the asking: this one may have been inside the driver when a signal handler called
 * exit(), and what it holds there nobody will ever let go.
 */
void ut_ze_helper_end(void)
{
	const struct timespec step = { 0, MS };
	uint64_t waiting = count_waiting(), before = waiting;

	if (atomic_load(&ended))
		return;
	ut_ze_streams_end();
	if (waiting && atomic_load(&helper.asleep))
		sem_post(&helper.wake);
	for (uint32_t ms = 0, idle = 0; waiting && ms < LONGEST_MS && idle < NO_PROGRESS_MS; ms++) {
		if (!atomic_load(&helper.runs))
			ut_ze_helper_look();
		nanosleep(&step, NULL);
		waiting = count_waiting();
		idle = waiting < before ? 0 : idle + 1;
		before = waiting;
	}
	atomic_store(&ended, true);
	/* Our thread must be out of the driver before that goes; it does not come back. */
	if (ut_ze_lock(NO_PROGRESS_MS * MS)) {
		note_losses();
		ut_ze_unlock();
	} else {
		note(waiting, "or more had not finished when the process ended inside the driver");
	}
}

void ut_ze_helper_forked(void)
{
	ut_ze_runs_forked();
	thread_id = 0;
	atomic_store(&owner, 0);
	atomic_flag_clear(&helper.started);
	atomic_store(&helper.runs, false);
	atomic_store(&helper.asleep, false);
}
