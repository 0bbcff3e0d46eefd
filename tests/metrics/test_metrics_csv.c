/* test_metrics_csv.c - tests src/analysis/metrics/metrics_csv.h: every layout, and what is wrong
 * with files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/logger.h"
#include "metrics/metrics_csv.h"
#include "support/unit.h"

static char folder[] = "/tmp/ut_metrics_csv.XXXXXX";
static char path[sizeof(folder) + 32];
static char reported[512];

static void hear(void *ctx, enum ut_log_level level, const char *room, const char *text)
{
	(void)ctx;
	(void)level;
	(void)room;
	snprintf(reported, sizeof(reported), "%s", text);
}

static const struct ut_logger logger = { .line = hear };

static void write_file(const char *name, const char *text, size_t len)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
}

static struct ut_metrics_file *open_text(const char *name, const char *text)
{
	struct ut_metrics_file *f;
	struct ut_err err = { 0 };

	write_file(name, text, strlen(text));
	reported[0] = '\0';
	if (ut_metrics_open(&f, path, &logger, &err))
		fail_msg("%s", err.text);
	return f;
}

static struct ut_metrics_row next(struct ut_metrics_file *f)
{
	struct ut_metrics_row row;
	struct ut_err err = { 0 };

	if (ut_metrics_next(f, &row, &err) != 1)
		fail_msg("no row: %s", err.text);
	return row;
}

static void no_more(struct ut_metrics_file *f)
{
	struct ut_metrics_row row;
	struct ut_err err = { 0 };

	assert_int_equal(ut_metrics_next(f, &row, &err), 0);
	ut_metrics_close(f);
}

static double value(struct ut_metrics_file *f, const char *title)
{
	struct ut_err err = { 0 };
	double v = 0;
	const struct ut_metrics_section *s;
	size_t n = 0;

	while (ut_metrics_section(f, n + 1))
		n++;
	s = ut_metrics_section(f, n);
	if (ut_metrics_value(f, ut_metrics_column(s, ut_str_of(title)), &v, &err))
		fail_msg("%s", err.text);
	return v;
}

static void assert_kernel(struct ut_metrics_file *f, struct ut_metrics_row row, const char *name)
{
	struct ut_str got = ut_metrics_kernel(f, row.kernel);

	assert_int_equal(got.len, strlen(name));
	assert_memory_equal(got.ptr, name, got.len);
}

/* What opening or reading to the end says. */
static const char *trouble(const char *text, size_t len)
{
	static struct ut_err err;
	struct ut_metrics_file *f;
	struct ut_metrics_row row;
	double v;
	int rc;

	memset(&err, 0, sizeof(err));
	write_file("bad.csv", text, len);
	if (ut_metrics_open(&f, path, &logger, &err))
		return err.text + (strncmp(err.text, path, strlen(path)) ? 0 : strlen(path));
	while ((rc = ut_metrics_next(f, &row, &err)) == 1) {
		for (size_t i = row.section->first; i < row.section->count; i++) {
			if (ut_metrics_value(f, i, &v, &err)) {
				rc = err.code;
				break;
			}
		}
		if (rc < 0)
			break;
	}
	ut_metrics_close(f);
	return rc ? err.text + strlen(path) : "";
}

#define BANNER "\n=== Device #0 Metrics ===\n\n"

static void queries_have_a_row_for_each_instance(void **state)
{
	struct ut_metrics_file *f =
		open_text("q.csv", BANNER
			  "Kernel,GlobalInstanceId,SubDeviceId,GpuTime[ns],XVE_STALL[%],Note\n"
			  "\"mm<int, 4>[SIMD32 {1; 1; 1} {2; 1; 1}]\",3,0,413536,96.170000,\n"
			  "\"mm<int, 4>[SIMD32 {1; 1; 1} {2; 1; 1}]\",3,1,5,1e3,-7\n\n"
			  "\"say \"\"hi\"\"\",4,0,18446744073709551615,-0.5,inf\n\n"
			  "\n=== Device #12 Metrics ===\n\n"
			  "Kernel,GlobalInstanceId,SubDeviceId,GpuTime[ns]\n"
			  "\"x\",9,0,1\n");
	struct ut_metrics_row row = next(f);

	(void)state;
	assert_int_equal(row.section->layout, UT_METRICS_QUERY);
	assert_int_equal(row.section->first, 3);
	assert_int_equal(row.line, 5);
	assert_int_equal(row.instance, 3);
	assert_int_equal(row.group, 1);
	assert_kernel(f, row, "mm<int, 4>[SIMD32 {1; 1; 1} {2; 1; 1}]");
	assert_true(value(f, "GpuTime[ns]") == 413536);
	assert_true(value(f, "XVE_STALL[%]") == 96.17);
	assert_true(isnan(value(f, "Note")));
	row = next(f);
	assert_int_equal(row.sub_device, 1);
	assert_int_equal(row.group, 1);
	assert_true(value(f, "XVE_STALL[%]") == 1000);
	assert_true(value(f, "Note") == -7);
	row = next(f);
	assert_kernel(f, row, "say \"hi\"");
	assert_int_equal(row.group, 2);
	assert_true(value(f, "GpuTime[ns]") == 18446744073709551615.0);
	assert_true(value(f, "XVE_STALL[%]") == -0.5);
	assert_true(isinf(value(f, "Note")));
	row = next(f);
	assert_int_equal(row.device, 12);
	assert_int_equal(row.section->number, 1);
	assert_int_equal(row.group, 3);
	no_more(f);
}

static void samples_are_distinguished_by_instance(void **state)
{
	struct ut_metrics_file *f =
		open_text("t.csv", BANNER "Kernel, GlobalInstanceId, GpuTime[ns], A[%]\n"
					  "\"k\", 1, 50, 1\n\"k\", 1, 50, 2\r\n"
					  "\"k\", 2, 50, 3\n\n\"k\", 2, 50, 4\n");

	(void)state;
	assert_int_equal(next(f).group, 1);
	assert_int_equal(next(f).group, 1);
	assert_true(value(f, "A[%]") == 2);
	assert_int_equal(next(f).group, 2);
	assert_int_equal(next(f).group, 3); /* an empty line ends an instance */
	no_more(f);
}

static void stalls_have_addresses(void **state)
{
	struct ut_metrics_file *f = open_text(
		"s.csv", BANNER "      Kernel, IP[Address], Active[Events], OtherStall[Events]\n"
				"   \"a::b\",    000001b8,   3,    48211\n"
				"   \"a::b\",    FFFFFFFFFFFFFFF8,   0,    1\n");
	struct ut_metrics_row row = next(f);

	(void)state;
	assert_int_equal(row.section->layout, UT_METRICS_STALL);
	assert_int_equal(row.address, 0x1b8);
	assert_true(value(f, "OtherStall[Events]") == 48211);
	assert_true(next(f).address == UINT64_C(0xfffffffffffffff8));
	no_more(f);
}

static void the_older_form_has_headers_and_names_without_quotes(void **state)
{
	struct ut_metrics_file *f = open_text(
		"old", "\n=== Device Timing Summary ===\n\n   Kernel,  Calls\n gemm, 7\n\n"
		       "\n== Kernel Metrics ==\n\n\nKernel,Device,SubDeviceId,GpuTime[ns],\n"
		       "mm<1, 2>[SIMD16 {56; 1; 1}],0,0,563720,\n\n"
		       "Kernel,Device,SubDeviceId,GpuTime[ns],\nb,1,0,5,\n\n");
	struct ut_metrics_row row = next(f);

	(void)state;
	assert_int_equal(row.section->layout, UT_METRICS_OLD);
	assert_kernel(f, row, "mm<1, 2>[SIMD16 {56; 1; 1}]");
	assert_true(value(f, "GpuTime[ns]") == 563720);
	row = next(f);
	assert_int_equal(row.device, 1);
	assert_int_equal(row.section->number, 0); /* the same titles again */
	assert_int_equal(row.group, 2);
	no_more(f);
}

static void the_older_form_repeats_rows(void **state)
{
	static const char header[] = "Kernel,Device,SubDeviceId,GpuTime[ns]\n";
	char text[512];
	struct ut_metrics_file *f;
	struct ut_metrics_row row;

	(void)state;
	snprintf(text, sizeof(text),
		 "== Kernel Metrics ==\n%sk,0,0,5\nk,0,1,6\nk,0,0,5\nk,0,1,6\nk,0,0,7\n", header);
	f = open_text("old", text);
	assert_false(next(f).is_repeated);
	row = next(f); /* another tile of it */
	assert_false(row.is_repeated);
	assert_int_equal(row.group, 1);
	assert_true(next(f).is_repeated);
	assert_true(next(f).is_repeated);
	row = next(f); /* the same tile again: it ran once more */
	assert_false(row.is_repeated);
	assert_true(row.group > 1);
	no_more(f);
}

static void files_of_a_folder_need_no_banner(void **state)
{
	struct ut_metrics_file *f = open_text(
		"metrics_3.csv", "Kernel, GlobalInstanceId, A[%]\n\"k\", 1, 5\n\n\"k\", 2, 6\n");
	struct ut_metrics_row row = next(f);

	(void)state;
	assert_int_equal(row.device, 3);
	assert_int_equal(next(f).group, 2); /* without an empty line behind the last one */
	no_more(f);
}

static void names_may_hold_line_breaks(void **state)
{
	struct ut_metrics_file *f = open_text("n.csv", BANNER "Kernel,GlobalInstanceId,A\n"
							      "\"a\nb, \"x\" c\",1,2\n\"k\",2,3\n");
	struct ut_metrics_row row = next(f);

	(void)state;
	assert_kernel(f, row, "a\nb, \"x\" c");
	assert_int_equal(row.line, 5);
	row = next(f);
	assert_int_equal(row.line, 7);
	no_more(f);
}

static void half_a_line_at_the_end_is_left_out(void **state)
{
	struct ut_metrics_file *f =
		open_text("c.csv", BANNER "Kernel,GlobalInstanceId,A,B\n\"k\",1,2,3\n\"k\",2,3");

	(void)state;
	next(f);
	no_more(f);
	assert_non_null(strstr(reported, "c.csv:6: the last line is cut off, it is left out"));
	/* one that has all its fields is whole */
	f = open_text("c.csv", BANNER "Kernel,GlobalInstanceId,A,B\n\"k\",2,3,4");
	next(f);
	no_more(f);
	assert_string_equal(reported, "");
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "hello\n", ": no metrics in it: no line 'Kernel,...' behind '=== Device #N "
			     "Metrics ==='" },
		{ BANNER "Kernel,GlobalInstanceId\n", ":4: the header names no metric" },
		{ BANNER "Kernel,GlobalInstanceId,A\n\"k\",x,1\n",
		  ":5: the number of an instance or device is none" },
		{ BANNER "Kernel,GlobalInstanceId,A\n\"k\",99999999999999999999,1\n",
		  ":5: the number of an instance or device is none" },
		{ BANNER "Kernel,GlobalInstanceId,A,B\n\"k\",1,1\n",
		  ":5: fewer fields than the header in line 4 has columns" },
		{ BANNER "Kernel,GlobalInstanceId,A\n\"k\",1,1,2\n",
		  ":5: more fields than the header in line 4 has columns" },
		{ BANNER "Kernel,GlobalInstanceId,A\n\"k\",1,abc\n", ":5: A is no number: abc" },
		{ BANNER "Kernel,GlobalInstanceId,A\n\"k\"\n",
		  ":5: a kernel's name and nothing else" },
		{ BANNER "Kernel,GlobalInstanceId,A\nk\n",
		  ":5: fewer fields than the header has columns" },
		{ BANNER "Kernel, IP[Address], OtherStall[Events]\n\"k\", xyz, 1\n",
		  ":5: the address of an instruction is no hex number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(trouble(cases[i].text, strlen(cases[i].text)), cases[i].says);
	assert_non_null(strstr(trouble("", 0), " is empty"));
}

/* Quotes that are never closed, in as many lines as fit: read once, not again and again. */
static void open_quotes_end(void **state)
{
	size_t len = (size_t)4 << 20, at;
	char *text = malloc(len);

	(void)state;
	at = (size_t)snprintf(text, len, BANNER "Kernel,GlobalInstanceId,A\n");
	while (at + 8 < len) {
		memcpy(text + at, "\"x,1,2\n", 7);
		at += 7;
	}
	assert_string_equal(trouble(text, at), "");
	free(text);
}

static void units_stand_in_brackets(void **state)
{
	(void)state;
	assert_true(ut_str_is(ut_metrics_unit(ut_str_of("GpuTime[ns]")), "ns"));
	assert_true(ut_str_is(ut_metrics_unit(ut_str_of("a[0].b[%]")), "%"));
	assert_int_equal(ut_metrics_unit(ut_str_of("StreamMarker")).len, 0);
	assert_int_equal(ut_metrics_unit(ut_str_of("")).len, 0);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "q.csv", "t.csv", "s.csv",   "old",
					     "n.csv", "c.csv", "bad.csv", "metrics_3.csv" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

UT_TESTS(metrics_csv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_have_a_row_for_each_instance),
		cmocka_unit_test(samples_are_distinguished_by_instance),
		cmocka_unit_test(stalls_have_addresses),
		cmocka_unit_test(the_older_form_has_headers_and_names_without_quotes),
		cmocka_unit_test(the_older_form_repeats_rows),
		cmocka_unit_test(files_of_a_folder_need_no_banner),
		cmocka_unit_test(names_may_hold_line_breaks),
		cmocka_unit_test(half_a_line_at_the_end_is_left_out),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(open_quotes_end),
		cmocka_unit_test(units_stand_in_brackets),
	};

	return cmocka_run_group_tests_name("metrics/metrics_csv", tests, make_folder,
					   remove_folder);
}
