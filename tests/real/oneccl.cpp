/* oneccl.cpp - what a training step asks of oneCCL, on MPI ranks: reduce, gather, broadcast. */
#include <cstdio>
#include <vector>

#include <mpi.h>
#include <oneapi/ccl.hpp>

static ccl::shared_ptr_class<ccl::kvs> meet(int rank)
{
	ccl::kvs::address_type address;

	if (rank == 0) {
		auto kvs = ccl::create_main_kvs();

		address = kvs->get_address();
		MPI_Bcast(address.data(), static_cast<int>(address.size()), MPI_BYTE, 0,
			  MPI_COMM_WORLD);
		return kvs;
	}
	MPI_Bcast(address.data(), static_cast<int>(address.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
	return ccl::create_kvs(address);
}

int main(int argc, char **argv)
{
	const size_t n = 4096;
	int rank, ranks;

	ccl::init();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	{
		auto comm = ccl::create_communicator(ranks, rank, meet(rank));
		std::vector<float> mine(n, static_cast<float>(rank + 1)), sum(n);

		for (int step = 0; step < 10; step++) {
			ccl::allreduce(mine.data(), sum.data(), n, ccl::reduction::sum, comm)
				.wait();
			ccl::broadcast(sum.data(), n, 0, comm).wait();
		}
		ccl::barrier(comm).wait();
		if (rank == 0)
			std::printf("%.0f\n", static_cast<double>(sum[n - 1]));
	}
	MPI_Finalize();
	return 0;
}
