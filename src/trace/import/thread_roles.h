/*
 * thread_roles.h - what the threads are for that libraries start without a name: said by the code
 * that they run.
 */
#ifndef UT_IMPORT_THREAD_ROLES_H
#define UT_IMPORT_THREAD_ROLES_H

#include "base/str.h"

#define UT_ROLE_OPENMP "OpenMP worker"

/* By a function of a thread and the path of its file, either may be empty; NULL = unknown. */
const char *ut_thread_role(const char *module, struct ut_str function);

#endif
