/* test_ranks_pack.c - tests src/analysis/ranks/ranks_pack.h */
#include "ranks/ranks_pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/grow.h"
#include "support/unit.h"

static uint32_t word(struct ut_ranks *r, const char *text)
{
	return ut_strtab_intern_z(&r->strings, text);
}

static void add_rank(struct ut_ranks *r, int32_t number)
{
	struct ut_rank *one = ut_ranks_new(r, number);
	struct ut_rank_shaper shaper = { 0 };

	one->host = word(r, "node");
	one->program = word(r, "cg");
	one->start = 100;
	one->stop = 900;
	for (uint32_t i = 0; i < 2; i++) {
		const struct ut_rank_found call = { .begin = 100 + 400 * i,
						    .end = 300 + 400 * i,
						    .seq = i + 1,
						    .shape = { .name = word(r, "MPI_Barrier"),
							       .group = word(r, "MPI_COMM_WORLD"),
							       .use = UT_RANK_ALL,
							       .meets = UT_RANK_ALL,
							       .to = -1,
							       .root = -1 } };

		ut_rank_put_call(one, &shaper, &call);
	}
	ut_rank_shaper_release(&shaper);
	one->ends = ut_grow(NULL, 1, &one->end_cap, sizeof(*one->ends));
	one->ends[one->end_count++] = (struct ut_rank_end){ .id = 4711, .call = 1 };
	one->colls = ut_grow(NULL, 1, &one->coll_cap, sizeof(*one->colls));
	one->colls[one->coll_count++] =
		(struct ut_rank_coll){ 450, 100, 1, word(r, "gloo"), word(r, "default"), 2 };
	one->shifts = ut_grow(NULL, 1, &one->shift_cap, sizeof(*one->shifts));
	one->shifts[one->shift_count++] = (struct ut_rank_shift){ 350, word(r, "solve") };
	one->tops = ut_grow(NULL, 1, &one->top_cap, sizeof(*one->tops));
	one->tops[one->top_count++] = (struct ut_rank_top){ 350, 450, word(r, "solve") };
}

static void ranks_arrive_as_they_were_sent(void **state)
{
	struct ut_ranks from, to;
	struct ut_buf packed = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	ut_ranks_init(&from);
	ut_ranks_init(&to);
	word(&to, "something else"); /* so that numbers of strings differ */
	add_rank(&to, 0);
	to.origins = 1;
	add_rank(&from, 1);
	from.origins = 3;
	from.world = 2;
	ut_ranks_pack(&from, &packed);
	assert_int_equal(ut_ranks_unpack(&to, packed.data, packed.len, &err), 0);
	assert_int_equal(to.count, 2);
	assert_int_equal(to.origins, 4);
	assert_int_equal(to.world, 2);
	assert_int_equal(to.items[1].shapes[0].name, to.items[0].shapes[0].name);
	assert_int_equal(to.items[1].shape_count, 1); /* calls that are alike share it */
	assert_int_equal(to.items[1].shifts[0].task, word(&to, "solve"));
	assert_int_equal(to.items[1].ends[0].id, 4711);
	assert_int_equal(to.items[1].colls[0].library, word(&to, "gloo"));
	assert_int_equal(to.items[1].colls[0].came, 450);
	assert_int_equal(ut_ranks_finalize(&to, 1, &err), 0);
	assert_int_equal(to.meeting_count, 2);
	assert_int_equal(to.meetings[0].members, 2);
	ut_buf_release(&packed);
	ut_ranks_release(&from);
	ut_ranks_release(&to);
}

static void what_is_cut_off_or_changed_is_refused(void **state)
{
	struct ut_ranks from;
	struct ut_buf packed = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	ut_ranks_init(&from);
	add_rank(&from, 1);
	ut_ranks_pack(&from, &packed);
	for (size_t len = 0; len < packed.len; len++) {
		char *copy = malloc(len + 1);
		struct ut_ranks to;

		memcpy(copy, packed.data, len);
		ut_ranks_init(&to);
		assert_int_not_equal(ut_ranks_unpack(&to, copy, len, &err), 0);
		ut_ranks_release(&to);
		free(copy);
	}
	for (size_t i = 0; i < packed.len; i++) {
		char *copy = malloc(packed.len);
		struct ut_ranks to;

		memcpy(copy, packed.data, packed.len);
		copy[i] = (char)(copy[i] ^ 0xff);
		ut_ranks_init(&to);
		/* Times and sizes may be anything; nothing else may be believed. */
		if (!ut_ranks_unpack(&to, copy, packed.len, &err))
			assert_true(to.count <= 1);
		ut_ranks_release(&to);
		free(copy);
	}
	ut_buf_release(&packed);
	ut_ranks_release(&from);
}

static void calls_are_recognized_by_their_names(void **state)
{
	static const struct {
		const char *name;
		enum ut_rank_use use, meets;
	} names[] = {
		{ "MPI_Send", UT_RANK_SEND, UT_RANK_OTHER },
		{ "MPI_Send_c", UT_RANK_SEND, UT_RANK_OTHER },
		{ "MPI_Send_init", UT_RANK_OTHER, UT_RANK_OTHER },
		{ "MPI_Irecv", UT_RANK_POST, UT_RANK_OTHER },
		{ "MPI_Allreduce_c", UT_RANK_ALL, UT_RANK_ALL },
		{ "MPI_Iallreduce", UT_RANK_POST, UT_RANK_ALL },
		{ "MPI_Ibcast_c", UT_RANK_POST, UT_RANK_FROM_ROOT },
		{ "MPI_Bcast_init", UT_RANK_OTHER, UT_RANK_FROM_ROOT },
		{ "MPI_Ireduce_scatter_block", UT_RANK_POST, UT_RANK_ALL },
		{ "MPI_Neighbor_alltoall", UT_RANK_NEIGHBOURS, UT_RANK_OTHER },
		{ "MPI_Ineighbor_alltoall", UT_RANK_POST, UT_RANK_OTHER },
		{ "MPI_Waitsome", UT_RANK_WAIT, UT_RANK_OTHER },
		{ "MPI_Put", UT_RANK_ONE_SIDED, UT_RANK_OTHER },
		{ "MPI_Win_fence", UT_RANK_ALL, UT_RANK_ALL },
		{ "MPI_File_write_at_all", UT_RANK_FILE, UT_RANK_OTHER },
		{ "MPI_Comm_free", UT_RANK_OTHER, UT_RANK_OTHER },
		{ "", UT_RANK_OTHER, UT_RANK_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(ut_rank_use_of(ut_str_of(names[i].name)), names[i].use);
		assert_int_equal(ut_rank_meets(ut_str_of(names[i].name)), names[i].meets);
	}
}

UT_TESTS(ranks_pack)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_arrive_as_they_were_sent),
		cmocka_unit_test(what_is_cut_off_or_changed_is_refused),
		cmocka_unit_test(calls_are_recognized_by_their_names),
	};

	return cmocka_run_group_tests_name("ranks/ranks_pack", tests, NULL, NULL);
}
