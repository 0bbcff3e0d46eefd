/* helper_thread.c - see helper_thread.h. */
#include "backend/helper_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/likely.h"

#define MS             1000000L /* ns */
#define TICK           (10 * MS)
#define QUIET_TICKS    100u /* without a command, until it goes to sleep */
#define STACK          ((size_t)256 << 10)
#define NO_PROGRESS_MS 100u
#define LONGEST_MS     1000u

bool ut_guest_thread(const char *name, size_t stack, void *(*run)(void *), void *arg)
{
	int saved = errno;
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	bool made;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, stack);
	made = !pthread_create(&thread, &attr, run, arg);
	if (made)
		pthread_setname_np(thread, name);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return made;
}

static void *help(void *arg)
{
	const struct timespec tick = { 0, TICK };
	struct ut_helper *h = arg;
	uint32_t quiet = 0;

	while (!atomic_load(&h->ended)) {
		nanosleep(&tick, NULL);
		h->look();
		quiet = h->waiting() ? 0 : quiet + 1;
		if (quiet < QUIET_TICKS)
			continue;
		atomic_store(&h->asleep, true);
		if (!h->waiting()) {
			while (sem_wait(&h->wake) && errno == EINTR)
				;
		}
		atomic_store(&h->asleep, false);
		quiet = 0;
	}
	return NULL;
}

static void helper_thread_start(struct ut_helper *h)
{
	sem_init(&h->wake, 0, 0);
	/* As late as possible, so that it is called before the runtime's own. */
	atexit(h->at_exit);
	if (ut_guest_thread(h->name, STACK, help, h))
		atomic_store(&h->runs, true);
}

void ut_helper_wake(struct ut_helper *h)
{
	if (UT_UNLIKELY(!atomic_flag_test_and_set(&h->started)))
		helper_thread_start(h);
	if (UT_UNLIKELY(atomic_load_explicit(&h->asleep, memory_order_seq_cst)))
		sem_post(&h->wake);
}

/*
 * Without us the program would be gone by now, so the wait is short and ends when nothing moves.
 * Our thread does the asking: this one may have been inside the runtime when a signal handler
 * called exit(), and what it holds there nobody will ever let go.
 */
uint64_t ut_helper_end(struct ut_helper *h, void (*alone)(void))
{
	const struct timespec step = { 0, MS };
	uint64_t waiting = h->waiting(), before = waiting;

	if (waiting && atomic_load(&h->asleep))
		sem_post(&h->wake);
	for (uint32_t ms = 0, idle = 0; waiting && ms < LONGEST_MS && idle < NO_PROGRESS_MS; ms++) {
		if (!atomic_load(&h->runs))
			alone();
		nanosleep(&step, NULL);
		waiting = h->waiting();
		idle = waiting < before ? 0 : idle + 1;
		before = waiting;
	}
	atomic_store(&h->ended, true);
	return waiting;
}

void ut_helper_forked(struct ut_helper *h)
{
	atomic_flag_clear(&h->started);
	atomic_store(&h->runs, false);
	atomic_store(&h->asleep, false);
}
