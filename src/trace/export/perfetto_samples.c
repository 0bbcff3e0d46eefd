/*
 * perfetto_samples.c - samples as PerfSample packets, with interned stacks. The format has no place
 * for what was sampled, why it stood there and its weight, and knows threads only: the rest is for
 * ourselves.
 */
#include "export/perfetto_samples.h"

#include <stdlib.h>

#include "base/grow.h"
#include "export/args_json.h"
#include "export/perfetto_packet.h"
#include "model/event.h"
#include "model/perfetto_code.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"
#include "model/trace.h"

/* Is this number met for the first time? */
static bool is_new(unsigned char **seen, size_t *cap, uint32_t number)
{
	if (number < *cap && (*seen)[number])
		return false;
	*seen = ut_grow(*seen, (size_t)number + 1, cap, 1);
	(*seen)[number] = 1;
	return true;
}

/* One for each module; what belongs to none has one without a path. */
static uint64_t intern_mapping(struct ut_perfetto_samples *s, struct ut_perfetto_packets *w,
			       const struct ut_trace *t, uint32_t module)
{
	uint64_t iid = (uint64_t)module + 1;
	size_t mark;

	if (!is_new(&s->modules, &s->module_cap, module))
		return iid;
	if (module)
		(void)ut_perfetto_intern(w, t, module, UT_PERFETTO_MODULES);
	mark = ut_pbuf_begin(&w->interned, INTERNED_MAPPINGS);
	ut_pbuf_varint(&w->interned, INTERNED_IID, iid);
	if (module)
		ut_pbuf_varint(&w->interned, MAPPING_PATHS, module);
	ut_pbuf_end(&w->interned, mark);
	return iid;
}

static void intern_frame(struct ut_perfetto_samples *s, struct ut_perfetto_packets *w,
			 const struct ut_trace *t, uint32_t place)
{
	struct ut_place_in_code p = ut_stacks_get_place(&t->stacks, place);
	uint64_t mapping;
	size_t mark;

	if (!is_new(&s->places, &s->place_cap, place))
		return;
	mapping = intern_mapping(s, w, t, p.module);
	if (p.function)
		(void)ut_perfetto_intern(w, t, p.function, UT_PERFETTO_FUNCTIONS);
	if (p.file)
		(void)ut_perfetto_intern(w, t, p.file, UT_PERFETTO_SOURCES);
	mark = ut_pbuf_begin(&w->interned, INTERNED_FRAMES);
	ut_pbuf_varint(&w->interned, INTERNED_IID, place);
	if (p.function)
		ut_pbuf_varint(&w->interned, FRAME_FUNCTION, p.function);
	ut_pbuf_varint(&w->interned, FRAME_MAPPING, mapping);
	ut_pbuf_varint(&w->interned, FRAME_REL_PC, p.address);
	if (p.file)
		ut_pbuf_varint(&w->interned, FRAME_SOURCE, p.file);
	if (p.line)
		ut_pbuf_varint(&w->interned, FRAME_LINE, p.line);
	ut_pbuf_end(&w->interned, mark);
}

/* The outermost frame first. */
static void perfetto_samples_put_frames(struct ut_perfetto_samples *s, struct ut_pbuf *b,
					const struct ut_trace *t, uint32_t stack)
{
	size_t depth = ut_stacks_depth(&t->stacks, stack), at = depth;

	s->path = ut_grow(s->path, depth, &s->path_cap, sizeof(*s->path));
	for (uint32_t n = stack; at; n = ut_stacks_get(&t->stacks, n).caller)
		s->path[--at] = ut_stacks_get(&t->stacks, n).place;
	for (at = 0; at < depth; at++)
		ut_pbuf_varint(b, CALLSTACK_FRAMES, s->path[at]);
}

static void intern_stack(struct ut_perfetto_samples *s, struct ut_perfetto_packets *w,
			 const struct ut_trace *t, uint32_t stack)
{
	size_t mark;

	if (!is_new(&s->stacks, &s->stack_cap, stack))
		return;
	for (uint32_t n = stack; n; n = ut_stacks_get(&t->stacks, n).caller)
		intern_frame(s, w, t, ut_stacks_get(&t->stacks, n).place);
	mark = ut_pbuf_begin(&w->interned, INTERNED_CALLSTACKS);
	ut_pbuf_varint(&w->interned, INTERNED_IID, stack);
	perfetto_samples_put_frames(s, &w->interned, t, stack);
	ut_pbuf_end(&w->interned, mark);
}

static void perfetto_samples_put_string(struct ut_pbuf *b, uint32_t field, const struct ut_trace *t,
					uint32_t id)
{
	struct ut_str s = ut_strtab_get(&t->strings, id);

	if (id)
		ut_pbuf_str(b, field, s.ptr, s.len);
}

/* What only we understand. */
static void put_ours(struct ut_perfetto_packets *w, const struct ut_trace *t,
		     const struct ut_event *e, uint64_t uuid)
{
	ut_pbuf_varint(&w->ours, OURS_TRACK, uuid);
	ut_pbuf_varint(&w->ours, OURS_NUMBER, ut_sample_weight(e->val));
	perfetto_samples_put_string(&w->ours, OURS_NAME, t, e->name);
	perfetto_samples_put_string(&w->ours, OURS_REASON, t, e->cat);
	ut_perfetto_put_facts(&w->ours, OURS_FACTS, t, e->args);
}

void ut_perfetto_put_sample(struct ut_perfetto_samples *s, struct ut_perfetto_packets *w,
			    const struct ut_trace *t, const struct ut_event *e,
			    const struct ut_perfetto_sampled *at)
{
	uint32_t stack = ut_sample_stack(e->val);

	if (!ut_sample_has_stack(t, e))
		stack = 0;
	if (stack)
		intern_stack(s, w, t, stack);
	put_ours(w, t, e, at->uuid);
	s->body.len = 0;
	ut_pbuf_varint(&s->body, SAMPLE_CPU, 0);
	ut_pbuf_varint(&s->body, SAMPLE_PID, (uint32_t)at->pid);
	ut_pbuf_varint(&s->body, SAMPLE_TID, (uint32_t)at->tid);
	if (stack)
		ut_pbuf_varint(&s->body, SAMPLE_CALLSTACK, stack);
	ut_perfetto_write_data(w, e->ts, PACKET_PERF_SAMPLE, &s->body);
}

void ut_perfetto_forget_samples(struct ut_perfetto_samples *s)
{
	free(s->modules);
	free(s->places);
	free(s->stacks);
	free(s->path);
	ut_pbuf_release(&s->body);
	*s = (struct ut_perfetto_samples){ 0 };
}
