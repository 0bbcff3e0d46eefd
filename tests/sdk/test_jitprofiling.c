/*
 * test_jitprofiling.c - tests src/record/sdk/jitprofiling.c.
 *
 * link: -Wl,--wrap=dlopen -Wl,--wrap=dlsym
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "jitprofiling.h"
#include "sdk/fake_collectors.h"
#include "support/unit.h"

#define ENV(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void nobody(void)
{
	iJIT_Method_Load m = { .method_id = 1 };

	CHECK(iJIT_IsProfilingActive() == iJIT_NOTHING_RUNNING);
	CHECK(!iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED, &m));
	CHECK(!iJIT_NotifyEvent(iJVM_EVENT_TYPE_SHUTDOWN, NULL));
}

static void without_a_collector_reports_are_refused(void **state)
{
	(void)state;
	assert_int_equal(alone(nobody, NULL), 0);
	assert_int_equal(alone(nobody, ENV("INTEL_JIT_PROFILER64=missing")), 0);
	/* A library with neither function, and one with Initialize missing, are no collectors. */
	assert_int_equal(alone(nobody, ENV("INTEL_JIT_PROFILER64=" FAKE_V1)), 0);
}

static void reports(void)
{
	iJIT_Method_Load m = { .method_id = iJIT_GetNewMethodID() };
	iJIT_Method_Load_V3 v3 = { .method_id = iJIT_GetNewMethodID() };
	iJIT_Method_Inline_Load part = { .method_id = iJIT_GetNewMethodID(),
					 .parent_method_id = m.method_id };

	CHECK(iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED, &m) == 1);
	CHECK(iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V3, &v3) == 1);
	CHECK(iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_INLINE_LOAD_FINISHED, &part) == 1);
	CHECK(iJIT_NotifyEvent(iJVM_EVENT_TYPE_SHUTDOWN, NULL) == 1);
	CHECK(iJIT_IsProfilingActive() == iJIT_SAMPLING_ON);
	CHECK(seen.opened == 1 && seen.jit_init == 1 && seen.jit_events == 4);
}

static void collector_is_loaded_once_and_gets_every_report(void **state)
{
	(void)state;
	assert_int_equal(alone(reports, ENV("INTEL_JIT_PROFILER64=" FAKE_JIT)), 0);
}

static void bad_reports(void)
{
	iJIT_Method_Load m = { 0 };
	iJIT_Method_Inline_Load part = { .method_id = 1 };

	CHECK(!iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED, &m));
	CHECK(!iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V2, NULL));
	CHECK(!iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_INLINE_LOAD_FINISHED, &part));
	CHECK(seen.jit_events == 0);
}

static void reports_without_an_id_never_reach_the_collector(void **state)
{
	(void)state;
	assert_int_equal(alone(bad_reports, ENV("INTEL_JIT_PROFILER64=" FAKE_JIT)), 0);
}

static void method_ids_are_never_zero_nor_repeated(void **state)
{
	unsigned int last = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		unsigned int id = iJIT_GetNewMethodID();

		assert_true(id > last);
		last = id;
	}
}

UT_TESTS(jitprofiling)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_collector_reports_are_refused),
		cmocka_unit_test(collector_is_loaded_once_and_gets_every_report),
		cmocka_unit_test(reports_without_an_id_never_reach_the_collector),
		cmocka_unit_test(method_ids_are_never_zero_nor_repeated),
	};

	unsetenv("INTEL_JIT_PROFILER64");
	return cmocka_run_group_tests_name("sdk/jitprofiling", tests, NULL, NULL);
}
