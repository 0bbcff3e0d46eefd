/*
 * describe.h - what every trace format says about processes, in the same words.
 */
#ifndef UT_EXPORT_DESCRIBE_H
#define UT_EXPORT_DESCRIBE_H

#include <stdint.h>

struct ut_buf;
struct ut_idmap;
struct ut_process;
struct ut_trace;

/* The name to show: "app", or "RANK 3 app" in a parallel job. Any bytes, as recorded. */
void ut_process_title(struct ut_buf *b, const struct ut_trace *t, const struct ut_process *p);

/*
 * The program that a device has its pid from: the pid is the program's, and the device needs
 * another one. The same process if there is none.
 */
uint32_t ut_process_program(const struct ut_trace *t, uint32_t process);

/*
 * The pid of a process itself, or a number that no system gives out if the file has this pid
 * already or it is a program's: hosts, containers and exec() give the same one to several. pids are
 * those that the file has used.
 */
uint32_t ut_pids_take(struct ut_idmap *pids, const struct ut_trace *t, uint32_t index,
		      uint32_t pid);

#endif
