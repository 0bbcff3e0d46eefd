/*
 * run.h - start a program with the collector inside, wait for it, end as it ended.
 *
 * The program must not notice: same standard streams, same signal dispositions and mask, same
 * terminal, same process group. If we die, it goes on.
 *
 * One run at a time in a process: while it lasts the signals of this process are ours.
 */
#ifndef UT_LAUNCH_RUN_H
#define UT_LAUNCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "launch/inject.h"

struct ut_arena;
struct ut_control;
struct ut_logger;

/* A variable of the program's environment. */
struct ut_launch_var {
	const char *name, *value;
};

struct ut_launch {
	const char *const *argv; /* the program and its arguments, closed by NULL */
	const char *session_dir; /* absolute */
	const char *library;     /* absolute path of the collector */
	bool preload;            /* also through LD_PRELOAD, to see setenv() and friends */
	const char *also;        /* a second library to preload; NULL = none */
	bool ccl;                /* ask oneCCL for its ITT tasks, NCCL for its events */
	bool devices;            /* inject backends into accelerator runtimes */
	bool metrics;            /* and those of their hardware metrics */
	bool mpi;                /* and that of MPI */
	bool sycl;               /* and that of SYCL */
	bool memory;             /* and that of the program's allocator */
	enum ut_opencl_inject opencl;
	const struct ut_launch_var *vars; /* set for the program besides those above */
	size_t var_count;
	const struct ut_logger *logger;
	struct ut_control *control;     /* told root_pid and the time, once a second */
	void (*each_second)(void *ctx); /* while the program runs; NULL = nothing */
	/* Called when the program starts, and then whenever the time (ns, CLOCK_MONOTONIC) has come
	 * that it returned last; 0 = never again. NULL = nothing */
	uint64_t (*at_alarm)(void *ctx, uint64_t now);
	/* The process is there and waits; the program starts when this returns. NULL = nothing */
	void (*before_exec)(void *ctx, pid_t pid);
	void *ctx;
};

struct ut_launch_result {
	pid_t pid;
	int status;     /* as from waitpid(); only if exec_errno is 0 */
	int exec_errno; /* why the program could not be started; 0 = it ran */
};

/* 0 also when the program could not be executed: see exec_errno. */
int ut_launch_run(const struct ut_launch *l, struct ut_arena *a, struct ut_launch_result *r,
		  struct ut_err *err) UT_MUST_CHECK;

/*
 * From now on a file that grows beyond `ulimit -f` is an error (EFBIG) for us, not the end.
 * Programs that we start get SIGXFSZ back as we had it.
 */
void ut_launch_survive_limits(void);
/* The same for those that are started otherwise: before and after. */
void ut_launch_mind_limits(bool ours);

/* Ends this process as status says: with the same code, or by the same signal but no core. */
_Noreturn void ut_launch_end_as(int status);

/* Sleeps for ns, or until the user asks to go on with Ctrl-C: then it returns false. */
bool ut_launch_pause(uint64_t ns);

#endif
