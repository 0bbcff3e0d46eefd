/* limits: programs include this one file by this name; it cannot be split */
/*
 * ittnotify.h - the Instrumentation and Tracing Technology API, for programs that want to be seen.
 *
 *	__itt_domain *d = __itt_domain_create("my.app");
 *	__itt_string_handle *work = __itt_string_handle_create("work");
 *
 *	__itt_task_begin(d, __itt_null, __itt_null, work);
 *	...
 *	__itt_task_end(d);
 *
 * Link with libittnotify.a. Without a collector a call costs one load and one branch; with one
 * (`unitrace ./app`, or any other tool that sets INTEL_LIBITTNOTIFY64) it goes straight to it.
 * Names, types and values are those of Intel's ittnotify.h for Linux, so programs written for that
 * header compile with this one and objects compiled with either link with either library.
 *
 * Any thread may call anything. Strings are NUL-terminated UTF-8 and copied. Handles live until the
 * process ends. What a call may return without a collector: NULL or 0. Domain calls with a NULL or
 * disabled (flags == 0) domain do nothing.
 *
 * Switches, to be defined before including:
 *	INTEL_NO_ITTNOTIFY_API    every call compiles to nothing
 *	INTEL_NO_MACRO_BODY       prototypes only, for those who define them (collectors)
 *	INTEL_ITTNOTIFY_PREFIX    other names for the pointers, for libraries with a private copy
 *
 * Longer than our limit for headers: one published API is one file, and the preprocessor cannot
 * write the two #defines that each of the 156 functions needs. Part 1 is the API, by topic; part 2
 * is those #defines, in the same order.
 */
#ifndef _ITTNOTIFY_H_
#define _ITTNOTIFY_H_

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Programs for several systems test these. */
#define ITT_OS_WIN           1
#define ITT_OS_LINUX         2
#define ITT_OS_MAC           3
#define ITT_OS_FREEBSD       4
#define ITT_PLATFORM_WIN     1
#define ITT_PLATFORM_POSIX   2
#define ITT_PLATFORM_MAC     3
#define ITT_PLATFORM_FREEBSD 4
#ifndef ITT_OS
#define ITT_OS ITT_OS_LINUX
#endif
#ifndef ITT_PLATFORM
#define ITT_PLATFORM ITT_PLATFORM_POSIX
#endif

/* Calling conventions: there is only one here, but callbacks are written with its name. */
#ifndef ITTAPI_CDECL
#define ITTAPI_CDECL
#endif
#define ITTAPI         ITTAPI_CDECL
#define LIBITTAPI      ITTAPI_CDECL
#define ITTAPI_CALL    ITTAPI_CDECL
#define LIBITTAPI_CALL ITTAPI_CDECL

/* ITTNOTIFY_NAME(task_begin) is __itt_task_begin_ptr__3_0, the variable all calls go through. */
#define ITT_MAJOR          3
#define ITT_MINOR          0
#define ITT_JOIN_AUX(a, b) a##b
#define ITT_JOIN(a, b)     ITT_JOIN_AUX(a, b)
#define ITT_VERSIONIZE(x)  ITT_JOIN(x, ITT_JOIN(_, ITT_JOIN(ITT_MAJOR, ITT_JOIN(_, ITT_MINOR))))
#ifndef INTEL_ITTNOTIFY_PREFIX
#define INTEL_ITTNOTIFY_PREFIX __itt_
#endif
#ifndef INTEL_ITTNOTIFY_POSTFIX
#define INTEL_ITTNOTIFY_POSTFIX _ptr_
#endif
#define ITTNOTIFY_NAME_AUX(n) ITT_JOIN(INTEL_ITTNOTIFY_PREFIX, n)

#define ITTNOTIFY_NAME(n) ITT_VERSIONIZE(ITTNOTIFY_NAME_AUX(ITT_JOIN(n, INTEL_ITTNOTIFY_POSTFIX)))

/*
 * Declares the function __itt_<name>, which a collector defines, and (except where nothing will
 * call through it) the pointer to it, which the static part defines.
 */
#if defined(INTEL_NO_MACRO_BODY) || defined(INTEL_NO_ITTNOTIFY_API)
#define ITTNOTIFY_DECL(ret, name, params) ret ITTAPI __itt_##name params
#else
#define ITTNOTIFY_DECL(ret, name, params)                                                          \
	ret ITTAPI __itt_##name params;                                                            \
	typedef ret(ITTAPI *ITT_JOIN(ITTNOTIFY_NAME(name), _t)) params;                            \
	extern ITT_JOIN(ITTNOTIFY_NAME(name), _t) ITTNOTIFY_NAME(name)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The layouts below are shared with collectors compiled elsewhere: immune to the user's packing. */
#pragma pack(push, 8)

/* ---- Part 1: the API ------------------------------------------------------------------------ */

/* Domains: a name for one component's events. Clearing flags silences all calls that use it. */

typedef struct ___itt_domain {
	volatile int flags; /* 0: calls do nothing; the rest belongs to the collector */
	const char *nameA;
	void *nameW; /* Windows only */
	int extra1;  /* these two belong to the collector */
	void *extra2;
	struct ___itt_domain *next;
} __itt_domain;

ITTNOTIFY_DECL(__itt_domain *, domain_create, (const char *name));

/* String handles: names, made once and then passed by pointer. Same text, same handle. */

typedef struct ___itt_string_handle {
	const char *strA;
	void *strW; /* Windows only */
	int extra1; /* these two belong to the collector */
	void *extra2;
	struct ___itt_string_handle *next;
} __itt_string_handle;

ITTNOTIFY_DECL(__itt_string_handle *, string_handle_create, (const char *name));

/*
 * Ids: tell instances apart, so that parents, relations and metadata can refer to them. Not tied to
 * a domain. Make one from the address of the thing it stands for, announce it with id_create.
 */

typedef struct ___itt_id {
	unsigned long long d1, d2, d3;
} __itt_id;

/* "No id": anonymous task, no parent, the current task. */
static const __itt_id __itt_null __attribute__((unused)) = { 0, 0, 0 };

static inline __itt_id __attribute__((unused)) __itt_id_make(void *addr, unsigned long long extra)
{
	__itt_id id = { (unsigned long long)(uintptr_t)addr, extra, 0 };

	return id;
}

ITTNOTIFY_DECL(void, id_create, (const __itt_domain *domain, __itt_id id));
ITTNOTIFY_DECL(void, id_destroy, (const __itt_domain *domain, __itt_id id));

/*
 * Tasks: work of one thread, from begin to end; they nest. Overlapped tasks are named by their id
 * instead, may cross each other and may end on another thread.
 */

ITTNOTIFY_DECL(void, task_begin,
	       (const __itt_domain *domain, __itt_id id, __itt_id parent,
		__itt_string_handle *name));
ITTNOTIFY_DECL(void, task_begin_fn,
	       (const __itt_domain *domain, __itt_id id, __itt_id parent, void *fn));
ITTNOTIFY_DECL(void, task_end, (const __itt_domain *domain));
ITTNOTIFY_DECL(void, task_begin_overlapped,
	       (const __itt_domain *domain, __itt_id id, __itt_id parent,
		__itt_string_handle *name));
ITTNOTIFY_DECL(void, task_end_overlapped, (const __itt_domain *domain, __itt_id id));

/* Task groups: name an id under which tasks will be filed as parent. */

ITTNOTIFY_DECL(void, task_group,
	       (const __itt_domain *domain, __itt_id id, __itt_id parent,
		__itt_string_handle *name));

/* Regions: a span of the whole program, known by its id. */

ITTNOTIFY_DECL(void, region_begin,
	       (const __itt_domain *domain, __itt_id id, __itt_id parent,
		__itt_string_handle *name));
ITTNOTIFY_DECL(void, region_end, (const __itt_domain *domain, __itt_id id));

/* Timestamps: the collector's clock, in its own unit; they only compare and subtract. */

typedef unsigned long long __itt_timestamp;
#define __itt_timestamp_none ((__itt_timestamp)-1LL)

ITTNOTIFY_DECL(__itt_timestamp, get_timestamp, (void));

/* Frames: what repeats (an image, a time step), one after the other in a domain. id may be NULL. */

ITTNOTIFY_DECL(void, frame_begin_v3, (const __itt_domain *domain, __itt_id *id));
ITTNOTIFY_DECL(void, frame_end_v3, (const __itt_domain *domain, __itt_id *id));
/* A frame that is over already; end may be __itt_timestamp_none for "now". */
ITTNOTIFY_DECL(void, frame_submit_v3,
	       (const __itt_domain *domain, __itt_id *id, __itt_timestamp begin,
		__itt_timestamp end));

/* Frames, first generation. */

typedef struct __itt_frame_t *__itt_frame;

ITTNOTIFY_DECL(__itt_frame, frame_create, (const char *domain));
ITTNOTIFY_DECL(void, frame_begin, (__itt_frame frame));
ITTNOTIFY_DECL(void, frame_end, (__itt_frame frame));

/* Markers: a moment. The scope says how far it matters. */

typedef enum {
	__itt_scope_unknown = 0,
	__itt_scope_global,
	__itt_scope_track_group, /* the process */
	__itt_scope_track,       /* the thread */
	__itt_scope_task,
	__itt_scope_marker
} __itt_scope;

#define __itt_marker_scope_unknown __itt_scope_unknown
#define __itt_marker_scope_global  __itt_scope_global
#define __itt_marker_scope_process __itt_scope_track_group
#define __itt_marker_scope_thread  __itt_scope_track
#define __itt_marker_scope_task    __itt_scope_task

ITTNOTIFY_DECL(void, marker,
	       (const __itt_domain *domain, __itt_id id, __itt_string_handle *name,
		__itt_scope scope));

/*
 * Metadata: values hung on a task (id, or __itt_null for the current one) or on a scope. count == 0
 * adds nothing; length == (size_t)-1 means "up to the NUL". The formatted calls take printf
 * conversions of strings, integers and floating point numbers.
 */

typedef enum {
	__itt_metadata_unknown = 0,
	__itt_metadata_u64,
	__itt_metadata_s64,
	__itt_metadata_u32,
	__itt_metadata_s32,
	__itt_metadata_u16,
	__itt_metadata_s16,
	__itt_metadata_float,
	__itt_metadata_double
} __itt_metadata_type;

ITTNOTIFY_DECL(void, metadata_add,
	       (const __itt_domain *domain, __itt_id id, __itt_string_handle *key,
		__itt_metadata_type type, size_t count, void *data));
ITTNOTIFY_DECL(void, metadata_str_add,
	       (const __itt_domain *domain, __itt_id id, __itt_string_handle *key, const char *data,
		size_t length));
ITTNOTIFY_DECL(void, metadata_add_with_scope,
	       (const __itt_domain *domain, __itt_scope scope, __itt_string_handle *key,
		__itt_metadata_type type, size_t count, void *data));
ITTNOTIFY_DECL(void, metadata_str_add_with_scope,
	       (const __itt_domain *domain, __itt_scope scope, __itt_string_handle *key,
		const char *data, size_t length));
ITTNOTIFY_DECL(void, formatted_metadata_add,
	       (const __itt_domain *domain, __itt_string_handle *format, ...));
ITTNOTIFY_DECL(void, formatted_metadata_add_overlapped,
	       (const __itt_domain *domain, __itt_id id, __itt_string_handle *format, ...));

/* Relations: "head is <relation> tail". Either may not exist yet. */

typedef enum {
	__itt_relation_is_unknown = 0,
	__itt_relation_is_dependent_on,
	__itt_relation_is_sibling_of,
	__itt_relation_is_parent_of,
	__itt_relation_is_continuation_of,
	__itt_relation_is_child_of,
	__itt_relation_is_continued_by,
	__itt_relation_is_predecessor_to
} __itt_relation;

ITTNOTIFY_DECL(void, relation_add_to_current,
	       (const __itt_domain *domain, __itt_relation relation, __itt_id tail));
ITTNOTIFY_DECL(void, relation_add,
	       (const __itt_domain *domain, __itt_id head, __itt_relation relation, __itt_id tail));

/* Clock domains: events that were timed by another clock, a device's for example. */

typedef struct ___itt_clock_info {
	unsigned long long clock_freq; /* ticks per second */
	unsigned long long clock_base; /* its value at some common moment */
} __itt_clock_info;

/* Fills in the current frequency and base. */
typedef void(ITTAPI *__itt_get_clock_info_fn)(__itt_clock_info *info, void *data);

typedef struct ___itt_clock_domain {
	__itt_clock_info info;
	__itt_get_clock_info_fn fn;
	void *fn_data;
	int extra1; /* these two belong to the collector */
	void *extra2;
	struct ___itt_clock_domain *next;
} __itt_clock_domain;

ITTNOTIFY_DECL(__itt_clock_domain *, clock_domain_create,
	       (__itt_get_clock_info_fn fn, void *fn_data));
ITTNOTIFY_DECL(void, clock_domain_reset, (void));
ITTNOTIFY_DECL(void, id_create_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_id id));
ITTNOTIFY_DECL(void, id_destroy_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_id id));
ITTNOTIFY_DECL(void, task_begin_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_id id, __itt_id parent, __itt_string_handle *name));
ITTNOTIFY_DECL(void, task_begin_fn_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_id id, __itt_id parent, void *fn));
ITTNOTIFY_DECL(void, task_end_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock,
		unsigned long long timestamp));
ITTNOTIFY_DECL(void, task_begin_overlapped_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_id id, __itt_id parent, __itt_string_handle *name));
ITTNOTIFY_DECL(void, task_end_overlapped_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_id id));
ITTNOTIFY_DECL(void, marker_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_id id, __itt_string_handle *name, __itt_scope scope));
ITTNOTIFY_DECL(void, relation_add_to_current_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_relation relation, __itt_id tail));
ITTNOTIFY_DECL(void, relation_add_ex,
	       (const __itt_domain *domain, __itt_clock_domain *clock, unsigned long long timestamp,
		__itt_id head, __itt_relation relation, __itt_id tail));

/*
 * Counters: a number over time. inc and dec are for u64 counters; set_value takes a pointer to a
 * value of the counter's type. The v3 inc/dec calls find the counter by name.
 */

typedef struct ___itt_counter *__itt_counter;

ITTNOTIFY_DECL(__itt_counter, counter_create, (const char *name, const char *domain));
ITTNOTIFY_DECL(__itt_counter, counter_create_typed,
	       (const char *name, const char *domain, __itt_metadata_type type));
ITTNOTIFY_DECL(__itt_counter, counter_create_v3,
	       (const __itt_domain *domain, const char *name, __itt_metadata_type type));
ITTNOTIFY_DECL(void, counter_destroy, (__itt_counter counter));
ITTNOTIFY_DECL(void, counter_inc, (__itt_counter counter));
ITTNOTIFY_DECL(void, counter_inc_delta, (__itt_counter counter, unsigned long long delta));
ITTNOTIFY_DECL(void, counter_dec, (__itt_counter counter));
ITTNOTIFY_DECL(void, counter_dec_delta, (__itt_counter counter, unsigned long long delta));
ITTNOTIFY_DECL(void, counter_set_value, (__itt_counter counter, void *value));
ITTNOTIFY_DECL(void, counter_set_value_ex,
	       (__itt_counter counter, __itt_clock_domain *clock, unsigned long long timestamp,
		void *value));
ITTNOTIFY_DECL(void, counter_set_value_v3, (__itt_counter counter, void *value));
ITTNOTIFY_DECL(void, counter_inc_v3, (const __itt_domain *domain, __itt_string_handle *name));
ITTNOTIFY_DECL(void, counter_inc_delta_v3,
	       (const __itt_domain *domain, __itt_string_handle *name, unsigned long long delta));
ITTNOTIFY_DECL(void, counter_dec_v3, (const __itt_domain *domain, __itt_string_handle *name));
ITTNOTIFY_DECL(void, counter_dec_delta_v3,
	       (const __itt_domain *domain, __itt_string_handle *name, unsigned long long delta));

/* Context metadata: what a counter measures. Value points at a char array or at a uint64_t. */

typedef enum {
	__itt_context_unknown = 0,
	__itt_context_nameA, /* char *, as all A; W is wchar_t * and Windows only */
	__itt_context_nameW,
	__itt_context_deviceA,
	__itt_context_deviceW,
	__itt_context_unitsA,
	__itt_context_unitsW,
	__itt_context_pci_addrA,
	__itt_context_pci_addrW,
	__itt_context_tid, /* uint64_t *, as all that follow */
	__itt_context_max_val,
	__itt_context_bandwidth_flag,
	__itt_context_latency_flag,
	__itt_context_occupancy_flag,
	__itt_context_on_thread_flag,
	__itt_context_is_abs_val_flag,
	__itt_context_cpu_instructions_flag,
	__itt_context_cpu_cycles_flag
} __itt_context_type;

#define __itt_context_name     __itt_context_nameA
#define __itt_context_device   __itt_context_deviceA
#define __itt_context_units    __itt_context_unitsA
#define __itt_context_pci_addr __itt_context_pci_addrA

typedef struct ___itt_context_metadata {
	__itt_context_type type;
	void *value;
} __itt_context_metadata;

/* How the static part keeps one of them until a collector comes. */
typedef struct ___itt_counter_metadata {
	__itt_counter counter;
	__itt_context_type type;
	const char *str_valueA;
	void *str_valueW;
	unsigned long long value;
	int extra1; /* these two belong to the collector */
	void *extra2;
	struct ___itt_counter_metadata *next;
} __itt_counter_metadata;

ITTNOTIFY_DECL(void, bind_context_metadata_to_counter,
	       (__itt_counter counter, size_t length, __itt_context_metadata *metadata));

/* Histograms: a distribution, submitted whole. x_data may be NULL for a plain series. */

typedef struct ___itt_histogram {
	const __itt_domain *domain;
	const char *nameA;
	void *nameW; /* Windows only */
	__itt_metadata_type x_type;
	__itt_metadata_type y_type;
	int extra1; /* these two belong to the collector */
	void *extra2;
	struct ___itt_histogram *next;
} __itt_histogram;

ITTNOTIFY_DECL(__itt_histogram *, histogram_create,
	       (const __itt_domain *domain, const char *name, __itt_metadata_type x_type,
		__itt_metadata_type y_type));
ITTNOTIFY_DECL(void, histogram_submit,
	       (__itt_histogram * histogram, size_t length, void *x_data, void *y_data));

/* Threads: name the calling thread, or leave it out of the picture for good. */

ITTNOTIFY_DECL(void, thread_set_name, (const char *name));
ITTNOTIFY_DECL(void, thread_ignore, (void));
ITTNOTIFY_DECL(int, thr_name_set, (const char *name, int len)); /* the older pair */
ITTNOTIFY_DECL(void, thr_ignore, (void));

/* Tracks: rows of the program's own; set_track(NULL) goes back to the thread's. */

typedef enum ___itt_track_group_type {
	__itt_track_group_type_normal = 0
} __itt_track_group_type;

typedef enum ___itt_track_type {
	__itt_track_type_normal = 0,
	__itt_track_type_queue
} __itt_track_type;

typedef struct ___itt_track_group {
	__itt_string_handle *name;
	struct ___itt_track *track; /* its tracks */
	__itt_track_group_type tgtype;
	int extra1; /* these two belong to the collector */
	void *extra2;
	struct ___itt_track_group *next;
} __itt_track_group;

typedef struct ___itt_track {
	__itt_string_handle *name;
	__itt_track_group *group;
	__itt_track_type ttype;
	int extra1; /* these two belong to the collector */
	void *extra2;
	struct ___itt_track *next;
} __itt_track;

ITTNOTIFY_DECL(__itt_track_group *, track_group_create,
	       (__itt_string_handle * name, __itt_track_group_type type));
ITTNOTIFY_DECL(__itt_track *, track_create,
	       (__itt_track_group * group, __itt_string_handle *name, __itt_track_type type));
ITTNOTIFY_DECL(void, set_track, (__itt_track * track));

/* Collection control: for the whole process. The scoped calls choose between host and device. */

typedef enum {
	__itt_collection_scope_host = 1 << 0,
	__itt_collection_scope_offload = 1 << 1,
	__itt_collection_scope_all = 0x7FFFFFFF
} __itt_collection_scope;

typedef enum {
	__itt_collection_uninitialized = 0,
	__itt_collection_init_fail = 1,        /* a collector was named but did not load */
	__itt_collection_collector_absent = 2, /* nobody asked for one */
	__itt_collection_collector_exists = 3,
	__itt_collection_init_successful = 4
} __itt_collection_state;

ITTNOTIFY_DECL(void, pause, (void));
ITTNOTIFY_DECL(void, resume, (void));
ITTNOTIFY_DECL(void, pause_scoped, (__itt_collection_scope scope));
ITTNOTIFY_DECL(void, resume_scoped, (__itt_collection_scope scope));
ITTNOTIFY_DECL(void, detach, (void));        /* stop for good */
ITTNOTIFY_DECL(void, enable_attach, (void)); /* Android only; nothing to do here */

/* These two are functions of the static part, not of the collector. */
__itt_collection_state __itt_get_collection_state(void);
/* Frees the handles made before a collector came; for a library's destructor, nobody else. */
void __itt_release_resources(void);

/* Events: the oldest kind. start alone is a moment, start and end are a span. 0 is success. */

typedef int __itt_event;

ITTNOTIFY_DECL(__itt_event, event_create, (const char *name, int len));
ITTNOTIFY_DECL(int, event_start, (__itt_event event));
ITTNOTIFY_DECL(int, event_end, (__itt_event event));

/* Marks: as events, with a parameter, for a thread or (global) the process. 0 is success. */

typedef int __itt_mark_type;

ITTNOTIFY_DECL(__itt_mark_type, mark_create, (const char *name));
ITTNOTIFY_DECL(int, mark, (__itt_mark_type type, const char *parameter));
ITTNOTIFY_DECL(int, mark_off, (__itt_mark_type type));
ITTNOTIFY_DECL(int, mark_global, (__itt_mark_type type, const char *parameter));
ITTNOTIFY_DECL(int, mark_global_off, (__itt_mark_type type));

/*
 * Synchronisation: locks and barriers a tool cannot recognise by itself. prepare before waiting,
 * then acquired or cancel; releasing before giving up. fsync: the same where nobody spins.
 */

#define __itt_attr_barrier 1
#define __itt_attr_mutex   2

ITTNOTIFY_DECL(void, sync_create, (void *addr, const char *type, const char *name, int attribute));
ITTNOTIFY_DECL(void, sync_rename, (void *addr, const char *name));
ITTNOTIFY_DECL(void, sync_destroy, (void *addr));
ITTNOTIFY_DECL(void, sync_prepare, (void *addr));
ITTNOTIFY_DECL(void, sync_cancel, (void *addr));
ITTNOTIFY_DECL(void, sync_acquired, (void *addr));
ITTNOTIFY_DECL(void, sync_releasing, (void *addr));
ITTNOTIFY_DECL(void, fsync_prepare, (void *addr));
ITTNOTIFY_DECL(void, fsync_cancel, (void *addr));
ITTNOTIFY_DECL(void, fsync_acquired, (void *addr));
ITTNOTIFY_DECL(void, fsync_releasing, (void *addr));

/* Synchronisation, older names. */

ITTNOTIFY_DECL(void, sync_set_name,
	       (void *addr, const char *type, const char *name, int attribute));
ITTNOTIFY_DECL(int, notify_sync_name,
	       (void *addr, const char *type, int type_len, const char *name, int name_len,
		int attribute));
ITTNOTIFY_DECL(void, notify_sync_prepare, (void *addr));
ITTNOTIFY_DECL(void, notify_sync_cancel, (void *addr));
ITTNOTIFY_DECL(void, notify_sync_acquired, (void *addr));
ITTNOTIFY_DECL(void, notify_sync_releasing, (void *addr));

/* Stack stitching: "what runs between enter and leave was called from where create was called". */

typedef struct ___itt_caller *__itt_caller;

ITTNOTIFY_DECL(__itt_caller, stack_caller_create, (void));
ITTNOTIFY_DECL(void, stack_caller_destroy, (__itt_caller caller));
ITTNOTIFY_DECL(void, stack_callee_enter, (__itt_caller caller));
ITTNOTIFY_DECL(void, stack_callee_leave, (__itt_caller caller));

/* Heap: allocators of the program's own. */

typedef void *__itt_heap_function;

#define __itt_heap_leaks  0x00000001
#define __itt_heap_growth 0x00000002

ITTNOTIFY_DECL(__itt_heap_function, heap_function_create, (const char *name, const char *domain));
ITTNOTIFY_DECL(void, heap_allocate_begin, (__itt_heap_function h, size_t size, int initialized));
ITTNOTIFY_DECL(void, heap_allocate_end,
	       (__itt_heap_function h, void **addr, size_t size, int initialized));
ITTNOTIFY_DECL(void, heap_free_begin, (__itt_heap_function h, void *addr));
ITTNOTIFY_DECL(void, heap_free_end, (__itt_heap_function h, void *addr));
ITTNOTIFY_DECL(void, heap_reallocate_begin,
	       (__itt_heap_function h, void *addr, size_t new_size, int initialized));
ITTNOTIFY_DECL(void, heap_reallocate_end,
	       (__itt_heap_function h, void *addr, void **new_addr, size_t new_size,
		int initialized));
ITTNOTIFY_DECL(void, heap_internal_access_begin, (void));
ITTNOTIFY_DECL(void, heap_internal_access_end, (void));
ITTNOTIFY_DECL(void, heap_record_memory_growth_begin, (void));
ITTNOTIFY_DECL(void, heap_record_memory_growth_end, (void));
ITTNOTIFY_DECL(void, heap_reset_detection, (unsigned int mask));
ITTNOTIFY_DECL(void, heap_record, (unsigned int mask));

/* Modules: code that did not come through the system's loader. */

typedef enum {
	__itt_module_type_unknown = 0,
	__itt_module_type_elf,
	__itt_module_type_coff
} __itt_module_type;

typedef enum {
	itt_section_type_unknown,
	itt_section_type_bss,
	itt_section_type_data,
	itt_section_type_text
} __itt_section_type;

#define __itt_section_exec  0x20000000
#define __itt_section_read  0x40000000
#define __itt_section_write 0x80000000

typedef struct ___itt_section_info {
	const char *name;
	__itt_section_type type;
	size_t flags;     /* __itt_section_exec | ... */
	void *start_addr; /* where it was loaded */
	size_t size;
	size_t file_offset;
} __itt_section_info;

typedef struct ___itt_module_object {
	unsigned int version; /* filled in by the static part */
	__itt_id module_id;
	__itt_module_type module_type;
	const char *module_name; /* the file's path when there is no module_buffer */
	void *module_buffer;     /* the file's content, or NULL */
	size_t module_size;
	__itt_section_info *section_array;
	size_t section_number;
} __itt_module_object;

ITTNOTIFY_DECL(void, module_load, (void *start, void *end, const char *path));
ITTNOTIFY_DECL(void, module_unload, (void *start));
ITTNOTIFY_DECL(void, module_load_with_sections, (__itt_module_object * module));
ITTNOTIFY_DECL(void, module_unload_with_sections, (__itt_module_object * module));

/* Processor Trace regions (0 to 7). The marks are for a decoder; our library leaves them empty. */

typedef unsigned char __itt_pt_region;

ITTNOTIFY_DECL(__itt_pt_region, pt_region_create, (const char *name));
void __itt_mark_pt_region_begin(__itt_pt_region region);
void __itt_mark_pt_region_end(__itt_pt_region region);

/* Error suppression: hints to correctness checkers. */

#define __itt_suppress_all_errors       0x7fffffff
#define __itt_suppress_threading_errors 0x000000ff
#define __itt_suppress_memory_errors    0x0000ff00

typedef enum __itt_suppress_mode {
	__itt_unsuppress_range,
	__itt_suppress_range
} __itt_suppress_mode_t;

ITTNOTIFY_DECL(void, suppress_push, (unsigned int mask));
ITTNOTIFY_DECL(void, suppress_pop, (void));
ITTNOTIFY_DECL(void, suppress_mark_range,
	       (__itt_suppress_mode_t mode, unsigned int mask, void *addr, size_t size));
ITTNOTIFY_DECL(void, suppress_clear_range,
	       (__itt_suppress_mode_t mode, unsigned int mask, void *addr, size_t size));

/* Modelling: "what if this loop were parallel"; normally reached through advisor-annotate.h. */

#if !defined(_ADVISOR_ANNOTATE_H_) || defined(ANNOTATE_EXPAND_NULL)
typedef void *__itt_model_site;
typedef void *__itt_model_site_instance;
typedef void *__itt_model_task;
typedef void *__itt_model_task_instance;

typedef enum {
	__itt_model_disable_observation,
	__itt_model_disable_collection
} __itt_model_disable;
#endif

ITTNOTIFY_DECL(void, model_site_begin,
	       (__itt_model_site * site, __itt_model_site_instance *instance, const char *name));
ITTNOTIFY_DECL(void, model_site_beginA, (const char *name));
ITTNOTIFY_DECL(void, model_site_beginAL, (const char *name, size_t len));
ITTNOTIFY_DECL(void, model_site_end,
	       (__itt_model_site * site, __itt_model_site_instance *instance));
ITTNOTIFY_DECL(void, model_site_end_2, (void));
ITTNOTIFY_DECL(void, model_task_begin,
	       (__itt_model_task * task, __itt_model_task_instance *instance, const char *name));
ITTNOTIFY_DECL(void, model_task_beginA, (const char *name));
ITTNOTIFY_DECL(void, model_task_beginAL, (const char *name, size_t len));
ITTNOTIFY_DECL(void, model_iteration_taskA, (const char *name));
ITTNOTIFY_DECL(void, model_iteration_taskAL, (const char *name, size_t len));
ITTNOTIFY_DECL(void, model_task_end,
	       (__itt_model_task * task, __itt_model_task_instance *instance));
ITTNOTIFY_DECL(void, model_task_end_2, (void));
ITTNOTIFY_DECL(void, model_lock_acquire, (void *lock));
ITTNOTIFY_DECL(void, model_lock_acquire_2, (void *lock));
ITTNOTIFY_DECL(void, model_lock_release, (void *lock));
ITTNOTIFY_DECL(void, model_lock_release_2, (void *lock));
ITTNOTIFY_DECL(void, model_record_allocation, (void *addr, size_t size));
ITTNOTIFY_DECL(void, model_record_deallocation, (void *addr));
ITTNOTIFY_DECL(void, model_induction_uses, (void *addr, size_t size));
ITTNOTIFY_DECL(void, model_reduction_uses, (void *addr, size_t size));
ITTNOTIFY_DECL(void, model_observe_uses, (void *addr, size_t size));
ITTNOTIFY_DECL(void, model_clear_uses, (void *addr));
ITTNOTIFY_DECL(void, model_disable_push, (__itt_model_disable what));
ITTNOTIFY_DECL(void, model_disable_pop, (void));
ITTNOTIFY_DECL(void, model_aggregate_task, (size_t count));

/* Arrays: write one to a file whose suffix names the format. */

typedef enum {
	__itt_e_first = 0,
	__itt_e_char = 0,
	__itt_e_uchar,
	__itt_e_int16,
	__itt_e_uint16,
	__itt_e_int32,
	__itt_e_uint32,
	__itt_e_int64,
	__itt_e_uint64,
	__itt_e_float,
	__itt_e_double,
	__itt_e_last = __itt_e_double
} __itt_av_data_type;

ITTNOTIFY_DECL(int, av_save,
	       (void *data, int rank, const int *dimensions, int type, const char *path,
		int column_order));

/* Memory accesses, thread and object states: legacy of correctness checkers. */

typedef int __itt_state_t;

typedef enum __itt_obj_state {
	__itt_obj_state_err = 0,
	__itt_obj_state_clr = 1,
	__itt_obj_state_set = 2,
	__itt_obj_state_use = 3
} __itt_obj_state_t;

typedef enum __itt_thr_state {
	__itt_thr_state_err = 0,
	__itt_thr_state_clr = 1,
	__itt_thr_state_set = 2
} __itt_thr_state_t;

typedef enum __itt_obj_prop {
	__itt_obj_prop_watch = 1,
	__itt_obj_prop_ignore = 2,
	__itt_obj_prop_sharable = 3
} __itt_obj_prop_t;

typedef enum __itt_thr_prop {
	__itt_thr_prop_quiet = 1
} __itt_thr_prop_t;

ITTNOTIFY_DECL(void, memory_read, (void *addr, size_t size));
ITTNOTIFY_DECL(void, memory_write, (void *addr, size_t size));
ITTNOTIFY_DECL(void, memory_update, (void *addr, size_t size));
ITTNOTIFY_DECL(__itt_state_t, state_get, (void));
ITTNOTIFY_DECL(__itt_state_t, state_set, (__itt_state_t state));
ITTNOTIFY_DECL(__itt_thr_state_t, thr_mode_set, (__itt_thr_prop_t prop, __itt_thr_state_t state));
ITTNOTIFY_DECL(__itt_obj_state_t, obj_mode_set, (__itt_obj_prop_t prop, __itt_obj_state_t state));

/* Version and errors. The handler hears why the static part did not get to its collector. */

typedef enum __itt_error_code {
	__itt_error_success = 0,
	__itt_error_no_module = 1,     /* const char *library, const char *reason */
	__itt_error_no_symbol = 2,     /* const char *library, const char *symbol */
	__itt_error_unknown_group = 3, /* const char *variable, const char *group */
	__itt_error_cant_read_env = 4, /* const char *variable, int system_error */
	__itt_error_env_too_long = 5,  /* const char *variable, size_t length, size_t limit */
	__itt_error_system = 6         /* const char *function, int errno */
} __itt_error_code;

typedef void(__itt_error_handler_t)(__itt_error_code code, va_list args);

__itt_error_handler_t *__itt_set_error_handler(__itt_error_handler_t *handler);
ITTNOTIFY_DECL(const char *, api_version, (void));

#ifndef INTEL_NO_MACRO_BODY
extern const int ITTNOTIFY_NAME(err); /* what event and mark calls return on failure */
#define __itt_err ITTNOTIFY_NAME(err)
#endif

#pragma pack(pop)

#ifdef __cplusplus
}
#endif

/* ---- Part 2: how the calls are made --------------------------------------------------------- */

/*
 * The pointer is NULL when nobody listens. It is read with acquire (free on x86), since another
 * thread may be installing the collector at this moment. ITTNOTIFY_CALL and _DOMAIN evaluate all
 * they are given at most once; ITTNOTIFY_DATA must be an expression that C++ accepts outside of
 * functions, so it reads the pointer twice and relies on collectors never to put NULL back.
 */
#define ITTNOTIFY_LOAD(n) __atomic_load_n(&ITTNOTIFY_NAME(n), __ATOMIC_ACQUIRE)

/* Code is laid out for the traced run: 1.7 ns a task less there for 0.3 ns more without (gcc 12).
 */
#define ITTNOTIFY_LIKELY(x) __builtin_expect(!!(x), 1)

#if defined(INTEL_NO_MACRO_BODY) || defined(INTEL_NO_ITTNOTIFY_API)
#define ITTNOTIFY_PTR(n) 0
#else
#define ITTNOTIFY_PTR(n) ITTNOTIFY_NAME(n)
#endif

#ifdef INTEL_NO_ITTNOTIFY_API
/* Never called nor referred to, but seen: no warnings about unused variables or values. */
static inline int __attribute__((unused)) ittnotify_ok(void)
{
	return 0;
}
#define ITTNOTIFY_CALL(n, args)      (1 ? (void)0 : __itt_##n args)
#define ITTNOTIFY_DATA(ret, n, args) (1 ? (ret)0 : __itt_##n args)
#define ITTNOTIFY_STATUS(n, args)    (1 ? ittnotify_ok() : __itt_##n args)
#define ITTNOTIFY_DOMAIN(n, d, args) (1 ? (void)0 : ((void)(d), __itt_##n args))
#define ITTNOTIFY_D                  ((const __itt_domain *)0)
#else
#define ITTNOTIFY_CALL(n, args)                                                                    \
	__extension__({                                                                            \
		__typeof__(ITTNOTIFY_NAME(n)) itt_call_ = ITTNOTIFY_LOAD(n);                       \
		if (ITTNOTIFY_LIKELY(itt_call_))                                                   \
			itt_call_ args;                                                            \
	})
#define ITTNOTIFY_DATA(ret, n, args) (!ITTNOTIFY_LOAD(n) ? (ret)0 : ITTNOTIFY_LOAD(n) args)
#define ITTNOTIFY_STATUS(n, args)    ITTNOTIFY_DATA(int, n, args)
#define ITTNOTIFY_DOMAIN(n, d, args)                                                               \
	__extension__({                                                                            \
		const __itt_domain *itt_domain_ = (d);                                             \
		if (itt_domain_ && ITTNOTIFY_LIKELY(itt_domain_->flags))                           \
			ITTNOTIFY_CALL(n, args);                                                   \
	})
#define ITTNOTIFY_D itt_domain_ /* how the arguments say "the domain" */
#endif

/* One call a line, not aligned on the longest name. */
/* clang-format off */
#ifndef INTEL_NO_MACRO_BODY
#define __itt_domain_create(...) ITTNOTIFY_DATA(__itt_domain *, domain_create, (__VA_ARGS__))
#define __itt_string_handle_create(...)                                                            \
	ITTNOTIFY_DATA(__itt_string_handle *, string_handle_create, (__VA_ARGS__))
#define __itt_id_create(d, ...) ITTNOTIFY_DOMAIN(id_create, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_id_destroy(d, ...) ITTNOTIFY_DOMAIN(id_destroy, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_begin(d, ...) ITTNOTIFY_DOMAIN(task_begin, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_begin_fn(d, ...) ITTNOTIFY_DOMAIN(task_begin_fn, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_end(d) ITTNOTIFY_DOMAIN(task_end, d, (ITTNOTIFY_D))
#define __itt_task_begin_overlapped(d, ...)                                                        \
	ITTNOTIFY_DOMAIN(task_begin_overlapped, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_end_overlapped(d, ...)                                                          \
	ITTNOTIFY_DOMAIN(task_end_overlapped, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_group(d, ...) ITTNOTIFY_DOMAIN(task_group, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_region_begin(d, ...) ITTNOTIFY_DOMAIN(region_begin, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_region_end(d, ...) ITTNOTIFY_DOMAIN(region_end, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_get_timestamp() ITTNOTIFY_DATA(__itt_timestamp, get_timestamp, ())
#define __itt_frame_begin_v3(d, ...) ITTNOTIFY_DOMAIN(frame_begin_v3, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_frame_end_v3(d, ...) ITTNOTIFY_DOMAIN(frame_end_v3, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_frame_submit_v3(d, ...)                                                              \
	ITTNOTIFY_DOMAIN(frame_submit_v3, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_frame_create(...) ITTNOTIFY_DATA(__itt_frame, frame_create, (__VA_ARGS__))
#define __itt_frame_begin(...) ITTNOTIFY_CALL(frame_begin, (__VA_ARGS__))
#define __itt_frame_end(...) ITTNOTIFY_CALL(frame_end, (__VA_ARGS__))
#define __itt_marker(d, ...) ITTNOTIFY_DOMAIN(marker, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_metadata_add(d, ...) ITTNOTIFY_DOMAIN(metadata_add, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_metadata_str_add(d, ...)                                                             \
	ITTNOTIFY_DOMAIN(metadata_str_add, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_metadata_add_with_scope(d, ...)                                                      \
	ITTNOTIFY_DOMAIN(metadata_add_with_scope, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_metadata_str_add_with_scope(d, ...)                                                  \
	ITTNOTIFY_DOMAIN(metadata_str_add_with_scope, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_formatted_metadata_add(d, ...)                                                       \
	ITTNOTIFY_DOMAIN(formatted_metadata_add, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_formatted_metadata_add_overlapped(d, ...)                                            \
	ITTNOTIFY_DOMAIN(formatted_metadata_add_overlapped, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_relation_add_to_current(d, ...)                                                      \
	ITTNOTIFY_DOMAIN(relation_add_to_current, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_relation_add(d, ...) ITTNOTIFY_DOMAIN(relation_add, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_clock_domain_create(...)                                                             \
	ITTNOTIFY_DATA(__itt_clock_domain *, clock_domain_create, (__VA_ARGS__))
#define __itt_clock_domain_reset() ITTNOTIFY_CALL(clock_domain_reset, ())
#define __itt_id_create_ex(d, ...) ITTNOTIFY_DOMAIN(id_create_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_id_destroy_ex(d, ...) ITTNOTIFY_DOMAIN(id_destroy_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_begin_ex(d, ...) ITTNOTIFY_DOMAIN(task_begin_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_begin_fn_ex(d, ...)                                                             \
	ITTNOTIFY_DOMAIN(task_begin_fn_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_end_ex(d, ...) ITTNOTIFY_DOMAIN(task_end_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_begin_overlapped_ex(d, ...)                                                     \
	ITTNOTIFY_DOMAIN(task_begin_overlapped_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_task_end_overlapped_ex(d, ...)                                                       \
	ITTNOTIFY_DOMAIN(task_end_overlapped_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_marker_ex(d, ...) ITTNOTIFY_DOMAIN(marker_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_relation_add_to_current_ex(d, ...)                                                   \
	ITTNOTIFY_DOMAIN(relation_add_to_current_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_relation_add_ex(d, ...)                                                              \
	ITTNOTIFY_DOMAIN(relation_add_ex, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_counter_create(...) ITTNOTIFY_DATA(__itt_counter, counter_create, (__VA_ARGS__))
#define __itt_counter_create_typed(...)                                                            \
	ITTNOTIFY_DATA(__itt_counter, counter_create_typed, (__VA_ARGS__))
#define __itt_counter_create_v3(...) ITTNOTIFY_DATA(__itt_counter, counter_create_v3, (__VA_ARGS__))
#define __itt_counter_destroy(...) ITTNOTIFY_CALL(counter_destroy, (__VA_ARGS__))
#define __itt_counter_inc(...) ITTNOTIFY_CALL(counter_inc, (__VA_ARGS__))
#define __itt_counter_inc_delta(...) ITTNOTIFY_CALL(counter_inc_delta, (__VA_ARGS__))
#define __itt_counter_dec(...) ITTNOTIFY_CALL(counter_dec, (__VA_ARGS__))
#define __itt_counter_dec_delta(...) ITTNOTIFY_CALL(counter_dec_delta, (__VA_ARGS__))
#define __itt_counter_set_value(...) ITTNOTIFY_CALL(counter_set_value, (__VA_ARGS__))
#define __itt_counter_set_value_ex(...) ITTNOTIFY_CALL(counter_set_value_ex, (__VA_ARGS__))
#define __itt_counter_set_value_v3(...) ITTNOTIFY_CALL(counter_set_value_v3, (__VA_ARGS__))
#define __itt_counter_inc_v3(d, ...) ITTNOTIFY_DOMAIN(counter_inc_v3, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_counter_inc_delta_v3(d, ...)                                                         \
	ITTNOTIFY_DOMAIN(counter_inc_delta_v3, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_counter_dec_v3(d, ...) ITTNOTIFY_DOMAIN(counter_dec_v3, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_counter_dec_delta_v3(d, ...)                                                         \
	ITTNOTIFY_DOMAIN(counter_dec_delta_v3, d, (ITTNOTIFY_D, __VA_ARGS__))
#define __itt_bind_context_metadata_to_counter(...)                                                \
	ITTNOTIFY_CALL(bind_context_metadata_to_counter, (__VA_ARGS__))
#define __itt_histogram_create(...)                                                                \
	ITTNOTIFY_DATA(__itt_histogram *, histogram_create, (__VA_ARGS__))
#define __itt_histogram_submit(...) ITTNOTIFY_CALL(histogram_submit, (__VA_ARGS__))
#define __itt_thread_set_name(...) ITTNOTIFY_CALL(thread_set_name, (__VA_ARGS__))
#define __itt_thread_ignore() ITTNOTIFY_CALL(thread_ignore, ())
#define __itt_thr_name_set(...) ITTNOTIFY_STATUS(thr_name_set, (__VA_ARGS__))
#define __itt_thr_ignore() ITTNOTIFY_CALL(thr_ignore, ())
#define __itt_track_group_create(...)                                                              \
	ITTNOTIFY_DATA(__itt_track_group *, track_group_create, (__VA_ARGS__))
#define __itt_track_create(...) ITTNOTIFY_DATA(__itt_track *, track_create, (__VA_ARGS__))
#define __itt_set_track(...) ITTNOTIFY_CALL(set_track, (__VA_ARGS__))
#define __itt_pause() ITTNOTIFY_CALL(pause, ())
#define __itt_resume() ITTNOTIFY_CALL(resume, ())
#define __itt_pause_scoped(...) ITTNOTIFY_CALL(pause_scoped, (__VA_ARGS__))
#define __itt_resume_scoped(...) ITTNOTIFY_CALL(resume_scoped, (__VA_ARGS__))
#define __itt_detach() ITTNOTIFY_CALL(detach, ())
#define __itt_enable_attach() ITTNOTIFY_CALL(enable_attach, ())
#define __itt_event_create(...) ITTNOTIFY_DATA(__itt_event, event_create, (__VA_ARGS__))
#define __itt_event_start(...) ITTNOTIFY_STATUS(event_start, (__VA_ARGS__))
#define __itt_event_end(...) ITTNOTIFY_STATUS(event_end, (__VA_ARGS__))
#define __itt_mark_create(...) ITTNOTIFY_DATA(__itt_mark_type, mark_create, (__VA_ARGS__))
#define __itt_mark(...) ITTNOTIFY_STATUS(mark, (__VA_ARGS__))
#define __itt_mark_off(...) ITTNOTIFY_STATUS(mark_off, (__VA_ARGS__))
#define __itt_mark_global(...) ITTNOTIFY_STATUS(mark_global, (__VA_ARGS__))
#define __itt_mark_global_off(...) ITTNOTIFY_STATUS(mark_global_off, (__VA_ARGS__))
#define __itt_sync_create(...) ITTNOTIFY_CALL(sync_create, (__VA_ARGS__))
#define __itt_sync_rename(...) ITTNOTIFY_CALL(sync_rename, (__VA_ARGS__))
#define __itt_sync_destroy(...) ITTNOTIFY_CALL(sync_destroy, (__VA_ARGS__))
#define __itt_sync_prepare(...) ITTNOTIFY_CALL(sync_prepare, (__VA_ARGS__))
#define __itt_sync_cancel(...) ITTNOTIFY_CALL(sync_cancel, (__VA_ARGS__))
#define __itt_sync_acquired(...) ITTNOTIFY_CALL(sync_acquired, (__VA_ARGS__))
#define __itt_sync_releasing(...) ITTNOTIFY_CALL(sync_releasing, (__VA_ARGS__))
#define __itt_fsync_prepare(...) ITTNOTIFY_CALL(fsync_prepare, (__VA_ARGS__))
#define __itt_fsync_cancel(...) ITTNOTIFY_CALL(fsync_cancel, (__VA_ARGS__))
#define __itt_fsync_acquired(...) ITTNOTIFY_CALL(fsync_acquired, (__VA_ARGS__))
#define __itt_fsync_releasing(...) ITTNOTIFY_CALL(fsync_releasing, (__VA_ARGS__))
#define __itt_sync_set_name(...) ITTNOTIFY_CALL(sync_set_name, (__VA_ARGS__))
#define __itt_notify_sync_name(...) ITTNOTIFY_STATUS(notify_sync_name, (__VA_ARGS__))
#define __itt_notify_sync_prepare(...) ITTNOTIFY_CALL(notify_sync_prepare, (__VA_ARGS__))
#define __itt_notify_sync_cancel(...) ITTNOTIFY_CALL(notify_sync_cancel, (__VA_ARGS__))
#define __itt_notify_sync_acquired(...) ITTNOTIFY_CALL(notify_sync_acquired, (__VA_ARGS__))
#define __itt_notify_sync_releasing(...) ITTNOTIFY_CALL(notify_sync_releasing, (__VA_ARGS__))
#define __itt_stack_caller_create() ITTNOTIFY_DATA(__itt_caller, stack_caller_create, ())
#define __itt_stack_caller_destroy(...) ITTNOTIFY_CALL(stack_caller_destroy, (__VA_ARGS__))
#define __itt_stack_callee_enter(...) ITTNOTIFY_CALL(stack_callee_enter, (__VA_ARGS__))
#define __itt_stack_callee_leave(...) ITTNOTIFY_CALL(stack_callee_leave, (__VA_ARGS__))
#define __itt_heap_function_create(...)                                                            \
	ITTNOTIFY_DATA(__itt_heap_function, heap_function_create, (__VA_ARGS__))
#define __itt_heap_allocate_begin(...) ITTNOTIFY_CALL(heap_allocate_begin, (__VA_ARGS__))
#define __itt_heap_allocate_end(...) ITTNOTIFY_CALL(heap_allocate_end, (__VA_ARGS__))
#define __itt_heap_free_begin(...) ITTNOTIFY_CALL(heap_free_begin, (__VA_ARGS__))
#define __itt_heap_free_end(...) ITTNOTIFY_CALL(heap_free_end, (__VA_ARGS__))
#define __itt_heap_reallocate_begin(...) ITTNOTIFY_CALL(heap_reallocate_begin, (__VA_ARGS__))
#define __itt_heap_reallocate_end(...) ITTNOTIFY_CALL(heap_reallocate_end, (__VA_ARGS__))
#define __itt_heap_internal_access_begin() ITTNOTIFY_CALL(heap_internal_access_begin, ())
#define __itt_heap_internal_access_end() ITTNOTIFY_CALL(heap_internal_access_end, ())
#define __itt_heap_record_memory_growth_begin() ITTNOTIFY_CALL(heap_record_memory_growth_begin, ())
#define __itt_heap_record_memory_growth_end() ITTNOTIFY_CALL(heap_record_memory_growth_end, ())
#define __itt_heap_reset_detection(...) ITTNOTIFY_CALL(heap_reset_detection, (__VA_ARGS__))
#define __itt_heap_record(...) ITTNOTIFY_CALL(heap_record, (__VA_ARGS__))
#define __itt_module_load(...) ITTNOTIFY_CALL(module_load, (__VA_ARGS__))
#define __itt_module_unload(...) ITTNOTIFY_CALL(module_unload, (__VA_ARGS__))
#define __itt_module_load_with_sections(...)                                                       \
	ITTNOTIFY_CALL(module_load_with_sections, (__VA_ARGS__))
#define __itt_module_unload_with_sections(...)                                                     \
	ITTNOTIFY_CALL(module_unload_with_sections, (__VA_ARGS__))
#define __itt_pt_region_create(...) ITTNOTIFY_DATA(__itt_pt_region, pt_region_create, (__VA_ARGS__))
#define __itt_suppress_push(...) ITTNOTIFY_CALL(suppress_push, (__VA_ARGS__))
#define __itt_suppress_pop() ITTNOTIFY_CALL(suppress_pop, ())
#define __itt_suppress_mark_range(...) ITTNOTIFY_CALL(suppress_mark_range, (__VA_ARGS__))
#define __itt_suppress_clear_range(...) ITTNOTIFY_CALL(suppress_clear_range, (__VA_ARGS__))
#define __itt_model_site_begin(...) ITTNOTIFY_CALL(model_site_begin, (__VA_ARGS__))
#define __itt_model_site_beginA(...) ITTNOTIFY_CALL(model_site_beginA, (__VA_ARGS__))
#define __itt_model_site_beginAL(...) ITTNOTIFY_CALL(model_site_beginAL, (__VA_ARGS__))
#define __itt_model_site_end(...) ITTNOTIFY_CALL(model_site_end, (__VA_ARGS__))
#define __itt_model_site_end_2() ITTNOTIFY_CALL(model_site_end_2, ())
#define __itt_model_task_begin(...) ITTNOTIFY_CALL(model_task_begin, (__VA_ARGS__))
#define __itt_model_task_beginA(...) ITTNOTIFY_CALL(model_task_beginA, (__VA_ARGS__))
#define __itt_model_task_beginAL(...) ITTNOTIFY_CALL(model_task_beginAL, (__VA_ARGS__))
#define __itt_model_iteration_taskA(...) ITTNOTIFY_CALL(model_iteration_taskA, (__VA_ARGS__))
#define __itt_model_iteration_taskAL(...) ITTNOTIFY_CALL(model_iteration_taskAL, (__VA_ARGS__))
#define __itt_model_task_end(...) ITTNOTIFY_CALL(model_task_end, (__VA_ARGS__))
#define __itt_model_task_end_2() ITTNOTIFY_CALL(model_task_end_2, ())
#define __itt_model_lock_acquire(...) ITTNOTIFY_CALL(model_lock_acquire, (__VA_ARGS__))
#define __itt_model_lock_acquire_2(...) ITTNOTIFY_CALL(model_lock_acquire_2, (__VA_ARGS__))
#define __itt_model_lock_release(...) ITTNOTIFY_CALL(model_lock_release, (__VA_ARGS__))
#define __itt_model_lock_release_2(...) ITTNOTIFY_CALL(model_lock_release_2, (__VA_ARGS__))
#define __itt_model_record_allocation(...) ITTNOTIFY_CALL(model_record_allocation, (__VA_ARGS__))
#define __itt_model_record_deallocation(...)                                                       \
	ITTNOTIFY_CALL(model_record_deallocation, (__VA_ARGS__))
#define __itt_model_induction_uses(...) ITTNOTIFY_CALL(model_induction_uses, (__VA_ARGS__))
#define __itt_model_reduction_uses(...) ITTNOTIFY_CALL(model_reduction_uses, (__VA_ARGS__))
#define __itt_model_observe_uses(...) ITTNOTIFY_CALL(model_observe_uses, (__VA_ARGS__))
#define __itt_model_clear_uses(...) ITTNOTIFY_CALL(model_clear_uses, (__VA_ARGS__))
#define __itt_model_disable_push(...) ITTNOTIFY_CALL(model_disable_push, (__VA_ARGS__))
#define __itt_model_disable_pop() ITTNOTIFY_CALL(model_disable_pop, ())
#define __itt_model_aggregate_task(...) ITTNOTIFY_CALL(model_aggregate_task, (__VA_ARGS__))
#define __itt_av_save(...) ITTNOTIFY_STATUS(av_save, (__VA_ARGS__))
#define __itt_memory_read(...) ITTNOTIFY_CALL(memory_read, (__VA_ARGS__))
#define __itt_memory_write(...) ITTNOTIFY_CALL(memory_write, (__VA_ARGS__))
#define __itt_memory_update(...) ITTNOTIFY_CALL(memory_update, (__VA_ARGS__))
#define __itt_state_get() ITTNOTIFY_DATA(__itt_state_t, state_get, ())
#define __itt_state_set(...) ITTNOTIFY_DATA(__itt_state_t, state_set, (__VA_ARGS__))
#define __itt_thr_mode_set(...) ITTNOTIFY_DATA(__itt_thr_state_t, thr_mode_set, (__VA_ARGS__))
#define __itt_obj_mode_set(...) ITTNOTIFY_DATA(__itt_obj_state_t, obj_mode_set, (__VA_ARGS__))
#define __itt_api_version() ITTNOTIFY_DATA(const char *, api_version, ())
#endif

/* The pointers, for those who want to know beforehand whether anybody listens. */
#define __itt_domain_create_ptr ITTNOTIFY_PTR(domain_create)
#define __itt_string_handle_create_ptr ITTNOTIFY_PTR(string_handle_create)
#define __itt_id_create_ptr ITTNOTIFY_PTR(id_create)
#define __itt_id_destroy_ptr ITTNOTIFY_PTR(id_destroy)
#define __itt_task_begin_ptr ITTNOTIFY_PTR(task_begin)
#define __itt_task_begin_fn_ptr ITTNOTIFY_PTR(task_begin_fn)
#define __itt_task_end_ptr ITTNOTIFY_PTR(task_end)
#define __itt_task_begin_overlapped_ptr ITTNOTIFY_PTR(task_begin_overlapped)
#define __itt_task_end_overlapped_ptr ITTNOTIFY_PTR(task_end_overlapped)
#define __itt_task_group_ptr ITTNOTIFY_PTR(task_group)
#define __itt_region_begin_ptr ITTNOTIFY_PTR(region_begin)
#define __itt_region_end_ptr ITTNOTIFY_PTR(region_end)
#define __itt_get_timestamp_ptr ITTNOTIFY_PTR(get_timestamp)
#define __itt_frame_begin_v3_ptr ITTNOTIFY_PTR(frame_begin_v3)
#define __itt_frame_end_v3_ptr ITTNOTIFY_PTR(frame_end_v3)
#define __itt_frame_submit_v3_ptr ITTNOTIFY_PTR(frame_submit_v3)
#define __itt_frame_create_ptr ITTNOTIFY_PTR(frame_create)
#define __itt_frame_begin_ptr ITTNOTIFY_PTR(frame_begin)
#define __itt_frame_end_ptr ITTNOTIFY_PTR(frame_end)
#define __itt_marker_ptr ITTNOTIFY_PTR(marker)
#define __itt_metadata_add_ptr ITTNOTIFY_PTR(metadata_add)
#define __itt_metadata_str_add_ptr ITTNOTIFY_PTR(metadata_str_add)
#define __itt_metadata_add_with_scope_ptr ITTNOTIFY_PTR(metadata_add_with_scope)
#define __itt_metadata_str_add_with_scope_ptr ITTNOTIFY_PTR(metadata_str_add_with_scope)
#define __itt_formatted_metadata_add_ptr ITTNOTIFY_PTR(formatted_metadata_add)
#define __itt_formatted_metadata_add_overlapped_ptr ITTNOTIFY_PTR(formatted_metadata_add_overlapped)
#define __itt_relation_add_to_current_ptr ITTNOTIFY_PTR(relation_add_to_current)
#define __itt_relation_add_ptr ITTNOTIFY_PTR(relation_add)
#define __itt_clock_domain_create_ptr ITTNOTIFY_PTR(clock_domain_create)
#define __itt_clock_domain_reset_ptr ITTNOTIFY_PTR(clock_domain_reset)
#define __itt_id_create_ex_ptr ITTNOTIFY_PTR(id_create_ex)
#define __itt_id_destroy_ex_ptr ITTNOTIFY_PTR(id_destroy_ex)
#define __itt_task_begin_ex_ptr ITTNOTIFY_PTR(task_begin_ex)
#define __itt_task_begin_fn_ex_ptr ITTNOTIFY_PTR(task_begin_fn_ex)
#define __itt_task_end_ex_ptr ITTNOTIFY_PTR(task_end_ex)
#define __itt_task_begin_overlapped_ex_ptr ITTNOTIFY_PTR(task_begin_overlapped_ex)
#define __itt_task_end_overlapped_ex_ptr ITTNOTIFY_PTR(task_end_overlapped_ex)
#define __itt_marker_ex_ptr ITTNOTIFY_PTR(marker_ex)
#define __itt_relation_add_to_current_ex_ptr ITTNOTIFY_PTR(relation_add_to_current_ex)
#define __itt_relation_add_ex_ptr ITTNOTIFY_PTR(relation_add_ex)
#define __itt_counter_create_ptr ITTNOTIFY_PTR(counter_create)
#define __itt_counter_create_typed_ptr ITTNOTIFY_PTR(counter_create_typed)
#define __itt_counter_create_v3_ptr ITTNOTIFY_PTR(counter_create_v3)
#define __itt_counter_destroy_ptr ITTNOTIFY_PTR(counter_destroy)
#define __itt_counter_inc_ptr ITTNOTIFY_PTR(counter_inc)
#define __itt_counter_inc_delta_ptr ITTNOTIFY_PTR(counter_inc_delta)
#define __itt_counter_dec_ptr ITTNOTIFY_PTR(counter_dec)
#define __itt_counter_dec_delta_ptr ITTNOTIFY_PTR(counter_dec_delta)
#define __itt_counter_set_value_ptr ITTNOTIFY_PTR(counter_set_value)
#define __itt_counter_set_value_ex_ptr ITTNOTIFY_PTR(counter_set_value_ex)
#define __itt_counter_set_value_v3_ptr ITTNOTIFY_PTR(counter_set_value_v3)
#define __itt_counter_inc_v3_ptr ITTNOTIFY_PTR(counter_inc_v3)
#define __itt_counter_inc_delta_v3_ptr ITTNOTIFY_PTR(counter_inc_delta_v3)
#define __itt_counter_dec_v3_ptr ITTNOTIFY_PTR(counter_dec_v3)
#define __itt_counter_dec_delta_v3_ptr ITTNOTIFY_PTR(counter_dec_delta_v3)
#define __itt_bind_context_metadata_to_counter_ptr ITTNOTIFY_PTR(bind_context_metadata_to_counter)
#define __itt_histogram_create_ptr ITTNOTIFY_PTR(histogram_create)
#define __itt_histogram_submit_ptr ITTNOTIFY_PTR(histogram_submit)
#define __itt_thread_set_name_ptr ITTNOTIFY_PTR(thread_set_name)
#define __itt_thread_ignore_ptr ITTNOTIFY_PTR(thread_ignore)
#define __itt_thr_name_set_ptr ITTNOTIFY_PTR(thr_name_set)
#define __itt_thr_ignore_ptr ITTNOTIFY_PTR(thr_ignore)
#define __itt_track_group_create_ptr ITTNOTIFY_PTR(track_group_create)
#define __itt_track_create_ptr ITTNOTIFY_PTR(track_create)
#define __itt_set_track_ptr ITTNOTIFY_PTR(set_track)
#define __itt_pause_ptr ITTNOTIFY_PTR(pause)
#define __itt_resume_ptr ITTNOTIFY_PTR(resume)
#define __itt_pause_scoped_ptr ITTNOTIFY_PTR(pause_scoped)
#define __itt_resume_scoped_ptr ITTNOTIFY_PTR(resume_scoped)
#define __itt_detach_ptr ITTNOTIFY_PTR(detach)
#define __itt_enable_attach_ptr ITTNOTIFY_PTR(enable_attach)
#define __itt_event_create_ptr ITTNOTIFY_PTR(event_create)
#define __itt_event_start_ptr ITTNOTIFY_PTR(event_start)
#define __itt_event_end_ptr ITTNOTIFY_PTR(event_end)
#define __itt_mark_create_ptr ITTNOTIFY_PTR(mark_create)
#define __itt_mark_ptr ITTNOTIFY_PTR(mark)
#define __itt_mark_off_ptr ITTNOTIFY_PTR(mark_off)
#define __itt_mark_global_ptr ITTNOTIFY_PTR(mark_global)
#define __itt_mark_global_off_ptr ITTNOTIFY_PTR(mark_global_off)
#define __itt_sync_create_ptr ITTNOTIFY_PTR(sync_create)
#define __itt_sync_rename_ptr ITTNOTIFY_PTR(sync_rename)
#define __itt_sync_destroy_ptr ITTNOTIFY_PTR(sync_destroy)
#define __itt_sync_prepare_ptr ITTNOTIFY_PTR(sync_prepare)
#define __itt_sync_cancel_ptr ITTNOTIFY_PTR(sync_cancel)
#define __itt_sync_acquired_ptr ITTNOTIFY_PTR(sync_acquired)
#define __itt_sync_releasing_ptr ITTNOTIFY_PTR(sync_releasing)
#define __itt_fsync_prepare_ptr ITTNOTIFY_PTR(fsync_prepare)
#define __itt_fsync_cancel_ptr ITTNOTIFY_PTR(fsync_cancel)
#define __itt_fsync_acquired_ptr ITTNOTIFY_PTR(fsync_acquired)
#define __itt_fsync_releasing_ptr ITTNOTIFY_PTR(fsync_releasing)
#define __itt_sync_set_name_ptr ITTNOTIFY_PTR(sync_set_name)
#define __itt_notify_sync_name_ptr ITTNOTIFY_PTR(notify_sync_name)
#define __itt_notify_sync_prepare_ptr ITTNOTIFY_PTR(notify_sync_prepare)
#define __itt_notify_sync_cancel_ptr ITTNOTIFY_PTR(notify_sync_cancel)
#define __itt_notify_sync_acquired_ptr ITTNOTIFY_PTR(notify_sync_acquired)
#define __itt_notify_sync_releasing_ptr ITTNOTIFY_PTR(notify_sync_releasing)
#define __itt_stack_caller_create_ptr ITTNOTIFY_PTR(stack_caller_create)
#define __itt_stack_caller_destroy_ptr ITTNOTIFY_PTR(stack_caller_destroy)
#define __itt_stack_callee_enter_ptr ITTNOTIFY_PTR(stack_callee_enter)
#define __itt_stack_callee_leave_ptr ITTNOTIFY_PTR(stack_callee_leave)
#define __itt_heap_function_create_ptr ITTNOTIFY_PTR(heap_function_create)
#define __itt_heap_allocate_begin_ptr ITTNOTIFY_PTR(heap_allocate_begin)
#define __itt_heap_allocate_end_ptr ITTNOTIFY_PTR(heap_allocate_end)
#define __itt_heap_free_begin_ptr ITTNOTIFY_PTR(heap_free_begin)
#define __itt_heap_free_end_ptr ITTNOTIFY_PTR(heap_free_end)
#define __itt_heap_reallocate_begin_ptr ITTNOTIFY_PTR(heap_reallocate_begin)
#define __itt_heap_reallocate_end_ptr ITTNOTIFY_PTR(heap_reallocate_end)
#define __itt_heap_internal_access_begin_ptr ITTNOTIFY_PTR(heap_internal_access_begin)
#define __itt_heap_internal_access_end_ptr ITTNOTIFY_PTR(heap_internal_access_end)
#define __itt_heap_record_memory_growth_begin_ptr ITTNOTIFY_PTR(heap_record_memory_growth_begin)
#define __itt_heap_record_memory_growth_end_ptr ITTNOTIFY_PTR(heap_record_memory_growth_end)
#define __itt_heap_reset_detection_ptr ITTNOTIFY_PTR(heap_reset_detection)
#define __itt_heap_record_ptr ITTNOTIFY_PTR(heap_record)
#define __itt_module_load_ptr ITTNOTIFY_PTR(module_load)
#define __itt_module_unload_ptr ITTNOTIFY_PTR(module_unload)
#define __itt_module_load_with_sections_ptr ITTNOTIFY_PTR(module_load_with_sections)
#define __itt_module_unload_with_sections_ptr ITTNOTIFY_PTR(module_unload_with_sections)
#define __itt_pt_region_create_ptr ITTNOTIFY_PTR(pt_region_create)
#define __itt_suppress_push_ptr ITTNOTIFY_PTR(suppress_push)
#define __itt_suppress_pop_ptr ITTNOTIFY_PTR(suppress_pop)
#define __itt_suppress_mark_range_ptr ITTNOTIFY_PTR(suppress_mark_range)
#define __itt_suppress_clear_range_ptr ITTNOTIFY_PTR(suppress_clear_range)
#define __itt_model_site_begin_ptr ITTNOTIFY_PTR(model_site_begin)
#define __itt_model_site_beginA_ptr ITTNOTIFY_PTR(model_site_beginA)
#define __itt_model_site_beginAL_ptr ITTNOTIFY_PTR(model_site_beginAL)
#define __itt_model_site_end_ptr ITTNOTIFY_PTR(model_site_end)
#define __itt_model_site_end_2_ptr ITTNOTIFY_PTR(model_site_end_2)
#define __itt_model_task_begin_ptr ITTNOTIFY_PTR(model_task_begin)
#define __itt_model_task_beginA_ptr ITTNOTIFY_PTR(model_task_beginA)
#define __itt_model_task_beginAL_ptr ITTNOTIFY_PTR(model_task_beginAL)
#define __itt_model_iteration_taskA_ptr ITTNOTIFY_PTR(model_iteration_taskA)
#define __itt_model_iteration_taskAL_ptr ITTNOTIFY_PTR(model_iteration_taskAL)
#define __itt_model_task_end_ptr ITTNOTIFY_PTR(model_task_end)
#define __itt_model_task_end_2_ptr ITTNOTIFY_PTR(model_task_end_2)
#define __itt_model_lock_acquire_ptr ITTNOTIFY_PTR(model_lock_acquire)
#define __itt_model_lock_acquire_2_ptr ITTNOTIFY_PTR(model_lock_acquire_2)
#define __itt_model_lock_release_ptr ITTNOTIFY_PTR(model_lock_release)
#define __itt_model_lock_release_2_ptr ITTNOTIFY_PTR(model_lock_release_2)
#define __itt_model_record_allocation_ptr ITTNOTIFY_PTR(model_record_allocation)
#define __itt_model_record_deallocation_ptr ITTNOTIFY_PTR(model_record_deallocation)
#define __itt_model_induction_uses_ptr ITTNOTIFY_PTR(model_induction_uses)
#define __itt_model_reduction_uses_ptr ITTNOTIFY_PTR(model_reduction_uses)
#define __itt_model_observe_uses_ptr ITTNOTIFY_PTR(model_observe_uses)
#define __itt_model_clear_uses_ptr ITTNOTIFY_PTR(model_clear_uses)
#define __itt_model_disable_push_ptr ITTNOTIFY_PTR(model_disable_push)
#define __itt_model_disable_pop_ptr ITTNOTIFY_PTR(model_disable_pop)
#define __itt_model_aggregate_task_ptr ITTNOTIFY_PTR(model_aggregate_task)
#define __itt_av_save_ptr ITTNOTIFY_PTR(av_save)
#define __itt_memory_read_ptr ITTNOTIFY_PTR(memory_read)
#define __itt_memory_write_ptr ITTNOTIFY_PTR(memory_write)
#define __itt_memory_update_ptr ITTNOTIFY_PTR(memory_update)
#define __itt_state_get_ptr ITTNOTIFY_PTR(state_get)
#define __itt_state_set_ptr ITTNOTIFY_PTR(state_set)
#define __itt_thr_mode_set_ptr ITTNOTIFY_PTR(thr_mode_set)
#define __itt_obj_mode_set_ptr ITTNOTIFY_PTR(obj_mode_set)
#define __itt_api_version_ptr ITTNOTIFY_PTR(api_version)
/* clang-format on */

#endif
