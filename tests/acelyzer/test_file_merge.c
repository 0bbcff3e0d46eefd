/* test_file_merge.c - tests src/analysis/acelyzer/file_merge.h: order, ranks and names of several
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/file_merge.h"
#include "make_run.h"
#include "support/unit.h"

static void expect(const struct ut_ace_analysis *a, const char *names)
{
	assert_int_equal(a->table.seq_count, strlen(names));
	for (size_t i = 0; names[i]; i++)
		assert_int_equal(
			ut_ace_str(&a->table, a->table.events[a->table.seq[i]].name).ptr[0],
			names[i]);
}

static void the_earliest_next_event_comes_first(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_ace_analysis a;

	(void)state;
	/* the order of a file stays even where its times go back */
	make_run(&a, &opts,
		 (const char *const[]){ "[{\"name\":\"a\",\"ph\":\"i\",\"pid\":0,\"ts\":1},"
					"{\"name\":\"b\",\"ph\":\"i\",\"pid\":0,\"ts\":5},"
					"{\"name\":\"c\",\"ph\":\"i\",\"pid\":0,\"ts\":3}]",
					"[{\"name\":\"x\",\"ph\":\"i\",\"pid\":0,\"ts\":2},"
					"{\"name\":\"y\",\"ph\":\"i\",\"pid\":0,\"ts\":4}]",
					NULL });
	expect(&a, "axybc");
	assert_int_equal(a.table.job_count, 2);
	assert_string_equal(a.table.jobs[1].base, "job-b.json");
	ut_ace_release(&a);
}

static void of_equal_times_the_one_that_came_last_is_first(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_ace_analysis a;

	(void)state;
	make_run(&a, &opts,
		 (const char *const[]){ "[{\"name\":\"a\",\"ph\":\"i\",\"pid\":0,\"ts\":1},"
					"{\"name\":\"b\",\"ph\":\"i\",\"pid\":0,\"ts\":1}]",
					"[{\"name\":\"x\",\"ph\":\"i\",\"pid\":0,\"ts\":1},"
					"{\"name\":\"y\",\"ph\":\"i\",\"pid\":0,\"ts\":1}]",
					NULL });
	expect(&a, "xyab");
	ut_ace_release(&a);
}

static const char ranked[] =
	"{\"distributedInfo\":{\"rank\":2},\"traceEvents\":["
	"{\"name\":\"a\",\"ph\":\"X\",\"pid\":77,\"tid\":1,\"ts\":1,\"dur\":1},"
	"{\"name\":\"m\",\"ph\":\"M\",\"pid\":77,\"ts\":1,\"args\":{}}]}";

static int64_t pid(const struct ut_ace_analysis *a, size_t i)
{
	return ut_ace_num(&a->table, a->table.events[a->table.seq[i]].pid);
}

static void a_file_that_knows_its_rank_gives_it_to_its_spans(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_ace_analysis a;

	(void)state;
	make_run(&a, &opts, (const char *const[]){ ranked, NULL });
	assert_int_equal(pid(&a, 0), 2);
	assert_int_equal(pid(&a, 1), 77); /* release 1.0 leaves the rest alone */
	ut_ace_release(&a);
	opts.release = UT_ACE_1_2;
	make_run(&a, &opts, (const char *const[]){ ranked, NULL });
	assert_int_equal(pid(&a, 0), 2);
	assert_int_equal(pid(&a, 1), 2);
	ut_ace_release(&a);
}

static void release_1_2_takes_the_first_process_for_the_rank(void **state)
{
	const char *two = "[{\"name\":\"a\",\"ph\":\"X\",\"pid\":3,\"tid\":1,\"ts\":1,\"dur\":1},"
			  "{\"name\":\"b\",\"ph\":\"X\",\"pid\":4,\"tid\":1,\"ts\":2,\"dur\":1}]";
	struct ut_ace_opts opts = make_opts();
	struct ut_ace_analysis a;

	(void)state;
	make_run(&a, &opts, (const char *const[]){ two, NULL });
	assert_int_equal(pid(&a, 1), 4);
	ut_ace_release(&a);
	opts.release = UT_ACE_1_2;
	make_run(&a, &opts, (const char *const[]){ two, NULL });
	assert_int_equal(pid(&a, 1), 3);
	assert_int_equal(a.table.jobs[0].rank, 3);
	ut_ace_release(&a);
}

static void processes_with_names_get_numbers(void **state)
{
	const char *named = "[{\"name\":\"a\",\"ph\":\"X\",\"pid\":\"p\",\"tid\":\"t\",\"ts\":1,"
			    "\"dur\":1}]";
	struct ut_ace_opts opts = make_opts();
	struct ut_arg arg;
	struct ut_ace_analysis a;

	(void)state;
	make_run(&a, &opts, (const char *const[]){ named, named, NULL });
	assert_int_equal(pid(&a, 0), 10000);
	assert_int_equal(pid(&a, 1), 10000); /* the same name, the same number */
	assert_true(ut_ace_arg(&a.table, a.table.events[0].args, UT_ACE_K_OPID, &arg));
	assert_string_equal(ut_ace_str(&a.table, arg.value.str).ptr, "p");
	ut_ace_release(&a);
}

static void strings_and_stamps_keep_their_events(void **state)
{
	struct ut_ace_opts opts = make_opts();
	char *text;
	struct ut_ace_analysis a;

	(void)state;
	make_run(&a, &opts,
		 (const char *const[]){
			 "[{\"name\":\"a\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":1,\"dur\":1,"
			 "\"args\":{\"only\":\"here\",\"TS1\":\"1\",\"TS2\":\"2\",\"TS3\":\"3\","
			 "\"TS4\":\"4\",\"TS5\":\"5\"}}]",
			 "[{\"name\":\"b\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":2,\"dur\":1,"
			 "\"args\":{\"other\":[1,\"x\"],\"TS1\":\"6\",\"TS2\":\"7\",\"TS3\":\"8\","
			 "\"TS4\":\"9\",\"TS5\":\"10\"}}]",
			 NULL });
	text = event_text(&a, 1);
	assert_string_equal(text,
			    "{\"name\":\"b\",\"cat\":\"\",\"ph\":\"X\",\"ts\":2.0,\"dur\":1.0,"
			    "\"pid\":0,\"tid\":1,\"args\":{\"TS1\":\"6\",\"TS2\":\"7\","
			    "\"TS3\":\"8\",\"TS4\":\"9\",\"TS5\":\"10\",\"other\":[1,\"x\"],"
			    "\"jobhash\":2}}");
	free(text);
	ut_ace_release(&a);
}

UT_TESTS(file_merge)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_earliest_next_event_comes_first),
		cmocka_unit_test(of_equal_times_the_one_that_came_last_is_first),
		cmocka_unit_test(a_file_that_knows_its_rank_gives_it_to_its_spans),
		cmocka_unit_test(release_1_2_takes_the_first_process_for_the_rank),
		cmocka_unit_test(processes_with_names_get_numbers),
		cmocka_unit_test(strings_and_stamps_keep_their_events),
	};

	return cmocka_run_group_tests_name("acelyzer/file_merge", tests, NULL, NULL);
}
