/*
 * opencl.h - what the files of the OpenCL backend share.
 *
 * The backend stands between the program and the runtime: as a layer of the loader's (opencl.c),
 * or, for loaders that know no layers, as a vendor of its own that passes calls on to the real ones
 * (icd.c). Either way the program's calls arrive at the wrappers in calls.c, made
 * from api.def, and go on through ut_cl_next(). Our own calls go there too and are never
 * seen.
 *
 * Guests' rules, as in unitrace/backend.h: no print, no lock that waits, no malloc, errno as found.
 */
#ifndef UT_BACKEND_OPENCL_OPENCL_H
#define UT_BACKEND_OPENCL_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/handle_table.h"
#include "backend/opencl/device_clock.h"
#include "base/likely.h"
#include "unitrace/backend.h"

#define UT_EXPORT __attribute__((visibility("default")))

typedef void ut_cl_fn(void);
typedef void(CL_CALLBACK *ut_cl_context_cb)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *ut_cl_context_end_cb)(cl_context, void *);
typedef void(CL_CALLBACK *ut_cl_program_cb)(cl_program, void *);
typedef void(CL_CALLBACK *ut_cl_event_cb)(cl_event, cl_int, void *);
typedef void(CL_CALLBACK *ut_cl_mem_cb)(cl_mem, void *);
typedef void(CL_CALLBACK *ut_cl_svm_cb)(cl_command_queue, cl_uint, void **, void *);
typedef void(CL_CALLBACK *ut_cl_native_fn)(void *);

/* Numbers of functions: the dispatch table's, then extensions. */
enum ut_cl_id {
#define OCL_ONLY_CORE
#define OCL_FN(name) UT_CL_##name,
#include "backend/opencl/api.def"
	UT_CL_CORE,
	UT_CL_LAST_CORE = UT_CL_CORE - 1,
#define OCL_ONLY_EXTENSIONS
#define OCL_FN(name) UT_CL_##name,
#include "backend/opencl/api.def"
	UT_CL_COUNT,
};

/* ---- where calls go on --------------------------------------------------------------------- */

/* The functions of one vendor; key is what the objects of that vendor begin with. */
struct ut_cl_vendor {
	const void *key;
	ut_cl_fn *fn[UT_CL_COUNT];
};

#define UT_CL_VENDORS 16u

struct ut_cl_vendors {
	_Atomic uint32_t count;
	struct ut_cl_vendor *_Atomic list[UT_CL_VENDORS];
};

extern struct ut_cl_vendors ut_cl_core;       /* a layer has one here: the loader */
extern struct ut_cl_vendors ut_cl_extensions; /* one per vendor whose addresses were asked for */

ut_cl_fn *ut_cl_next_of_many(const struct ut_cl_vendors *v, enum ut_cl_id id, const void *handle);

/* The vendor with this key, added if it is new. NULL = too many. */
struct ut_cl_vendor *ut_cl_vendor(struct ut_cl_vendors *v, const void *key);

/* The function that a call with this object goes to. NULL = there is none. */
static inline ut_cl_fn *ut_cl_next(enum ut_cl_id id, const void *handle)
{
	const struct ut_cl_vendors *v = id < UT_CL_CORE ? &ut_cl_core : &ut_cl_extensions;

	if (UT_LIKELY(atomic_load_explicit(&v->count, memory_order_acquire) == 1))
		return atomic_load_explicit(&v->list[0], memory_order_relaxed)->fn[id];
	return ut_cl_next_of_many(v, id, handle);
}

/* The type of a function: the names that headers have for it have changed over the years. */
#define UT_CL_FUNCTION(name) __typeof__(((cl_icd_dispatch *)NULL)->name)

typedef UT_CL_FUNCTION(clGetDeviceInfo) ut_cl_device_info_fn;

/* A function of the dispatch table, for our own calls: UT_CL(clFinish, queue)(queue). */
#define UT_CL(name, handle) ((UT_CL_FUNCTION(name))ut_cl_next(UT_CL_##name, handle))

/* ---- what is going on ---------------------------------------------------------------------- */

/* Set once, by start(). */
struct ut_cl_state {
	const struct ut_host *host;
	bool calls, submits, work, args; /* enum ut_want */
	uint32_t api;                    /* "OpenCL" */
	uint32_t names[UT_CL_COUNT];     /* of functions */
	struct {
		uint32_t error, result, status, bytes, direction, global, local, items, commands;
		uint32_t clock_error, times;
	} key;
	uint32_t directions[4]; /* enum ut_cl_direction */
	uint32_t no_times;      /* "unknown" */
};

extern struct ut_cl_state ut_cl;

/* The wrapper for a function, NULL if the program may call it directly; its name. */
ut_cl_fn *ut_cl_wrapper(enum ut_cl_id id);
const char *ut_cl_name(enum ut_cl_id id);
/* False: nothing tells which vendor's object a call is about. */
bool ut_cl_has_handle(enum ut_cl_id id);

/* Joins the collector at the first call. False = nothing is to be recorded. */
bool ut_cl_join(void);

/* ---- objects (object.c) ------------------------------------------------------------- */

struct ut_cl_device {
	struct ut_handle_item item;
	struct ut_cl_clock clock;
	_Atomic uint64_t looked; /* when its timer was read last */
	_Atomic bool no_timer;
	_Atomic uint32_t state;
	uint32_t id; /* host->device(); 0 = the user does not want it */
};

struct ut_cl_kernel {
	struct ut_handle_item item;
	uint32_t name;
	bool wanted;
	const struct ut_cl_shape *_Atomic shape; /* of its last launch */
};

/* A command buffer. */
struct ut_cl_buffer {
	struct ut_handle_item item;
	cl_command_queue queue;
	_Atomic uint32_t commands;
};

/* Global and local sizes, as text; the same for the same sizes. */
struct ut_cl_shape {
	size_t sizes[6];
	uint32_t global, local; /* host->name(); 0 = not given */
};

/* NULL: nothing is known and nothing can be found out. */
struct ut_cl_device *ut_cl_device_find(cl_device_id device);
struct ut_cl_kernel *ut_cl_kernel_find(cl_kernel kernel);
struct ut_cl_buffer *ut_cl_buffer_find(const void *buffer);
/* One command more. */
void ut_cl_buffer_grows(const void *buffer);
/* In a forked child. */
void ut_cl_device_forked(void);

/* Up to three sizes each; NULL = not given. NULL when there are too many different ones. */
const struct ut_cl_shape *ut_cl_shape(struct ut_cl_kernel *k, uint32_t dimensions,
				      const size_t *global, const size_t *local);

/* Looks at the device's timer, if it has one and that was some time ago. */
void ut_cl_device_look(struct ut_cl_device *d, uint64_t now);

/* The bytes of a part of an image or of a box; 0 = unknown. */
uint64_t ut_cl_image_bytes(cl_mem image, const size_t *region);
uint64_t ut_cl_box_bytes(const size_t *region);

/* ---- queues (queue.c) --------------------------------------------------------------- */

struct ut_cl_row;

/* NULL: the commands of this queue are not recorded; untimed: because they have no times. */
struct ut_cl_row *ut_cl_queue_row(cl_command_queue queue, bool *untimed);

/* Has it times only because of us? */
bool ut_cl_queue_is_forced(cl_command_queue queue);

#endif
