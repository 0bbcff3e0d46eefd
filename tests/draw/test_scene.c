/* test_scene.c - tests src/trace/draw/scene.h and what its printers make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "draw/picture.h"
#include "draw/scene.h"
#include "draw/typeset.h"
#include "support/unit.h"
#include "text/out.h"

static const struct ut_paint LINE = { .stroke = 0x0072b2ff, .width = 1.5 };
static const struct ut_lettering PLAIN = { .size = 10, .colour = 0x000000ff };

static struct ut_scene *a_scene(void)
{
	struct ut_scene *s = ut_scene_new();

	ut_scene_page(s, 200, 100);
	return s;
}

/* The file that comes of it, to be freed. */
static char *made(struct ut_scene *s, enum ut_picture_format format, size_t *len)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_err err = { 0 };

	if (ut_picture_write(s, format, out, &err))
		fail_msg("%s", err.text);
	ut_scene_free(s);
	return ut_out_take(out, len);
}

static char *svg(struct ut_scene *s)
{
	size_t len;

	return made(s, UT_PICTURE_SVG, &len);
}

static void marks_become_elements_in_their_order(void **state)
{
	struct ut_scene *s = a_scene();
	const struct ut_point path[] = { { 1, 2 }, { 3.25, 4.5 }, { 1e-9, 6 } };
	const struct ut_paint dashed = { .stroke = 0xd55e00ff, .width = 1, .dash = UT_DASH_LONG };
	char *text;

	(void)state;
	ut_scene_rect(s, &(struct ut_paint){ .fill = 0x11223380 }, (struct ut_box){ 1, 2, 3, 4 });
	ut_scene_polyline(s, &LINE, path, 3);
	ut_scene_line(s, &dashed, (struct ut_point){ 0, 0 }, (struct ut_point){ -1.005, 7 });
	ut_scene_text(s, &PLAIN, (struct ut_point){ 5, 6 }, ut_str_of("a<b & \"c\""));
	text = svg(s);
	assert_non_null(strstr(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" "
				     "height=\"100\" viewBox=\"0 0 200 100\""));
	assert_non_null(strstr(text, "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" "
				     "fill=\"#112233\" fill-opacity=\"0.5\"/>\n"
				     "<path d=\"M1 2L3.25 4.5L0 6\" fill=\"none\" "
				     "stroke=\"#0072b2\" stroke-width=\"1.5\" "
				     "stroke-linejoin=\"round\"/>\n"));
	assert_non_null(strstr(text, "stroke-dasharray=\"4 2\""));
	assert_non_null(strstr(text, ">a&lt;b &amp; &quot;c&quot;</text>"));
	free(text);
}

static void texts_of_any_bytes_are_valid_xml(void **state)
{
	struct ut_scene *s = a_scene();
	char *text;

	(void)state;
	ut_scene_text(s, &PLAIN, (struct ut_point){ 0, 0 },
		      (struct ut_str){ "\x01\xff\0\xef\xbf\xbfz", 7 });
	text = svg(s);
	assert_non_null(strstr(text, "> \xef\xbf\xbd \xef\xbf\xbdz</text>"));
	free(text);
}

static void what_has_no_place_is_left_out(void **state)
{
	struct ut_scene *s = a_scene();
	const struct ut_point path[] = { { 1, 2 }, { NAN, 4 } };

	(void)state;
	ut_scene_polyline(s, &LINE, path, 2);
	ut_scene_polyline(s, &LINE, path, 1);
	ut_scene_rect(s, &LINE, (struct ut_box){ 0, 0, INFINITY, 1 });
	ut_scene_text(s, &PLAIN, (struct ut_point){ 0, 0 }, ut_str_of(""));
	assert_int_equal(ut_scene_page_of(s, 0).count, 0);
	ut_scene_free(s);
}

static void pages_stand_below_each_other(void **state)
{
	struct ut_scene *s = a_scene();
	char *text;

	(void)state;
	ut_scene_page(s, 300, 50);
	text = svg(s);
	assert_non_null(strstr(text, "viewBox=\"0 0 300 150\""));
	assert_non_null(strstr(text, "transform=\"translate(0 100)\""));
	free(text);
}

static void a_note_follows_its_mark(void **state)
{
	struct ut_scene *s = a_scene();
	char *text;

	(void)state;
	ut_scene_disc(s, &LINE, (struct ut_point){ 1, 2 }, 3);
	ut_scene_note(s, ut_str_of("12 ms"));
	text = svg(s);
	assert_non_null(strstr(text, "<circle cx=\"1\" cy=\"2\" r=\"3\" "));
	assert_non_null(strstr(text, "><title>12 ms</title></circle>"));
	free(text);
}

static void the_name_of_a_file_says_its_format(void **state)
{
	(void)state;
	assert_int_equal(ut_picture_format_of("a.b/c.SVG"), UT_PICTURE_SVG);
	assert_int_equal(ut_picture_format_of("c.svg.gz"), UT_PICTURE_SVG);
	assert_int_equal(ut_picture_format_of("c.pdf"), UT_PICTURE_PDF);
	assert_int_equal(ut_picture_format_of("c.png"), UT_PICTURE_PNG);
	assert_int_equal(ut_picture_format_of("pdf"), UT_PICTURE_NONE);
	assert_int_equal(ut_picture_format_of("c.txt"), UT_PICTURE_NONE);
}

/* All marks, with a name that no font can show. */
static struct ut_scene *full_scene(void)
{
	struct ut_scene *s = a_scene();
	const struct ut_point path[] = { { 10, 20 }, { 30, 40 }, { 50, 60 } };
	struct ut_lettering turned = { .size = 8, .colour = 0x000000ff, .turn = -90 };

	ut_scene_title(s, ut_str_of("all marks"));
	ut_scene_clip(s, (struct ut_box){ 5, 5, 100, 80 });
	ut_scene_area(s, &LINE, path, 3);
	ut_scene_disc(s, &LINE, path[0], 4);
	ut_scene_unclip(s);
	ut_scene_text(s, &turned, (struct ut_point){ 20, 90 }, ut_str_of("turned text"));
	ut_scene_text(s, &PLAIN, (struct ut_point){ 60, 90 }, ut_str_of("\xff\x02 odd"));
	return s;
}

static void need_cairo(void)
{
	struct ut_err err = { 0 };
	int rc = ut_picture_check(UT_PICTURE_PDF, &err);

	if (rc == 0)
		return;
	print_message("skipped: %s\n", err.text);
	skip();
}

static void cairo_makes_pdf(void **state)
{
	struct ut_scene *s;
	size_t len;
	char *file;

	(void)state;
	need_cairo();
	s = full_scene();
	ut_scene_page(s, 100, 100);
	file = made(s, UT_PICTURE_PDF, &len);
	assert_true(len > 500);
	assert_memory_equal(file, "%PDF-", 5);
	assert_non_null(memmem(file, len, "/Count 2", 8));
	free(file);
}

static void cairo_makes_png_of_two_pixels_a_point(void **state)
{
	size_t len;
	char *file;

	(void)state;
	need_cairo();
	file = made(full_scene(), UT_PICTURE_PNG, &len);
	assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);
	assert_memory_equal(file + 16, "\0\0\x01\x90\0\0\0\xc8", 8); /* 400 x 200 */
	free(file);
}

static void too_many_pages_for_png_are_refused(void **state)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_scene *s = ut_scene_new();
	struct ut_err err = { 0 };

	(void)state;
	need_cairo();
	for (int i = 0; i < 80; i++)
		ut_scene_page(s, 10, 500);
	assert_int_equal(ut_picture_write(s, UT_PICTURE_PNG, out, &err), -E2BIG);
	assert_string_equal(err.text, "80 pages are too tall for one PNG: PDF and SVG have room");
	ut_scene_free(s);
	ut_out_abandon(out);
}

static void texts_lose_their_middle_to_fit(void **state)
{
	struct ut_arena arena = { 0 };
	struct ut_str text = ut_str_of("void gemm_kernel<float, 128, 64>(float const*, float*)");
	double all = ut_text_width(&PLAIN, text);

	(void)state;
	assert_true(all > 200 && all < 300);
	assert_ptr_equal(ut_text_fit(&arena, &PLAIN, text, all).ptr, text.ptr);
	for (double width = 0; width < all; width += 7.3) {
		struct ut_str fit = ut_text_fit(&arena, &PLAIN, text, width);

		assert_true(ut_text_width(&PLAIN, fit) <= width + 0.001);
		if (width > 60) { /* both ends are kept, and little room is wasted */
			assert_memory_equal(fit.ptr, "void", 4);
			assert_memory_equal(fit.ptr + fit.len - 2, "*)", 2);
			assert_true(ut_text_width(&PLAIN, fit) > width - 25);
		}
	}
	ut_arena_release(&arena);
}

UT_TESTS(scene)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_become_elements_in_their_order),
		cmocka_unit_test(texts_of_any_bytes_are_valid_xml),
		cmocka_unit_test(what_has_no_place_is_left_out),
		cmocka_unit_test(pages_stand_below_each_other),
		cmocka_unit_test(a_note_follows_its_mark),
		cmocka_unit_test(the_name_of_a_file_says_its_format),
		cmocka_unit_test(cairo_makes_pdf),
		cmocka_unit_test(cairo_makes_png_of_two_pixels_a_point),
		cmocka_unit_test(too_many_pages_for_png_are_refused),
		cmocka_unit_test(texts_lose_their_middle_to_fit),
	};

	return cmocka_run_group_tests_name("draw/scene", tests, NULL, NULL);
}
