/* test_ranks_join.c - tests how src/analysis/ranks/ranks.h joins messages, and how little a call
 * takes */
#include "ranks/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/grow.h"
#include "ranks/ranks_parts.h"
#include "support/unit.h"

#define MANY 1200000u /* from each of two: more than are joined in one round */

static void put_call(struct ut_ranks *r, struct ut_rank *one, struct ut_rank_shaper *shaper,
		     bool receives, uint64_t begin)
{
	const struct ut_rank_found call = {
		.begin = begin,
		.end = begin + 5,
		.shape = { .name = ut_strtab_intern_z(&r->strings,
						      receives ? "MPI_Recv" : "MPI_Send"),
			   .use = receives ? UT_RANK_RECEIVE : UT_RANK_SEND,
			   .meets = UT_RANK_OTHER,
			   .to = receives ? -1 : 1 - one->rank,
			   .root = -1,
			   .sent = receives ? 0 : 8,
			   .received = receives ? 8 : 0 },
	};

	ut_rank_put_call(one, shaper, &call);
}

/* Sends to the other and receives from it in turns; of one in a thousand there is no other end. */
static void add_rank(struct ut_ranks *r, int32_t number, uint32_t messages)
{
	struct ut_rank *one = ut_ranks_new(r, number);
	struct ut_rank_shaper shaper = { 0 };

	one->stop = (uint64_t)messages * 10 + 10;
	for (uint32_t i = 0; i < messages; i++) {
		bool receives = (i & 1) != (uint32_t)number;
		uint64_t id = i % 1000 == 999
				      ? UINT64_C(1) << 40 | (uint64_t)i << 8 | (uint64_t)number
				      : i;

		put_call(r, one, &shaper, receives, 10 * (uint64_t)i + (receives ? 0 : 3));
		one->ends = ut_grow(one->ends, i + 1, &one->end_cap, sizeof(*one->ends));
		one->ends[i] =
			(struct ut_rank_end){ .id = id + 1, .call = i, .received = receives };
		one->end_count++;
	}
	ut_rank_shaper_release(&shaper);
}

static void many_messages_are_joined_round_by_round(void **state)
{
	struct ut_err err = { 0 };
	struct ut_ranks r;

	(void)state;
	ut_ranks_init(&r);
	add_rank(&r, 0, MANY);
	add_rank(&r, 1, MANY);
	assert_int_equal(ut_ranks_finalize(&r, 2, &err), 0);
	assert_int_equal(r.messages, MANY - MANY / 1000);
	assert_int_equal(r.single, 2 * (MANY / 1000));
	for (uint32_t i = 0; i < MANY; i++) {
		const struct ut_rank_end *e = &r.items[0].ends[i];

		if (!e->finalized || (i % 1000 == 999) != (e->partner == UT_RANK_NOBODY) ||
		    (i % 1000 != 999 && (e->partner != 1 || e->partner_call != i)))
			fail_msg("message %u has the wrong partner", i);
	}
	ut_ranks_release(&r);
}

/* What a job's memory is made of: a call with its end had 112 bytes, and 48 while it was joined. */
static void a_call_with_its_end_takes_forty_bytes(void **state)
{
	struct ut_err err = { 0 };
	struct ut_ranks r;

	(void)state;
	assert_int_equal(sizeof(struct ut_rank_call) + sizeof(struct ut_rank_end), 40);
	assert_int_equal(sizeof(struct ut_rank_mark), 16);
	ut_ranks_init(&r);
	add_rank(&r, 0, 500);
	add_rank(&r, 1, 500);
	assert_int_equal(r.items[0].shape_count, 2);
	assert_int_equal(r.items[0].more_count, 0);
	assert_int_equal(ut_ranks_finalize(&r, 1, &err), 0);
	/* Every receive waits 3 ns for its sender, and nobody else does. */
	assert_int_equal(r.items[0].more_count, 250);
	for (size_t i = 0; i < 500; i++) {
		const struct ut_rank_more *w = ut_rank_more(&r.items[0], &r.items[0].calls[i]);

		assert_int_equal(w->wait, r.items[0].ends[i].received ? 3 : 0);
		assert_int_equal(w->why, w->wait ? UT_RANK_LATE_SENDER : UT_RANK_NOTHING);
		assert_int_equal(w->waited_for, w->wait ? 1 : 0);
	}
	ut_ranks_release(&r);
}

UT_TESTS(ranks_join)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_messages_are_joined_round_by_round),
		cmocka_unit_test(a_call_with_its_end_takes_forty_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
