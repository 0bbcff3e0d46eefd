/*
 * device_records.h - what devices did, typed: one record for each piece of work of a trace, in
 * columns beside its rows.
 *
 * A row of a track is work of a device if its category says so (classify.h) and it lies on a device
 * or has the number of the call that submitted it. Its name, begin and length are the row's;
 * everything else that is known of it is here, so that nobody reads arguments back but this file.
 * Records are in the order of tracks and rows. Kernels are launched over and over with the same
 * sizes: each of these is there once, as a launch.
 *
 * A store's records are made when they are first asked for, or come with its .utr file; they live
 * as long as the store. Any number of threads may ask and read.
 */
#ifndef UT_MODEL_DEVICE_RECORDS_H
#define UT_MODEL_DEVICE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "model/argument.h"
#include "model/classify.h"

struct ut_buf;
struct ut_event;
struct ut_store;
struct ut_trace;

/* How a kernel was launched, and what it needs. 0 = unknown. Saved in .utr files as it is. */
struct ut_device_launch {
	uint64_t grid[3], block[3];             /* x, y, z; OpenCL's: global and local size */
	uint64_t static_shared, dynamic_shared; /* bytes of a block */
	uint64_t local, spill;                  /* bytes of a thread */
	uint32_t registers;                     /* of a thread */
	uint32_t lanes;                         /* threads in step */
	uint32_t arguments;
	uint32_t compiled; /* string id: "JIT" or "AOT" */
};

/* type, column, what it holds; 0 = unknown */
#define UT_DEVICE_COLUMN_LIST(X)                                                                   \
	X(uint64_t, row, "its row on the track")                                                   \
	X(uint64_t, correlation, "number of the call that submitted it, in its process")           \
	X(uint64_t, external, "torch.profiler: the operator that launched it")                     \
	X(uint64_t, queued, "when the program queued it, ns")                                      \
	X(uint64_t, submitted, "when it was submitted to the device, ns")                          \
	X(uint64_t, bytes, "moved or filled")                                                      \
	X(uint32_t, track, "the queue's")                                                          \
	X(uint32_t, thread, "OS id of the thread that submitted it")                               \
	X(uint32_t, task, "string id: the task in which it was submitted")                         \
	X(uint32_t, launch, "index into launches")                                                 \
	X(uint8_t, kind, "enum ut_device_kind")

enum {
#define UT_DEVICE_COLUMN_SIZE(type, column, text) +sizeof(type)
	UT_DEVICE_RECORD_BYTES = 0 UT_DEVICE_COLUMN_LIST(UT_DEVICE_COLUMN_SIZE)
#undef UT_DEVICE_COLUMN_SIZE
};

struct ut_device_records {
	size_t count;
#define UT_DEVICE_COLUMN_MEMBER(type, column, text) const type *column;
	UT_DEVICE_COLUMN_LIST(UT_DEVICE_COLUMN_MEMBER)
#undef UT_DEVICE_COLUMN_MEMBER
	const struct ut_device_launch *launches; /* launches[0]: nothing is known */
	size_t launch_count;
	void *memory; /* of the columns; NULL = they lie in the file of their store */
};

/* One of them by itself; see the columns. */
struct ut_device_record {
	uint64_t correlation, external, queued, submitted, bytes;
	uint32_t thread, task;
	uint8_t kind;
	struct ut_device_launch launch;
};

/* Launches, each once. Zeroed: none. */
struct ut_device_launches {
	struct ut_device_launch *items;
	size_t count, cap;
	uint32_t last; /* the one before */
	struct ut_idmap of;
};

/* Its number; that of nothing known is 0. */
uint32_t ut_device_launches_add(struct ut_device_launches *l, const struct ut_device_launch *of);
void ut_device_launches_release(struct ut_device_launches *l);

/* Those of a store; never NULL. */
const struct ut_device_records *ut_store_devices(const struct ut_store *store);

/* Record i, without row and track. */
struct ut_device_record ut_device_record_get(const struct ut_device_records *r, size_t i);

/* Columns of count records one after the other, as .utr files have them. */
void ut_device_records_map(struct ut_device_records *r, const void *columns, size_t count);

/* The first record that refers to what its store does not have; SIZE_MAX = all are fine. */
size_t ut_device_records_check(const struct ut_device_records *r, const struct ut_store *store);

void ut_device_records_free(struct ut_device_records *r);

/* ---- of arguments --------------------------------------------------------------------------- */

/* What an argument of this name tells of device work, or of a call; 0 = nothing. */
unsigned int ut_device_field_called(struct ut_str key);

/* Takes over what an argument of a trace tells. */
void ut_device_record_put(struct ut_device_record *r, const struct ut_strtab *strings,
			  unsigned int field, const struct ut_arg *arg);

/* What the arguments of an event tell, up to UT_ARG_END or the last one of the trace. */
void ut_device_record_read(struct ut_device_record *r, const struct ut_trace *trace, size_t args);

/* Is it work? Beside the queues (side) there are waits of the host and costs of recording. */
bool ut_device_record_is_work(const struct ut_device_record *r, bool on_device, bool side);

/* "64x1x1"; nothing if the size is unknown. */
void ut_device_size_text(struct ut_buf *to, const uint64_t size[3]);

#endif
