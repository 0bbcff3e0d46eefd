/*
 * cpu_waits.h - what threads wait for: the time between giving up a CPU and getting one again, with
 * the stack that gave it up and a word for what that is. On a row of its own for each thread.
 */
#ifndef UT_IMPORT_CPU_CPU_WAITS_H
#define UT_IMPORT_CPU_CPU_WAITS_H

#include <stdint.h>

struct ut_cpu_sender;
struct ut_trace;

/* in the order of the table below: name in timelines and tables */
#define UT_WAIT_LIST(X)                                                                            \
	X(OTHER, "waiting")                                                                        \
	X(LOCK, "waiting: lock")                                                                   \
	X(CONDITION, "waiting: condition")                                                         \
	X(WORK, "waiting: barrier or work") /* of OpenMP, TBB: nothing to do yet */                \
	X(JOIN, "waiting: thread to end")                                                          \
	X(SLEEP, "waiting: sleep")                                                                 \
	X(POLL, "waiting: poll")                                                                   \
	X(DISK, "waiting: disk")                                                                   \
	X(PIPE, "waiting: pipe")                                                                   \
	X(NETWORK, "waiting: network")                                                             \
	X(CHILD, "waiting: child to end")                                                          \
	X(MEMORY, "waiting: memory")                                                               \
	X(SIGNAL, "waiting: signal")                                                               \
	X(TERMINAL, "waiting: terminal")

enum ut_wait {
#define UT_WAIT_ENUM(wait, name) UT_WAIT_##wait,
	UT_WAIT_LIST(UT_WAIT_ENUM)
#undef UT_WAIT_ENUM
	UT_WAITS
};

extern const char *const ut_wait_names[UT_WAITS];

/* What a stack that gave up its CPU was waiting for. */
enum ut_wait ut_wait_of(const struct ut_trace *t, uint32_t stack);

/* The same by the function of the kernel that a thread waits in. */
enum ut_wait ut_wait_of_kernel(const char *function);

/* Rows of all threads; nothing if nobody has told where they waited. After the samples. */
void ut_cpu_send_waits(struct ut_cpu_sender *s);

#endif
