#include "base/readable.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel reads a set of signals from there, and then finds that it does not know what to do
 * with it: nothing changes. Without syscall(), which sets errno.
 */
bool ut_readable_page(uintptr_t page)
{
#if defined(__x86_64__)
	register long size __asm__("r10") = 8;
	long rc;

	if (!page) /* means that there is no set */
		return false;
	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "0"((long)SYS_rt_sigprocmask), "D"(-1L), "S"(page), "d"(0L), "r"(size)
			 : "rcx", "r11", "memory");
	return rc != -EFAULT;
#else
	int saved = errno;
	bool there = syscall(SYS_rt_sigprocmask, -1, (void *)page, NULL, 8) >= 0 || errno != EFAULT;

	errno = saved;
	return page && there;
#endif
}

bool ut_readable(uintptr_t address, size_t bytes)
{
	uintptr_t end = address + bytes;

	if (end < address)
		return false;
	for (uintptr_t page = address & ~(uintptr_t)(UT_READABLE_PAGE - 1); page < end;
	     page += UT_READABLE_PAGE) {
		if (!ut_readable_page(page))
			return false;
	}
	return true;
}
