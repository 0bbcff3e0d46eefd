#include "backend/memory/rate.h"

#include <stdatomic.h>

#define LIVE  4096u
#define ROUND 128u /* recorded allocations between two looks */
#define MOST  50u  /* a fiftieth of the time: two percent of a CPU */
#define FEW   200u
/* ns: what takes longer was kept from running, by somebody else. */
#define LONGEST 20000u

static struct {
	uint32_t fixed; /* 0 = they change */
	_Atomic uint32_t bits;
	_Atomic uint32_t for_time; /* bits that the time asks for */
	_Atomic uint32_t count;
	_Atomic uint64_t spent, since;
} r;

static uint32_t within(uint64_t bits)
{
	return bits < UT_RATE_LEAST  ? UT_RATE_LEAST
	       : bits > UT_RATE_MOST ? UT_RATE_MOST
				     : (uint32_t)bits;
}

void ut_rate_init(uint32_t bits, uint64_t now)
{
	r.fixed = bits;
	atomic_store(&r.for_time, UT_RATE_LEAST);
	atomic_store(&r.bits, bits ? bits : UT_RATE_LEAST);
	atomic_store(&r.since, now);
}

uint32_t ut_rate_bits(void)
{
	return atomic_load_explicit(&r.bits, memory_order_relaxed);
}

/* One thread at a time comes here: the one that counted the last of a round. */
static void look_at_time(uint64_t now)
{
	uint64_t spent = atomic_exchange(&r.spent, 0),
		 passed = now - atomic_exchange(&r.since, now);
	uint32_t bits = atomic_load(&r.for_time);

	if (spent > passed / MOST)
		bits++;
	else if (spent < passed / FEW)
		bits--;
	atomic_store(&r.for_time, within(bits));
}

void ut_rate_spent(uint64_t ns, uint64_t now, uint64_t live)
{
	uint32_t for_live, for_time;

	if (r.fixed)
		return;
	atomic_fetch_add_explicit(&r.spent, ns < LONGEST ? ns : LONGEST, memory_order_relaxed);
	if (atomic_fetch_add_explicit(&r.count, 1, memory_order_relaxed) % ROUND == ROUND - 1)
		look_at_time(now);
	for_live = within(UT_RATE_LEAST + live / LIVE);
	for_time = atomic_load_explicit(&r.for_time, memory_order_relaxed);
	atomic_store_explicit(&r.bits, for_live > for_time ? for_live : for_time,
			      memory_order_relaxed);
}
