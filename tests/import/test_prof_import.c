/*
 * test_prof_import.c - tests src/trace/import/prof and src/trace/import/perf: profiles of other
 * tools are the samples that they tell of.
 */
#include "import/importer.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "export/exporter.h"
#include "import/perf/perf_file.h"
#include "make_perf.h"
#include "sample/folded.h"
#include "sample/prof.h"
#include "support/unit.h"
#include "text/out.h"

static char path[] = "/tmp/ut_prof_XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_file(const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void load(const void *bytes, size_t size, struct ut_store *store)
{
	struct ut_err err = { 0 };

	write_file(bytes, size);
	if (ut_import(path, NULL, store, &err))
		fail_msg("%s", err.text);
}

/* Folded stacks of a store, whatever it was made of. */
static void check_folded(const struct ut_store *store, const char *event, const char *expected)
{
	const struct ut_prof_opts opts = { .event = event };
	struct ut_out *out = ut_out_open_memory();
	struct ut_prof p;
	size_t len;

	ut_prof_init(&p, &opts);
	ut_prof_add(&p, store);
	ut_prof_finalize(&p);
	ut_folded_write(out, &p);
	assert_string_equal(ut_out_data(out, &len), expected);
	ut_out_abandon(out);
	ut_prof_release(&p);
}

static void check_text(const char *text, const char *event, const char *expected)
{
	struct ut_store store;

	load(text, strlen(text), &store);
	check_folded(&store, event, expected);
	ut_store_release(&store);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void folded_stacks_are_samples(void **state)
{
	(void)state;
	check_text("main;work 30\nmain;work;sort 20\nidle 5\n", "samples",
		   "main;work 30\nmain;work;sort 20\nidle 5\n");
	check_text("[unknown];f;[lib.so] 12\r\nx;y::z(int, int) 1\n", "samples",
		   "[unknown];f;[lib.so] 12\nx;y::z(int, int) 1\n");
}

/* Behind what is looked at to know the format. */
static void lines_that_are_none_are_counted(void **state)
{
	struct ut_buf b = { 0 };
	struct ut_store store;

	(void)state;
	while (b.len < 5000)
		ut_buf_text(&b, "a;b 1\n");
	ut_buf_text(&b, "no number\n a;b 7\na;c 5000000000\n");
	load(b.data, b.len, &store);
	assert_int_equal(store.trace.losses.unread, 2);
	check_folded(&store, NULL, "a;c 5000000000\na;b 834\n");
	ut_store_release(&store);
	ut_buf_release(&b);
}

static void what_perf_script_prints_is_samples(void **state)
{
	(void)state;
	check_text("# captured on: Monday\n"
		   "#\n"
		   "my prog  5031/5040 [001] 12345.678901:     250000 cpu-clock:pppH: \n"
		   "\t    7f1e2d3c4b5a inner+0x1a (/usr/lib/libx.so)\n"
		   "\t    7f1e2d3c4000 std::sort<int>(int*, int*)+0x5 (/usr/lib/libx.so)\n"
		   "\t    55d1a0001234 main+0x10 (/home/me/a b (1)/app)\n"
		   "\n"
		   "my prog  5031/5031 [000] 12345.678902:     250000 cpu-clock:pppH: \n"
		   "\tffffffff81001000 do_syscall_64+0x33 ([kernel.kallsyms])\n"
		   "\t    55d1a0001234 [unknown] (/home/me/app)\n"
		   "\n",
		   "cpu-clock:pppH",
		   "[app];do_syscall_64 250000\nmain;std::sort<int>(int*, int*);inner 250000\n");
	/* without chains, without periods, without CPUs */
	check_text("app 77 1.5: cycles:  55d1a0001234 main+0x10 (/bin/app)\n"
		   "app 77 1.000001: cycles:  55d1a0001234 main+0x10 (/bin/app)\n",
		   "cycles events", "main 2\n");
	/* inlined functions and lines */
	check_text("app 77 1.5: 10 cycles:\n"
		   "\t 1000 leaf (inlined)\n"
		   "\t 1000 outer+0x5 (/bin/app)\n"
		   "  app.c:12\n",
		   "cycles events", "outer;leaf 10\n");
}

/* ---- pprof ----------------------------------------------------------------------------------- */

static void pprof_comes_back_as_it_went(void **state)
{
	static const char text[] = "main;work 30\nmain;work;sort 20\nidle;[lib.so] 5\n";
	struct ut_store store, again;
	struct ut_out *out = ut_out_open_memory();
	const char *bytes;
	size_t len;

	(void)state;
	load(text, strlen(text), &store);
	ut_export_pprof.write(&store, out);
	bytes = ut_out_data(out, &len);
	assert_true(ut_import_pprof.probe(bytes, len));
	assert_false(ut_import_perfetto.probe == ut_import_pprof.probe);
	load(bytes, len, &again);
	check_folded(&again, NULL, "main;work 30\nmain;work;sort 20\nidle;[lib.so] 5\n");
	ut_store_release(&store);
	ut_store_release(&again);
	ut_out_abandon(out);
}

/* Types: samples/count and cpu/milliseconds; the first function is inlined into the second. */
static const unsigned char small[] = {
	0x0a, 4,    0x08, 1,    0x10, 2,    0x0a, 4,   0x08, 3,   0x10, 4, /* sample types */
	0x12, 8,    0x0a, 2,    1,    2,    0x12, 2,   2,    10, /* locations 1 2; 2, 10 */
	0x22, 12,   0x08, 1,    0x18, 5,    0x22, 2,   0x08, 1,   0x22, 2,    0x08, 2, /* location
											  1: f1, f2
											*/
	0x22, 6,    0x08, 2,    0x22, 2,    0x08, 3, /* location 2: f3 */
	0x2a, 4,    0x08, 1,    0x10, 5,    0x2a, 4,   0x08, 2,   0x10, 6,    0x2a, 4,   0x08,
	3,    0x10, 7,    0x32, 0,    0x32, 7,    's', 'a',  'm', 'p',  'l',  'e',  's', 0x32,
	5,    'c',  'o',  'u',  'n',  't',  0x32, 3,   'c',  'p', 'u',  0x32, 12,   'm', 'i',
	'l',  'l',  'i',  's',  'e',  'c',  'o',  'n', 'd',  's', 0x32, 2,    'f',  '1', 0x32,
	2,    'f',  '2',  0x32, 2,    'f',  '3',
};

static void pprof_of_others_is_read(void **state)
{
	struct ut_store store;

	(void)state;
	assert_true(ut_import_pprof.probe((const char *)small, sizeof(small)));
	load(small, sizeof(small), &store);
	assert_int_equal(store.row_count, 2); /* a sum of two samples */
	check_folded(&store, NULL, "f3;f2;f1 10000000\n");
	ut_store_release(&store);
	for (size_t i = 1; i < sizeof(small); i++) { /* cut anywhere */
		if (!ut_import_pprof.probe((const char *)small, i))
			continue;
		load(small, i, &store);
		ut_store_release(&store);
	}
}

/* ---- perf.data ------------------------------------------------------------------------------- */

static void load_perf(struct made_perf *p, struct ut_store *store)
{
	struct ut_buf file = { 0 };

	perf_finish(p, &file);
	load(file.data, file.len, store);
	ut_buf_release(&file);
}

static uint64_t samples_of(const struct ut_store *s, uint64_t tid)
{
	for (size_t i = 0; i < s->trace.track_count; i++) {
		if (s->trace.tracks[i].id == tid)
			return s->rows[i].count;
	}
	return 0;
}

static const char *module_of(const struct ut_store *s, uint32_t place)
{
	return ut_strtab_get(&s->trace.strings, ut_stacks_get_place(&s->trace.stacks, place).module)
		.ptr;
}

static void records_are_taken_in_order_of_time(void **state)
{
	static const uint64_t ip[] = { 0x5010, 0 };
	struct made_perf p = { 0 };
	struct ut_store store;

	(void)state;
	/* of another buffer: the mapping that was there at the time comes later in the file */
	perf_sample(&p, 7, 7, 300, 0, ip);
	perf_sample(&p, 7, 7, 500, 0, ip);
	perf_record(&p, UT_PDATA_FINISHED_ROUND, NULL, 0);
	perf_map(&p, 7, &(struct made_map){ 0x5000, 0x1000, 0, "/first" }, 100);
	perf_comm(&p, 7, 7, "prog", 90);
	perf_map(&p, 7, &(struct made_map){ 0x5000, 0x1000, 0x2000, "/second" }, 400);
	perf_record(&p, UT_PDATA_FINISHED_ROUND, NULL, 0);
	load_perf(&p, &store);
	assert_int_equal(samples_of(&store, 7), 2);
	assert_string_equal(module_of(&store, 1), "/first");
	assert_int_equal(ut_stacks_get_place(&store.trace.stacks, 1).address, 0x10);
	assert_string_equal(module_of(&store, 2), "/second");
	assert_int_equal(ut_stacks_get_place(&store.trace.stacks, 2).address, 0x2010);
	assert_string_equal(ut_strtab_get(&store.trace.strings, store.trace.tracks[0].name).ptr,
			    "prog");
	ut_store_release(&store);
}

static void children_begin_with_what_their_parent_has(void **state)
{
	static const uint64_t ip[] = { 0x5010, 0x6011, 0 };
	struct made_perf p = { 0 };
	struct ut_store store;

	(void)state;
	perf_map(&p, 7, &(struct made_map){ 0x5000, 0x3000, 0, "/app" }, 1);
	perf_map(&p, 7, &(struct made_map){ 0x6000, 0x1000, 0, "/lib" },
		 2); /* in the middle of it */
	perf_fork(&p, 8, 7, 3);
	perf_sample(&p, 8, 8, 4, 0, ip);
	load_perf(&p, &store);
	assert_int_equal(samples_of(&store, 8), 1);
	assert_string_equal(module_of(&store, 1), "/lib"); /* the caller: one byte before */
	assert_int_equal(ut_stacks_get_place(&store.trace.stacks, 1).address, 0x10);
	assert_string_equal(module_of(&store, 2), "/app");
	ut_store_release(&store);
}

static void events_are_distinguished(void **state)
{
	static const uint64_t ip[] = { 0x10, 0 };
	struct made_perf p = { .events = 2 };
	struct ut_store store;

	(void)state;
	perf_sample(&p, 7, 7, 4, 0, ip);
	perf_sample(&p, 7, 7, 5, 1, ip);
	perf_sample(&p, 7, 7, 6, 1, ip);
	perf_sample(&p, 7, 7, 7, 9, ip); /* nobody knows it */
	load_perf(&p, &store);
	check_folded(&store, "cpu-clock", "[unknown] 1000000\n");
	check_folded(&store, "task-clock", "[unknown] 2000000\n");
	assert_int_equal(store.trace.losses.unread, 1);
	ut_store_release(&store);
}

/* Any byte changed, any end: it is read, or refused. */
static void damage_is_survived(void **state)
{
	static const uint64_t ip[] = { 0x5010, 0x6011, 0 };
	struct made_perf p = { .events = 2 };
	struct ut_buf file = { 0 };
	struct ut_store store;

	(void)state;
	perf_map(&p, 7, &(struct made_map){ 0x5000, 0x3000, 0, "/app" }, 1);
	perf_comm(&p, 7, 7, "prog", 1);
	perf_fork(&p, 8, 7, 3);
	perf_sample(&p, 8, 8, 4, 1, ip);
	perf_finish(&p, &file);
	for (size_t i = 0; i < file.len; i++) {
		char was = file.data[i];

		file.data[i] = (char)(was ^ (i % 2 ? 0xff : 0x10));
		write_file(file.data, file.len - i % 3);
		if (!ut_import(path, NULL, &store, NULL))
			ut_store_release(&store);
		file.data[i] = was;
	}
	ut_buf_release(&file);
}

UT_TESTS(prof_import)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_stacks_are_samples),
		cmocka_unit_test(lines_that_are_none_are_counted),
		cmocka_unit_test(what_perf_script_prints_is_samples),
		cmocka_unit_test(pprof_comes_back_as_it_went),
		cmocka_unit_test(pprof_of_others_is_read),
		cmocka_unit_test(records_are_taken_in_order_of_time),
		cmocka_unit_test(children_begin_with_what_their_parent_has),
		cmocka_unit_test(events_are_distinguished),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
