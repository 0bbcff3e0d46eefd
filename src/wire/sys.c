/* sys.c - see sys.h. */
#include "wire/sys.h"

#include <errno.h>
#include <stdarg.h>

#include "base/raw_syscall.h"

/* As the C library's syscall() does, it hands on six arguments, however many there are. */
long ut_sys_call(long number, ...)
{
	long args[6], rc;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	rc = ut_raw_syscall(number, args);
	if (rc >= 0 || rc < -4095)
		return rc;
#if defined(__x86_64__)
	errno = (int)-rc;
#endif
	return -1;
}
