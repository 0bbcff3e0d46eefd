/*
 * test_view_stage.c - tests src/analysis/view/view_stage.h and src/trace/model/renumber.h: a trace
 * that grows while it is asked about, by several threads.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "base/str.h"
#include "model/renumber.h"
#include "support/unit.h"
#include "text/out.h"
#include "view/view.h"
#include "view/view_parts.h"
#include "view/view_stage.h"

#define GENERATIONS 60u
#define READERS     4u

/* Threads come from the last to the first, so that each new one would move the others; names, too.
 */
static void make_trace(struct ut_store *store, uint32_t generation)
{
	struct maker m;
	char name[32];

	make_start(&m);
	for (uint32_t i = 0; i <= generation % 20; i++) {
		uint32_t id = generation % 20 - i, track;

		snprintf(name, sizeof(name), "thread %u", id);
		track = make_track(&m, UT_TRACK_THREAD, id, name);
		for (uint32_t k = 0; k < 20 * generation; k++) {
			snprintf(name, sizeof(name), "name %u", (generation - k % generation) * 31);
			make_span(&m, track, name, 10 + k * 10, 1 + k % 10);
		}
	}
	make_finish(&m, store);
}

/* ---- numbers stay --------------------------------------------------------------------------- */

static struct ut_str name_of_track(const struct ut_store *s, uint32_t track)
{
	return ut_strtab_get(&s->trace.strings, s->trace.tracks[track].name);
}

static void tracks_and_types_keep_their_numbers(void **state)
{
	struct ut_store before, plain, now;

	(void)state;
	make_trace(&before, 1);
	for (uint32_t generation = 2; generation < 19; generation++) {
		uint64_t rows = 0;

		make_trace(&plain, generation);
		make_trace(&now, generation);
		ut_store_renumber(&now, &before);
		for (uint32_t i = 0; i < before.trace.track_count; i++)
			assert_true(ut_str_eq(name_of_track(&before, i), name_of_track(&now, i)));
		for (uint32_t i = 0; i < before.types.count; i++)
			assert_true(ut_str_eq(
				ut_strtab_get(&before.trace.strings, before.types.items[i].name),
				ut_strtab_get(&now.trace.strings, now.types.items[i].name)));
		/* and every row is what it was */
		assert_int_equal(now.trace.track_count, plain.trace.track_count);
		for (uint32_t i = 0; i < plain.trace.track_count; i++) {
			uint32_t to = 0;

			while (!ut_str_eq(name_of_track(&plain, i), name_of_track(&now, to)))
				to++;
			assert_int_equal(plain.rows[i].count, now.rows[to].count);
			for (uint64_t k = 0; k < plain.rows[i].count; k++) {
				const struct ut_block *a = &plain.rows[i].blocks[k / UT_BLOCK_ROWS];
				const struct ut_block *b = &now.rows[to].blocks[k / UT_BLOCK_ROWS];
				uint32_t at = (uint32_t)(k % UT_BLOCK_ROWS);

				assert_int_equal(a->ts[at], b->ts[at]);
				assert_int_equal(a->val[at], b->val[at]);
				assert_true(ut_str_eq(
					ut_strtab_get(&plain.trace.strings,
						      ut_store_type(&plain, a->type[at])->name),
					ut_strtab_get(&now.trace.strings,
						      ut_store_type(&now, b->type[at])->name)));
				rows++;
			}
		}
		assert_int_equal(rows, now.row_count);
		ut_store_release(&plain);
		ut_store_release(&before);
		ut_store_move(&before, &now);
	}
	ut_store_release(&before);
}

static void what_is_gone_leaves_its_number_free(void **state)
{
	struct ut_store before, now;
	struct ut_view *v = ut_view_new();

	(void)state;
	make_trace(&before, 9);
	make_trace(&now, 2);
	ut_store_renumber(&now, &before);
	assert_int_equal(now.trace.track_count, 10);
	ut_view_expect_more(v);
	ut_view_add(v, "x", &now);
	ut_view_ready(v, 1);
	assert_int_equal(v->slices, 3 * 40);
	assert_int_equal(v->place_count, 4); /* the process and three threads */
	assert_int_equal(v->track_count, 16);
	ut_view_free(v);
	ut_store_release(&before);
}

/* ---- asked while it grows ------------------------------------------------------------------- */

struct play {
	struct ut_stage *stage;
	_Atomic uint32_t shown;
	_Atomic bool done;
	_Atomic uint64_t answers;
};

static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

static void ask(struct ut_view *v, const char *method, const char *question, struct ut_buf *to)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_err err = { 0 };
	enum ut_answer kind;
	const char *data;
	size_t len;

	if (ut_view_ask(v, method, (struct ut_str){ question, strlen(question) }, out, &kind, &err))
		abort();
	data = ut_out_data(out, &len);
	to->len = 0;
	ut_buf_add(to, data, len);
	ut_out_abandon(out);
}

static void *reader(void *ctx)
{
	static const char window[] =
		"{\"t0\":0,\"t1\":20000,\"pixels\":100,\"lanes\":[[0,0],[3,0]]}";
	struct play *p = ctx;
	struct ut_buf text = { 0 };
	uint32_t last = 0;

	while (!p->done) {
		uint32_t least = p->shown;
		struct ut_view *v = ut_stage_take(p->stage);
		uint64_t slices, generation;

		ask(v, "info", "{}", &text);
		generation = number_after(text.data, "\"generation\":");
		slices = number_after(text.data, "\"slices\":");
		/* each view is whole, and none comes before one that was there */
		if (generation < least || generation < last ||
		    slices != 20 * generation * (generation % 20 + 1))
			abort();
		last = (uint32_t)generation;
		ask(v, "search", "{\"query\":\"name\",\"limit\":3}", &text);
		if (number_after(text.data, "\"count\":") != slices)
			abort();
		ask(v, "window", window, &text);
		ask(v, "aggregate", "{\"scope\":{}}", &text);
		ask(v, "places", "{}", &text);
		ut_stage_give(p->stage, v);
		p->answers++;
	}
	ut_buf_release(&text);
	return NULL;
}

static void show(struct play *p, uint32_t generation, struct ut_view_store **kept)
{
	const struct ut_view_state about = { .generation = generation, .live = true, .read = 1 };
	struct ut_view *v = ut_view_new();
	struct ut_store store;

	make_trace(&store, generation);
	if (*kept)
		ut_store_renumber(&store, ut_view_store_get(*kept));
	ut_view_store_drop(*kept);
	*kept = ut_view_store_new(&store);
	ut_view_expect_more(v);
	ut_view_share(v, "trace", *kept);
	ut_view_ready(v, 1);
	ut_view_set_state(v, &about);
	ut_stage_show(p->stage, v);
	p->shown = generation;
}

static void a_trace_is_asked_while_it_grows(void **state)
{
	struct play p = { .stage = ut_stage_new() };
	struct ut_view_store *kept = NULL;
	pthread_t threads[READERS];

	(void)state;
	assert_null(ut_stage_take(p.stage));
	show(&p, 1, &kept);
	for (size_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reader, &p), 0);
	for (uint32_t i = 2; i <= GENERATIONS; i++) {
		struct ut_view *v;

		show(&p, i, &kept);
		v = ut_stage_take(p.stage);
		ut_view_set_state(v, &(struct ut_view_state){ .generation = i, .read = 0.5 });
		ut_stage_give(p.stage, v);
	}
	while (p.answers < 2ull * READERS)
		sched_yield();
	p.done = true;
	for (size_t i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	ut_view_store_drop(kept);
	ut_stage_interrupt(p.stage);
	ut_stage_free(p.stage);
}

UT_TESTS(view_stage)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracks_and_types_keep_their_numbers),
		cmocka_unit_test(what_is_gone_leaves_its_number_free),
		cmocka_unit_test(a_trace_is_asked_while_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
