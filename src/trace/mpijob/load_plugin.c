#include "mpijob/load_plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "mpijob/job.h"
#include "mpijob/plugin.h"

#ifndef UT_LIBDIR_REL
#define UT_LIBDIR_REL "../lib"
#endif

int ut_mpijob_open(const char *path, const struct ut_mpi **mpi, struct ut_err *err)
{
	const struct ut_mpi *found;
	void *library;

	if (access(path, F_OK))
		return ut_err_set(err, -ENOENT, "%s: no such plugin", path);
	/* Local: a second MPI, tried after this one, must not find this one's functions. */
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return ut_err_set(err, -ELIBBAD, "%s", dlerror());
	found = dlsym(library, UT_MPI_SYMBOL);
	if (!found || found->abi != UT_MPI_ABI || found->size < sizeof(*found)) {
		dlclose(library);
		return ut_err_set(err, -ELIBBAD,
				  "%s: made for another version of unitrace; install it again",
				  path);
	}
	*mpi = found;
	return 0;
}

/* Starts one MPI: 0 with s filled in, or why not. */
static int start_plugin(struct ut_mpijob *s, const struct ut_job *job, const struct ut_mpi *mpi,
			struct ut_err *err)
{
	int rank = 0, ranks = 1;
	int rc = mpi->start(&rank, &ranks);

	if (rc)
		return ut_err_set(err, rc, "%s does not start here", mpi->name);
	/* A library that is not the one that started us thinks that we are alone. */
	if (job->ranks ? job->ranks != ranks : job->rank >= ranks) {
		mpi->stop();
		return ut_err_set(err, -EPROTO, "%s sees %d rank%s, which is not this job",
				  mpi->name, ranks, ranks == 1 ? "" : "s");
	}
	*s = (struct ut_mpijob){ .rank = rank, .ranks = ranks, .mpi = mpi };
	return 0;
}

static const struct ut_mpi *find_plugin(const char *name, struct ut_err *err)
{
	static const char *const places[] = { UT_LIBDIR_REL, "../lib" };
	struct ut_arena arena = { 0 };
	const char *bin = ut_path_self_dir(&arena);
	const struct ut_mpi *mpi = NULL;

	for (size_t i = 0; !mpi && i < sizeof(places) / sizeof(places[0]); i++) {
		struct ut_err why = { 0 };
		char *path = ut_str_fmt(&arena, "%s/%s/unitrace/mpi/%s.so", bin ? bin : ".",
					places[i], name);
		int rc = ut_mpijob_open(path, &mpi, &why);

		if (rc && rc != -ENOENT)
			ut_err_set(err, rc, "%s", why.text);
	}
	ut_arena_release(&arena);
	return mpi;
}

/*
 * All are loaded before one is started: Open MPI makes its functions visible to everybody when it
 * starts, and another plugin that is loaded after that would call them.
 */
static int try_plugins(struct ut_mpijob *s, const struct ut_job *job, struct ut_err *err)
{
	const struct ut_mpi *found[UT_JOB_PLUGINS];
	int rc = -ENOENT;

	for (size_t i = 0; i < UT_JOB_PLUGINS; i++)
		found[i] = find_plugin(job->plugins[i], err);
	for (size_t i = 0; rc && i < UT_JOB_PLUGINS; i++) {
		if (found[i])
			rc = start_plugin(s, job, found[i], err);
	}
	return rc;
}

enum ut_mpijob_role ut_mpijob_start(struct ut_mpijob *s, struct ut_err *note)
{
	struct ut_job job = ut_job_look();
	struct ut_err why = { 0 };

	*s = (struct ut_mpijob){ .ranks = 1 };
	if (job.ranks == 1 || !try_plugins(s, &job, &why))
		return UT_MPIJOB_WORK;
	if (job.rank)
		return UT_MPIJOB_IDLE;
	ut_err_set(note, -ENOTSUP,
		   "no plugin for this MPI (%s): rank 0 does all the work, the others do nothing",
		   why.text[0] ? why.text : "none was built; see docs/guides/mpi.md");
	return UT_MPIJOB_WORK;
}
