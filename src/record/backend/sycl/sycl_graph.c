/*
 * sycl_graph.c - nodes of the graph of commands, and what depends on what.
 *
 * A node is known by the event that it was announced with, and that event's memory is used again
 * for later nodes: what counts is the last that was said. A node of something that is no longer
 * part of the graph is a "virtual node", named after the event of the runtime below that it waits
 * for; whoever had said that it completes that event is meant.
 */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "backend/sycl/sycl.h"

struct numbered {
	struct ut_handle_item item;
	_Atomic uint64_t node;
};

static struct ut_handle_table nodes = { .size = sizeof(struct numbered) };
static struct ut_handle_table signals = { .size = sizeof(struct numbered) };

static uint64_t sycl_graph_get(const struct ut_handle_table *t, uint64_t key)
{
	const struct numbered *n = key ? ut_handle_find(t, (const void *)(uintptr_t)key) : NULL;

	return n ? atomic_load_explicit(&n->node, memory_order_relaxed) : 0;
}

static void sycl_graph_put(struct ut_handle_table *t, uint64_t key, uint64_t node)
{
	struct numbered *n = key ? ut_handle_item_of(t, (const void *)(uintptr_t)key) : NULL;

	if (n)
		atomic_store_explicit(&n->node, node, memory_order_relaxed);
}

uint64_t ut_sycl_node_of(uint64_t event_id)
{
	return sycl_graph_get(&nodes, event_id);
}

uint64_t ut_sycl_node_of_signal(uint64_t address)
{
	return sycl_graph_get(&signals, address);
}

void ut_sycl_say(uint32_t name, const struct ut_sycl_facts *facts)
{
	ut_sycl.host->call_begin(ut_sycl.api, name, 0);
	ut_sycl.host->call_end(ut_sycl.api, facts->items, facts->count);
}

void ut_sycl_on_node(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		     uint64_t instance, const void *data)
{
	static _Atomic uint32_t name;
	struct ut_sycl_facts f = { .count = 0 };
	uint64_t stands_for = 0, same;
	uint32_t called;

	(void)point;
	(void)parent;
	(void)data;
	if (!event)
		return;
	called = ut_sycl_event_name(event, &stands_for);
	same = sycl_graph_get(&signals, stands_for);
	sycl_graph_put(&nodes, event->id, same ? same : instance);
	if (same || !ut_sycl.host->on())
		return;
	if (!name)
		name = ut_sycl_name("node create");
	ut_sycl_fact(&f, ut_sycl.key.node, UT_VALUE_U64, instance);
	ut_sycl_fact(&f, ut_sycl.key.command, UT_VALUE_NAME, called);
	ut_sycl_facts_of(&f, event);
	ut_sycl_say(name, &f);
}

/* An arrow from one node to the other. Ids must not be those of another process. */
static void point_at(uint64_t source, uint64_t target, uint64_t instance)
{
	struct ut_message m = { .size = sizeof(m),
				.end = UT_MESSAGE_SENT,
				.id = { UINT64_C(0x5359434c) << 32 | (uint32_t)getpid(), instance },
				.correlation = UT_SYCL_FIRST_CORRELATION + source,
				.name = ut_sycl.dependency };

	if (!source || !target || !UT_HOST_HAS(ut_sycl.host, message))
		return;
	m.id[0] ^= ut_sycl.host->now() << 20;
	ut_sycl.host->message(&m);
	m.end = UT_MESSAGE_RECEIVED;
	m.correlation = UT_SYCL_FIRST_CORRELATION + target;
	ut_sycl.host->message(&m);
}

void ut_sycl_on_edge(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		     uint64_t instance, const void *data)
{
	static _Atomic uint32_t name;
	struct ut_sycl_facts f = { .count = 0 };
	uint64_t source, target;

	(void)point;
	(void)parent;
	(void)data;
	if (!event || !ut_sycl.host->on())
		return;
	if (!name)
		name = ut_sycl_name("edge create");
	source = sycl_graph_get(&nodes, event->source);
	target = sycl_graph_get(&nodes, event->target);
	ut_sycl_fact(&f, ut_sycl.key.from_node, UT_VALUE_U64, source);
	ut_sycl_fact(&f, ut_sycl.key.to_node, UT_VALUE_U64, target);
	ut_sycl_fact(&f, ut_sycl.key.access, UT_VALUE_NAME, ut_sycl_event_name(event, NULL));
	ut_sycl_facts_of(&f, event);
	ut_sycl_say(name, &f);
	point_at(source, target, instance);
}

/* The command has an event now, by which others will speak of it. */
void ut_sycl_on_signal(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		       uint64_t instance, const void *data)
{
	(void)point;
	(void)parent;
	(void)instance;
	if (event)
		sycl_graph_put(&signals, (uint64_t)(uintptr_t)data,
			       sycl_graph_get(&nodes, event->id));
}

void ut_sycl_on_queue(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		      uint64_t instance, const void *data)
{
	static _Atomic uint32_t names[2];
	uint32_t end = point == XPTI_QUEUE_DESTROY;
	struct ut_sycl_facts f = { .count = 0 };

	(void)parent;
	(void)instance;
	(void)data;
	if (!event || !ut_sycl.host->on())
		return;
	if (!names[end])
		names[end] = ut_sycl_name(end ? "queue destroy" : "queue create");
	ut_sycl_facts_of(&f, event);
	ut_sycl_say(names[end], &f);
}
