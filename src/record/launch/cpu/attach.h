/*
 * attach.h - samples a process that is running already, for a while. It is not stopped, asked or
 * changed; when we leave, nothing of us is left.
 */
#ifndef UT_LAUNCH_CPU_ATTACH_H
#define UT_LAUNCH_CPU_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The name that people know it by, as the kernel tells it; false: there is no such process. */
bool ut_attach_name(pid_t pid, char *name, size_t size);

/* Its threads but the first; malloc'ed. */
pid_t *ut_attach_threads(pid_t pid, size_t *count);

/* Waits until it has ended (pid -1: never), the time is over or the user has had enough. */
void ut_attach_wait(pid_t pid, uint64_t ns);

#endif
