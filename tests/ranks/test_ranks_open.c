/* test_ranks_open.c - tests what is said about calls that never ended:
 * src/analysis/ranks/ranks_open.h */
#include "ranks/ranks_open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/grow.h"
#include "ranks/ranks_table.h"
#include "support/unit.h"

#define RUN 1000u

/* A call that is open if it lasts until RUN. */
struct call {
	const char *name;
	uint64_t begin, end;
	uint64_t seq;
	enum ut_rank_use use;
	int32_t to, from;
};

static void add_rank(struct ut_ranks *r, int32_t number, const char *task, const struct call *calls,
		     size_t count)
{
	struct ut_rank *one = ut_ranks_new(r, number);
	struct ut_rank_shaper shaper = { 0 };

	one->stop = one->end = RUN;
	one->in_task = task ? ut_strtab_intern_z(&r->strings, task) : 0;
	one->in_since = RUN / 2;
	for (size_t i = 0; i < count; i++) {
		const struct call *c = &calls[i];
		const struct ut_rank_found found = {
			.begin = c->begin,
			.end = c->end,
			.seq = c->seq,
			.shape = { .name = ut_strtab_intern_z(&r->strings, c->name),
				   .group = ut_strtab_intern_z(
					   &r->strings,
					   c->use == UT_RANK_FINALIZE ? c->name : "MPI_COMM_WORLD"),
				   .use = (uint8_t)c->use,
				   .meets = c->seq ? UT_RANK_ALL : UT_RANK_OTHER,
				   .to = c->to,
				   .root = -1 },
		};

		if (c->end == RUN)
			ut_rank_put_open(one, c->from, 0);
		ut_rank_put_call(one, &shaper, &found);
	}
	ut_rank_shaper_release(&shaper);
}

#define ALL(name, begin, end, seq)                                                                 \
	{                                                                                          \
		name, begin, end, seq, UT_RANK_ALL, -1, -1                                         \
	}
#define RECEIVE(begin, from)                                                                       \
	{                                                                                          \
		"MPI_Recv", begin, RUN, 0, UT_RANK_RECEIVE, -1, from                               \
	}

/* The sentence begins so. */
static void assert_said(struct ut_ranks *r, const char *begin)
{
	struct ut_rank_view v = { 0 };
	struct ut_err err = { 0 };
	struct ut_buf text = { 0 };

	assert_int_equal(ut_ranks_finalize(r, 1, &err), 0);
	ut_rank_view_make(&v, r, ut_str_of(""));
	ut_rank_summary_text(&v, &text);
	if (!ut_str_starts(text.data, begin))
		fail_msg("said: %s", text.data);
	ut_buf_release(&text);
	ut_rank_view_release(&v);
}

static void the_absent_rank_is_waited_for_until_the_end(void **state)
{
	static const struct call came[] = { ALL("MPI_Allreduce", 100, 110, 1),
					    ALL("MPI_Allreduce", 200, RUN, 2) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, came, 2);
	add_rank(&r, 1, "read_input", came, 1);
	add_rank(&r, 2, NULL, came, 2);
	assert_said(&r, "Rank 1 never came to MPI_Allreduce (seq 1 on MPI_COMM_WORLD), in which 2 "
			"others waited up to the end, for 800 ns: it was in its task "
			"\"read_input\" for 500 ns");
	for (size_t i = 0; i < 3; i += 2) {
		const struct ut_rank *one = &r.items[i];

		assert_int_equal(ut_rank_more(one, &one->calls[1])->wait, 800);
		assert_int_equal(ut_rank_more(one, &one->calls[1])->waited_for, 1);
	}
	ut_ranks_release(&r);
}

static void a_rank_without_a_trace_is_none_of_those_that_are_here(void **state)
{
	static const struct call came[] = { ALL("MPI_Barrier", 200, RUN, 1) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	r.world = 3;
	add_rank(&r, 0, NULL, came, 1);
	add_rank(&r, 2, NULL, came, 1);
	assert_said(&r,
		    "2 ranks waited in MPI_Barrier (seq 0 on MPI_COMM_WORLD) up to the end, for "
		    "800 ns, for ranks that are not here: rank 1. 2 of 3 ranks are here.");
	assert_int_equal(ut_rank_more(&r.items[0], &r.items[0].calls[0])->waited_for,
			 UT_RANK_ABSENT);
	ut_ranks_release(&r);
}

static void a_call_of_unknown_length_blames_nobody_else(void **state)
{
	static const struct call came[] = { ALL("MPI_Barrier", RUN, RUN, 1) };
	static const struct call other[] = { ALL("MPI_Init", 0, 10, 0) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, came, 1);
	add_rank(&r, 1, "read_input", other, 1);
	assert_said(&r, "Rank 1 never came to MPI_Barrier (seq 0 on MPI_COMM_WORLD), in which 1 "
			"other waited up to the end (how long is not known): it was in its task "
			"\"read_input\"");
	ut_ranks_release(&r);
}

static void the_other_waits_are_not_all_if_one_is_of_unknown_length(void **state)
{
	static const struct call came[] = { ALL("MPI_Allreduce", 100, 360, 1),
					    ALL("MPI_Barrier", RUN, RUN, 2) };
	static const struct call other[] = { ALL("MPI_Allreduce", 350, 360, 1) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, came, 2);
	add_rank(&r, 1, "read_input", other, 1);
	assert_said(&r,
		    "Rank 1 never came to MPI_Barrier (seq 1 on MPI_COMM_WORLD), in which 1 "
		    "other waited up to the end (how long is not known): it was in its task "
		    "\"read_input\" for 500 ns. Without calls of unknown length: Rank 1 makes 1 "
		    "other wait: 250 ns of the 250 ns");
	ut_ranks_release(&r);
}

static void a_receive_from_anybody_names_who_was_in_no_call(void **state)
{
	static const struct call any[] = { RECEIVE(100, -1) }, first[] = { RECEIVE(200, 0) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	r.world = 3;
	add_rank(&r, 0, NULL, any, 1);
	add_rank(&r, 1, NULL, first, 1);
	add_rank(&r, 2, NULL, first, 1);
	assert_said(&r, "Rank 0 waited in MPI_Recv (on MPI_COMM_WORLD) up to the end, for 900 ns, "
			"for a message from any rank; all others were in calls, too: a deadlock");
	ut_ranks_release(&r);
	ut_ranks_init(&r);
	r.world = 3;
	add_rank(&r, 0, NULL, any, 1);
	add_rank(&r, 1, NULL, first, 1);
	add_rank(&r, 2, "work", &(const struct call)ALL("MPI_Barrier", 10, 20, 0), 1);
	assert_said(&r, "Rank 0 waited in MPI_Recv (on MPI_COMM_WORLD) up to the end, for 900 ns, "
			"for a message from any rank; rank 2 was in no call: it was in its task "
			"\"work\" for 500 ns");
	ut_ranks_release(&r);
}

static void two_that_receive_from_each_other_are_a_deadlock(void **state)
{
	static const struct call first[] = { RECEIVE(100, 1) }, second[] = { RECEIVE(300, 0) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, first, 1);
	add_rank(&r, 1, NULL, second, 1);
	assert_said(&r, "Rank 0 waited in MPI_Recv (on MPI_COMM_WORLD) up to the end, for 900 ns, "
			"for rank 1: it was in MPI_Recv (on MPI_COMM_WORLD) for 700 ns, waiting "
			"for rank 0: a deadlock");
	ut_ranks_release(&r);
}

#define ON_WINDOW(name, begin, end)                                                                \
	{                                                                                          \
		name, begin, end, 0, UT_RANK_ONE_SIDED, 0, -1                                      \
	}

static void add_locked(struct ut_ranks *r, int32_t number, const char *task,
		       const struct call *calls, size_t count)
{
	add_rank(r, number, task, calls, count);
	for (size_t i = 0; i < r->items[r->count - 1].shape_count; i++)
		r->items[r->count - 1].shapes[i].root = 1;
}

/* The memory is that of rank 0, which waits itself. */
static void who_holds_a_lock_is_waited_for_and_not_the_target(void **state)
{
	static const struct call holds[] = { ON_WINDOW("MPI_Win_lock", 100, 110) };
	static const struct call waits[] = { ON_WINDOW("MPI_Win_lock", 200, RUN) };
	static const struct call late[] = { ON_WINDOW("MPI_Win_lock", 90, 95),
					    ON_WINDOW("MPI_Win_unlock", 200, RUN) };
	struct ut_ranks r;

	(void)state;
	for (size_t lazy = 0; lazy < 2; lazy++) {
		ut_ranks_init(&r);
		add_locked(&r, 0, NULL, lazy ? late : waits, 1 + lazy);
		add_locked(&r, 1, "read_input", holds, 1);
		add_locked(&r, 2, NULL, lazy ? late : waits, 1 + lazy);
		assert_said(&r,
			    lazy ? "Rank 0 waited in MPI_Win_unlock (on MPI_COMM_WORLD) up to "
				   "the end, for 800 ns, for rank 1: it was in its task "
				   "\"read_input\" for 500 ns"
				 : "Rank 0 waited in MPI_Win_lock (on MPI_COMM_WORLD) up to the "
				   "end, for 800 ns, for rank 1: it was in its task "
				   "\"read_input\" for 500 ns");
		for (size_t i = 0; i < 3; i += 2) {
			const struct ut_rank *one = &r.items[i];
			const struct ut_rank_more *more =
				ut_rank_more(one, &one->calls[one->call_count - 1]);

			assert_int_equal(more->waited_for, 1);
			assert_int_equal(more->why, UT_RANK_LOCKED);
		}
		ut_ranks_release(&r);
	}
}

static void nobody_waits_for_itself(void **state)
{
	static const struct call waits[] = { ON_WINDOW("MPI_Win_lock", 200, RUN) };
	static const struct call came[] = { ALL("MPI_Barrier", 10, 20, 0) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	r.world = 2;
	add_locked(&r, 0, NULL, waits, 1);
	add_rank(&r, 1, NULL, came, 1);
	assert_said(&r, "Rank 0 waited in MPI_Win_lock (on MPI_COMM_WORLD) up to the end, for "
			"800 ns, for one that is not recorded");
	assert_int_equal(ut_rank_more(&r.items[0], &r.items[0].calls[0])->waited_for,
			 UT_RANK_ABSENT);
	ut_ranks_release(&r);
}

static void different_calls_of_one_number_are_reported(void **state)
{
	static const struct call first[] = { ALL("MPI_Allreduce", 100, RUN, 1) };
	static const struct call second[] = { ALL("MPI_Barrier", 200, RUN, 1) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, first, 1);
	add_rank(&r, 1, NULL, second, 1);
	assert_said(&r, "Ranks make different calls as seq 0 on MPI_COMM_WORLD: rank 0 "
			"MPI_Allreduce, rank 1 MPI_Barrier; 2 ranks waited there");
	ut_ranks_release(&r);
}

static void a_process_that_failed_is_no_healthy_job(void **state)
{
	static const struct call came[] = { ALL("MPI_Allreduce", 100, 110, 1) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, came, 1);
	add_rank(&r, 1, NULL, came, 1);
	r.items[1].ended = ut_strtab_intern_z(&r.strings, "exit status 3");
	assert_said(&r, "The process of rank 1 did not end well: exit status 3");
	ut_ranks_release(&r);
}

/* All have begun it, and rank 1 does something else in between. */
static void who_is_away_from_a_collective_call_is_waited_for(void **state)
{
	static const struct call waits[] = { { "MPI_Ibarrier", 100, 110, 1, UT_RANK_POST, -1, -1 },
					     { "MPI_Wait", 200, 910, 1, UT_RANK_WAIT, -1, -1 } };
	static const struct call late[] = { { "MPI_Ibarrier", 100, 110, 1, UT_RANK_POST, -1, -1 },
					    { "MPI_Wait", 900, 910, 1, UT_RANK_WAIT, -1, -1 } };
	static const struct call open[] = { { "MPI_Ibarrier", 100, 110, 1, UT_RANK_POST, -1, -1 },
					    { "MPI_Wait", 200, RUN, 1, UT_RANK_WAIT, -1, -1 } };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, waits, 2);
	add_rank(&r, 1, NULL, late, 2);
	add_rank(&r, 2, NULL, waits, 2);
	assert_said(&r, "Rank 1 makes 2 others wait: 1.400 us of the 1.400 us");
	ut_ranks_release(&r);
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, open, 2);
	add_rank(&r, 1, "compute", late, 1);
	assert_said(&r, "1 rank had not left MPI_Wait (seq 0 on MPI_COMM_WORLD) when the recording "
			"ended, 800 ns after it began; all that are known to be members had come, "
			"but rank 1 was in no call: it was in its task \"compute\" for 500 ns. "
			"Rank 1 makes 1 other wait: 800 ns of the 800 ns");
	ut_ranks_release(&r);
}

static void a_task_that_was_never_left_is_no_healthy_job(void **state)
{
	static const struct call came[] = {
		ALL("MPI_Barrier", 100, 110, 1),
		{ "MPI_Finalize", 200, 210, 1, UT_RANK_FINALIZE, -1, -1 },
	};
	struct ut_ranks r;

	(void)state;
	for (size_t finalized = 0; finalized < 2; finalized++) {
		ut_ranks_init(&r);
		add_rank(&r, 0, NULL, came, 2);
		add_rank(&r, 1, "main", came, 1 + finalized);
		assert_said(&r, finalized ? "Ranks hardly wait for each other"
					  : "Rank 1 never left its task \"main\", in which it was "
					    "for 500 ns");
		assert_int_equal(ut_ranks_ended(&r), finalized);
		ut_ranks_release(&r);
	}
}

static void a_rank_that_left_without_finalizing_is_gone(void **state)
{
	static const struct call came[] = { ALL("MPI_Allreduce", 100, 110, 1),
					    ALL("MPI_Allreduce", 200, RUN, 2) };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, came, 2);
	add_rank(&r, 1, NULL, came, 1);
	r.items[0].ended = ut_strtab_intern_z(&r.strings, "signal 15 (Terminated)");
	r.items[1].left = true;
	assert_said(&r, "Rank 1 never came to MPI_Allreduce (seq 1 on MPI_COMM_WORLD), in which 1 "
			"other waited up to the end, for 800 ns: its process had ended: exit "
			"status 0, without MPI_Finalize");
	ut_ranks_release(&r);
}

static void who_never_finalizes_is_waited_for(void **state)
{
	static const struct call came[] = {
		ALL("MPI_Barrier", 100, 110, 1),
		{ "MPI_Finalize", 200, RUN, 1, UT_RANK_FINALIZE, -1, -1 },
	};
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, NULL, came, 2);
	add_rank(&r, 1, "write_output", came, 1);
	assert_said(&r, "Rank 1 never came to MPI_Finalize, in which 1 other waited up to the end, "
			"for 800 ns: it was in its task \"write_output\" for 500 ns");
	assert_int_equal(r.items[0].stop, RUN);
	ut_ranks_release(&r);
}

/* Of a process that did nothing there may be no later sign of life than its last call. */
static void ranks_that_are_killed_together_have_not_ended_before(void **state)
{
	static const struct call came[] = { ALL("MPI_Allreduce", 100, 110, 1),
					    ALL("MPI_Allreduce", 200, RUN, 2) };
	static const char *const ends[] = { "signal 15 (Terminated)", "signal 9 (Killed)" };
	static const char *const said[] = { "it was in no task; its last call",
					    "its process had ended: signal 9 (Killed)" };
	struct ut_ranks r;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char text[256];

		ut_ranks_init(&r);
		add_rank(&r, 0, NULL, came, 2);
		add_rank(&r, 1, NULL, came, 1);
		r.items[0].ended = ut_strtab_intern_z(&r.strings, ends[0]);
		r.items[1].ended = ut_strtab_intern_z(&r.strings, ends[i]);
		r.items[1].end = 110;
		snprintf(text, sizeof(text),
			 "Rank 1 never came to MPI_Allreduce (seq 1 on MPI_COMM_WORLD), in which 1 "
			 "other waited up to the end, for 800 ns: %s",
			 said[i]);
		assert_said(&r, text);
		ut_ranks_release(&r);
	}
}

UT_TESTS(ranks_open)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_absent_rank_is_waited_for_until_the_end),
		cmocka_unit_test(a_rank_without_a_trace_is_none_of_those_that_are_here),
		cmocka_unit_test(a_call_of_unknown_length_blames_nobody_else),
		cmocka_unit_test(the_other_waits_are_not_all_if_one_is_of_unknown_length),
		cmocka_unit_test(a_receive_from_anybody_names_who_was_in_no_call),
		cmocka_unit_test(two_that_receive_from_each_other_are_a_deadlock),
		cmocka_unit_test(who_holds_a_lock_is_waited_for_and_not_the_target),
		cmocka_unit_test(nobody_waits_for_itself),
		cmocka_unit_test(different_calls_of_one_number_are_reported),
		cmocka_unit_test(a_process_that_failed_is_no_healthy_job),
		cmocka_unit_test(who_is_away_from_a_collective_call_is_waited_for),
		cmocka_unit_test(a_task_that_was_never_left_is_no_healthy_job),
		cmocka_unit_test(a_rank_that_left_without_finalizing_is_gone),
		cmocka_unit_test(who_never_finalizes_is_waited_for),
		cmocka_unit_test(ranks_that_are_killed_together_have_not_ended_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
