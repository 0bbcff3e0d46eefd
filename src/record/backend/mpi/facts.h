/*
 * facts.h - what is recorded about a call besides its name: communicator, peer, bytes.
 *
 * Facts added before ut_mpi_begin() go with the record of the call's begin, later ones with that of
 * its end. What finds no room is left out.
 */
#ifndef UT_BACKEND_MPI_FACTS_H
#define UT_BACKEND_MPI_FACTS_H

#include "backend/mpi/call.h"

static inline void ut_mpi_fact(struct ut_mpi_call *c, uint32_t key, uint32_t type, uint64_t value)
{
	if (c->fact_count < UT_MPI_FACTS)
		c->facts[c->fact_count++] = (struct ut_fact){ key, type, value };
}

static inline void ut_mpi_fact_int(struct ut_mpi_call *c, uint32_t key, int64_t value)
{
	ut_mpi_fact(c, key, UT_VALUE_I64, (uint64_t)value);
}

/* 0 = there is no such name. */
static inline void ut_mpi_fact_name(struct ut_mpi_call *c, uint32_t key, uint32_t name)
{
	if (name)
		ut_mpi_fact(c, key, UT_VALUE_NAME, name);
}

/* Has the record of its begin a fact of this key? */
static inline bool ut_mpi_has_said(const struct ut_mpi_call *c, uint32_t key)
{
	for (uint16_t i = 0; i < c->begun_facts; i++) {
		if (c->facts[i].key == key)
			return true;
	}
	return false;
}

static inline void ut_mpi_fact_group(struct ut_mpi_call *c, const struct ut_mpi_group *g)
{
	ut_mpi_fact(c, g->key, UT_VALUE_NAME, g->text);
}

/* A poll that probes. */
static inline void ut_mpi_probes(struct ut_mpi_call *c, ut_mpi_word comm, int32_t from, int32_t tag)
{
	c->probes = true;
	c->comm = comm;
	c->op.peer = from;
	c->op.tag = tag;
}

/* What a poll asks for, as far as it is one thing: request.c. */
void ut_mpi_polled(struct ut_mpi_call *c);

/* Whom a receive waits for, as far as it says so itself: p2p.c. */
void ut_mpi_awaited(struct ut_mpi_call *c, const struct ut_mpi_op *op);

#endif
