/*
 * load_plugin.h - loads plugins. ut_mpijob_start() lives here, too.
 */
#ifndef UT_MPIJOB_LOAD_PLUGIN_H
#define UT_MPIJOB_LOAD_PLUGIN_H

#include "mpijob/mpijob.h"

/* One plugin file; -ENOENT if there is none, else the reason is in err. The library stays loaded.
 */
int ut_mpijob_open(const char *path, const struct ut_mpi **mpi, struct ut_err *err) UT_MUST_CHECK;

#endif
