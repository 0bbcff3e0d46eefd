/* host_memory.c - blocks of memory that the program gets and gives back, as a backend tells of
 * them. */
#include "collect/gate.h"
#include "collect/host_take.h"

/* The third word but for the stack. */
static uint32_t how(const struct ut_allocation *a)
{
	return a->kind | (uint32_t)a->bits << 16 | (uint32_t)a->back << 24;
}

/* A block that is there after all was recorded once: its end was, too, whether or not there is a
 * pause now. */
int ut_host_allocated(const struct ut_allocation *given)
{
	struct ut_allocation a;
	uint64_t words[3];

	if (!UT_HOST_TAKE(UT_HOST_ALLOCATION, &a, given, back) ||
	    !ut_gate_passes(&ut_me, a.back ? UT_CALL_LATE_END : UT_CALL_OTHER))
		return 0;
	words[0] = a.address;
	words[1] = a.bytes;
	words[2] = ut_pack(a.stack, how(&a));
	ut_tbuf_words(&ut_me, UT_REC_ALLOCATED, words, 3);
	return 1;
}

void ut_host_freed(uint64_t address)
{
	if (ut_gate_passes(&ut_me, UT_CALL_LATE_END))
		ut_tbuf_words(&ut_me, UT_REC_FREED, &address, 1);
}
