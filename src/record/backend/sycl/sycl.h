/*
 * sycl.h - what the files of the SYCL backend share.
 *
 * The runtime hands every event to callbacks, on the thread that it happens on. What lasts becomes
 * a call of "SYCL" or, for the runtime below, of "UR"; what is only said (a node, an edge, a queue)
 * becomes a call that takes no time.
 *
 * Guests' rules, as in unitrace/backend.h: no print, no wait on our account, no malloc, errno as
 * found.
 */
#ifndef UT_BACKEND_SYCL_SYCL_H
#define UT_BACKEND_SYCL_SYCL_H

#include <stdbool.h>

#include "backend/handle_table.h"
#include "backend/sycl/xpti_abi.h"
#include "unitrace/backend.h"

#define UT_EXPORT __attribute__((visibility("default")))

/* Numbers of nodes stand behind those of all other runtimes: CUPTI's, OpenCL's, Level Zero's. */
#define UT_SYCL_FIRST_CORRELATION (UINT64_C(1) << 56)

#define UT_SYCL_KEYS(X)                                                                            \
	X(node, "node")                                                                            \
	X(device, "device")                                                                        \
	X(queue, "queue")                                                                          \
	X(in_order, "in order")                                                                    \
	X(bytes, "bytes")                                                                          \
	X(from, "from")                                                                            \
	X(to, "to")                                                                                \
	X(address, "address")                                                                      \
	X(object, "object")                                                                        \
	X(access, "access")                                                                        \
	X(file, "file")                                                                            \
	X(line, "line")                                                                            \
	X(column, "column")                                                                        \
	X(function, "function")                                                                    \
	X(global, "global size")                                                                   \
	X(local, "local size")                                                                     \
	X(arguments, "arguments")                                                                  \
	X(element, "element")                                                                      \
	X(range, "range")                                                                          \
	X(command, "command")                                                                      \
	X(from_node, "from node")                                                                  \
	X(to_node, "to node")                                                                      \
	X(error, "error")

/* Set once, by start(). */
struct ut_sycl_state {
	const struct ut_host *host;
	uint32_t api, runtime; /* "SYCL"; "UR" */
	uint32_t dependency;   /* name of the arrow between two nodes */
	struct {
#define UT_SYCL_KEY(key, text) uint32_t key;
		UT_SYCL_KEYS(UT_SYCL_KEY)
#undef UT_SYCL_KEY
	} key;
	/* The framework's. */
	uint8_t (*register_stream)(const char *name);
	int32_t (*register_callback)(uint8_t stream, uint16_t point, xpti_callback *callback);
	const char *(*lookup_string)(uint32_t number);
	struct xpti_object (*lookup_object)(int32_t number);
	const struct xpti_payload *(*query_payload)(struct xpti_event *event);
	const struct xpti_map *(*query_metadata)(struct xpti_event *event);
};

extern struct ut_sycl_state ut_sycl;

uint32_t ut_sycl_name(const char *text);

/* ---- facts (sycl_facts.c) ------------------------------------------------------------------ */

#define UT_SYCL_MOST_FACTS 16u

struct ut_sycl_facts {
	struct ut_fact items[UT_SYCL_MOST_FACTS];
	size_t count;
};

/* What is kept: 0 and unknown keys are left out; the first of a key counts. */
void ut_sycl_fact(struct ut_sycl_facts *f, uint32_t key, uint32_t type, uint64_t value);
/* "1024x16x1" */
void ut_sycl_fact_range(struct ut_sycl_facts *f, uint32_t key, const size_t range[3]);
/* Where it is in the source, and what the runtime says about it. */
void ut_sycl_facts_of(struct ut_sycl_facts *f, struct xpti_event *event);

/* The name of what is traced: without the address that the runtime puts behind some, which is
 * handed over, if there was one. */
uint32_t ut_sycl_readable(const char *text, uint64_t *address);
uint32_t ut_sycl_event_name(struct xpti_event *event, uint64_t *address);

/* ---- what is only said --------------------------------------------------------------------- */

/* A call that takes no time. */
void ut_sycl_say(uint32_t name, const struct ut_sycl_facts *facts);

/* The number of the node that an event stands for, of the one that completes an event of the
 * runtime below; 0 = not known. */
uint64_t ut_sycl_node_of(uint64_t event_id);
uint64_t ut_sycl_node_of_signal(uint64_t address);

xpti_callback ut_sycl_on_node, ut_sycl_on_edge, ut_sycl_on_signal, ut_sycl_on_queue;
xpti_callback ut_sycl_on_memory, ut_sycl_on_buffer, ut_sycl_on_image, ut_sycl_on_accessor;
xpti_callback ut_sycl_on_task, ut_sycl_on_wait, ut_sycl_on_function, ut_sycl_on_call;

/* Memory that is in use, as a counter of its device (sycl_memory.c). */
void ut_sycl_memory_forked(void);

/* ---- what lasts (sycl_spans.c) ------------------------------------------------------------- */

enum ut_sycl_kind {
	UT_SYCL_TASK,
	UT_SYCL_WAIT,
	UT_SYCL_MEMORY,
	UT_SYCL_CALL, /* of the runtime below */
};

void ut_sycl_begin(enum ut_sycl_kind kind, uint64_t instance, uint32_t name, uint64_t correlation);
/* Is it open on this thread? Only then does its end count. */
bool ut_sycl_is_open(enum ut_sycl_kind kind, uint64_t instance);
void ut_sycl_end(enum ut_sycl_kind kind, uint64_t instance, const struct ut_sycl_facts *facts);

/* "UR_RESULT_ERROR_DEVICE_LOST"; NULL = it has no name (ur_text.c). */
const char *ut_ur_result_name(int32_t result);

#endif
