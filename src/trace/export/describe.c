#include "export/describe.h"

#include "base/idmap.h"
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

uint32_t ut_process_program(const struct ut_trace *t, uint32_t index)
{
	const struct ut_process *p = &t->processes[index];

	for (uint32_t i = 0; p->kind == UT_PROCESS_DEVICE && i < t->process_count; i++) {
		const struct ut_process *other = &t->processes[i];

		if (other->kind == UT_PROCESS_PROGRAM && other->pid == p->pid &&
		    other->pid_text == p->pid_text && other->host == p->host)
			return i;
	}
	return index;
}

uint32_t ut_pids_take(struct ut_idmap *pids, const struct ut_trace *t, uint32_t index, uint32_t pid)
{
	if (ut_idmap_get(pids, pid) || ut_process_program(t, index) != index) {
		pid = FIRST_MADE_UP_PID + (uint32_t)pids->count;
		while (ut_idmap_get(pids, pid))
			pid++;
	}
	ut_idmap_put(pids, pid, 1);
	return pid;
}
