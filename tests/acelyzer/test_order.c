/* test_order.c - tests src/analysis/acelyzer/order.h against the slow and obvious way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/order.h"
#include "support/unit.h"

#define MANY 3000

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* n events of a few threads; runs: how many pieces in a row are sorted already. */
static void fill(struct ut_ace_table *t, size_t n, size_t runs, unsigned int spread)
{
	ut_ace_table_init(t);
	seed = 4711 + n + runs;
	for (size_t i = 0; i < n; i++) {
		struct ut_ace_event *e = ut_ace_event_add(t);

		e->ph = next() % 3 ? 'X' : 'C';
		e->ts = runs ? (double)(i % (n / runs + 1)) : (double)(next() % spread);
		e->ts = next() % 50 ? e->ts : -e->ts;
		e->dur = (double)(next() % 4);
		e->flags = e->ph == 'X' ? UT_ACE_HAS_DUR : 0;
		e->pid = ut_ace_id_int(t, (int64_t)(next() % 3));
		e->tid = ut_ace_id_int(t, (int64_t)(next() % 5));
		ut_ace_seq_add(t, (uint32_t)i);
	}
}

typedef bool before_fn(const struct ut_ace_event *x, const struct ut_ace_event *y);

/* Sorted, and a stable permutation: equal ones keep their order, or reverse it. */
static void check(const struct ut_ace_table *t, before_fn *before, bool reversed)
{
	uint32_t *seen = calloc(t->event_count, sizeof(*seen));

	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *y = &t->events[t->seq[i]], *x;

		seen[t->seq[i]]++;
		if (!i)
			continue;
		x = &t->events[t->seq[i - 1]];
		assert_false(before(y, x));
		if (!before(x, y))
			assert_true(reversed ? t->seq[i - 1] > t->seq[i]
					     : t->seq[i - 1] < t->seq[i]);
	}
	for (size_t i = 0; i < t->event_count; i++)
		assert_int_equal(seen[i], 1);
	free(seen);
}

static bool by_ts(const struct ut_ace_event *x, const struct ut_ace_event *y)
{
	return x->ts < y->ts;
}

static bool by_end(const struct ut_ace_event *x, const struct ut_ace_event *y)
{
	return x->ts + x->dur < y->ts + y->dur;
}

static double length(const struct ut_ace_event *e)
{
	return e->flags & UT_ACE_HAS_DUR ? e->dur : 0;
}

static bool by_ts_dur(const struct ut_ace_event *x, const struct ut_ace_event *y)
{
	return x->ts < y->ts || (x->ts == y->ts && length(x) > length(y));
}

static void sorts_are_stable_for_any_input(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, MANY };
	static const size_t runs[] = { 0, 1, 3, 32, 40 };

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (size_t r = 0; r < sizeof(runs) / sizeof(runs[0]); r++) {
			struct ut_ace_table t;

			fill(&t, sizes[s], runs[r], r % 2 ? 10 : 100000);
			ut_ace_order_by_ts(&t, 0, t.seq_count);
			check(&t, by_ts, false);
			ut_ace_table_release(&t);
			fill(&t, sizes[s], runs[r], 50);
			ut_ace_order_late_first(&t);
			check(&t, by_ts, true);
			ut_ace_table_release(&t);
			fill(&t, sizes[s], runs[r], 50);
			ut_ace_order_by_end(&t, 0, t.seq_count);
			check(&t, by_end, false);
			ut_ace_table_release(&t);
			fill(&t, sizes[s], runs[r], 20);
			ut_ace_order_by_ts_dur(&t, 0, t.seq_count);
			check(&t, by_ts_dur, false);
			ut_ace_table_release(&t);
		}
	}
}

static void a_few_at_the_end_go_where_they_belong(void **state)
{
	static const double late[] = { 7, -1, 7, 1e9, 0, 1500, 0 };

	(void)state;
	for (size_t few = 1; few <= sizeof(late) / sizeof(late[0]); few++) {
		struct ut_ace_table t;

		fill(&t, MANY, 1, 10);
		for (size_t i = 0; i < MANY - few; i++)
			t.events[i].ts = (double)(i / 3);
		for (size_t i = 0; i < few; i++)
			t.events[MANY - few + i].ts = late[i];
		ut_ace_order_by_ts(&t, 0, t.seq_count);
		check(&t, by_ts, false);
		ut_ace_table_release(&t);
	}
}

static void a_part_of_the_sequence_can_be_sorted(void **state)
{
	struct ut_ace_table t;

	(void)state;
	fill(&t, MANY, 0, 1000);
	ut_ace_order_by_ts(&t, 100, 200);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(t.seq[i], i);
	for (uint32_t i = 200; i < MANY; i++)
		assert_int_equal(t.seq[i], i);
	for (size_t i = 101; i < 200; i++)
		assert_true(t.events[t.seq[i - 1]].ts <= t.events[t.seq[i]].ts);
	ut_ace_table_release(&t);
}

static void groups_come_in_order_of_their_first_event(void **state)
{
	struct ut_ace_table t;
	size_t *ends, groups, from = 0;
	uint32_t first = 0;

	(void)state;
	fill(&t, MANY, 0, 1000);
	groups = ut_ace_order_group(&t, 0, t.seq_count, true, &ends);
	assert_true(groups > 3 && groups <= 15);
	for (size_t g = 0; g < groups; from = ends[g++]) {
		const struct ut_ace_event *head = &t.events[t.seq[from]];

		assert_true(ends[g] > from);
		assert_true(!g || t.seq[from] > first);
		first = t.seq[from];
		for (size_t i = from + 1; i < ends[g]; i++) {
			assert_true(t.seq[i] > t.seq[i - 1]);
			assert_int_equal(t.events[t.seq[i]].pid, head->pid);
			assert_int_equal(t.events[t.seq[i]].tid, head->tid);
		}
	}
	assert_int_equal(from, t.seq_count);
	free(ends);
	ut_ace_table_release(&t);
}

static bool is_counter(void *ctx, const struct ut_ace_event *e)
{
	(void)ctx;
	return e->ph == 'C';
}

static void splitting_keeps_the_order_of_both_parts(void **state)
{
	struct ut_ace_table t;
	size_t at;

	(void)state;
	fill(&t, MANY, 0, 1000);
	at = ut_ace_order_split(&t, is_counter, NULL);
	for (size_t i = 0; i < t.seq_count; i++) {
		assert_int_equal(t.events[t.seq[i]].ph == 'C', i >= at);
		assert_true(!i || i == at || t.seq[i] > t.seq[i - 1]);
	}
	ut_ace_table_release(&t);
}

UT_TESTS(order)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_are_stable_for_any_input),
		cmocka_unit_test(a_few_at_the_end_go_where_they_belong),
		cmocka_unit_test(a_part_of_the_sequence_can_be_sorted),
		cmocka_unit_test(groups_come_in_order_of_their_first_event),
		cmocka_unit_test(splitting_keeps_the_order_of_both_parts),
	};

	return cmocka_run_group_tests_name("acelyzer/order", tests, NULL, NULL);
}
