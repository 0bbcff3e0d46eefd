/*
 * sycl_spans.c - what lasts: command groups that are executed, waits, calls of the runtime below.
 *
 * A command that throws has no end. So each thread keeps what it has begun: an end takes with it
 * what was begun inside and has not ended, and one without a begin does nothing.
 */
#include <stdatomic.h>
#include <string.h>

#include "backend/sycl/sycl.h"

#define DEEPEST 16u
#define MOST_UR 1024u

/* Of one thread; what is deeper than this is not recorded. */
static _Thread_local struct {
	uint64_t open[DEEPEST]; /* instance and kind */
	uint32_t depth, deeper;
} mine;

static uint64_t tag_of(enum ut_sycl_kind kind, uint64_t instance)
{
	return instance << 2 | (uint64_t)kind;
}

static uint32_t api_of(uint64_t tag)
{
	return (tag & 3) == UT_SYCL_CALL ? ut_sycl.runtime : ut_sycl.api;
}

void ut_sycl_begin(enum ut_sycl_kind kind, uint64_t instance, uint32_t name, uint64_t correlation)
{
	if (mine.depth == DEEPEST) {
		mine.deeper++;
		return;
	}
	mine.open[mine.depth++] = tag_of(kind, instance);
	ut_sycl.host->call_begin(api_of(tag_of(kind, instance)), name, correlation);
}

/* Where it is, plus 1. */
static uint32_t sycl_spans_find(uint64_t tag)
{
	uint32_t at = mine.depth;

	while (at && mine.open[at - 1] != tag)
		at--;
	return at;
}

bool ut_sycl_is_open(enum ut_sycl_kind kind, uint64_t instance)
{
	bool open = sycl_spans_find(tag_of(kind, instance));

	if (!open && mine.deeper)
		mine.deeper--;
	return open;
}

void ut_sycl_end(enum ut_sycl_kind kind, uint64_t instance, const struct ut_sycl_facts *facts)
{
	uint32_t at = sycl_spans_find(tag_of(kind, instance));

	if (!at)
		return;
	for (; mine.depth > at; mine.depth--)
		ut_sycl.host->call_end(api_of(mine.open[mine.depth - 1]), NULL, 0);
	ut_sycl.host->call_end(api_of(mine.open[at - 1]), facts->items, facts->count);
	mine.depth = at - 1;
}

/* ---- command groups ------------------------------------------------------------------------ */

void ut_sycl_on_task(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		     uint64_t instance, const void *data)
{
	struct ut_sycl_facts f = { .count = 0 };
	uint64_t node;

	(void)parent;
	(void)data;
	if (!event)
		return;
	node = ut_sycl_node_of(event->id);
	node = node ? node : instance;
	if (point == XPTI_TASK_BEGIN) {
		ut_sycl_begin(UT_SYCL_TASK, instance, ut_sycl_event_name(event, NULL),
			      UT_SYCL_FIRST_CORRELATION + node);
	} else if (ut_sycl_is_open(UT_SYCL_TASK, instance)) {
		ut_sycl_fact(&f, ut_sycl.key.node, UT_VALUE_U64, node);
		ut_sycl_facts_of(&f, event);
		ut_sycl_end(UT_SYCL_TASK, instance, &f);
	}
}

/* ---- waits --------------------------------------------------------------------------------- */

/* The text says what is waited for: "queue.wait[...]", "event.wait[...]". */
void ut_sycl_on_wait(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		     uint64_t instance, const void *data)
{
	struct ut_sycl_facts f = { .count = 0 };
	bool barrier = point == XPTI_BARRIER_BEGIN || point == XPTI_BARRIER_END;
	uint64_t address = 0, node;
	uint32_t name = ut_sycl_readable(data ? data : barrier ? "barrier" : "wait", &address);

	(void)parent;
	if (point == XPTI_WAIT_BEGIN || point == XPTI_BARRIER_BEGIN) {
		ut_sycl_begin(UT_SYCL_WAIT, instance, name, 0);
	} else if (ut_sycl_is_open(UT_SYCL_WAIT, instance)) {
		node = ut_sycl_node_of_signal(address);
		node = node || !event ? node : ut_sycl_node_of(event->id);
		ut_sycl_fact(&f, ut_sycl.key.node, UT_VALUE_U64, node);
		ut_sycl_fact(&f, ut_sycl.key.object, UT_VALUE_HEX, address);
		if (event)
			ut_sycl_facts_of(&f, event);
		ut_sycl_end(UT_SYCL_WAIT, instance, &f);
	}
}

/* ---- the runtime below --------------------------------------------------------------------- */

/* Each function's name once; those of the two ways that lead here are the same. */
static uint32_t sycl_spans_name_of(uint32_t number, const char *text)
{
	static _Atomic uint32_t names[MOST_UR];

	if (!text)
		text = "ur call";
	if (number >= MOST_UR)
		return ut_sycl_name(text);
	if (!names[number])
		names[number] = ut_sycl_name(text);
	return names[number];
}

static void add_result(struct ut_sycl_facts *f, int32_t result)
{
	const char *name = result ? ut_ur_result_name(result) : NULL;

	if (name)
		ut_sycl_fact(f, ut_sycl.key.error, UT_VALUE_NAME, ut_sycl_name(name));
	else
		ut_sycl_fact(f, ut_sycl.key.error, UT_VALUE_HEX, (uint32_t)result);
}

void ut_sycl_on_call(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		     uint64_t instance, const void *data)
{
	const struct xpti_function_args *call = data;
	struct ut_sycl_facts f = { .count = 0 };
	int32_t result;

	(void)parent;
	(void)event;
	if (!call)
		return;
	if (point == XPTI_FUNCTION_WITH_ARGS_BEGIN) {
		ut_sycl_begin(UT_SYCL_CALL, instance, sycl_spans_name_of(call->number, call->name),
			      0);
	} else if (ut_sycl_is_open(UT_SYCL_CALL, instance)) {
		if (call->result) {
			memcpy(&result, call->result, sizeof(result));
			add_result(&f, result);
		}
		ut_sycl_end(UT_SYCL_CALL, instance, &f);
	}
}

/* Runtimes that know no arguments; the number of a call may be 0 there. */
void ut_sycl_on_function(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
			 uint64_t instance, const void *data)
{
	const struct ut_sycl_facts none = { .count = 0 };

	(void)parent;
	(void)event;
	if (point == XPTI_FUNCTION_BEGIN)
		ut_sycl_begin(UT_SYCL_CALL, ~instance, ut_sycl_name(data ? data : "ur call"), 0);
	else if (ut_sycl_is_open(UT_SYCL_CALL, ~instance))
		ut_sycl_end(UT_SYCL_CALL, ~instance, &none);
}
