/*
 * tasks.h - the threads of a process as /proc tells them: who is there, what they are called, how
 * long they have run and waited for a CPU. Where the kernel tells each switch nobody needs this.
 */
#ifndef UT_LAUNCH_CPU_TASKS_H
#define UT_LAUNCH_CPU_TASKS_H

#include <stdint.h>

struct ut_image;
struct ut_timer_end;

/* Writes down what is new. How many times as long as usual to wait until the next time: of many
 * threads seldom. */
uint64_t ut_tasks_look(struct ut_image *image, uint64_t time);

/* A thread that has a sample of that many ns: if nobody has heard of it yet, it is looked at. */
void ut_tasks_meet(struct ut_image *image, uint32_t tid, uint64_t time, uint64_t weight);

/* The process runs another program now: how long its first thread had run by then, ns. */
void ut_tasks_replaced(struct ut_image *image, struct ut_image *next, uint64_t used);

/* What they ran is accounted for elsewhere. */
void ut_tasks_forget(struct ut_image *image);

/* A thread that has told of its end. */
void ut_tasks_ended(struct ut_image *image, const struct ut_timer_end *end);

#endif
