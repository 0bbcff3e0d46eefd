/*
 * sys.h - system calls, without the C library's functions in front of them.
 *
 * Programs, allocators and tools put functions of their own in front of mmap, fallocate or
 * pthread_sigmask, and these may record: a hook would call itself. Each call is what the
 * function of that name does; errors are -1 and errno.
 */
#ifndef UT_WIRE_SYS_H
#define UT_WIRE_SYS_H

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct iovec;
struct timespec;
struct statfs;
struct utsname;

/*
 * How often a thread may be on its way to more memory or more of the file at once. A handler may
 * interrupt it there and take the same way, which is fine; whoever comes back for ever is not.
 */
#define UT_SYS_DEEPEST 8

/* syscall(), but never one of the program's own. What is not given is 0. */
#define ut_sys_call(...) UT_SYS_CALL_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define UT_SYS_CALL_SIX(number, a, b, c, d, e, f, ...)                                             \
	ut_sys_call_six(number, (const long[6]){ (long)(a), (long)(b), (long)(c), (long)(d),       \
						 (long)(e), (long)(f) })
long ut_sys_call_six(long number, const long args[6]);

static inline int ut_sys_open(const char *path, int flags, unsigned int mode)
{
	return (int)ut_sys_call(SYS_openat, AT_FDCWD, path, flags, mode);
}

static inline int ut_sys_close(int fd)
{
	return (int)ut_sys_call(SYS_close, fd);
}

static inline int ut_sys_dup_above(int fd, int least)
{
	return (int)ut_sys_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least);
}

/* Programs count on getting the lowest number, and open and close those around it: a high one. */
static inline int ut_sys_out_of_the_way(int fd)
{
	int high = ut_sys_dup_above(fd, 800);

	if (high < 0)
		high = ut_sys_dup_above(fd, 200);
	if (high < 0)
		return fd;
	ut_sys_close(fd);
	return high;
}

static inline int ut_sys_fstat(int fd, struct stat *st)
{
	return (int)ut_sys_call(SYS_fstat, fd, st);
}

static inline ssize_t ut_sys_read(int fd, void *buf, size_t size)
{
	return ut_sys_call(SYS_read, fd, buf, size);
}

static inline ssize_t ut_sys_pread(int fd, void *buf, size_t size, off_t offset)
{
	return ut_sys_call(SYS_pread64, fd, buf, size, offset);
}

static inline ssize_t ut_sys_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	return ut_sys_call(SYS_pwrite64, fd, buf, size, offset);
}

static inline ssize_t ut_sys_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	return ut_sys_call(SYS_pwritev, fd, parts, count, offset, 0);
}

static inline ssize_t ut_sys_readlink(const char *path, char *buf, size_t size)
{
	return ut_sys_call(SYS_readlinkat, AT_FDCWD, path, buf, size);
}

static inline int ut_sys_mkdir(const char *path, unsigned int mode)
{
	return (int)ut_sys_call(SYS_mkdirat, AT_FDCWD, path, mode);
}

static inline int ut_sys_rename(const char *from, const char *to)
{
	return (int)ut_sys_call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static inline ssize_t ut_sys_write(int fd, const void *buf, size_t size)
{
	return ut_sys_call(SYS_write, fd, buf, size);
}

static inline int ut_sys_unlink(const char *path)
{
	return (int)ut_sys_call(SYS_unlinkat, AT_FDCWD, path, 0);
}

static inline int ut_sys_fallocate(int fd, off_t offset, off_t bytes)
{
	return (int)ut_sys_call(SYS_fallocate, fd, 0, offset, bytes);
}

static inline int ut_sys_file_limit(struct rlimit *limit)
{
	return (int)ut_sys_call(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, limit);
}

/* 0 = none, 2 = filters; -1 where the kernel knows none. */
static inline int ut_sys_seccomp_mode(void)
{
	return (int)ut_sys_call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
}

static inline int ut_sys_fstatfs(int fd, struct statfs *fs)
{
	return (int)ut_sys_call(SYS_fstatfs, fd, fs);
}

static inline int ut_sys_uname(struct utsname *name)
{
	return (int)ut_sys_call(SYS_uname, name);
}

static inline void *ut_sys_mmap(size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return (void *)(uintptr_t)ut_sys_call(SYS_mmap, NULL, bytes, prot, flags, fd, offset);
}

static inline int ut_sys_munmap(void *map, size_t bytes)
{
	return (int)ut_sys_call(SYS_munmap, map, bytes);
}

static inline int ut_sys_madvise(void *map, size_t bytes, int advice)
{
	return (int)ut_sys_call(SYS_madvise, map, bytes, advice);
}

/* Wakes whoever waits for the word to change, in whatever process. */
static inline void ut_sys_wake(const _Atomic uint32_t *word)
{
	ut_sys_call(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Until the word is not this value any more, somebody wakes us, or the time is over. */
static inline void ut_sys_wait(const _Atomic uint32_t *word, uint32_t value,
			       const struct timespec *most)
{
	ut_sys_call(SYS_futex, word, FUTEX_WAIT, value, most, NULL, 0);
}

#endif
