/*
 * mpi_abi.h - which MPI this process uses, and what its handles and statuses look like.
 *
 * The layer is compiled without mpi.h. Every parameter of every function is an integer or a
 * pointer, which travels as one word wherever unitrace runs, so a wrapper hands on what it got
 * without knowing what a communicator is. What it looks into differs: MPICH (and Intel MPI, and
 * all that share its binary interface) has handles of 4 bytes, Open MPI addresses, and the
 * standard interface of MPI-5 (libmpi_abi) small numbers in 8 bytes.
 */
#ifndef UT_BACKEND_MPI_MPI_ABI_H
#define UT_BACKEND_MPI_MPI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uintptr_t ut_mpi_word;

/* As statuses are handed over by us: room for any of them. */
#define UT_MPI_STATUS_BYTES 32u

struct ut_mpi_abi {
	const char *name;
	uint32_t handle;      /* bytes of a handle in memory */
	uint32_t status;      /* bytes of a status */
	uint32_t source, tag; /* where in a status they are */
	ut_mpi_word ignore;   /* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE */
	ut_mpi_word in_place; /* MPI_IN_PLACE */
	ut_mpi_word world, byte, null_request, null_comm, null_win, null_file;
	int32_t any_source, any_tag, proc_null, root;
	int32_t cart, graph, dist_graph; /* what MPI_Topo_test says */
	int32_t threads;                 /* MPI_THREAD_MULTIPLE */
	int32_t exclusive;               /* MPI_LOCK_EXCLUSIVE */
	int32_t error;                   /* MPI_ERR_OTHER */
};

/* Set by ut_mpi_abi_find(). */
extern struct ut_mpi_abi ut_mpi_abi;

typedef void ut_mpi_fn(void); /* cast before it is called */

/*
 * A function of MPI as the program would have got it without us; NULL if the library has none of
 * that name. from is an address in whoever calls: a library that was loaded with RTLD_LOCAL is only
 * found through those that need it. errno is kept.
 */
ut_mpi_fn *ut_mpi_find(const char *name, const void *from);

/* Finds out which of them it is. False: no MPI is there. */
bool ut_mpi_abi_find(const void *from);

static inline ut_mpi_word ut_mpi_handle_at(ut_mpi_word array, size_t i)
{
	const char *at = (const char *)array + i * ut_mpi_abi.handle;
	ut_mpi_word wide;
	uint32_t narrow;

	if (ut_mpi_abi.handle == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

/* A handle that was passed by value: the upper half of a register is anything. */
static inline ut_mpi_word ut_mpi_handle(ut_mpi_word word)
{
	return ut_mpi_abi.handle == sizeof(word) ? word : (uint32_t)word;
}

static inline int32_t ut_mpi_int_at(ut_mpi_word array, size_t i)
{
	int32_t value;

	memcpy(&value, (const char *)array + i * sizeof(value), sizeof(value));
	return value;
}

static inline int32_t ut_mpi_status_source(ut_mpi_word status)
{
	return ut_mpi_int_at(status + ut_mpi_abi.source, 0);
}

static inline int32_t ut_mpi_status_tag(ut_mpi_word status)
{
	return ut_mpi_int_at(status + ut_mpi_abi.tag, 0);
}

#endif
