#include "mpijob/job.h"

#include <stddef.h>
#include <stdlib.h>

/* The first one that is set counts: Open MPI's mpiexec sets the variables of PMIx too, SLURM those
 * of all. */
static const struct launcher {
	const char *rank, *ranks, *local; /* variables; NULL: it does not tell */
	const char *plugins[UT_JOB_PLUGINS];
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK",
	  "OMPI_COMM_WORLD_SIZE",
	  "OMPI_COMM_WORLD_LOCAL_SIZE",
	  { "openmpi", "mpich" } },
	/* Hydra: MPICH, Intel MPI; srun */
	{ "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", { "mpich", "openmpi" } },
	{ "MV2_COMM_WORLD_RANK",
	  "MV2_COMM_WORLD_SIZE",
	  "MV2_COMM_WORLD_LOCAL_SIZE",
	  { "mpich", "openmpi" } },
	/* In a batch script SLURM_NTASKS is set, too, but it is no task of a step. */
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, { "openmpi", "mpich" } },
	{ "PMIX_RANK", NULL, NULL, { "openmpi", "mpich" } },
};

/* -1 if there is no such variable or it is no number. */
static int job_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long value;

	if (!text || *text < '0' || *text > '9')
		return -1;
	value = strtol(text, &end, 10);
	return *end || value > 1 << 30 ? -1 : (int)value;
}

struct ut_job ut_job_look(void)
{
	struct ut_job job = { .ranks = 1, .local = 1 };

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct launcher *l = &launchers[i];
		int rank = job_number(l->rank), ranks = l->ranks ? job_number(l->ranks) : 0;

		if (rank < 0 || ranks < 0 || (ranks && rank >= ranks))
			continue;
		job.rank = rank;
		job.ranks = ranks;
		if (l->local && job_number(l->local) > 0)
			job.local = job_number(l->local);
		for (size_t k = 0; k < UT_JOB_PLUGINS; k++)
			job.plugins[k] = l->plugins[k];
		break;
	}
	return job;
}
