/*
 * comm.h - communicators, windows and files: who is in them, and what they are called in all ranks.
 *
 * The name of a group that works together is made of what all of its members know without asking
 * each other: of the communicator that it comes from, of the number of collective calls there
 * were on that one, and of its members. So the ranks find the same, also where only some of them
 * are recorded.
 */
#ifndef UT_BACKEND_MPI_COMM_H
#define UT_BACKEND_MPI_COMM_H

#include "backend/handle_table.h"
#include "backend/mpi/mpi.h"
#include "backend/mpi/mpi_match.h"

enum ut_mpi_group_kind {
	UT_MPI_COMM,
	UT_MPI_WIN,
	UT_MPI_FILE,
};

struct ut_mpi_group {
	struct ut_handle_item item;
	uint64_t id;        /* the same in all ranks */
	uint64_t members;   /* made of the world ranks of its peers */
	uint32_t key, text; /* the fact that names it */
	int32_t rank, size; /* ours in it, and how many are on our side */
	int32_t peers;      /* those that ranks count: of the other side, if there is one */
	bool inter;
	int32_t in, out;            /* neighbours; -1 = not asked yet */
	uint32_t in_text, out_text; /* who they are: names; 0 = not known */
	const int32_t *world;       /* of the peers; NULL = they are those of the world */
	_Atomic uint64_t calls;     /* collective ones so far */
	struct ut_mpi_queue queue;
};

/* Before all others. */
void ut_mpi_groups_init(void);

/* What is known about it; made when it was not known. NULL: no memory, or it is none. */
struct ut_mpi_group *ut_mpi_group(enum ut_mpi_group_kind kind, ut_mpi_word handle);

static inline struct ut_mpi_group *ut_mpi_comm(ut_mpi_word handle)
{
	return ut_mpi_group(UT_MPI_COMM, handle);
}

/*
 * A group that was made just now, by collective call number call of parent, or, with no parent, by
 * those in it and what they agreed on (call).
 */
struct ut_mpi_group *ut_mpi_group_made(enum ut_mpi_group_kind kind, ut_mpi_word handle,
				       const struct ut_mpi_group *parent, uint64_t call);

/* A copy of parent that will be usable later, so that nothing may be asked about it. */
struct ut_mpi_group *ut_mpi_group_copied(ut_mpi_word handle, const struct ut_mpi_group *parent,
					 uint64_t call);

/* The handle will be another's. */
void ut_mpi_group_gone(enum ut_mpi_group_kind kind, ut_mpi_word handle);

/* A peer's rank in the world; -1 = it is in none of ours. */
int32_t ut_mpi_world_rank(const struct ut_mpi_group *g, int32_t rank);

/* How many neighbours get from us, or send to us; and their ranks in the world: "0,2,5". */
int32_t ut_mpi_neighbours(struct ut_mpi_group *g, bool out);
uint32_t ut_mpi_neighbours_text(struct ut_mpi_group *g, bool out);

/* The same of the members of a group of MPI's; 0 = there are none, or too many. */
uint32_t ut_mpi_group_text(ut_mpi_word group);

#endif
