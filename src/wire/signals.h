/*
 * signals.h - keeps signal handlers away while something of ours is half made: a handler may
 * record, too. A few microseconds, and never around anything that waits.
 */
#ifndef UT_WIRE_SIGNALS_H
#define UT_WIRE_SIGNALS_H

#include <signal.h>

#include "wire/sys.h"

static inline void ut_signals_hold(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	ut_sys_sigmask(SIG_BLOCK, &all, before);
}

static inline void ut_signals_release(const sigset_t *before)
{
	ut_sys_sigmask(SIG_SETMASK, before, NULL);
}

#endif
