/*
 * live_set.h - the addresses of allocations that are recorded and not freed yet.
 *
 * Every free() of the program asks whether its address is one of them, and nearly none is: so a
 * small table of counts answers "no" with one load. Any thread, any signal handler; no lock, no
 * malloc. It grows by system calls, to 17 million addresses.
 */
#ifndef UT_BACKEND_MEMORY_LIVE_SET_H
#define UT_BACKEND_MEMORY_LIVE_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define UT_LIVE_FILTER_BITS 15u

/* How many addresses of the set have this hash; 255 and more stay 255. */
extern _Atomic uint8_t ut_live_filter[1u << UT_LIVE_FILTER_BITS];

static inline uint32_t ut_live_hash(uintptr_t address)
{
	return (uint32_t)((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - UT_LIVE_FILTER_BITS));
}

/* Perhaps; false = surely not. */
static inline bool ut_live_maybe(uintptr_t address)
{
	return atomic_load_explicit(&ut_live_filter[ut_live_hash(address)], memory_order_relaxed) !=
	       0;
}

/* False: no memory. The address must not be in the set. */
bool ut_live_add(uintptr_t address);

/* How many there are. */
uint64_t ut_live_count(void);

/* Takes it out; false if it was not in the set. */
bool ut_live_take(uintptr_t address);

/* From now on ut_live_maybe() says yes to everything, or is as at the beginning: empty. No other
 * thread may use the set meanwhile. */
void ut_live_all(bool yes);

#endif
