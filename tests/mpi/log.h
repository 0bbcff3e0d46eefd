/*
 * log.h - what a rank of a test program says about its own calls, independently of any tracer:
 * a line per call in FOLDER/rank.log, with the facts that a recording must have, and the messages
 * that really came, which carry a number of their own.
 */
#ifndef TESTS_MPI_LOG_H
#define TESTS_MPI_LOG_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *log_file;
static int me, ranks;
static int64_t last_message;

static inline void log_open(const char *folder)
{
	char path[4096];

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	last_message = (int64_t)me * 1000000;
	snprintf(path, sizeof(path), "%s/%d.log", folder, me);
	log_file = fopen(path, "w");
	if (!log_file)
		abort();
}

/* One call: its name, then key=value words. */
__attribute__((format(printf, 1, 2))) static inline void says(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(log_file, format, list);
	va_end(list);
	fputc('\n', log_file);
}

/* A number that no other message of the job has, to be sent as its first element. */
static inline int64_t stamp(void)
{
	return ++last_message;
}

#endif
