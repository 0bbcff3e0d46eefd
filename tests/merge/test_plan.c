/* test_plan.c - tests src/analysis/merge/plan.h. */
#include "merge/plan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

#define MOST 4

static struct ut_merge_file files[MOST];
static struct ut_merge_plan plan;
static const struct ut_facts_opts quiet;
static char names[MOST][16];

/* The facts of a text, as if it had been a file called "N.json". */
static void add_file(size_t i, const char *text)
{
	char path[] = "/tmp/ut_plan_XXXXXX";
	struct ut_err err = { 0 };
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	snprintf(names[i], sizeof(names[i]), "dir/%zu.json", i);
	files[i] = (struct ut_merge_file){ .path = names[i], .name = names[i] };
	assert_int_equal(ut_facts_read(&files[i].facts, path, &quiet, &err), 0);
	unlink(path);
}

static void make_plan(size_t count, const struct ut_merge_rules *rules)
{
	static const struct ut_merge_rules plain;
	struct ut_err err = { 0 };

	assert_int_equal(ut_merge_plan_make(&plan, files, count, rules ? rules : &plain, &err), 0);
}

static void forget(size_t count)
{
	ut_merge_plan_release(&plan);
	for (size_t i = 0; i < count; i++)
		ut_facts_release(&files[i].facts);
}

static const char *pid_of(size_t file, const char *pid)
{
	const struct ut_facts *f = &files[file].facts;
	const struct ut_facts_process *p = ut_facts_find(f, (struct ut_str){ pid, strlen(pid) });

	assert_non_null(p);
	return files[file].plan.processes[p - f->processes].pid;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

#define OURS(host, offset, ts)                                                                     \
	"{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"ts\":" ts "}],\"otherData\":{\"processes\":[" \
	"{\"pid\":1,\"host\":\"" host "\",\"realtime_offset_ns\":" offset "}]}}"

static void hosts_are_brought_onto_one_clock(void **state)
{
	(void)state;
	add_file(0, OURS("a", "1700000000000000000", "1000"));
	add_file(1, OURS("b", "1700000000000001500", "1000"));
	make_plan(2, NULL);
	assert_int_equal(files[1].plan.shift - files[0].plan.shift, 1500);
	assert_int_equal(plan.aligned, 2);
	forget(2);
}

static void processes_of_one_host_are_never_moved_against_each_other(void **state)
{
	(void)state;
	add_file(0, OURS("a", "1700000000000000000", "1000"));
	add_file(1, OURS("a", "1700000000000777777", "1000"));
	make_plan(2, NULL);
	assert_int_equal(files[0].plan.shift, 0);
	assert_int_equal(files[1].plan.shift, 0);
	forget(2);
}

static void a_host_that_was_started_again_has_another_clock(void **state)
{
	(void)state;
	add_file(0, OURS("a", "1700000000000000000", "1000000000"));
	add_file(1, OURS("a", "1700003600000000000", "1000"));
	make_plan(2, NULL);
	assert_int_equal(files[1].plan.shift - files[0].plan.shift, 3600000000000);
	forget(2);
}

static void the_latest_zero_wins_but_nothing_falls_below_it(void **state)
{
	(void)state;
	/* b starts at 5 us on its clock, which is 1.5 us later than a's */
	add_file(0, OURS("a", "1700000000000000000", "10"));
	add_file(1, OURS("b", "1700000000000001500", "5"));
	make_plan(2, NULL);
	assert_int_equal(plan.reference, 1);
	assert_int_equal(files[0].plan.shift, -1500);
	assert_int_equal(files[1].plan.shift, 0);
	forget(2);
	/* here a's first event would come before 0 */
	add_file(0, OURS("a", "1700000000000000000", "1"));
	add_file(1, OURS("b", "1700000000000001500", "5"));
	make_plan(2, NULL);
	assert_int_equal(plan.reference, 0);
	assert_int_equal(files[1].plan.shift, 1500);
	forget(2);
}

static void torch_and_times_since_1970_align_too(void **state)
{
	(void)state;
	add_file(0, "{\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":["
		    "{\"ph\":\"X\",\"ts\":2.5}]}");
	add_file(1, "[{\"ph\":\"X\",\"ts\":1700000000000010.25}]");
	make_plan(2, NULL);
	assert_int_equal(plan.reference, 0);
	assert_int_equal(files[1].plan.shift, -1700000000000000000);
	forget(2);
}

static void inputs_without_clocks_stay_and_no_align_means_it(void **state)
{
	struct ut_merge_rules rules = { .no_align = true };

	(void)state;
	add_file(0, OURS("a", "1700000000000000000", "1000"));
	add_file(1, "[{\"ph\":\"X\",\"ts\":3}]");
	add_file(2, OURS("b", "1700000000000001500", "1000"));
	make_plan(3, NULL);
	assert_int_equal(files[1].plan.shift, 0);
	assert_int_equal(plan.unplaced, 1);
	ut_merge_plan_release(&plan);
	make_plan(3, &rules);
	assert_int_equal(files[2].plan.shift, 0);
	forget(3);
}

static void offsets_are_added_by_name(void **state)
{
	struct ut_merge_rules rules = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	add_file(0, "[{\"ph\":\"X\",\"ts\":3}]");
	add_file(1, "[{\"ph\":\"X\",\"ts\":3}]");
	ut_opt_list_add(&rules.offsets, "dir/0.json=-250");
	ut_opt_list_add(&rules.offsets, "1.json=2ms");
	make_plan(2, &rules);
	assert_int_equal(files[0].plan.shift, -250);
	assert_int_equal(files[1].plan.shift, 2000000);
	ut_merge_plan_release(&plan);
	ut_opt_list_add(&rules.offsets, "2.json=1");
	assert_int_equal(ut_merge_plan_make(&plan, files, 2, &rules, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no input has this name"));
	ut_opt_list_release(&rules.offsets);
	ut_opt_list_add(&rules.offsets, "0.json=soon");
	err = (struct ut_err){ 0 };
	assert_int_equal(ut_merge_plan_make(&plan, files, 2, &rules, &err), -EINVAL);
	ut_opt_list_release(&rules.offsets);
	forget(2);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void a_pid_belongs_to_the_first_file_that_uses_it(void **state)
{
	(void)state;
	add_file(0, "[{\"ph\":\"X\",\"pid\":7},{\"ph\":\"X\",\"pid\":\"Spans\"}]");
	add_file(1, "[{\"ph\":\"X\",\"pid\":\"7\"},{\"ph\":\"X\",\"pid\":8},{\"ph\":\"X\",\"pid\":"
		    "\"Spans\"}]");
	add_file(2, "[{\"ph\":\"X\",\"pid\":7},{\"ph\":\"X\",\"pid\":1073741824},"
		    "{\"ph\":\"X\",\"pid\":\"Spans\"}]");
	make_plan(3, NULL);
	assert_null(pid_of(0, "7"));
	assert_string_equal(pid_of(1, "7"), "1073741825"); /* 2^30 is in use */
	assert_null(pid_of(1, "8"));
	assert_string_equal(pid_of(2, "7"), "1073741826");
	assert_string_equal(pid_of(1, "\"Spans\""), "\"Spans (file 2)\"");
	assert_string_equal(pid_of(2, "\"Spans\""), "\"Spans (file 3)\"");
	assert_int_equal(plan.new_pids, 4);
	forget(3);
}

static void pids_are_kept_or_counted_on_request(void **state)
{
	struct ut_merge_rules rules = { .pids = UT_MERGE_KEEP };

	(void)state;
	add_file(0, "[{\"ph\":\"X\",\"pid\":7}]");
	add_file(1, "[{\"ph\":\"X\",\"pid\":\"GPU\"},{\"ph\":\"X\",\"pid\":7}]");
	make_plan(2, &rules);
	assert_null(pid_of(0, "7"));
	assert_null(pid_of(1, "7"));
	ut_merge_plan_release(&plan);
	rules.pids = UT_MERGE_RENUMBER;
	make_plan(2, &rules);
	assert_string_equal(pid_of(0, "7"), "1");
	assert_string_equal(pid_of(1, "\"GPU\""), "2");
	assert_string_equal(files[1].plan.processes[0].name, "\"GPU\"");
	assert_string_equal(pid_of(1, "7"), "3");
	forget(2);
}

#define RANKED(rank, pid, name)                                                                    \
	"{\"distributedInfo\":{\"rank\":" rank "},\"traceEvents\":[{\"ph\":\"M\",\"pid\":" pid     \
	",\"name\":\"process_name\",\"args\":{\"name\":\"" name "\"}}]}"

static void equal_names_are_distinguished_by_rank_and_ranks_are_in_order(void **state)
{
	(void)state;
	add_file(0, RANKED("2", "1", "python"));
	add_file(1, RANKED("0", "2", "python"));
	add_file(2, RANKED("1", "3", "other"));
	make_plan(3, NULL);
	assert_string_equal(files[0].plan.processes[0].name, "\"RANK 2 python\"");
	assert_string_equal(files[1].plan.processes[0].name, "\"RANK 0 python\"");
	assert_null(files[2].plan.processes[0].name);
	assert_int_equal(files[1].plan.processes[0].sort_index, 0);
	assert_int_equal(files[2].plan.processes[0].sort_index, 1);
	assert_int_equal(files[0].plan.processes[0].sort_index, 2);
	forget(3);
}

static void without_ranks_names_and_order_are_left_alone(void **state)
{
	(void)state;
	add_file(0,
		 "[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"a\"}}]");
	add_file(1,
		 "[{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":\"a\"}}]");
	make_plan(2, NULL);
	assert_null(files[0].plan.processes[0].name);
	assert_false(files[0].plan.processes[0].sorted);
	forget(2);
}

/* ---- numbers that pair events ---------------------------------------------------------------- */

static void numbers_of_files_get_ranges_of_their_own(void **state)
{
	(void)state;
	add_file(0, "[{\"ph\":\"s\",\"id\":10},{\"ph\":\"s\",\"id\":20}]");
	add_file(1, "[{\"ph\":\"s\",\"id\":15},{\"ph\":\"s\",\"id\":\"0x20\"}]");
	add_file(2, "[{\"ph\":\"s\",\"id\":1000}]");
	add_file(3, "[{\"ph\":\"X\",\"id\":15}]");
	make_plan(4, NULL);
	assert_int_equal(files[0].plan.id_add, 0);
	assert_int_equal(files[1].plan.id_add, 6);
	assert_int_equal(files[2].plan.id_add, 0);
	assert_int_equal(files[3].plan.id_add, 0);
	assert_int_equal(plan.new_ids, 1);
	forget(4);
}

static void a_range_at_the_limit_moves_down(void **state)
{
	(void)state;
	add_file(0, "[{\"ph\":\"s\",\"id\":9007199254740990}]");
	add_file(1,
		 "[{\"ph\":\"s\",\"id\":9007199254740990},{\"ph\":\"s\",\"id\":9007199254740991}]");
	make_plan(2, NULL);
	assert_int_equal(files[1].plan.id_add, (uint64_t)-2);
	forget(2);
}

static void ids_that_are_text_get_a_prefix(void **state)
{
	(void)state;
	add_file(0, "[{\"ph\":\"b\",\"id\":\"x\"}]");
	add_file(1, "[{\"ph\":\"b\",\"id\":\"y\"}]");
	add_file(2, "[{\"ph\":\"b\",\"id\":3}]");
	make_plan(3, NULL);
	assert_string_equal(files[0].plan.id_prefix, "1:");
	assert_string_equal(files[1].plan.id_prefix, "2:");
	assert_null(files[2].plan.id_prefix);
	forget(3);
}

/* ---- the tail -------------------------------------------------------------------------------- */

static void what_all_files_say_is_said_once(void **state)
{
	struct ut_buf tail = { 0 };

	(void)state;
	add_file(0,
		 "{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\"x\":1,\"traceEvents\":[],"
		 "\"deviceProperties\":[{\"id\":0}],\"stackFrames\":{\"1\":{\"parent\":\"2\"}}}");
	add_file(1, "{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\"x\":2,\"traceEvents\":[],"
		    "\"deviceProperties\":[{\"id\":0},{\"id\":1}],\"stackFrames\":{\"1\":{}}}");
	make_plan(2, NULL);
	ut_merge_plan_tail(&plan, &tail);
	assert_non_null(strstr(tail.data, ",\"schemaVersion\":1,"));
	assert_non_null(strstr(tail.data, "\"displayTimeUnit\":\"ms\""));
	assert_non_null(strstr(tail.data, "\"deviceProperties\":[{\"id\":0},{\"id\":1}]"));
	assert_non_null(
		strstr(tail.data, "\"stackFrames\":{\"1:1\":{\"parent\":\"1:2\"},\"2:1\":{}}"));
	assert_non_null(strstr(tail.data, "{\"file\":\"1.json\",\"events\":0,\"shift_ns\":0,"
					  "\"clock\":\"own\",\"about\":{\"x\":2}}"));
	ut_buf_release(&tail);
	forget(2);
}

UT_TESTS(plan)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_brought_onto_one_clock),
		cmocka_unit_test(processes_of_one_host_are_never_moved_against_each_other),
		cmocka_unit_test(a_host_that_was_started_again_has_another_clock),
		cmocka_unit_test(the_latest_zero_wins_but_nothing_falls_below_it),
		cmocka_unit_test(torch_and_times_since_1970_align_too),
		cmocka_unit_test(inputs_without_clocks_stay_and_no_align_means_it),
		cmocka_unit_test(offsets_are_added_by_name),
		cmocka_unit_test(a_pid_belongs_to_the_first_file_that_uses_it),
		cmocka_unit_test(pids_are_kept_or_counted_on_request),
		cmocka_unit_test(equal_names_are_distinguished_by_rank_and_ranks_are_in_order),
		cmocka_unit_test(without_ranks_names_and_order_are_left_alone),
		cmocka_unit_test(numbers_of_files_get_ranges_of_their_own),
		cmocka_unit_test(a_range_at_the_limit_moves_down),
		cmocka_unit_test(ids_that_are_text_get_a_prefix),
		cmocka_unit_test(what_all_files_say_is_said_once),
	};

	return cmocka_run_group_tests_name("merge/plan", tests, NULL, NULL);
}
