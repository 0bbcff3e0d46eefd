/* mem.c - see mem.h. */
#include "collect/mem.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "wire/sandbox.h"
#include "wire/sys.h"

#define BLOCK (1u << 20)

struct block {
	_Atomic size_t used; /* may run past the end: then the block is full */
	char pad[8];
};

static _Atomic(struct block *) current;

static void *map(size_t bytes)
{
	static _Thread_local uint8_t depth;
	int saved = errno;
	void *p = MAP_FAILED;

	if (depth++ < UT_SYS_DEEPEST && !ut_sandbox_closed())
		p = ut_sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	depth--;
	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

void *ut_mem_alloc(size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > BLOCK / 4)
		return map(bytes);
	for (;;) {
		struct block *b = atomic_load_explicit(&current, memory_order_acquire), *fresh;

		if (b) {
			size_t at = atomic_fetch_add(&b->used, bytes);

			if (at + bytes <= BLOCK)
				return (char *)b + at;
		}
		fresh = map(BLOCK);
		if (!fresh)
			return NULL;
		atomic_store(&fresh->used, sizeof(*fresh));
		if (!atomic_compare_exchange_strong(&current, &b, fresh))
			ut_sys_munmap(fresh, BLOCK); /* another thread was faster */
	}
}
