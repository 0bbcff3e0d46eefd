/*
 * test_host_net.c - tests src/trace/clocks/host_net.h and time_bounds.h: clocks of made-up hosts,
 * which are apart, drift and change their rate, are found again within the bounds that are stated.
 */
#include "clocks/host_net.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clocks/time_bounds.h"
#include "support/unit.h"

#define SECOND INT64_C(1000000000)

static uint64_t seed = 88172645463325252u;

static uint64_t dice(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* From low to high, mostly near low: how long messages take. */
static int64_t delay(int64_t low, int64_t high)
{
	double x = (double)(dice() % 1000000) / 1e6;

	return low + (int64_t)((double)(high - low) * x * x * x);
}

/* A host's clock: what it shows at a true time. */
struct host {
	int64_t ahead;      /* at true time 0 */
	double drift;       /* rate - 1 */
	int64_t change;     /* from this true time on it is */
	double drift_after; /* this; 0 = no change */
};

static int64_t shows(const struct host *h, int64_t at)
{
	double gained = h->drift * (double)at;

	if (h->change && at > h->change)
		gained = h->drift * (double)h->change + h->drift_after * (double)(at - h->change);
	return at + h->ahead + llround(gained);
}

#define FROM (100 * SECOND)
#define TO   (160 * SECOND)

static struct ut_host_net *net_of(const struct host *hosts, size_t count)
{
	struct ut_net_clock clocks[16];

	assert_true(count <= 16);
	for (size_t i = 0; i < count; i++)
		clocks[i] = (struct ut_net_clock){ .first = shows(&hosts[i], FROM),
						   .last = shows(&hosts[i], TO),
						   .epoch = 1700000000 * SECOND };
	return ut_host_net_new(clocks, count);
}

static void message(struct ut_host_net *net, const struct host *hosts, uint32_t a, uint32_t b,
		    int64_t at)
{
	int64_t there = at + delay(1500, 2000000);

	ut_host_net_before(net, a, shows(&hosts[a], at), b, shows(&hosts[b], there));
}

/* How far the times of a host are off, at most, against what is stated. */
static int64_t check(const struct ut_net_result *r, const struct host *hosts, uint32_t clock)
{
	const struct ut_net_found *found = &r->clocks[clock];
	int64_t worst = 0;

	for (int64_t at = FROM; at <= TO; at += SECOND / 7) {
		int64_t own = shows(&hosts[clock], at);
		int64_t off = ut_time_map_to(&found->map, own) - shows(&hosts[r->root], at);
		uint64_t bound = ut_time_map_error(&found->map, own);

		off = off < 0 ? -off : off;
		assert_true((uint64_t)off <= bound);
		worst = off > worst ? off : worst;
	}
	return worst;
}

static void skew_and_drift_are_found_from_messages_alone(void **state)
{
	static const struct host hosts[] = {
		{ 0, 0, 0, 0 },
		{ 3600 * SECOND, 42e-6, 0, 0 },
		{ -5 * SECOND, -17e-6, 0, 0 },
	};
	struct ut_host_net *net = net_of(hosts, 3);
	struct ut_net_result r;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t a = (uint32_t)(dice() % 3), b = (a + 1 + (uint32_t)(dice() % 2)) % 3;

		message(net, hosts, a, b, FROM + (int64_t)(dice() % (uint64_t)(TO - FROM)));
	}
	ut_host_net_solve(net, &r);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(r.clocks[i].proven);
		assert_false(r.clocks[i].contrary);
		assert_true(check(&r, hosts, i) < 3000);
		assert_true(ut_time_map_worst(&r.clocks[i].map) < 20000);
	}
	assert_int_equal(r.root != 0 || llabs(ut_time_map_drift(&r.clocks[1].map) + 41998) < 60, 1);
	ut_net_result_release(&r);
	ut_host_net_free(net);
}

static void neighbours_that_talk_in_a_row_are_enough(void **state)
{
	struct host hosts[12];
	struct ut_host_net *net;
	struct ut_net_result r;

	(void)state;
	for (size_t i = 0; i < 12; i++)
		hosts[i] = (struct host){ (int64_t)(dice() % 1000000) * SECOND,
					  ((double)(dice() % 200) - 100) * 1e-6, 0, 0 };
	net = net_of(hosts, 12);
	for (int i = 0; i < 40000; i++) {
		uint32_t a = (uint32_t)(dice() % 11);
		int64_t at = FROM + (int64_t)(dice() % (uint64_t)(TO - FROM));

		if (i & 1)
			message(net, hosts, a, a + 1, at);
		else
			message(net, hosts, a + 1, a, at);
	}
	ut_host_net_solve(net, &r);
	for (uint32_t i = 0; i < 12; i++) {
		assert_true(r.clocks[i].proven);
		check(&r, hosts, i);
	}
	ut_net_result_release(&r);
	ut_host_net_free(net);
}

static void what_was_measured_at_both_ends_holds_in_between(void **state)
{
	static const struct host hosts[] = { { 0, 0, 0, 0 }, { 777 * SECOND, 30e-6, 0, 0 } };
	struct ut_host_net *net = net_of(hosts, 2);
	struct ut_net_result r;

	(void)state;
	/* as a ping-pong does: the middle of the way there and back, half of it as bound */
	for (int i = 0; i < 2; i++) {
		int64_t there = delay(9000, 50000), back = delay(9000, 50000);
		int64_t begin = i ? TO - SECOND : FROM;
		int64_t t1 = shows(&hosts[1], begin), t2 = shows(&hosts[0], begin + there);
		int64_t t4 = shows(&hosts[1], begin + there + back);

		ut_host_net_measured(net, 1, 0, t1 + (t4 - t1) / 2, t2 - (t1 + (t4 - t1) / 2),
				     (uint64_t)(t4 - t1) / 2 + 1);
	}
	ut_host_net_solve(net, &r);
	assert_true(check(&r, hosts, 1 - r.root) < 60000);
	assert_true(r.clocks[0].proven && r.clocks[1].proven);
	assert_true(ut_time_map_worst(&r.clocks[1 - r.root].map) < 120000);
	ut_net_result_release(&r);
	ut_host_net_free(net);
}

/* The stated bound takes rates as steady: a change of rate is followed by cutting time. */
static void a_rate_that_changes_is_followed(void **state)
{
	static const struct host hosts[] = { { 0, 0, 0, 0 },
					     { SECOND, 20e-6, 120 * SECOND, -30e-6 } };
	struct ut_host_net *net = net_of(hosts, 2);
	struct ut_net_result r;
	int64_t worst = 0;

	(void)state;
	for (int i = 0; i < 60000; i++)
		message(net, hosts, i & 1, 1 - (i & 1),
			FROM + (int64_t)(dice() % (uint64_t)(TO - FROM)));
	ut_host_net_solve(net, &r);
	for (int64_t at = FROM; at <= TO; at += SECOND / 7) {
		uint32_t other = 1 - r.root;
		int64_t off = ut_time_map_to(&r.clocks[other].map, shows(&hosts[other], at)) -
			      shows(&hosts[r.root], at);

		worst = llabs(off) > worst ? llabs(off) : worst;
	}
	/* one line would be off by 300 us */
	assert_true(worst < 20000);
	assert_true(r.clocks[1 - r.root].map.count > 2);
	ut_net_result_release(&r);
	ut_host_net_free(net);
}

static void evidence_of_one_direction_moves_no_further_than_it_must(void **state)
{
	static const struct ut_net_clock clocks[] = { { 0, SECOND, 1000 * SECOND },
						      { 0, SECOND, 1000 * SECOND + 500 } };
	struct ut_host_net *net = ut_host_net_new(clocks, 2);
	struct ut_net_result r;

	(void)state;
	/* by the wall clocks it arrives 300 ns before it was sent */
	ut_host_net_before(net, 0, 5000, 1, 4200);
	ut_host_net_before(net, 0, 9000, 1, 9900);
	ut_host_net_solve(net, &r);
	assert_int_equal(r.root, 0);
	assert_false(r.clocks[1].proven);
	assert_int_equal(ut_time_map_to(&r.clocks[1].map, 4200), 5000);
	assert_true(ut_time_map_worst(&r.clocks[1].map) == UT_TIME_UNKNOWN);
	ut_net_result_release(&r);
	ut_host_net_free(net);
}

static void without_evidence_wall_clocks_are_believed(void **state)
{
	static const struct ut_net_clock clocks[] = { { 0, SECOND, 1000 * SECOND },
						      { 0, SECOND, 900 * SECOND },
						      { 0, SECOND, 0 } };
	struct ut_host_net *net = ut_host_net_new(clocks, 3);
	struct ut_net_result r;

	(void)state;
	ut_host_net_solve(net, &r);
	assert_int_equal(ut_time_map_to(&r.clocks[1].map, 7), -100 * SECOND + 7);
	assert_int_equal(ut_time_map_to(&r.clocks[2].map, 7), 7);
	assert_false(r.clocks[1].proven);
	ut_net_result_release(&r);
	ut_host_net_free(net);
	net = ut_host_net_new(NULL, 0);
	ut_host_net_solve(net, &r);
	ut_net_result_release(&r);
	ut_host_net_free(net);
}

static void evidence_that_contradicts_itself_is_reported(void **state)
{
	static const struct ut_net_clock clocks[] = { { 0, SECOND, 0 }, { 0, SECOND, 0 } };
	struct ut_host_net *net = ut_host_net_new(clocks, 2);
	struct ut_net_result r;

	(void)state;
	ut_host_net_before(net, 0, 1000, 1, 500);            /* 1 is at least 500 behind ... */
	ut_host_net_before(net, 1, 1000, 0, 900);            /* ... and at least 100 ahead */
	ut_host_net_before(net, 0, INT64_MAX, 1, INT64_MIN); /* no difference can be taken */
	ut_host_net_solve(net, &r);
	assert_true(r.clocks[1].contrary);
	assert_true(r.clocks[1].proven);
	ut_net_result_release(&r);
	ut_host_net_free(net);
}

UT_TESTS(host_net)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skew_and_drift_are_found_from_messages_alone),
		cmocka_unit_test(neighbours_that_talk_in_a_row_are_enough),
		cmocka_unit_test(what_was_measured_at_both_ends_holds_in_between),
		cmocka_unit_test(a_rate_that_changes_is_followed),
		cmocka_unit_test(evidence_of_one_direction_moves_no_further_than_it_must),
		cmocka_unit_test(without_evidence_wall_clocks_are_believed),
		cmocka_unit_test(evidence_that_contradicts_itself_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
