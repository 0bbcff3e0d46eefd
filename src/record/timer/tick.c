/*
 * tick.c - the handler: registers and the top of the stack go into a free slot.
 *
 * It runs anywhere in somebody else's program. No system call but for the first sample of all and
 * where there is Python (time and CPU number come from the vdso), no lock, no malloc, a few hundred
 * bytes of stack; what it reads of the stack lies between the stack pointer and the known end of
 * it.
 */
#include "timer/timer.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "wire/clock.h"
#include "wire/control.h"
#include "wire/sandbox.h"
#include "wire/spare_stack.h"

#define TRIES     16u
#define WAITS     500u               /* of a millisecond */
#define RING_FROM UINT64_C(10000000) /* ns of ended threads that are worth a file */

#if defined(__x86_64__)
static const uint8_t order[UT_TIMER_REGS] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					      REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
					      REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

static void take_regs(struct ut_timer_slot *slot, const ucontext_t *at)
{
	for (size_t i = 0; i < UT_TIMER_REGS; i++)
		slot->regs[i] = (uint64_t)at->uc_mcontext.gregs[order[i]];
}
#else
static void take_regs(struct ut_timer_slot *slot, const ucontext_t *at)
{
	(void)at;
	memset(slot->regs, 0, sizeof(slot->regs));
}
#endif

static uint32_t take_stack(struct ut_timer_slot *slot, const struct ut_timer_thread *me)
{
	uintptr_t from = (uintptr_t)slot->regs[UT_TIMER_REG_SP], bytes;

	if (from % 8 || from < me->low || from >= me->high)
		return 0; /* whoever walks it reads it from outside, as far as that goes */
	bytes = me->high - from;
	if (bytes > UT_TIMER_STACK_BYTES)
		bytes = UT_TIMER_STACK_BYTES;
	memcpy(slot->stack, (const void *)from, bytes);
	return (uint32_t)bytes;
}

/* A slot that is ours now, by its number; UT_TIMER_SLOTS_MOST: there is none. */
static uint32_t tick_claim(struct ut_timer_header *h, _Atomic uint32_t *states)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		uint32_t number = atomic_fetch_add(&h->next, 1) % ut_timer.slots;
		uint32_t expected = UT_SLOT_FREE;

		if (atomic_compare_exchange_strong(&states[number], &expected, UT_SLOT_WRITING))
			return number;
	}
	atomic_fetch_add(&h->lost, 1);
	return UT_TIMER_SLOTS_MOST;
}

/* The first sample makes the file: a process that never comes to one costs nothing. */
static struct ut_timer_header *ring(void)
{
	struct ut_timer_header *h = atomic_load_explicit(&ut_timer.ring, memory_order_acquire);

	if (h || atomic_exchange(&ut_timer.making, true) || ut_sandbox_closed())
		return h;
	h = ut_timer_file_make();
	atomic_store_explicit(&ut_timer.ring, h, memory_order_release);
	return h;
}

static void tick_take(struct ut_timer_header *h, const siginfo_t *info, const void *context)
{
	_Atomic uint32_t *states = (_Atomic uint32_t *)((char *)h + UT_TIMER_STATES_AT);
	struct ut_timer_slot *slot;
	uint32_t number = tick_claim(h, states);

	if (number == UT_TIMER_SLOTS_MOST)
		return;
	slot = (struct ut_timer_slot *)((char *)h + ut_timer_slots_at(ut_timer.slots)) + number;
	slot->time = ut_clock_ns(CLOCK_MONOTONIC);
	slot->tid = ut_timer_me.tid;
	slot->cpu = (uint32_t)sched_getcpu();
	/* Timers are looked at by the kernel's tick: one signal may stand for several. */
	slot->weight = (1 + (uint64_t)(uint32_t)info->si_overrun) * ut_timer.period;
	take_regs(slot, context);
	slot->stack_bytes = take_stack(slot, &ut_timer_me);
	ut_timer_python_take(&slot->python, (uintptr_t)slot->regs[UT_TIMER_REG_SP]);
	atomic_store_explicit(&h->unarmed, atomic_load(&ut_timer.unarmed), memory_order_relaxed);
	atomic_store_explicit(&states[number], UT_SLOT_FULL, memory_order_release);
}

/* Is the session on, and a process of it? Which, and when, its own recording tells later. */
static bool tick_is_wanted(void)
{
	const struct ut_control *c = ut_timer.control;

	return atomic_load_explicit(ut_timer.state, memory_order_relaxed) == UT_STATE_RUNNING &&
	       (!(c->flags & UT_CONTROL_CONDITIONAL) || ut_timer.begins_on ||
		(int32_t)atomic_load_explicit(&c->resumed, memory_order_relaxed) > 0);
}

uint64_t ut_timer_ran(void)
{
	struct timespec t = { 0, 0 };

	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A thread that nobody was told of is part of what the system counts for the process. */
void ut_timer_end(void)
{
	struct ut_timer_header *h = atomic_load_explicit(&ut_timer.ring, memory_order_acquire);
	uint64_t ran;

	if (!tick_is_wanted())
		return;
	ran = ut_timer_ran();
	if (!h && atomic_fetch_add(&ut_timer.ended, ran) + ran > RING_FROM)
		h = ring();
	for (unsigned int i = 0; h && i < TRIES; i++) {
		struct ut_timer_end *end =
			&h->ends[atomic_fetch_add(&h->next_end, 1) % UT_TIMER_ENDS];
		uint32_t expected = UT_SLOT_FREE;

		if (!atomic_compare_exchange_strong(&end->state, &expected, UT_SLOT_WRITING))
			continue;
		end->tid = ut_timer_me.tid;
		end->born = ut_timer_me.born;
		end->gone = ut_clock_ns(CLOCK_MONOTONIC);
		end->ran = ran;
		syscall(SYS_prctl, PR_GET_NAME, end->name);
		atomic_store_explicit(&end->state, UT_SLOT_FULL, memory_order_release);
		return;
	}
}

struct tick {
	const siginfo_t *info;
	const void *context;
};

static void sample(void *arg)
{
	const struct tick *t = arg;
	struct ut_timer_header *h = ring();

	if (h)
		tick_take(h, t->info, t->context);
}

void ut_timer_tick(int sig, siginfo_t *info, void *context)
{
	struct tick tick = { info, context };
	int saved = errno;

	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &ut_timer) {
		ut_timer_signal_pass(sig, info, context); /* it may not come back */
		errno = saved;
		return;
	}
	atomic_fetch_add(&ut_timer.ticking, 1);
	if (ut_timer_me.armed && tick_is_wanted())
		ut_spare_stack_run(sample, &tick); /* the program's may have 700 bytes left */
	errno = saved;
	atomic_fetch_sub(&ut_timer.ticking, 1);
}

/* The last step, back into the kernel, is not counted: it gets a moment of its own. */
void ut_timer_tick_wait(void)
{
	const struct timespec pause_time = { 0, 1000000 };

	for (unsigned int i = 0; i < WAITS && atomic_load(&ut_timer.ticking); i++)
		syscall(SYS_nanosleep, &pause_time, NULL);
	syscall(SYS_nanosleep, &pause_time, NULL);
}
