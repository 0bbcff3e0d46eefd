/*
 * ze_objects.h - what is known of the program's objects: devices, contexts, events, kernels, lists
 * and queues, found by their handles. A handle's item is there for ever and is written over when
 * the driver gives the handle to another object (backend/handle_table.h).
 */
#ifndef UT_BACKEND_LEVELZERO_ZE_OBJECTS_H
#define UT_BACKEND_LEVELZERO_ZE_OBJECTS_H

#include "backend/levelzero/levelzero.h"
#include "backend/levelzero/ze_clock.h"

#define UT_ZE_GROUPS 8u /* kinds of engines of a device */

/* ---- devices (device.c) -------------------------------------------------------------------- */

/* An engine, and the row of the timeline that shows it. */
struct ut_ze_row {
	const struct ut_ze_device *device;
	uint32_t ordinal, index;
	uint32_t id;       /* host->queue(); 0 = the user does not want the device */
	uint64_t last_end; /* of what was told last; under the lock */
};

struct ut_ze_device {
	struct ut_handle_item item;
	_Atomic uint32_t state;
	uint32_t id; /* host->device(); 0 = the user does not want it */
	uint32_t index;
	struct ut_ze_device *root; /* of a tile; NULL = it is no part of another */
	uint32_t tile, tile_count;
	uint32_t groups[UT_ZE_GROUPS]; /* flags of kinds of engines */
	struct ut_ze_clock clock;      /* under the lock */
	uint64_t error_reported;       /* when it was said how wrong that may be */
};

/* NULL: nothing is known and nothing can be found out. */
struct ut_ze_device *ut_ze_device_find(ze_handle device);
/* The row of an engine; NULL = nothing of it is recorded. */
struct ut_ze_row *ut_ze_device_row(struct ut_ze_device *d, uint32_t ordinal, uint32_t index);
/* Reads its clock, unless that was done just now. Under the lock. */
void ut_ze_device_look(struct ut_ze_device *d);
/* All that are known so far: calls each with ctx. */
void ut_ze_device_each(void (*each)(struct ut_ze_device *d, void *ctx), void *ctx);
/* The places of a device on its bus, "0:3a:0.0". */
void ut_ze_device_label(ze_handle device, char *to, size_t size);

/* ---- contexts and events (event.c) --------------------------------------------------------- */

struct ut_ze_run;
struct ut_ze_stream;

struct ut_ze_event {
	struct ut_handle_item item; /* of the program's */
	struct ut_ze_event *next;   /* of ours that are free */
	struct ut_ze_context *context;
	ze_handle handle;
	bool own;
	bool timed;   /* timestamps can be read from it */
	bool asked;   /* because the program wants them */
	bool counted; /* counts commands of an in-order list: never reset */
	_Atomic bool live;
	/* What will signal it and is not told yet: under the lock, looked at without. */
	struct ut_ze_run *_Atomic run;
	struct ut_ze_stream *_Atomic stream; /* where that is; streams are never freed */
	uint32_t index;                      /* which command of the run */
	struct ze_ticks last;                /* what was read from it last */
};

struct ut_ze_pool {
	struct ut_handle_item item;
	struct ut_ze_context *context;
	bool timed, asked, counted;
	bool forced; /* it has timestamps because of us: the program must not notice */
};

struct ut_ze_chunk;

struct ut_ze_context {
	struct ut_handle_item item;
	_Atomic bool live;
	struct ut_ze_event *events; /* ours, free; under the lock of events */
	struct ut_ze_chunk *pools, *slots;
	struct ut_ze_slot *free_slots;
	void *metrics; /* query.c */
};

struct ut_ze_context *ut_ze_context_of(ze_handle context);
struct ut_ze_event *ut_ze_event_find(ze_handle event);
/* An event that counts was made. desc may be NULL. */
void ut_ze_event_met(ze_handle context, ze_handle event, const struct ze_counted_event_desc *desc);

/* An event of ours, with timestamps, that nothing has signaled. NULL = there is none. */
struct ut_ze_event *ut_ze_event_take(struct ut_ze_context *c);
/* It was signaled or not, nothing will: it may be used again. */
void ut_ze_event_give(struct ut_ze_event *e);
/* Memory for timestamps that device and host can reach. */
struct ut_ze_slot {
	struct ut_ze_slot *next;
	struct ze_timestamps *at;
	uint32_t count;
};
struct ut_ze_slot *ut_ze_slot_take(struct ut_ze_context *c, uint32_t count);
void ut_ze_slot_give(struct ut_ze_context *c, struct ut_ze_slot *s);
void ut_ze_events_forked(void);

/* ---- kernels and images (kernel.c) --------------------------------------------------------- */

/* Numbers of groups and their sizes, as text; the same for the same. */
struct ut_ze_shape {
	uint32_t sizes[6];
	uint32_t grid, block; /* host->name(); 0 = not known */
};

/* What is known of a kernel, by name and properties: the same for the same, never changed. */
struct ut_ze_facts {
	uint32_t name;
	uint32_t native; /* compiled before the program ran */
	uint32_t simd, arguments, slm, private_bytes, spill, registers;
};

struct ut_ze_kernel {
	struct ut_handle_item item;
	ze_handle module;
	const struct ut_ze_facts *_Atomic facts; /* NULL = there is no memory */
	_Atomic bool wanted;
	_Atomic uint32_t group[3];
	const struct ut_ze_shape *_Atomic shape; /* of its last launch */
};

struct ut_ze_kernel *ut_ze_kernel_find(ze_handle kernel);
/* One was made; NULL is nothing. */
void ut_ze_kernel_met(struct ut_ze_kernel *k);
const struct ut_ze_shape *ut_ze_shape(struct ut_ze_kernel *k, const struct ze_group *groups,
				      const struct ze_group *sizes);
const struct ut_ze_shape *ut_ze_shape_of(const struct ze_group *groups,
					 const struct ze_group *sizes);
/* Bytes of an image, or of a part of it; 0 = unknown. */
uint64_t ut_ze_image_bytes(ze_handle image, const struct ze_region *region);

#endif
