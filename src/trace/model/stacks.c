/* stacks.c - see stacks.h. */
#include "model/stacks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_SLOTS 64u

/* Room for one more, as in trace.c: old copies stay in the arena. */
static void *grown(struct ut_arena *a, void *items, size_t count, size_t *cap, size_t size)
{
	size_t wanted = *cap ? *cap * 2 : 16;
	void *bigger;

	if (count < *cap)
		return items;
	if (count >= UINT32_MAX - 1)
		abort();
	bigger = ut_arena_alloc(a, wanted, size);
	if (count)
		memcpy(bigger, items, count * size);
	*cap = wanted;
	return bigger;
}

/* The slot of an item of this size, or the empty one where it belongs. */
static uint32_t *stacks_slot_of(const struct ut_stack_slots *t, const void *items, const void *item,
				size_t size)
{
	size_t at = (size_t)ut_hash_bytes(item, size) & (t->count - 1);

	while (t->slots[at] &&
	       memcmp((const char *)items + (t->slots[at] - 1) * size, item, size) != 0)
		at = (at + 1) & (t->count - 1);
	return &t->slots[at];
}

/* At most half of the slots are in use. */
static void stacks_make_room(struct ut_stack_slots *t, struct ut_arena *a, const void *items,
			     size_t count, size_t size)
{
	if (2 * (count + 1) <= t->count)
		return;
	if (!t->count)
		t->count = FIRST_SLOTS;
	while (2 * (count + 1) > t->count)
		t->count *= 2;
	t->slots = ut_arena_alloc(a, t->count, sizeof(*t->slots));
	memset(t->slots, 0, t->count * sizeof(*t->slots));
	for (size_t i = 0; i < count; i++)
		*stacks_slot_of(t, items, (const char *)items + i * size, size) = (uint32_t)i + 1;
}

uint32_t ut_stacks_place(struct ut_stacks *s, struct ut_arena *a, const struct ut_place_in_code *p)
{
	uint32_t *slot;

	stacks_make_room(&s->place_slots, a, s->places, s->place_count, sizeof(*p));
	slot = stacks_slot_of(&s->place_slots, s->places, p, sizeof(*p));
	if (*slot)
		return *slot;
	s->places = grown(a, s->places, s->place_count, &s->place_cap, sizeof(*p));
	s->places[s->place_count++] = *p;
	return *slot = (uint32_t)s->place_count;
}

uint32_t ut_stacks_site(struct ut_stacks *s, struct ut_arena *a, uint32_t caller, uint32_t place)
{
	const struct ut_callsite site = { caller, place };
	uint32_t *slot;

	stacks_make_room(&s->site_slots, a, s->sites, s->site_count, sizeof(site));
	slot = stacks_slot_of(&s->site_slots, s->sites, &site, sizeof(site));
	if (*slot)
		return *slot;
	s->sites = grown(a, s->sites, s->site_count, &s->site_cap, sizeof(site));
	s->sites[s->site_count++] = site;
	return *slot = (uint32_t)s->site_count;
}

uint32_t ut_stacks_depth(const struct ut_stacks *s, uint32_t number)
{
	uint32_t depth = 0;

	for (; number && number <= s->site_count; number = s->sites[number - 1].caller)
		depth++;
	return depth;
}

static bool is_sound(const struct ut_stacks *s)
{
	for (size_t i = 0; i < s->site_count; i++) {
		if (s->sites[i].caller > i || s->sites[i].place > s->place_count)
			return false;
	}
	return s->site_count < UINT32_MAX - 1 && s->place_count < UINT32_MAX - 1;
}

int ut_stacks_take(struct ut_stacks *s, struct ut_arena *a, const struct ut_stacks *from)
{
	if (!is_sound(from))
		return -1;
	s->places = UT_NEW_N(a, struct ut_place_in_code, from->place_count + 1);
	s->sites = UT_NEW_N(a, struct ut_callsite, from->site_count + 1);
	if (from->place_count)
		memcpy(s->places, from->places, from->place_count * sizeof(*s->places));
	if (from->site_count)
		memcpy(s->sites, from->sites, from->site_count * sizeof(*s->sites));
	s->place_count = from->place_count;
	s->site_count = from->site_count;
	s->place_cap = from->place_count + 1;
	s->site_cap = from->site_count + 1;
	return 0;
}

/* ---- what was sampled ------------------------------------------------------------------------ */

/* Linux's events tell more behind a colon: "cpu-clock:u". */
static bool is_event(struct ut_str name, const char *event)
{
	size_t len = strlen(event);

	return ut_str_has_start(name, event) && (name.len == len || name.ptr[len] == ':');
}

/* What other tools count says so: "cycles events". Folded stacks count samples. */
static bool is_count(struct ut_str name)
{
	return ut_str_has_end(name, UT_SAMPLE_EVENTS) || ut_str_has_end(name, "_objects") ||
	       ut_str_is(name, "samples");
}

bool ut_sample_is_cpu_time(struct ut_str name)
{
	return !is_count(name) &&
	       (is_event(name, "cpu-clock") || is_event(name, "task-clock") ||
		is_event(name, "cycles") || is_event(name, "cpu") || is_event(name, "cpu-timer"));
}

const char *ut_sample_unit(struct ut_str name)
{
	if (ut_str_has_end(name, "_space") || ut_str_has_end(name, "bytes"))
		return "bytes";
	return is_count(name) ? "" : "ns";
}
