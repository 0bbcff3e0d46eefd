/* one_sided.c - rank 0 puts to and gets from the window of rank 1, in every way, under locks. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	char *memory = calloc(1, 8192), *mine = calloc(1, 8192);
	long one = 1, old = 0, same = 0;
	MPI_Request r;
	MPI_Win w;
	int me;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	/* not MPI_Win_allocate: MPI_Compare_and_swap of Open MPI 4.1 crashes with that */
	MPI_Win_create(memory, 8192, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_lock_all(0, w);
	MPI_Win_sync(w);
	MPI_Win_unlock_all(w);
	if (!me) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
		MPI_Put(mine, 1000, MPI_CHAR, 1, 0, 1000, MPI_CHAR, w);
		MPI_Win_flush(1, w);
		MPI_Rput(mine, 2000, MPI_CHAR, 1, 0, 2000, MPI_CHAR, w, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Accumulate(mine, 3000, MPI_CHAR, 1, 0, 3000, MPI_CHAR, MPI_REPLACE, w);
		MPI_Win_flush(1, w);
		MPI_Get(mine, 100, MPI_CHAR, 1, 0, 100, MPI_CHAR, w);
		MPI_Win_flush_local(1, w);
		MPI_Rget(mine, 200, MPI_CHAR, 1, 0, 200, MPI_CHAR, w, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 4096, MPI_SUM, w);
		MPI_Win_flush(1, w);
		MPI_Compare_and_swap(&one, &old, &same, MPI_LONG, 1, 4096, w);
		MPI_Win_unlock(1, w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&w);
	free(memory);
	free(mine);
	MPI_Finalize();
	return 0;
}
