/* loading.c - see loading.h. System calls go straight to the kernel: base/raw_syscall.h. */
#include "sdk/loading.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#include "base/call_on_stack.h"
#include "base/raw_syscall.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define KERNEL_SIGSET 8     /* bytes of a set of signals, for the kernel */
#define LOADERS       16u   /* threads that load at once */
#define YIELDS        50u   /* before a wait begins to sleep */
#define SLEEPS        2500u /* 0.5 s and more: then a wait gives up */
#define SLEEP_NS      200000
#define STACK         ((size_t)1 << 20) /* for a collector that starts; touched pages count */
#define GUARD         ((size_t)65536)   /* below it, whatever the size of a page */

/* Zero in a forked child: its threads are all gone but the one that forked. */
static alignas(4096) union {
	struct {
		_Atomic uintptr_t owner; /* the thread that has the lock; 0 = none */
		_Atomic uint32_t depth;  /* how often it has it */
		_Atomic uintptr_t claims[UT_ITT_CLAIMS];
		_Atomic uint32_t loading; /* a bit for each slot in use */
		_Atomic uint32_t forking; /* threads inside fork() */
	};
	char page[4096];
} shared;

/* Copied by fork. A thread without its bit in shared.loading was left behind in the parent. */
static _Atomic uintptr_t loaders[LOADERS];
static uint64_t loaders_signals[LOADERS];

static _Atomic bool is_protected, has_handlers;

static uintptr_t self(void)
{
	return (uintptr_t)pthread_self();
}

const char *ut_itt_env(const char *name)
{
	size_t len = strlen(name);

	if (getauxval(AT_SECURE))
		return NULL;
	for (char **entry = environ; entry && *entry; entry++)
		if (!strncmp(*entry, name, len) && (*entry)[len] == '=')
			return *entry + len + 1;
	return NULL;
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* Sleeps after a while: who is waited for may have a lower priority. False: long enough. */
static bool wait_more(uint32_t *tries)
{
	const struct timespec pause_time = { 0, SLEEP_NS };

	if (++*tries <= YIELDS)
		ut_raw(SYS_sched_yield, 0);
	else
		ut_raw(SYS_nanosleep, (long)&pause_time, 0);
	return *tries < YIELDS + SLEEPS;
}

/* ---- signals ------------------------------------------------------------------------------- */

/*
 * A handler that calls ITT meanwhile would find a collector that is half bound, or a list that is
 * half changed. Signals that a fault raises do not wait.
 */
static void hold_signals(uint64_t *before)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	uint64_t set = UINT64_MAX;

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		set &= ~(UINT64_C(1) << (faults[i] - 1));
	ut_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)before, KERNEL_SIGSET);
}

static void release_signals(const uint64_t *before)
{
	ut_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)before, 0, KERNEL_SIGSET);
}

/* ---- fork ---------------------------------------------------------------------------------- */

static uint32_t own_loads(void)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < LOADERS; i++)
		bits |= (uint32_t)(atomic_load(&loaders[i]) == self()) << i;
	return bits;
}

static bool others_are_busy(void)
{
	for (size_t i = 0; i < UT_ITT_CLAIMS; i++) {
		uintptr_t owner = atomic_load(&shared.claims[i]);

		if (owner && owner != self())
			return true;
	}
	return atomic_load(&shared.loading) & ~own_loads();
}

/*
 * A child that is forked while another thread is inside the loader cannot load anything any more:
 * so fork waits for that, but not for ever, since that thread may wait for what this one holds.
 */
static void before_fork(void)
{
	uint32_t tries = 0;

	atomic_fetch_add(&shared.forking, 1);
	while (others_are_busy() && wait_more(&tries))
		continue;
}

static void after_fork(void)
{
	uint32_t now = atomic_load(&shared.forking);

	while (now && !atomic_compare_exchange_weak(&shared.forking, &now, now - 1))
		continue;
}

static void in_child(void)
{
	uint32_t mine = own_loads();

	memset(&shared, 0, sizeof(shared)); /* for kernels that have not done it */
	for (uint32_t i = 0; i < LOADERS; i++)
		if (mine >> i & 1)
			release_signals(&loaders_signals[i]); /* forked by what is being loaded */
}

/* Whoever returns from here has them. Twice does no harm. */
static void add_handlers(void)
{
	if (atomic_load(&has_handlers))
		return;
	pthread_atfork(before_fork, after_fork, in_child);
	atomic_store(&has_handlers, true);
}

/*
 * Before the program's own constructors, which may start threads and fork, where a collector may
 * come; a process that nobody traces needs none.
 */
__attribute__((constructor(101))) static void begin(void)
{
	static const char *const names[] = { "INTEL_LIBITTNOTIFY64", "INTEL_LIBITTNOTIFY32",
					     "INTEL_ITTNOTIFY_GROUPS", "INTEL_JIT_PROFILER64",
					     "INTEL_JIT_PROFILER32" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (ut_itt_env(names[i]))
			add_handlers();
}

static void protect(void)
{
	if (atomic_load(&is_protected))
		return;
	ut_raw(SYS_madvise, (long)&shared, sizeof(shared), MADV_WIPEONFORK);
	atomic_store(&is_protected, true);
}

/* ---- loading ------------------------------------------------------------------------------- */

static bool left_behind(void)
{
	uint32_t here = atomic_load(&shared.loading);

	for (uint32_t i = 0; i < LOADERS; i++)
		if (!(here >> i & 1) && atomic_load(&loaders[i]))
			return true;
	return false;
}

/* The bit first and last: a slot without its bit is that of a thread that is not here. */
static bool take_slot(unsigned int *slot, uint64_t signals)
{
	uint32_t bits = atomic_load(&shared.loading);

	do {
		for (*slot = 0; *slot < LOADERS && bits >> *slot & 1; ++*slot)
			continue;
		if (*slot == LOADERS)
			return false;
	} while (!atomic_compare_exchange_weak(&shared.loading, &bits, bits | 1u << *slot));
	loaders_signals[*slot] = signals;
	atomic_store(&loaders[*slot], self());
	return true;
}

static void leave_slot(unsigned int slot)
{
	atomic_store(&loaders[slot], 0);
	atomic_fetch_and(&shared.loading, ~(1u << slot));
}

enum ut_itt_may_load ut_itt_load_begin(struct ut_itt_load *l)
{
	bool patient = true;

	add_handlers();
	protect();
	for (uint32_t tries = 0;; patient = patient && wait_more(&tries)) {
		hold_signals(&l->signals);
		if (own_loads() || left_behind()) {
			release_signals(&l->signals);
			return own_loads() ? UT_ITT_LOADS_ALREADY : UT_ITT_NEVER;
		}
		if (take_slot(&l->slot, l->signals)) {
			/* fork() looks at the slots after it has said so: one of us sees the other
			 */
			if (!atomic_load(&shared.forking) || !patient)
				return UT_ITT_MAY_LOAD;
			leave_slot(l->slot);
		} else if (!patient) {
			release_signals(&l->signals);
			return UT_ITT_LOADS_ALREADY;
		}
		release_signals(&l->signals);
	}
}

void ut_itt_load_end(const struct ut_itt_load *l)
{
	uint64_t before = l->signals;

	leave_slot(l->slot);
	release_signals(&before);
}

void ut_itt_load_run(void (*fn)(void *), void *arg)
{
	const int map_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
	long place = ut_raw(SYS_mmap, 0, GUARD + STACK, PROT_NONE, map_flags, -1, 0);

	if (place < 0 && place > -4096) {
		fn(arg);
		return;
	}
	if (ut_raw(SYS_mprotect, place + (long)GUARD, STACK, PROT_READ | PROT_WRITE))
		fn(arg);
	else
		ut_call_on_stack((char *)place + GUARD, STACK, fn, arg);
	ut_raw(SYS_munmap, place, GUARD + STACK);
}

/* ---- claims and the lock ------------------------------------------------------------------- */

bool ut_itt_claim(enum ut_itt_claim which)
{
	uintptr_t none = 0;

	protect();
	return atomic_compare_exchange_strong(&shared.claims[which], &none, self());
}

void ut_itt_unclaim(enum ut_itt_claim which)
{
	atomic_store(&shared.claims[which], 0);
}

bool ut_itt_bound_by_others(void)
{
	uintptr_t owner = atomic_load(&shared.claims[UT_ITT_BIND]);

	return owner && owner != self();
}

bool ut_itt_claim_wait(enum ut_itt_claim which)
{
	uint32_t tries = 0;

	for (uintptr_t owner; (owner = atomic_load(&shared.claims[which]));)
		if (owner == self() || !wait_more(&tries))
			return false;
	return true;
}

bool ut_itt_lock(uint64_t *signals)
{
	uint32_t tries = 0;

	protect();
	do {
		uintptr_t none = 0;

		hold_signals(signals);
		if (atomic_load(&shared.owner) == self() ||
		    atomic_compare_exchange_strong(&shared.owner, &none, self())) {
			atomic_fetch_add(&shared.depth, 1);
			return true;
		}
		release_signals(signals);
	} while (wait_more(&tries));
	return false;
}

void ut_itt_unlock(const uint64_t *signals)
{
	uint64_t before = *signals;

	/* 0 where a handler has forked: the child's page is clear */
	if (atomic_load(&shared.depth) && atomic_fetch_sub(&shared.depth, 1) == 1)
		atomic_store(&shared.owner, 0);
	release_signals(&before);
}
