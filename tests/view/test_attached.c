/* test_attached.c - what tools attach to a view (src/analysis/view/view.h): asked for by name, told
 * in the answer about the trace, and carried into a one-file page. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "base/str.h"
#include "report/one_page.h"
#include "support/unit.h"
#include "text/out.h"
#include "view/sheet.h"
#include "view/view.h"

static struct ut_view *make_view(void)
{
	struct ut_view *v = ut_view_new();
	struct ut_store store;
	struct maker m;

	make_start(&m);
	make_span(&m, make_track(&m, UT_TRACK_THREAD, 1, "main"), "work", 1000, 50);
	make_finish(&m, &store);
	ut_view_add(v, "dir/run.utr", &store);
	ut_view_ready(v, 1);
	return v;
}

static struct ut_out *json(const char *text)
{
	struct ut_out *out = ut_out_open_memory();

	ut_out_text(out, text);
	return out;
}

static int ask(struct ut_view *v, const char *method, const char *question, struct ut_buf *to)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_err err = { 0 };
	enum ut_answer kind;
	int rc = ut_view_ask(v, method, (struct ut_str){ question, strlen(question) }, out, &kind,
			     &err);
	const char *data;
	size_t len;

	data = ut_out_data(out, &len);
	to->len = 0;
	if (rc)
		ut_buf_text(to, err.text);
	else
		ut_buf_add(to, data, len);
	ut_buf_char(to, '\0');
	ut_out_abandon(out);
	return rc;
}

static void test_ask(void **state)
{
	struct ut_view *v = make_view();
	struct ut_buf b = { 0 };

	(void)state;
	ut_view_attach(v, "devlog", "Device log", "cores", json("{\"n\":1}"));
	ut_view_attach(v, "ops", "Ops", "cores", json("{\"n\":2}"));
	ut_view_attach(v, "devlog", "Device log", "stats", json("{\"n\":3}"));
	ut_view_attach(v, "devlog", "Device log", "cores", json("{\"n\":4}"));
	assert_int_equal(ask(v, "sheet", "{\"tool\":\"devlog\",\"name\":\"cores\"}", &b), 0);
	assert_string_equal(b.data, "{\"n\":4}");
	assert_int_equal(ask(v, "sheet", "{\"tool\":\"ops\",\"name\":\"cores\"}", &b), 0);
	assert_string_equal(b.data, "{\"n\":2}");
	assert_int_equal(ask(v, "sheet", "{\"tool\":\"ops\",\"name\":\"core\"}", &b), -EINVAL);
	assert_string_equal(b.data, "no such sheet: core of ops");
	assert_int_equal(ask(v, "sheet", "{}", &b), -EINVAL);
	assert_int_equal(ask(v, "info", "{}", &b), 0);
	assert_non_null(strstr(b.data, "\"tools\":[{\"id\":\"devlog\",\"title\":\"Device log\","
				       "\"sheets\":[\"cores\",\"stats\"]},{\"id\":\"ops\","
				       "\"title\":\"Ops\",\"sheets\":[\"cores\"]}]"));
	assert_null(strstr(b.data, "\"links\""));
	ut_buf_release(&b);
	ut_view_free(v);
}

static void test_describe(void **state)
{
	const struct ut_view_about about = { .input = "log <1>.csv",
					     .subtitle = "2 chips",
					     .first = "cores" };
	struct ut_view *v = make_view();
	struct ut_buf b = { 0 };

	(void)state;
	assert_int_equal(ask(v, "info", "{}", &b), 0);
	assert_non_null(strstr(b.data, "{\"title\":\"run.utr\",\"files\":[\"run.utr\"]"));
	assert_null(strstr(b.data, "\"tools\""));
	ut_view_describe(v, &about);
	ut_view_link(v, "download", "all \"results\"");
	ut_view_allow_again(v);
	assert_int_equal(ask(v, "info", "{}", &b), 0);
	assert_non_null(strstr(b.data, "{\"title\":\"log <1>.csv\",\"subtitle\":\"2 chips\","
				       "\"files\":[\"log <1>.csv\"]"));
	assert_non_null(strstr(b.data, "\"first\":\"cores\""));
	assert_non_null(strstr(b.data, "\"links\":[{\"href\":\"download\","
				       "\"title\":\"all \\\"results\\\"\"}]"));
	assert_non_null(strstr(b.data, "\"again\":true"));
	assert_int_equal(ut_view_since(v, 0, 1040), 40);
	ut_buf_release(&b);
	ut_view_free(v);
}

static void test_sheet(void **state)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "core", .title = "Core", .type = "text" },
		{ .key = "d",
		  .title = "Less",
		  .type = "number",
		  .unit = "cycles",
		  .is_signed = true },
	};
	struct ut_out *out = ut_out_open_memory();
	struct ut_sheet s;
	const char *data;
	size_t len;

	(void)state;
	ut_sheet_init(&s, columns, 2);
	ut_sheet_text(&s, (struct ut_str){ "1-2", 3 });
	ut_sheet_i64(&s, -5);
	ut_sheet_write(&s, 0, out);
	data = ut_out_data(out, &len);
	assert_int_equal(len, strlen("{\"columns\":[{\"key\":\"core\",\"title\":\"Core\",\"type\":"
				     "\"text\"},{\"key\":\"d\",\"title\":\"Less\",\"type\":"
				     "\"number\",\"unit\":\"cycles\",\"signed\":true}],\"data\":["
				     "[\"1-2\"],[-5]],\"rows\":1,\"more\":0}"));
	assert_memory_equal(data, "{\"columns\":[{\"key\":\"core\"", 25);
	ut_out_abandon(out);
}

static void test_page(void **state)
{
	struct ut_view *v = make_view();
	struct ut_out *out = ut_out_open_memory();
	struct ut_buf page = { 0 };
	const char *data;
	size_t len;

	(void)state;
	if (ut_one_page_missing()) {
		ut_out_abandon(out);
		ut_view_free(v);
		skip();
	}
	ut_view_attach(v, "devlog", "Device log", "\"><img>", json("{\"secret\":1}"));
	ut_one_page_write(v, 100, out);
	assert_int_equal(ut_out_error(out, NULL), 0);
	data = ut_out_data(out, &len);
	ut_buf_add(&page, data, len);
	ut_buf_char(&page, '\0');
	/* packed, in an element of its own, and nothing of its name is markup */
	assert_non_null(strstr(page.data, "class=\"sheet\" data-tool=\"devlog\" "
					  "data-name=\"&quot;&gt;&lt;img&gt;\">"));
	assert_null(strstr(page.data, "secret"));
	ut_buf_release(&page);
	ut_out_abandon(out);
	ut_view_free(v);
}

UT_TESTS(attached)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ask),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_sheet),
		cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
