/* test_profile.c - tests src/analysis/acelyzer/profile.h: which stages run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/profile.h"
#include "acelyzer/stage.h"
#include "support/unit.h"

static struct ut_ace_messages messages;

static int parse(struct ut_ace_profile *p, const char *text, enum ut_ace_release release)
{
	struct ut_ace_profile_rules rules = { release, &messages };
	struct ut_err err = { 0 };

	return ut_ace_profile_text(p, &rules, "p.json", text, strlen(text), &err);
}

/* The n-th stage of a name, as a release counts them. */
static bool on(const struct ut_ace_profile *p, const char *name, int n, enum ut_ace_release release)
{
	for (int i = 0; ut_ace_stages[i].name; i++) {
		if (!(ut_ace_stages[i].releases & 1u << release) ||
		    strcmp(ut_ace_stages[i].name, name) != 0)
			continue;
		if (!--n)
			return p->on[i];
	}
	fail_msg("no such stage: %s", name);
	return false;
}

static void an_empty_profile_means_everything(void **state)
{
	struct ut_ace_profile p;

	(void)state;
	assert_int_equal(parse(&p, "{}", UT_ACE_1_0), 0);
	assert_true(on(&p, "sort_events", 3, UT_ACE_1_0));
	assert_true(on(&p, "time_align_apply", 1, UT_ACE_1_0));
	assert_int_equal(parse(&p, " { } ", UT_ACE_1_2), 0);
	assert_true(on(&p, "event_categorizer", 1, UT_ACE_1_2));
	assert_false(on(&p, "verify", 1, UT_ACE_1_2));
}

static void what_is_not_listed_is_off(void **state)
{
	struct ut_ace_profile p;

	(void)state;
	assert_int_equal(parse(&p,
			       "{\"stages\":[{\"normalize_phase1\":true},"
			       "{\"calculate_stats\":false}]}",
			       UT_ACE_1_0),
			 0);
	assert_true(on(&p, "normalize_phase1", 1, UT_ACE_1_0));
	assert_false(on(&p, "normalize_phase2", 1, UT_ACE_1_0));
	assert_false(on(&p, "calculate_stats", 1, UT_ACE_1_0));
}

static void release_1_0_takes_a_repeated_name_for_the_next_one(void **state)
{
	struct ut_ace_profile p;

	(void)state;
	assert_int_equal(parse(&p,
			       "{\"stages\":[{\"sort_events\":true},{\"sort_events\":false},"
			       "{\"sort_events\":true}]}",
			       UT_ACE_1_0),
			 0);
	assert_true(on(&p, "sort_events", 1, UT_ACE_1_0));
	assert_false(on(&p, "sort_events", 2, UT_ACE_1_0));
	assert_true(on(&p, "sort_events", 3, UT_ACE_1_0));
	assert_int_equal(parse(&p, "{\"stages\":[{\"sort_events\":true}]}", UT_ACE_1_0), 0);
	assert_true(on(&p, "sort_events", 1, UT_ACE_1_0));
	assert_false(on(&p, "sort_events", 3, UT_ACE_1_0));
}

static void release_1_2_takes_a_repeated_name_for_all_of_them(void **state)
{
	struct ut_ace_profile p;

	(void)state;
	assert_int_equal(parse(&p, "{\"stages\":[{\"sort_events\":true}]}", UT_ACE_1_2), 0);
	for (int i = 1; i <= 4; i++)
		assert_true(on(&p, "sort_events", i, UT_ACE_1_2));
	assert_int_equal(parse(&p,
			       "{\"stages\":[{\"sort_events#2\":true},"
			       "{\"pipeline_barrier#4\":true}]}",
			       UT_ACE_1_2),
			 0);
	assert_false(on(&p, "sort_events", 1, UT_ACE_1_2));
	assert_true(on(&p, "sort_events", 2, UT_ACE_1_2));
	assert_true(on(&p, "pipeline_barrier", 4, UT_ACE_1_2));
	assert_false(on(&p, "pipeline_barrier", 1, UT_ACE_1_2));
}

static void all_occurrences_are_matched_one_by_one(void **state)
{
	struct ut_ace_profile p;

	(void)state;
	assert_int_equal(parse(&p,
			       "{\"stages\":[{\"assert_ts_sequence\":false},"
			       "{\"assert_ts_sequence\":true},{\"assert_ts_sequence\":false}]}",
			       UT_ACE_1_2),
			 0);
	assert_false(on(&p, "assert_ts_sequence", 1, UT_ACE_1_2));
	assert_true(on(&p, "assert_ts_sequence", 2, UT_ACE_1_2));
	assert_false(on(&p, "assert_ts_sequence", 3, UT_ACE_1_2));
}

static void a_wrong_order_is_reported(void **state)
{
	struct ut_ace_profile p;
	const char *text = "{\"stages\":[{\"calculate_stats\":true},{\"normalize_phase1\":true}]}";

	(void)state;
	assert_true(parse(&p, text, UT_ACE_1_2) < 0);
	assert_int_equal(parse(&p, text, UT_ACE_1_0),
			 0); /* 1.0: what follows is off, with a warning */
	assert_true(on(&p, "calculate_stats", 1, UT_ACE_1_0));
	assert_false(on(&p, "normalize_phase1", 1, UT_ACE_1_0));
	assert_true(messages.count > 0);
	assert_true(parse(&p, "{\"stages\":[{\"no_such_stage\":true}]}", UT_ACE_1_2) < 0);
}

static void what_is_no_profile_is_refused(void **state)
{
	struct ut_ace_profile p;

	(void)state;
	assert_true(parse(&p, "[]", UT_ACE_1_0) < 0);
	assert_true(parse(&p, "{\"stage\":[]}", UT_ACE_1_0) < 0);
	assert_true(parse(&p, "{\"stages\":[", UT_ACE_1_0) < 0);
	assert_true(parse(&p, "", UT_ACE_1_0) < 0);
}

static int release(void **state)
{
	(void)state;
	ut_ace_messages_release(&messages);
	return 0;
}

UT_TESTS(profile)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_means_everything),
		cmocka_unit_test(what_is_not_listed_is_off),
		cmocka_unit_test(release_1_0_takes_a_repeated_name_for_the_next_one),
		cmocka_unit_test(release_1_2_takes_a_repeated_name_for_all_of_them),
		cmocka_unit_test(all_occurrences_are_matched_one_by_one),
		cmocka_unit_test(a_wrong_order_is_reported),
		cmocka_unit_test(what_is_no_profile_is_refused),
	};

	return cmocka_run_group_tests_name("acelyzer/profile", tests, NULL, release);
}
