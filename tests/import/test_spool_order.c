/*
 * test_spool_order.c - tests the promise of src/trace/model/event.h: whatever the threads did, and
 * however their records lie in the file, the events are those that a plain model gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "import/build.h"
#include "import/spool/reader.h"
#include "model/sink.h"
#include "model/trace.h"
#include "support/unit.h"

#define STEPS   600
#define THREADS 3

struct model_span {
	uint32_t domain, name, thread;
	uint64_t begin, end;
	uint8_t flags;
	bool open;
};

struct model_thread {
	size_t stack[STEPS];
	size_t depth;
	uint64_t now;
};

struct model {
	struct model_span spans[STEPS];
	size_t count;
	struct model_thread threads[THREADS];
	uint64_t stray, implicit, last;
};

static uint64_t seed;

static uint32_t next_random(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % below);
}

static void model_end(struct model *m, struct model_thread *t, uint32_t domain, uint64_t ticks)
{
	size_t at = t->depth;
	uint64_t room = ticks - t->now;

	while (at && m->spans[t->stack[at - 1]].domain != domain)
		at--;
	m->stray += !at;
	for (size_t i = t->depth; at && i >= at; i--) {
		struct model_span *s = &m->spans[t->stack[i - 1]];
		uint64_t inset = i - at < room ? i - at : room;

		s->open = false;
		s->end = ticks - (inset < ticks - s->begin ? inset : ticks - s->begin);
		s->flags = i > at ? UT_EV_IMPLICIT_END : 0;
		m->implicit += i > at;
	}
	t->depth = at ? at - 1 : t->depth;
}

static void model_step(struct model *m, struct build *b, uint32_t thread, uint64_t ticks)
{
	struct model_thread *t = &m->threads[thread];
	uint32_t domain = 1 + next_random(3), name = 1 + next_random(8);
	uint64_t seen = ticks > t->now ? ticks : t->now;

	if (next_random(100) < 52) {
		t->stack[t->depth++] = m->count;
		m->spans[m->count++] =
			(struct model_span){ domain, name, thread, seen, 0, 0, true };
		build_raw(b, ut_word(UT_WORD_BEGIN, ticks, domain | (uint64_t)name << 8));
	} else {
		model_end(m, t, domain, seen);
		build_raw(b, ut_word(UT_WORD_END, ticks, domain));
	}
	t->now = seen;
	m->last = ticks > m->last ? ticks : m->last;
}

/* A random program of three threads, its chunks changing hands at random. */
static void model_run(struct model *m, struct build *b)
{
	uint64_t ticks = 1000 + ((uint64_t)next_random(1000) << 32);
	uint32_t thread = 0;

	for (uint32_t i = 0; i < STEPS; i++) {
		bool fresh = i == 0 || next_random(40) == 0;

		ticks += next_random(4) ? next_random(30) : next_random(1 << 30);
		if (fresh || next_random(25) == 0) {
			if (fresh)
				build_chunk(b, 1 + next_random(2));
			thread = next_random(THREADS);
			build_thread(b, thread + 1, ticks);
			m->last = ticks;
		}
		/* A clock that was read a little too early. */
		model_step(m, b, thread, next_random(10) ? ticks : ticks - next_random(20));
	}
}

static void model_finish(struct model *m)
{
	for (size_t i = 0; i < THREADS; i++) {
		struct model_thread *t = &m->threads[i];
		uint64_t room = m->last - t->now;

		for (size_t depth = 0; depth < t->depth; depth++) {
			struct model_span *s = &m->spans[t->stack[depth]];
			uint64_t inset = depth < room ? depth : room;

			s->end = m->last - inset;
			s->flags = UT_EV_UNFINISHED;
		}
	}
}

static void model_compare(const struct model *m, const struct seen *s)
{
	size_t next = 0;

	assert_int_equal(s->count, m->count);
	for (uint32_t thread = 0; thread < THREADS; thread++)
		for (size_t i = 0; i < m->count; i++) {
			const struct model_span *want = &m->spans[i];
			const struct ut_event *e = &s->events[next];

			if (want->thread != thread)
				continue;
			assert_int_equal(e->kind, UT_KIND_SPAN);
			assert_int_equal(e->ts, want->begin);
			assert_int_equal(e->ts + e->val, want->end);
			assert_int_equal(e->flags, want->flags);
			next++;
		}
	assert_int_equal(s->trace.losses.stray_ends, m->stray);
	assert_int_equal(s->trace.losses.implicit_ends, m->implicit);
}

static void any_sequence_of_calls_gives_what_a_plain_model_gives(void **state)
{
	static struct model m;

	(void)state;
	for (uint64_t round = 1; round <= 300; round++) {
		struct build b;
		struct seen s;

		seed = round * 0x9e3779b97f4a7c15u;
		m = (struct model){ 0 };
		build_start(&b);
		model_run(&m, &b);
		model_finish(&m);
		seen_import(&s, &b);
		model_compare(&m, &s);
		seen_release(&s);
		build_release(&b);
	}
}

struct listener {
	struct ut_sink sink; /* first */
	unsigned int percents[8];
	size_t count;
};

static void note_percent(struct ut_sink *sink, const struct ut_trace *trace,
			 const struct ut_event *event)
{
	struct listener *l = (struct listener *)sink;

	(void)event;
	assert_true(l->count < 8);
	l->percents[l->count++] = trace->percent;
}

static void waiting_clients_get_the_progress_of_reading(void **state)
{
	struct listener l = { .sink.event = note_percent };
	struct ut_trace trace;
	struct build b;

	(void)state;
	build_start(&b);
	for (uint64_t i = 0; i < 4; i++) {
		build_chunk(&b, 1);
		build_thread(&b, i < 3 ? 1 : 2, 1000 + 100 * i);
		build_begin(&b, 1010 + 100 * i, "work");
		build_end(&b, 1020 + 100 * i);
	}
	ut_trace_init(&trace);
	assert_int_equal(ut_import_spool(build_file(&b), &trace, &l.sink, NULL), 0);
	assert_int_equal(l.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(l.percents[i], 25 * i);
	ut_trace_release(&trace);
	build_release(&b);
}

UT_TESTS(spool_order)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_sequence_of_calls_gives_what_a_plain_model_gives),
		cmocka_unit_test(waiting_clients_get_the_progress_of_reading),
	};

	return cmocka_run_group_tests_name("import/spool_order", tests, NULL, NULL);
}
