/* test_stats.c - tests src/analysis/analyze/stats.h and stats_pack.h with stores made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/filter.h"
#include "analyze/make_store.h"
#include "analyze/stats.h"
#include "analyze/stats_pack.h"
#include "analyze/summary.h"
#include "base/str.h"
#include "support/unit.h"

#define BY(dim) (1u << UT_BY_##dim)

struct fixture {
	struct maker m;
	struct ut_store store;
	struct ut_stats s;
	uint32_t track; /* a thread, made by setup */
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	make_start(&f->m);
	f->track = make_track(&f->m, UT_TRACK_THREAD, 1, "main");
	ut_stats_init(&f->s, BY(NAME));
	*state = f;
	return 0;
}

static int drop(void **state)
{
	struct fixture *f = *state;

	ut_stats_release(&f->s);
	ut_store_release(&f->store);
	free(f);
	return 0;
}

static void count(struct fixture *f, unsigned int by, const struct ut_filter *filter)
{
	ut_stats_release(&f->s);
	ut_stats_init(&f->s, by);
	if (!f->store.rows)
		make_finish(&f->m, &f->store);
	ut_stats_add(&f->s, &f->store, filter, 1);
}

static const struct ut_stats_group *group(struct fixture *f, const char *name)
{
	for (size_t i = 1; i <= f->s.group_count; i++) {
		const struct ut_stats_group *g = &f->s.groups[i];

		if (!strcmp(ut_strtab_get(&f->s.strings, g->key[UT_BY_NAME]).ptr, name))
			return g;
	}
	fail_msg("no group %s", name);
	return NULL;
}

static void counts_lengths_and_extremes(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 10);
	make_span(&f->m, f->track, "a", 20, 30);
	make_span(&f->m, f->track, "b", 60, 5);
	count(f, BY(NAME), NULL);
	assert_int_equal(f->s.group_count, 2);
	assert_int_equal(group(f, "a")->dist.count, 2);
	assert_int_equal((uint64_t)group(f, "a")->dist.total, 40);
	assert_int_equal((uint64_t)group(f, "a")->self, 40);
	assert_int_equal(group(f, "a")->dist.min, 10);
	assert_int_equal(group(f, "a")->dist.max, 30);
	assert_int_equal(group(f, "b")->dist.count, 1);
	assert_int_equal(f->s.tracks, 1);
	assert_int_equal(f->s.processes, 1);
	assert_int_equal(f->s.rows, 3);
}

static void self_time_leaves_out_what_is_inside(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "outer", 0, 100);
	make_span(&f->m, f->track, "middle", 10, 50);
	make_span(&f->m, f->track, "inner", 20, 30);
	make_span(&f->m, f->track, "middle", 70, 30); /* ends with the outer one */
	make_span(&f->m, f->track, "next", 100, 10);
	count(f, BY(NAME), NULL);
	assert_int_equal((uint64_t)group(f, "outer")->self, 20);
	assert_int_equal((uint64_t)group(f, "middle")->self, 50);
	assert_int_equal((uint64_t)group(f, "inner")->self, 30);
	assert_int_equal((uint64_t)group(f, "next")->self, 10);
}

static void overlapping_spans_share_no_moment(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 200);
	make_span(&f->m, f->track, "b", 50, 100);
	make_span(&f->m, f->track, "c", 100, 150); /* outlasts both */
	make_span(&f->m, f->track, "d", 240, 40);
	count(f, BY(NAME), NULL);
	assert_int_equal((uint64_t)group(f, "a")->self, 50);
	assert_int_equal((uint64_t)group(f, "b")->self, 50);
	assert_int_equal((uint64_t)group(f, "c")->self, 140);
	assert_int_equal((uint64_t)group(f, "d")->self, 40);
}

static void spans_at_the_edge_of_time_are_harmless(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 5, UINT64_MAX);
	make_span(&f->m, f->track, "b", UINT64_MAX - 1, 1);
	make_span(&f->m, f->track, "c", UINT64_MAX, UINT64_MAX);
	make_span(&f->m, f->track, "c", UINT64_MAX, 0);
	count(f, BY(NAME), NULL);
	assert_int_equal(group(f, "a")->dist.max, UINT64_MAX - 5);
	assert_int_equal((uint64_t)group(f, "a")->self, UINT64_MAX - 6);
	assert_int_equal((uint64_t)group(f, "b")->self, 1);
	assert_int_equal(group(f, "c")->dist.count, 2);
	assert_int_equal((uint64_t)group(f, "c")->self, 0);
}

static void what_is_not_work_is_not_counted(void **state)
{
	struct fixture *f = *state;
	struct ut_event e = { .ts = 10, .val = 50, .flags = UT_EV_NOT_WORK };

	make_span(&f->m, f->track, "work", 0, 100);
	make_row(&f->m, f->track, e, "paused", "control");
	e = (struct ut_event){ .ts = 90, .val = 10, .flags = UT_EV_UNFINISHED };
	make_row(&f->m, f->track, e, "open", NULL);
	count(f, BY(NAME), NULL);
	assert_int_equal((uint64_t)group(f, "work")->self, 90);
	assert_int_equal(group(f, "open")->unfinished, 1);
	assert_int_equal(group(f, "open")->dist.count, 1);
	assert_int_equal(f->s.group_count, 2);
}

static void recursion_counts_its_time_once(void **state)
{
	struct fixture *f = *state;
	uint32_t other = make_track(&f->m, UT_TRACK_THREAD, 2, "worker");
	const struct ut_stats_group *g;

	make_span(&f->m, f->track, "f", 0, 100);
	make_span(&f->m, f->track, "g", 5, 90);
	make_span(&f->m, f->track, "f", 10, 80);
	make_span(&f->m, f->track, "f", 20, 60);
	make_span(&f->m, f->track, "f", 100, 3);
	make_span(&f->m, other, "f", 15, 50); /* another thread: that is more time */
	make_span(&f->m, other, "f", 60, 10); /* overlaps */
	count(f, BY(NAME), NULL);
	g = group(f, "f");
	assert_int_equal(g->dist.count, 6);
	assert_int_equal((uint64_t)ut_stats_total(g), 103 + 55);
	assert_int_equal((uint64_t)ut_stats_total(group(f, "g")), 90);
	assert_int_equal(ut_dist_mean(&g->dist), (100 + 80 + 60 + 3 + 50 + 10) / 6);
	count(f, BY(PROCESS), NULL); /* and so do groups of other kinds */
	assert_int_equal((uint64_t)ut_stats_total(&f->s.groups[1]), 103 + 55);
	assert_int_equal((uint64_t)f->s.groups[1].self, 103 + 55);
}

static void what_is_nobodys_work_has_no_share(void **state)
{
	struct fixture *f = *state;
	struct ut_event e = { .ts = 0, .val = 500, .flags = UT_EV_ASIDE };

	make_row(&f->m, f->track, e, "frame", "render");
	e.ts = 100;
	e.flags |= UT_EV_UNFINISHED;
	make_row(&f->m, f->track, e, "frame", "render");
	make_span(&f->m, f->track, "task", 50, 100);
	count(f, BY(NAME), NULL);
	assert_int_equal(group(f, "frame")->dist.count, 2);
	assert_int_equal(group(f, "frame")->unfinished, 1);
	assert_int_equal((uint64_t)ut_stats_total(group(f, "frame")), 600);
	assert_int_equal((uint64_t)group(f, "frame")->self, 0);
	assert_false(ut_stats_is_work(group(f, "frame")));
	assert_true(ut_stats_is_work(group(f, "task")));
	assert_int_equal((uint64_t)ut_stats_busy(&f->s), 100);
}

static void async_spans_have_no_self_time(void **state)
{
	struct fixture *f = *state;
	uint32_t lane = make_track(&f->m, UT_TRACK_ASYNC, 2, "requests");

	make_kind(&f->m, lane, UT_KIND_ASYNC_BEGIN, "get", 0, 1);
	make_kind(&f->m, lane, UT_KIND_ASYNC_BEGIN, "get", 10, 2);
	make_kind(&f->m, lane, UT_KIND_ASYNC_END, "get", 50, 1);
	make_kind(&f->m, lane, UT_KIND_ASYNC_END, "get", 110, 2);
	make_kind(&f->m, lane, UT_KIND_ASYNC_BEGIN, "get", 120, 3);
	make_kind(&f->m, lane, UT_KIND_ASYNC_END, "get", 130, 4);
	count(f, BY(NAME), NULL);
	assert_int_equal(group(f, "get")->dist.count, 3); /* one up to the last sign of life */
	assert_int_equal((uint64_t)group(f, "get")->dist.total, 160);
	assert_int_equal((uint64_t)group(f, "get")->self, 0);
	assert_false(ut_stats_is_work(group(f, "get")));
	assert_int_equal(group(f, "get")->unfinished, 1);
}

static void async_spans_of_one_number_nest(void **state)
{
	struct fixture *f = *state;
	uint32_t lane = make_track(&f->m, UT_TRACK_ASYNC, 2, "requests");

	make_kind(&f->m, lane, UT_KIND_ASYNC_BEGIN, "outer", 0, 1);
	make_kind(&f->m, lane, UT_KIND_ASYNC_BEGIN, "inner", 10, 1);
	make_kind(&f->m, lane, UT_KIND_ASYNC_END, "inner", 30, 1);
	make_kind(&f->m, lane, UT_KIND_ASYNC_END, "outer", 100, 1);
	count(f, BY(NAME), NULL);
	assert_int_equal((uint64_t)group(f, "outer")->dist.total, 100);
	assert_int_equal((uint64_t)group(f, "inner")->dist.total, 20);
	assert_int_equal(group(f, "outer")->unfinished, 0);
}

static void instants_are_counted(void **state)
{
	struct fixture *f = *state;
	const struct ut_stats_group **list;
	size_t n;

	make_kind(&f->m, f->track, UT_KIND_INSTANT, "tick", 1, 0);
	make_kind(&f->m, f->track, UT_KIND_INSTANT, "tick", 2, 0);
	make_span(&f->m, f->track, "a", 5, 5);
	count(f, BY(NAME), NULL);
	list = ut_stats_order_instants(&f->s, &n);
	assert_int_equal(n, 1);
	assert_int_equal(list[0]->instants, 2);
	ut_stats_order(&f->s, UT_SORT_TOTAL, &n);
	assert_int_equal(n, 1);
}

static void counters_are_weighted_by_time(void **state)
{
	struct fixture *f = *state;
	uint32_t track = make_track(&f->m, UT_TRACK_COUNTER, 2, "power");
	const struct ut_stats_counter *c;

	make_double(&f->m, track, "power", 0, 100);
	make_double(&f->m, track, "power", 10, 200.5);
	make_double(&f->m, track, "power", 20, NAN); /* none until 25 */
	make_double(&f->m, track, "power", 25, INFINITY);
	make_double(&f->m, track, "power", 30, -10);
	make_span(&f->m, f->track, "a", 0, 50); /* the trace ends here */
	count(f, BY(NAME), NULL);
	assert_int_equal(f->s.counter_count, 1);
	c = &f->s.counters[1];
	assert_int_equal(c->count, 4);
	assert_int_equal(c->bad, 1);
	assert_true(c->min == -10 && c->max == 200.5 && c->last == -10);
	assert_int_equal((uint64_t)c->weight, 40);
	assert_true(ut_stats_counter_mean(c) == (100 * 10 + 200.5 * 10 - 10 * 20) / 40);
}

static void dimensions_split_groups(void **state)
{
	struct fixture *f = *state;
	uint32_t second;

	make_process(&f->m, 200, "app", 1);
	second = make_track(&f->m, UT_TRACK_THREAD, 1, "main");
	make_row(&f->m, f->track, (struct ut_event){ .ts = 1, .val = 1 }, "a", "x");
	make_row(&f->m, second, (struct ut_event){ .ts = 1, .val = 1 }, "a", "y");
	make_row(&f->m, second, (struct ut_event){ .ts = 3, .val = 1 }, "b", "y");
	count(f, BY(NAME), NULL);
	assert_int_equal(f->s.group_count, 2);
	count(f, BY(NAME) | BY(PROCESS), NULL);
	assert_int_equal(f->s.group_count, 3);
	count(f, BY(TRACK), NULL);
	assert_int_equal(f->s.group_count, 1); /* both are called main (1) */
	count(f, BY(RANK), NULL);
	assert_int_equal(f->s.group_count, 2);
	count(f, BY(CATEGORY) | BY(RANK), NULL);
	assert_int_equal(f->s.group_count, 2);
	count(f, 0, NULL);
	assert_int_equal(f->s.group_count, 1);
}

static void count_with(struct fixture *f, const struct ut_filter_opts *o)
{
	struct ut_filter filter;

	assert_int_equal(ut_filter_init(&filter, o, NULL), 0);
	count(f, BY(NAME), &filter);
	ut_filter_release(&filter);
}

static void a_filter_hides_spans_but_not_their_time(void **state)
{
	struct fixture *f = *state;
	struct ut_filter_opts o = { 0 };

	make_span(&f->m, f->track, "outer", 1000, 100);
	make_span(&f->m, f->track, "inner", 1010, 50);
	make_span(&f->m, f->track, "late", 1200, 50);
	ut_opt_list_add(&o.names, "out*");
	count_with(f, &o);
	assert_int_equal(f->s.group_count, 1);
	assert_int_equal((uint64_t)group(f, "outer")->self, 50);
	ut_filter_opts_release(&o);
	o = (struct ut_filter_opts){ .from = "60ns", .to = "250ns" };
	count_with(f, &o);
	assert_int_equal(group(f, "outer")->dist.count, 1);
	assert_int_equal((uint64_t)group(f, "outer")->dist.total, 100);
	assert_int_equal(group(f, "inner")->dist.count, 0);
	assert_int_equal((uint64_t)group(f, "late")->dist.total, 50);
	o.clip = true;
	o.to = "@1220ns";
	count_with(f, &o);
	assert_int_equal((uint64_t)group(f, "outer")->dist.total, 40);
	assert_int_equal((uint64_t)group(f, "late")->dist.total, 20);
}

static void order_is_by_value_and_then_by_text(void **state)
{
	struct fixture *f = *state;
	const struct ut_stats_group **list;
	size_t n;

	make_span(&f->m, f->track, "b", 0, 10);
	make_span(&f->m, f->track, "c", 20, 10);
	make_span(&f->m, f->track, "a", 40, 10);
	make_span(&f->m, f->track, "d", 60, 20);
	count(f, BY(NAME), NULL);
	list = ut_stats_order(&f->s, UT_SORT_TOTAL, &n);
	assert_int_equal(n, 4);
	assert_ptr_equal(list[0], group(f, "d"));
	assert_ptr_equal(list[1], group(f, "a"));
	assert_ptr_equal(list[3], group(f, "c"));
	list = ut_stats_order(&f->s, UT_SORT_NAME, &n);
	assert_ptr_equal(list[3], group(f, "d"));
}

static void more_names_than_rows_at_a_time_are_counted(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 40000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%llu", (unsigned long long)(i % 39000));
		make_span(&f->m, f->track, name, i * 10, 5 + i % 39000);
	}
	count(f, BY(NAME), NULL);
	assert_int_equal(f->s.group_count, 39000);
	for (size_t i = 1; i <= f->s.group_count; i++) {
		const struct ut_stats_group *g = &f->s.groups[i];
		const char *name = ut_strtab_get(&f->s.strings, g->key[UT_BY_NAME]).ptr;
		uint64_t n = strtoull(name + 1, NULL, 10);

		assert_int_equal(g->dist.count, n < 1000 ? 2 : 1);
		assert_int_equal(g->dist.max, 5 + n);
	}
}

/* ---- any split gives the same bytes -------------------------------------------------------- */

/* Rows of every kind, nested, overlapping and plain. */
static void fill_random(struct maker *m, uint64_t seed, size_t rows)
{
	static const char *const names[] = { "alpha", "beta", "gamma", "delta", "epsilon" };
	uint32_t thread = make_track(m, UT_TRACK_THREAD, seed % 5, "worker");
	uint32_t async = make_track(m, UT_TRACK_ASYNC, 7, "async");
	uint32_t counter = make_track(m, UT_TRACK_COUNTER, 8, "load");
	uint64_t ts = 1000;

	for (size_t i = 0; i < rows; i++) {
		const char *name = names[make_random(&seed) % 5];
		uint64_t length = make_random(&seed) % 4 ? make_random(&seed) % 50
							 : make_random(&seed) % 100000;

		ts += make_random(&seed) % 40;
		switch (make_random(&seed) % 13) {
		case 0:
			make_kind(m, thread, UT_KIND_INSTANT, name, ts, 0);
			break;
		case 1:
			make_kind(m, async, UT_KIND_ASYNC_BEGIN, name, ts, length % 8);
			break;
		case 2:
			make_kind(m, async, UT_KIND_ASYNC_END, name, ts, length % 8);
			break;
		case 3:
			make_double(m, counter, "load", ts, (double)length / 3);
			break;
		case 4:
			make_row(m, thread, (struct ut_event){ ts, length, .flags = UT_EV_ASIDE },
				 name, NULL);
			break;
		default:
			make_span(m, thread, name, ts, length);
		}
	}
}

static void pack(struct ut_stats *s, struct ut_buf *b)
{
	*b = (struct ut_buf){ 0 };
	ut_stats_pack(s, b);
}

static void merged_parts_are_equal_to_the_serial_result(void **state)
{
	enum {
		STORES = 12
	};
	struct ut_store stores[STORES];
	uint64_t seed = 99;

	(void)state;
	for (size_t i = 0; i < STORES; i++) {
		struct maker m;

		make_start(&m);
		make_process(&m, 200 + (uint32_t)i % 3, "rank", (int32_t)i % 4);
		fill_random(&m, i, 100 + i * 300);
		make_finish(&m, &stores[i]);
	}
	for (unsigned int by = 0; by < 1u << UT_BY_COUNT; by++) {
		struct ut_stats all, ranks[3], merged;
		struct ut_buf want, got, part;

		ut_stats_init(&all, by);
		ut_stats_init(&merged, by);
		for (size_t i = 0; i < 3; i++)
			ut_stats_init(&ranks[i], by);
		for (size_t i = 0; i < STORES; i++) {
			ut_stats_add(&all, &stores[i], NULL, 1);
			ut_stats_add(&ranks[make_random(&seed) % 3], &stores[STORES - 1 - i], NULL,
				     1 + (unsigned int)i % 3);
		}
		pack(&all, &want);
		for (size_t i = 0; i < 3; i++) {
			pack(&ranks[i], &part);
			assert_int_equal(ut_stats_unpack(&merged, part.data, part.len, NULL), 0);
			ut_buf_release(&part);
			ut_stats_release(&ranks[i]);
		}
		pack(&merged, &got);
		assert_int_equal(got.len, want.len);
		assert_memory_equal(got.data, want.data, want.len);
		ut_buf_release(&got);
		ut_buf_release(&want);
		ut_stats_release(&all);
		ut_stats_release(&merged);
	}
	for (size_t i = 0; i < STORES; i++)
		ut_store_release(&stores[i]);
}

/* One long track: what is open at a cut, and self times, must not depend on the cuts. */
static void a_track_that_is_cut_gives_the_same(void **state)
{
	struct ut_filter_opts o = { .from = "100us", .to = "90ms", .clip = true };
	struct ut_filter filter;
	struct ut_store store;
	struct maker m;

	(void)state;
	assert_int_equal(ut_filter_init(&filter, &o, NULL), 0);
	make_start(&m);
	fill_random(&m, 5, 5000);
	for (uint64_t i = 0; i < 2200000; i++) {
		struct ut_event e = { i * 40, 50000000, .flags = UT_EV_ASIDE };

		if (i % 100000 == 0)
			make_span(&m, 0, "long", i * 40, i % 300000 ? 9000001 : 80000000);
		if (i % 400000 == 0)
			make_row(&m, 0, e, "frame", NULL);
		make_span(&m, 0, i % 3 ? "a" : "b", i * 40, i % 3 ? 10 : 90);
	}
	make_finish(&m, &store);
	for (int k = 0; k < 2; k++) {
		struct ut_stats one, many;
		struct ut_buf want, got;

		ut_stats_init(&one, BY(NAME));
		ut_stats_init(&many, BY(NAME));
		ut_stats_add(&one, &store, k ? &filter : NULL, 1);
		ut_stats_add(&many, &store, k ? &filter : NULL, 3);
		pack(&one, &want);
		pack(&many, &got);
		assert_int_equal(got.len, want.len);
		assert_memory_equal(got.data, want.data, want.len);
		ut_buf_release(&want);
		ut_buf_release(&got);
		ut_stats_release(&one);
		ut_stats_release(&many);
	}
	ut_store_release(&store);
	ut_filter_release(&filter);
}

/* The table after a recording is made by other code, and must say the same. */
static void the_summary_says_the_same(void **state)
{
	struct fixture *f = *state;
	struct ut_summary summary;

	for (uint64_t seed = 1; seed < 4; seed++)
		fill_random(&f->m, seed, 3000);
	count(f, BY(NAME), NULL);
	ut_summary_init(&summary);
	ut_store_send(&f->store, 0, &summary.sink);
	ut_summary_finish(&summary);
	assert_int_equal(summary.count, 5);
	assert_int_equal(summary.self_total, (uint64_t)ut_stats_busy(&f->s));
	for (size_t i = 0; i < summary.count; i++) {
		const struct ut_summary_row *r = &summary.rows[i];
		const struct ut_stats_group *g =
			group(f, ut_strtab_get(&summary.strings, r->name).ptr);

		assert_int_equal(r->self, (uint64_t)g->self);
		assert_true(ut_summary_share(&summary, r->self) ==
			    ut_stats_share(g->self, ut_stats_busy(&f->s)));
		assert_int_equal(r->work, ut_stats_is_work(g));
	}
	ut_summary_release(&summary);
}

/* Async spans are paired by others; of all else the totals are equal, too. */
static void the_summary_has_the_same_totals(void **state)
{
	struct fixture *f = *state;
	struct ut_summary summary;
	uint64_t seed = 7, ts = 0;

	for (size_t i = 0; i < 3000; i++) {
		ts += make_random(&seed) % 40;
		make_span(&f->m, f->track, make_random(&seed) % 2 ? "a" : "b", ts,
			  make_random(&seed) % 200);
	}
	count(f, BY(NAME), NULL);
	ut_summary_init(&summary);
	ut_store_send(&f->store, 0, &summary.sink);
	ut_summary_finish(&summary);
	for (size_t i = 0; i < summary.count; i++) {
		const struct ut_summary_row *r = &summary.rows[i];
		const struct ut_stats_group *g =
			group(f, ut_strtab_get(&summary.strings, r->name).ptr);

		assert_int_equal(r->calls, g->dist.count);
		assert_int_equal(r->total, (uint64_t)ut_stats_total(g));
		assert_true(r->total < r->lengths);
		assert_int_equal(ut_summary_average(r), ut_dist_mean(&g->dist));
	}
	ut_summary_release(&summary);
}

static void damaged_bytes_are_refused(void **state)
{
	struct fixture *f = *state;
	struct ut_buf b;

	fill_random(&f->m, 3, 9000);
	count(f, BY(NAME) | BY(RANK), NULL);
	pack(&f->s, &b);
	for (size_t len = 0; len < b.len; len += 1 + len / 8) {
		struct ut_stats s;

		ut_stats_init(&s, BY(NAME) | BY(RANK));
		assert_true(ut_stats_unpack(&s, b.data, len, NULL) < 0);
		ut_stats_release(&s);
	}
	for (size_t i = 0; i < b.len; i += 7) {
		struct ut_stats s;
		char old = b.data[i];

		b.data[i] ^= (char)0x55;
		ut_stats_init(&s, BY(NAME) | BY(RANK));
		if (ut_stats_unpack(&s, b.data, b.len, NULL) < 0)
			assert_true(true);
		b.data[i] = old;
		ut_stats_release(&s);
	}
	ut_buf_release(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

UT_TESTS(stats)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_lengths_and_extremes),
		TEST(self_time_leaves_out_what_is_inside),
		TEST(overlapping_spans_share_no_moment),
		TEST(spans_at_the_edge_of_time_are_harmless),
		TEST(what_is_not_work_is_not_counted),
		TEST(recursion_counts_its_time_once),
		TEST(what_is_nobodys_work_has_no_share),
		TEST(async_spans_have_no_self_time),
		TEST(async_spans_of_one_number_nest),
		TEST(instants_are_counted),
		TEST(counters_are_weighted_by_time),
		TEST(dimensions_split_groups),
		TEST(a_filter_hides_spans_but_not_their_time),
		TEST(order_is_by_value_and_then_by_text),
		TEST(more_names_than_rows_at_a_time_are_counted),
		cmocka_unit_test(merged_parts_are_equal_to_the_serial_result),
		cmocka_unit_test(a_track_that_is_cut_gives_the_same),
		TEST(the_summary_says_the_same),
		TEST(the_summary_has_the_same_totals),
		TEST(damaged_bytes_are_refused),
	};

	return cmocka_run_group_tests_name("analyze/stats", tests, NULL, NULL);
}
