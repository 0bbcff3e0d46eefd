/*
 * to_self.c - a rank that sends COUNT messages to itself, and then says how much memory of its own
 * it has, in kB: for bench_ranks.py. Nobody waits for anybody, so that many ranks fit on few cores.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long memory(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "RssAnon:", 8))
			kb = atol(line + 8);
	}
	if (f)
		fclose(f);
	return kb;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000, before, most, mine;
	int rank, in = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	before = memory();
	for (long i = 0; i < count; i++) {
		MPI_Request requests[2];

		MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	mine = memory() - before;
	MPI_Reduce(&mine, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%ld\n", most);
	MPI_Finalize();
	return 0;
}
