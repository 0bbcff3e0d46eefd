/* call_context.c - which task and function of the program a call of a device's runtime was made in.
 */
#include "import/spool/thread.h"

/* What is open around a device's call. */
struct call_context {
	uint32_t task; /* string id of the innermost mark, or else function; 0 = none */
	uint32_t zone; /* place of the innermost function; 0 = none */
	const struct ut_spool_open *group; /* the innermost command group of SYCL's */
};

/* Enough for any stack of functions; spans that never end may be more. */
#define CONTEXT_DEPTH 4096

static struct call_context find_context(const struct ut_spool_reader *rd)
{
	size_t to = rd->stack.count > CONTEXT_DEPTH ? rd->stack.count - CONTEXT_DEPTH : 0;
	bool groups = rd->im->sycl.api; /* or there is none to be found */
	struct call_context a = { 0 };

	for (size_t i = rd->stack.count; i > to && !(a.task && a.zone && (a.group || !groups));
	     i--) {
		const struct ut_spool_open *o = &rd->stack.items[i - 1];

		if (o->node && !a.group)
			a.group = o;
		if (o->what != UT_SPAN_TASK)
			continue;
		if (!o->zone && !a.task)
			a.task = o->name;
		else if (o->zone && !a.zone)
			a.zone = o->zone;
	}
	if (!a.task && a.zone)
		a.task = ut_spool_string(&rd->im->tables, a.zone);
	return a;
}

/* Work of a device is shown with the task and the function that it was submitted in. */
static void note_context(struct ut_spool_reader *rd, struct call_context a, uint64_t correlation)
{
	if (a.task && correlation)
		ut_idmap_put(&rd->im->task_of_call, correlation, a.task);
	if (a.zone && correlation)
		ut_idmap_put(&rd->im->zone_of_call, correlation, a.zone);
	if (a.group && correlation)
		ut_spool_command_note(rd->im, correlation, a.group->node, a.group->name);
}

void ut_spool_note_call(struct ut_spool_reader *rd, uint64_t correlation)
{
	note_context(rd, find_context(rd), correlation);
}

void ut_spool_note_allocation(struct ut_spool_reader *rd)
{
	struct ut_spool_memory *m = &rd->im->memory;
	uint32_t task = find_context(rd).task;
	struct ut_spool_memory_run *run = m->runs.count ? &m->runs.items[m->runs.count - 1] : NULL;

	if (!run || run->thread != rd->thread || run->task != task) {
		run = UT_VEC_PUSH(&m->runs);
		*run = (struct ut_spool_memory_run){ .thread = rd->thread, .task = task };
	}
	run->count++;
}

/* Calls that began before this record did so in the task that is open now. */
void ut_spool_finalize_calls(struct ut_spool_reader *rd, uint64_t ticks)
{
	uint64_t ns = ticks == UINT64_MAX ? ticks : ut_spool_ns(&rd->im->tables, ticks);
	struct call_context a;

	if (rd->calls == rd->calls_end || rd->calls->start >= ns)
		return;
	a = find_context(rd);
	for (; rd->calls < rd->calls_end && rd->calls->start < ns; rd->calls++) {
		rd->calls->task = a.task;
		note_context(rd, a, ut_rec_word(&rd->calls->rec, 4));
	}
}

void ut_spool_take_calls(struct ut_spool_reader *rd, uint32_t thread)
{
	uint32_t tid = ut_spool_thread(&rd->im->tables, thread)->tid;
	size_t count = rd->im->works.count ? ut_spool_calls_of(rd->im, tid, &rd->calls) : 0;

	rd->calls_end = count ? rd->calls + count : rd->calls;
}
