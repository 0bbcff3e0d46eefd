/* test_mpi_match.c - tests src/record/backend/mpi/mpi_match.h against a queue of MPI's own,
 * simulated */
#include "backend/mpi/mpi_match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/mpi/channel.h"
#include "support/unit.h"

#define SOURCES 3
#define TAGS    2
#define MOST    400

/* A message, in the order in which it was sent in its channel. */
struct message {
	int32_t source, tag;
	uint64_t number;
};

/* A receive: what MPI gave it, and what we found out. */
struct receive {
	int32_t source, tag;
	struct ut_mpi_ticket ticket;
	bool matched, done, reported, cancelled;
	struct message got;
};

static struct receive receives[MOST];
static struct message unexpected[MOST];
static size_t receive_count, unexpected_count;
static uint64_t sent[SOURCES][TAGS];
static struct ut_mpi_queue queue;

static void deliver(const struct ut_mpi_matched *m)
{
	struct receive *r = &receives[m->correlation - 1];

	assert_true(r->done && !r->reported && !r->cancelled);
	assert_int_equal(m->source, r->got.source);
	assert_int_equal(m->tag, r->got.tag);
	assert_true(m->number == r->got.number);
	r->reported = true;
}

static bool accepts(const struct receive *r, const struct message *m)
{
	return (r->source == UT_MPI_ANY || r->source == m->source) &&
	       (r->tag == UT_MPI_ANY || r->tag == m->tag);
}

/* MPI: the first receive that fits gets it, else it waits. */
static void arrive(int32_t source, int32_t tag)
{
	struct message m = { source, tag, sent[source][tag]++ };

	for (size_t i = 0; i < receive_count; i++) {
		struct receive *r = &receives[i];

		if (!r->matched && !r->cancelled && accepts(r, &m)) {
			r->got = m;
			r->matched = true;
			return;
		}
	}
	unexpected[unexpected_count++] = m;
}

static void post(int32_t source, int32_t tag)
{
	struct receive *r = &receives[receive_count++];

	*r = (struct receive){ .source = source, .tag = tag };
	ut_mpi_match_post(&queue, source, tag, false, &r->ticket);
	for (size_t i = 0; i < unexpected_count; i++) {
		if (!accepts(r, &unexpected[i]))
			continue;
		r->got = unexpected[i];
		r->matched = true;
		memmove(&unexpected[i], &unexpected[i + 1],
			(unexpected_count - i - 1) * sizeof(unexpected[0]));
		unexpected_count--;
		return;
	}
}

static void complete(size_t i)
{
	struct receive *r = &receives[i];
	struct ut_mpi_matched m = { .source = r->got.source,
				    .tag = r->got.tag,
				    .correlation = i + 1 };

	r->done = true;
	ut_mpi_match_done(&r->ticket, &m, deliver);
}

static void cancel(size_t i)
{
	struct receive *r = &receives[i];
	uint64_t number = ut_mpi_match_undo(&r->ticket, deliver);

	r->cancelled = true;
	for (size_t k = 0; number != UT_MPI_NO_NUMBER && k < receive_count; k++) {
		struct ut_mpi_ticket *t = &receives[k].ticket;

		if (!receives[k].done && !receives[k].cancelled && t->source == r->source &&
		    t->tag == r->tag && t->number != UT_MPI_NO_NUMBER && t->number > number)
			t->number--;
	}
}

static int32_t any_or(int limit, int wild)
{
	return rand() % 100 < wild ? UT_MPI_ANY : rand() % limit;
}

static void start(void)
{
	static uint64_t comm = 1000;

	ut_mpi_match_reset(&queue);
	queue.comm = ++comm;
	receive_count = unexpected_count = 0;
	memset(sent, 0, sizeof(sent));
}

/* Any order of sends, posts and waits; wild: percent of wildcards; cancels: of them. */
static void play(unsigned int seed, int wild, int cancels)
{
	start();
	srand(seed);
	while (receive_count < MOST && unexpected_count < MOST - 1) {
		size_t i = receive_count ? (size_t)rand() % receive_count : 0;

		switch (rand() % 4) {
		case 0:
			arrive(rand() % SOURCES, rand() % TAGS);
			break;
		case 1:
			post(any_or(SOURCES, wild), any_or(TAGS, wild));
			break;
		default:
			if (!receive_count || receives[i].done || receives[i].cancelled)
				break;
			if (receives[i].matched)
				complete(i);
			else if (rand() % 100 < cancels)
				cancel(i);
		}
	}
	for (size_t i = 0; i < receive_count; i++) {
		if (receives[i].matched && !receives[i].done)
			complete(i);
		else if (!receives[i].matched && !receives[i].cancelled)
			cancel(i);
	}
	for (size_t i = 0; i < receive_count; i++)
		assert_true(receives[i].reported == receives[i].matched);
	assert_null(atomic_load(&queue.first));
	assert_int_equal(queue.waiting, 0);
}

static void every_receive_finds_the_number_of_its_message(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 100; seed++) {
		play(seed, 0, 0);
		play(seed, 30, 0);
		play(seed, 100, 0);
		play(seed, 30, 20);
		play(seed, 0, 20);
	}
	assert_true(ut_mpi_match_lost() == 0);
}

static void a_receive_without_wildcards_has_its_number_at_once(void **state)
{
	struct ut_mpi_ticket first, second;

	(void)state;
	start();
	ut_mpi_match_post(&queue, 1, 7, false, &first);
	ut_mpi_match_post(&queue, 1, 7, false, &second);
	assert_true(first.number == 0 && second.number == 1);
	assert_false(ut_mpi_match_may_wait(&first));
}

/* A probe finds what the next receive gets, unless an open one with a wildcard may take it. */
static void a_probe_takes_no_number(void **state)
{
	struct ut_mpi_ticket ticket;

	(void)state;
	start();
	assert_true(ut_mpi_match_peek(&queue, 1, 7) == 0);
	assert_true(ut_mpi_match_peek(&queue, 1, 7) == 0);
	ut_mpi_match_post(&queue, 1, 7, false, &ticket);
	assert_true(ut_mpi_match_peek(&queue, 1, 7) == 1);
	ut_mpi_match_post(&queue, 2, UT_MPI_ANY, false, &ticket);
	assert_true(ut_mpi_match_peek(&queue, 2, 7) == UT_MPI_NO_NUMBER);
	assert_true(ut_mpi_match_peek(&queue, 1, 7) == 1);
}

static void nothing_is_reported_before_an_earlier_wildcard_is_known(void **state)
{
	(void)state;
	start();
	post(UT_MPI_ANY, 0);
	post(1, 0);
	arrive(1, 0);
	arrive(1, 0);
	complete(1);
	assert_false(receives[1].reported);
	complete(0);
	assert_true(receives[0].reported && receives[1].reported);
}

static void channels_count_apart_and_there_is_room_for_many(void **state)
{
	const int32_t many = 200000;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int32_t tag = 0; tag < many; tag++)
			assert_int_equal(ut_mpi_channel_next(ut_mpi_channel(1, 5, tag, 0)), round);
	}
	assert_int_equal(ut_mpi_channel_next(ut_mpi_channel(1, 5, 3, 1)), 0);
	assert_int_equal(ut_mpi_channel_next(ut_mpi_channel(2, 5, 3, 0)), 0);
	assert_int_equal(ut_mpi_channel_next(ut_mpi_channel(1, 6, 3, 0)), 0);
	assert_true(ut_mpi_channel_lost() == 0);
}

UT_TESTS(mpi_match)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_receive_finds_the_number_of_its_message),
		cmocka_unit_test(a_receive_without_wildcards_has_its_number_at_once),
		cmocka_unit_test(a_probe_takes_no_number),
		cmocka_unit_test(nothing_is_reported_before_an_earlier_wildcard_is_known),
		cmocka_unit_test(channels_count_apart_and_there_is_room_for_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
