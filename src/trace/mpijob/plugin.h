/*
 * plugin.h - what an MPI library does for us.
 *
 * MPI libraries have no binary interface in common, so each gets a shared object of its own,
 * compiled from plugin/mpi.c against its mpi.h; the program itself links none. The object exports
 * one constant, ut_mpi. Members are only ever added at the end; size says which ones are there.
 *
 * All functions but start() are called by the thread that called start(), on every rank and in the
 * same order; send() and recv() on the two ranks concerned. MPI ends the whole job when one of
 * them fails, so none returns an error. Lengths are bytes and may exceed what an int holds.
 */
#ifndef UT_MPIJOB_PLUGIN_H
#define UT_MPIJOB_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define UT_MPI_ABI    1u
#define UT_MPI_SYMBOL "ut_mpi"

struct ut_mpi {
	uint32_t abi;  /* UT_MPI_ABI */
	uint32_t size; /* sizeof(struct ut_mpi) */
	const char *name;

	/* 0, or a negative errno if this MPI does not start here. Once per process. */
	int (*start)(int *rank, int *ranks);
	void (*stop)(void);

	void (*barrier)(void);
	void (*max)(int64_t *values, int count);          /* over all ranks, in place */
	void (*sum_before)(uint64_t *value);              /* of the ranks below; 0 on rank 0 */
	void (*bcast)(void *data, size_t len);            /* from rank 0 */
	void (*gather_u64)(uint64_t mine, uint64_t *all); /* all: on rank 0, one per rank */
	/* lens and all matter on rank 0: what the ranks gave, one behind the other. */
	void (*gather)(const void *mine, size_t len, const uint64_t *lens, char *all);
	void (*send)(int to, const void *data, size_t len);
	void (*recv)(int from, void *data, size_t len);
};

#endif
