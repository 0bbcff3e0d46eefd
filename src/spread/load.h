/*
 * load.h - finds, loads and starts the plugin of the MPI that we run under.
 */
#ifndef UT_SPREAD_LOAD_H
#define UT_SPREAD_LOAD_H

#include "spread/spread.h"

/* See ut_spread_start(). */
enum ut_spread_role ut_spread_load(struct ut_spread *s, struct ut_err *note);

/* One plugin file; -ENOENT if there is none, else the reason is in err. The library stays loaded.
 */
int ut_spread_open(const char *path, const struct ut_mpi **mpi, struct ut_err *err) UT_MUST_CHECK;

#endif
