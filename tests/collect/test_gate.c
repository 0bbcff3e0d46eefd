/* test_gate.c - tests src/record/collect/gate.h through the functions that programs call. */
#include "collect/gate.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/session.h"
#define INTEL_NO_MACRO_BODY
#include "itt/abi.h"
#include "support/unit.h"
#include "wire/control.h"

static void begin(const char *name)
{
	__itt_task_begin(__itt_domain_create("dom"), __itt_null, __itt_null,
			 __itt_string_handle_create(name));
}

static void end(void)
{
	__itt_task_end(__itt_domain_create("dom"));
}

static void task(const char *name)
{
	begin(name);
	end();
}

/* ---- who records --------------------------------------------------------------------------- */

static void one_task(void)
{
	task("work");
}

static void a_process_of_the_session_records(void **state)
{
	struct session *s = *state;

	session_run(s, one_task);
	assert_int_equal(s->status, 0);
	assert_string_equal(s->text, "span work\n");
}

static void without_session(void)
{
	unsetenv(UT_SESSION_ENV);
	task("work");
	__itt_pause();
	__itt_resume();
	__itt_detach();
}

static void without_a_session_nothing_happens(void **state)
{
	struct session *s = *state;

	session_run(s, without_session);
	assert_int_equal(s->status, 0);
	assert_int_equal(s->spools, 0);
}

static void one_task_and_a_child(void)
{
	struct ut_control *c = ut_control_map(getenv(UT_SESSION_ENV));

	atomic_store(&c->root_pid, (uint32_t)getpid());
	task("parent");
	if (!fork()) {
		task("child");
		_exit(0);
	}
	wait(NULL);
	task("parent again");
}

static void children_record_into_spools_of_their_own(void **state)
{
	struct session *s = *state;

	session_run(s, one_task_and_a_child);
	assert_int_equal(s->spools, 2);
	assert_string_equal(s->text, "span parent\nspan parent again\nspan child\n");
}

static void children_are_left_alone_unless_they_are_followed(void **state)
{
	struct session *s = *state;

	s->control->flags = 0;
	session_run(s, one_task_and_a_child);
	assert_int_equal(s->spools, 1);
	assert_string_equal(s->text, "span parent\nspan parent again\n");
}

static __itt_domain *known_domain;
static __itt_string_handle *known_name;

static void *known_task(void *arg)
{
	__itt_task_begin(known_domain, __itt_null, __itt_null, known_name);
	__itt_task_end(known_domain);
	return arg;
}

/* The names are known already: nothing but the task itself wakes the child's collector. */
static void fork_by_a_thread_without_records(void)
{
	pthread_t other;

	known_domain = __itt_domain_create("dom");
	known_name = __itt_string_handle_create("work");
	pthread_create(&other, NULL, known_task, NULL);
	pthread_join(other, NULL);
	if (!fork()) {
		known_task(NULL);
		_exit(0);
	}
	wait(NULL);
}

static void a_child_of_a_thread_that_has_not_recorded_records(void **state)
{
	struct session *s = *state;

	session_run(s, fork_by_a_thread_without_records);
	assert_int_equal(s->spools, 2);
	assert_string_equal(s->text, "span work\nspan work\n");
}

static void fork_in_a_task(void)
{
	begin("around");
	if (!fork()) {
		task("child");
		end(); /* of a task that the child never began */
		_exit(0);
	}
	wait(NULL);
	end();
}

static void a_task_that_is_open_at_a_fork_stays_the_parents(void **state)
{
	struct session *s = *state;

	session_run(s, fork_in_a_task);
	assert_string_equal(s->text, "span around\nspan child\n");
}

/* ---- pause and resume ---------------------------------------------------------------------- */

static void pause_in_the_middle(void)
{
	task("before");
	__itt_resume();
	begin("open at the pause");
	task("in");
	__itt_pause();
	task("paused");
	end(); /* of what was begun before: recorded */
	begin("begun in the pause");
	__itt_resume();
	task("after");
	end(); /* of what was not recorded: neither */
	task("last");
}

static void a_conditional_session_starts_paused_and_ends_tasks_honestly(void **state)
{
	struct session *s = *state;

	s->control->flags |= UT_CONTROL_CONDITIONAL;
	session_run(s, pause_in_the_middle);
	assert_string_equal(s->text, "span open at the pause\nspan in\nspan after\nspan last\n"
				     "instant collection resumed\ninstant collection paused\n"
				     "instant collection resumed\nspan paused\nspan paused\n");
	assert_int_equal(s->unfinished, 0);
	assert_int_equal(s->stray_ends, 0);
}

static void without_the_flag_pause_and_resume_have_no_effect(void **state)
{
	struct session *s = *state;

	session_run(s, pause_in_the_middle);
	assert_string_equal(s->text, "span before\nspan open at the pause\nspan in\nspan paused\n"
				     "span begun in the pause\nspan after\nspan last\n");
}

static void variable_in_the_middle(void)
{
	task("before");
	setenv("PTI_ENABLE_COLLECTION", "1", 1);
	task("on");
	setenv("PTI_ENABLE_COLLECTION", "0", 1);
	task("off");
	putenv((char[]){ "PTI_ENABLE_COLLECTION=1" });
	task("on again");
	unsetenv("PTI_ENABLE_COLLECTION");
	task("off again");
}

static void the_variable_switches_while_the_program_runs(void **state)
{
	struct session *s = *state;

	s->control->flags |= UT_CONTROL_CONDITIONAL;
	session_run(s, variable_in_the_middle);
	assert_string_equal(s->text, "span on\nspan on again\n"
				     "instant collection resumed\ninstant collection paused\n"
				     "instant collection resumed\ninstant collection paused\n"
				     "span paused\nspan paused\n");
}

static void one_switch_in_the_middle(void)
{
	struct ut_control *c = ut_control_map(getenv(UT_SESSION_ENV));

	task("before");
	__itt_resume();
	task("on");
	ut_control_switch(c, UT_STATE_PAUSED); /* by somebody outside */
	task("off");
	setenv("PTI_ENABLE_COLLECTION", "1", 1);
	task("on again");
	__itt_pause();
	task("off again");
	ut_control_switch(c, UT_STATE_RUNNING);
	task("last");
	ut_control_switch(c, UT_STATE_STOPPED);
	__itt_resume();
	task("never");
	assert_int_equal(atomic_load(&c->state), UT_STATE_STOPPED);
	ut_control_close(c);
}

static void with_one_switch_the_latest_counts_whoever_it_was(void **state)
{
	struct session *s = *state;

	s->control->flags |= UT_CONTROL_ONE_SWITCH;
	atomic_store(&s->control->state, UT_STATE_PAUSED);
	session_run(s, one_switch_in_the_middle);
	assert_string_equal(s->text, "span on\nspan on again\nspan last\n"
				     "instant collection resumed\ninstant collection resumed\n"
				     "instant collection paused\nspan paused\n");
}

static struct ut_control *own_control(void)
{
	return ut_control_map(getenv(UT_SESSION_ENV));
}

static void session_word_in_the_middle(void)
{
	struct ut_control *c = own_control();

	begin("open");
	atomic_store(&c->state, UT_STATE_PAUSED);
	task("paused");
	begin("begun in the pause");
	atomic_store(&c->state, UT_STATE_RUNNING);
	task("after");
	end();
	end();
	atomic_store(&c->state, UT_STATE_STOPPED);
	task("stopped");
}

static void the_sessions_word_switches_every_process(void **state)
{
	struct session *s = *state;

	session_run(s, session_word_in_the_middle);
	assert_string_equal(s->text, "span open\nspan after\n");
	assert_int_equal(s->stray_ends, 0);
}

static void deep_in_a_pause(void)
{
	struct ut_control *c = own_control();

	begin("outer");
	atomic_store(&c->state, UT_STATE_PAUSED);
	for (int i = 0; i < 60; i++)
		begin("unrecorded");
	atomic_store(&c->state, UT_STATE_RUNNING);
	for (int i = 0; i < 60; i++)
		end();
	end();
	task("after");
}

static void sixty_tasks_deep_every_end_still_finds_its_begin(void **state)
{
	struct session *s = *state;

	session_run(s, deep_in_a_pause);
	assert_string_equal(s->text, "span outer\nspan after\n");
	assert_int_equal(s->stray_ends, 0);
}

static void detach_in_the_middle(void)
{
	begin("open");
	__itt_detach();
	task("after");
	if (!fork()) {
		task("child");
		_exit(0);
	}
	wait(NULL);
}

static void a_detached_process_records_no_more(void **state)
{
	struct session *s = *state;

	session_run(s, detach_in_the_middle);
	assert_int_equal(s->spools, 1);
	assert_string_equal(s->text, "span open unfinished\ninstant collector detached\n");
}

/* ---- threads ------------------------------------------------------------------------------- */

static void *ignored_thread(void *arg)
{
	(void)arg;
	task("seen");
	__itt_thread_ignore();
	task("unseen");
	return NULL;
}

static void ignore_a_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, ignored_thread, NULL);
	pthread_join(thread, NULL);
	task("main");
}

static void a_thread_that_asks_to_be_ignored_is_and_is_counted(void **state)
{
	struct session *s = *state;

	session_run(s, ignore_a_thread);
	assert_non_null(strstr(s->text, "span seen\n"));
	assert_non_null(strstr(s->text, "span main\n"));
	assert_null(strstr(s->text, "unseen"));
	assert_int_equal(s->ignored, 2);
}

#define THREADS 8
#define EACH    20000

static void *many_tasks(void *arg)
{
	__itt_domain *dom = __itt_domain_create("dom");
	__itt_string_handle *names[4];

	(void)arg;
	for (int i = 0; i < 4; i++)
		names[i] = __itt_string_handle_create((const char *[]){ "a", "b", "c", "d" }[i]);
	for (int i = 0; i < EACH; i++) {
		__itt_task_begin(dom, __itt_null, __itt_null, names[i % 4]);
		__itt_task_end(dom);
	}
	return NULL;
}

static void threads_that_wake_it_together(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, many_tasks, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void threads_may_all_come_first(void **state)
{
	struct session *s = *state;
	size_t lines = 0;

	session_run(s, threads_that_wake_it_together);
	assert_int_equal(s->status, 0);
	for (const char *p = s->text; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, THREADS * EACH);
	assert_int_equal(s->unfinished + s->stray_ends, 0);
}

/* ---- manners ------------------------------------------------------------------------------- */

static void errno_after_every_call(void)
{
	static const int given = 77;
	__itt_domain *dom;
	__itt_counter counter;
	unsigned long long value = 5;

#define KEEPS(call)                                                                                \
	do {                                                                                       \
		errno = given;                                                                     \
		call;                                                                              \
		if (errno != given)                                                                \
			_exit(1);                                                                  \
	} while (0)
	KEEPS(dom = __itt_domain_create("dom"));
	KEEPS(counter = __itt_counter_create("c", "dom"));
	for (int i = 0; i < 200000; i++) {
		KEEPS(__itt_task_begin(dom, __itt_null, __itt_null,
				       __itt_string_handle_create("t")));
		KEEPS(__itt_task_end(dom));
	}
	KEEPS(__itt_counter_set_value(counter, &value));
	KEEPS(__itt_metadata_str_add(dom, __itt_null, __itt_string_handle_create("k"), "v", 1));
	KEEPS(__itt_thread_set_name("n"));
	KEEPS(__itt_frame_begin_v3(dom, NULL));
	KEEPS(__itt_pause());
	KEEPS(__itt_resume());
	KEEPS(__itt_detach());
}

static void every_call_gives_errno_back_as_it_found_it(void **state)
{
	struct session *s = *state;

	session_run(s, errno_after_every_call);
	assert_int_equal(s->status, 0);
}

static void null_everywhere(void)
{
	__itt_id id = { 1, 2, 3 };

	__itt_task_begin(NULL, __itt_null, __itt_null, NULL);
	__itt_task_end(NULL);
	__itt_task_begin_fn(NULL, id, id, NULL);
	__itt_task_end(NULL);
	__itt_metadata_add(NULL, id, NULL, __itt_metadata_u64, 1, NULL);
	__itt_metadata_str_add(NULL, id, NULL, NULL, 5);
	__itt_counter_inc(NULL);
	__itt_counter_set_value(NULL, NULL);
	__itt_frame_begin_v3(NULL, NULL);
	__itt_frame_submit_v3(NULL, NULL, 0, 0);
	__itt_marker(NULL, id, NULL, __itt_scope_task);
	__itt_relation_add(NULL, id, __itt_relation_is_child_of, id);
	__itt_thread_set_name(NULL);
	__itt_domain_create(NULL);
	__itt_string_handle_create(NULL);
	__itt_set_track(NULL);
	__itt_histogram_submit(NULL, 1, NULL, NULL);
	__itt_mark(0, NULL);
	__itt_event_start(-1);
}

static void null_is_never_followed(void **state)
{
	struct session *s = *state;

	session_run(s, null_everywhere);
	assert_int_equal(s->status, 0);
}

#define IN_SESSION(f) cmocka_unit_test_setup_teardown(f, session_make, session_drop)

UT_TESTS(gate)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(a_process_of_the_session_records),
		IN_SESSION(without_a_session_nothing_happens),
		IN_SESSION(children_record_into_spools_of_their_own),
		IN_SESSION(children_are_left_alone_unless_they_are_followed),
		IN_SESSION(a_child_of_a_thread_that_has_not_recorded_records),
		IN_SESSION(a_task_that_is_open_at_a_fork_stays_the_parents),
		IN_SESSION(a_conditional_session_starts_paused_and_ends_tasks_honestly),
		IN_SESSION(without_the_flag_pause_and_resume_have_no_effect),
		IN_SESSION(the_variable_switches_while_the_program_runs),
		IN_SESSION(with_one_switch_the_latest_counts_whoever_it_was),
		IN_SESSION(the_sessions_word_switches_every_process),
		IN_SESSION(sixty_tasks_deep_every_end_still_finds_its_begin),
		IN_SESSION(a_detached_process_records_no_more),
		IN_SESSION(a_thread_that_asks_to_be_ignored_is_and_is_counted),
		IN_SESSION(threads_may_all_come_first),
		IN_SESSION(every_call_gives_errno_back_as_it_found_it),
		IN_SESSION(null_is_never_followed),
	};

	return cmocka_run_group_tests_name("collect/gate", tests, NULL, NULL);
}
