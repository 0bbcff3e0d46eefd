#include "site/attempts.h"

#include <stdio.h>
#include <string.h>

#define FORGET_S      3600
#define FIRST_COST_MS 125u
#define COST_STEP     5u /* wrong guesses, after which one costs twice as much */

static const struct ut_attempt *attempts_find(const struct ut_attempts *a, const char *client)
{
	for (size_t i = 0; i < UT_ATTEMPT_CLIENTS; i++) {
		if (a->clients[i].wrong && !strcmp(a->clients[i].client, client))
			return &a->clients[i];
	}
	return NULL;
}

unsigned int ut_attempts_wait(const struct ut_attempts *a, const char *client, int64_t now)
{
	const struct ut_attempt *one = attempts_find(a, client);

	return one && now < one->until ? (unsigned int)(one->until - now) : 0;
}

unsigned int ut_attempts_count(const struct ut_attempts *a, const char *client)
{
	const struct ut_attempt *one = attempts_find(a, client);

	return one ? one->wrong : 0;
}

unsigned int ut_attempts_cost(const struct ut_attempts *a, int64_t now)
{
	unsigned int doublings;

	if (now - a->last > FORGET_S || a->wrong <= UT_ATTEMPT_COST_FREE)
		return 0;
	doublings = (a->wrong - UT_ATTEMPT_COST_FREE) / COST_STEP;
	return doublings < 5 ? FIRST_COST_MS << doublings : UT_ATTEMPT_COST_MS;
}

/* Its place, or that of the one who has been quiet for longest. */
static struct ut_attempt *attempts_place(struct ut_attempts *a, const char *client, int64_t now)
{
	struct ut_attempt *oldest = &a->clients[0];

	for (size_t i = 0; i < UT_ATTEMPT_CLIENTS; i++) {
		struct ut_attempt *one = &a->clients[i];

		if (one->wrong && now - one->last > FORGET_S)
			one->wrong = 0;
		if (one->wrong && !strcmp(one->client, client))
			return one;
		if (oldest->wrong && (!one->wrong || one->last < oldest->last))
			oldest = one;
	}
	*oldest = (struct ut_attempt){ 0 };
	snprintf(oldest->client, sizeof(oldest->client), "%s", client);
	return oldest;
}

void ut_attempts_wrong(struct ut_attempts *a, const char *client, int64_t now)
{
	struct ut_attempt *one = attempts_place(a, client, now);
	unsigned int wait = 0;

	one->wrong++;
	one->last = now;
	if (one->wrong >= UT_ATTEMPT_FREE)
		wait = one->wrong - UT_ATTEMPT_FREE < 10 ? 1u << (one->wrong - UT_ATTEMPT_FREE)
							 : UT_ATTEMPT_MOST_S;
	one->until = now + (wait < UT_ATTEMPT_MOST_S ? wait : UT_ATTEMPT_MOST_S);
	if (now - a->last > FORGET_S)
		a->wrong = 0;
	a->last = now;
	a->wrong += a->wrong < UINT32_MAX;
}

void ut_attempts_right(struct ut_attempts *a, const char *client)
{
	for (size_t i = 0; i < UT_ATTEMPT_CLIENTS; i++) {
		if (!strcmp(a->clients[i].client, client))
			a->clients[i].wrong = 0;
	}
}
