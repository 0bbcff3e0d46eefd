/* test_helper_thread.c - tests src/record/backend/helper_thread.h */
#include "backend/helper_thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/unit.h"
#include "support/wait.h"

static _Atomic uint64_t left; /* commands under way; each look tells one */
static _Atomic uint32_t looks, alone_looks;
static _Atomic bool stuck, has_signals, has_name;

/* A helper that has ended may look once more. */
static void report_one(void)
{
	uint64_t n = atomic_load(&left);

	while (n && !atomic_load(&stuck) && !atomic_compare_exchange_weak(&left, &n, n - 1))
		;
}

static void look(void)
{
	sigset_t blocked;
	char name[16] = "";

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!sigismember(&blocked, SIGUSR1) || !sigismember(&blocked, SIGTERM))
		atomic_store(&has_signals, true);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	if (!strcmp(name, "ut-tells"))
		atomic_store(&has_name, true);
	report_one();
	atomic_fetch_add(&looks, 1);
}

static void look_alone(void)
{
	atomic_fetch_add(&alone_looks, 1);
	report_one();
}

static uint64_t waiting(void)
{
	return atomic_load(&left);
}

static void nothing(void)
{
}

static void until_notified(void)
{
	UT_WAIT_UNTIL(!atomic_load(&left) && atomic_load(&has_name));
}

static void without_a_thread_the_end_looks_itself(void **state)
{
	static struct ut_helper h = {
		.name = "ut-none", .look = look, .waiting = waiting, .at_exit = nothing
	};

	(void)state;
	atomic_store(&left, 4);
	assert_int_equal(ut_helper_end(&h, look_alone), 0);
	assert_int_equal(atomic_exchange(&alone_looks, 0), 4);
	assert_true(atomic_load(&h.ended));
}

static void commands_are_reported_without_the_program(void **state)
{
	static struct ut_helper h = {
		.name = "ut-tells", .look = look, .waiting = waiting, .at_exit = nothing
	};

	(void)state;
	atomic_store(&left, 3);
	ut_helper_wake(&h);
	until_notified();
	atomic_store(&left, 2);
	ut_helper_wake(&h);
	until_notified();
	assert_int_equal(ut_helper_end(&h, look_alone), 0);
	assert_true(atomic_load(&looks) >= 5);
	assert_int_equal(atomic_load(&alone_looks), 0);
	assert_false(atomic_load(&has_signals));
}

static void a_child_starts_its_own(void **state)
{
	static struct ut_helper h = {
		.name = "ut-child", .look = look, .waiting = waiting, .at_exit = nothing
	};

	(void)state;
	atomic_store(&left, 0);
	atomic_flag_test_and_set(&h.started); /* by the parent, whose thread is not here */
	atomic_store(&h.runs, true);
	ut_helper_forked(&h);
	assert_false(atomic_load(&h.runs));
	atomic_store(&left, 1);
	ut_helper_wake(&h);
	until_notified();
	assert_true(atomic_load(&h.runs));
	assert_int_equal(ut_helper_end(&h, look_alone), 0);
}

static void what_does_not_move_is_counted(void **state)
{
	static struct ut_helper h = {
		.name = "ut-stays", .look = look, .waiting = waiting, .at_exit = nothing
	};

	(void)state;
	atomic_store(&stuck, true);
	atomic_store(&left, 7);
	ut_helper_wake(&h);
	assert_int_equal(ut_helper_end(&h, look_alone), 7);
}

UT_TESTS(helper_thread)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_thread_the_end_looks_itself), /* before there is one */
		cmocka_unit_test(commands_are_reported_without_the_program),
		cmocka_unit_test(a_child_starts_its_own),
		cmocka_unit_test(what_does_not_move_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
