/*
 * own_pages.h - memory of our own in a process whose allocators we watch: from the kernel, zeroed.
 */
#ifndef UT_BACKEND_MEMORY_OWN_PAGES_H
#define UT_BACKEND_MEMORY_OWN_PAGES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* NULL = none. Not mmap(), which others may have put something in front of. errno is kept. */
static inline void *ut_memory_pages(size_t bytes)
{
	int saved = errno;
	long at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return at == -1 ? NULL : (void *)(uintptr_t)at;
}

static inline void ut_memory_give_pages(void *at, size_t bytes)
{
	int saved = errno;

	syscall(SYS_munmap, at, bytes);
	errno = saved;
}

#endif
