/* test_nesting.c - tests src/trace/model/nesting.h and src/trace/model/arrows.h on rows made by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/arrows.h"
#include "model/build.h"
#include "model/nesting.h"
#include "support/unit.h"

static uint32_t type_of(struct ut_build *b, const char *name, enum ut_kind kind)
{
	struct ut_type type = { .kind = (uint8_t)kind };

	type.name = ut_strtab_intern_z(&b->store.trace.strings, name);
	return ut_types_intern(&b->store.types, &type);
}

static void add(struct ut_build *b, uint32_t track, enum ut_kind kind, const char *name,
		uint64_t ts, uint64_t val)
{
	ut_build_add(b, track, ts, val, type_of(b, name, kind), 0);
}

static void start(struct ut_build *b)
{
	ut_build_init(b);
	ut_trace_add_process(&b->store.trace, 1);
	for (int i = 0; i < 2; i++)
		ut_trace_add_track(&b->store.trace, 0, UT_TRACK_THREAD);
}

static void begin(struct ut_nesting *p, uint32_t name, uint64_t what)
{
	ut_nesting_begin(p, 7, (struct ut_begun){ .what = what, .name = name });
}

static void an_end_closes_the_innermost_of_its_name(void **state)
{
	struct ut_nesting p = { 0 };

	(void)state;
	begin(&p, 1, 10);
	begin(&p, 2, 20);
	assert_int_equal(ut_nesting_end(&p, 8, 1), 0); /* another number */
	assert_int_equal(ut_nesting_end(&p, 7, 3), 0); /* another name */
	assert_int_equal(ut_nesting_end(&p, 7, 0), 1); /* no name fits all */
	assert_int_equal(ut_nesting_end(&p, 7, 2), 1);
	assert_int_equal(ut_nesting_end(&p, 7, 1), 2); /* and what is inside */
	assert_true(ut_nesting_has(&p, 7, 10));
	assert_int_equal(ut_nesting_take(&p, 7).what, 20);
	assert_int_equal(ut_nesting_look(&p, 7)->what, 10);
	assert_int_equal(ut_nesting_take(&p, 7).what, 10);
	assert_null(ut_nesting_look(&p, 7));
	assert_null(ut_nesting_next(&p, NULL));
	ut_nesting_release(&p);
}

static void an_end_does_not_look_through_everything(void **state)
{
	struct ut_nesting p = { 0 };

	(void)state;
	begin(&p, 1, 1);
	for (uint64_t i = 0; i < UT_NESTING_MOST; i++)
		begin(&p, 2, i);
	assert_int_equal(ut_nesting_end(&p, 7, 1), 0);
	ut_nesting_take(&p, 7);
	assert_int_equal(ut_nesting_end(&p, 7, 1), UT_NESTING_MOST);
	ut_nesting_release(&p);
}

static void arrows_to_spans_that_wait_arrive_with_their_end(void **state)
{
	struct ut_build b;
	struct ut_store s;
	struct ut_arrows a;

	(void)state;
	start(&b);
	add(&b, 0, UT_KIND_SPAN, "wait", 0, 100);
	add(&b, 0, UT_KIND_FLOW_IN, "f", 90, 1);
	add(&b, 1, UT_KIND_SPAN, "source", 50, 10);
	add(&b, 1, UT_KIND_FLOW_OUT, "f", 55, 1);
	ut_build_finish(&b, &s);
	ut_arrows_make(&a, &s, NULL);
	ut_arrows_attach(&a);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.attached_count, 2);
	assert_int_equal(a.attached[0].track, 0);
	assert_int_equal(a.attached[0].how, UT_FLOW_ARRIVES);
	assert_true(a.attached[0].at_end);
	assert_int_equal(a.attached[1].how, UT_FLOW_LEAVES);
	assert_false(a.attached[1].at_end);
	ut_arrows_release(&a);
	ut_store_release(&s);
}

static void a_second_start_makes_no_arrow(void **state)
{
	struct ut_build b;
	struct ut_store s;
	struct ut_arrows a;

	(void)state;
	start(&b);
	add(&b, 0, UT_KIND_SPAN, "all", 0, 100);
	add(&b, 0, UT_KIND_FLOW_OUT, "f", 1, 1);
	add(&b, 0, UT_KIND_FLOW_OUT, "f", 2, 1);
	add(&b, 0, UT_KIND_FLOW_IN, "f", 3, 1);
	ut_build_finish(&b, &s);
	ut_arrows_make(&a, &s, NULL);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.ends[a.list[0].from].ts, 1);
	assert_true(a.ends[1].repeated);
	ut_arrows_release(&a);
	ut_store_release(&s);
}

UT_TESTS(nesting)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_closes_the_innermost_of_its_name),
		cmocka_unit_test(an_end_does_not_look_through_everything),
		cmocka_unit_test(arrows_to_spans_that_wait_arrive_with_their_end),
		cmocka_unit_test(a_second_start_makes_no_arrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
