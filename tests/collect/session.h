/*
 * session.h - runs a few lines as a traced program: a session, a process of its own, and what
 * was recorded, as text without times.
 */
#ifndef TESTS_COLLECT_SESSION_H
#define TESTS_COLLECT_SESSION_H

#include <stddef.h>
#include <stdint.h>

struct ut_control;

struct session {
	char dir[64];
	struct ut_control *control;
	char *text; /* after session_run(): one line per event, spools in order of their start */
	size_t len, cap;
	size_t spools;
	uint64_t ignored, unfinished, stray_ends;
	int status; /* of the process */
};

/* cmocka's setup and teardown. Children are followed unless the test changes the flags. */
int session_make(void **state);
int session_drop(void **state);

/* Runs program in a child with UT_SESSION set, then reads what it left. */
void session_run(struct session *s, void (*program)(void));

#endif
