/*
 * process.h - who this process is, found without malloc, stdio or the environ array (which other
 * threads may be changing): from /proc.
 */
#ifndef UT_WIRE_PROCESS_H
#define UT_WIRE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct ut_spool_header;

/* What the launcher of a parallel job said when it started this process. */
struct ut_process_job {
	int32_t rank;  /* -1 = there is no job */
	int32_t ranks; /* 0 = unknown */
	int32_t local; /* of them on this host; 0 = unknown */
	uint64_t id;   /* the same in all processes of a job; 0 = unknown */
};

void ut_process_job(struct ut_process_job *job);

/* Its rank alone; -1 = none. */
int32_t ut_process_rank(void);

/* Field 22 of /proc/PID/stat, the start time; pid 0 is ourselves. 0 if there is no such process. */
uint64_t ut_process_start(uint32_t pid);

/* Fills pid, ppid, proc_start, rank (own, else the given one), name, host and cmdline. */
void ut_process_describe(struct ut_spool_header *header, int32_t rank);

/* /proc/sys/kernel/random/boot_id without the newline; empty if unknown. */
void ut_process_boot_id(char id[40]);

#endif
