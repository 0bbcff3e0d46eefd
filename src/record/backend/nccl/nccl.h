/*
 * nccl.h - what the files of this backend share: one form of all that NCCL tells, whatever version
 * of its interface it tells it through.
 */
#ifndef UT_BACKEND_NCCL_NCCL_H
#define UT_BACKEND_NCCL_NCCL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "unitrace/backend.h"

#define UT_NCCL_CHANNELS 64u

/* Rows of a communicator: its operations, and for each channel three more. */
enum ut_nccl_row {
	UT_NCCL_KERNELS,
	UT_NCCL_SENDS,
	UT_NCCL_RECEIVES,
	UT_NCCL_ROWS
};

/* A communicator. Before version 4 NCCL says which one it is with its first operation. */
struct ut_nccl_comm {
	_Atomic uint32_t name; /* host->name(); 0 = not known yet */
	_Atomic uint32_t row;  /* of its operations; 0 = none yet */
	_Atomic uint32_t rows[UT_NCCL_ROWS][UT_NCCL_CHANNELS];
	_Atomic int64_t gpu_offset; /* our clock minus the GPU's, at most; 0 = unknown */
	int32_t ranks, rank;        /* ranks 0 = unknown */
	bool kernels;               /* there will be events of kernels */
};

/* Something that begins. Texts live as long as the call that tells it. */
struct ut_nccl_event {
	uint32_t type; /* enum nccl_event_type */
	uint64_t parent;
	/* calls and operations */
	const char *func;     /* "AllReduce" */
	const char *datatype; /* "ncclFloat32" */
	uint64_t count;
	uint64_t seq; /* plus 1; 0 = none */
	const char *algorithm, *protocol;
	int32_t root, peer; /* -1 = none */
	uint32_t channels, warps;
	bool captured;
	/* what is done for them */
	uint32_t channel;
	int32_t steps, chunk;
	bool is_send;
	uint64_t timer;
};

extern const struct ut_host *ut_nccl_host;

/* The events that the user wants, enum nccl_event_type; 0 = we stay out of the way. */
int ut_nccl_mask(void);
/* A place for a communicator; NULL = there are too many. */
struct ut_nccl_comm *ut_nccl_comm_new(void);
/* Says which one it is. */
void ut_nccl_comm_name(struct ut_nccl_comm *c, const char *name, uint64_t hash);

/* Handles are numbers: one that is stale, or of another process, is known to be so. 0 = nothing. */
uint64_t ut_nccl_start(struct ut_nccl_comm *comm, const struct ut_nccl_event *event);
void ut_nccl_state(uint64_t handle, int state, uint64_t value);
void ut_nccl_stop(uint64_t handle);
/* Operations of a communicator, or of all (NULL), whose end nobody will tell. */
void ut_nccl_finish(const struct ut_nccl_comm *comm);

/* nccl_rows.c: numbers of rows, made when they are needed first. */
uint32_t ut_nccl_row_of(struct ut_nccl_comm *c);
uint32_t ut_nccl_channel_row(struct ut_nccl_comm *c, enum ut_nccl_row row, uint32_t channel);
uint32_t ut_nccl_api(void);

#endif
