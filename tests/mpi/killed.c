/* killed.c - rank 1 gets 100 messages from rank 0 and is killed; rank 0 does not notice at once. */
#include <mpi.h>
#include <signal.h>

int main(int argc, char **argv)
{
	int rank, value = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 100; i++) {
		if (!rank)
			MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (rank)
		raise(SIGKILL);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
