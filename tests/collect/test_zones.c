/* test_zones.c - tests src/record/collect/zones.h: functions of a language, as they are recorded.
 */
#include "collect/zones.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/gate.h"
#include "collect/session.h"
#include "support/unit.h"
#include "unitrace/zones.h"
#include "wire/control.h"

#define HOUR UINT64_C(3600000000000)

static uint64_t zone(const char *domain, const char *name, uint32_t line)
{
	const struct ut_zone z = { .domain = domain,
				   .name = name,
				   .name_len = strlen(name),
				   .file = "a.py",
				   .file_len = 4,
				   .line = line };

	return ut_gate_wake() ? ut_zones.define(&z) : 0;
}

static void two_of_one_name(void)
{
	uint64_t a = zone("Python", "f", 1), b = zone("Python", "f", 9);

	ut_zones.begin(a);
	ut_zones.begin(b);
	ut_zones.end(b);
	ut_zones.end(a);
}

static void zones_of_one_name_are_distinguished(void **state)
{
	struct session *s = *state;

	session_run(s, two_of_one_name);
	assert_string_equal(s->text, "span f file='a.py' line=1\nspan f file='a.py' line=9\n");
}

static void short_ones(void)
{
	uint64_t outer = zone("Python", "outer", 1), inner = zone("Python", "inner", 2), mark, last;
	uint64_t hour = ut_zones.ticks(HOUR);

	ut_zones.begin(outer);
	mark = ut_zones.begin(inner);
	if (!ut_zones.drop(inner, mark, hour))
		_exit(1);
	mark = ut_zones.begin(inner);
	if (ut_zones.drop(inner, mark, 0)) /* none is younger than that */
		_exit(2);
	last = ut_zones.begin(outer);
	if (ut_zones.drop(inner, mark, hour)) /* something came after it */
		_exit(3);
	if (!ut_zones.drop(outer, last, hour) || !ut_zones.drop(inner, mark, hour))
		_exit(4);
	ut_zones.end(outer);
}

static void what_is_dropped_was_never_there(void **state)
{
	struct session *s = *state;

	session_run(s, short_ones);
	assert_int_equal(s->status, 0);
	assert_string_equal(s->text, "span outer file='a.py' line=1\n");
}

static void unwanted(void)
{
	uint64_t none = zone("Python", "f", 1);

	if (none || ut_zones.begin(none))
		_exit(1);
}

static void a_domain_that_nobody_wants_has_no_zones(void **state)
{
	struct session *s = *state;

	assert_int_equal(ut_control_add_filter(s->control->exclude, "Py*"), 0);
	session_run(s, unwanted);
	assert_int_equal(s->status, 0);
	assert_string_equal(s->text, "");
}

static void open_at_a_fork(void)
{
	uint64_t f = zone("Python", "f", 1), g = zone("Python", "g", 2);
	pid_t pid;

	ut_zones.begin(f);
	pid = fork();
	if (pid == 0) {
		ut_zones.begin(g);
		ut_zones.end(g);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	ut_zones.end(f);
}

static void zones_are_known_in_a_child(void **state)
{
	struct session *s = *state;

	session_run(s, open_at_a_fork);
	assert_non_null(strstr(s->text, "span f file='a.py' line=1\n"));
	assert_non_null(strstr(s->text, "span g file='a.py' line=2\n"));
}

#define IN_SESSION(f) cmocka_unit_test_setup_teardown(f, session_make, session_drop)

UT_TESTS(zones)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(zones_of_one_name_are_distinguished),
		IN_SESSION(what_is_dropped_was_never_there),
		IN_SESSION(a_domain_that_nobody_wants_has_no_zones),
		IN_SESSION(zones_are_known_in_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
