/* test_ranks_links.c - tests which calls wait for calls that send them nothing:
 * src/analysis/ranks/ranks_links.h, ranks_wait.c, ranks_lock.c
 */
#include "ranks/ranks_links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/big.h"
#include "base/grow.h"
#include "support/unit.h"

#define MS UINT64_C(1000000)

/* Ranks whose calls are added one by one, as a reader does it. */
struct job {
	struct ut_ranks ranks;
	struct ut_rank *one;
	struct ut_rank_shaper shaper;
	struct ut_rank_links *links;
};

static void start(struct job *j)
{
	*j = (struct job){ .links = ut_make(sizeof(*j->links)) };
	ut_ranks_init(&j->ranks);
}

static void end_rank(struct job *j)
{
	ut_rank_shaper_release(&j->shaper);
	ut_rank_links_release(j->links);
}

static void add_rank(struct job *j, int32_t number)
{
	end_rank(j);
	j->one = ut_ranks_new(&j->ranks, number);
	j->one->stop = 1000 * MS;
	j->links->me = number;
}

/* Times in ms. The group is one window. */
static void add_call(struct job *j, const char *name, uint64_t begin, uint64_t end,
		     struct ut_rank_found more)
{
	struct ut_strtab *s = &j->ranks.strings;
	struct ut_str text = ut_str_of(name);

	more.begin = begin * MS;
	more.end = end * MS;
	more.shape.name = ut_strtab_intern_z(s, name);
	more.shape.use = (uint8_t)ut_rank_use_of(text);
	more.shape.meets = more.seq ? (uint8_t)ut_rank_meets_of(text) : UT_RANK_OTHER;
	more.shape.group = more.seq || more.shape.use == UT_RANK_ONE_SIDED
				   ? ut_strtab_intern_z(s, "win 1")
				   : 0;
	more.shape.to = more.shape.to ? more.shape.to - 1 : -1;
	ut_rank_put_call(j->one, &j->shaper, &more);
	ut_rank_links_take(j->links, &j->ranks, j->one, &more);
}

#define CALL(name, begin, end, ...)                                                                \
	add_call(&j, name, begin, end, (struct ut_rank_found){ __VA_ARGS__ })
#define RANKS(text) ut_strtab_intern_z(&j.ranks.strings, text)

static void add_end(struct job *j, uint64_t id, bool received)
{
	struct ut_rank *one = j->one;

	one->ends =
		ut_ace_big_grow(one->ends, one->end_count + 1, &one->end_cap, sizeof(*one->ends));
	one->ends[one->end_count++] = (struct ut_rank_end){ .id = id,
							    .call = (uint32_t)one->call_count - 1,
							    .received = received };
}

static void finalize(struct job *j)
{
	struct ut_err err = { 0 };

	end_rank(j);
	assert_int_equal(ut_ranks_finalize(&j->ranks, 1, &err), 0);
}

static void assert_waits(const struct job *j, uint32_t rank, uint32_t call, uint64_t ms,
			 enum ut_rank_why why)
{
	const struct ut_rank *one = &j->ranks.items[rank];
	const struct ut_rank_more *w = ut_rank_more(one, &one->calls[call]);

	assert_int_equal(w->wait, ms * MS);
	assert_int_equal(w->why, why);
}

static void stop(struct job *j)
{
	ut_ranks_release(&j->ranks);
	free(j->links);
}

static void a_probe_waits_for_what_it_finds(void **state)
{
	struct job j;

	(void)state;
	start(&j);
	add_rank(&j, 0);
	CALL("MPI_Send", 100, 101, .shape.to = 2);
	add_end(&j, 77, false);
	add_rank(&j, 1);
	CALL("MPI_Probe", 10, 102, .message = 77);
	CALL("MPI_Recv", 102, 103, .seq = 0);
	add_end(&j, 77, true);
	finalize(&j);
	assert_waits(&j, 1, 0, 90, UT_RANK_LATE_SENDER);
	assert_waits(&j, 1, 1, 0, UT_RANK_NOTHING);
	assert_int_equal(j.ranks.messages, 1);
	assert_int_equal(j.ranks.single, 0);
	stop(&j);
}

/* Three sends are complete in one call: the last receiver to come is waited for. */
static void who_completes_sends_waits_for_receivers(void **state)
{
	struct job j;

	(void)state;
	start(&j);
	add_rank(&j, 0);
	for (uint64_t i = 0; i < 3; i++) {
		CALL("MPI_Isend", 1 + i, 2 + i, .request = 5 + i, .shape.to = 2);
		add_end(&j, 100 + i, false);
	}
	CALL("MPI_Waitall", 10, 90, .request = 5, .last_request = 7);
	add_rank(&j, 1);
	CALL("MPI_Irecv", 20, 21, .message = 102);
	for (uint64_t i = 0; i < 2; i++) {
		CALL("MPI_Recv", 40 + 10 * i, 41 + 10 * i, .seq = 0);
		add_end(&j, 100 + i, true);
	}
	CALL("MPI_Wait", 95, 96, .seq = 0);
	add_end(&j, 102, true);
	finalize(&j);
	assert_waits(&j, 0, 3, 40, UT_RANK_LATE_RECEIVER);
	stop(&j);
}

/* A small message that is complete beside a late receive has left before. */
static void small_sends_are_not_waited_for_beside_receives(void **state)
{
	struct job j;

	(void)state;
	start(&j);
	add_rank(&j, 0);
	CALL("MPI_Isend", 1, 2, .request = 1, .shape = { .to = 2, .sent = 8 });
	add_end(&j, 100, false);
	CALL("MPI_Waitall", 10, 90, .request = 1);
	add_end(&j, 200, true);
	add_rank(&j, 1);
	CALL("MPI_Send", 50, 51, .shape.to = 1);
	add_end(&j, 200, false);
	CALL("MPI_Recv", 80, 81, .seq = 0);
	add_end(&j, 100, true);
	finalize(&j);
	assert_waits(&j, 0, 1, 40, UT_RANK_LATE_SENDER);
	stop(&j);
}

static void epochs_are_waited_for_pair_by_pair(void **state)
{
	struct job j;

	(void)state;
	start(&j);
	add_rank(&j, 0);
	CALL("MPI_Win_post", 30, 31, .ranks = RANKS("1,2"));
	CALL("MPI_Win_wait", 31, 90, .seq = 0);
	for (int32_t rank = 1; rank < 3; rank++) {
		add_rank(&j, rank);
		CALL("MPI_Win_start", 10, 11, .ranks = RANKS("0")); /* does not wait */
		CALL("MPI_Win_complete", 11, 85, .ranks = 0);
	}
	j.ranks.items[2].calls[1].begin = 70 * MS;
	finalize(&j);
	assert_waits(&j, 1, 1, 19, UT_RANK_LATE_TARGET);
	assert_waits(&j, 2, 1, 0, UT_RANK_NOTHING);
	assert_waits(&j, 0, 1, 39, UT_RANK_LATE_ORIGIN);
	stop(&j);
}

static void locks_are_waited_for_if_one_is_exclusive(void **state)
{
	for (int32_t exclusive = 0; exclusive < 2; exclusive++) {
		struct job j;

		(void)state;
		start(&j);
		add_rank(&j, 0);
		CALL("MPI_Win_lock", 1, 2, .shape = { .to = 3, .root = exclusive });
		CALL("MPI_Win_unlock", 60, 61, .shape.to = 3);
		add_rank(&j, 1);
		CALL("MPI_Win_lock", 10, 62, .shape = { .to = 3, .root = 0 });
		CALL("MPI_Win_unlock", 63, 64, .shape.to = 3);
		add_rank(&j, 2);
		CALL("MPI_Barrier", 1, 100, .seq = 0);
		finalize(&j);
		assert_waits(&j, 1, 0, exclusive ? 50 : 0,
			     exclusive ? UT_RANK_LOCKED : UT_RANK_NOTHING);
		assert_waits(&j, 0, 1, 0, UT_RANK_NOTHING);
		stop(&j);
	}
}

static void a_target_that_is_not_in_mpi_is_waited_for(void **state)
{
	struct job j;

	(void)state;
	start(&j);
	add_rank(&j, 0);
	CALL("MPI_Win_flush", 10, 62, .shape.to = 2);
	CALL("MPI_Win_flush", 70, 90, .shape.to = 2); /* it is there */
	add_rank(&j, 1);
	CALL("MPI_Barrier", 60, 100, .seq = 0);
	finalize(&j);
	assert_waits(&j, 0, 0, 50, UT_RANK_LATE_TARGET);
	assert_waits(&j, 0, 1, 0, UT_RANK_NOTHING);
	stop(&j);
}

/* Who left a file before the last one came has not waited for that one. */
static void who_leaves_before_the_last_has_not_waited(void **state)
{
	struct job j;

	(void)state;
	start(&j);
	for (int32_t rank = 0; rank < 3; rank++) {
		add_rank(&j, rank);
		CALL("MPI_File_write_at_all", rank == 2 ? 100 : 10, rank ? 110 : 50, .seq = 1);
	}
	finalize(&j);
	assert_waits(&j, 0, 0, 0, UT_RANK_NOTHING);
	assert_waits(&j, 1, 0, 90, UT_RANK_COLLECTIVE);
	stop(&j);
}

static void neighbours_wait_for_each_other_only(void **state)
{
	static const char *const lists[] = { "1", "0", "3", "2" };
	struct job j;

	(void)state;
	start(&j);
	for (int32_t rank = 0; rank < 4; rank++) {
		uint64_t begin = rank == 0 ? 50 : rank == 3 ? 80 : 10;

		add_rank(&j, rank);
		CALL("MPI_Neighbor_alltoall", begin, 90, .seq = 3, .sources = RANKS(lists[rank]),
		     .destinations = RANKS(lists[rank]));
	}
	finalize(&j);
	assert_waits(&j, 1, 0, 40, UT_RANK_COLLECTIVE);
	assert_waits(&j, 2, 0, 70, UT_RANK_COLLECTIVE);
	assert_waits(&j, 0, 0, 0, UT_RANK_NOTHING);
	stop(&j);
}

static void tests_that_fail_wait_for_what_comes_next(void **state)
{
	struct job j;

	(void)state;
	start(&j);
	add_rank(&j, 0);
	CALL("MPI_Test", 5, 40, .seq = 0);
	CALL("MPI_Iprobe", 40, 45, .seq = 0);
	CALL("MPI_Wait", 45, 81, .seq = 0);
	add_end(&j, 7, true);
	CALL("MPI_Test", 90, 95, .seq = 0); /* nothing comes */
	add_rank(&j, 1);
	CALL("MPI_Send", 80, 81, .shape.to = 1);
	add_end(&j, 7, false);
	finalize(&j);
	assert_waits(&j, 0, 0, 35, UT_RANK_LATE_SENDER);
	assert_waits(&j, 0, 1, 5, UT_RANK_LATE_SENDER);
	assert_waits(&j, 0, 2, 35, UT_RANK_LATE_SENDER);
	assert_waits(&j, 0, 3, 0, UT_RANK_NOTHING);
	stop(&j);
}

/* Lists of a file may be anything. */
static void lists_that_make_no_sense_are_no_ranks(void **state)
{
	static const char *const lists[] = { "", ",", "x", "-1", "99999999999999", "1,,2", "0" };

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct job j;

		start(&j);
		add_rank(&j, 0);
		CALL("MPI_Win_post", 1, 2, .ranks = RANKS(lists[i]));
		CALL("MPI_Win_wait", 2, 3, .seq = 0);
		CALL("MPI_Win_complete", 3, 4, .seq = 0);
		CALL("MPI_Waitall", 5, 6, .request = 1, .last_request = UINT64_MAX);
		finalize(&j);
		assert_waits(&j, 0, 1, 0, UT_RANK_NOTHING);
		stop(&j);
	}
}

UT_TESTS(ranks_links)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_waits_for_what_it_finds),
		cmocka_unit_test(who_completes_sends_waits_for_receivers),
		cmocka_unit_test(small_sends_are_not_waited_for_beside_receives),
		cmocka_unit_test(epochs_are_waited_for_pair_by_pair),
		cmocka_unit_test(locks_are_waited_for_if_one_is_exclusive),
		cmocka_unit_test(a_target_that_is_not_in_mpi_is_waited_for),
		cmocka_unit_test(who_leaves_before_the_last_has_not_waited),
		cmocka_unit_test(neighbours_wait_for_each_other_only),
		cmocka_unit_test(tests_that_fail_wait_for_what_comes_next),
		cmocka_unit_test(lists_that_make_no_sense_are_no_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
