/*
 * remote_deploy.h - our own files, copied to another machine: the program, the collector and what
 * lies beside it, into a folder of their own for each version.
 *
 *     FOLDER/agents/MARK/bin/unitrace
 *     FOLDER/agents/MARK/lib/...
 *     FOLDER/runs/NAME/                 a run, until its result has been fetched
 *
 * FOLDER is the machine's, else .cache/unitrace in the home folder.
 */
#ifndef UT_WORKBENCH_REMOTE_DEPLOY_H
#define UT_WORKBENCH_REMOTE_DEPLOY_H

#include "base/err.h"

struct ut_remote_reader;
struct ut_ssh;
struct ut_ssh_opts;

/*
 * Our agent on that machine, which is copied there if it is not there yet: what it says from
 * UT_REMOTE_BEGIN on is to be read with r. *copied, unless NULL: bytes that were copied, 0 = none.
 * Errors as ut_ssh_why() has them; -ENOEXEC: our files do not run there.
 */
int ut_remote_open(struct ut_ssh *s, const struct ut_ssh_opts *opts, struct ut_remote_reader *r,
		   unsigned long long *copied, struct ut_err *err) UT_MUST_CHECK;

#endif
