/*
 * sycl_memory.c - memory that programs get through SYCL: by malloc_device() and its relatives, or
 * with buffers and images; how much of it is in use, by device.
 *
 * The runtime tells both kinds by the same points: what was asked for by name has an event, and a
 * text where the other kind has a struct.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/sycl/sycl.h"

#define MOST_DEVICES 32u

struct block {
	struct ut_handle_item item;
	_Atomic uint64_t bytes; /* 0 = free */
	_Atomic uint32_t device;
};

static struct ut_handle_table blocks = { .size = sizeof(struct block) };

static struct {
	_Atomic uint32_t device, counter; /* names */
	_Atomic int64_t bytes;
} in_use[MOST_DEVICES];

/* The child has a copy of the memory, and its own recording begins now. */
void ut_sycl_memory_forked(void)
{
	for (size_t i = 0; i < MOST_DEVICES; i++)
		atomic_store(&in_use[i].bytes, 0);
}

/* Devices are few; two threads that come first at once take the same place in turn. */
static uint32_t sycl_memory_place_of(uint32_t device)
{
	uint32_t at = 0, none = 0;

	while (at < MOST_DEVICES - 1) {
		none = 0;
		if (atomic_load(&in_use[at].device) == device ||
		    atomic_compare_exchange_strong(&in_use[at].device, &none, device) ||
		    none == device)
			break;
		at++;
	}
	return at;
}

static void sycl_memory_count(uint32_t at, int64_t bytes)
{
	int64_t now = atomic_fetch_add(&in_use[at].bytes, bytes) + bytes;

	if (!in_use[at].counter)
		return;
	ut_sycl.host->counter(UT_DEVICE_PROCESS, in_use[at].counter, ut_sycl.host->now(),
			      now > 0 ? (double)now : 0.0);
}

static const struct ut_fact *fact_of(const struct ut_sycl_facts *f, uint32_t key)
{
	for (size_t i = 0; i < f->count; i++) {
		if (f->items[i].key == key)
			return &f->items[i];
	}
	return NULL;
}

/* The number of a name cannot be turned back: the counter is called when the text is there. */
static void name_counter(uint32_t at, struct xpti_event *event)
{
	const struct xpti_map *map = event ? ut_sycl.query_metadata(event) : NULL;
	const struct xpti_pair *p = map ? map->first : NULL;
	const char *device = "buffers";
	char text[200];
	size_t len = strlen(device);
	int printed;

	if (in_use[at].counter)
		return;
	for (size_t i = 0; p && i < map->count && i < 64; i++, p = p->next) {
		const char *key = ut_sycl.lookup_string(p->key);
		struct xpti_object o;

		if (!key || strcmp(key, "sycl_device_name") != 0)
			continue;
		o = ut_sycl.lookup_object(p->value);
		if (o.data && o.type == XPTI_STRING) {
			device = o.data;
			len = strnlen(o.data, o.size < 120 ? o.size : 120);
		}
	}
	printed = snprintf(text, sizeof(text), "SYCL memory: %.*s (bytes)", (int)len, device);
	in_use[at].counter = ut_sycl.host->name(text, (size_t)printed);
}

static void allocated(const struct ut_sycl_facts *f, struct xpti_event *event)
{
	const struct ut_fact *address = fact_of(f, ut_sycl.key.address);
	const struct ut_fact *bytes = fact_of(f, ut_sycl.key.bytes);
	const struct ut_fact *device = fact_of(f, ut_sycl.key.device);
	uint32_t at = sycl_memory_place_of(device ? (uint32_t)device->value : UINT32_MAX);
	struct block *b =
		address && bytes
			? ut_handle_item_of(&blocks, (const void *)(uintptr_t)address->value)
			: NULL;

	if (!b)
		return;
	name_counter(at, event);
	atomic_store(&b->device, at);
	atomic_store(&b->bytes, bytes->value);
	sycl_memory_count(at, (int64_t)bytes->value);
}

static void released(uint64_t address)
{
	struct block *b =
		address ? ut_handle_find(&blocks, (const void *)(uintptr_t)address) : NULL;
	uint64_t bytes = b ? atomic_exchange(&b->bytes, 0) : 0;

	if (bytes)
		sycl_memory_count(atomic_load(&b->device), -(int64_t)bytes);
}

static void sycl_memory_gather(struct ut_sycl_facts *f, struct xpti_event *event, const void *data)
{
	const struct xpti_memory *m = event ? NULL : data;

	if (event)
		ut_sycl_facts_of(f, event);
	if (!m)
		return;
	ut_sycl_fact(f, ut_sycl.key.object, UT_VALUE_HEX, m->object);
	ut_sycl_fact(f, ut_sycl.key.address, UT_VALUE_HEX, m->address);
	ut_sycl_fact(f, ut_sycl.key.bytes, UT_VALUE_U64, m->size);
}

void ut_sycl_on_memory(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		       uint64_t instance, const void *data)
{
	bool release = point == XPTI_MEM_RELEASE_BEGIN || point == XPTI_MEM_RELEASE_END;
	struct ut_sycl_facts f = { .count = 0 };
	const struct ut_fact *address;
	uint32_t name;

	(void)parent;
	if (point == XPTI_MEM_ALLOC_BEGIN || point == XPTI_MEM_RELEASE_BEGIN) {
		name = event ? ut_sycl_event_name(event, NULL)
			     : ut_sycl_name(release ? "release memory" : "allocate memory");
		ut_sycl_begin(UT_SYCL_MEMORY, instance, name, 0);
		return;
	}
	if (!ut_sycl_is_open(UT_SYCL_MEMORY, instance))
		return;
	sycl_memory_gather(&f, event, data);
	ut_sycl_end(UT_SYCL_MEMORY, instance, &f);
	address = fact_of(&f, ut_sycl.key.address);
	if (!release)
		allocated(&f, event);
	else if (address)
		released(address->value);
}

/* ---- buffers ------------------------------------------------------------------------------- */

static void say_object(bool end, const char *begun, const char *ended, struct ut_sycl_facts *f,
		       struct xpti_event *event)
{
	if (event)
		ut_sycl_facts_of(f, event);
	ut_sycl_say(ut_sycl_name(end ? ended : begun), f);
}

void ut_sycl_on_buffer(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		       uint64_t instance, const void *data)
{
	const struct xpti_buffer *b = data;
	bool end = point == XPTI_OBJECT_DESTRUCT;
	struct ut_sycl_facts f = { .count = 0 };
	uint64_t bytes = 0;

	(void)parent;
	(void)instance;
	if (!b || !ut_sycl.host->on())
		return;
	ut_sycl_fact(&f, ut_sycl.key.object, UT_VALUE_HEX, b->user);
	if (!end) {
		bytes = b->element_size;
		for (uint32_t i = 0; i < b->dimensions && i < 3; i++)
			bytes *= b->range[i];
		ut_sycl_fact(&f, ut_sycl.key.bytes, UT_VALUE_U64, bytes);
		ut_sycl_fact_range(&f, ut_sycl.key.range, b->range);
		if (b->element)
			ut_sycl_fact(&f, ut_sycl.key.element, UT_VALUE_NAME,
				     ut_sycl_name(b->element));
	}
	say_object(end, "buffer create", "buffer destroy", &f, event);
}

/* Its struct begins as that of a buffer does and goes on otherwise. */
void ut_sycl_on_image(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
		      uint64_t instance, const void *data)
{
	struct ut_sycl_facts f = { .count = 0 };
	uintptr_t object;

	(void)parent;
	(void)instance;
	if (!data || !ut_sycl.host->on())
		return;
	memcpy(&object, data, sizeof(object));
	ut_sycl_fact(&f, ut_sycl.key.object, UT_VALUE_HEX, object);
	say_object(point == XPTI_OBJECT_DESTRUCT, "image create", "image destroy", &f, event);
}

static const char *mode_name(uint32_t mode)
{
	static const char *const names[] = {
		"read", "write", "read_write", "discard_write", "discard_read_write", "atomic"
	};

	return mode >= 1024 && mode - 1024 < sizeof(names) / sizeof(*names) ? names[mode - 1024]
									    : NULL;
}

void ut_sycl_on_accessor(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
			 uint64_t instance, const void *data)
{
	const struct xpti_accessor *a = data;
	struct ut_sycl_facts f = { .count = 0 };

	(void)point;
	(void)parent;
	(void)instance;
	if (!a || !ut_sycl.host->on())
		return;
	ut_sycl_fact(&f, ut_sycl.key.object, UT_VALUE_HEX, a->buffer);
	if (mode_name(a->mode))
		ut_sycl_fact(&f, ut_sycl.key.access, UT_VALUE_NAME,
			     ut_sycl_name(mode_name(a->mode)));
	say_object(false, "accessor create", "", &f, event);
}
