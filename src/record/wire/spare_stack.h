/*
 * spare_stack.h - stacks for what is rare and deep: hooks are called on the small stacks of signal
 * handlers and coroutines, where a change of chunks would not fit.
 *
 * Threads: any. No malloc, no lock, no system call.
 */
#ifndef UT_WIRE_SPARE_STACK_H
#define UT_WIRE_SPARE_STACK_H

/*
 * Calls fn on a spare stack, or on the caller's while all are in use. Signals are held meanwhile
 * (signals.h): a handler would run on that stack, too.
 */
void ut_spare_stack_run(void (*fn)(void *), void *arg);

/* In a forked child, before the first use: those in use were in use in its parent. */
void ut_spare_stack_forget(void);

#endif
