/* test_exporters.c - tests the lookups of src/trace/export/exporter.h, and what all exporters
 * share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/support.h"
#include "support/unit.h"

static void formats_are_found_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(ut_exporter_by_name("chrome"), &ut_export_chrome);
	assert_ptr_equal(ut_exporter_by_name("perfetto"), &ut_export_perfetto);
	assert_ptr_equal(ut_exporter_by_name("csv"), &ut_export_csv);
	assert_null(ut_exporter_by_name("Chrome"));
	assert_null(ut_exporter_by_name(""));
}

static void formats_are_found_by_file(void **state)
{
	(void)state;
	assert_ptr_equal(ut_exporter_by_file("a.json"), &ut_export_chrome);
	assert_ptr_equal(ut_exporter_by_file("dir.x/a.b.json.gz"), &ut_export_chrome);
	assert_ptr_equal(ut_exporter_by_file("a.json.zst"), &ut_export_chrome);
	assert_ptr_equal(ut_exporter_by_file("a.pftrace"), &ut_export_perfetto);
	assert_ptr_equal(ut_exporter_by_file("a.perfetto-trace.gz"), &ut_export_perfetto);
	assert_ptr_equal(ut_exporter_by_file("a.csv.gz"), &ut_export_csv);
	assert_null(ut_exporter_by_file("a.txt"));
	assert_null(ut_exporter_by_file("json"));
	assert_null(ut_exporter_by_file(".gz"));
	assert_null(ut_exporter_by_file(""));
}

static void every_format_can_be_asked_for_in_both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; ut_exporters[i]; i++) {
		assert_ptr_equal(ut_exporter_by_name(ut_exporters[i]->name), ut_exporters[i]);
		assert_ptr_equal(ut_exporter_by_file(ut_exporters[i]->suffix), ut_exporters[i]);
	}
}

static void kinds_of_the_future_are_left_out(void **state)
{
	(void)state;
	for (size_t i = 0; ut_exporters[i]; i++) {
		struct script with, without;

		script_start(&with, ut_exporters[i]);
		script_event(&with, (struct ut_event){ .kind = UT_KIND_COUNT });
		script_event(&with, (struct ut_event){ .kind = 255 });
		script_end(&with);
		script_start(&without, ut_exporters[i]);
		script_end(&without);
		assert_int_equal(with.len, without.len);
		assert_memory_equal(with.text, without.text, with.len);
		script_release(&with);
		script_release(&without);
	}
}

static void a_file_given_up_in_the_middle_leaks_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; ut_exporters[i]; i++) {
		struct script s;

		script_start(&s, ut_exporters[i]);
		script_span(&s, s.thread, "open", 1, 100);
		script_span(&s, s.thread, "inside", 2, 3);
		s.exporter->close(s.sink);
		script_release(&s);
	}
}

UT_TESTS(exporters)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_found_by_name),
		cmocka_unit_test(formats_are_found_by_file),
		cmocka_unit_test(every_format_can_be_asked_for_in_both_ways),
		cmocka_unit_test(kinds_of_the_future_are_left_out),
		cmocka_unit_test(a_file_given_up_in_the_middle_leaks_nothing),
	};

	return cmocka_run_group_tests_name("report/exporters", tests, NULL, NULL);
}
