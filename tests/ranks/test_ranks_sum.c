/* test_ranks_sum.c - tests who is blamed for waits: src/analysis/ranks/ranks_sum.h */
#include "ranks/ranks_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/grow.h"
#include "ranks/ranks_table.h"
#include "support/unit.h"

#define RUN 1000u

struct call {
	const char *name;
	uint64_t begin, end;
	uint64_t message; /* 0 = none */
	enum ut_rank_use use;
	bool received;
	uint64_t seq; /* 0 = not collective */
};

struct task {
	const char *name;
	uint64_t begin;
};

static void add_shift(struct ut_ranks *r, struct ut_rank *one, const struct task *task)
{
	one->shifts =
		ut_grow(one->shifts, one->shift_count + 1, &one->shift_cap, sizeof(*one->shifts));
	one->shifts[one->shift_count++] =
		(struct ut_rank_shift){ task->begin, ut_strtab_intern_z(&r->strings, task->name) };
}

/* tasks: up to one without a name; calls: so many of them */
static void add_rank(struct ut_ranks *r, int32_t number, const struct task *tasks,
		     const struct call *calls, size_t count)
{
	struct ut_rank *one = ut_ranks_new(r, number);
	struct ut_rank_shaper shaper = { 0 };

	one->stop = RUN;
	for (; tasks->name; tasks++)
		add_shift(r, one, tasks);
	for (size_t i = 0; i < count; i++) {
		const struct call *c = &calls[i];
		const struct ut_rank_found found = {
			.begin = c->begin,
			.end = c->end,
			.seq = c->seq,
			.shape = { .name = ut_strtab_intern_z(&r->strings, c->name),
				   .group = ut_strtab_intern_z(&r->strings, "MPI_COMM_WORLD"),
				   .use = (uint8_t)c->use,
				   .meets = c->seq ? UT_RANK_ALL : UT_RANK_OTHER,
				   .to = -1,
				   .root = -1 },
		};

		ut_rank_put_call(one, &shaper, &found);
		if (!c->message)
			continue;
		one->ends =
			ut_grow(one->ends, one->end_count + 1, &one->end_cap, sizeof(*one->ends));
		one->ends[one->end_count++] = (struct ut_rank_end){ .id = c->message,
								    .call = (uint32_t)i,
								    .received = c->received };
	}
	ut_rank_shaper_release(&shaper);
}

static const struct task work[] = { { "work", 0 }, { 0 } };

/*
 * Rank 2 works until 600 and sends; rank 1 works until 200 and waits for that; rank 0 comes to the
 * barrier at 100, and all the others behind it.
 */
static void make_chain(struct ut_ranks *r)
{
	static const struct call first[] = { { "MPI_Barrier", 100, 800, 0, UT_RANK_ALL, false,
					       1 } };
	static const struct call second[] = {
		{ "MPI_Recv", 200, 650, 7, UT_RANK_RECEIVE, true, 0 },
		{ "MPI_Barrier", 700, 800, 0, UT_RANK_ALL, false, 1 },
	};
	static const struct call third[] = {
		{ "MPI_Send", 600, 640, 7, UT_RANK_SEND, false, 0 },
		{ "MPI_Barrier", 645, 800, 0, UT_RANK_ALL, false, 1 },
	};
	struct ut_err err = { 0 };

	ut_ranks_init(r);
	add_rank(r, 0, work, first, 1);
	add_rank(r, 1, work, second, 2);
	add_rank(r, 2, work, third, 2);
	assert_int_equal(ut_ranks_finalize(r, 1, &err), 0);
}

static const struct ut_rank_wait *row(const struct ut_ranks *r, const struct ut_rank_sums *s,
				      uint32_t rank, const char *call)
{
	for (size_t i = 0; i < s->wait_count; i++) {
		struct ut_str name = ut_strtab_get(&r->strings, s->waits[i].call);

		if (s->waits[i].rank == rank && ut_str_is(name, call) &&
		    s->waits[i].task != UT_RANK_IN_CALL)
			return &s->waits[i];
	}
	return NULL;
}

static void who_was_late_because_he_waited_is_not_to_blame(void **state)
{
	struct ut_rank_sums s;
	struct ut_ranks r;

	(void)state;
	make_chain(&r);
	ut_ranks_sum(&r, &s);
	assert_int_equal(s.ranks[0].wait[0], 600); /* at the barrier, for rank 1 */
	assert_int_equal(s.ranks[1].wait[0], 400); /* for the message of rank 2 */
	assert_int_equal(s.ranks[2].wait[0], 55);  /* at the barrier */
	/* Of rank 0's 600: 100 + 50 in rank 1's own work, 50 while it received, 400 from rank 2. */
	assert_int_equal(s.ranks[0].caused, 0);
	assert_int_equal(s.ranks[1].caused, 100 + 50 + 50 + 50 + 5);
	assert_int_equal(s.ranks[2].caused, 400 + 400);
	assert_int_equal(s.ranks[2].indirect, 400);
	assert_int_equal(s.ranks[2].waiters, 2);
	assert_int_equal(s.ranks[1].indirect, 0);
	assert_int_equal(s.all.caused, s.all.wait[0]);
	assert_int_equal(row(&r, &s, 2, "MPI_Barrier")->time, 400);
	assert_int_equal(row(&r, &s, 2, "MPI_Barrier")->indirect, 400);
	assert_int_equal(row(&r, &s, 2, "MPI_Recv")->time, 400);
	assert_int_equal(row(&r, &s, 2, "MPI_Recv")->indirect, 0);
	assert_true(ut_str_is(ut_strtab_get(&r.strings, s.ranks[2].blamed_task), "work"));
	ut_rank_sums_release(&s);
	ut_ranks_release(&r);
}

static void the_sentence_names_the_one_behind(void **state)
{
	struct ut_rank_view v = { 0 };
	struct ut_buf text = { 0 };
	struct ut_ranks r;

	(void)state;
	make_chain(&r);
	ut_rank_view_make(&v, &r, ut_str_of(""));
	ut_rank_summary_text(&v, &text);
	assert_non_null(strstr(text.data, "Rank 2 makes 2 others wait: 800 ns of the 1.055 us"));
	assert_non_null(strstr(text.data, "100 % of it because of its task \"work\""));
	assert_non_null(strstr(text.data, "50 % of it reaches them through another rank"));
	assert_non_null(ut_rank_table_empty_text(&v, UT_RANK_TABLE_CLOCKS));
	assert_null(ut_rank_table_empty_text(&v, UT_RANK_TABLE_WAITS));
	ut_buf_release(&text);
	ut_rank_view_release(&v);
	ut_ranks_release(&r);
}

/* Clocks that are apart: each seems to wait for the other, all the time. */
static void ranks_that_wait_for_each_other_come_to_an_end(void **state)
{
	static const struct call a[] = { { "MPI_Recv", 100, 300, 1, UT_RANK_RECEIVE, true, 0 },
					 { "MPI_Send", 400, 410, 2, UT_RANK_SEND, false, 0 } };
	static const struct call b[] = { { "MPI_Recv", 100, 300, 2, UT_RANK_RECEIVE, true, 0 },
					 { "MPI_Send", 400, 410, 1, UT_RANK_SEND, false, 0 } };
	struct ut_err err = { 0 };
	struct ut_rank_sums s;
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, work, a, 2);
	add_rank(&r, 1, work, b, 2);
	assert_int_equal(ut_ranks_finalize(&r, 1, &err), 0);
	ut_ranks_sum(&r, &s);
	assert_int_equal(s.all.wait[0], 400);
	assert_int_equal(s.all.caused, 400);
	assert_int_equal(s.ranks[0].caused, 200);
	ut_rank_sums_release(&s);
	ut_ranks_release(&r);
}

static void assert_row(const struct ut_ranks *r, const struct ut_rank_wait *w, const char *task,
		       uint64_t time)
{
	assert_non_null(w);
	assert_true(ut_str_is(ut_strtab_get(&r->strings, w->task), task));
	assert_int_equal(w->time, time);
}

/* All solve for 80; rank 1 takes 150 to assemble instead of 50. While rank 0 waits, it solves. */
static void the_task_that_took_longer_is_to_blame_not_the_last_one(void **state)
{
	static const struct task fast[] = { { "assemble", 0 }, { "solve", 50 }, { 0 } };
	static const struct task slow[] = { { "assemble", 0 }, { "solve", 150 }, { 0 } };
	static const struct call early[] = { { "MPI_Barrier", 130, 240, 0, UT_RANK_ALL, false,
					       1 } };
	static const struct call late[] = { { "MPI_Barrier", 230, 240, 0, UT_RANK_ALL, false, 1 } };
	struct ut_err err = { 0 };
	struct ut_rank_sums s;
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, fast, early, 1);
	add_rank(&r, 1, slow, late, 1);
	assert_int_equal(ut_ranks_finalize(&r, 1, &err), 0);
	ut_ranks_sum(&r, &s);
	assert_int_equal(s.wait_count, 1);
	assert_row(&r, row(&r, &s, 1, "MPI_Barrier"), "assemble", 100);
	ut_rank_sums_release(&s);
	ut_ranks_release(&r);
}

/*
 * Rank 2 assembles until 150 and sends to rank 1, which has waited for that since 50. Then both
 * solve for 80, as rank 0 did long before: it waits for rank 1, but not because of it.
 */
static void who_waited_before_is_not_to_blame_later(void **state)
{
	static const struct task fast[] = { { "assemble", 0 }, { "solve", 50 }, { 0 } };
	static const struct task slow[] = { { "assemble", 0 }, { "solve", 150 }, { 0 } };
	static const struct call first[] = { { "MPI_Barrier", 130, 240, 0, UT_RANK_ALL, false,
					       1 } };
	static const struct call second[] = {
		{ "MPI_Recv", 50, 150, 7, UT_RANK_RECEIVE, true, 0 },
		{ "MPI_Barrier", 230, 240, 0, UT_RANK_ALL, false, 1 },
	};
	static const struct call third[] = {
		{ "MPI_Isend", 150, 150, 7, UT_RANK_POST, false, 0 },
		{ "MPI_Barrier", 229, 240, 0, UT_RANK_ALL, false, 1 },
	};
	struct ut_err err = { 0 };
	struct ut_rank_sums s;
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, fast, first, 1);
	add_rank(&r, 1, fast, second, 2);
	add_rank(&r, 2, slow, third, 2);
	assert_int_equal(ut_ranks_finalize(&r, 1, &err), 0);
	ut_ranks_sum(&r, &s);
	assert_row(&r, row(&r, &s, 2, "MPI_Barrier"), "assemble", 100);
	assert_int_equal(row(&r, &s, 2, "MPI_Barrier")->indirect, 100);
	assert_row(&r, row(&r, &s, 2, "MPI_Recv"), "assemble", 100);
	assert_int_equal(s.ranks[2].caused, 200);
	assert_int_equal(s.ranks[1].caused, 1); /* solved for 80, rank 2 for 79 */
	ut_rank_sums_release(&s);
	ut_ranks_release(&r);
}

/* Rank 1 exchanges: from rank 0, who is there, to rank 2, who comes at 150. */
static void a_message_takes_no_time_while_its_call_waits_for_another(void **state)
{
	static const struct call first[] = { { "MPI_Isend", 50, 51, 1, UT_RANK_POST, false, 0 } };
	static const struct call second[] = {
		{ "MPI_Sendrecv", 50, 160, 1, UT_RANK_EXCHANGE, true, 0 },
	};
	static const struct call third[] = { { "MPI_Recv", 150, 160, 2, UT_RANK_RECEIVE, true,
					       0 } };
	struct ut_err err = { 0 };
	struct ut_rank_sums s;
	struct ut_ranks r;
	struct ut_rank *one;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, work, first, 1);
	add_rank(&r, 1, work, second, 1);
	one = &r.items[1];
	one->ends = ut_grow(one->ends, 2, &one->end_cap, sizeof(*one->ends));
	one->ends[one->end_count++] = (struct ut_rank_end){ .id = 2, .call = 0 };
	add_rank(&r, 2, work, third, 1);
	assert_int_equal(ut_ranks_finalize(&r, 1, &err), 0);
	ut_ranks_sum(&r, &s);
	assert_int_equal(s.pair_count, 2);
	assert_int_equal(s.pairs[0].time, 10); /* 0 to 1 */
	assert_int_equal(s.pairs[0].wait, 0);
	assert_int_equal(s.pairs[1].time, 10); /* 1 to 2 */
	assert_int_equal(s.pairs[1].wait, 100);
	ut_rank_sums_release(&s);
	ut_ranks_release(&r);
}

/* Two messages of one rank that one call waits for are one wait. */
static void a_wait_for_several_messages_counts_once(void **state)
{
	static const struct call sends[] = { { "MPI_Isend", 150, 151, 1, UT_RANK_POST, false, 0 },
					     { "MPI_Isend", 152, 153, 2, UT_RANK_POST, false, 0 } };
	static const struct call waits[] = { { "MPI_Waitall", 50, 160, 1, UT_RANK_WAIT, true, 0 } };
	struct ut_err err = { 0 };
	struct ut_rank_sums s;
	struct ut_ranks r;
	struct ut_rank *one;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, work, sends, 2);
	add_rank(&r, 1, work, waits, 1);
	one = &r.items[1];
	one->ends = ut_grow(one->ends, 2, &one->end_cap, sizeof(*one->ends));
	one->ends[one->end_count++] = (struct ut_rank_end){ .id = 2, .call = 0, .received = true };
	assert_int_equal(ut_ranks_finalize(&r, 1, &err), 0);
	ut_ranks_sum(&r, &s);
	assert_int_equal(s.pair_count, 1);
	assert_int_equal(s.pairs[0].wait, s.ranks[1].wait[0]);
	assert_int_equal(s.all.caused, s.all.wait[0]);
	ut_rank_sums_release(&s);
	ut_ranks_release(&r);
}

UT_TESTS(ranks_sum)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_late_because_he_waited_is_not_to_blame),
		cmocka_unit_test(the_task_that_took_longer_is_to_blame_not_the_last_one),
		cmocka_unit_test(who_waited_before_is_not_to_blame_later),
		cmocka_unit_test(a_message_takes_no_time_while_its_call_waits_for_another),
		cmocka_unit_test(a_wait_for_several_messages_counts_once),
		cmocka_unit_test(the_sentence_names_the_one_behind),
		cmocka_unit_test(ranks_that_wait_for_each_other_come_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
