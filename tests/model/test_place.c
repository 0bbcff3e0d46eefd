/* test_place.c - tests src/trace/model/place.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/classify.h"
#include "model/trace.h"
#include "support/unit.h"

static struct ut_str str(const char *text)
{
	return (struct ut_str){ text, strlen(text) };
}

static void every_name_leads_back_to_its_number(void **state)
{
	(void)state;
	for (uint8_t i = 0; i < UT_PROCESS_KINDS; i++)
		assert_int_equal(ut_process_kind_called(str(ut_process_kind_name(i))), i);
	for (uint8_t i = 0; i < UT_DEVICE_TYPES; i++)
		assert_int_equal(ut_device_type_called(str(ut_device_type_name(i))), i);
	for (uint8_t i = 0; i < UT_ROLES; i++)
		assert_int_equal(ut_role_called(str(ut_role_name(i))), i);
	assert_int_equal(ut_role_called(str("of a later version")), UT_ROLE_UNKNOWN);
	assert_string_equal(ut_role_name(200), "unknown");
	assert_string_equal(ut_process_kind_name(200), "unknown");
	assert_string_equal(ut_device_type_name(200), "unknown");
}

static void an_api_is_known_by_either_name_and_a_new_one_by_its_own(void **state)
{
	struct ut_trace t;
	struct ut_api_id id;

	(void)state;
	ut_trace_init(&t);
	assert_int_equal(ut_api_called(&t.strings, str("CUDA")).api, UT_API_CUDA);
	assert_int_equal(ut_api_called(&t.strings, str("cuda")).api, UT_API_CUDA);
	assert_int_equal(ut_api_called(&t.strings, str("Level Zero")).api, UT_API_LEVEL_ZERO);
	assert_int_equal(ut_api_called(&t.strings, str("level_zero")).api, UT_API_LEVEL_ZERO);
	assert_int_equal(ut_api_called(&t.strings, str("")).api, UT_API_NONE);
	assert_int_equal(ut_api_called(&t.strings, str("none")).api, UT_API_NONE);
	assert_int_equal(t.strings.count, 0);
	for (uint8_t i = UT_API_OTHER + 1; i < UT_APIS; i++) {
		struct ut_api_id one = { .api = i };

		assert_int_equal(ut_api_called(&t.strings, ut_api_name(&t.strings, one)).api, i);
		assert_int_equal(ut_api_called(&t.strings, ut_api_title(&t.strings, one)).api, i);
	}
	id = ut_api_called(&t.strings, str("Quantum 3"));
	assert_int_equal(id.api, UT_API_OTHER);
	assert_string_equal(ut_api_name(&t.strings, id).ptr, "Quantum 3");
	assert_string_equal(ut_api_title(&t.strings, id).ptr, "Quantum 3");
	assert_int_equal(ut_api_name(&t.strings, (struct ut_api_id){ 0 }).len, 0);
	assert_int_equal(ut_api_name(&t.strings, (struct ut_api_id){ .api = 200 }).len, 0);
	ut_trace_release(&t);
}

static void a_label_starts_with_an_api_as_a_word(void **state)
{
	(void)state;
	assert_int_equal(ut_api_starting(str("cuda:0 GPU-1a2b")), UT_API_CUDA);
	assert_int_equal(ut_api_starting(str("CUDA driver")), UT_API_CUDA);
	assert_int_equal(ut_api_starting(str("OpenCL GPU 0000:3a:00.0")), UT_API_OPENCL);
	assert_int_equal(ut_api_starting(str("mpi")), UT_API_MPI);
	assert_int_equal(ut_api_starting(str("mpi4py")), UT_API_NONE);
	assert_int_equal(ut_api_starting(str("0000:3a:00.0")), UT_API_NONE);
	assert_int_equal(ut_api_starting(str("")), UT_API_NONE);
}

static void a_track_without_a_role_has_that_of_its_type(void **state)
{
	struct ut_track k = { .type = UT_TRACK_LANE };

	(void)state;
	assert_int_equal(ut_track_role(&k), UT_ROLE_LANE);
	assert_false(ut_track_is_described(&k));
	k.role = UT_ROLE_QUEUE;
	assert_int_equal(ut_track_role(&k), UT_ROLE_QUEUE);
	assert_true(ut_track_is_described(&k));
	k.guessed = 1;
	assert_false(ut_track_is_described(&k));
	k = (struct ut_track){ .type = UT_TRACK_COUNTER };
	assert_int_equal(ut_track_role(&k), UT_ROLE_COUNTER);
}

static void calls_are_known_once_and_not_without_end(void **state)
{
	struct ut_trace t;
	char text[32];

	(void)state;
	ut_trace_init(&t);
	ut_classify_add_calls(&t, 0);
	ut_classify_add_calls(&t, ut_strtab_intern_z(&t.strings, "CUDA")); /* everybody knows it */
	assert_int_equal(t.call_count, 0);
	ut_classify_add_calls(&t, ut_strtab_intern_z(&t.strings, "mine"));
	ut_classify_add_calls(&t, ut_strtab_intern_z(&t.strings, "mine"));
	assert_int_equal(t.call_count, 1);
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "mine %d", i);
		ut_classify_add_calls(&t, ut_strtab_intern_z(&t.strings, text));
	}
	assert_int_equal(t.call_count, UT_MOST_CALLS);
	ut_trace_release(&t);
}

UT_TESTS(place)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_leads_back_to_its_number),
		cmocka_unit_test(an_api_is_known_by_either_name_and_a_new_one_by_its_own),
		cmocka_unit_test(a_label_starts_with_an_api_as_a_word),
		cmocka_unit_test(a_track_without_a_role_has_that_of_its_type),
		cmocka_unit_test(calls_are_known_once_and_not_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
