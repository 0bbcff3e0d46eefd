/*
 * ssh.h - another machine, reached by the ssh of this one.
 *
 * The user's own configuration counts (aliases, jump hosts), but for what we depend on: keys of
 * machines are those of our own file, and one that is not in it, or is another one, is refused.
 * What is run there is one of our constants: nothing that anybody has typed is a word of a command
 * line on the other side. One owner, one thread.
 */
#ifndef UT_WORKBENCH_SSH_H
#define UT_WORKBENCH_SSH_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "workbench/askpass.h"
#include "workbench/spawned.h"

struct ut_arena;
struct ut_machine;

struct ut_ssh_opts {
	const struct ut_machine *target;
	int own;             /* the server's folder in the data directory */
	const char *program; /* our own executable */
	const char *secret;  /* a password, or what protects a key; NULL = none */
	bool compress;
};

struct ut_ssh {
	struct ut_ssh_opts opts;
	struct ut_spawned program;
	struct ut_askpass askpass;
};

#define UT_SSH_NONE ((struct ut_ssh){ .program = UT_SPAWNED_NONE, .askpass = UT_ASKPASS_NONE })

/* Starts it; whether anybody lets us in shows later. command: one of our constants. */
int ut_ssh_start(struct ut_ssh *s, const struct ut_ssh_opts *opts, const char *command,
		 struct ut_err *err) UT_MUST_CHECK;
void ut_ssh_release(struct ut_ssh *s);

/* What to wait for besides its output: call ut_ssh_tend() when it comes, or at any time. */
#define UT_SSH_POLLED 3u
void ut_ssh_poll(const struct ut_ssh *s, struct pollfd to[UT_SSH_POLLED]);
void ut_ssh_tend(struct ut_ssh *s);

/* All of it, within so many ms between two pieces. -EPIPE: it has ended. */
int ut_ssh_send(struct ut_ssh *s, const char *data, size_t len, int ms) UT_MUST_CHECK;

/* Some of what it says: bytes, 0 = nothing yet within ms, -EPIPE: it has ended. */
ssize_t ut_ssh_receive(struct ut_ssh *s, char *to, size_t room, int ms) UT_MUST_CHECK;

/*
 * It has ended, and should not have: why. -ENOKEY: the machine's key is not known. -EKEYREJECTED:
 * it is another one than was accepted. -EACCES: we are not let in. -EHOSTUNREACH: there is nobody.
 * -ECONNRESET: the connection was lost. -EIO: others.
 */
int ut_ssh_why(struct ut_ssh *s, struct ut_err *err);

/* Asks a machine for its key, without trusting it: "TYPE KEY" and the fingerprint of it. */
int ut_ssh_scan(const struct ut_ssh_opts *opts, struct ut_arena *a, const char **key,
		const char **fingerprint, struct ut_err *err) UT_MUST_CHECK;

#endif
