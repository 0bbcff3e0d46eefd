/* test_rewrite_again.c - tests src/analysis/merge/rewrite_again.h and rewrite_scan.h, against each
 * other.
 */
#include "merge/rewrite_again.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "merge/rewrite_scan.h"
#include "merge/rewrite_walk.h"
#include "support/unit.h"

#define PAD 64

/* As in a window: quotes behind the end, and a byte in front. */
struct window {
	char *room, *text, *end;
};

static void make_window(struct window *w, const char *text)
{
	size_t len = strlen(text);

	w->room = malloc(len + PAD + 1);
	assert_non_null(w->room);
	w->room[0] = ',';
	w->text = w->room + 1;
	w->end = w->text + len;
	memcpy(w->text, text, len);
	memset(w->end, '"', PAD);
}

static void free_window(struct window *w)
{
	free(w->room);
}

static void add_blanks(struct ut_buf *b)
{
	for (long n = random() % 12 ? 0 : random() % 70; n > 0; n--)
		ut_buf_char(b, " \n\t"[random() % 3]);
}

static void add_string(struct ut_buf *b)
{
	static const char letters[] = "abc,:[]{}01 \xc3\xa4";

	ut_buf_char(b, '"');
	for (long n = random() % 20 ? random() % 12 : 150; n > 0; n--)
		ut_buf_char(b, letters[random() % 11]);
	ut_buf_char(b, '"');
}

static void add_scalar(struct ut_buf *b)
{
	switch (random() % 4) {
	case 0:
		ut_buf_fmt(b, "%ld", random() % 100000);
		break;
	case 1:
		ut_buf_fmt(b, "%ld.%03ld", random(), random() % 1000);
		break;
	case 2:
		ut_buf_text(b, random() % 2 ? "null" : "true");
		break;
	default:
		add_string(b);
	}
}

static void add_value(struct ut_buf *b, int depth)
{
	long n = random() % 4;
	bool object = random() % 2;

	if (depth == 3 || random() % 2) {
		add_scalar(b);
		return;
	}
	ut_buf_char(b, object ? '{' : '[');
	for (long i = 0; i < n; i++) {
		ut_buf_text(b, i ? "," : "");
		add_blanks(b);
		if (object) {
			ut_buf_text(b, "\"ts\":");
			add_blanks(b);
		}
		add_value(b, depth + 1);
		add_blanks(b);
	}
	ut_buf_char(b, object ? '}' : ']');
}

/* Strict, without escapes; members that matter hold no brackets. */
static void add_event(struct ut_buf *b)
{
	static const char *const keys[] = { "ph",  "ts",  "pid", "id",   "bind_id", "sf",     "dur",
					    "cat", "tid", "",    "args", "xid",     "kind_id" };
	long n = random() % 10;

	ut_buf_char(b, '{');
	for (long i = 0; i < n; i++) {
		size_t key = (size_t)random() % (sizeof(keys) / sizeof(keys[0]));

		ut_buf_text(b, i ? "," : "");
		add_blanks(b);
		ut_buf_fmt(b, "\"%s\":", keys[key]);
		add_blanks(b);
		if (key < 7)
			add_scalar(b);
		else
			add_value(b, 0);
		add_blanks(b);
	}
	ut_buf_char(b, '}');
}

static struct ut_scan_keys keys; /* those of all tests: what one has taught it misleads no other */

static void expect_span(struct ut_str got, struct ut_str want)
{
	assert_ptr_equal(got.ptr, want.ptr);
	assert_int_equal(got.len, want.len);
}

static void both_looks_find_the_same(void **state)
{
	(void)state;
	srandom(7);
	for (int round = 0; round < 20000; round++) {
		struct ut_rewrite_walk_event first, again;
		struct ut_buf text = { 0 };
		const char *after, *after_again;
		struct window w;

		add_event(&text);
		make_window(&w, text.data);
		after = ut_scan_event(w.text, w.end, &keys, &first);
		after_again = ut_scan_again(w.text, w.end, &again);
		assert_ptr_equal(after, w.end);
#ifdef __SSE2__
		assert_ptr_equal(after_again, w.end);
		expect_span(again.text, first.text);
		expect_span(again.ph, first.ph);
		expect_span(again.ts, first.ts);
		expect_span(again.dur, first.dur);
		expect_span(again.pid, first.pid);
		expect_span(again.id, first.id);
		expect_span(again.bind_id, first.bind_id);
		expect_span(again.sf, first.sf);
#else
		assert_null(after_again);
#endif
		free_window(&w);
		ut_buf_release(&text);
	}
}

/* Keys that begin alike, that are too long to be remembered, that have blanks behind them. */
static void add_odd_event(struct ut_buf *b)
{
	static const char *const odd[] = {
		"\"p\":",    "\"pid\":", "\"pid2\":",
		"\"pid\" :", "\"ts\": ", "\"ts\\n\":",
		"\"\":",     "\"ph\":",  "\"a_key_of_more_than_16_bytes\":"
	};
	int members = 1 + (int)(random() % 6);

	ut_buf_char(b, '{');
	for (int i = 0; i < members; i++) {
		ut_buf_fmt(b, "%s%s", i ? "," : "", odd[random() % 9]);
		if (random() % 3)
			ut_buf_fmt(b, "%ld", random() % 100);
		else
			ut_buf_fmt(b, "{%s%ld}", odd[random() % 9], random() % 100);
	}
	ut_buf_char(b, '}');
}

static void keys_that_are_remembered_are_no_others(void **state)
{
	static struct ut_scan_keys remembered;

	(void)state;
	srandom(11);
	for (int round = 0; round < 20000; round++) {
		struct ut_scan_keys none = { 0 };
		struct ut_rewrite_walk_event first, again;
		struct ut_buf text = { 0 };
		struct window w;

		add_odd_event(&text);
		make_window(&w, text.data);
		assert_ptr_equal(ut_scan_event(w.text, w.end, &none, &first), w.end);
		assert_ptr_equal(ut_scan_event(w.text, w.end, &remembered, &again), w.end);
		expect_span(again.pid, first.pid);
		expect_span(again.ts, first.ts);
		expect_span(again.ph, first.ph);
		free_window(&w);
		ut_buf_release(&text);
	}
}

static void an_event_that_is_cut_off_is_none(void **state)
{
	static const char text[] =
		"{\"ph\":\"X\",\"ts\":1.5,\"name\":\"a}b\",\"args\":{\"l\":[1,2]}}";
	char part[sizeof(text)];
	struct ut_rewrite_walk_event e;
	struct window w;

	(void)state;
	for (size_t len = 1; len < sizeof(text) - 1; len++) {
		memcpy(part, text, len);
		part[len] = '\0';
		make_window(&w, part);
		assert_null(ut_scan_again(w.text, w.end, &e));
		assert_null(ut_scan_event(w.text, w.end, &keys, &e));
		free_window(&w);
	}
}

static void the_second_look_leaves_the_unusual_to_others(void **state)
{
	static const char *const texts[] = {
		"{\"ph\":\"M\",\"name\":\"process_name\"}", /* name and args matter */
		"{\"name\":\"a\\\"b\",\"ts\":1}",
		"{\"ts\" :1}",
		"{\"id\":{\"x\":1}}",
		"{\"ts\":,\"pid\":1}", /* the file has changed meanwhile */
	};
	struct ut_rewrite_walk_event e;
	struct window w;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		make_window(&w, texts[i]);
		assert_null(ut_scan_again(w.text, w.end, &e));
		free_window(&w);
	}
}

static void expect_list(const char *list, bool good)
{
	struct ut_buf text = { 0 };
	struct ut_rewrite_walk_event e;
	struct window w;

	ut_buf_fmt(&text, "{\"a\":%s}", list);
	make_window(&w, text.data);
	assert_int_equal(ut_scan_event(w.text, w.end, &keys, &e) != NULL, good);
	free_window(&w);
	ut_buf_release(&text);
}

static void lists_of_numbers_are_checked(void **state)
{
	static const char *const good[] = { "[]",
					    "[0]",
					    "[1,20,300]",
					    "[0,0,0]",
					    "[1,3,244,244]",
					    "[10,0]",
					    "[ 1,2]",
					    "[123456789012345]",
					    "[1,2,3,4,5,6,7,8,9]",
					    "[1.5,2]",
					    "[[1],[2]]" };
	static const char *const bad[] = { "[,]",   "[1,]",   "[,1]", "[1,,2]", "[01]", "[1,00]",
					   "[1 2]", "[1,02]", "[1}",  "[1,2",   "[1.]", "[-]" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		expect_list(good[i], true);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_list(bad[i], false);
}

UT_TESTS(rewrite_again)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_looks_find_the_same),
		cmocka_unit_test(keys_that_are_remembered_are_no_others),
		cmocka_unit_test(an_event_that_is_cut_off_is_none),
		cmocka_unit_test(the_second_look_leaves_the_unusual_to_others),
		cmocka_unit_test(lists_of_numbers_are_checked),
	};

	return cmocka_run_group_tests_name("merge/rewrite_again", tests, NULL, NULL);
}
