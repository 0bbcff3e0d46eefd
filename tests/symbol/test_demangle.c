/* test_demangle.c - tests src/record/symbol/demangle.h: names of C++ and Rust. */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static void check(const char *name, const char *expected)
{
	char *text = ut_demangle(name);

	if (!expected) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void names_of_cxx_are_readable(void **state)
{
	(void)state;
	check("_Z3fooi", "foo(int)");
	check("main", NULL);
	check("_start", NULL);
}

static void check_part(const char *name, const char *expected)
{
	char *text = ut_demangle_part(name);

	if (expected)
		assert_string_equal(text ? text : "(nothing)", expected);
	else
		assert_null(text);
	free(text);
}

/* Also of names that the demangler does read: what is shown is a part of what it says. */
static void names_that_nobody_reads_show_their_words(void **state)
{
	(void)state;
	check_part("_Z3fooi", "foo");
	check_part("_ZN1a1b3fooEPKci", "a::b::foo");
	check_part("_ZNK1a1b3fooEv", "a::b::foo");
	check_part("_ZN3c1012function_refIFvPPcPKlllEE11callback_fnIZNS_4loopEvEUlS1_S3_llE_EEvlS1_"
		   "S3_ll",
		   "c10::function_ref<...>::callback_fn<...>");
	check_part("_ZN2at6native12_GLOBAL__N_110sum_kernelILi4ELb1EEEvv",
		   "at::native::(anonymous namespace)::sum_kernel<...>");
	check_part("_ZSt4sortIPiEvT_S1_", "std::sort<...>");
	check_part("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<...>::push_back");
	check_part("_ZN1aC2Ev", "a::a");
	check_part("_ZN1aD1Ev", "a::~a");
	check_part("_ZNK1aclEi", "a::operator()");
	check_part("_ZZN1a4workEiENKUlvE_clEv", "a::work::{lambda}::operator()");
	check_part("_ZN1a4workEi.constprop.0", "a::work");
	check_part("_ZN1aILN1b4kindE1EE4workEv", "a<...>::work");
	check_part("main", NULL);
	check_part("_Z", NULL);
	check_part("_ZN", NULL);
	check_part("_ZN99999fooE", NULL);
}

static void old_names_of_rust_lose_their_hash(void **state)
{
	(void)state;
	check("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	check("_ZN52_$LT$std..path..Path$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
	      "<std::path::Path as core::fmt::Debug>::fmt");
}

static void new_names_of_rust_are_readable(void **state)
{
	(void)state;
	check("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check("_RNvMs_Cs1234_7mycrateNtB4_3Box3get", "<mycrate::Box>::get");
	check("_RNCNvC7mycrate4main0B3_", "mycrate::main::{closure#0}");
	check("_RNCNvC7mycrate4mains_0B3_", "mycrate::main::{closure#1}");
	check("_RINvC3std3memmE", "std::mem::<u32>");
	check("_RNvXCs_1aNtB2_1SNtB2_1T1f", "<a::S as a::T>::f");
	check("_RINvC1a1fAjj4_E", "a::f::<[usize; 4]>");
	check("_RINvC1a1fTlReQShEE", "a::f::<(i32, &str, &mut [u8])>");
	check("_RINvC1a1fFUKCPmEuE", "a::f::<unsafe extern \"C\" fn(*const u32)>");
	check("_RINvC1a1fDNtC1b1TEL_E", "a::f::<dyn b::T>");
	check("_RINvC1a1fKb1_Kj2a_E", "a::f::<true, 42>");
}

static void what_makes_no_sense_is_left_as_it_is(void **state)
{
	static const char deep[] = "_RINvC1a1f";
	char name[2048];

	(void)state;
	check("_R", NULL);
	check("_RNvC", NULL);
	check("_RNvC9mycrate3foo", NULL);
	check("_RNvB_3foo", NULL);   /* refers to itself */
	check("_RNvBzz_3foo", NULL); /* to what is behind it */
	check("_RINvC1a1fL0_E", NULL);
	memset(name, 'R', sizeof(name));
	memcpy(name, deep, strlen(deep));
	name[sizeof(name) - 1] = '\0';
	check(name, NULL);
}

UT_TESTS(demangle)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_cxx_are_readable),
		cmocka_unit_test(names_that_nobody_reads_show_their_words),
		cmocka_unit_test(old_names_of_rust_lose_their_hash),
		cmocka_unit_test(new_names_of_rust_are_readable),
		cmocka_unit_test(what_makes_no_sense_is_left_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
