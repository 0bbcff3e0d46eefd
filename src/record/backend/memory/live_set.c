/*
 * live_set.c - see live_set.h.
 *
 * An address may lie in any of WINDOW slots behind its hash, on the first level that has a free one
 * there. Nothing is ever moved: adding is one exchange of an empty slot, taking out one of a full
 * one. So a search looks at all of them, on each level that exists.
 */
#include "backend/memory/live_set.h"

#include <stddef.h>

#include "backend/memory/own_pages.h"

#define LEVELS     4u
#define FIRST_BITS 12u
#define MORE_BITS  4u /* each level has 16 times as many slots */
#define WINDOW     16u
#define MOST_COUNT 255u

_Atomic uint8_t ut_live_filter[1u << UT_LIVE_FILTER_BITS];

static _Atomic uintptr_t first_level[(1u << FIRST_BITS) + WINDOW];
static _Atomic uint64_t live;
static _Atomic(_Atomic uintptr_t *) levels[LEVELS] = { first_level };

static _Atomic uintptr_t *window(uint32_t level, _Atomic uintptr_t *slots, uintptr_t address)
{
	uint64_t hash = (uint64_t)(address >> 4) * UINT64_C(0xd6e8feb86659fd93);

	return slots + (hash >> (64 - FIRST_BITS - level * MORE_BITS));
}

static _Atomic uintptr_t *make_level(uint32_t level)
{
	size_t bytes = ((1ul << (FIRST_BITS + level * MORE_BITS)) + WINDOW) * sizeof(uintptr_t);
	_Atomic uintptr_t *known = NULL, *made = ut_memory_pages(bytes);

	if (made && !atomic_compare_exchange_strong(&levels[level], &known, made)) {
		ut_memory_give_pages((void *)(uintptr_t)made, bytes);
		return known; /* another thread was faster */
	}
	return made;
}

uint64_t ut_live_count(void)
{
	return atomic_load_explicit(&live, memory_order_relaxed);
}

static void live_set_count(uintptr_t address, int by)
{
	_Atomic uint8_t *c = &ut_live_filter[ut_live_hash(address)];
	uint8_t now = atomic_load_explicit(c, memory_order_relaxed);

	atomic_fetch_add_explicit(&live, (uint64_t)by, memory_order_relaxed);
	while (now != MOST_COUNT && !atomic_compare_exchange_weak(c, &now, (uint8_t)(now + by)))
		;
}

static bool live_set_put(_Atomic uintptr_t *slot, uintptr_t address)
{
	for (uint32_t i = 0; i < WINDOW; i++) {
		uintptr_t none = 0;

		if (!atomic_load_explicit(&slot[i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&slot[i], &none, address))
			return true;
	}
	return false;
}

bool ut_live_add(uintptr_t address)
{
	for (uint32_t level = 0; level < LEVELS; level++) {
		_Atomic uintptr_t *slots =
			atomic_load_explicit(&levels[level], memory_order_acquire);

		if (!slots)
			slots = make_level(level);
		if (!slots)
			return false;
		if (live_set_put(window(level, slots, address), address)) {
			live_set_count(address, 1);
			return true;
		}
	}
	return false;
}

bool ut_live_take(uintptr_t address)
{
	for (uint32_t level = 0; level < LEVELS; level++) {
		_Atomic uintptr_t *slots =
			atomic_load_explicit(&levels[level], memory_order_acquire);
		_Atomic uintptr_t *slot = slots ? window(level, slots, address) : NULL;

		for (uint32_t i = 0; slot && i < WINDOW; i++) {
			uintptr_t it = address;

			if (atomic_load_explicit(&slot[i], memory_order_relaxed) == address &&
			    atomic_compare_exchange_strong(&slot[i], &it, 0)) {
				live_set_count(address, -1);
				return true;
			}
		}
	}
	return false;
}

void ut_live_all(bool yes)
{
	atomic_store(&live, 0);
	for (uint32_t level = 0; level < LEVELS; level++) {
		size_t slots = (1ul << (FIRST_BITS + level * MORE_BITS)) + WINDOW;
		_Atomic uintptr_t *at = atomic_load(&levels[level]);

		for (size_t i = 0; at && i < slots; i++) {
			if (at[i]) /* not touched if it need not be */
				at[i] = 0;
		}
	}
	for (size_t i = 0; i < sizeof(ut_live_filter); i++)
		atomic_store_explicit(&ut_live_filter[i], yes ? MOST_COUNT : 0,
				      memory_order_relaxed);
}
