/*
 * raw_syscall.h - a system call without the C library: programs may have put functions of their own
 * in front of its functions, syscall() included, and these may call us.
 */
#ifndef UT_BASE_RAW_SYSCALL_H
#define UT_BASE_RAW_SYSCALL_H

#include <sys/syscall.h>
#include <unistd.h>

/* x86-64: a negative errno on failure, errno is not touched. Elsewhere: as syscall(). */
static inline long ut_raw_syscall(long number, const long args[6])
{
#if defined(__x86_64__)
	/* Read before the registers are set: where reads are instrumented, they are calls. */
	long first = args[0], second = args[1], third = args[2];
	long fourth = args[3], fifth = args[4], sixth = args[5], rc;
	register long r10 __asm__("r10") = fourth;
	register long r8 __asm__("r8") = fifth;
	register long r9 __asm__("r9") = sixth;

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "0"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return rc;
#else
	return syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
#endif
}

/* ut_raw(SYS_munmap, start, bytes): arguments that are left out are 0. */
#define ut_raw(number, ...) ut_raw_syscall(number, (const long[6]){ __VA_ARGS__ })

#endif
