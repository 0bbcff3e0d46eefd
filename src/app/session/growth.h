/*
 * growth.h - tells that a recording becomes large while something can still be done about
 * it: once a second while the program runs, and before results are written.
 */
#ifndef UT_SESSION_GROWTH_H
#define UT_SESSION_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

struct ut_session_client;

/* Embedded; {0} says nothing. One thread. */
struct ut_growth {
	const char *session_dir;
	uint64_t next;             /* bytes that are worth the next event; 0 = none */
	uint64_t start, last_time; /* ns, CLOCK_MONOTONIC */
	uint64_t last_bytes, rate; /* bytes, and bytes in a second, at the last look */
	const struct ut_session_client *client;
	bool python; /* Python's functions are recorded: these can be made fewer */
};

void ut_growth_init(struct ut_growth *g, const char *session_dir, bool python,
		    const struct ut_session_client *client);

/*
 * The size so far and the rate, where the client shows them; and an event, if the recording has
 * become four times as large as at the last one.
 */
void ut_growth_look(struct ut_growth *g);

/* The program has ended: the size goes away again. */
void ut_growth_end(struct ut_growth *g);

#endif
