/*
 * abi.h - what a static part and a collector hand each other. Not ours to change.
 *
 * Every program or library that emits ITT carries its own copy of a static part. At its first
 * real call that copy loads the collector named in the environment and calls
 *
 *	__itt_api_init(&global, groups)
 *
 * once, under the copy's mutex, on whatever thread came first. The collector walks
 * global->api_list_ptr and stores a function (or null_func) behind every func_ptr. From then on the
 * program calls the collector directly. There may be several copies, of several ages, in one
 * process: what each age lacks is said where it matters.
 *
 * Names, layouts and values below are those of the published ABI; both our static part
 * (src/record/sdk) and our collector use this header, and either works with anybody else's other
 * half.
 *
 * Define INTEL_NO_MACRO_BODY before the first include when defining __itt_* functions; leave it
 * out when calling them.
 */
#ifndef UT_ITT_ABI_H
#define UT_ITT_ABI_H

#include <pthread.h>
#include <stddef.h>

#include "ittnotify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* First bytes of every __itt_global: this really is one. */
#define ITT_MAGIC                                                                                  \
	{                                                                                          \
		0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30                                     \
	}

/*
 * The build number of our own static part, in the vendor's scheme: a date, later than any copy
 * whose layout it shares. A collector may rely on what ours does better
 * (src/record/sdk/ittnotify.c).
 */
#define UT_ITT_BUILD 20261115

/*
 * What kind of function an entry is. A collector may be asked for some groups only. "jit" has no
 * table entry: the JIT interface has a loader of its own (src/record/sdk/jitprofiling.c).
 */
typedef enum ___itt_group_id {
	__itt_group_none = 0,
	__itt_group_legacy = 1 << 0,
	__itt_group_control = 1 << 1,
	__itt_group_thread = 1 << 2,
	__itt_group_mark = 1 << 3,
	__itt_group_sync = 1 << 4,
	__itt_group_fsync = 1 << 5,
	__itt_group_jit = 1 << 6,
	__itt_group_model = 1 << 7,
	__itt_group_counter = 1 << 8,
	__itt_group_frame = 1 << 9,
	__itt_group_stitch = 1 << 10,
	__itt_group_heap = 1 << 11,
	__itt_group_structure = 1 << 12,
	__itt_group_suppress = 1 << 13,
	__itt_group_arrays = 1 << 14,
	__itt_group_module = 1 << 15,
	__itt_group_all = -1
} __itt_group_id;

/* One function of the copy. The list ends with name == NULL. */
typedef struct ___itt_api_info {
	const char *name; /* "__itt_task_begin": what the collector calls it */
	void **func_ptr;  /* the program calls through *func_ptr, without a lock */
	void *init_func;  /* what was there first: loads the collector, then calls it */
	void *null_func;  /* what to store for "not wanted"; NULL for most */
	__itt_group_id group;
} __itt_api_info;

typedef enum {
	__itt_thread_normal = 0,
	__itt_thread_ignored = 1
} __itt_thread_state;

/* Kept for the layout; no static part we met has put a node in thread_list since 2015. */
typedef struct ___itt_thread_info {
	const char *nameA;
	void *nameW;
	pthread_t tid;
	__itt_thread_state state;
	int extra1;
	void *extra2;
	struct ___itt_thread_info *next;
} __itt_thread_info;

/*
 * What a __itt_counter points at when the static part made it. Older static parts leave extra1 and
 * extra2 uninitialised; index is always 0 and free for the collector.
 */
typedef struct __itt_counter_info {
	const char *nameA;
	void *nameW;
	const char *domainA; /* NULL when created without one */
	void *domainW;
	int type; /* __itt_metadata_type */
	long index;
	int extra1;
	void *extra2;
	struct __itt_counter_info *next;
} __itt_counter_info_t;

/*
 * The copy itself. The members after string_list were added over the years without a change of
 * version number: read histogram_list only if the table names __itt_histogram_create, and
 * counter_metadata_list only if it names __itt_bind_context_metadata_to_counter.
 */
typedef struct ___itt_global {
	unsigned char magic[8];
	unsigned long version_major;
	unsigned long version_minor;
	unsigned long version_build; /* YYYYMMDD; the only number that tells versions apart */
	volatile long api_initialized;
	volatile long mutex_initialized;
	volatile long atomic_counter;
	pthread_mutex_t mutex; /* recursive */
	void *lib;             /* the collector, from dlopen */
	void *error_handler;
	const char **dll_path_ptr;
	__itt_api_info *api_list_ptr;
	struct ___itt_global *next;
	/* Objects made before the collector was there. The program holds these very pointers. */
	__itt_thread_info *thread_list;
	__itt_domain *domain_list;
	__itt_string_handle *string_list;
	__itt_collection_state state;
	__itt_counter_info_t *counter_list;
	unsigned int ipt_collect_events;
	__itt_histogram *histogram_list;
	__itt_counter_metadata *counter_metadata_list;
} __itt_global;

/* What a collector exports. fini comes only from copies that shut down in an orderly way. */
typedef void(__itt_api_init_t)(__itt_global *copy, __itt_group_id groups);
typedef void(__itt_api_fini_t)(__itt_global *copy);

void __itt_api_init(__itt_global *copy, __itt_group_id groups);
void __itt_api_fini(__itt_global *copy);

/*
 * What a static part exports besides its pointers, for libraries that load early or leave in order.
 * init: lib == NULL means "ask the environment"; 1 if anything in groups now has a collector.
 */
int __itt_init_ittlib(const char *lib, __itt_group_id groups);
void __itt_fini_ittlib(void);

#if !defined(__cplusplus) && defined(__x86_64__) && defined(__LP64__)
_Static_assert(sizeof(__itt_api_info) == 40, "ABI: table entry");
_Static_assert(sizeof(__itt_domain) == 48, "ABI: domain");
_Static_assert(sizeof(__itt_string_handle) == 40, "ABI: string handle");
_Static_assert(sizeof(__itt_counter_info_t) == 72, "ABI: counter");
_Static_assert(sizeof(__itt_histogram) == 56, "ABI: histogram");
_Static_assert(sizeof(__itt_counter_metadata) == 64, "ABI: counter metadata");
_Static_assert(sizeof(__itt_global) == 200, "ABI: static part");
_Static_assert(offsetof(__itt_global, mutex) == 56, "ABI: static part");
_Static_assert(offsetof(__itt_global, lib) == 96, "ABI: static part");
_Static_assert(offsetof(__itt_global, api_list_ptr) == 120, "ABI: static part");
_Static_assert(offsetof(__itt_global, thread_list) == 136, "ABI: static part");
_Static_assert(offsetof(__itt_global, domain_list) == 144, "ABI: static part");
_Static_assert(offsetof(__itt_global, string_list) == 152, "ABI: static part");
_Static_assert(offsetof(__itt_global, state) == 160, "ABI: static part");
_Static_assert(offsetof(__itt_global, counter_list) == 168, "ABI: static part");
_Static_assert(offsetof(__itt_global, ipt_collect_events) == 176, "ABI: static part");
_Static_assert(offsetof(__itt_global, histogram_list) == 184, "ABI: static part");
_Static_assert(offsetof(__itt_global, counter_metadata_list) == 192, "ABI: static part");
#endif

#ifdef __cplusplus
}
#endif

#endif
