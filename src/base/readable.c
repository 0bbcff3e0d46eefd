#include "base/readable.h"

#include "base/raw_syscall.h"
#include <errno.h>

#define NOWHERE (~(uintptr_t)0xffff) /* no process has a page there */

/*
 * The kernel reads a set of signals from there, and then finds that it does not know what to do
 * with it: nothing changes. Returns the errno.
 */
static int ask_kernel(uintptr_t page)
{
#if defined(__x86_64__)
	return (int)-ut_raw(SYS_rt_sigprocmask, -1, (long)page, 0, 8);
#else
	int saved = errno, rc;

	errno = 0;
	syscall(SYS_rt_sigprocmask, -1, (void *)page, NULL, 8);
	rc = errno;
	errno = saved;
	return rc;
#endif
}

/*
 * A seccomp filter may answer in the kernel's place, with any errno: so it has to be the one that
 * the kernel gives, and another one where there is nothing. Page 0 means that there is no set.
 */
bool ut_readable_page(uintptr_t page)
{
	return page && ask_kernel(page) == EINVAL && ask_kernel(NOWHERE) == EFAULT;
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
