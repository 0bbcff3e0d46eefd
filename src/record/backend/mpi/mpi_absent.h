/*
 * mpi_absent.h - what the library has not got must not seem to be there.
 *
 * Programs that are made for MPIs of several ages refer weakly to functions that came later and ask
 * whether they have an address; mpi4py asks for MPI_Send_c, which Open MPI 5 has not. In front of
 * such a library stands our function of that name, so the loader has given them ours. It is taken
 * out again where the library has none.
 */
#ifndef UT_BACKEND_MPI_MPI_ABSENT_H
#define UT_BACKEND_MPI_MPI_ABSENT_H

#include "backend/mpi/mpi.h"

/* Looks at everything that was linked with MPI and is loaded, once MPI is up. errno is kept. */
void ut_mpi_hide_absent(void);

/*
 * Is this address a function of ours that the library has none behind? from: see ut_mpi_find(). In
 * calls.c.
 */
bool ut_mpi_is_absent(const void *address, const void *from);

#endif
