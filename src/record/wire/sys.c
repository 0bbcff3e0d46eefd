/* sys.c - see sys.h. */
#include "wire/sys.h"

#include <errno.h>

#include "base/raw_syscall.h"

long ut_sys_call_six(long number, const long args[6])
{
	long rc = ut_raw_syscall(number, args);

	if (rc >= 0 || rc < -4095)
		return rc;
#if defined(__x86_64__)
	errno = (int)-rc;
#endif
	return -1;
}
