/*
 * cpu_threads.h - what threads did while they were there: ran, waited, were kept from running; how
 * many ran at once; what they are for.
 */
#ifndef UT_IMPORT_CPU_CPU_THREADS_H
#define UT_IMPORT_CPU_CPU_THREADS_H

#include <stdint.h>

struct ut_cpu;
struct ut_sink;
struct ut_trace;

/* What sending needs to know. */
struct ut_cpu_sender {
	struct ut_cpu *c;
	struct ut_trace *trace;
	struct ut_sink *to;
	uint32_t name, task_key;
};

/* A new row of values, and one of them. */
uint32_t ut_cpu_counter(struct ut_cpu_sender *s, const char *name, const char *unit);
void ut_cpu_value(struct ut_cpu_sender *s, uint32_t track, uint64_t time, double value);

/* CPU usage over time, and sums as facts about the tracks. After the samples. */
void ut_cpu_send_threads(struct ut_cpu_sender *s);

#endif
