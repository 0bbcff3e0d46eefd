/*
 * mpi.c - the plugin for one MPI library: cmake/mpi.cmake compiles this file once per library.
 */
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpijob/plugin.h"

#ifndef UT_MPI_NAME
#define UT_MPI_NAME "MPI"
#endif

#define PIECE (1u << 30) /* MPI counts in ints */

static int my_rank, rank_count;

static int plugin_mpi_start(int *rank, int *ranks)
{
	int level;

	/* Worker threads of ours never talk to MPI. */
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
		return -EIO;
	MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
	*rank = my_rank;
	*ranks = rank_count;
	return 0;
}

static void plugin_mpi_stop(void)
{
	MPI_Finalize();
}

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void max(int64_t *values, int count)
{
	MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
}

static void sum_before(uint64_t *value)
{
	uint64_t sum = 0;

	MPI_Exscan(value, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	*value = my_rank ? sum : 0; /* MPI leaves rank 0's result undefined */
}

static void bcast(void *data, size_t len)
{
	for (char *p = data; len;) {
		size_t some = len < PIECE ? len : PIECE;

		MPI_Bcast(p, (int)some, MPI_BYTE, 0, MPI_COMM_WORLD);
		p += some;
		len -= some;
	}
}

static void gather_u64(uint64_t mine, uint64_t *all)
{
	MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
}

static void send_bytes(int to, const void *data, size_t len)
{
	for (const char *p = data; len;) {
		size_t some = len < PIECE ? len : PIECE;

		MPI_Send(p, (int)some, MPI_BYTE, to, 0, MPI_COMM_WORLD);
		p += some;
		len -= some;
	}
}

static void recv_bytes(int from, void *data, size_t len)
{
	for (char *p = data; len;) {
		size_t some = len < PIECE ? len : PIECE;

		MPI_Recv(p, (int)some, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		p += some;
		len -= some;
	}
}

/* One after the other: what MPI_Gatherv's int displacements cannot reach. */
static void gather_large(const void *mine, size_t len, const uint64_t *lens, char *all)
{
	if (my_rank) {
		send_bytes(0, mine, len);
		return;
	}
	if (len)
		memcpy(all, mine, len);
	for (int r = 1; r < rank_count; r++) {
		all += lens[r - 1];
		recv_bytes(r, all, lens[r]);
	}
}

static void gather_small(const void *mine, int len, const uint64_t *lens, char *all)
{
	size_t n = my_rank ? 0 : (size_t)rank_count;
	int *counts = NULL, *starts = NULL, at = 0;

	if (n) {
		counts = calloc(2 * n, sizeof(*counts));
		if (!counts)
			abort(); /* and MPI ends the others */
		starts = counts + n;
	}
	for (size_t r = 0; r < n; r++) {
		counts[r] = (int)lens[r];
		starts[r] = at;
		at += counts[r];
	}
	MPI_Gatherv(mine, len, MPI_BYTE, all, counts, starts, MPI_BYTE, 0, MPI_COMM_WORLD);
	free(counts);
}

static void plugin_mpi_gather(const void *mine, size_t len, const uint64_t *lens, char *all)
{
	uint64_t total = 0;

	for (int r = 0; !my_rank && r < rank_count; r++)
		total += lens[r];
	bcast(&total, sizeof(total));
	if (total <= INT_MAX)
		gather_small(mine, (int)len, lens, all);
	else
		gather_large(mine, len, lens, all);
}

extern const struct ut_mpi ut_mpi;
__attribute__((visibility("default"))) const struct ut_mpi ut_mpi = {
	.abi = UT_MPI_ABI,
	.size = sizeof(struct ut_mpi),
	.name = UT_MPI_NAME,
	.start = plugin_mpi_start,
	.stop = plugin_mpi_stop,
	.barrier = barrier,
	.max = max,
	.sum_before = sum_before,
	.bcast = bcast,
	.gather_u64 = gather_u64,
	.gather = plugin_mpi_gather,
	.send = send_bytes,
	.recv = recv_bytes,
};
