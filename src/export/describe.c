#include "export/describe.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/trace.h"

#define FIRST_MADE_UP_PID (1u << 30) /* Linux ends at 2^22; still positive as an int32 */

void ut_process_title(struct ut_buf *b, const struct ut_trace *t, const struct ut_process *p)
{
	struct ut_str name = ut_strtab_get(&t->strings, p->name);

	if (p->rank >= 0)
		ut_buf_fmt(b, "RANK %d ", (int)p->rank);
	ut_buf_add(b, name.ptr, name.len);
}

/* Where pid is, or would be. */
static uint64_t *slot_of(const struct ut_pids *pids, uint32_t pid)
{
	size_t i = (size_t)(pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (pids->cap - 1);

	while (pids->items[i] && pids->items[i] != pid + UINT64_C(1))
		i = (i + 1) & (pids->cap - 1);
	return &pids->items[i];
}

/* Twice the room; at least half of it stays free. */
static void grow(struct ut_pids *pids)
{
	struct ut_pids bigger = { .cap = pids->cap ? 2 * pids->cap : 64, .count = pids->count };

	bigger.items = ut_make(bigger.cap * sizeof(*bigger.items));
	for (size_t i = 0; i < pids->cap; i++) {
		if (pids->items[i])
			*slot_of(&bigger, (uint32_t)(pids->items[i] - 1)) = pids->items[i];
	}
	free(pids->items);
	*pids = bigger;
}

uint32_t ut_pids_take(struct ut_pids *pids, uint32_t pid)
{
	if (2 * pids->count >= pids->cap)
		grow(pids);
	if (*slot_of(pids, pid)) {
		pid = FIRST_MADE_UP_PID + (uint32_t)pids->count;
		while (*slot_of(pids, pid))
			pid++;
	}
	*slot_of(pids, pid) = pid + UINT64_C(1);
	pids->count++;
	return pid;
}

void ut_pids_release(struct ut_pids *pids)
{
	free(pids->items);
	*pids = (struct ut_pids){ 0 };
}
