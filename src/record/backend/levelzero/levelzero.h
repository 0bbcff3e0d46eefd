/*
 * levelzero.h - what the files of the Level Zero backend share.
 *
 * The backend stands where the loader expects a driver (driver.c): it hands out the tables of the
 * real driver, with wrappers of ours (calls.c, made from api.def) in place of some functions. Our
 * own calls go to the real driver, through UT_ZE(), and are never seen.
 *
 * Guests' rules, as in unitrace/backend.h: no print, no wait on our account, no malloc, errno as
 * found.
 */
#ifndef UT_BACKEND_LEVELZERO_LEVELZERO_H
#define UT_BACKEND_LEVELZERO_LEVELZERO_H

#include <stdatomic.h>
#include <stdbool.h>

#include "backend/handle_table.h"
#include "backend/levelzero/ze_abi.h"
#include "backend/param_map.h"
#include "unitrace/backend.h"

#define UT_EXPORT __attribute__((visibility("default")))

/* The handle of an item, to be handed on. */
static inline ze_handle ut_ze_handle(const struct ut_handle_item *i)
{
	union {
		const void *kept;
		ze_handle handle;
	} u = { .kept = i->handle };

	return u.handle;
}

typedef void ut_ze_fn(void);
/* Where the handle of a new object is written: a type of its own, so that calls can tell. */
typedef struct ut_ze_new **ze_made;

/* Numbers of functions; UT_ZE_AT_TABLE is the first of a table. */
enum ut_ze_id {
#define ZE_TABLE(table) UT_ZE_AT_##table, UT_ZE_BEFORE_##table = UT_ZE_AT_##table - 1,
#define ZE_FN(name)     UT_ZE_##name,
#include "backend/levelzero/api.def"
#include "base/likely.h"
	UT_ZE_COUNT
};

/* Types of functions: ut_ze_fn_zeInit. */
#define ZE_TYPE(name, count, ...)                                                                  \
	typedef ze_result ut_ze_fn_##name(UT_MAP_##count(UT_PARAMETER_TYPE, __VA_ARGS__));
#define ZE_HOLE(table, name)
#define ZE_CALL(table, name, major, minor, count, ...)         ZE_TYPE(name, count, __VA_ARGS__)
#define ZE_OWN(table, name, major, minor, count, ...)          ZE_TYPE(name, count, __VA_ARGS__)
#define ZE_EXECUTE(table, name, major, minor, count, ...)      ZE_TYPE(name, count, __VA_ARGS__)
#define ZE_APPEND(table, name, major, minor, what, count, ...) ZE_TYPE(name, count, __VA_ARGS__)
#include "backend/levelzero/api.def"
#undef ZE_TYPE

/* ---- the real driver (driver.c) ------------------------------------------------------------ */

/* Its functions; NULL = it has none. Set before the first call of the program's. */
extern ut_ze_fn *ut_ze_next[UT_ZE_COUNT];

/* For our own calls: UT_ZE(zeEventQueryStatus)(event). UT_ZE_HAS: is there one? */
#define UT_ZE(name)     ((ut_ze_fn_##name *)ut_ze_next[UT_ZE_##name])
#define UT_ZE_HAS(name) (ut_ze_next[UT_ZE_##name] != NULL)

/* Where there are several drivers there are several of us in one process: which one this is. */
extern uint32_t ut_ze_instance;

/* Finds the real driver and its functions, once. False = there is none. */
bool ut_ze_driver_open(void);
/* A symbol of its library: zetGetMetricGroupProcAddrTable and others. NULL = there is none. */
void *ut_ze_driver_symbol(const char *name);

/* ---- what is going on ---------------------------------------------------------------------- */

/* Set once, by start(). */
struct ut_ze_state {
	const struct ut_host *host;
	bool calls, submits, work, args; /* enum ut_want */
	bool query, sampling, stalls;    /* the same: hardware metrics */
	bool tiles;                      /* each tile by itself */
	uint32_t api;                    /* "Level Zero" */
	uint32_t names[UT_ZE_COUNT];     /* of functions */
	struct {
		uint32_t error, result, bytes, from, to, grid, block, simd, compiled, arguments;
		uint32_t slm, private_bytes, spill, registers, times, executed, tile, clock_error;
	} key;
	uint32_t unknown, jit, aot; /* texts */
};

extern struct ut_ze_state ut_ze;

/* Joins the collector at the first call. False = nothing is to be recorded. */
bool ut_ze_join(void);
uint32_t ut_ze_name(const char *text);

/* The wrapper for a function, NULL if the program may call it directly. */
ut_ze_fn *ut_ze_wrapper(enum ut_ze_id id);
const char *ut_ze_function(enum ut_ze_id id);
uint32_t ut_ze_since(enum ut_ze_id id); /* ZE_VERSION() */
/* The number of a function with this name, UT_ZE_COUNT if it is none of ours. */
enum ut_ze_id ut_ze_called(const char *name);

/* "ZE_RESULT_NOT_READY(0x1)": the name of a result; NULL = it has none. */
const char *ut_ze_result_name(ze_result result);

/* The OS number of the calling thread. */
uint32_t ut_ze_thread(void);

/* In unitrace --device-list (probe.c). */
int ut_ze_probe(struct ut_probe *probe);

/* ---- functions that are ours --------------------------------------------------------------- */

#define ZE_OWN(table, name, major, minor, count, ...)                                              \
	ze_result ut_##name(UT_MAP_##count(UT_PARAMETER, __VA_ARGS__));
#define ZE_EXECUTE(table, name, major, minor, count, ...)                                          \
	ze_result ut_##name(UT_MAP_##count(UT_PARAMETER, __VA_ARGS__), uint64_t correlation);
#define ZE_HOLE(table, name)
#define ZE_CALL(table, name, ...)
#define ZE_APPEND(table, name, ...)
/* NOLINTNEXTLINE(readability-duplicate-include) */
#include "backend/levelzero/api.def"

#endif
