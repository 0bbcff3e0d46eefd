/*
 * job.h - what the environment says about the parallel job that started this process.
 *
 * Every job launcher sets variables of its own; job.c lists them. No MPI library is needed. The
 * collector has a list of its own for the rank (wire/process.c): it may not look into environ.
 */
#ifndef UT_MPIJOB_JOB_H
#define UT_MPIJOB_JOB_H

#define UT_JOB_PLUGINS 2

struct ut_job {
	int rank;  /* 0 if there is no job */
	int ranks; /* 1 if there is no job; 0 = several or one, only MPI knows */
	int local; /* ranks on this machine; 1 if there is no job or nobody tells */
	const char *plugins[UT_JOB_PLUGINS]; /* in the order in which they are worth a try */
};

struct ut_job ut_job_look(void);

#endif
