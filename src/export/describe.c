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

static bool is_taken(const struct ut_pids *pids, uint32_t pid)
{
	for (size_t i = 0; i < pids->count; i++) {
		if (pids->items[i] == pid)
			return true;
	}
	return false;
}

uint32_t ut_pids_take(struct ut_pids *pids, uint32_t pid)
{
	if (is_taken(pids, pid)) {
		pid = FIRST_MADE_UP_PID + (uint32_t)pids->count;
		while (is_taken(pids, pid))
			pid++;
	}
	pids->items = ut_grow(pids->items, pids->count + 1, &pids->cap, sizeof(*pids->items));
	pids->items[pids->count++] = pid;
	return pid;
}

void ut_pids_release(struct ut_pids *pids)
{
	free(pids->items);
	*pids = (struct ut_pids){ 0 };
}

size_t ut_loss_list(const struct ut_losses *losses, struct ut_loss list[UT_LOSS_COUNT])
{
	const struct ut_loss all[] = {
		{ "dropped", losses->dropped },
		{ "overwritten", losses->overwritten },
		{ "torn", losses->torn },
		{ "stray_ends", losses->stray_ends },
		{ "implicit_ends", losses->implicit_ends },
		{ "unfinished", losses->unfinished },
		{ "unknown", losses->unknown },
		{ "ignored", losses->ignored },
	};
	size_t n = 0;

	_Static_assert(sizeof(all) / sizeof(all[0]) == UT_LOSS_COUNT, "the list has them all");
	_Static_assert(sizeof(*losses) == UT_LOSS_COUNT * sizeof(uint64_t), "and no more");
	for (size_t i = 0; i < UT_LOSS_COUNT; i++) {
		if (all[i].count)
			list[n++] = all[i];
	}
	return n;
}
