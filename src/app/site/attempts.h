/*
 * attempts.h - how often a passphrase has been guessed wrong, and what the next guess costs.
 *
 * There are two limits, and neither is a lock that others can close. Of one client (a user of this
 * machine, an address, a session) the first few guesses are free; from then on it waits twice as
 * long after each wrong one, up to a minute. And each guess, whoever makes it, costs time that
 * grows with the wrong ones of all clients together, up to a few seconds: guessing from many
 * addresses is slow, while whoever knows the passphrase waits for those seconds at most.
 * What is remembered is bounded. Not thread-safe: the owner locks.
 */
#ifndef UT_SITE_ATTEMPTS_H
#define UT_SITE_ATTEMPTS_H

#include <stdint.h>

#define UT_ATTEMPT_CLIENTS   256u
#define UT_ATTEMPT_FREE      5u
#define UT_ATTEMPT_MOST_S    60u
#define UT_ATTEMPT_COST_FREE 10u   /* wrong guesses of all clients together */
#define UT_ATTEMPT_COST_MS   4000u /* the most that one costs */

struct ut_attempt {
	char client[64];
	unsigned int wrong;
	int64_t until, last; /* s */
};

struct ut_attempts {
	struct ut_attempt clients[UT_ATTEMPT_CLIENTS];
	unsigned int wrong; /* of all clients */
	int64_t last;       /* of them */
};

/* 0: it may try now (a clock in seconds); otherwise after so many seconds. */
unsigned int ut_attempts_wait(const struct ut_attempts *a, const char *client, int64_t now);

/* How many of this client's guesses were wrong lately. */
unsigned int ut_attempts_count(const struct ut_attempts *a, const char *client);

/* ms that have to pass after a guess before the next one is looked at. */
unsigned int ut_attempts_cost(const struct ut_attempts *a, int64_t now);

void ut_attempts_wrong(struct ut_attempts *a, const char *client, int64_t now);
void ut_attempts_right(struct ut_attempts *a, const char *client);

#endif
