/*
 * internal.c - what Intel MPI itself says about its work inside of calls.
 *
 * From 2021.15 on libmpi looks for three functions in the process and calls them around what it
 * does: being idle ("MPI_Internal::Idle"), and operations that a kernel on a GPU has asked for,
 * which it carries out on the host. Each becomes a span inside of the call that it is in.
 */
#include "backend/mpi/mpi.h"

#include <stdatomic.h>
#include <string.h>

#define MOST_OPERATIONS 256u

UT_EXPORT int _MPI_Internal_register_operation_name(const char *name);
UT_EXPORT void _MPI_Internal_task_start_hook(int operation);
UT_EXPORT void _MPI_Internal_task_stop_hook(int operation, int64_t mpi_counter, size_t sent,
					    size_t received);

/* Numbers of names; those beyond the last one have no room and are not recorded. */
static _Atomic uint32_t operations[MOST_OPERATIONS];
static _Atomic unsigned int operation_count;

int _MPI_Internal_register_operation_name(const char *name)
{
	unsigned int number = atomic_fetch_add(&operation_count, 1);

	if (number < MOST_OPERATIONS && name && ut_mpi_join())
		atomic_store(&operations[number], ut_mpi.host->name(name, strlen(name)));
	return (int)number;
}

static uint32_t internal_name_of(int operation)
{
	return operation >= 0 && (unsigned int)operation < MOST_OPERATIONS
		       ? atomic_load_explicit(&operations[operation], memory_order_relaxed)
		       : 0;
}

void _MPI_Internal_task_start_hook(int operation)
{
	uint32_t name = internal_name_of(operation);

	if (name)
		ut_mpi.host->call_begin(ut_mpi.api, name, 0);
}

/* mpi_counter counts the operations that kernels have asked for; others have none: below 0. */
void _MPI_Internal_task_stop_hook(int operation, int64_t mpi_counter, size_t sent, size_t received)
{
	struct ut_fact facts[3];
	size_t count = 0;

	if (!internal_name_of(operation))
		return;
	if (mpi_counter >= 0)
		facts[count++] =
			(struct ut_fact){ ut_mpi.key.counter, UT_VALUE_I64, (uint64_t)mpi_counter };
	if (sent)
		facts[count++] = (struct ut_fact){ ut_mpi.key.bytes, UT_VALUE_I64, sent };
	if (received)
		facts[count++] = (struct ut_fact){ ut_mpi.key.received, UT_VALUE_I64, received };
	ut_mpi.host->call_end(ut_mpi.api, facts, count);
}
