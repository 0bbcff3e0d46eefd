/*
 * attempts.h - how often somebody has guessed wrong, and how long nobody from there is heard.
 *
 * The first few are free. From then on an address waits twice as long after each wrong one, up to a
 * quarter of an hour; all addresses together may be wrong so often a minute, so that guessing from
 * many does not help. What is remembered is bounded. Not thread-safe: the owner locks.
 */
#ifndef UT_SITE_ATTEMPTS_H
#define UT_SITE_ATTEMPTS_H

#include <stdint.h>

#define UT_ATTEMPT_CLIENTS 256u
#define UT_ATTEMPT_FREE    5u
#define UT_ATTEMPT_MOST_S  900u
#define UT_ATTEMPT_MINUTE  60u /* wrong ones of all clients together in a minute */

struct ut_attempt {
	char client[46];
	unsigned int wrong;
	int64_t until, last; /* s */
};

struct ut_attempts {
	struct ut_attempt clients[UT_ATTEMPT_CLIENTS];
	int64_t minute; /* that is counted */
	unsigned int in_minute;
};

/* 0: it may try now (a clock in seconds); otherwise after so many seconds. */
unsigned int ut_attempts_wait(const struct ut_attempts *a, const char *client, int64_t now);

void ut_attempts_wrong(struct ut_attempts *a, const char *client, int64_t now);
void ut_attempts_right(struct ut_attempts *a, const char *client);

#endif
