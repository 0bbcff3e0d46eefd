/*
 * own_signal.c - the program's own use of our signal: what it sets it finds again, and its handler
 * is called for signals that others send. Loops that reset all signals do no harm.
 */
#include "timer/timer.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define COPIES 8u

EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old);
EXPORT sighandler_t signal(int sig, sighandler_t handler);

/* What the program has set. A handler may read it while another thread sets it: never in place. */
static struct sigaction theirs[COPIES];
static _Atomic uint32_t newest;
static _Atomic bool taken;

static int next_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	static _Atomic(void *) cache;
	void *found = atomic_load_explicit(&cache, memory_order_relaxed);
	int (*next)(int, const struct sigaction *, struct sigaction *);

	if (!found) {
		found = dlsym(RTLD_NEXT, "sigaction");
		atomic_store_explicit(&cache, found, memory_order_relaxed);
	}
	memcpy(&next, &found, sizeof(found));
	if (next)
		return next(sig, act, old);
	errno = ENOSYS;
	return -1;
}

bool ut_timer_signal_take(void)
{
	struct sigaction ours = { .sa_sigaction = ut_timer_tick,
				  .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	sigfillset(&ours.sa_mask); /* a handler that leaves by longjmp() would take our slot along
				    */
	if (next_sigaction(UT_TIMER_SIGNAL, &ours, &theirs[0]))
		return false;
	atomic_store(&taken, true);
	return true;
}

static const struct sigaction *current(void)
{
	return &theirs[atomic_load(&newest) % COPIES];
}

static bool has_handler(const struct sigaction *act)
{
	return act->sa_flags & SA_SIGINFO ||
	       (act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN);
}

/* A handler of the program's could not return either: it is not called for timers that go on. */
void ut_timer_signal_give_back(void)
{
	const struct sigaction none = { .sa_handler = SIG_IGN };
	struct sigaction act;

	if (!atomic_load(&taken))
		return;
	act = *current();
	if (has_handler(&act))
		next_sigaction(UT_TIMER_SIGNAL, &none, NULL);
	else if (!next_sigaction(UT_TIMER_SIGNAL, &act, NULL))
		atomic_store(&taken, false);
}

static void own_signal_set(const struct sigaction *act)
{
	uint32_t next = atomic_load(&newest) + 1;

	theirs[next % COPIES] = *act;
	atomic_store(&newest, next);
}

void ut_timer_signal_pass(int sig, siginfo_t *info, void *context)
{
	const struct sigaction act = *current();

	if (act.sa_flags & SA_RESETHAND)
		own_signal_set(&(struct sigaction){ .sa_handler = SIG_DFL });
	if (act.sa_flags & SA_SIGINFO)
		act.sa_sigaction(sig, info, context);
	else if (has_handler(&act))
		act.sa_handler(sig);
}

/*
 * What the kernel puts on a stack for a signal has no room a second time on small alternate stacks:
 * our signal waits while a handler is on one. Handlers that do not return, and would keep it
 * blocked, have SA_NODEFER.
 */
static int set_other(int sig, const struct sigaction *act, struct sigaction *old)
{
	static _Atomic uint64_t added; /* a bit for each signal: ours is in its mask by us */
	uint64_t bit = sig > 0 && sig <= 64 ? UINT64_C(1) << (sig - 1) : 0;
	bool was_added = atomic_load(&added) & bit, adds;
	struct sigaction with;
	int rc;

	adds = act && has_handler(act) && act->sa_flags & SA_ONSTACK &&
	       !(act->sa_flags & SA_NODEFER) && !sigismember(&act->sa_mask, UT_TIMER_SIGNAL);
	if (adds) {
		with = *act;
		sigaddset(&with.sa_mask, UT_TIMER_SIGNAL);
	}
	rc = next_sigaction(sig, adds ? &with : act, old);
	if (rc)
		return rc;
	if (old && was_added)
		sigdelset(&old->sa_mask, UT_TIMER_SIGNAL);
	if (act && adds)
		atomic_fetch_or(&added, bit);
	else if (act)
		atomic_fetch_and(&added, ~bit);
	return 0;
}

int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction before;

	if (!atomic_load(&taken))
		return next_sigaction(sig, act, old);
	if (sig != UT_TIMER_SIGNAL)
		return set_other(sig, act, old);
	before = *current();
	if (act)
		own_signal_set(act);
	if (old)
		*old = before;
	return 0;
}

sighandler_t signal(int sig, sighandler_t handler)
{
	static _Atomic(void *) cache;
	void *found = atomic_load_explicit(&cache, memory_order_relaxed);
	sighandler_t (*next)(int, sighandler_t), before;

	if (sig == UT_TIMER_SIGNAL && atomic_load(&taken)) {
		before = current()->sa_handler;
		own_signal_set(
			&(struct sigaction){ .sa_handler = handler, .sa_flags = SA_RESTART });
		return before;
	}
	if (!found) {
		found = dlsym(RTLD_NEXT, "signal");
		atomic_store_explicit(&cache, found, memory_order_relaxed);
	}
	memcpy(&next, &found, sizeof(found));
	return next ? next(sig, handler) : SIG_ERR;
}
