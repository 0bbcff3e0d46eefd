/* test_cpu_read.c - tests src/trace/import/cpu/cpu_read.h with files that are made here. */
#include "import/cpu/cpu_read.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "model/counter.h"
#include "model/event.h"
#include "model/trace.h"
#include "support/unit.h"

#define MS      UINT64_C(1000000)
#define MOST    64
#define CPU(id) ((uint32_t)(id) << 8)

static char dir[] = "/tmp/ut_cpu_readXXXXXX";
static char path[64];
static FILE *file;

/* ---- making a file ------------------------------------------------------------------------- */

static void begin(uint32_t flags)
{
	struct ut_cpu_header h = { .magic = UT_CPU_MAGIC,
				   .version = UT_CPU_VERSION,
				   .bytes = sizeof(h),
				   .pid = 100,
				   .flags = flags,
				   .start = 1000 * MS,
				   .period = 1 * MS,
				   .event = "cycles",
				   .name = "app" };

	snprintf(path, sizeof(path), "%s/100-1000000000.cpu", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(&h, sizeof(h), 1, file), 1);
}

static void put(uint32_t type, const void *fixed, size_t size, const char *text)
{
	static const char zeros[8];
	size_t len = text ? strlen(text) + 1 : 0, pad = -(size + len) & 7;
	struct ut_cpu_rec_head head = { type, (uint32_t)(sizeof(head) + size + len + pad) };

	fwrite(&head, sizeof(head), 1, file);
	fwrite(fixed, size, 1, file);
	fwrite(text ? text : "", len, 1, file);
	fwrite(zeros, pad, 1, file);
}

static void put_thread(uint32_t tid, uint64_t ms, const char *name)
{
	put(UT_CPU_THREAD, &(struct ut_cpu_thread){ .tid = tid, .time = ms * MS },
	    sizeof(struct ut_cpu_thread), name);
}

static void put_gone(uint32_t tid, uint64_t ms)
{
	put(UT_CPU_GONE, &(struct ut_cpu_thread){ .tid = tid, .time = ms * MS },
	    sizeof(struct ut_cpu_thread), NULL);
}

static void put_switch(uint32_t tid, uint64_t ms, uint32_t how)
{
	put(UT_CPU_SWITCH, &(struct ut_cpu_switch_rec){ ms * MS, tid, how },
	    sizeof(struct ut_cpu_switch_rec), NULL);
}

static void put_sample(uint32_t tid, uint64_t ms, uint32_t stack, uint64_t weight_ms)
{
	put(UT_CPU_SAMPLE,
	    &(struct ut_cpu_sample){ .time = ms * MS,
				     .tid = tid,
				     .stack = stack,
				     .weight = (uint32_t)(weight_ms * MS) },
	    sizeof(struct ut_cpu_sample), NULL);
}

static void put_control(uint64_t ms, bool on)
{
	put(UT_CPU_CONTROL, &(struct ut_cpu_count){ ms * MS, on }, sizeof(struct ut_cpu_count),
	    NULL);
}

/* Place and stack of this number: an address of code that no file has. */
static void put_code(uint32_t number, uint64_t address)
{
	put(UT_CPU_PLACE, &(struct ut_cpu_place){ number, 1, address }, sizeof(struct ut_cpu_place),
	    NULL);
	put(UT_CPU_STACK, &(struct ut_cpu_stack){ number, 0, number, 0 },
	    sizeof(struct ut_cpu_stack), NULL);
}

static void put_anonymous(void)
{
	put(UT_CPU_MODULE, &(struct ut_cpu_module_rec){ .id = 1, .kind = UT_CPU_MODULE_ANONYMOUS },
	    sizeof(struct ut_cpu_module_rec), "//anon");
}

/* ---- reading it ---------------------------------------------------------------------------- */

static struct {
	struct ut_sink sink;
	struct ut_event samples[MOST], pauses[MOST];
	struct ut_event usage[MOST]; /* of all threads */
	size_t sample_count, pause_count, usage_count;
} got;

static struct ut_trace trace;

static void keep(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	(void)sink;
	if (e->kind == UT_KIND_SAMPLE && got.sample_count < MOST)
		got.samples[got.sample_count++] = *e;
	if (e->kind == UT_KIND_SPAN && t->tracks[e->track].role == UT_ROLE_CONTROL &&
	    got.pause_count < MOST)
		got.pauses[got.pause_count++] = *e;
	if (e->kind == UT_KIND_COUNTER && got.usage_count < MOST &&
	    !strcmp(ut_strtab_get(&t->strings, e->name).ptr, "CPU usage: all threads"))
		got.usage[got.usage_count++] = *e;
}

/* From then on it has this value; NaN: none. */
static void assert_usage(size_t i, double ms, double value)
{
	double is = ut_counter_value(got.usage[i].val, got.usage[i].flags);

	assert_true(i < got.usage_count);
	assert_int_equal(got.usage[i].ts, (uint64_t)(ms * (double)MS));
	assert_int_equal(isnan(is), isnan(value));
	if (!isnan(value))
		assert_true(fabs(is - value) < 1e-9);
}

static void import(void)
{
	struct ut_err err = { 0 };

	fclose(file);
	memset(&got, 0, sizeof(got));
	got.sink.event = keep;
	assert_int_equal(ut_import_cpu(path, &trace, &got.sink, &err), 0);
}

static uint64_t weight_ms(size_t i)
{
	return ut_sample_weight(got.samples[i].val) / MS;
}

static const char *function(size_t i)
{
	struct ut_place_in_code p =
		ut_stacks_innermost(&trace.stacks, ut_sample_stack(got.samples[i].val));

	return ut_strtab_get(&trace.strings, p.function).ptr;
}

/* A fact of the track with this name; UINT64_MAX: there is none. */
static uint64_t fact(const char *track, const char *key)
{
	for (size_t i = 0; i < trace.track_count; i++) {
		const struct ut_track *t = &trace.tracks[i];

		if (strcmp(ut_strtab_get(&trace.strings, t->name).ptr, track) != 0)
			continue;
		for (uint32_t a = t->args; a && trace.args[a].type != UT_ARG_END; a++) {
			if (!strcmp(ut_strtab_get(&trace.strings, trace.args[a].key).ptr, key))
				return trace.args[a].value.u64;
		}
	}
	return UINT64_MAX;
}

/* ---- what is true of it -------------------------------------------------------------------- */

static void samples_of_cycles_weigh_what_was_run(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_thread(100, 1000, "app");
	put_switch(100, 1000, UT_CPU_RUNS);
	put_sample(100, 1004, 0, 0);
	put_switch(100, 1005, UT_CPU_WAITS);
	put_switch(100, 1020, UT_CPU_RUNS);
	put_sample(100, 1023, 0, 0);
	put_sample(100, 1024, 0, 0);
	put_switch(100, 1026, UT_CPU_PREEMPTED);
	put_gone(100, 1030);
	import();
	assert_int_equal(got.sample_count, 4);
	assert_int_equal(weight_ms(0), 4);
	assert_int_equal(weight_ms(1), 4); /* 1 before it waited, 3 behind */
	assert_int_equal(weight_ms(2), 1);
	assert_int_equal(weight_ms(3), 2); /* not sampled */
	assert_int_equal(fact("app", "cpu_ns"), 11 * MS);
	assert_int_equal(fact("app", "waiting_ns"), 15 * MS);
	assert_int_equal(fact("app", "ready_ns"), 4 * MS);
}

static void those_of_a_clock_weigh_what_they_say_without_turns(void **state)
{
	(void)state;
	begin(0);
	put_thread(100, 1000, "app");
	put_sample(100, 1004, 0, 3);
	put_sample(100, 1009, 0, 5);
	import();
	assert_int_equal(got.sample_count, 2);
	assert_int_equal(weight_ms(0), 3);
	assert_int_equal(weight_ms(1), 5);
}

/* Threads that take turns swap what is left of their periods. */
static void those_of_a_clock_weigh_what_was_run_between_turns(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_thread(100, 1000, "long");
	put_thread(101, 1000, "short");
	put_switch(100, 1000, UT_CPU_RUNS);
	put_sample(100, 1008, 0, 5);
	put_switch(100, 1010, UT_CPU_PREEMPTED);
	put_switch(101, 1010, UT_CPU_RUNS);
	put_sample(101, 1011, 0, 5);
	put_switch(101, 1014, UT_CPU_PREEMPTED);
	put_switch(100, 1014, UT_CPU_RUNS);
	put_sample(100, 1017, 0, 5);
	put_gone(101, 1014);
	put_switch(100, 1020, UT_CPU_WAITS);
	put_gone(100, 1020);
	import();
	assert_int_equal(got.sample_count, 5);
	assert_int_equal(weight_ms(0), 8);
	assert_int_equal(weight_ms(1), 5); /* 2 before its turn ended, 3 behind */
	assert_int_equal(weight_ms(2), 3); /* not sampled */
	assert_int_equal(weight_ms(3), 1);
	assert_int_equal(weight_ms(4), 3); /* not sampled */
	assert_int_equal(fact("long", "cpu_ns"), 16 * MS);
	assert_int_equal(fact("short", "cpu_ns"), 4 * MS);
}

/* A turn that was lost would make a wait of seconds time that it ran. */
static void those_of_a_clock_weigh_what_they_say_where_turns_were_lost(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_thread(100, 1000, "app");
	put_switch(100, 1000, UT_CPU_RUNS);
	put_sample(100, 1005, 0, 5);
	put(UT_CPU_LOST, &(struct ut_cpu_count){ 1006 * MS, 3 }, sizeof(struct ut_cpu_count), NULL);
	put_sample(100, 3005, 0, 5);
	put_switch(100, 3005, UT_CPU_WAITS);
	import();
	assert_int_equal(got.sample_count, 2);
	assert_int_equal(weight_ms(0), 5);
	assert_int_equal(weight_ms(1), 5);
}

static void what_lies_in_a_pause_does_not_count(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_control(1000, false);
	put_thread(100, 1000, "app");
	put_switch(100, 1000, UT_CPU_RUNS);
	put_sample(100, 1009, 0, 1);
	put_control(1010, true);
	put_sample(100, 1012, 0, 2);
	put_control(1015, false);
	put_sample(100, 1016, 0, 1);
	put_switch(100, 1020, UT_CPU_WAITS);
	put_gone(100, 1030);
	import();
	assert_int_equal(got.sample_count, 2);
	assert_int_equal(weight_ms(0), 2);
	assert_int_equal(weight_ms(1), 3); /* from the last sample to the pause */
	assert_int_equal(fact("app", "cpu_ns"), 5 * MS);
	assert_int_equal(fact("CPU usage: all threads", "elapsed_ns"), 5 * MS);
	assert_int_equal(fact("CPU usage: all threads", "paused_ns"), 25 * MS);
	assert_int_equal(got.pause_count, 2);
	assert_int_equal(got.pauses[0].ts, 1000 * MS);
	assert_int_equal(got.pauses[0].val, 10 * MS);
	assert_int_equal(got.pauses[1].ts, 1015 * MS);
}

static void usage_has_no_value_in_pauses(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_thread(100, 1000, "app");
	put_control(1000, false);
	put_switch(100, 1000, UT_CPU_RUNS);
	put_control(1004, true); /* on, within the first 10 ms */
	put_switch(100, 1007, UT_CPU_WAITS);
	put_switch(100, 1010, UT_CPU_RUNS);
	put_control(1015, false);
	put_control(1042, true);
	put_control(1044, false);
	put_control(1046, true);
	put_switch(100, 1050, UT_CPU_WAITS);
	put_gone(100, 1055);
	import();
	assert_int_equal(got.usage_count, 5);
	assert_usage(0, 1004, 50);
	assert_usage(1, 1010, 100);
	assert_usage(2, 1015, NAN);
	assert_usage(3, 1044, 100); /* of 1042 to 1044 and 1046 to 1050, so that the sum is right */
	assert_usage(4, 1050, 0);
}

/* Nobody has resumed it: it has no recording of its own. */
static void who_began_off_and_stayed_so_has_nothing(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES | UT_CPU_BEGAN_OFF);
	put_thread(100, 1000, "app");
	put_switch(100, 1000, UT_CPU_RUNS);
	put_sample(100, 1009, 0, 1);
	put_switch(100, 1010, UT_CPU_WAITS);
	put_gone(100, 1010);
	import();
	assert_int_equal(got.sample_count, 0);
	assert_int_equal(fact("app", "cpu_ns"), 0);
}

static void times_of_proc_show_what_was_not_sampled(void **state)
{
	(void)state;
	begin(UT_CPU_TIMED);
	put_thread(100, 1000, "app");
	put_sample(100, 1008, 0, 8);
	put(UT_CPU_TIMES,
	    &(struct ut_cpu_times){
		    .time = 1050 * MS, .tid = 100, .ran = 20 * MS, .ready = 5 * MS },
	    sizeof(struct ut_cpu_times), NULL);
	put_gone(100, 1100);
	import();
	assert_int_equal(got.sample_count, 2);
	assert_int_equal(weight_ms(1), 12);
	assert_string_equal(function(1), "[not sampled]");
	assert_int_equal(fact("app", "cpu_ns"), 20 * MS);
	assert_int_equal(fact("app", "waiting_ns"), 75 * MS);
}

/* Nobody tells of the turn at which a thread ends: until then it runs. */
static void a_short_thread_ran_until_it_ended(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_thread(100, 1000, "app");
	put_thread(101, 1010, "app");
	put_switch(101, 1011, UT_CPU_RUNS);
	put_switch(101, 1013, UT_CPU_PREEMPTED);
	put_switch(101, 1020, UT_CPU_RUNS);
	put_gone(101, 1025);
	import();
	assert_int_equal(got.sample_count, 1);
	assert_string_equal(function(0), "[not sampled]");
	assert_int_equal(weight_ms(0), 7);
}

/* One that executed the program runs from the beginning, and may never be switched. */
static void without_a_switch_it_ran_all_the_time(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_thread(100, 1000, "app");
	put_sample(100, 1003, 0, 1);
	put_gone(100, 1005);
	import();
	assert_int_equal(got.sample_count, 2);
	assert_int_equal(weight_ms(1), 2);
	assert_int_equal(fact("app", "cpu_ns"), 5 * MS);
}

static void put_rest(uint32_t which, uint64_t count, uint64_t ms)
{
	put(UT_CPU_REST,
	    &(struct ut_cpu_rest_rec){
		    .time = 1100 * MS, .which = which, .count = count, .ran = ms * MS },
	    sizeof(struct ut_cpu_rest_rec), NULL);
}

static void programs_without_samples_have_a_row_together(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_thread(100, 1000, "app");
	put_rest(UT_CPU_REST_PROGRAMS, 150, 90);
	put_rest(UT_CPU_REST_PROGRAMS, 50, 10);
	put_rest(UT_CPU_REST_UNSEEN, 0, 5000);
	put_rest(99, 1, 1);
	import();
	assert_int_equal(got.sample_count, 2);
	assert_string_equal(function(0), "[not sampled]");
	assert_int_equal(weight_ms(0), 100);
	assert_int_equal(ut_sample_weight(got.samples[1].val), UT_SAMPLE_WEIGHT_ARG);
	assert_int_equal(fact("[200 programs without samples]", "cpu_ns"), 100 * MS);
	assert_int_equal(fact("[programs and threads not seen]", "cpu_ns"), 5000 * MS);
}

static void keep_dump(void)
{
	const uint32_t head[] = { 0x4a695444, 1, 40, 62, 0, 100, 0, 0, 0, 0 };
	char kept[96];
	FILE *f;

	snprintf(kept, sizeof(kept), "%s" UT_CPU_KEPT_FOLDER, path);
	mkdir(kept, 0700);
	snprintf(kept, sizeof(kept), "%s" UT_CPU_KEPT_FOLDER "/" UT_CPU_KEPT_DUMP, path);
	f = fopen(kept, "w");
	assert_non_null(f);
	fwrite(head, sizeof(head), 1, f);
	for (uint64_t i = 0; i < 2; i++) {
		const uint32_t record[] = { 0, 16 + 40 + 4 };
		const uint64_t body[] = { (1000 + 10 * i) * MS, 0, 0x5000, 0x5000, 0x100, i };

		fwrite(record, sizeof(record), 1, f);
		fwrite(body, sizeof(body), 1, f);
		fwrite(i ? "new" : "old", 4, 1, f);
	}
	fclose(f);
}

static void code_at_one_address_is_what_was_there_at_the_time(void **state)
{
	(void)state;
	begin(UT_CPU_SWITCHES);
	put_thread(100, 1000, "app");
	put_anonymous();
	put_code(1, 0x5010);
	put_sample(100, 1005, 1, 1);
	put_sample(100, 1015, 1, 1);
	keep_dump();
	import();
	assert_int_equal(got.sample_count, 2);
	assert_string_equal(function(0), "old");
	assert_string_equal(function(1), "new");
}

static int set_up(void **state)
{
	(void)state;
	ut_trace_init(&trace);
	return 0;
}

static int tear_down(void **state)
{
	char kept[96];

	(void)state;
	ut_trace_release(&trace);
	snprintf(kept, sizeof(kept), "%s" UT_CPU_KEPT_FOLDER, path);
	if (!access(kept, F_OK))
		(void)!ut_path_remove_tree(kept, NULL);
	return 0;
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return ut_path_remove_tree(dir, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UT_TESTS(cpu_read)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_of_cycles_weigh_what_was_run),
		TEST(those_of_a_clock_weigh_what_they_say_without_turns),
		TEST(those_of_a_clock_weigh_what_was_run_between_turns),
		TEST(those_of_a_clock_weigh_what_they_say_where_turns_were_lost),
		TEST(what_lies_in_a_pause_does_not_count),
		TEST(usage_has_no_value_in_pauses),
		TEST(who_began_off_and_stayed_so_has_nothing),
		TEST(times_of_proc_show_what_was_not_sampled),
		TEST(a_short_thread_ran_until_it_ended),
		TEST(without_a_switch_it_ran_all_the_time),
		TEST(programs_without_samples_have_a_row_together),
		TEST(code_at_one_address_is_what_was_there_at_the_time),
	};

	return cmocka_run_group_tests_name("import/cpu_read", tests, make_dir, remove_dir);
}
