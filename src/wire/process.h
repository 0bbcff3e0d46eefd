/*
 * process.h - who this process is, found without malloc, stdio or the environ array (which other
 * threads may be changing): from /proc.
 */
#ifndef UT_WIRE_PROCESS_H
#define UT_WIRE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct ut_spool_header;

/* The rank that an MPI launcher gave to this process when it was started; -1 = none. */
int32_t ut_process_rank(void);

/* Field 22 of /proc/PID/stat, the start time; pid 0 is ourselves. 0 if there is no such process. */
uint64_t ut_process_start(uint32_t pid);

/* Fills pid, ppid, proc_start, rank (own, else the given one), name, host and cmdline. */
void ut_process_describe(struct ut_spool_header *header, int32_t rank);

/* /proc/sys/kernel/random/boot_id without the newline; empty if unknown. */
void ut_process_boot_id(char id[40]);

#endif
