/*
 * cpu_pauses.h - when nothing was recorded of a process: what lies there does not count.
 */
#ifndef UT_IMPORT_CPU_CPU_PAUSES_H
#define UT_IMPORT_CPU_CPU_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

struct ut_cpu;
struct ut_cpu_sender;

/* Who has switched. Recording is on while both are. */
enum ut_cpu_switched_by {
	UT_CPU_BY_SESSION,
	UT_CPU_BY_PROCESS,
};

struct ut_cpu_switched {
	uint64_t time;
	uint32_t order;
	uint8_t by; /* enum ut_cpu_switched_by */
	bool on;
};

struct ut_cpu_pause {
	uint64_t start, end;
	bool reported; /* the recording of the process has a span for it */
};

/* Notes a switch; any order. */
void ut_cpu_switched(struct ut_cpu *c, enum ut_cpu_switched_by by, uint64_t time, bool on);

/* Makes pauses of what was noted: once, when all is there. */
void ut_cpu_finalize_pauses(struct ut_cpu *c);

bool ut_cpu_is_paused(const struct ut_cpu *c, uint64_t time);

/* The next part of [*from, to) in which recording was on is [*from, *end). False: there is none. */
bool ut_cpu_next_on(const struct ut_cpu *c, uint64_t *from, uint64_t to, uint64_t *end);

/* How long it was on between the two. */
uint64_t ut_cpu_on_time(const struct ut_cpu *c, uint64_t from, uint64_t to);

/* Spans on a row of their own, but for those that are there already. */
void ut_cpu_send_pauses(struct ut_cpu_sender *s);

#endif
