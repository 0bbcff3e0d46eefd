/*
 * load.h - loads plugins. ut_spread_start() lives here, too.
 */
#ifndef UT_SPREAD_LOAD_H
#define UT_SPREAD_LOAD_H

#include "spread/spread.h"

/* One plugin file; -ENOENT if there is none, else the reason is in err. The library stays loaded.
 */
int ut_spread_open(const char *path, const struct ut_mpi **mpi, struct ut_err *err) UT_MUST_CHECK;

#endif
