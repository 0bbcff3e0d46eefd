/* test_chart.c - tests src/trace/draw/chart.h: axes, ticks, series, and what becomes of many
 * samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "draw/bins.h"
#include "draw/chart.h"
#include "draw/svg.h"
#include "draw/ticks.h"
#include "support/unit.h"
#include "text/out.h"

/* ---- ticks ---------------------------------------------------------------------------------- */

/* Labels with blanks between them. */
static const char *labels(double low, double high, unsigned int want, bool is_log)
{
	static char all[512];
	struct ut_ticks t = { .is_log = is_log };
	char one[UT_TICKS_LABEL];

	ut_ticks_find(&t, &low, &high, want, true);
	all[0] = '\0';
	for (size_t i = 0; i < t.count; i++) {
		ut_ticks_label(&t, t.at[i], one);
		strncat(all, i ? " | " : "", sizeof(all) - strlen(all) - 1);
		strncat(all, one, sizeof(all) - strlen(all) - 1);
	}
	return all;
}

static void ticks_are_round_and_cover_the_data(void **state)
{
	(void)state;
	assert_string_equal(labels(0, 97.3, 5, false), "0 | 20 | 40 | 60 | 80 | 100");
	assert_string_equal(labels(0, 2.6e9, 6, false),
			    "0 | 0.5 G | 1.0 G | 1.5 G | 2.0 G | 2.5 G | 3.0 G");
	assert_string_equal(labels(0, 0.034, 4, false), "0 | 0.01 | 0.02 | 0.03 | 0.04");
	assert_string_equal(labels(-3, 4, 4, false), "-4 | -2 | 0 | 2 | 4");
	assert_string_equal(labels(0, 5000, 5, false), "0 | 1000 | 2000 | 3000 | 4000 | 5000");
	assert_string_equal(labels(1, 1000, 8, true),
			    "1 | 2 | 5 | 10 | 20 | 50 | 100 | 200 | 500 | 1000");
	assert_string_equal(labels(0.02, 3e6, 5, true), "0.01 | 1 | 100 | 10 k | 1 M");
}

static void ticks_are_bounded_whatever_the_range(void **state)
{
	static const double ranges[][2] = {
		{ 0, 5e-324 }, { -1e308, 1e308 }, { 1e15, 1e15 + 1 }, { 0, 1 }, { -1e-300, 1e-300 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		for (unsigned int want = 0; want < 40; want += 13) {
			double low = ranges[i][0], high = ranges[i][1];
			struct ut_ticks t = { .is_log = false };
			char label[UT_TICKS_LABEL];

			ut_ticks_find(&t, &low, &high, want, false);
			assert_true(t.count <= UT_TICKS_MOST);
			for (size_t k = 0; k < t.count; k++)
				assert_true(ut_ticks_label(&t, t.at[k], label) < UT_TICKS_LABEL);
		}
	}
}

static void numbers_have_three_digits(void **state)
{
	char to[UT_TICKS_LABEL];

	(void)state;
	ut_number_label(1234567, UT_NUMBERS_SHORT, to);
	assert_string_equal(to, "1.23 M");
	ut_number_label(55.81, UT_NUMBERS_SHORT, to);
	assert_string_equal(to, "55.8");
	ut_number_label(42, UT_NUMBERS_SHORT, to);
	assert_string_equal(to, "42");
	ut_number_label(0x1b8, UT_NUMBERS_HEX, to);
	assert_string_equal(to, "0x1b8");
	ut_number_label(1500000, UT_NUMBERS_NS, to);
	assert_string_equal(to, "1.50 ms");
}

/* ---- bins ----------------------------------------------------------------------------------- */

static void bins_keep_every_extreme(void **state)
{
	enum {
		SAMPLES = 10000,
		COLUMNS = 100
	};
	static double y[SAMPLES];
	struct ut_bin bins[COLUMNS];
	size_t count, all = 0;

	(void)state;
	for (size_t i = 0; i < SAMPLES; i++)
		y[i] = (double)(i % 7);
	y[4321] = 1000;
	y[77] = -5;
	y[5000] = NAN;
	count = ut_bins_fill(bins, COLUMNS,
			     &(struct ut_bins_of){ NULL, y, SAMPLES, 0, SAMPLES - 1 });
	assert_int_equal(count, COLUMNS);
	for (size_t i = 0; i < count; i++)
		all += bins[i].count;
	assert_int_equal(all, SAMPLES - 1); /* the hole is in none */
	assert_true(bins[43].high >= 1000 && bins[42].high < 7 && bins[44].high < 7);
	assert_true(bins[0].low <= -5);
	assert_true(bins[10].mean > 2.8 && bins[10].mean < 3.2);
	assert_true(bins[10].x > 1000 && bins[10].x < 1100);
}

static void columns_without_samples_have_no_bin(void **state)
{
	const double x[] = { 0, 1, 90, 100, 200 }, y[] = { 1, 2, 3, 4, 5 };
	struct ut_bin bins[10];

	(void)state;
	assert_int_equal(ut_bins_fill(bins, 10, &(struct ut_bins_of){ x, y, 5, 0, 100 }), 2);
	assert_int_equal(bins[1].count, 2);
}

/* ---- charts --------------------------------------------------------------------------------- */

static char *svg(const struct ut_chart *c)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_scene *s = ut_scene_new();
	size_t len;

	ut_chart_page(s, c);
	ut_svg_write(s, out);
	ut_out_write(out, "", 1); /* what is taken has no end of its own */
	ut_scene_free(s);
	return ut_out_take(out, &len);
}

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

static void a_line_has_axes_legend_and_titles(void **state)
{
	const double y[] = { 10, 55, 20, NAN, 30, 40 };
	const struct ut_series series[] = {
		{ .name = ut_str_of("XVE_STALL[%]"), .y = y, .count = 6 },
		{ .name = ut_str_of("roof"), .y = y, .count = 3, .has_label = true },
	};
	const struct ut_chart c = { .title = ut_str_of("Stalls"),
				    .subtitle = ut_str_of("a<b>::c"),
				    .x = { .title = ut_str_of("Samples") },
				    .y = { .title = ut_str_of("Stall (%)") },
				    .series = series,
				    .count = 2 };
	char *text = svg(&c);

	(void)state;
	assert_non_null(strstr(text, ">Stalls</text>"));
	assert_non_null(strstr(text, ">a&lt;b&gt;::c<title>"));
	assert_non_null(strstr(text, ">XVE_STALL[%]</text>"));
	assert_non_null(strstr(text, ">Samples</text>"));
	assert_non_null(strstr(text, "rotate(-90"));
	assert_non_null(strstr(text, ">60</text>")); /* the axis goes on to a round number */
	assert_int_equal(count_of(text, ">roof</text>"), 1);
	/* the hole breaks the line: two pieces, and the one of the second series */
	assert_int_equal(count_of(text, "stroke-linejoin=\"round\""), 2);
	free(text);
}

static void many_samples_are_a_band_and_its_mean(void **state)
{
	static double y[100000];
	const struct ut_series series = { .name = ut_str_of("m"), .y = y, .count = 100000 };
	const struct ut_chart c = { .series = &series, .count = 1 };
	char *text;

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		y[i] = (double)(i % 100);
	text = svg(&c);
	assert_true(strlen(text) < 30000);
	assert_int_equal(count_of(text, "Z\""), 1);
	free(text);
}

/* In one area nothing of them could be told apart. */
static void many_lines_of_many_samples_have_a_panel_each(void **state)
{
	static double y[5][100000];
	const struct ut_chart_span spans[] = { { 0, 50000, ut_str_of("first") },
					       { 50000, 99999, ut_str_of("second") } };
	struct ut_series series[5] = { 0 };
	struct ut_chart c = { .series = series, .count = 5, .spans = spans, .span_count = 2 };
	char *text;

	(void)state;
	for (size_t k = 0; k < 5; k++) {
		for (size_t i = 0; i < 100000; i++)
			y[k][i] = (double)(i % 10) * pow(10, (double)k);
		series[k] =
			(struct ut_series){ .name = ut_str_of("m"), .y = y[k], .count = 100000 };
	}
	text = svg(&c);
	assert_int_equal(count_of(text, ">m<title>m</title></text>"), 5);
	assert_int_equal(count_of(text, ">first</text>"), 1);
	assert_int_equal(count_of(text, ">second</text>"), 1);
	assert_int_equal(count_of(text, ">0</text>"),
			 5 + 1);                           /* of each y axis, and of the x axis */
	assert_int_equal(count_of(text, ">10</text>"), 1); /* each has its own scale */
	assert_int_equal(count_of(text, ">100 k</text>"), 1);
	free(text);
	c.count = 3;
	text = svg(&c);
	assert_int_equal(count_of(text, ">m<title>"), 0);
	free(text);
}

static void bars_say_what_they_are(void **state)
{
	const struct ut_str names[] = { ut_str_of("000001B8"), ut_str_of("000001C0") };
	const double a[] = { 5, 0 }, b[] = { 4, 7 };
	const struct ut_series series[] = {
		{ .kind = UT_SERIES_BARS, .name = ut_str_of("SbidStall"), .y = a, .count = 2 },
		{ .kind = UT_SERIES_BARS, .name = ut_str_of("SendStall"), .y = b, .count = 2 },
	};
	struct ut_chart c = { .x = { .names = names, .name_count = 2 },
			      .series = series,
			      .count = 2,
			      .is_stacked = true };
	char *text = svg(&c);

	(void)state;
	assert_non_null(strstr(text, "<title>000001B8, SbidStall: 5</title>"));
	assert_non_null(strstr(text, "<title>000001C0, SendStall: 7</title>"));
	assert_null(strstr(text, "000001C0, SbidStall")); /* nothing to see of a zero */
	assert_non_null(strstr(text, ">9</text>"));       /* 5 and 4 on each other */
	free(text);

	c = (struct ut_chart){ .y = { .names = names, .name_count = 2 },
			       .series = series,
			       .count = 1,
			       .is_sideways = true };
	text = svg(&c);
	assert_non_null(strstr(text, ">5</text>"));
	assert_non_null(strstr(text, ">000001C0<title>"));
	free(text);
}

/* Nothing at all, one value, infinities, a log axis with what has no place on it. */
static void odd_data_make_a_chart_too(void **state)
{
	const double none[] = { NAN, INFINITY, -INFINITY }, same[] = { 7, 7, 7 },
		     huge[] = { 1e308, -1e308, 5e-324 }, signs[] = { -1, 0, 1 };
	const double *const all[] = { none, same, huge, signs };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (unsigned int how = 0; how < 12; how++) {
			struct ut_series s = { .kind = (enum ut_series_kind)(how % 3),
					       .y = all[i],
					       .x = how % 2 ? all[i] : NULL,
					       .count = how < 6 ? 3 : 0 };
			struct ut_chart c = { .x = { .is_log = how % 4 == 3 },
					      .y = { .is_log = how % 4 > 1 },
					      .series = &s,
					      .count = 1 };
			char *text = svg(&c);

			assert_null(strstr(text, "nan"));
			assert_null(strstr(text, "inf"));
			free(text);
		}
	}
}

static void the_page_gets_numbers(void **state)
{
	static double y[50000];
	const double few[] = { 1, NAN };
	const struct ut_series series[] = {
		{ .name = ut_str_of("many"), .y = y, .count = 50000 },
		{ .name = ut_str_of("few\n"), .y = few, .count = 2 },
	};
	const struct ut_chart_span span = { 0, 10, ut_str_of("gemm") };
	const struct ut_chart c = { .title = ut_str_of("T\"1\""),
				    .series = series,
				    .count = 2,
				    .spans = &span,
				    .span_count = 1 };
	struct ut_out *out = ut_out_open_memory();
	const char *json;
	size_t len;

	(void)state;
	y[777] = 99;
	ut_chart_json(out, &c);
	json = ut_out_data(out, &len);
	assert_true(len < 40000);
	assert_non_null(strstr(json, "\"title\":\"T\\\"1\\\"\""));
	assert_non_null(strstr(json, "\"name\":\"few\\n\",\"y\":[1,null]"));
	assert_non_null(strstr(json, "\"low\":["));
	assert_non_null(strstr(json, ",99,"));
	assert_non_null(strstr(json, "\"spans\":[{\"from\":0,\"to\":10,\"name\":\"gemm\"}]"));
	ut_out_abandon(out);
}

UT_TESTS(chart)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_round_and_cover_the_data),
		cmocka_unit_test(ticks_are_bounded_whatever_the_range),
		cmocka_unit_test(numbers_have_three_digits),
		cmocka_unit_test(bins_keep_every_extreme),
		cmocka_unit_test(columns_without_samples_have_no_bin),
		cmocka_unit_test(a_line_has_axes_legend_and_titles),
		cmocka_unit_test(many_samples_are_a_band_and_its_mean),
		cmocka_unit_test(many_lines_of_many_samples_have_a_panel_each),
		cmocka_unit_test(bars_say_what_they_are),
		cmocka_unit_test(odd_data_make_a_chart_too),
		cmocka_unit_test(the_page_gets_numbers),
	};

	return cmocka_run_group_tests_name("draw/chart", tests, NULL, NULL);
}
