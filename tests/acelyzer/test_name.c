/* test_name.c - tests src/analysis/acelyzer/name.h: what names say, and how they are shortened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/name.h"
#include "support/unit.h"

struct fixture {
	struct ut_ace_table t;
	struct ut_ace_names n;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ 0 };
	ut_ace_table_init(&f.t);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ut_ace_names_release(&f->n);
	ut_ace_table_release(&f->t);
	return 0;
}

static uint64_t flags(struct fixture *f, const char *name)
{
	return ut_ace_name_flags(&f->n, &f->t, ut_strtab_intern_z(&f->t.strings, name));
}

static void spell(struct fixture *f,
		  uint32_t (*how)(struct ut_ace_names *, struct ut_ace_table *, uint32_t),
		  const char *name, const char *expected)
{
	uint32_t id = how(&f->n, &f->t, ut_strtab_intern_z(&f->t.strings, name));

	assert_string_equal(ut_ace_str(&f->t, id).ptr, expected);
	/* and once more, from what is remembered */
	id = how(&f->n, &f->t, ut_strtab_intern_z(&f->t.strings, name));
	assert_string_equal(ut_ace_str(&f->t, id).ptr, expected);
}

static void a_name_says_which_interval_it_is_about(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ut_ace_name_part(flags(f, "mul_3_in DmaI")), 0);
	assert_int_equal(ut_ace_name_part(flags(f, "mul_3 Cmpt Prep")), 1);
	assert_int_equal(ut_ace_name_part(flags(f, "mul_3 Cmpt Exec")), 2);
	assert_int_equal(ut_ace_name_part(flags(f, "mul_3_out DmaO")), 3);
	assert_int_equal(ut_ace_name_part(flags(f, "x DmaI Cmpt Exec")), 0);
	assert_int_equal(ut_ace_name_part(flags(f, "xDmaI")), -1);
	assert_int_equal(ut_ace_name_part(flags(f, "Cmpt Exec")), -1); /* no blank before it */
}

static void globals_are_recognized_by_any_of_ten_words(void **state)
{
	struct fixture *f = *state;

	assert_true(flags(f, "xx HostPrep yy") & UT_ACE_NAME(GLOBAL));
	assert_true(flags(f, "Flex RoundTrip") & UT_ACE_NAME(GLOBAL));
	assert_false(flags(f, "Execute Graph") & UT_ACE_NAME(GLOBAL)); /* case counts */
}

static void numbers_go_with_the_underscore_before_them(void **state)
{
	struct fixture *f = *state;

	spell(f, ut_ace_name_bare, "max_pool2d_with_indices Cmpt Exec",
	      "max_poold_with_indices Cmpt Exec");
	spell(f, ut_ace_name_bare, "addmm_12_MatMul_3 Cmpt Exec", "addmm_MatMul Cmpt Exec");
	spell(f, ut_ace_name_bare, "convV2_7", "convV2");
	spell(f, ut_ace_name_bare, "relu", "relu");
	spell(f, ut_ace_name_bare, "12ab3", "ab");
	spell(f, ut_ace_name_bare, "_1", "_1"); /* nothing would be left */
	assert_true(flags(f, "convV2") & UT_ACE_NAME(NUMBERED));
	assert_false(flags(f, "12") & UT_ACE_NAME(NUMBERED));
}

static void the_summary_writes_numbers_as_n(void **state)
{
	struct fixture *f = *state;

	spell(f, ut_ace_name_numbered, "addmm_2_MatMul-3 Cmpt Exec",
	      "addmm_[N]_MatMul_[N] Cmpt Exec");
	spell(f, ut_ace_name_numbered, "max_pool2d Cmpt Exec", "max_pool2d Cmpt Exec");
	spell(f, ut_ace_name_numbered, "a__1", "a__[N]");
}

static void rdma_and_receive_have_one_spelling(void **state)
{
	struct fixture *f = *state;

	spell(f, ut_ace_name_unified, "SenRDMAReceive_8 DmaI", "SenRdmaRecv_8 DmaI");
	spell(f, ut_ace_name_unified, "RDMARDMA", "RdmaRdma");
	spell(f, ut_ace_name_unified, "Recv", "Recv");
}

UT_TESTS(name)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_name_says_which_interval_it_is_about, setup,
						teardown),
		cmocka_unit_test_setup_teardown(globals_are_recognized_by_any_of_ten_words, setup,
						teardown),
		cmocka_unit_test_setup_teardown(numbers_go_with_the_underscore_before_them, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_summary_writes_numbers_as_n, setup, teardown),
		cmocka_unit_test_setup_teardown(rdma_and_receive_have_one_spelling, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("acelyzer/name", tests, NULL, NULL);
}
