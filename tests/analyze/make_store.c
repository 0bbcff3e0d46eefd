#include "analyze/make_store.h"

#include <string.h>

void make_start(struct maker *m)
{
	ut_build_init(&m->build);
	make_process(m, 100, "app", -1);
}

void make_process(struct maker *m, uint32_t pid, const char *name, int32_t rank)
{
	struct ut_trace *t = &m->build.store.trace;

	m->process = ut_trace_add_process(t, pid);
	t->processes[m->process].name = ut_strtab_intern_z(&t->strings, name);
	t->processes[m->process].rank = rank;
}

uint32_t make_track(struct maker *m, enum ut_track_type type, uint64_t id, const char *name)
{
	struct ut_trace *t = &m->build.store.trace;
	uint32_t track = ut_trace_add_track(t, m->process, type);

	t->tracks[track].id = id;
	t->tracks[track].name = ut_strtab_intern_z(&t->strings, name);
	return track;
}

void make_row(struct maker *m, uint32_t track, struct ut_event e, const char *name, const char *cat)
{
	struct ut_store *s = &m->build.store;
	struct ut_type type = { .name = ut_strtab_intern_z(&s->trace.strings, name),
				.cat = ut_strtab_intern_z(&s->trace.strings, cat),
				.kind = e.kind,
				.flags = e.flags };

	ut_build_add(&m->build, track, e.ts, e.val, ut_types_intern(&s->types, &type), 0);
}

void make_span(struct maker *m, uint32_t track, const char *name, uint64_t ts, uint64_t length)
{
	make_row(m, track, (struct ut_event){ .ts = ts, .val = length }, name, NULL);
}

void make_kind(struct maker *m, uint32_t track, enum ut_kind kind, const char *name, uint64_t ts,
	       uint64_t val)
{
	make_row(m, track, (struct ut_event){ .ts = ts, .val = val, .kind = (uint8_t)kind }, name,
		 NULL);
}

void make_double(struct maker *m, uint32_t track, const char *name, uint64_t ts, double value)
{
	struct ut_event e = { .ts = ts, .kind = UT_KIND_COUNTER, .flags = UT_EV_DOUBLE };

	memcpy(&e.val, &value, sizeof(value));
	make_row(m, track, e, name, NULL);
}

void make_finish(struct maker *m, struct ut_store *store)
{
	ut_build_finish(&m->build, store);
}

uint64_t make_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}
