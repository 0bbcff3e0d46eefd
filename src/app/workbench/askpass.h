/*
 * askpass.h - how ssh is told a password: it runs a helper, which is our own executable under
 * another name, and that asks the process which holds the password. So it is in no file, on no
 * command line and in nobody's environment.
 *
 * The socket has an address whose name nobody guesses; whoever comes must be a child of the very
 * ssh that it was opened for. It answers once: a password that is wrong is not tried again.
 */
#ifndef UT_WORKBENCH_ASKPASS_H
#define UT_WORKBENCH_ASKPASS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

#define UT_ASKPASS_NAME    "unitrace-askpass" /* of the link to our executable */
#define UT_ASKPASS_SETTING "UNITRACE_ASKPASS" /* the socket's address, for the helper */
#define UT_ASKPASS_SOCKET  64

struct ut_askpass {
	int socket_fd; /* -1 = closed */
	char name[UT_ASKPASS_SOCKET];
	bool has_answered, was_wrong; /* it was asked again for what protects a key */
};

#define UT_ASKPASS_NONE ((struct ut_askpass){ .socket_fd = -1 })

int ut_askpass_open(struct ut_askpass *a, struct ut_err *err) UT_MUST_CHECK;
void ut_askpass_close(struct ut_askpass *a);

/* Answers the connected process, if it is a child of parent and asks for a password. */
void ut_askpass_answer(struct ut_askpass *a, pid_t parent, const char *secret);

/* Is a prompt of ssh's one for a password, or for what protects a key? */
bool ut_askpass_is_for_password(const char *prompt);

/* The helper: is it meant, and what it does: the password goes to a descriptor. The exit status. */
bool ut_askpass_is_meant(const char *argv0);
int ut_askpass_run(int argc, const char *const *argv, int to);

#endif
