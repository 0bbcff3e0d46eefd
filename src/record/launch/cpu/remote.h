/*
 * remote.h - memory of another process, a page at a time: what is read together lies together.
 *
 * Pages are kept until ut_remote_forget(), so that one look at a process sees each page once. A
 * process that is gone, or that we may not look into, has nothing. Owner: the caller. One thread.
 */
#ifndef UT_LAUNCH_CPU_REMOTE_H
#define UT_LAUNCH_CPU_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UT_REMOTE_PAGES 64u
#define UT_REMOTE_PAGE  4096u

struct ut_remote {
	uint32_t pid;
	uint64_t at[UT_REMOTE_PAGES]; /* addresses of the pages; 0 = free */
	unsigned char *bytes;
	size_t next;
};

void ut_remote_init(struct ut_remote *r);
void ut_remote_release(struct ut_remote *r);

/* From now on it is about this process, and nothing is known of it. */
void ut_remote_forget(struct ut_remote *r, uint32_t pid);

bool ut_remote_read(struct ut_remote *r, uint64_t address, void *to, size_t len);

static inline bool ut_remote_u64(struct ut_remote *r, uint64_t address, uint64_t *value)
{
	return ut_remote_read(r, address, value, sizeof(*value));
}

#endif
