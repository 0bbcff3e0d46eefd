/*
 * test_page_image.c - tests src/analysis/report/page_image.h: what a page holds of a trace that is
 * too large for it. Nothing in it is made up: rows are there as they were, or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "base/str.h"
#include "import/utr_read.h"
#include "model/store.h"
#include "model/utr_planes.h"
#include "report/page_image.h"
#include "support/unit.h"
#include "text/out.h"
#include "view/view.h"

#define SPANS    3000u
#define EACH     100u /* ns from one to the next */
#define SAMPLES  250000u
#define PEAK     77777u /* the sample that is above all others */
#define ASYNC_ID 1000000u

/* Long spans with a short one inside, flows between those of two threads, async spans, a counter.
 */
static struct ut_view *make_view(void)
{
	struct ut_view *v = ut_view_new();
	struct ut_store store;
	struct maker m;
	uint32_t one, two, async, counter;

	make_start(&m);
	one = make_track(&m, UT_TRACK_THREAD, 1, "one");
	two = make_track(&m, UT_TRACK_THREAD, 2, "two");
	async = make_track(&m, UT_TRACK_ASYNC, 3, "requests");
	counter = make_track(&m, UT_TRACK_COUNTER, 4, "load");
	for (uint64_t i = 0; i < SPANS; i++) {
		uint64_t at = i * EACH;

		make_span(&m, one, "long", at, i % 50 ? 20 : 95);
		make_span(&m, one, "short", at + 1, 2);
		make_span(&m, two, "far", at, i % 50 ? 10 : 90);
		make_kind(&m, one, UT_KIND_FLOW_OUT, "flow", at, i + 1);
		make_kind(&m, two, UT_KIND_FLOW_IN, "flow", at + 5, i + 1);
		make_kind(&m, async, UT_KIND_ASYNC_BEGIN, "request", at, ASYNC_ID + i);
		make_kind(&m, async, UT_KIND_ASYNC_END, "request", at + (i % 50 ? 7 : 93),
			  ASYNC_ID + i);
	}
	for (uint64_t i = 0; i < SAMPLES; i++)
		make_double(&m, counter, "load", i, i == PEAK ? 9 : (double)(i % 7));
	make_finish(&m, &store);
	ut_view_add(v, "run.utr", &store);
	ut_view_ready(v, 1);
	return v;
}

static int collect(void *ctx, const void *data, size_t len, int last)
{
	(void)last;
	ut_buf_add(ctx, data, len);
	return 0;
}

/* The view of what a page of so many slices holds; *head: its head. */
static struct ut_view *reopened(struct ut_view *v, uint64_t slices, struct ut_buf *page)
{
	struct ut_view *back = ut_view_new();
	struct ut_err err = { 0 };
	struct ut_store store;
	uint32_t head;
	size_t size;
	void *map;

	assert_int_equal(ut_page_image(v, slices, collect, page), 0);
	assert_memory_equal(page->data, "UTI2", 4);
	memcpy(&head, page->data + 4, sizeof(head));
	size = page->len - 8 - head;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(map != MAP_FAILED);
	memcpy(map, page->data + 8 + head, size);
	assert_true(ut_utr_join_rows(map, size));
	if (ut_utr_open_memory("page", map, size, &store, &err))
		fail_msg("%s", err.text);
	page->data[8 + head] = '\0'; /* the head is a text now */
	ut_view_add(back, "page", &store);
	ut_view_ready(back, 1);
	return back;
}

static char *ask(struct ut_view *v, const char *method, const char *question)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_err err = { 0 };
	enum ut_answer kind;
	const char *data;
	char *copy;
	size_t len;

	assert_int_equal(ut_view_ask(v, method, ut_str_of(question), out, &kind, &err), 0);
	data = ut_out_data(out, &len);
	copy = calloc(1, len + 1);
	memcpy(copy, data, len);
	ut_out_abandon(out);
	return copy;
}

/* How often a text has a part. */
static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

static void what_fits_is_all_there(void **state)
{
	static const char *const questions[][2] = {
		{ "places", "{}" },
		{ "aggregate", "{\"scope\":{\"tracks\":[0,1,2]}}" },
		{ "list", "{\"scope\":{},\"limit\":100000}" },
		{ "flows", "{\"t0\":0,\"t1\":1000000,\"limit\":100000}" },
	};
	struct ut_view *v = make_view(), *back;
	struct ut_buf page = { 0 };

	(void)state;
	back = reopened(v, 1000000, &page);
	assert_null(strstr(page.data + 8, "left out"));
	assert_non_null(strstr(page.data + 8, "\"whole\":{}"));
	for (size_t i = 1; i < sizeof(questions) / sizeof(questions[0]); i++) {
		char *a = ask(v, questions[i][0], questions[i][1]);
		char *b = ask(back, questions[i][0], questions[i][1]);

		assert_string_equal(a, b);
		free(a);
		free(b);
	}
	ut_view_free(v);
	ut_view_free(back);
	ut_buf_release(&page);
}

static void of_too_many_the_longest_are_there_as_they_were(void **state)
{
	struct ut_view *v = make_view(), *back;
	struct ut_buf page = { 0 };
	char *list, *flows, *full;

	(void)state;
	back = reopened(v, 600, &page);
	assert_in_range(ut_view_slices(back), 100, 700);
	assert_int_equal(ut_view_span(back), ut_view_span(v));
	assert_non_null(strstr(page.data + 8, "slices were left out to keep this page small"));
	assert_non_null(strstr(page.data + 8, "\"whole\":{\"aggregate\":"));
	/* the long ones of each lane, async or not, with the lengths that they had */
	list = ask(back, "list", "{\"scope\":{\"query\":\"dur:>80ns\"},\"limit\":100000}");
	full = ask(v, "list", "{\"scope\":{\"query\":\"dur:>80ns\"},\"limit\":100000}");
	assert_int_equal(count(list, "\"long\""), count(full, "\"long\""));
	assert_int_equal(count(list, "\"far\""), count(full, "\"far\""));
	assert_int_equal(count(list, "\"request\""), count(full, "\"request\""));
	assert_int_equal(count(list, "\"request\""), SPANS / 50);
	free(list);
	free(full);
	/* an arrow joins what it joined */
	flows = ask(back, "flows", "{\"t0\":0,\"t1\":1000000,\"limit\":100000}");
	assert_null(strstr(flows, "\"track\":[]"));
	free(flows);
	ut_view_free(v);
	ut_view_free(back);
	ut_buf_release(&page);
}

static void a_counter_keeps_its_extremes(void **state)
{
	struct ut_view *v = make_view(), *back;
	struct ut_buf page = { 0 };
	char *a, *b;

	(void)state;
	back = reopened(v, 1000000, &page);
	a = ask(v, "aggregate", "{\"scope\":{\"tracks\":[3]}}");
	b = ask(back, "aggregate", "{\"scope\":{\"tracks\":[3]}}");
	assert_non_null(strstr(a, "250000"));
	assert_null(strstr(b, "250000"));
	assert_non_null(strstr(b, "[0],")); /* least */
	assert_non_null(strstr(b, "[9],")); /* greatest: one sample */
	free(a);
	free(b);
	ut_view_free(v);
	ut_view_free(back);
	ut_buf_release(&page);
}

UT_TESTS(page_image)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_all_there),
		cmocka_unit_test(of_too_many_the_longest_are_there_as_they_were),
		cmocka_unit_test(a_counter_keeps_its_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
