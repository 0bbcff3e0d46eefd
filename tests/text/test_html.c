/* test_html.c - tests src/text/html.h: what a trace says cannot become part of the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/html.h"
#include "text/out.h"

static int make_out(void **state)
{
	*state = ut_out_open_memory();
	return 0;
}

static int free_out(void **state)
{
	ut_out_abandon(*state);
	return 0;
}

static bool holds(const struct ut_out *o, const char *text)
{
	size_t len;
	const char *data = ut_out_data(o, &len);

	return memmem(data, len, text, strlen(text)) != NULL;
}

static size_t count(const struct ut_out *o, const char *text)
{
	size_t len, n = 0;
	const char *data = ut_out_data(o, &len), *at;

	while ((at = memmem(data, len, text, strlen(text)))) {
		len -= (size_t)(at + 1 - data);
		data = at + 1;
		n++;
	}
	return n;
}

static void text_is_escaped(void **state)
{
	struct ut_out *o = *state;
	size_t len;

	ut_html_text(o, "a<b>&\"\0c", 8);
	assert_memory_equal(ut_out_data(o, &len),
			    "a&lt;b&gt;&amp;&quot;\xef\xbf\xbd"
			    "c",
			    25);
	assert_int_equal(len, 25);
}

static void data_cannot_end_its_element(void **state)
{
	static const char json[] = "{\"a\":\"</script><!--<script>\"}";
	struct ut_out *o = *state;

	ut_html_data(o, "d\"x", json, strlen(json));
	assert_true(holds(o, "id=\"d&quot;x\""));
	assert_true(holds(o, "\\u003c/script>\\u003c!--\\u003cscript>\"}"));
	assert_int_equal(count(o, "</script>"), 1);
	assert_int_equal(count(o, "<script"), 1);
}

static void a_page_is_whole_and_asks_nobody(void **state)
{
	struct ut_out *o = *state;

	ut_html_begin(o, "a & b");
	ut_html_data(o, "data", "{}", 2);
	ut_html_end(o, "ut.section('x');\n");
	assert_true(holds(o, "<title>a &amp; b</title>"));
	assert_true(holds(o, "default-src 'none'"));
	assert_true(holds(o, "prefers-color-scheme: dark"));
	assert_true(holds(o, "const ut = "));
	assert_true(holds(o, "ut.section('x');\n</script>\n</body>\n</html>\n"));
	assert_int_equal(count(o, "<script"), count(o, "</script>"));
	assert_int_equal(count(o, "src="), 0);
	assert_int_equal(count(o, "https:"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(text_is_escaped, make_out, free_out),
		cmocka_unit_test_setup_teardown(data_cannot_end_its_element, make_out, free_out),
		cmocka_unit_test_setup_teardown(a_page_is_whole_and_asks_nobody, make_out,
						free_out),
	};

	return cmocka_run_group_tests_name("text/html", tests, NULL, NULL);
}
