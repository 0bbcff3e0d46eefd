/*
 * remote_agent.h - ourselves on another machine, at the other end of an ssh: starts a run there,
 * tells how it goes and what it leaves (remote_frames.h), and takes it away once it has arrived.
 *
 * The run has a supervisor of its own: when the connection is lost it goes on, and the next agent
 * finds it. What to do is the first line of standard input, an object:
 *
 *     {"do":"hello"}                              who is there, and which devices
 *     {"do":"devices"}                            which devices (devices.h)
 *     {"do":"processes"}                          what could be attached to
 *     {"do":"run", "name":..., "words":[...], "own":N, "directory":..., "variables":[...]}
 *     {"do":"again", "run":NAME}                  one that was started before
 *
 * and then the supervisor's words, a line each; "got" at the end says that everything has arrived.
 * "talk P N" is followed by N bytes, for connection P (remote_tunnel.h) to a viewer of the
 * recording.
 */
#ifndef UT_WORKBENCH_REMOTE_AGENT_H
#define UT_WORKBENCH_REMOTE_AGENT_H

#define UT_REMOTE_RUNS     "runs"
#define UT_REMOTE_ASK_MOST (4u << 20)

/* Its current folder is the one for our files. The exit status. */
int ut_remote_agent_run(void);

#endif
