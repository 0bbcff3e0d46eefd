/* test_view_picture.c - tests src/analysis/view/view_picture.h: what is in a window is in its
 * picture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "draw/scene.h"
#include "support/unit.h"
#include "view/view.h"
#include "view/view_picture.h"

#define SPANS 10u

static struct ut_view *view;

/* Two threads, the second busy in the second half only, and a counter. */
static int start(void **state)
{
	static struct ut_store store;
	uint32_t first, second, counter;
	struct maker m;

	(void)state;
	make_start(&m);
	first = make_track(&m, UT_TRACK_THREAD, 1, "first");
	second = make_track(&m, UT_TRACK_THREAD, 2, "second");
	counter = make_track(&m, UT_TRACK_COUNTER, 3, "memory");
	for (uint64_t i = 0; i < SPANS; i++) {
		make_span(&m, first, "outer", i * 1000, 900);
		make_span(&m, first, "inner", i * 1000 + 100, 500);
		if (i >= SPANS / 2)
			make_span(&m, second, "late", i * 1000, 800);
		make_double(&m, counter, "memory", i * 1000, (double)i);
	}
	make_finish(&m, &store);
	view = ut_view_new();
	ut_view_add(view, "test", &store);
	ut_view_ready(view, 1);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ut_view_free(view);
	return 0;
}

struct counted {
	size_t rects, texts;
	double right;
};

static struct counted draw(const struct ut_view_picture *p, struct ut_buf *about)
{
	struct ut_scene *scene = ut_scene_new();
	struct counted c = { 0 };
	struct ut_scene_page page;

	ut_view_picture(view, p, scene, about);
	assert_int_equal(ut_scene_pages(scene), 1);
	page = ut_scene_page_of(scene, 0);
	for (size_t i = 0; i < page.count; i++) {
		const struct ut_mark *mark = &page.marks[i];

		c.rects += mark->kind == UT_MARK_RECT;
		c.texts += mark->kind == UT_MARK_TEXT;
		if (mark->kind == UT_MARK_RECT && mark->box.x + mark->box.width > c.right)
			c.right = mark->box.x + mark->box.width;
	}
	assert_true(c.right <= page.width);
	ut_scene_free(scene);
	return c;
}

static void all_of_it_is_drawn(void **state)
{
	const struct ut_view_picture p = { .width = 1200 };
	struct ut_buf about = { 0 };
	struct counted c = draw(&p, &about);

	(void)state;
	assert_true(c.rects >= 2 * SPANS + SPANS / 2);
	assert_non_null(strstr(about.data, "3 tracks"));
	assert_null(strstr(about.data, "no room"));
	ut_buf_release(&about);
}

static void what_is_not_in_the_window_is_left_out(void **state)
{
	const struct ut_view_picture p = { .to = 2000, .width = 1200 };
	struct ut_buf about = { 0 };

	(void)state;
	draw(&p, &about);
	assert_non_null(strstr(about.data, "2 tracks"));
	ut_buf_release(&about);
}

static void what_has_no_room_is_reported(void **state)
{
	const struct ut_view_picture p = { .rows = 2, .width = 1200 };
	struct ut_buf about = { 0 };

	(void)state;
	draw(&p, &about);
	assert_non_null(strstr(about.data, "1 tracks; 2 more have no room"));
	ut_buf_release(&about);
}

static void odd_windows_are_drawn_all_the_same(void **state)
{
	static const struct ut_view_picture odd[] = {
		{ .from = UINT64_MAX, .to = 1, .width = 1 },
		{ .from = 5, .to = 5, .width = UINT32_MAX, .rows = UINT32_MAX },
		{ .to = UINT64_MAX },
		{ .from = 999999, .to = 1000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct ut_buf about = { 0 };

		draw(&odd[i], &about);
		assert_true(about.len > 0);
		ut_buf_release(&about);
	}
}

UT_TESTS(view_picture)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_drawn),
		cmocka_unit_test(what_is_not_in_the_window_is_left_out),
		cmocka_unit_test(what_has_no_room_is_reported),
		cmocka_unit_test(odd_windows_are_drawn_all_the_same),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
