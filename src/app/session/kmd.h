/*
 * kmd.h - what the operating system and its drivers do while the program runs, as a script for
 * bpftrace sees it (--chrome-kmd-logging).
 *
 * bpftrace runs beside the program, as a child of ours. It is ready when it starts its own command,
 * which waits at a pipe in the session's folder, and ends when we close that. What the script
 * prints lies in the session's folder meanwhile: lines "TID,EVENT,START,DURATION[,DATA]", times in
 * ns since boot (bpftrace's nsecs). What cannot be had is told once; the session goes on without.
 */
#ifndef UT_SESSION_KMD_H
#define UT_SESSION_KMD_H

#include <stdint.h>
#include <sys/types.h>

struct ut_arena;
struct ut_err;
struct ut_output_who;
struct ut_outputs;
struct ut_session_client;
struct ut_sink;
struct ut_trace;

struct ut_kmd {
	pid_t pid; /* of bpftrace; 0 = it does not run */
	int pipe;  /* open as long as it shall run */
	const char *dir;
};

/* Starts it and waits until its probes are in place. script NULL: does nothing. */
void ut_kmd_start(struct ut_kmd *k, struct ut_arena *a, const char *script, const char *dir,
		  const struct ut_session_client *client);
void ut_kmd_stop(struct ut_kmd *k, struct ut_arena *a, const struct ut_session_client *client);

/* Adds what is in the session's folder to a trace, as a process of its own; how many events. */
uint64_t ut_kmd_send(struct ut_arena *a, const char *dir, struct ut_trace *trace,
		     struct ut_sink *sink, const struct ut_session_client *client);

/* If no timeline has taken it: a file of its own, oskmd.PID.json. */
int ut_kmd_write_alone(struct ut_outputs *o, const char *dir, const struct ut_output_who *who,
		       struct ut_err *err);

#endif
