/*
 * signals.h - keeps signal handlers away while something of ours is half made: a handler may
 * record, too. A few microseconds, and never around anything that waits. It is a system call: only
 * behind a look at the sandbox (sandbox.h).
 */
#ifndef UT_WIRE_SIGNALS_H
#define UT_WIRE_SIGNALS_H

#include <signal.h>
#include <stdint.h>

#include "base/raw_syscall.h"

/* As the kernel has them: a sigset_t takes 128 bytes of stacks that may be small. */
struct ut_signals {
	uint64_t bits;
};

#define UT_SIGNALS_BYTES 8

/* All of them, also those that the C library keeps for itself: a thread is not cancelled here. */
static inline void ut_signals_hold(struct ut_signals *before)
{
	const struct ut_signals all = { UINT64_MAX };

	ut_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)before, UT_SIGNALS_BYTES);
}

static inline void ut_signals_release(const struct ut_signals *before)
{
	ut_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)before, 0, UT_SIGNALS_BYTES);
}

/* Lets one signal through. */
static inline void ut_signals_let_in(int signal)
{
	const struct ut_signals one = { UINT64_C(1) << (signal - 1) };

	ut_raw(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&one, 0, UT_SIGNALS_BYTES);
}

#endif
