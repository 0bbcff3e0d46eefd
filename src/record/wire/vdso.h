/*
 * vdso.h - the kernel's clocks, without the C library's function in front of them.
 *
 * Programs run with libraries that make time run differently for them (libfaketime), and with
 * functions of their own in front of clock_gettime() that may record. What is recorded needs the
 * machine's time, and a hook must not call itself.
 */
#ifndef UT_WIRE_VDSO_H
#define UT_WIRE_VDSO_H

#include <time.h>

/* As clock_gettime(), at the same price. */
void ut_vdso_clock(clockid_t id, struct timespec *now);

#endif
