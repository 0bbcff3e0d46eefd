/*
 * remote_hello.h - is a machine there, does it let us in, and does our agent run on it?
 */
#ifndef UT_WORKBENCH_REMOTE_HELLO_H
#define UT_WORKBENCH_REMOTE_HELLO_H

#include "base/err.h"

struct ut_arena;
struct ut_doc;
struct ut_ssh_opts;

/* What an agent says about its machine. In the arena. */
struct ut_remote_hello {
	const char *version, *host, *folder;
	unsigned int cores;
	unsigned long long copied; /* bytes of ours that were copied there; 0 = they were there */
	const struct ut_doc *devices; /* as it tells them: see devices.h. NULL = it does not */
};

/* Errors as ut_remote_open() has them. */
int ut_remote_hello(const struct ut_ssh_opts *opts, struct ut_arena *a, struct ut_remote_hello *to,
		    struct ut_err *err) UT_MUST_CHECK;

/* One question that has one answer: JSON, in the arena. ask: a line. */
int ut_remote_ask(const struct ut_ssh_opts *opts, struct ut_arena *a, const char *ask,
		  const char **answer, unsigned long long *copied,
		  struct ut_err *err) UT_MUST_CHECK;

#endif
