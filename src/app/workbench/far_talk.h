/*
 * far_talk.h - connections that begin on this machine and end on another: what is said on them
 * travels in pieces with the connection's number, between all else that goes through one ssh.
 *
 *     here, far_run.c       whoever looks at the run connects to a socket in the result's folder
 *     there, far_agent.c    each number is a connection to a viewer of the recording
 *
 * A piece of no bytes ends its connection. Nobody waits: what cannot be written yet is kept, up to
 * a bound, and who does not read loses his connection. One owner, one thread.
 */
#ifndef UT_WORKBENCH_FAR_TALK_H
#define UT_WORKBENCH_FAR_TALK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define UT_TALKS_MOST   32u
#define UT_TALK_PIECE   (32u << 10)
#define UT_TALK_WAITING (64u << 20)

struct ut_talk {
	uint64_t number; /* 0 = free */
	int fd;
	struct ut_buf out; /* to be written, from done on */
	size_t done;
	bool is_over; /* the other side has ended it: when all is written */
};

/* {0} has none. */
struct ut_talks {
	struct ut_talk items[UT_TALKS_MOST];
};

/* A connection, which is ours from now on and does not block. False: there are too many, or the
 * number is taken; it is closed. */
bool ut_talks_add(struct ut_talks *t, uint64_t number, int fd);
bool ut_talks_has(const struct ut_talks *t, uint64_t number);
void ut_talks_release(struct ut_talks *t);

/* What the other side says. Of a number that nobody has: nothing happens. */
void ut_talks_take(struct ut_talks *t, uint64_t number, struct ut_str bytes);

/* What to wait for. */
void ut_talks_poll(const struct ut_talks *t, struct pollfd to[UT_TALKS_MOST]);

/* Reads and writes what can be. tell gets what the other side shall know. */
typedef void (*ut_talk_fn)(void *ctx, uint64_t number, struct ut_str bytes);
void ut_talks_move(struct ut_talks *t, ut_talk_fn report, void *ctx);

#endif
