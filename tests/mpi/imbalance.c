/*
 * imbalance.c - steps in which one rank takes longer than the others, by a known time.
 *
 *	imbalance FOLDER STEPS LATE_RANK EXTRA_MS [pair|bcast]
 *
 * Each step has the tasks assemble, in which LATE_RANK sleeps EXTRA_MS more than the 4 ms of the
 * others, and solve, in which all meet. FOLDER/RANK.log gets a line for each step: when the rank
 * came to the meeting and when it left, in ns of the clock that all ranks share.
 */
#include "log.h"

#include <time.h>
#include <unistd.h>

#include "ittnotify.h"

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* In pairs: the late rank sends to the next one. */
static void meet(const char *how, int late)
{
	double a = me, b = 0;

	if (!strcmp(how, "pair")) {
		if (me == late)
			MPI_Send(&a, 1, MPI_DOUBLE, (late + 1) % ranks, 1, MPI_COMM_WORLD);
		else if (me == (late + 1) % ranks)
			MPI_Recv(&b, 1, MPI_DOUBLE, late, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (!strcmp(how, "bcast")) {
		MPI_Bcast(&a, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
	} else {
		MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	__itt_domain *domain = __itt_domain_create("solver");
	__itt_string_handle *step = __itt_string_handle_create("step");
	__itt_string_handle *assemble = __itt_string_handle_create("assemble");
	__itt_string_handle *solve = __itt_string_handle_create("solve");
	int steps, late, extra;
	const char *how;
	int64_t begin;

	MPI_Init(&argc, &argv);
	log_open(argv[1]);
	steps = atoi(argv[2]);
	late = atoi(argv[3]);
	extra = atoi(argv[4]);
	how = argc > 5 ? argv[5] : "all";
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < steps; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, step);
		__itt_task_begin(domain, __itt_null, __itt_null, assemble);
		usleep(1000 * (unsigned int)(4 + (me == late ? extra : 0)));
		__itt_task_end(domain);
		__itt_task_begin(domain, __itt_null, __itt_null, solve);
		begin = now();
		meet(how, late);
		fprintf(log_file, "%ld %ld\n", (long)begin, (long)now());
		__itt_task_end(domain);
		__itt_task_end(domain);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	fclose(log_file);
	MPI_Finalize();
	return 0;
}
