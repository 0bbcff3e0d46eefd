/*
 * fake_collectors.h - collectors that live in the test itself, found through a fake dlopen.
 *
 * The tests are linked with --wrap for dlopen and dlsym. Paths that start with "fake:" give the
 * collectors below, "missing" fails, everything else goes to the real loader. A static part starts
 * once in a process, so every scenario runs in a child of its own: alone().
 */
#ifndef UT_TESTS_SDK_FAKE_COLLECTORS_H
#define UT_TESTS_SDK_FAKE_COLLECTORS_H

#include <stdio.h>
#include <unistd.h>

#include "itt/abi.h"

#define FAKE_V2  "fake:v2"  /* has __itt_api_init: the usual kind */
#define FAKE_V1  "fake:v1"  /* has __itt_api_version: is bound name by name */
#define FAKE_V0  "fake:v0"  /* has the oldest names only */
#define FAKE_JIT "fake:jit" /* has Initialize and NotifyEvent */

/* What the fakes have seen. Threads add to the counters; the rest is written during init. */
struct fake_seen {
	int opened; /* calls of dlopen */
	char path[64];
	int init;
	int fini;
	__itt_global *copy;
	__itt_group_id groups;
	int tasks; /* __itt_task_begin */
	int syncs; /* any name of __itt_sync_prepare */
	int pauses;
	char text[128]; /* of the last formatted metadata */
	unsigned int module_version;
	int jit_init;
	int jit_events;
};

extern struct fake_seen seen;

/* Called from inside __itt_api_init before the pointers are set, when not NULL. */
extern void (*during_init)(void);

/* In a child: a claim that does not hold ends it. */
#define CHECK(claim)                                                                               \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim);      \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Runs scenario in a child with these variables ("NAME=value", NULL at the end). 0 if all held. */
int alone(void (*scenario)(void), const char *const *env);

#endif
