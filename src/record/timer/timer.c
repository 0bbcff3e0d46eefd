/* timer.c - see timer.h: who is sampled, and timers. */
#include "timer/timer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "wire/clock.h"
#include "wire/control.h"
#include "wire/sandbox.h"
#include "wire/spare_stack.h"
#include "wire/sys.h"

#define KEYS_WITHOUT_MALLOC 32                      /* as in collect/gate.c */
#define SIGNAL_STACK        65536u                  /* more than any runtime asks for */
#define STACK_MOST          ((uintptr_t)1024 << 20) /* of a first thread without limits */

struct ut_timer ut_timer;
_Thread_local struct ut_timer_thread ut_timer_me;

static _Atomic bool asked;
static pthread_key_t key;
static bool has_key;

/* ---- one thread ---------------------------------------------------------------------------- */

/*
 * Stacks of threads and coroutines may be smaller than what the kernel puts there for a signal, up
 * to 11 KiB on CPUs with wide registers: ours comes on a stack of its own, unless there is one.
 */
static void give_signal_stack(struct ut_timer_thread *me)
{
	stack_t now = { .ss_flags = 0 }, ours = { .ss_size = SIGNAL_STACK };

	if (syscall(SYS_sigaltstack, NULL, &now) || !(now.ss_flags & SS_DISABLE))
		return;
	ours.ss_sp = ut_sys_mmap(SIGNAL_STACK, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (ours.ss_sp == MAP_FAILED)
		return;
	if (syscall(SYS_sigaltstack, &ours, NULL))
		ut_sys_munmap(ours.ss_sp, SIGNAL_STACK);
	else
		me->signal_stack = ours.ss_sp;
}

/* Unless the program has another one by now, or we stand on it. */
static void take_signal_stack_back(struct ut_timer_thread *me)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now = { .ss_flags = 0 };

	if (me->signal_stack && !syscall(SYS_sigaltstack, NULL, &now) &&
	    (now.ss_sp != me->signal_stack || !syscall(SYS_sigaltstack, &none, NULL)))
		ut_sys_munmap(me->signal_stack, SIGNAL_STACK);
	me->signal_stack = NULL;
}

void ut_timer_arm(uintptr_t low, uintptr_t high)
{
	struct ut_timer_thread *me = &ut_timer_me;
	struct itimerspec every = { .it_value = { (time_t)(ut_timer.period / 1000000000u),
						  (long)(ut_timer.period % 1000000000u) } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = UT_TIMER_SIGNAL };
	int saved = errno;
	bool ok;

	if (me->armed || me->locked_in || ut_sandbox_closed())
		return;
	me->tid = (uint32_t)syscall(SYS_gettid);
	me->born = ut_clock_ns(CLOCK_MONOTONIC);
	me->low = low;
	me->high = high;
	give_signal_stack(me);
	event.sigev_value.sival_ptr = &ut_timer;
	event._sigev_un._tid = (int)me->tid;
	every.it_interval = every.it_value;
	ok = !syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &me->id);
	if (ok) {
		me->armed = true;
		ok = !syscall(SYS_timer_settime, me->id, 0, &every, NULL);
	}
	if (has_key)
		pthread_setspecific(key, me);
	if (!ok)
		atomic_fetch_add(&ut_timer.unarmed, 1);
	errno = saved;
}

void ut_timer_disarm(void)
{
	int saved = errno;

	if (!ut_sandbox_closed()) {
		if (ut_timer_me.armed) {
			syscall(SYS_timer_delete, ut_timer_me.id);
			ut_timer_end();
		}
		take_signal_stack_back(&ut_timer_me);
	} else if (ut_timer_me.armed && ut_timer_me.may_delete) {
		syscall(SYS_timer_delete, ut_timer_me.id);
	}
	ut_timer_me.armed = false;
	errno = saved;
}

static void thread_ends(void *arg)
{
	(void)arg;
	ut_timer_disarm();
}

/* Nothing else lies so far below the first thread's stack: the kernel lets it grow down there. */
static void arm_first(void)
{
	struct rlimit limit = { .rlim_cur = STACK_MOST };
	uintptr_t most, top;

	syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit);
	most = limit.rlim_cur < STACK_MOST ? (uintptr_t)limit.rlim_cur : STACK_MOST;
	/* the kernel has put these bytes there, above all that the program pushes */
	top = (uintptr_t)getauxval(AT_RANDOM);
	if (top > most)
		ut_timer_arm(top - most, top);
}

/* ---- the process --------------------------------------------------------------------------- */

static bool wanted_here(const struct ut_control *c)
{
	return c->timer_period && ((c->flags & UT_CONTROL_FOLLOW_CHILDREN) ||
				   atomic_load(&c->root_pid) == (uint32_t)getpid());
}

/* Timers are not inherited, and the file is the parent's. */
static void forked_child(void)
{
	struct ut_timer_thread me = ut_timer_me;

	ut_timer_me.armed = false;
	atomic_store(&ut_timer.ring, NULL);
	atomic_store(&ut_timer.making, false);
	atomic_store(&ut_timer.unarmed, 0);
	atomic_store(&ut_timer.ticking, 0);
	ut_spare_stack_forget();
	atomic_store(&ut_timer.ended, 0);
	if (!ut_timer.control || !wanted_here(ut_timer.control) || ut_sandbox_closed())
		return;
	ut_sandbox_look();
	ut_timer.start = ut_clock_ns(CLOCK_MONOTONIC);
	ut_timer.used = 0;
	if (me.high)
		ut_timer_arm(me.low, me.high);
}

static bool begins_on(void)
{
	const char *variable = getenv("PTI_ENABLE_COLLECTION");

	return variable && variable[0] && variable[0] != '0';
}

static void timer_begin(void)
{
	const char *dir = secure_getenv(UT_SESSION_ENV);
	struct ut_control *c;

	if (!dir || dir[0] != '/' || strlen(dir) >= sizeof(ut_timer.dir))
		return;
	memcpy(ut_timer.dir, dir, strlen(dir) + 1);
	c = ut_control_map(ut_timer.dir);
	if (!c || !wanted_here(c))
		return;
	ut_sandbox_look();
	ut_timer.state = ut_control_state(c);
	ut_timer.begins_on = begins_on();
	ut_timer.period = c->timer_period;
	ut_timer.start = ut_clock_ns(CLOCK_MONOTONIC);
	if (syscall(SYS_gettid) == syscall(SYS_getpid))
		ut_timer.used = ut_timer_ran();
	has_key = pthread_key_create(&key, thread_ends) == 0 && key < KEYS_WITHOUT_MALLOC;
	ut_timer_threads_init();
	ut_timer_python_find();
	if (!ut_timer_signal_take())
		return;
	pthread_atfork(NULL, NULL, forked_child);
	ut_timer.control = c;
}

/* Libraries that are ready before us may have started threads. */
bool ut_timer_on(void)
{
	if (!atomic_exchange(&asked, true)) {
		int saved = errno;

		timer_begin();
		errno = saved;
	}
	return ut_timer.control != NULL;
}

__attribute__((constructor)) static void timer_start(void)
{
	int saved = errno;

	if (ut_timer_on())
		arm_first();
	errno = saved;
}

/* The thread that ends the process has no other end. What it still runs has samples. */
__attribute__((destructor)) static void timer_finish(void)
{
	int saved = errno;

	if (ut_timer_me.armed && !ut_sandbox_closed())
		ut_timer_end();
	errno = saved;
}
