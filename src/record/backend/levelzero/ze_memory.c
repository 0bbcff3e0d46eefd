/* ze_memory.c - see ze_memory.h. */
#include "backend/levelzero/ze_memory.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "backend/handle_table.h"

#define SMALLEST 6u  /* 64 bytes */
#define LARGEST  32u /* 4 GB */

struct free_block {
	struct free_block *next;
};

static atomic_flag busy = ATOMIC_FLAG_INIT;
static struct free_block *spare[LARGEST + 1];

static void ze_memory_lock(void)
{
	while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		sched_yield();
}

static void unlock(void)
{
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

static uint32_t class_of(size_t size)
{
	uint32_t c = SMALLEST;

	while (c < LARGEST && ((size_t)1 << c) < size)
		c++;
	return c;
}

void *ut_ze_alloc(size_t size)
{
	uint32_t c = class_of(size);
	struct free_block *b;

	if (size > (size_t)1 << LARGEST)
		return NULL;
	ze_memory_lock();
	b = spare[c];
	if (b)
		spare[c] = b->next;
	unlock();
	if (!b)
		return ut_guest_alloc((size_t)1 << c);
	memset(b, 0, (size_t)1 << c);
	return b;
}

void ut_ze_free(void *block, size_t size)
{
	struct free_block *b = block;
	uint32_t c = class_of(size);

	if (!b)
		return;
	ze_memory_lock();
	b->next = spare[c];
	spare[c] = b;
	unlock();
}

/* The thread that was in here is not: at worst what it was about to give is lost. */
void ut_ze_memory_forked(void)
{
	unlock();
}
