/* test_html.c - tests src/trace/text/html.h: what a trace says cannot become part of the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"
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

UT_TESTS(html)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(text_is_escaped, make_out, free_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
