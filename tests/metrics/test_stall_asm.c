/* test_stall_asm.c - tests src/analysis/metrics/stall_asm.h: what a shader dump says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "metrics/stall_asm.h"
#include "metrics/stall_code.h"
#include "support/unit.h"
#include "text/out.h"

#define DST(i) (UINT64_C(1) << (i))
#define SRC(i) (UINT64_C(1) << (32 + (i)))

static struct ut_arena arena;

static struct ut_code_ins only(const char *line)
{
	struct ut_kernel_code c;
	struct ut_code_ins ins;

	ut_code_init(&c, &arena);
	assert_int_equal(ut_asm_read(&c, ut_str_of(line), "test.asm", NULL), 0);
	assert_int_equal(c.count, 1);
	ins = c.ins[0];
	ut_code_release(&c);
	return ins;
}

static void tokens_are_taken_or_waited_for(void **state)
{
	struct ut_code_ins i;

	(void)state;
	i = only("load.ugm.d32.a64 (32|M0)  r18:2 [r14:4] {I@1,$5} // desc:0x0 // $14\n");
	assert_int_equal(i.sets, DST(5) | SRC(5));
	assert_int_equal(i.waits, 0);
	i = only("sync.nop null {Compacted,$5.dst} // $15");
	assert_int_equal(i.sets, 0);
	assert_int_equal(i.waits, DST(5));
	i = only("(W) add (1|M0) r1 r2 {$0.src} // $4");
	assert_int_equal(i.waits, SRC(0));
	i = only("math.sin (1|M0) r34 r5 {$11.dst,$3} // $83");
	assert_int_equal(i.waits, DST(11));
	assert_int_equal(i.sets, DST(3) | SRC(3));
	i = only("(W) sync.allwr ($1,$5) // $83");
	assert_int_equal(i.waits, DST(1) | DST(5));
	assert_int_equal(i.sets, 0);
	i = only("(W) sync.allrd ($31) // $83");
	assert_int_equal(i.waits, SRC(31));
	i = only("add r1 {$32.dst,$x,$,$999999999999} // no such tokens {$4.dst}");
	assert_int_equal(i.waits | i.sets, 0);
	i = only("mov r1 r2 // $5.dst of a remark");
	assert_int_equal(i.waits | i.sets, 0);
}

static const char loop[] = "//.kernel k\n"
			   "// File: a.cl\n"
			   "// B000: Preds:{},  Succs:{B001}\n"
			   "start:\n"
			   "// Line 7:  x = 1;\n"
			   "mov r1 r2 {Compacted} // $1\n"
			   "// B001: [inDivergent],  Preds:{B000, B001, B999},  Succs:{B001}\n"
			   "// Line 8:  x++;\n"
			   "add r1 r1 // $2\n"
			   "add r1 r1 // $3\n";

static void addresses_lines_and_blocks_are_read(void **state)
{
	struct ut_kernel_code c;

	(void)state;
	ut_code_init(&c, &arena);
	assert_int_equal(ut_asm_read(&c, ut_str_of(loop), "test.asm", NULL), 0);
	assert_int_equal(c.count, 3);
	assert_int_equal(c.block_count, 2);
	assert_int_equal(c.ins[1].address, 8);
	assert_int_equal(c.ins[2].address, 24);
	assert_int_equal(c.ins[0].line, 7);
	assert_int_equal(c.ins[2].line, 8);
	assert_string_equal(c.files[c.ins[2].file].ptr, "a.cl");
	assert_true(ut_str_is(c.ins[0].source, "Line 7:  x = 1;"));
	assert_int_equal(c.blocks[1].pred_count, 2);
	assert_int_equal(c.preds[c.blocks[1].pred], 0);
	assert_int_equal(c.preds[c.blocks[1].pred + 1], 1);
	ut_code_release(&c);
}

static void a_text_without_instructions_is_refused(void **state)
{
	struct ut_kernel_code c;
	struct ut_err err = { 0 };

	(void)state;
	ut_code_init(&c, &arena);
	assert_true(ut_asm_read(&c, ut_str_of("hello\n//.kernel k\n"), "x.asm", &err) < 0);
	assert_non_null(strstr(err.text, "x.asm"));
	ut_code_release(&c);
}

static void what_has_addresses_is_known_and_read_alike(void **state)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_kernel_code c;
	const char *text;
	size_t len;

	(void)state;
	assert_false(ut_asm_addressed(ut_str_of(loop)));
	ut_asm_write(out, ut_str_of(loop));
	text = ut_out_data(out, &len);
	assert_non_null(strstr(text, "\n/* [00000018] */ add r1 r1 // $3\n"));
	assert_non_null(strstr(text, "\nstart:\n"));
	assert_true(ut_asm_addressed((struct ut_str){ text, len }));
	ut_code_init(&c, &arena);
	assert_int_equal(ut_asm_read(&c, (struct ut_str){ text, len }, "test.asm", NULL), 0);
	assert_int_equal(c.ins[2].address, 24);
	assert_true(ut_str_is(c.ins[2].text, "add r1 r1 // $3"));
	ut_code_release(&c);
	ut_out_abandon(out);
}

static void the_name_of_a_kernel_is_one_word(void **state)
{
	(void)state;
	assert_true(ut_str_is(ut_asm_kernel(ut_str_of("//.kernel _ZTS3foo  // more")), "_ZTS3foo"));
	assert_int_equal(ut_asm_kernel(ut_str_of("//.kernel")).len, 0);
	assert_int_equal(ut_asm_kernel(ut_str_of("// .kernel x")).len, 0);
}

static int release(void **state)
{
	(void)state;
	ut_arena_release(&arena);
	return 0;
}

UT_TESTS(stall_asm)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_taken_or_waited_for),
		cmocka_unit_test(addresses_lines_and_blocks_are_read),
		cmocka_unit_test(a_text_without_instructions_is_refused),
		cmocka_unit_test(what_has_addresses_is_known_and_read_alike),
		cmocka_unit_test(the_name_of_a_kernel_is_one_word),
	};

	return cmocka_run_group_tests_name("metrics/stall_asm", tests, NULL, release);
}
