/*
 * host_samples.c - samples of backends. Places in code and stacks are numbered once and are two
 * words each from then on, so that a sample takes as much room whether its stack is deep or not.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "collect/gate.h"
#include "collect/host_take.h"
#include "collect/maps.h"
#include "collect/mem.h"
#include "collect/names.h"
#include "collect/number.h"
#include "wire/clock.h"

#define SLOT_BITS 14u
#define MOST      (1u << 22) /* places and stacks, each: some 500 MB */
#define DEEPEST   1024u      /* addresses of a sample: 8 kB, half of the smallest chunk */

/* Something that is known by its bytes. */
struct known {
	struct ut_name name;
	uint32_t id;
	uint32_t len;
	char bytes[];
};

struct table {
	struct ut_names names;
	_Atomic uint32_t count;
};

static bool is_same(const struct ut_name *name, const char *bytes, size_t len)
{
	const struct known *k = (const struct known *)name;

	return k->len == len && !memcmp(k->bytes, bytes, len);
}

static _Atomic uintptr_t frame_slots[1u << SLOT_BITS], stack_slots[1u << SLOT_BITS];
static struct table frames = { .names = { frame_slots, SLOT_BITS, is_same } };
static struct table stacks = { .names = { stack_slots, SLOT_BITS, is_same } };

/* Its number must be written down before anybody gets it. */
typedef void define_fn(uint32_t id, const void *bytes);

static uint32_t host_samples_number_of(struct table *t, const void *bytes, size_t len,
				       define_fn *define)
{
	uint64_t hash = ut_hash_bytes(bytes, len);
	struct known *k = (struct known *)ut_names_find(&t->names, hash, bytes, len);

	if (k)
		return k->id;
	if (atomic_fetch_add(&t->count, 1) >= MOST || !(k = ut_mem_alloc(sizeof(*k) + len))) {
		ut_writer_count_dropped();
		return 0;
	}
	k->name.hash = hash;
	k->len = (uint32_t)len;
	k->id = ut_number_next();
	memcpy(k->bytes, bytes, len);
	define(k->id, bytes);
	return ((struct known *)ut_names_add(&t->names, &k->name, bytes, len))->id;
}

static void define_frame(uint32_t id, const void *bytes)
{
	struct ut_code f;

	memcpy(&f, bytes, sizeof(f));
	ut_number_define(UT_REC_FRAME,
			 (const uint64_t[]){ ut_pack(id, f.function), f.address,
					     ut_pack(f.module, f.file), f.line },
			 4, NULL, 0);
}

static void define_stack(uint32_t id, const void *bytes)
{
	uint32_t s[2];

	memcpy(s, bytes, sizeof(s));
	ut_number_define(UT_REC_STACK, (const uint64_t[]){ ut_pack(id, s[0]), s[1] }, 2, NULL, 0);
}

uint32_t ut_host_frame(const struct ut_code *given)
{
	struct ut_code f;

	if (!UT_HOST_TAKE(UT_HOST_FRAME, &f, given, line))
		return 0;
	f.size = f.reserved = 0; /* they tell no place from another */
	if (f.address && !f.module && !f.function)
		ut_maps_define(f.address);
	return host_samples_number_of(&frames, &f, sizeof(f), define_frame);
}

uint32_t ut_host_stack(uint32_t parent, uint32_t frame)
{
	const uint32_t s[2] = { parent, frame };

	return frame ? host_samples_number_of(&stacks, s, sizeof(s), define_stack) : 0;
}

static uint64_t host_samples_time_of(const struct ut_sample *s)
{
	return s->time ? s->time : ut_clock_ns(CLOCK_MONOTONIC);
}

/* What a device says comes later than it happened, perhaps in a pause. */
static void record_sample(const struct ut_sample *s)
{
	uint64_t words[5] = { ut_pack(s->queue, s->thread), host_samples_time_of(s),
			      ut_pack(s->stack, s->reason), s->source, s->weight };
	size_t depth = s->addresses ? s->depth : 0;

	if (s->time ? !ut_gate_was_on(s->time) : !ut_gate_passes(&ut_me, UT_CALL_OTHER))
		return;
	if (!ut_gate_passes(&ut_me, UT_CALL_LATE_END))
		return;
	if (depth > DEEPEST)
		ut_writer_count_cut();
	depth = depth < DEEPEST ? depth : DEEPEST;
	for (size_t i = 0; i < depth; i++)
		ut_maps_define(s->addresses[i]);
	ut_tbuf_record(&ut_me, UT_REC_SAMPLE, words, 5, s->addresses,
		       depth * sizeof(*s->addresses));
}

void ut_host_samples(const struct ut_sample *samples, size_t count, size_t size)
{
	const struct ut_host_sizes sizes = { size,
					     offsetof(struct ut_sample, addresses) +
						     sizeof(samples->addresses),
					     sizeof(*samples) };
	const char *at = (const char *)samples;
	struct ut_sample s;

	for (size_t i = 0; samples && i < count; i++, at += size) {
		if (!ut_host_take(UT_HOST_SAMPLE, &s, at, sizes))
			return;
		record_sample(&s);
	}
}
