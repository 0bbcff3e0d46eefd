#include "import/prof/sample_build.h"

#include "model/trace.h"

static struct ut_trace *trace_of(struct ut_sample_build *b)
{
	return &b->build.store.trace;
}

void ut_sample_build_init(struct ut_sample_build *b)
{
	*b = (struct ut_sample_build){ .task_key = 0 };
	ut_build_init(&b->build);
	b->names.trace = trace_of(b);
	b->task_key = ut_strtab_intern_z(&trace_of(b)->strings, "task");
	b->weight_key = ut_strtab_intern_z(&trace_of(b)->strings, UT_SAMPLE_WEIGHT);
}

static void sample_build_release(struct ut_sample_build *b)
{
	ut_code_names_release(&b->names);
	ut_idmap_release(&b->processes);
	ut_idmap_release(&b->threads);
}

void ut_sample_build_finish(struct ut_sample_build *b, struct ut_store *store)
{
	sample_build_release(b);
	ut_build_finish(&b->build, store);
}

void ut_sample_build_abandon(struct ut_sample_build *b)
{
	sample_build_release(b);
	ut_build_abandon(&b->build);
}

uint32_t ut_sample_build_process(struct ut_sample_build *b, uint64_t pid)
{
	uint32_t at = ut_idmap_get(&b->processes, pid);

	if (!at) {
		at = 1 + ut_trace_add_process(trace_of(b), pid);
		trace_of(b)->processes[at - 1].kind = UT_PROCESS_PROGRAM;
		ut_idmap_put(&b->processes, pid, at);
	}
	return at - 1;
}

/* Numbers of threads are those of the machine: no two processes share one at a time. */
uint32_t ut_sample_build_thread(struct ut_sample_build *b, uint64_t pid, uint64_t tid)
{
	uint64_t key = tid << 32 ^ pid;
	uint32_t at = ut_idmap_get(&b->threads, key), process;

	if (!at) {
		process = ut_sample_build_process(b, pid);
		at = 1 + ut_trace_add_track(trace_of(b), process, UT_TRACK_THREAD);
		trace_of(b)->tracks[at - 1].id = tid;
		trace_of(b)->tracks[at - 1].sort_index = tid == pid ? 0 : (int32_t)at;
		ut_idmap_put(&b->threads, key, at);
	}
	return at - 1;
}

uint32_t ut_sample_build_text(struct ut_sample_build *b, struct ut_str s)
{
	return ut_strtab_intern(&trace_of(b)->strings, s.ptr, s.len);
}

uint32_t ut_sample_build_frame(struct ut_sample_build *b, uint32_t caller,
			       const struct ut_place_in_code *place)
{
	struct ut_trace *t = trace_of(b);

	return ut_stacks_site(&t->stacks, &t->arena, caller,
			      ut_stacks_place(&t->stacks, &t->arena, place));
}

void ut_sample_build_add(struct ut_sample_build *b, const struct ut_sample_added *s)
{
	struct ut_trace *t = trace_of(b);
	size_t mark = t->arg_count;
	struct ut_event e = { .ts = s->ts,
			      .val = ut_sample_val(s->stack, s->weight),
			      .name = s->event,
			      .track = s->track,
			      .kind = UT_KIND_SAMPLE };

	if (s->task)
		ut_trace_add_arg(t, b->task_key, UT_ARG_STR)->value.str = s->task;
	if (s->weight >= UT_SAMPLE_WEIGHT_ARG)
		ut_trace_add_arg(t, b->weight_key, UT_ARG_U64)->value.u64 = s->weight;
	if (t->arg_count > mark) {
		ut_trace_close_args(t);
		e.args = (uint32_t)mark;
	}
	ut_sink_event(&b->build.sink, t, &e);
	ut_trace_drop_args(t, mark);
	if (!t->first || s->ts < t->first)
		t->first = s->ts;
	if (s->ts > t->last)
		t->last = s->ts;
}
