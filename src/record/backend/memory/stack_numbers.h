/*
 * stack_numbers.h - a stack as a number that the collector knows.
 */
#ifndef UT_BACKEND_MEMORY_STACK_NUMBERS_H
#define UT_BACKEND_MEMORY_STACK_NUMBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_host;

/*
 * What was looked up last: a number, and a check of what it is the number of. Two words that are
 * written one after the other; halves of two different entries do not fit each other.
 */
struct ut_stack_slot {
	_Atomic uint64_t number, check;
};

#define UT_STACK_SCRAMBLE UINT64_C(0xff51afd7ed558ccd)

/* 0 = it is not there. */
static inline uint32_t ut_stack_recall(const struct ut_stack_slot *s, uint64_t key)
{
	uint64_t number = atomic_load_explicit(&s->number, memory_order_relaxed);
	uint64_t check = atomic_load_explicit(&s->check, memory_order_relaxed);

	return (check ^ number * UT_STACK_SCRAMBLE) == key ? (uint32_t)number : 0;
}

static inline void ut_stack_remember(struct ut_stack_slot *s, uint64_t key, uint32_t number)
{
	atomic_store_explicit(&s->number, number, memory_order_relaxed);
	atomic_store_explicit(&s->check, key ^ number * UT_STACK_SCRAMBLE, memory_order_relaxed);
}

static inline uint64_t ut_stack_mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * UINT64_C(0x9fb21c651e98df25);
	return h ^ h >> 32;
}

/* A frame that is no address but a number of host->frame(). */
#define UT_STACK_NUMBERED (UINT64_C(1) << 62)

/* Innermost frame first; cut: there were more. 0 = no memory. Any thread, any signal handler. */
uint32_t ut_stack_number(const struct ut_host *host, const uint64_t *frames, size_t count,
			 bool cut);

#endif
