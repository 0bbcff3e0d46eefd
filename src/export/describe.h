/*
 * describe.h - what every trace format says about processes, in the same words.
 */
#ifndef UT_EXPORT_DESCRIBE_H
#define UT_EXPORT_DESCRIBE_H

#include <stddef.h>
#include <stdint.h>

struct ut_buf;
struct ut_process;
struct ut_trace;

/* The name to show: "app", or "RANK 3 app" in a parallel job. Any bytes, as recorded. */
void ut_process_title(struct ut_buf *b, const struct ut_trace *t, const struct ut_process *p);

/* Pids that a file has used. Hosts, containers and exec() give the same one to several. {0}. */
struct ut_pids {
	uint64_t *items; /* open addressing: pid + 1; 0 = free */
	size_t count, cap;
};

/* pid itself, or a number that no system gives out if the file has this pid already. */
uint32_t ut_pids_take(struct ut_pids *pids, uint32_t pid);
void ut_pids_release(struct ut_pids *pids);

#endif
