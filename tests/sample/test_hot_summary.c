/* test_hot_summary.c - tests src/analysis/sample/hot_summary.h, whose.h and short_name.h. */
#include "sample/hot_summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/picture.h"
#include "draw/scene.h"
#include "make_samples.h"
#include "sample/flame_scene.h"
#include "sample/hotspots.h"
#include "sample/short_name.h"
#include "sample/whose.h"
#include "support/unit.h"
#include "text/out.h"

static const struct ut_prof_opts all;

static void check_short(const char *name, const char *expected)
{
	struct ut_buf b = { 0 };

	ut_short_name(&b, ut_str_of(name));
	assert_string_equal(b.data, expected);
	ut_buf_release(&b);
}

static void names_are_as_short_as_people_say_them(void **state)
{
	(void)state;
	check_short("main", "main");
	check_short("<module>", "<module>");
	check_short("f.<locals>.<lambda>", "f.<locals>.<lambda>");
	check_short("sorts(int)", "sorts");
	check_short("void std::sort<int*, bool (*)(int, int)>(int*, int*)", "std::sort");
	check_short("std::vector<int, std::allocator<int> >::push_back(int&&)",
		    "std::vector::push_back");
	check_short("(anonymous namespace)::f(int)", "(anonymous namespace)::f");
	check_short("bool a::less::operator()<int*, int*>(int*, int*) const",
		    "a::less::operator()");
	check_short("bool std::operator< <char, std::char_traits<char> >(x const&)",
		    "std::operator<");
	check_short("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<");
	check_short("T::operator->() const", "T::operator->");
	check_short("operator new(unsigned long)", "operator new");
	check_short("main::{lambda(int, int)#1}::operator()(int, int) const",
		    "main::{lambda(int, int)#1}::operator()");
	check_short("<a::S as a::T>::f", "<a::S as a::T>::f");
	check_short("core::slice::sort::<u32>", "core::slice::sort");
	check_short("runtime.mallocgc", "runtime.mallocgc");
	check_short("f(", "f");
	check_short("a<b", "a");
}

static void the_program_is_distinguished_from_libraries(void **state)
{
	static const struct {
		const char *frame;
		bool own;
	} cases[] = {
		{ "f@/home/me/app", true },
		{ "f@/home/me/app:/home/me/app.c:3", true },
		{ "sort@/home/me/app:/usr/include/c++/12/bits/stl_algo.h:3", false },
		{ "f@/usr/lib/x86_64-linux-gnu/libc.so.6", false },
		{ "f@/home/me/venv/lib/python3.11/site-packages/torch/lib/libtorch.so", false },
		{ "f@/home/me/t.py:/home/me/t.py:4", true },
		{ "f@t.py:t.py:4", true },
		{ "f@/usr/lib/python3.11/json/x.py:/usr/lib/python3.11/json/x.py:4", false },
		{ "f@<frozen importlib._bootstrap>:<frozen importlib._bootstrap>:4", false },
		{ "f@<string>:<string>:4", true },
		{ "f@<ipython-input-3-0123abcd>:<ipython-input-3-0123abcd>:4", true },
		{ "f@<attrs generated init x.Y>:<attrs generated init x.Y>:4", false },
		{ "f@/opt/bin/python3.11", false },
		{ "f@/home/me/conda/envs/a/lib/libc.so.6", false },
		{ "f@/apps/spack/gcc-13/lib64/libgomp.so.1.0.0", false },
		{ "f@/home/me/lib/libmine.so", true },
		{ "f@/home/me/app:/home/me/libmpi_helpers.c:3", true },
		{ "f@/opt/intel/oneapi/lib/libsvml.so", false },
		{ "f@[kernel]", false },
		{ "f@anon", false },
		{ "f", false },
	};
	struct ut_prof p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[256];
		const char *lines[] = { line, "" };

		snprintf(line, sizeof(line), "%s 1", cases[i].frame);
		make_profile(&p, &all, lines);
		if (ut_prof_is_own(&p, &p.frames[1]) != cases[i].own)
			fail_msg("%s", cases[i].frame);
		ut_prof_release(&p);
	}
}

/* As if each of the samples had been taken many times. */
static void make_many(struct ut_prof *p, const char *const *lines)
{
	make_profile(p, &all, lines);
	p->samples *= 100;
}

static void check_summary(const char *const *lines, const char *say, const char *why)
{
	struct ut_hot_summary v;
	struct ut_prof p;

	make_many(&p, lines);
	ut_hot_summary_init(&v, &p);
	assert_true(v.count > 0);
	assert_string_equal(v.lines[0].say.data, say);
	assert_string_equal(v.lines[0].why.len ? v.lines[0].why.data : "", why);
	ut_hot_summary_release(&v);
	ut_prof_release(&p);
}

static void a_short_run_is_evaluated_without_its_imports(void **state)
{
	static const char *const lines[] = {
		("_find_and_load@<frozen importlib._bootstrap>:<frozen importlib._bootstrap>:9;"
		 "load@/usr/lib/python3/x.py:/usr/lib/python3/x.py:1 600"),
		"work@/a/t.py:/a/t.py:4 70",
		"idle@/usr/lib/libz.so 140",
		"other@/usr/lib/libz.so 190",
		"",
	};
	struct ut_hot_summary v;
	struct ut_prof p;

	(void)state;
	make_many(&p, lines);
	ut_hot_summary_init(&v, &p);
	assert_int_equal(v.count, 2);
	assert_non_null(strstr(v.lines[0].say.data, "importing Python modules"));
	assert_string_equal(v.lines[1].say.data, "work (t.py:4) takes 7.0% of 1.00 us of CPU time");
	ut_hot_summary_release(&v);
	ut_prof_release(&p);
}

static void the_program_is_blamed_for_what_it_calls(void **state)
{
	static const char *const lines[] = {
		"main@/a/app:/a/m.c:5;work@/a/app:/a/w.c:7;memcpy@/lib/libc.so.6 600",
		"main@/a/app:/a/m.c:5;work@/a/app:/a/w.c:9 150",
		"main@/a/app:/a/m.c:6;memcpy@/lib/libc.so.6 250",
		"",
	};

	(void)state;
	check_summary(lines, "work (w.c:7) takes 75.0% of 1.00 us of CPU time",
		      "80% of that in memcpy, called from main");
}

static void what_is_between_it_and_its_caller_is_said(void **state)
{
	static const char *const most[] = {
		"main@/a/app;qsort@/lib/libc.so.6;msort@/lib/libc.so.6;less@/a/app:/a/m.c:3 70",
		"main@/a/app;less@/a/app:/a/m.c:3 30",
		"",
	};
	static const char *const half[] = {
		"main@/a/app;qsort@/lib/libc.so.6;less@/a/app:/a/m.c:3 50",
		"main@/a/app;less@/a/app:/a/m.c:3 50",
		"",
	};
	static const char *const script[] = {
		"f@t.py:t.py:1;_PyEval_Vector@/usr/bin/python3.11;g@t.py:t.py:4 100",
		"",
	};

	(void)state;
	check_summary(most, "less (m.c:3) takes 100.0% of 100 ns of CPU time",
		      "called from main through qsort");
	check_summary(half, "less (m.c:3) takes 100.0% of 100 ns of CPU time", "called from main");
	check_summary(script, "g (t.py:4) takes 100.0% of 100 ns of CPU time", "called from f");
}

static void without_own_code_the_heaviest_is_reported(void **state)
{
	static const char *const lines[] = { "a;b 30", "a;c 70", "" };

	(void)state;
	check_summary(lines, "c takes 70.0% of 100 ns of CPU time", "called from a");
}

static void causes_have_names(void **state)
{
	static const char *const lines[] = {
		"f@t.py:t.py:1 19",
		"f@t.py:t.py:1;_find_and_load@<frozen importlib._bootstrap>:x:1;g@/usr/lib/x.so 60",
		"gomp_wait@/usr/lib/libgomp.so.1 21",
		"",
	};
	struct ut_hot_summary v;
	struct ut_prof p;

	(void)state;
	make_many(&p, lines);
	ut_hot_summary_init(&v, &p);
	assert_int_equal(v.count, 3);
	assert_non_null(strstr(v.lines[0].say.data, "60.0% (60 ns) is spent importing"));
	ut_hot_summary_release(&v);
	ut_prof_release(&p);
}

static void a_cause_of_more_than_half_comes_first(void **state)
{
	static const char *const lines[] = {
		"f@t.py:t.py:1 10",
		"f@t.py:t.py:1;libgomp.so.1+0x1dfd0@/usr/lib/libgomp.so.1 15",
		"f@t.py:t.py:1;libgomp.so.1+0x1de20@/usr/lib/libgomp.so.1 5",
		"libgomp.so.1+0x1de20@/usr/lib/libgomp.so.1 45",
		"other@/usr/lib/x.so 25",
		"",
	};
	struct ut_hot_summary v;
	struct ut_prof p;

	(void)state;
	make_many(&p, lines);
	ut_hot_summary_init(&v, &p);
	assert_int_equal(v.count, 2);
	assert_non_null(strstr(v.lines[0].say.data, "65.0% (65 ns) is spent in the OpenMP"));
	assert_non_null(strstr(v.lines[1].say.data, "f (t.py:1) takes 30.0% of 100 ns"));
	/* functions without a name are told by their library, together */
	assert_string_equal(v.lines[1].why.data, "67% of that in libgomp.so.1");
	ut_hot_summary_release(&v);
	ut_prof_release(&p);
}

static void libraries_count_for_the_functions_that_call_them(void **state)
{
	static const char *const lines[] = {
		"main@/home/me/app;work@/home/me/app 10",
		"main@/home/me/app;work@/home/me/app;sort@/usr/lib/x.so 30",
		"main@/home/me/app 5",
		"start@/usr/lib/x.so 55",
		"",
	};
	struct ut_hotspots h;
	struct ut_buf name = { 0 };
	struct ut_prof p;

	(void)state;
	make_profile(&p, &all, lines);
	ut_hotspots_init(&h, &p, UT_HOT_BY_OWN);
	assert_int_equal(h.count, 3);
	assert_int_equal(h.rows[0].self, 55);
	ut_hot_row_name(&h, &h.rows[0], &name);
	assert_string_equal(name.data, "[outside the program's own code]");
	assert_int_equal(h.rows[1].self, 40);
	assert_int_equal(h.rows[2].self, 5);
	assert_int_equal(h.rows[2].total, 45);
	assert_int_equal(ut_hotspots_for_own(&p), 30);
	ut_hotspots_release(&h);
	ut_buf_release(&name);
	ut_prof_release(&p);
}

/* One sample of a hundred levels among thousands: no reason for a page that is mostly white. */
static void a_hair_makes_no_flame_graph_higher(void **state)
{
	static char deep[4096] = "main";
	const char *lines[] = { "main;a 1000", deep, "" };
	struct ut_out *out = ut_out_open_memory();
	struct ut_scene *s;
	struct ut_prof p;
	size_t len;

	(void)state;
	for (int i = 0; i < 100; i++)
		snprintf(deep + strlen(deep), sizeof(deep) - strlen(deep), ";deep_%d", i);
	snprintf(deep + strlen(deep), sizeof(deep) - strlen(deep), " 1");
	make_profile(&p, &all, lines);
	s = ut_flame_scene(&p, NULL);
	assert_int_equal(ut_picture_write(s, UT_PICTURE_SVG, out, NULL), 0);
	assert_null(strstr(ut_out_data(out, &len), "deep_50"));
	ut_scene_free(s);
	ut_out_abandon(out);
	ut_prof_release(&p);
}

static void a_flame_graph_has_a_box_for_each_function(void **state)
{
	static const char *const lines[] = { "main;a;b 10", "main;a 5", "main;<script> 7", "" };
	static const char *const before[] = { "main;a 10", "" };
	struct ut_out *out = ut_out_open_memory();
	struct ut_prof p, q;
	struct ut_scene *s;
	const char *svg;
	size_t len;

	(void)state;
	make_profile(&p, &all, lines);
	make_profile(&q, &all, before);
	s = ut_flame_scene(&p, NULL);
	assert_int_equal(ut_picture_write(s, UT_PICTURE_SVG, out, NULL), 0);
	svg = ut_out_data(out, &len);
	assert_non_null(strstr(svg, "b: 45.45%, 10 ns; self 10 ns"));
	assert_non_null(strstr(svg, "&lt;script&gt;"));
	assert_null(strstr(svg, "<script>"));
	ut_scene_free(s);
	ut_out_clear(out);
	s = ut_flame_scene(&p, &q);
	assert_int_equal(ut_picture_write(s, UT_PICTURE_SVG, out, NULL), 0);
	svg = ut_out_data(out, &len);
	assert_non_null(strstr(svg, "a: 68.18%, 15 ns; self 5 ns; 100.00% before"));
	assert_non_null(strstr(svg, "b: 45.45%, 10 ns; self 10 ns; 0.00% before"));
	ut_scene_free(s);
	ut_out_abandon(out);
	ut_prof_release(&p);
	ut_prof_release(&q);
}

static void few_samples_say_nothing(void **state)
{
	static const char *const lines[] = { "main@/a/app;work@/a/app 1000000",
					     "main@/a/app;rest@/a/app 1000000", "" };
	struct ut_hot_summary v;
	struct ut_prof p;

	(void)state;
	make_profile(&p, &all, lines);
	p.elapsed = UINT64_C(3000000000);
	p.did = (struct ut_prof_did){ .known = true, .ran = 2000000, .waited = 2998000000u };
	p.did.waits[0].name = text_in(&p, "waiting: lock");
	p.did.waits[0].ns = 1000000;
	p.did.waits[1].name = text_in(&p, "waiting: sleep");
	p.did.waits[1].ns = 2997000000u;
	ut_hot_summary_init(&v, &p);
	assert_int_equal(v.count, 1);
	assert_string_equal(v.lines[0].say.data, "too few samples to say what takes the time: 2 in "
						 "2.00 ms of CPU time, of a run of 3.00 s");
	assert_string_equal(v.lines[0].why.data,
			    "its threads waited 99.9% of their time (sleep 99.9%)");
	ut_hot_summary_release(&v);
	p.samples = 2000;
	ut_hot_summary_init(&v, &p);
	assert_null(strstr(v.lines[0].say.data, "too few"));
	ut_hot_summary_release(&v);
	ut_prof_release(&p);
}

static void time_without_samples_is_said(void **state)
{
	static const char *const most[] = { "[not sampled] 900", "main@/a/app;work@/a/app 100",
					    "" };
	static const char *const some[] = { "[not sampled] 100", "main@/a/app;work@/a/app 900",
					    "" };
	struct ut_hot_summary v;
	struct ut_hotspots h;
	struct ut_prof p;

	(void)state;
	make_many(&p, most);
	assert_int_equal(p.none, 900);
	assert_int_equal(p.samples, 100);
	ut_hot_summary_init(&v, &p);
	assert_int_equal(v.count, 2);
	assert_string_equal(v.lines[0].say.data, "90.0% of the CPU time (900 ns) has no sample");
	assert_non_null(strstr(v.lines[1].say.data, "work takes 10.0% of 1.00 us"));
	ut_hot_summary_release(&v);
	p.did.waited = 1000000; /* of processes that wait for others */
	ut_hot_summary_init(&v, &p);
	assert_non_null(strstr(v.lines[0].say.data, "has no sample"));
	ut_hot_summary_release(&v);
	ut_hotspots_init(&h, &p, UT_HOT_BY_OWN);
	assert_int_equal(h.count, 3); /* it is nobody's: neither the program's nor a library's */
	assert_int_equal(h.rows[0].self, 900);
	ut_hotspots_release(&h);
	ut_prof_release(&p);
	make_many(&p, some);
	ut_hot_summary_init(&v, &p);
	assert_non_null(strstr(v.lines[0].say.data, "work takes 90.0%"));
	assert_string_equal(v.lines[1].say.data, "10.0% of the CPU time (100 ns) has no sample");
	ut_hot_summary_release(&v);
	ut_prof_release(&p);
}

static void check_names(const char *const *names, const char *const *expected)
{
	struct ut_str strings[8] = { { 0 } };
	uint8_t parts[8];
	size_t count = 0;

	for (; names[count]; count++)
		strings[count] = ut_str_of(names[count]);
	ut_name_parts(strings, count, parts);
	for (size_t i = 0; i < count; i++) {
		struct ut_buf b = { 0 };

		ut_name_part(&b, strings[i], (enum ut_name_part)parts[i]);
		assert_string_equal(b.data, expected[i]);
		ut_buf_release(&b);
	}
}

static void names_are_long_enough_to_be_distinguished(void **state)
{
	static const char *const templates[] = { "W<1>::go(double)", "W<3>::go(double)",
						 "other<int>(int)", "W<1>::go(double)", NULL };
	static const char *const overloads[] = { "f(int)", "f(double)", "double g<int>(int)",
						 "double g<char>(int)", NULL };

	(void)state;
	check_names(templates,
		    (const char *const[]){ "W<1>::go", "W<3>::go", "other", "W<1>::go" });
	check_names(overloads, (const char *const[]){ "f(int)", "f(double)", "g<int>", "g<char>" });
}

UT_TESTS(hot_summary)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_as_short_as_people_say_them),
		cmocka_unit_test(the_program_is_distinguished_from_libraries),
		cmocka_unit_test(the_program_is_blamed_for_what_it_calls),
		cmocka_unit_test(a_short_run_is_evaluated_without_its_imports),
		cmocka_unit_test(what_is_between_it_and_its_caller_is_said),
		cmocka_unit_test(without_own_code_the_heaviest_is_reported),
		cmocka_unit_test(causes_have_names),
		cmocka_unit_test(few_samples_say_nothing),
		cmocka_unit_test(time_without_samples_is_said),
		cmocka_unit_test(names_are_long_enough_to_be_distinguished),
		cmocka_unit_test(a_cause_of_more_than_half_comes_first),
		cmocka_unit_test(libraries_count_for_the_functions_that_call_them),
		cmocka_unit_test(a_hair_makes_no_flame_graph_higher),
		cmocka_unit_test(a_flame_graph_has_a_box_for_each_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
