/*
 * perf_choice.h - which event of this machine samples: cycles of the CPU, counted by hardware, at
 * the very instruction if it can, or the kernel's clock, which is everywhere; and whether the CPU
 * remembers calls (LBR). Asked for by opening such an event for ourselves, and closing it.
 */
#ifndef UT_LAUNCH_CPU_PERF_CHOICE_H
#define UT_LAUNCH_CPU_PERF_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_attr;

enum ut_perf_event {
	UT_PERF_AUTO,   /* cycles, where there are some */
	UT_PERF_CYCLES, /* or not at all */
	UT_PERF_CLOCK,
};

struct ut_perf_choice {
	bool cycles;
	unsigned int precise; /* 0 to 3: how near the instruction is to the truth */
	bool lbr;
};

/* Opens an event for this process; -1 and errno. NULL in the functions below: the system call. */
typedef int ut_perf_opener(struct perf_event_attr *attr);

/* 0, or a negative errno if cycles are a must and cannot be had. hz: samples in a second. */
int ut_perf_choose(struct ut_perf_choice *c, enum ut_perf_event event, bool want_lbr, uint64_t hz,
		   ut_perf_opener *opener);

/* Fills in what samples by this choice; hz or a period of CPU time, ns. */
void ut_perf_choice_apply(const struct ut_perf_choice *c, struct perf_event_attr *attr,
			  uint64_t hz);

#endif
