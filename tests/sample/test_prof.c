/* test_prof.c - tests src/analysis/sample/prof.h, hotspots.h and call_tree.h: against naive sums.
 */
#include "sample/prof.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/filter.h"
#include "make_samples.h"
#include "sample/call_tree.h"
#include "sample/folded.h"
#include "sample/hotspots.h"
#include "support/unit.h"
#include "text/out.h"

static const struct ut_prof_opts all;

static const struct ut_hot_row *row_called(const struct ut_hotspots *h, const char *name)
{
	for (size_t i = 0; i < h->count; i++) {
		struct ut_buf b = { 0 };
		bool same;

		ut_hot_row_name(h, &h->rows[i], &b);
		same = !strcmp(b.data, name);
		ut_buf_release(&b);
		if (same)
			return &h->rows[i];
	}
	return NULL;
}

static void check_row(const struct ut_hotspots *h, const char *name, uint64_t self, uint64_t total)
{
	const struct ut_hot_row *r = row_called(h, name);

	assert_non_null(r);
	assert_int_equal(r->self, self);
	assert_int_equal(r->total, total);
}

static void self_is_where_samples_end_and_total_counts_once(void **state)
{
	static const char *const lines[] = { "main;a;b 10", "main;a 5", "main;a;b;a 7", "main;c 3",
					     "" };
	struct ut_hotspots h;
	struct ut_prof p;

	(void)state;
	make_profile(&p, &all, lines);
	assert_int_equal(p.weight, 25);
	assert_int_equal(p.samples, 4);
	assert_int_equal(p.nodes[0].total, 25);
	assert_string_equal(ut_prof_unit(&p), "ns");
	ut_hotspots_init(&h, &p, UT_HOT_BY_FUNCTION);
	assert_int_equal(h.count, 4);
	check_row(&h, "main", 0, 25);
	check_row(&h, "a", 12, 22); /* it calls itself through b */
	check_row(&h, "b", 10, 17);
	check_row(&h, "c", 3, 3);
	ut_hotspots_release(&h);
	ut_prof_release(&p);
}

static void lines_and_modules_are_distinguished(void **state)
{
	static const char *const lines[] = { "f@x.so:f.c:1;g@x.so:g.c:7 4",
					     "f@x.so:f.c:2;g@x.so:g.c:7 6", "f@y.so 2", "?@x.so 1",
					     "" };
	struct ut_hotspots h;
	struct ut_prof p;

	(void)state;
	make_profile(&p, &all, lines);
	ut_hotspots_init(&h, &p, UT_HOT_BY_FUNCTION);
	assert_int_equal(h.count, 4); /* f of x, f of y, g, no name */
	ut_hotspots_release(&h);
	ut_hotspots_init(&h, &p, UT_HOT_BY_LINE);
	assert_int_equal(h.count, 5);
	assert_int_equal(h.rows[0].self, 10);
	assert_int_equal(h.rows[0].frame.line, 7);
	ut_hotspots_release(&h);
	ut_hotspots_init(&h, &p, UT_HOT_BY_MODULE);
	check_row(&h, "x.so", 11, 11);
	check_row(&h, "y.so", 2, 2);
	ut_hotspots_release(&h);
	ut_prof_release(&p);
}

static void lines_of_python_own_what_they_call(void **state)
{
	static const char *const lines[] = {
		"_start@/usr/bin/python3;run@t.py:t.py:3;PyDict@/usr/lib/libpython3.so 8",
		"_start@/usr/bin/python3;run@t.py:t.py:3;help@t.py:t.py:9 2",
		"clone@/lib/libc.so.6 5", ""
	};
	struct ut_hotspots h;
	struct ut_prof p;

	(void)state;
	make_profile(&p, &all, lines);
	ut_hotspots_init(&h, &p, UT_HOT_BY_PYTHON_LINE);
	check_row(&h, "run", 8, 10);
	check_row(&h, "help", 2, 2);
	check_row(&h, "[outside Python]", 5, 5);
	assert_int_equal(h.count, 3);
	ut_hotspots_release(&h);
	ut_prof_release(&p);
}

static void filters_leave_samples_out(void **state)
{
	static const char *const lines[] = { "main;a 1", "main;b 2", "main;b;a 4", "other 8", "" };
	struct ut_filter_opts times = { .from = "1us", .to = "3us" };
	struct ut_prof_opts opts = { .function = "b" };
	struct ut_filter filter;
	struct ut_prof p;

	(void)state;
	make_profile(&p, &opts, lines);
	assert_int_equal(p.weight, 6);
	ut_prof_release(&p);
	opts.function = "a*";
	make_profile(&p, &opts, lines);
	assert_int_equal(p.weight, 5);
	ut_prof_release(&p);
	assert_int_equal(ut_filter_init(&filter, &times, NULL), 0);
	opts = (struct ut_prof_opts){ .filter = &filter };
	make_profile(&p, &opts, lines);
	assert_int_equal(p.weight, 6); /* the second and the third */
	ut_prof_release(&p);
	opts = (struct ut_prof_opts){ .event = "cycles" };
	make_profile(&p, &opts, lines);
	assert_int_equal(p.samples, 0);
	assert_int_equal(p.other, 4);
	ut_prof_release(&p);
	ut_filter_release(&filter);
}

/* A name can be copied from a table, where it has as much as tells it from the others. */
static void functions_are_found_as_tables_call_them(void **state)
{
	static const char *const lines[] = { "main;void g<int>(int) 1", "main;void g<char>(char) 2",
					     "main;A::operator[](int) 4", "" };
	static const struct {
		const char *pattern;
		uint64_t weight;
	} cases[] = { { "g", 3 },
		      { "g<*", 3 },
		      { "g<int>", 1 },
		      { "void g<char>(char)", 2 },
		      { "A::operator[]", 4 },
		      { "A::operator[](int)", 4 },
		      { "h", 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ut_prof_opts opts = { .function = cases[i].pattern };
		struct ut_prof p;

		make_profile(&p, &opts, lines);
		assert_int_equal(p.weight, cases[i].weight);
		ut_prof_release(&p);
	}
}

static void tasks_are_those_open_at_the_sample(void **state)
{
	struct ut_prof_opts opts = { .task = "inner" };
	struct ut_hotspots h;
	struct ut_store store;
	struct ut_prof p;
	struct maker m;
	uint32_t t;

	(void)state;
	make_start(&m);
	t = make_track(&m, UT_TRACK_THREAD, 7, "main");
	make_span(&m, t, "outer", 10, 100);
	make_span(&m, t, "inner", 20, 30);
	make_sample(&m, t, 5, "f", 1);
	make_sample(&m, t, 15, "f", 2);
	make_sample(&m, t, 49, "f", 4);
	make_sample(&m, t, 50, "f", 8);
	make_sample(&m, t, 110, "f", 16);
	make_span(&m, t, "again", 200, 100);
	make_span(&m, t, "again", 210, 80);
	make_sample(&m, t, 220, "f", 32);
	make_finish(&m, &store);
	ut_prof_init(&p, &all);
	ut_prof_add(&p, &store);
	ut_prof_finalize(&p);
	ut_hotspots_init(&h, &p, UT_HOT_BY_TASK);
	check_row(&h, "inner", 4, 4);
	check_row(&h, "outer", 10, 14); /* with what was spent inside inner */
	check_row(&h, "again", 32, 32); /* in itself, counted once */
	check_row(&h, "[outside any task]", 17, 17);
	ut_hotspots_release(&h);
	ut_hotspots_init(&h, &p, UT_HOT_BY_THREAD);
	check_row(&h, "main (7)", 63, 63);
	ut_hotspots_release(&h);
	ut_prof_release(&p);
	ut_prof_init(&p, &opts);
	ut_prof_add(&p, &store);
	assert_int_equal(p.weight, 4);
	ut_prof_release(&p);
	opts.task = "out*";
	ut_prof_init(&p, &opts);
	ut_prof_add(&p, &store);
	assert_int_equal(p.weight, 14);
	ut_prof_release(&p);
	ut_store_release(&store);
}

/* ---- trees ----------------------------------------------------------------------------------- */

struct shown {
	const struct ut_call_tree *t;
	char text[1024];
};

static bool show(void *ctx, uint32_t node, uint32_t depth)
{
	struct shown *s = ctx;
	const struct ut_tree_node *n = &s->t->nodes[node];
	const struct ut_prof_frame *f = &s->t->profile->functions[n->function];
	size_t len = strlen(s->text);

	snprintf(s->text + len, sizeof(s->text) - len, "%u%s:%" PRIu64 "/%" PRIu64 " ", depth,
		 ut_prof_text(s->t->profile, f->function).ptr, n->self, n->total);
	return true;
}

static void check_tree(const struct ut_prof *p, enum ut_tree_kind kind, const char *pattern,
		       const char *expected)
{
	struct ut_call_tree t;
	struct shown s = { &t, "" };

	ut_call_tree_init(&t, p, kind, pattern);
	ut_call_tree_walk(&t, show, &s);
	assert_string_equal(s.text, expected);
	ut_call_tree_release(&t);
}

static void trees_are_seen_from_every_side(void **state)
{
	static const char *const lines[] = { "main;a;b 10", "main;a 5", "main;c;b 7", "main;b;b 2",
					     "" };
	struct ut_prof p;

	(void)state;
	make_profile(&p, &all, lines);
	check_tree(&p, UT_TREE_TOP_DOWN, NULL, "0main:0/24 1a:5/15 2b:10/10 1c:0/7 2b:7/7 1b:2/2 ");
	check_tree(&p, UT_TREE_STACKS, NULL,
		   "0main:0/24 1a:5/15 2b:10/10 1c:0/7 2b:7/7 1b:0/2 2b:2/2 ");
	check_tree(&p, UT_TREE_BOTTOM_UP, NULL,
		   "0b:0/19 1a:0/10 2main:10/10 1c:0/7 2main:7/7 1main:2/2 0a:0/5 1main:5/5 ");
	check_tree(&p, UT_TREE_CALLERS, "b",
		   "0b:0/19 1a:0/10 2main:10/10 1c:0/7 2main:7/7 1main:2/2 ");
	check_tree(&p, UT_TREE_CALLEES, "a", "0a:5/15 1b:10/10 ");
	check_tree(&p, UT_TREE_CALLEES, "nobody", "");
	ut_prof_release(&p);
}

static void time_without_samples_is_in_every_tree(void **state)
{
	static const char *const lines[] = { "main;a 10", "[not sampled] 4", "" };
	struct ut_prof p;

	(void)state;
	make_profile(&p, &all, lines);
	check_tree(&p, UT_TREE_TOP_DOWN, NULL, "0main:0/10 1a:10/10 0[not sampled]:4/4 ");
	check_tree(&p, UT_TREE_BOTTOM_UP, NULL, "0a:0/10 1main:10/10 0[not sampled]:4/4 ");
	ut_prof_release(&p);
}

static void what_an_interpreter_does_on_the_way_is_left_out(void **state)
{
	static const char *const lines[] = {
		"_start@/usr/bin/python3;f@t.py:t.py:1;eval@/usr/bin/python3;g@t.py:t.py:2 10",
		"_start@/usr/bin/python3;f@t.py:t.py:1;eval@/usr/bin/python3 3",
		("_start@/usr/bin/python3;f@t.py:t.py:1;eval@/usr/bin/python3;dict@/usr/bin/"
		 "python3 "
		 "4"),
		""
	};
	struct ut_prof p;

	(void)state;
	make_profile(&p, &all, lines);
	check_tree(&p, UT_TREE_TOP_DOWN, NULL, "0f:0/17 1g:10/10 1dict:4/4 1eval:3/3 ");
	check_tree(&p, UT_TREE_BOTTOM_UP, NULL,
		   "0g:0/10 1f:10/10 0dict:0/4 1f:4/4 0eval:0/3 1f:3/3 ");
	ut_prof_release(&p);
}

static void folded_stacks_are_whole(void **state)
{
	static const char *const lines[] = { "main;a;b;b 10", "main;a 5", "x;y 3", "?@lib/z.so 2",
					     "" };
	struct ut_out *out = ut_out_open_memory();
	struct ut_prof p;
	size_t len;

	(void)state;
	make_profile(&p, &all, lines);
	ut_folded_write(out, &p);
	assert_string_equal(ut_out_data(out, &len), "main;a 5\nmain;a;b;b 10\nx;y 3\n[z.so] 2\n");
	ut_out_abandon(out);
	ut_prof_release(&p);
}

/* ---- many ------------------------------------------------------------------------------------ */

#define MANY      3000
#define FUNCTIONS 12

/* Random stacks: the sums of rows and trees are those of plain counting. */
static void sums_are_those_of_plain_counting(void **state)
{
	uint64_t self[FUNCTIONS] = { 0 }, total[FUNCTIONS] = { 0 }, weight = 0, seed = 4711;
	struct ut_call_tree up, down;
	struct ut_hotspots h;
	struct ut_store store;
	struct ut_prof p;
	struct maker m;
	uint32_t track;

	(void)state;
	make_start(&m);
	track = make_track(&m, UT_TRACK_THREAD, 7, "main");
	for (int i = 0; i < MANY; i++) {
		char stack[256] = "";
		bool seen[FUNCTIONS] = { false };
		uint64_t w = make_random(&seed) % 100, f = 0;
		int depth = 1 + (int)(make_random(&seed) % 9);

		for (int d = 0; d < depth; d++) {
			f = make_random(&seed) % FUNCTIONS;
			snprintf(stack + strlen(stack), sizeof(stack) - strlen(stack),
				 "%sf%" PRIu64, d ? ";" : "", f);
			if (!seen[f])
				total[f] += w;
			seen[f] = true;
		}
		self[f] += w;
		weight += w;
		make_sample(&m, track, (uint64_t)i, stack, w);
	}
	make_finish(&m, &store);
	ut_prof_init(&p, &all);
	ut_prof_add(&p, &store);
	ut_prof_finalize(&p);
	assert_int_equal(p.weight, weight);
	ut_hotspots_init(&h, &p, UT_HOT_BY_FUNCTION);
	ut_call_tree_init(&down, &p, UT_TREE_TOP_DOWN, NULL);
	ut_call_tree_init(&up, &p, UT_TREE_BOTTOM_UP, NULL);
	assert_int_equal(down.nodes[0].total, weight);
	assert_int_equal(up.nodes[0].total, weight);
	for (int i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		check_row(&h, name, self[i], total[i]);
		for (uint32_t n = up.nodes[0].first; n; n = up.nodes[n].next) {
			const struct ut_prof_frame *f = &p.functions[up.nodes[n].function];

			if (f->function == text_in(&p, name))
				assert_int_equal(up.nodes[n].total, self[i]);
		}
	}
	ut_call_tree_release(&up);
	ut_call_tree_release(&down);
	ut_hotspots_release(&h);
	ut_prof_release(&p);
	ut_store_release(&store);
}

UT_TESTS(prof)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self_is_where_samples_end_and_total_counts_once),
		cmocka_unit_test(lines_and_modules_are_distinguished),
		cmocka_unit_test(lines_of_python_own_what_they_call),
		cmocka_unit_test(filters_leave_samples_out),
		cmocka_unit_test(functions_are_found_as_tables_call_them),
		cmocka_unit_test(tasks_are_those_open_at_the_sample),
		cmocka_unit_test(trees_are_seen_from_every_side),
		cmocka_unit_test(time_without_samples_is_in_every_tree),
		cmocka_unit_test(what_an_interpreter_does_on_the_way_is_left_out),
		cmocka_unit_test(folded_stacks_are_whole),
		cmocka_unit_test(sums_are_those_of_plain_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
