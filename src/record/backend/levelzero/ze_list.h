/*
 * ze_list.h - lists and queues of the program's, and what their functions do: ze_list.c has the
 * lists, append.c what is put into them, queue.c executes them.
 */
#ifndef UT_BACKEND_LEVELZERO_ZE_LIST_H
#define UT_BACKEND_LEVELZERO_ZE_LIST_H

#include "backend/levelzero/ze_run.h"

struct ut_ze_list {
	struct ut_handle_item item;
	_Atomic bool live;
	struct ut_ze_context *context;
	struct ut_ze_device *device; /* NULL = nothing of it is recorded */
	uint32_t ordinal;
	bool immediate, in_order;
	bool capturing;             /* what is appended becomes a graph, and does not run */
	uint64_t next_id;           /* of the next command, by which it may be changed */
	struct ut_ze_stream stream; /* of an immediate one */
	/* Of a regular one. Atomic: a thread that ends a context looks at the lists of all others.
	 * What it finds stays for as long as it has the lock, without which nothing is dropped. */
	struct ut_ze_program *_Atomic program;
};

struct ut_ze_queue {
	struct ut_handle_item item;
	struct ut_ze_device *device;
	struct ut_ze_stream stream;
};

/* NULL = nothing is known about it. */
struct ut_ze_list *ut_ze_list_find(ze_handle list);
struct ut_ze_queue *ut_ze_queue_find(ze_handle queue);

void ut_ze_lists_forked(void);
void ut_ze_lists_context_ends(const struct ut_ze_context *c); /* under the lock */

/* A number that no other call has. */
uint64_t ut_ze_correlation(void);

/* ---- what is put into a list (append.c) ---------------------------------------------------- */

/* A call that appends a command: lives in its wrapper. */
struct ut_ze_append {
	enum ut_ze_id id;
	ze_handle handle; /* of the list */
	ze_handle given;  /* the program's event; NULL = none */
	struct ut_ze_list *list;
	bool opens;    /* the command is recorded */
	bool reported; /* the call is */
	bool swapped;  /* the program's event has to be signaled by a command of its own */
	uint64_t before, correlation;
	struct ut_ze_command command;
};

/* In this order. Is the command to be recorded? Then say what it is. */
bool ut_ze_append_opens(struct ut_ze_append *a, ze_handle list, ze_handle event);
void ut_ze_say_work(struct ut_ze_append *a, enum ut_work_kind kind);
void ut_ze_say_copy(struct ut_ze_append *a, const void *to, const void *from, uint64_t bytes);
void ut_ze_say_image(struct ut_ze_append *a, ze_handle image, const void *region);
void ut_ze_say_fill(struct ut_ze_append *a, const void *to, uint64_t bytes);
void ut_ze_say_kernel(struct ut_ze_append *a, ze_handle kernel, const void *groups,
		      const struct ze_group *sizes);
/* Just before the call; gives the event to hand on. */
ze_handle ut_ze_append_begin(struct ut_ze_append *a);
/* When everything about the call is recorded; gives its result. */
ze_result ut_ze_append_done(struct ut_ze_append *a, ze_result rc);

#endif
