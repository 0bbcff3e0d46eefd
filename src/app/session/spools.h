/*
 * spools.h - the recordings behind the words of a command line: session directories, spool files.
 */
#ifndef UT_SESSION_SPOOLS_H
#define UT_SESSION_SPOOLS_H

#include <stddef.h>

#include "base/err.h"

struct ut_spool_info;

/* {0} is empty. Owner of the array: whoever opened it. */
struct ut_spools {
	struct ut_spool_info *items;
	size_t count;
};

/* On failure there is nothing to close. A directory without spools adds none. */
int ut_spools_open(struct ut_spools *s, int argc, const char *const *argv,
		   struct ut_err *err) UT_MUST_CHECK;
void ut_spools_close(struct ut_spools *s);

#endif
