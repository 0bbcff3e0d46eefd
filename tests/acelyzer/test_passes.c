/*
 * test_passes.c - tests passes of src/analysis/acelyzer/stage.h that are clever against ways that
 * are not: the preparations' counter, overlaps, iterations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/stage.h"
#include "base/str.h"
#include "make_run.h"
#include "support/unit.h"

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void add_span(struct ut_buf *b, const char *name, double ts, double dur)
{
	ut_buf_fmt(
		b,
		"%s{\"name\":\"%s\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f,"
		"\"args\":{\"TS1\":\"1\",\"TS2\":\"2\",\"TS3\":\"3\",\"TS4\":\"4\",\"TS5\":\"5\"}}",
		b->len > 1 ? "," : "", name, ts, dur);
}

/* ---- preparations ---- */

struct timestamp {
	double at;
	int64_t n;
};

struct timestamps {
	struct timestamp items[4096];
	size_t count;
};

/* What the reference does, list by list. */
static void naive_prep(struct timestamps *m, double s, double e, struct timestamps *ready)
{
	struct timestamps now = { .count = 0 };
	int64_t last_ready = 0, last_inside = 0;
	bool inside = false, starts = false, ends = false;

	if (!m->count) {
		m->items[m->count++] = (struct timestamp){ s, 1 };
		m->items[m->count++] = (struct timestamp){ e, 0 };
		return;
	}
	for (size_t i = 0; i < m->count; i++) {
		struct timestamp x = m->items[i];

		if (x.at < s) {
			ready->items[ready->count++] = x;
			last_ready = x.n;
		} else if (x.at < e) {
			starts |= !inside && x.at == s;
			inside = true;
			last_inside = x.n;
		} else {
			ends |= x.at == e;
		}
	}
	if (!inside || !starts)
		now.items[now.count++] = (struct timestamp){ s, last_ready + 1 };
	for (size_t i = 0; i < m->count; i++) {
		if (m->items[i].at >= s && m->items[i].at < e)
			now.items[now.count++] =
				(struct timestamp){ m->items[i].at, m->items[i].n + 1 };
	}
	if (!ends)
		now.items[now.count++] = (struct timestamp){ e, last_inside };
	for (size_t i = 0; i < m->count; i++) {
		if (m->items[i].at >= e)
			now.items[now.count++] = m->items[i];
	}
	*m = now;
}

static void the_counter_of_preparations_is_that_of_the_list(void **state)
{
	struct ut_ace_opts opts = make_opts();

	(void)state;
	seed = 99;
	for (int round = 0; round < 60; round++) {
		struct timestamps *list = calloc(1, sizeof(*list)),
				  *ready = calloc(1, sizeof(*ready));
		struct ut_buf text = { 0 };
		double at = 10;
		size_t from = 0;
		struct ut_ace_analysis a;

		ut_buf_char(&text, '[');
		for (int i = 0; i < 120; i++) {
			double dur = (double)(next() % (round % 2 ? 4 : 40));

			at += (double)(next() % 5);
			add_span(&text, "k Cmpt Prep", at, dur);
			naive_prep(list, at, at + dur, ready);
		}
		ut_buf_char(&text, ']');
		make_run(&a, &opts, (const char *const[]){ text.data, NULL });
		ut_ace_pass_preps(&a);
		assert_int_equal(a.table.seq_count, ready->count + list->count);
		for (size_t i = 0; i < a.table.seq_count; i++) {
			const struct ut_ace_event *e = &a.table.events[a.table.seq[i]];
			const struct timestamp *m =
				i < ready->count ? &ready->items[i] : &list->items[from++];
			struct ut_arg arg;

			assert_int_equal(e->ph, 'C');
			assert_true(e->ts == m->at);
			assert_true(ut_ace_arg(&a.table, e->args, UT_ACE_K_CONCURRENCY, &arg));
			assert_int_equal(arg.value.i64, m->n);
		}
		ut_ace_release(&a);
		ut_buf_release(&text);
		free(list);
		free(ready);
	}
}

/* ---- overlaps ---- */

struct ends {
	double at[512];
	size_t count;
};

static bool naive_conflict(const struct ends *q, double s, double e)
{
	for (size_t i = 0; i < q->count; i++) {
		if (s < q->at[i] && q->at[i] < e)
			return true;
	}
	return false;
}

static void spans_move_to_the_first_thread_where_they_nest(void **state)
{
	struct ut_ace_opts opts = make_opts();

	(void)state;
	seed = 7;
	for (int round = 0; round < 40; round++) {
		struct ends *threads = calloc(600, sizeof(*threads));
		struct ut_buf text = { 0 };
		int expected[200];
		uint64_t hops = 0;
		char count[64];
		double at = 0;
		struct ut_ace_analysis a;

		ut_buf_char(&text, '[');
		for (int i = 0; i < 200; i++) {
			double dur = (double)(next() % 30);
			int t = 0;

			at += (double)(next() % 4);
			add_span(&text, "x", at, dur);
			while (naive_conflict(&threads[t], at, at + dur)) {
				t++;
				hops++;
			}
			threads[t].at[threads[t].count++] = at + dur;
			expected[i] = t;
		}
		ut_buf_char(&text, ']');
		make_run(&a, &opts, (const char *const[]){ text.data, NULL });
		ut_ace_pass_overlap(&a);
		for (size_t i = 0; i < 200; i++)
			assert_int_equal(ut_ace_num(&a.table, a.table.events[a.table.seq[i]].tid),
					 1 + expected[i]);
		snprintf(count, sizeof(count), "resolved: %llu", (unsigned long long)hops);
		assert_non_null(said(&a, count));
		ut_ace_release(&a);
		ut_buf_release(&text);
		free(threads);
	}
}

static void threads_that_meet_are_resolved_in_the_order_of_time(void **state)
{
	/* Thread 1 overflows to thread 2, which has an earlier span of its own. */
	const char *text =
		"[{\"name\":\"a\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":10,\"dur\":10},"
		"{\"name\":\"b\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":15,\"dur\":10},"
		"{\"name\":\"c\",\"ph\":\"X\",\"pid\":0,\"tid\":2,\"ts\":5,\"dur\":11}]";
	struct ut_ace_opts opts = make_opts();
	struct ut_ace_analysis a;

	(void)state;
	make_run(&a, &opts, (const char *const[]){ text, NULL });
	assert_int_equal(ut_ace_pass_overlap(&a), 0);
	assert_int_equal(ut_ace_num(&a.table, a.table.events[0].tid), 1);
	assert_int_equal(ut_ace_num(&a.table, a.table.events[1].tid), 3);
	assert_int_equal(ut_ace_num(&a.table, a.table.events[2].tid), 2);
	ut_ace_release(&a);
}

/* ---- iterations ---- */

/* The reference's search: after each letter, every beginning. */
static bool naive_double(const char *word, size_t n, size_t *start, size_t *half)
{
	for (size_t len = 10; len <= n; len++) {
		for (size_t p = 0; p < len / 3; p++) {
			size_t h = (len - p) / 2;

			if ((len - p) % 2 || memcmp(word + p, word + p + h, h) != 0)
				continue;
			*start = p;
			*half = h;
			return true;
		}
	}
	return false;
}

static void naive_iterations(const char *word, const double *ts, size_t n, double *mean,
			     uint64_t *count)
{
	size_t start, half, from;
	double last;
	bool restarted = false;

	*mean = 0;
	*count = 0;
	if (!naive_double(word, n, &start, &half))
		return;
	last = ts[start + half];
	*mean = last - ts[start];
	*count = 1;
	from = start + 2 * half;
	for (size_t i = from; i < n; i++) {
		if (i + 1 - from > half) {
			size_t skip = 1;

			while (skip <= half &&
			       memcmp(word + start, word + from + skip, half + 1 - skip) != 0)
				skip++;
			from += skip;
			restarted = true;
		}
		if (i + 1 - from == half && !memcmp(word + start, word + from, half)) {
			if (!restarted) {
				++*count;
				*mean += (ts[from] - last - *mean) / (double)*count;
			}
			restarted = false;
			last = ts[from];
			from = i + 1;
		}
	}
}

static void iterations_are_those_of_the_slow_search(void **state)
{
	struct ut_ace_opts opts = make_opts();
	int found = 0;

	(void)state;
	seed = 3;
	for (int round = 0; round < 300; round++) {
		size_t n = 10 + next() % 60, period = 1 + next() % 14, letters = 2 + next() % 4;
		char word[80], base[16];
		double ts[80], mean;
		struct ut_buf text = { 0 };
		uint64_t count;
		struct ut_ace_analysis a;

		for (size_t i = 0; i < sizeof(base); i++)
			base[i] = (char)('a' + next() % letters);
		ut_buf_char(&text, '[');
		for (size_t i = 0; i < n; i++) {
			char name[] = "k? Cmpt Exec";

			word[i] = base[i % period];
			if (next() % 12 == 0)
				word[i] = (char)('a' + next() % letters);
			ts[i] = 10.0 * (double)i + (double)(next() % 5);
			name[1] = word[i];
			add_span(&text, name, ts[i], 1);
		}
		ut_buf_char(&text, ']');
		make_run(&a, &opts, (const char *const[]){ text.data, NULL });
		ut_ace_pass_normal1(&a);
		ut_ace_pass_iterations(&a);
		naive_iterations(word, ts, n, &mean, &count);
		assert_int_equal(a.found.iteration_count, 1);
		assert_int_equal(a.found.iterations[0].count, count);
		assert_true(a.found.iterations[0].mean - mean < 1e-6 &&
			    mean - a.found.iterations[0].mean < 1e-6);
		found += count > 1;
		ut_ace_release(&a);
		ut_buf_release(&text);
	}
	assert_true(found > 50); /* the inputs are worth something */
}

UT_TESTS(passes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counter_of_preparations_is_that_of_the_list),
		cmocka_unit_test(spans_move_to_the_first_thread_where_they_nest),
		cmocka_unit_test(threads_that_meet_are_resolved_in_the_order_of_time),
		cmocka_unit_test(iterations_are_those_of_the_slow_search),
	};

	return cmocka_run_group_tests_name("acelyzer/passes", tests, NULL, NULL);
}
