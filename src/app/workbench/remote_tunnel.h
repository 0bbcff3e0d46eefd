/*
 * remote_tunnel.h - connections that begin on this machine and end on another: what is said on them
 * travels in pieces with the connection's number, between all else that goes through one ssh.
 *
 *     here, remote_run.c       whoever looks at the run connects to a socket in the result's folder
 *     there, remote_agent.c    each number is a connection to a viewer of the recording
 *
 * A piece of no bytes ends its connection. Nobody waits: what cannot be written yet is kept, up to
 * a bound, and who does not read loses his connection. One owner, one thread.
 */
#ifndef UT_WORKBENCH_REMOTE_TUNNEL_H
#define UT_WORKBENCH_REMOTE_TUNNEL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define UT_TUNNELS_MAX    32u
#define UT_TUNNEL_PIECE   (32u << 10)
#define UT_TUNNEL_WAITING (64u << 20)

struct ut_tunnel {
	uint64_t number; /* 0 = free */
	int fd;
	struct ut_buf out; /* to be written, from done on */
	size_t done;
	bool is_over; /* the other side has ended it: when all is written */
};

/* {0} has none. */
struct ut_tunnels {
	struct ut_tunnel items[UT_TUNNELS_MAX];
};

/* A connection, which is ours from now on and does not block. False: there are too many, or the
 * number is taken; it is closed. */
bool ut_tunnels_add(struct ut_tunnels *t, uint64_t number, int fd);
bool ut_tunnels_has(const struct ut_tunnels *t, uint64_t number);
void ut_tunnels_release(struct ut_tunnels *t);

/* What the other side says. Of a number that nobody has: nothing happens. */
void ut_tunnels_take(struct ut_tunnels *t, uint64_t number, struct ut_str bytes);

/* What to wait for. */
void ut_tunnels_poll(const struct ut_tunnels *t, struct pollfd to[UT_TUNNELS_MAX]);

/* Reads and writes what can be. tell gets what the other side shall know. */
typedef void (*ut_tunnel_fn)(void *ctx, uint64_t number, struct ut_str bytes);
void ut_tunnels_move(struct ut_tunnels *t, ut_tunnel_fn report, void *ctx);

#endif
