/* test_stall_code.c - tests src/analysis/metrics/stall_code.h: blocks, and walks backwards through
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "metrics/stall_code.h"
#include "support/unit.h"

#define MOST 4096

struct seen {
	uint32_t ins[MOST];
	size_t count;
	uint32_t end; /* paths end there */
};

static bool note(void *ctx, uint32_t ins)
{
	struct seen *s = ctx;

	assert_true(s->count < MOST);
	s->ins[s->count++] = ins;
	return ins != s->end;
}

/* n blocks of two instructions each, all with token 0. */
static void make(struct ut_kernel_code *c, struct ut_arena *a, uint32_t n)
{
	ut_code_init(c, a);
	for (uint32_t b = 0; b < n; b++) {
		ut_code_add_block(c);
		for (uint32_t i = 0; i < 2; i++) {
			struct ut_code_ins *ins = ut_code_add(c);

			ins->address = (2 * b + i) * 16;
			ins->sets = 1;
		}
	}
}

static void walk(struct ut_kernel_code *c, uint32_t from, uint64_t tokens, uint64_t steps,
		 struct seen *s)
{
	struct ut_code_walk w;

	s->count = 0;
	ut_code_walk_init(&w, c, steps);
	ut_code_back(&w, c, from, tokens, note, s);
}

static void a_walk_goes_backwards_nearest_first(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_kernel_code c;
	struct seen s = { .end = UT_CODE_NONE };

	(void)state;
	make(&c, &a, 3);
	ut_code_edge(&c, 0, 1);
	ut_code_edge(&c, 1, 2);
	ut_code_finish(&c);
	walk(&c, 5, 1, 1000, &s);
	assert_int_equal(s.count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(s.ins[i], 4 - i);
	ut_code_release(&c);
	ut_arena_release(&a);
}

static void a_loop_brings_an_instruction_to_itself_once(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_kernel_code c;
	struct seen s = { .end = UT_CODE_NONE };

	(void)state;
	make(&c, &a, 1);
	ut_code_edge(&c, 0, 0);
	ut_code_finish(&c);
	walk(&c, 1, 1, 1000, &s);
	assert_int_equal(s.count, 3);
	assert_int_equal(s.ins[0], 0);
	assert_int_equal(s.ins[1], 1);
	assert_int_equal(s.ins[2], 0);
	ut_code_release(&c);
	ut_arena_release(&a);
}

static void diamonds_are_walked_through_once(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_kernel_code c;
	struct seen s = { .end = UT_CODE_NONE };
	uint32_t n = 301; /* 100 diamonds: 2^100 paths */

	(void)state;
	make(&c, &a, n);
	for (uint32_t b = 0; b + 3 < n; b += 3) {
		ut_code_edge(&c, b, b + 1);
		ut_code_edge(&c, b, b + 2);
		ut_code_edge(&c, b + 1, b + 3);
		ut_code_edge(&c, b + 2, b + 3);
	}
	ut_code_finish(&c);
	walk(&c, 2 * n - 1, 1, 100000, &s);
	assert_int_equal(s.count, 2 * n - 1);
	ut_code_release(&c);
	ut_arena_release(&a);
}

static void a_path_ends_where_the_visitor_says(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_kernel_code c;
	struct seen s = { .end = 3 };

	(void)state;
	make(&c, &a, 4); /* 0 -> 1 -> 3, 0 -> 2 -> 3 */
	ut_code_edge(&c, 0, 1);
	ut_code_edge(&c, 1, 3);
	ut_code_edge(&c, 0, 2);
	ut_code_edge(&c, 2, 3);
	ut_code_edge(&c, 9, 3); /* no such block */
	ut_code_finish(&c);
	walk(&c, 6, 1, 1000, &s);
	assert_int_equal(s.count, 5); /* 3 | 5 4 1 0 */
	assert_int_equal(s.ins[0], 3);
	assert_int_equal(s.ins[1], 5);
	assert_int_equal(s.ins[4], 0);
	ut_code_release(&c);
	ut_arena_release(&a);
}

static void blocks_without_the_token_are_stepped_over(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_kernel_code c;
	struct seen s = { .end = UT_CODE_NONE };

	(void)state;
	make(&c, &a, 3);
	c.ins[2].sets = c.ins[3].sets = 0;
	ut_code_edge(&c, 0, 1);
	ut_code_edge(&c, 1, 2);
	ut_code_finish(&c);
	walk(&c, 4, 1, 1000, &s);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.ins[0], 1);
	ut_code_release(&c);
	ut_arena_release(&a);
}

static void steps_are_limited(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_kernel_code c;
	struct seen s = { .end = UT_CODE_NONE };

	(void)state;
	make(&c, &a, 1000);
	for (uint32_t b = 1; b < 1000; b++)
		ut_code_edge(&c, b - 1, b);
	ut_code_finish(&c);
	walk(&c, 1999, 1, 10, &s);
	assert_true(s.count <= 10 && s.count >= 5);
	ut_code_release(&c);
	ut_arena_release(&a);
}

static void instructions_are_found_by_address(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_kernel_code c;

	(void)state;
	make(&c, &a, 5);
	ut_code_finish(&c);
	assert_int_equal(ut_code_at(&c, 0x30), 3);
	assert_int_equal(ut_code_at(&c, 0x31), UT_CODE_NONE);
	assert_int_equal(ut_code_at(&c, 0x1000), UT_CODE_NONE);
	assert_int_equal(ut_code_file(&c, ut_str_of("a.cl")), 1);
	assert_int_equal(ut_code_file(&c, ut_str_of("b.cl")), 2);
	assert_int_equal(ut_code_file(&c, ut_str_of("a.cl")), 1);
	assert_int_equal(ut_code_file(&c, ut_str_of("")), 0);
	ut_code_release(&c);
	ut_arena_release(&a);
}

UT_TESTS(stall_code)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_goes_backwards_nearest_first),
		cmocka_unit_test(a_loop_brings_an_instruction_to_itself_once),
		cmocka_unit_test(diamonds_are_walked_through_once),
		cmocka_unit_test(a_path_ends_where_the_visitor_says),
		cmocka_unit_test(blocks_without_the_token_are_stepped_over),
		cmocka_unit_test(steps_are_limited),
		cmocka_unit_test(instructions_are_found_by_address),
	};

	return cmocka_run_group_tests_name("metrics/stall_code", tests, NULL, NULL);
}
