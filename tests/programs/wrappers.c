/*
 * wrappers.c - functions of the C library with functions of the program in front of them, which
 * record: an allocator, a sanitizer or a tool may do so.
 *
 * link: -rdynamic
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <ittnotify.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static __itt_domain *domain;
static __itt_string_handle *wrapped, *work;
static long calls;

static void mark(void)
{
	char text[32];

	calls++;
	if (!domain)
		return;
	__itt_task_begin(domain, __itt_null, __itt_null, wrapped);
	snprintf(text, sizeof(text), "call %ld", calls);
	__itt_string_handle_create(text);
	__itt_task_end(domain);
}

/* The next function of that name: the C library's. */
static void *next_of(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		*(void **)&next = next_of("syscall");
	mark();
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	mark();
	return (int)syscall(SYS_clock_gettime, id, now);
}

int munmap(void *addr, size_t len)
{
	mark();
	return (int)syscall(SYS_munmap, addr, len);
}

int prctl(int option, ...)
{
	va_list args;
	long value;

	va_start(args, option);
	value = va_arg(args, long);
	va_end(args);
	mark();
	return (int)syscall(SYS_prctl, option, value, 0L, 0L, 0L);
}

int sched_yield(void)
{
	mark();
	return (int)syscall(SYS_sched_yield);
}

pid_t getpid(void)
{
	mark();
	return (pid_t)syscall(SYS_getpid);
}

char *getenv(const char *name)
{
	static char *(*next)(const char *);

	if (!next)
		*(void **)&next = next_of("getenv");
	mark();
	return next(name);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	mark();
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

int madvise(void *addr, size_t len, int advice)
{
	mark();
	return (int)syscall(SYS_madvise, addr, len, advice);
}

int fallocate(int fd, int mode, off_t offset, off_t len)
{
	mark();
	return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	mark();
	return syscall(SYS_rt_sigprocmask, how, set, before, 8) ? -1 : 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	return pthread_sigmask(how, set, before);
}

char *secure_getenv(const char *name)
{
	char *(*next)(const char *);

	mark();
	*(void **)&next = next_of("secure_getenv");
	return next(name);
}

int gethostname(char *name, size_t len)
{
	mark();
	snprintf(name, len, "wrapped");
	return 0;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	int (*next)(pthread_key_t, const void *);

	mark();
	*(void **)&next = next_of("pthread_setspecific");
	return next(key, value);
}

int main(void)
{
	wrapped = __itt_string_handle_create("wrapped");
	work = __itt_string_handle_create("work");
	domain = __itt_domain_create("wrappers");
	for (int i = 0; i < 200000; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, work);
		__itt_task_end(domain);
	}
	puts("done");
	return 0;
}
