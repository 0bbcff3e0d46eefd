/*
 * libtorture.c - preloaded: lets the system calls of the collector fail, which go through
 * syscall() (src/record/wire/sys.h), one by one.
 *
 *	TORTURE_AT=N      the Nth call fails (0 = none)
 *	TORTURE_FROM=N    the Nth and all that follow
 *	TORTURE_ERROR=E   with this errno
 *	TORTURE_COUNT=F   writes into the file F how many calls there were
 *
 * Calls that put the mask of signals back are left alone: the kernel does not refuse them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...);

static long count, at, from;
static int error;

static long env(const char *name)
{
	const char *value = getenv(name);

	return value ? atol(value) : 0;
}

__attribute__((constructor)) static void start(void)
{
	at = env("TORTURE_AT");
	from = env("TORTURE_FROM");
	error = (int)env("TORTURE_ERROR");
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("TORTURE_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%ld\n", count);
	fclose(f);
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6], n;
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	if (number != SYS_rt_sigprocmask && number != SYS_gettid) {
		n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
		if (error && (n == at || (from && n >= from))) {
			errno = error;
			return -1;
		}
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
