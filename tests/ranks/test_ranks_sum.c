/* test_ranks_sum.c - tests who is blamed for waits: src/ranks/ranks_sum.h */
#include "ranks/ranks_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/grow.h"
#include "ranks/ranks_table.h"

#define RUN 1000u

struct call {
	const char *name;
	uint64_t begin, end;
	uint64_t message; /* 0 = none */
	enum ut_rank_use use;
	bool received;
	uint64_t seq; /* 0 = not collective */
};

/* All of it in one task. */
static void add_rank(struct ut_ranks *r, int32_t number, const char *task, const struct call *calls,
		     size_t count)
{
	struct ut_rank *one = ut_ranks_new(r, number);
	struct ut_rank_shaper shaper = { 0 };

	one->stop = RUN;
	one->shifts = ut_grow(NULL, 1, &one->shift_cap, sizeof(*one->shifts));
	one->shifts[one->shift_count++] =
		(struct ut_rank_shift){ 0, ut_strtab_intern_z(&r->strings, task) };
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
	add_rank(r, 0, "zero", first, 1);
	add_rank(r, 1, "one", second, 2);
	add_rank(r, 2, "two", third, 2);
	assert_int_equal(ut_ranks_settle(r, 1, &err), 0);
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
	assert_true(ut_str_is(ut_strtab_get(&r.strings, s.ranks[2].blamed_task), "two"));
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
	ut_rank_verdict(&v, &text);
	assert_non_null(strstr(text.data, "Rank 2 makes 2 others wait: 800 ns of the 1.055 us"));
	assert_non_null(strstr(text.data, "in its task \"two\""));
	assert_non_null(strstr(text.data, "50 % of it reaches them through another rank"));
	assert_non_null(ut_rank_table_nothing(&v, UT_RANK_TABLE_CLOCKS));
	assert_null(ut_rank_table_nothing(&v, UT_RANK_TABLE_WAITS));
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
	add_rank(&r, 0, "zero", a, 2);
	add_rank(&r, 1, "one", b, 2);
	assert_int_equal(ut_ranks_settle(&r, 1, &err), 0);
	ut_ranks_sum(&r, &s);
	assert_int_equal(s.all.wait[0], 400);
	assert_int_equal(s.all.caused, 400);
	assert_int_equal(s.ranks[0].caused, 200);
	ut_rank_sums_release(&s);
	ut_ranks_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_late_because_he_waited_is_not_to_blame),
		cmocka_unit_test(the_sentence_names_the_one_behind),
		cmocka_unit_test(ranks_that_wait_for_each_other_come_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
