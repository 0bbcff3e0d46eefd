/* test_rewrite.c - tests src/analysis/merge/rewrite.h and what it stands on: walk, facts. */
#include "merge/rewrite.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "merge/rewrite_clean.h"
#include "support/unit.h"

static char path[] = "/tmp/ut_rewrite_XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	return fd < 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
}

static char reported[2048];

static void report(void *ctx, const char *name, const char *text)
{
	(void)ctx;
	(void)name;
	strncat(reported, text, sizeof(reported) - strlen(reported) - 1);
	strncat(reported, "\n", sizeof(reported) - strlen(reported) - 1);
}

static const struct ut_facts_opts opts = { .warn = report };

static int read_facts(struct ut_facts *f, const char *text, struct ut_err *err)
{
	reported[0] = '\0';
	write_file(text, strlen(text));
	return ut_facts_read(f, path, &opts, err);
}

/* All events of a text after a plan, one behind the other, separated by ",\n". */
static char *rewrite(const char *text, struct ut_rewrite_plan *plan,
		     void (*change)(struct ut_facts *f, struct ut_rewrite_plan *p))
{
	static char out[8192];
	struct ut_frame frame = { 0 };
	struct ut_err err = { 0 };
	struct ut_facts facts;
	struct ut_rewrite r;
	size_t len = 0;
	int rc;

	assert_int_equal(read_facts(&facts, text, &err), 0);
	if (change)
		change(&facts, plan);
	assert_int_equal(ut_rewrite_open(&r, path, &facts, plan, &err), 0);
	while ((rc = ut_rewrite_next(&r, &frame, &err)) == 1) {
		assert_int_equal(frame.ends[frame.count - 1], frame.len);
		for (uint32_t i = 1; i < frame.count; i++)
			assert_true(frame.keys[i] >= frame.keys[i - 1]);
		memcpy(out + len, frame.text, frame.len);
		len += frame.len;
	}
	assert_int_equal(rc, 0);
	out[len] = '\0';
	ut_rewrite_close(&r);
	ut_frame_release(&frame);
	ut_facts_release(&facts);
	free(plan->processes);
	return out + (len ? 2 : 0); /* behind the first ",\n" */
}

static char *copy(const char *text)
{
	struct ut_rewrite_plan plan = { 0 };

	return rewrite(text, &plan, NULL);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void events_are_found_in_every_shape(void **state)
{
	static const char *const shapes[] = {
		"[{\"ph\":\"X\",\"ts\":1},{\"ph\":\"i\"}]",
		"{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1},{\"ph\":\"i\"}]}",
		"{\"a\":{\"ph\":3},\"traceEvents\":[{\"ph\":\"X\",\"ts\":1}\n,{\"ph\":\"i\"}]}",
		"{\"ph\":\"X\",\"ts\":1}\n{\"ph\":\"i\"}\n",
		"{\"ph\":\"X\",\"ts\":1},\n{\"ph\":\"i\"},\n",
		"\xef\xbb\xbf [ {\"ph\":\"X\",\"ts\":1} , {\"ph\":\"i\"} ] ",
		"{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1}]}{\"traceEvents\":[{\"ph\":\"i\"}]}",
		"[{\"ph\":\"X\",\"ts\":1},{\"ph\":\"i\"}",
		"[{\"ph\":\"X\",\"ts\":1},{\"ph\":\"i\"},",
		"[{\"ph\":\"X\",\"ts\":1},{\"ph\":\"i\"},{\"ph\":\"C\",\"na",
		"{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1},7,null,{\"ph\":\"i\"}]}",
		"[{\"ph\":\"X\",\"ts\":1},{\"ph\":\"X\" \"ts\"},\n{\"ph\":\"i\"}]",
		"[{\"ph\":\"X\",\"ts\":1}{\"ph\":\"i\"}]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		assert_string_equal(copy(shapes[i]), "{\"ph\":\"X\",\"ts\":1},\n{\"ph\":\"i\"}");
}

static void what_was_wrong_is_reported_with_its_place(void **state)
{
	struct ut_err err = { 0 };
	struct ut_facts f;

	(void)state;
	assert_int_equal(read_facts(&f, "[{\"ph\":\"X\",\"ts\":1},{\"ph\":\"C\",\"na", &err), 0);
	assert_string_equal(reported,
			    "offset 19: the file ends inside an event, which is left out\n");
	assert_false(f.clean);
	ut_facts_release(&f);
	assert_int_equal(read_facts(&f, "[{\"ph\":\"X\",\"ts\":NaN},{\"ph\":\"C\",}]", &err), 0);
	assert_non_null(strstr(reported, "offset 16: a number that JSON does not know"));
	assert_non_null(strstr(reported, "offset 30: a comma with nothing behind it; repaired"));
	ut_facts_release(&f);
}

static void a_file_that_is_no_trace_is_refused_with_a_reason(void **state)
{
	static const char *const bad[][2] = {
		{ "hello", "offset 0: text that is no JSON" },
		{ "{\"a\":1}", "JSON without \"traceEvents\"" },
		{ "[{\"ph\":\"X\" 5}]", "offset 11: " },
		{ "", "JSON without" },
	};
	struct ut_facts f;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_err err = { 0 };

		assert_int_equal(read_facts(&f, bad[i][0], &err), -EPROTO);
		assert_non_null(strstr(err.text, path));
		assert_non_null(strstr(err.text, bad[i][1]));
	}
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void events_are_copied_byte_for_byte(void **state)
{
	static const char text[] =
		"{ \"ph\" : \"X\",\n  "
		"\"args\":{\"d\":1.50e+03,\"s\":\"\\u00e4\\/\\\"\xc3\xa4\",\"n\":[ ],"
		"\"o\":{}},\"ts\":0.30000000000000004 }";
	char file[512];

	(void)state;
	snprintf(file, sizeof(file), "[%s]", text);
	assert_string_equal(copy(file), text);
}

static void what_is_not_json_is_repaired_in_the_copy(void **state)
{
	(void)state;
	assert_string_equal(
		copy("[{\"ph\":\"X\",\"a\":NaN,\"b\":\"\xff\",\"c\":\"a\001b\",}]"),
		"{\"ph\":\"X\",\"a\":\"NaN\",\"b\":\"\xef\xbf\xbd\",\"c\":\"a\\u0001b\"}");
	assert_string_equal(copy("[{\"ph\":\"b\",\"id2\":{\"local\":}},{\"ph\":\"X\"}]"),
			    "{\"ph\":\"X\"}");
	assert_string_equal(copy("[{\"ph\":\"X\",\"a\":\"\\u12\"}]"),
			    "{\"ph\":\"X\",\"a\":\"\\\\u12\"}");
}

/* Larger than the window, with an event larger than a frame in the middle. */
static void large_files_and_events_are_whole(void **state)
{
	size_t big = 3u << 20, n = 0;
	struct ut_buf text = { 0 };
	struct ut_rewrite_plan plan = { .shift = 1000 };
	struct ut_frame frame = { 0 };
	struct ut_err err = { 0 };
	struct ut_facts facts;
	struct ut_rewrite r;
	int rc;

	(void)state;
	ut_buf_text(&text, "[");
	for (int i = 0; i < 60000; i++) {
		ut_buf_fmt(&text, "%s{\"ph\":\"i\",\"ts\":%d,\"args\":{\"t\":\"", i ? ",\n" : "",
			   i);
		for (size_t k = 0; i == 30000 && k < big; k += 8)
			ut_buf_text(&text, "\\\"[}]{\\\"");
		ut_buf_text(&text, "\"}}");
	}
	ut_buf_text(&text, "]");
	write_file(text.data, text.len);
	assert_int_equal(ut_facts_read(&facts, path, &opts, &err), 0);
	assert_true(facts.clean);
	assert_int_equal(facts.events, 60000);
	assert_int_equal(facts.last, 59999000);
	assert_int_equal(ut_rewrite_open(&r, path, &facts, &plan, &err), 0);
	while ((rc = ut_rewrite_next(&r, &frame, &err)) == 1) {
		assert_int_equal(frame.keys[0], (int64_t)(n + 1) * 1000);
		n += frame.count;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(n, 60000);
	ut_rewrite_close(&r);
	ut_frame_release(&frame);
	ut_facts_release(&facts);
	ut_buf_release(&text);
}

static void a_file_that_changes_in_between_is_noticed(void **state)
{
	struct ut_rewrite_plan plan = { 0 };
	struct ut_frame frame = { 0 };
	struct ut_err err = { 0 };
	struct ut_facts facts;
	struct ut_rewrite r;
	int rc;

	(void)state;
	assert_int_equal(read_facts(&facts, "[{\"ph\":\"i\"}]", &err), 0);
	write_file("[{\"ph\":\"i\"},{\"ph\":\"X\"}]", 23);
	assert_int_equal(ut_rewrite_open(&r, path, &facts, &plan, &err), 0);
	while ((rc = ut_rewrite_next(&r, &frame, &err)) == 1)
		;
	assert_int_equal(rc, -EBUSY);
	assert_non_null(strstr(err.text, "changed while"));
	ut_rewrite_close(&r);
	ut_frame_release(&frame);
	ut_facts_release(&facts);
}

static void any_bytes_make_a_json_string(void **state)
{
	struct ut_buf out = { 0 };

	(void)state;
	ut_rewrite_string((struct ut_str){ "a\"b\\\n\xc3\xa4\xff", 8 }, &out);
	assert_string_equal(out.data, "\"a\\u0022b\\u005c\\u000a\xc3\xa4\xef\xbf\xbd\"");
	ut_buf_release(&out);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void give_pids(struct ut_facts *f, struct ut_rewrite_plan *p)
{
	p->processes = calloc(f->process_count, sizeof(*p->processes));
	for (uint32_t i = 0; i < f->process_count; i++) {
		struct ut_str pid = ut_facts_span(f, f->processes[i].pid);

		if (pid.len == 1 && (*pid.ptr == '5' || *pid.ptr == '0'))
			p->processes[i].pid = "77";
		if (*pid.ptr == '"')
			p->processes[i].pid = "\"Spans (rank 1)\"";
	}
}

static void pids_are_replaced_wherever_they_stand(void **state)
{
	struct ut_rewrite_plan plan = { 0 };

	(void)state;
	assert_string_equal(
		rewrite("[{\"pid\":5,\"ph\":\"i\"},{\"ph\":\"i\",\"pid\":\"5\"},"
			"{\"ph\":\"i\", \"pid\": 55},{\"pid\":\"Spans\",\"ph\":\"i\"}]",
			&plan, give_pids),
		"{\"pid\":77,\"ph\":\"i\"},\n{\"ph\":\"i\",\"pid\":77},\n"
		"{\"ph\":\"i\", \"pid\": 55},\n{\"pid\":\"Spans (rank 1)\",\"ph\":\"i\"}");
}

static void an_event_without_a_pid_gets_one_if_it_has_to(void **state)
{
	struct ut_rewrite_plan plan = { 0 };

	(void)state;
	assert_string_equal(
		rewrite("[{\"ph\":\"i\"},{},{\"ph\":\"i\",\"pid\":0}]", &plan, give_pids),
		"{\"pid\":77,\"ph\":\"i\"},\n{\"pid\":77},\n{\"ph\":\"i\",\"pid\":77}");
}

static void only_ids_that_pair_across_processes_change(void **state)
{
	struct ut_rewrite_plan plan = { .id_add = 100, .id_prefix = "2:" };

	(void)state;
	assert_string_equal(
		rewrite("[{\"ph\":\"s\",\"id\":1},{\"ph\":\"f\",\"id\":\"0x1\"},{\"ph\":\"b\","
			"\"id\":\"x\"},"
			"{\"ph\":\"N\",\"id\":\"0x1\"},{\"ph\":\"X\",\"id\":1,\"bind_id\":\"0x1\"},"
			"{\"ph\":\"b\",\"id2\":{\"global\":\"0x1\", \"local\" : \"x\"}},"
			"{\"ph\":\"N\",\"id2\":{\"local\":\"0x1\"}}]",
			&plan, NULL),
		"{\"ph\":\"s\",\"id\":101},\n{\"ph\":\"f\",\"id\":\"0x65\"},\n"
		"{\"ph\":\"b\",\"id\":\"2:x\"},\n{\"ph\":\"N\",\"id\":\"0x1\"},\n"
		"{\"ph\":\"X\",\"id\":1,\"bind_id\":\"0x65\"},\n"
		"{\"ph\":\"b\",\"id2\":{\"global\":\"0x65\", \"local\" : \"2:x\"}},\n"
		"{\"ph\":\"N\",\"id2\":{\"local\":\"0x1\"}}");
}

static void ids_that_no_number_can_be_added_to_become_texts(void **state)
{
	struct ut_rewrite_plan plan = { .id_add = 100, .id_prefix = "2:" };

	(void)state;
	assert_string_equal(
		rewrite("[{\"ph\":\"s\",\"id\":-1.0},{\"ph\":\"f\",\"id\":\"-1\"},"
			"{\"ph\":\"s\",\"id\":1.50},{\"ph\":\"s\",\"id\":9007199254740993},"
			"{\"ph\":\"f\",\"id\":\"0x0020000000000001\"},{\"ph\":\"s\",\"id\":7.0}]",
			&plan, NULL),
		"{\"ph\":\"s\",\"id\":\"2:-1\"},\n{\"ph\":\"f\",\"id\":\"2:-1\"},\n"
		"{\"ph\":\"s\",\"id\":\"2:1.5\"},\n"
		"{\"ph\":\"s\",\"id\":\"2:0x20000000000001\"},\n"
		"{\"ph\":\"f\",\"id\":\"2:0x20000000000001\"},\n{\"ph\":\"s\",\"id\":107}");
	plan.sf_prefix = "2:";
	assert_string_equal(
		rewrite("[{\"ph\":\"X\",\"sf\":5},{\"ph\":\"X\",\"sf\":\"a\"}]", &plan, NULL),
		"{\"ph\":\"X\",\"sf\":\"2:5\"},\n{\"ph\":\"X\",\"sf\":\"2:a\"}");
	plan.id_all = true;
	assert_string_equal(
		rewrite("[{\"ph\":\"s\",\"id\":7},{\"ph\":\"f\",\"id\":\"0x7\"}]", &plan, NULL),
		"{\"ph\":\"s\",\"id\":\"2:0x7\"},\n{\"ph\":\"f\",\"id\":\"2:0x7\"}");
}

static void rename_processes(struct ut_facts *f, struct ut_rewrite_plan *p)
{
	p->processes = calloc(f->process_count, sizeof(*p->processes));
	for (uint32_t i = 0; i < f->process_count; i++) {
		p->processes[i].name = "\"RANK 1 a\"";
		p->processes[i].sorted = true;
		p->processes[i].sort_index = 7 + i;
	}
}

static void names_and_order_are_replaced_or_made(void **state)
{
	struct ut_rewrite_plan plan = { 0 };

	(void)state;
	assert_string_equal(rewrite("[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{"
				    "\"name\":\"a\"}},"
				    "{\"ph\":\"i\",\"pid\":2,\"name\":\"process_name\"},"
				    "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_sort_index\","
				    "\"args\":{\"sort_index\":9}}]",
				    &plan, rename_processes),
			    "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_sort_index\","
			    "\"args\":{\"sort_index\":7}},\n"
			    "{\"ph\":\"M\",\"pid\":2,\"tid\":0,\"name\":\"process_name\",\"args\":{"
			    "\"name\":\"RANK 1 a\"}},\n"
			    "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
			    "\"RANK 1 a\"}},\n"
			    "{\"ph\":\"i\",\"pid\":2,\"name\":\"process_name\"},\n"
			    "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_sort_index\",\"args\":{"
			    "\"sort_index\":8}}");
}

static void all_changes_fit_into_one_event(void **state)
{
	struct ut_rewrite_plan plan = {
		.shift = 1, .id_add = 1, .id_prefix = "3:", .sf_prefix = "3:"
	};

	(void)state;
	assert_string_equal(rewrite("[{\"sf\":\"a\",\"bind_id\":9,\"id\":\"8\",\"pid\":5,\"ts\":1,"
				    "\"ph\":\"f\"}]",
				    &plan, give_pids),
			    "{\"sf\":\"3:a\",\"bind_id\":10,\"id\":\"9\",\"pid\":77,\"ts\":1.001,"
			    "\"ph\":\"f\"}");
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void clocks_that_run_differently_change_times_and_lengths(void **state)
{
	/* 1 us is gained in each ms from 1 ms on */
	struct ut_time_knot knots[] = { { 1000000, 0, 0 }, { 2000000, 1000, 0 } };
	struct ut_time_map map = { knots, 2, 2 };
	struct ut_rewrite_plan plan = { .map = &map };

	(void)state;
	assert_string_equal(
		rewrite("[{\"ph\":\"X\",\"ts\":1000,\"dur\":500},"
			"{\"dur\": 1000.0 ,\"ph\":\"X\",\"ts\":2000.000,\"name\":\"ts\"},"
			"{\"ph\":\"i\",\"ts\":3000.5},{\"ph\":\"X\",\"ts\":5000,\"dur\":0},"
			"{\"ph\":\"C\",\"ts\":6000,\"args\":{\"dur\":5,\"ts\":9}}]",
			&plan, NULL),
		"{\"ph\":\"X\",\"ts\":1000,\"dur\":500.5}"
		",\n{\"dur\": 1001.0 ,\"ph\":\"X\",\"ts\":2001.000,\"name\":\"ts\"}"
		",\n{\"ph\":\"i\",\"ts\":3002.5}"
		",\n{\"ph\":\"X\",\"ts\":5004,\"dur\":0}"
		",\n{\"ph\":\"C\",\"ts\":6005,\"args\":{\"dur\":5,\"ts\":9}}");
}

static void facts_give_clock_rank_and_processes(void **state)
{
	static const char text[] =
		"{\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"rank\":3},"
		"\"traceEvents\":[{\"ph\":\"X\",\"pid\":9,\"ts\":5.5},{\"ph\":\"s\",\"pid\":9,"
		"\"id\":40},"
		"{\"ph\":\"M\",\"pid\":9,\"name\":\"process_name\",\"args\":{\"name\":\"RANK 2 "
		"app\"}}],"
		"\"otherData\":{\"processes\":[{\"pid\":9,\"host\":\"h\",\"realtime_offset_ns\":77}"
		"]}}";
	struct ut_facts f, g;
	struct ut_err err = { 0 };
	struct ut_buf packed = { 0 };
	const char *at;

	(void)state;
	assert_int_equal(read_facts(&f, text, &err), 0);
	ut_facts_pack(&f, &packed);
	at = packed.data;
	assert_int_equal(ut_facts_unpack(&g, &at, packed.data + packed.len), 0);
	assert_ptr_equal(at, packed.data + packed.len);
	ut_facts_release(&f);
	assert_true(g.clean && g.placed);
	assert_int_equal(g.base, 1700000000000000000);
	assert_int_equal(g.rank, 3);
	assert_int_equal(g.first, 5500);
	assert_int_equal(g.id_first, 40);
	assert_int_equal(g.process_count, 1);
	assert_int_equal(g.processes[0].rank, 2);
	assert_int_equal(g.processes[0].realtime, 77);
	assert_memory_equal(ut_facts_span(&g, g.processes[0].host).ptr, "h", 1);
	assert_ptr_equal(ut_facts_find(&g, (struct ut_str){ "9", 1 }), g.processes);
	at = packed.data;
	for (size_t cut = 0; cut < packed.len; cut += 7) {
		at = packed.data;
		assert_int_not_equal(ut_facts_unpack(&f, &at, packed.data + cut), 0);
	}
	ut_facts_release(&g);
	ut_buf_release(&packed);
}

UT_TESTS(rewrite)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_found_in_every_shape),
		cmocka_unit_test(what_was_wrong_is_reported_with_its_place),
		cmocka_unit_test(a_file_that_is_no_trace_is_refused_with_a_reason),
		cmocka_unit_test(events_are_copied_byte_for_byte),
		cmocka_unit_test(what_is_not_json_is_repaired_in_the_copy),
		cmocka_unit_test(any_bytes_make_a_json_string),
		cmocka_unit_test(large_files_and_events_are_whole),
		cmocka_unit_test(a_file_that_changes_in_between_is_noticed),
		cmocka_unit_test(pids_are_replaced_wherever_they_stand),
		cmocka_unit_test(an_event_without_a_pid_gets_one_if_it_has_to),
		cmocka_unit_test(only_ids_that_pair_across_processes_change),
		cmocka_unit_test(ids_that_no_number_can_be_added_to_become_texts),
		cmocka_unit_test(names_and_order_are_replaced_or_made),
		cmocka_unit_test(all_changes_fit_into_one_event),
		cmocka_unit_test(clocks_that_run_differently_change_times_and_lengths),
		cmocka_unit_test(facts_give_clock_rank_and_processes),
	};

	return cmocka_run_group_tests_name("merge/rewrite", tests, make_file, remove_file);
}
