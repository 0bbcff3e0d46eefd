/*
 * wait.h - waiting for a condition instead of for a time, with one generous limit:
 *
 *	UT_WAIT_UNTIL(atomic_load(&started));
 *
 * The test fails with the condition's text when it is still false after UT_WAIT_SECONDS, which only
 * a hang takes; UNITRACE_PATIENCE multiplies that, as in tests/e2e/common.py. To be included after
 * cmocka.h.
 */
#ifndef UT_TESTS_SUPPORT_WAIT_H
#define UT_TESTS_SUPPORT_WAIT_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define UT_WAIT_SECONDS 150.0

#define UT_WAIT_UNTIL(condition)                                                                   \
	do {                                                                                       \
		double end_ = 0;                                                                   \
                                                                                                   \
		while (!(condition)) {                                                             \
			if (!ut_wait_step(&end_) && !(condition))                                  \
				fail_msg("still not: %s", #condition);                             \
		}                                                                                  \
	} while (0)

/* Sleeps a millisecond; false when the limit is over. */
static inline bool ut_wait_step(double *end)
{
	const struct timespec step = { 0, 1000000 };
	const char *patience = getenv("UNITRACE_PATIENCE");
	struct timespec t;
	double now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	if (*end <= 0)
		*end = now + UT_WAIT_SECONDS * (patience && *patience ? strtod(patience, NULL) : 1);
	if (now > *end)
		return false;
	nanosleep(&step, NULL);
	return true;
}

#endif
