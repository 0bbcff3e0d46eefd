/* test_read_input.c - tests src/analysis/acelyzer/read_input.h: files as tables, proper and broken
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/event_arg.h"
#include "acelyzer/read_input.h"
#include "support/unit.h"

static int read_it(struct ut_ace_part *p, const char *text, enum ut_ace_release release)
{
	struct ut_err err = { 0 };

	return ut_ace_read_text(p, "x.json", text, strlen(text), release, &err);
}

static const struct ut_ace_event *event(const struct ut_ace_part *p, size_t i)
{
	assert_true(i < p->table.event_count);
	return &p->table.events[i];
}

static const char *name(const struct ut_ace_part *p, size_t i)
{
	return ut_ace_str(&p->table, event(p, i)->name).ptr;
}

static void a_pair_of_b_and_e_is_one_span_with_the_arguments_of_b(void **state)
{
	struct ut_ace_part p;
	struct ut_arg arg;

	(void)state;
	assert_int_equal(
		read_it(&p,
			"[{\"attr\":{\"k\":\"v\"},\"name\":\"a\",\"ph\":\"B\",\"pid\":1,\"tid\":2,"
			"\"ts\":10.5},{\"attr\":{\"k\":\"w\"},\"name\":\"a\",\"ph\":\"E\",\"pid\":"
			"1,"
			"\"tid\":9,\"ts\":12.75}]",
			UT_ACE_1_0),
		0);
	assert_int_equal(p.table.event_count, 1);
	assert_int_equal(event(&p, 0)->ph, 'X');
	assert_true(event(&p, 0)->ts == 10.5);
	assert_true(event(&p, 0)->dur == 2.25);
	assert_true(event(&p, 0)->flags & UT_ACE_IN_ATTR);
	assert_true(ut_ace_arg(&p.table, event(&p, 0)->args,
			       ut_strtab_intern_z(&p.table.strings, "k"), &arg));
	assert_string_equal(ut_ace_str(&p.table, arg.value.str).ptr, "v");
	ut_ace_part_release(&p);
}

static void nested_and_interleaved_pairs_find_each_other_by_thread_and_name(void **state)
{
	struct ut_ace_part p;

	(void)state;
	assert_int_equal(read_it(&p,
				 "[{\"name\":\"a\",\"ph\":\"B\",\"pid\":0,\"tid\":1,\"ts\":1},"
				 "{\"name\":\"b\",\"ph\":\"B\",\"pid\":0,\"tid\":1,\"ts\":2},"
				 "{\"name\":\"o\",\"ph\":\"B\",\"pid\":0,\"tid\":2,\"ts\":2.5},"
				 "{\"name\":\"a\",\"ph\":\"E\",\"pid\":0,\"tid\":1,\"ts\":3},"
				 "{\"name\":\"b\",\"ph\":\"E\",\"pid\":0,\"tid\":1,\"ts\":4},"
				 "{\"ph\":\"E\",\"pid\":0,\"tid\":2,\"ts\":5},"
				 "{\"name\":\"zz\",\"ph\":\"E\",\"pid\":0,\"tid\":1,\"ts\":6},"
				 "{\"name\":\"open\",\"ph\":\"B\",\"pid\":0,\"tid\":1,\"ts\":7}]",
				 UT_ACE_1_0),
			 0);
	assert_int_equal(p.table.event_count, 4);
	assert_string_equal(name(&p, 0), "a");
	assert_true(event(&p, 0)->dur == 2);
	assert_true(event(&p, 1)->dur == 2);
	assert_true(event(&p, 2)->dur == 2.5);
	assert_int_equal(p.stray_ends, 1);
	assert_int_equal(p.open_begins, 1);
	assert_true(event(&p, 3)->flags & UT_ACE_DROP);
	ut_ace_part_release(&p);
}

/* The same span with stamps written in all the ways there are. */
static void stamps_may_be_decimal_hex_octal_binary_or_numbers(void **state)
{
	struct ut_ace_part p;
	const struct ut_ace_dev *d;

	(void)state;
	assert_int_equal(read_it(&p,
				 "[{\"name\":\"k\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":1,"
				 "\"dur\":2,\"args\":{\"TS1\":\"100\",\"TS2\":\"0x6e\","
				 "\"TS3\":\"0o170\",\"TS4\":\"0b10000010\",\"TS5\":140,"
				 "\"Power\":\"0xff\",\"x\":1}}]",
				 UT_ACE_1_0),
			 0);
	assert_int_equal(event(&p, 0)->dev, 1);
	d = &p.table.devs[1];
	for (int i = 0; i < UT_ACE_STAMPS; i++)
		assert_int_equal(d->ts[i], 100 + 10 * i);
	assert_true(d->power == 255);
	assert_true(d->flags & UT_ACE_DEV_POWER_SHOW);
	ut_ace_part_release(&p);
}

static void without_five_good_stamps_it_is_a_host_event(void **state)
{
	struct ut_ace_part p;
	struct ut_arg arg;

	(void)state;
	assert_int_equal(read_it(&p,
				 "[{\"name\":\"k\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":1,"
				 "\"dur\":2,\"args\":{\"TS1\":\"0x10\",\"TS2\":\"oops\"}}]",
				 UT_ACE_1_0),
			 0);
	assert_int_equal(event(&p, 0)->dev, 0);
	assert_int_equal(p.bad_stamps, 1);
	assert_true(ut_ace_arg(&p.table, event(&p, 0)->args, UT_ACE_K_TS1, &arg));
	assert_string_equal(ut_ace_str(&p.table, arg.value.str).ptr, "16");
	assert_true(ut_ace_arg(&p.table, event(&p, 0)->args, UT_ACE_K_TS2, &arg));
	assert_string_equal(ut_ace_str(&p.table, arg.value.str).ptr, "oops");
	ut_ace_part_release(&p);
}

static void an_object_gives_dialect_rank_and_what_to_pass_on(void **state)
{
	struct ut_ace_part p;

	(void)state;
	assert_int_equal(read_it(&p,
				 "{\"traceEvents\":[{\"name\":\"k\",\"ph\":\"i\",\"pid\":0,"
				 "\"ts\":1}],\"distributedInfo\":{\"backend\":\"gloo\",\"rank\":3},"
				 "\"deviceProperties\":[ {\"id\":0} ],\"schemaVersion\":1}",
				 UT_ACE_1_0),
			 0);
	assert_int_equal(p.dialect, UT_ACE_TORCH);
	assert_int_equal(p.rank, 3);
	assert_int_equal(p.meta_count, 2);
	assert_string_equal(p.meta[0].key, "deviceProperties");
	assert_string_equal(p.meta[0].json, "[{\"id\":0}]");
	assert_string_equal(p.meta[1].json, "1");
	ut_ace_part_release(&p);
}

static void our_own_output_is_recognised(void **state)
{
	struct ut_ace_part p;

	(void)state;
	assert_int_equal(read_it(&p,
				 "{\"otherData\":{\"Application\":\"Acelyzer: x\"},"
				 "\"traceEvents\":[]}",
				 UT_ACE_1_0),
			 0);
	assert_true(p.processed);
	ut_ace_part_release(&p);
}

static void a_cut_file_gives_what_is_complete(void **state)
{
	const char *text =
		"[{\"name\":\"a\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":1,\"dur\":1},\n"
		"{\"name\":\"b\",\"ph\":\"X\",\"pi";
	struct ut_ace_part p;

	(void)state;
	assert_int_equal(read_it(&p, text, UT_ACE_1_0), 0);
	assert_int_equal(p.table.event_count, 1);
	assert_int_equal(p.cut_at, strlen(text));
	ut_ace_part_release(&p);
}

static void garbage_is_one_line_with_the_place(void **state)
{
	struct ut_ace_part p;
	struct ut_err err = { 0 };

	(void)state;
	assert_true(ut_ace_read_text(&p, "x.json", "[{\"a\" 1}]", 9, UT_ACE_1_0, &err) < 0);
	assert_non_null(strstr(err.text, "x.json: offset"));
	assert_null(strchr(err.text, '\n'));
}

static void lengths_that_make_no_sense_are_counted(void **state)
{
	const char *text = "[{\"name\":\"z\",\"ph\":\"B\",\"pid\":0,\"tid\":1,\"ts\":5},"
			   "{\"name\":\"z\",\"ph\":\"E\",\"pid\":0,\"tid\":1,\"ts\":5},"
			   "{\"name\":\"n\",\"ph\":\"B\",\"pid\":0,\"tid\":1,\"ts\":5},"
			   "{\"name\":\"n\",\"ph\":\"E\",\"pid\":0,\"tid\":1,\"ts\":4},"
			   "{\"name\":\"d\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":5}]";
	struct ut_ace_part p;

	(void)state;
	assert_int_equal(read_it(&p, text, UT_ACE_1_0), 0);
	assert_int_equal(p.negative, 1);
	assert_int_equal(p.no_length, 1);
	assert_true(event(&p, 0)->flags & UT_ACE_DROP); /* release 1.0 drops a pair of no length */
	ut_ace_part_release(&p);
	assert_int_equal(read_it(&p, text, UT_ACE_1_2), 0);
	assert_false(event(&p, 0)->flags & UT_ACE_DROP);
	ut_ace_part_release(&p);
}

static void ids_of_any_kind_are_kept(void **state)
{
	struct ut_ace_part p;

	(void)state;
	assert_int_equal(
		read_it(&p,
			"[{\"name\":\"a\",\"ph\":\"X\",\"pid\":\" 12 \",\"ts\":1,\"dur\":1,"
			"\"tid\":15514734831341844875},"
			"{\"name\":\"b\",\"ph\":\"i\",\"pid\":\"12\",\"tid\":2.5,\"ts\":1},"
			"{\"name\":\"c\",\"ph\":\"X\",\"pid\":2.9,\"tid\":-7,\"ts\":1,"
			"\"dur\":1}]",
			UT_ACE_1_0),
		0);
	assert_int_equal(p.table.ids[event(&p, 0)->pid].num, 12);
	assert_int_equal(p.table.ids[event(&p, 0)->tid].kind, UT_ACE_ID_U64);
	assert_int_equal(p.table.ids[event(&p, 1)->pid].kind, UT_ACE_ID_STR);
	assert_int_equal(p.table.ids[event(&p, 1)->tid].kind, UT_ACE_ID_RAW);
	assert_int_equal(p.table.ids[event(&p, 2)->pid].num, 2);
	assert_int_equal(p.table.ids[event(&p, 2)->tid].num, -7);
	ut_ace_part_release(&p);
}

static void an_argument_that_is_given_twice_counts_once(void **state)
{
	struct ut_ace_part p;
	struct ut_arg arg;

	(void)state;
	assert_int_equal(read_it(&p,
				 "[{\"name\":\"a\",\"ph\":\"X\",\"pid\":0,\"ts\":1,\"dur\":1,"
				 "\"args\":{\"x\":1,\"y\":2,\"x\":3},\"attr\":{\"y\":4}}]",
				 UT_ACE_1_0),
			 0);
	assert_int_equal(ut_arglists_get(&p.table.lists, event(&p, 0)->args, NULL, 0), 2);
	assert_true(ut_ace_arg(&p.table, event(&p, 0)->args,
			       ut_strtab_intern_z(&p.table.strings, "x"), &arg));
	assert_int_equal(arg.value.u64, 3);
	assert_true(ut_ace_arg(&p.table, event(&p, 0)->args,
			       ut_strtab_intern_z(&p.table.strings, "y"), &arg));
	assert_int_equal(arg.value.u64, 4);
	ut_ace_part_release(&p);
}

UT_TESTS(read_input)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_of_b_and_e_is_one_span_with_the_arguments_of_b),
		cmocka_unit_test(nested_and_interleaved_pairs_find_each_other_by_thread_and_name),
		cmocka_unit_test(stamps_may_be_decimal_hex_octal_binary_or_numbers),
		cmocka_unit_test(without_five_good_stamps_it_is_a_host_event),
		cmocka_unit_test(an_object_gives_dialect_rank_and_what_to_pass_on),
		cmocka_unit_test(our_own_output_is_recognised),
		cmocka_unit_test(a_cut_file_gives_what_is_complete),
		cmocka_unit_test(garbage_is_one_line_with_the_place),
		cmocka_unit_test(lengths_that_make_no_sense_are_counted),
		cmocka_unit_test(ids_of_any_kind_are_kept),
		cmocka_unit_test(an_argument_that_is_given_twice_counts_once),
	};

	return cmocka_run_group_tests_name("acelyzer/read_input", tests, NULL, NULL);
}
