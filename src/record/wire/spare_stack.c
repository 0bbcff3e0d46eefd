/* spare_stack.c - see spare_stack.h. */
#include "wire/spare_stack.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/call_on_stack.h"

#define STACKS 32u
#define BYTES  32768u /* names and files of a process are read there, some 12 KiB at once */

/* What is never used takes no memory. */
static alignas(4096) char stacks[STACKS][BYTES];
static _Atomic uint32_t used; /* a bit each */

void ut_spare_stack_run(void (*fn)(void *), void *arg)
{
	uint32_t bits = atomic_load(&used), bit;

	do {
		bit = ~bits & (bits + 1); /* the lowest that is free; 0 = none */
	} while (bit && !atomic_compare_exchange_weak(&used, &bits, bits | bit));
	if (!bit) {
		fn(arg);
		return;
	}
	ut_call_on_stack(stacks[__builtin_ctz(bit)], BYTES, fn, arg);
	atomic_fetch_and(&used, ~bit);
}

void ut_spare_stack_forget(void)
{
	atomic_store(&used, 0);
}
