/*
 * sim.h - a driver for Level Zero without a device: libze_simulated.so, between its files.
 *
 * SIMULATED: nothing here was ever near Intel's hardware. A loader takes it through
 * ZE_ENABLE_ALT_DRIVERS. Kernels do nothing but take the time that they were told to take; copies
 * and fills do what they say. When a command starts and ends is worked out, not measured, from when
 * it was submitted, what it waits for and what its engine does before: times in the log (log=PATH)
 * are exact. Calls that a real driver would crash on end the process with a line that says why.
 *
 * ZE_SIMULATED holds settings, separated by blanks: see sim_config.c.
 */
/* limits: what all files of one library share */
#ifndef SIM_H
#define SIM_H

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim_newer.h"

#define SIM_EXPORT __attribute__((visibility("default")))
#define SIM_NEVER  UINT64_MAX

__extension__ typedef unsigned __int128 sim_wide;

#define SIM_MOST_DEVICES 8u
#define SIM_MOST_TILES   4u
#define SIM_MOST_ENGINES 6u /* of a device: four that compute, two that only copy */
#define SIM_MOST_FAILS   8u

/* ---- settings (sim_config.c) --------------------------------------------------------------- */

struct sim_fail {
	char function[80];
	uint64_t from, to; /* which calls of it, from 1 on */
	ze_result_t result;
	uint64_t calls;
};

struct sim_config {
	unsigned int devices, tiles;
	uint64_t hz;       /* of the devices' clocks, nominal */
	int64_t ppm;       /* by how much they are too fast */
	uint64_t ticks;    /* where they stand at the beginning */
	unsigned int bits; /* of timestamps of kernels */
	unsigned int clock_bits;
	uint64_t kernel_ns; /* of kernels that nobody has said anything about */
	uint64_t copy_ns;   /* each copy and fill, */
	uint64_t bytes_us;  /* and so many bytes in 1 us more */
	uint64_t barrier_ns;
	uint64_t skew_ns;      /* by which each tile starts later and ends earlier */
	unsigned int version;  /* of the interface, 104 = 1.4 */
	bool strict;           /* complain about what a real driver might stand */
	bool ddi;              /* claims handles with tables in them, which they do not have */
	bool counted;          /* has events that count */
	uint64_t stream_room;  /* reports that a streamer can hold */
	int log;               /* descriptor; -1 = none */
	const char *durations; /* "name=ns,name=ns" */
	const char *raises;    /* the function that raises SIGUSR1, while it holds the lock */
	struct sim_fail fails[SIM_MOST_FAILS];
	unsigned int fail_count;
};

extern struct sim_config sim_config;
extern pthread_mutex_t sim_lock; /* of everything */
extern pthread_cond_t sim_moved;

void sim_configure(void);
void sim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void sim_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Shall this call fail? */
bool sim_fails(const char *function, ze_result_t *result);
uint64_t sim_duration(const char *kernel);
void sim_raise(const char *function);

#define SIM_MAY_FAIL()                                                                             \
	do {                                                                                       \
		ze_result_t why_;                                                                  \
		if (sim_config.raises)                                                             \
			sim_raise(__func__ + sizeof("sim_") - 1);                                  \
		if (sim_config.fail_count && sim_fails(__func__ + sizeof("sim_") - 1, &why_))      \
			return why_;                                                               \
	} while (0)

uint64_t sim_now(void); /* ns, CLOCK_MONOTONIC */

/* ---- objects ------------------------------------------------------------------------------- */

enum sim_kind {
	SIM_DRIVER = 0x51a10001,
	SIM_DEVICE,
	SIM_CONTEXT,
	SIM_QUEUE,
	SIM_LIST,
	SIM_POOL,
	SIM_EVENT,
	SIM_FENCE,
	SIM_MODULE,
	SIM_BUILD_LOG,
	SIM_KERNEL,
	SIM_IMAGE,
	SIM_SAMPLER,
	SIM_PHYSICAL,
	SIM_GROUP,
	SIM_METRIC,
	SIM_STREAMER,
	SIM_QUERY_POOL,
	SIM_QUERY,
};

struct sim_object {
	uint64_t kind; /* enum sim_kind; 0 = destroyed */
	struct sim_context *context;
};

/* The object behind a handle; ends the process if it is none of that kind. */
void *sim_object(const void *handle, enum sim_kind kind, const char *function);
#define SIM_OBJECT(handle, kind) sim_object(handle, kind, __func__)
void *sim_make(size_t size, enum sim_kind kind, struct sim_context *context);
void sim_unmake(struct sim_object *o);

struct sim_driver {
	struct sim_object object;
};

struct sim_engine {
	struct sim_device *device;
	uint32_t ordinal, index;
	uint64_t free_at;
	struct sim_command *running;
};

struct sim_device {
	struct sim_object object;
	unsigned int index, tile; /* tile: SIM_MOST_TILES = the whole device */
	struct sim_device *root;
	struct sim_device *tiles[SIM_MOST_TILES];
	unsigned int tile_count;
	struct sim_engine engines[SIM_MOST_ENGINES];
};

extern struct sim_driver sim_driver;
extern struct sim_device sim_devices[SIM_MOST_DEVICES * (1 + SIM_MOST_TILES)];
extern unsigned int sim_device_count;
struct sim_engine *sim_engine_of(struct sim_device *d, uint32_t ordinal, uint32_t index);
/* Ticks of the device's clock at a time, all 64 bits. */
uint64_t sim_ticks(const struct sim_device *d, uint64_t ns);
uint64_t sim_mask(unsigned int bits);

struct sim_context {
	struct sim_object object;
	uint64_t children;
};

struct sim_pool {
	struct sim_object object;
	uint32_t flags, count, live;
	bool counted;
};

#define SIM_ARMS 16u

struct sim_stamp {
	uint64_t start, end; /* ns */
	struct sim_device *device;
	bool written;
};

struct sim_event {
	struct sim_object object;
	struct sim_pool *pool; /* NULL = it counts, and needs none */
	uint32_t flags;        /* of its pool, or ZE_EVENT_POOL_FLAG_... for a counted one */
	bool counted, signaled;
	uint64_t signaled_at;
	uint64_t arm;   /* of a counted event: the command that it stands for */
	uint64_t users; /* commands under way that will signal it */
	bool gone;      /* destroyed; it goes when the last of them is done */
	struct sim_stamp stamps[SIM_ARMS];
};

struct sim_fence {
	struct sim_object object;
	bool signaled;
};

struct sim_kernel_info {
	char name[256];
	uint64_t ns;
	uint32_t simd, arguments, slm, private_bytes, spill, registers;
	uint64_t base;
};

struct sim_module {
	struct sim_object object;
	struct sim_device *device;
	struct sim_kernel_info *kernels;
	uint32_t kernel_count;
	bool native, dynamic;
	uint64_t live;
	uint8_t *binary;
	size_t size;
};

struct sim_kernel {
	struct sim_object object;
	struct sim_module *module;
	const struct sim_kernel_info *info;
	uint32_t group[3];
};

/* ---- commands (sim_engine.c) --------------------------------------------------------------- */

enum sim_work {
	SIM_WORK_KERNEL,
	SIM_WORK_COPY,
	SIM_WORK_COPY_BOX,
	SIM_WORK_FILL,
	SIM_WORK_BARRIER,
	SIM_WORK_SIGNAL,
	SIM_WORK_WAIT,
	SIM_WORK_RESET,
	SIM_WORK_STAMP,
	SIM_WORK_QUERY_STAMPS,
	SIM_WORK_CALLBACK,
	SIM_WORK_QUERY_BEGIN,
	SIM_WORK_QUERY_END,
	SIM_WORK_FENCE,
	SIM_WORK_NOTHING,
};

struct sim_box {
	size_t width, height, depth, to_pitch, to_slice, from_pitch, from_slice;
};

struct sim_command {
	struct sim_command *next;
	enum sim_work work;
	char name[256];
	struct sim_kernel_info kernel;
	uint64_t groups[3], sizes[3];
	uint8_t *to;
	const uint8_t *from;
	size_t bytes;
	struct sim_box box;
	uint8_t pattern[16];
	size_t pattern_bytes;
	uint64_t ns;
	struct sim_event *signal; /* or the event that is reset */
	uint64_t signal_arm;
	struct sim_event **waits;
	uint64_t *wait_arms;
	uint32_t wait_count;
	struct sim_event **queried;
	uint64_t *queried_arms;
	uint32_t queried_count;
	const size_t *offsets;
	void (*callback)(void *);
	void *data;
	struct sim_fence *fence;
	struct sim_query *query;
	/* under way */
	struct sim_lane *lane;
	struct sim_list *list;
	uint64_t submitted, start, end, number;
};

/* What works through commands one after the other: a queue, or an immediate list. */
struct sim_lane {
	struct sim_lane *next;
	struct sim_engine *engine;
	struct sim_command *first, *last;
	uint64_t pending, last_end;
	bool synchronous;
};

struct sim_queue {
	struct sim_object object;
	struct sim_device *device;
	struct sim_lane lane;
};

struct sim_list {
	struct sim_object object;
	struct sim_device *device;
	uint32_t ordinal;
	bool immediate, in_order, closed;
	struct sim_lane lane; /* of an immediate one */
	struct sim_command *first, *last;
	uint64_t count, running;
};

/* All under the lock. */
void sim_lane_add(struct sim_lane *lane);
void sim_lane_remove(struct sim_lane *lane);
void sim_submit(struct sim_lane *lane, const struct sim_command *c, struct sim_list *list,
		uint64_t now);
/* Something that commands wait for has changed. */
void sim_submit_moved(void);
/* What has started and ended until now is done. */
void sim_pump(void);
/* Waits until *done, for at most so many ns; false = it is not. */
bool sim_wait(bool (*done)(const void *), const void *of, uint64_t timeout);
bool sim_is_signaled(const void *event);
bool sim_is_drained(const void *lane);
void sim_free_command(struct sim_command *c);
/* What the device's compute engines ran at that time; NULL = nothing. */
const struct sim_kernel_info *sim_ran_at(const struct sim_device *d, uint64_t ns);

/* Metric queries and streams (sim_metrics.c). */
void sim_query_begin(struct sim_query *q, uint64_t ns);
void sim_query_end(struct sim_query *q, uint64_t ns);

/* ---- functions that tables and other files need -------------------------------------------- */

void sim_fill_tables(void);
void *sim_extension(const char *name);
struct sim_stamp *sim_stamp_of(struct sim_event *e, uint64_t arm);
void sim_forget_event(struct sim_event *e);

#endif
