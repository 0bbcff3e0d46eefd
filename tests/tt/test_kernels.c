/* test_kernels.c - tests src/analysis/tt/kernels.h: what each RISC did for each launch, and of too
 * many the longest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/unit.h"
#include "tt/kernels.h"
#include "tt/logs.h"

#define ROW(chip, x, risc, id, ts) #chip ", " #x ", 0, " risc ", " #id ", " #ts "\n"
/* a launch with firmware around a kernel */
#define RUN(chip, x, risc, from, start, end, to)                                                   \
	ROW(chip, x, risc, 1, from)                                                                \
	ROW(chip, x, risc, 2, start) ROW(chip, x, risc, 3, end) ROW(chip, x, risc, 4, to)

struct world {
	struct ut_tt_log log;
	struct ut_tt_analysis a;
	struct ut_tt_kernels kernels;
	struct ut_tt_shares shares;
};

static void build(struct world *w, const char *text, uint32_t chip, size_t most)
{
	struct ut_tt_setup setup;
	struct ut_err err = { 0 };

	*w = (struct world){ 0 };
	assert_int_equal(ut_test_read(&w->log, text, SIZE_MAX, &err), 0);
	assert_true(ut_tt_setup_find(&setup, w->log.zones, NULL));
	ut_tt_analyze(&w->a, &w->log, &setup);
	ut_tt_kernels_find(&w->kernels, &w->a, chip);
	ut_tt_shares_find(&w->shares, &w->kernels, &w->a, chip, most);
}

static void drop(struct world *w)
{
	ut_tt_shares_release(&w->shares);
	ut_tt_kernels_release(&w->kernels);
	ut_tt_analysis_release(&w->a);
	ut_tt_log_release(&w->log);
}

/* The share of a lane in a launch; it must be there. */
static const struct ut_tt_share *share(const struct world *w, uint64_t op, int32_t x,
				       const char *risc)
{
	for (size_t i = 0; i < w->shares.count; i++) {
		const struct ut_tt_share *s = &w->shares.items[i];
		const struct ut_tt_lane *l = &w->log.lanes[s->lane];

		if (w->kernels.items[s->kernel].op == op && w->log.cores[l->core].x == x &&
		    ut_tt_is(&w->log, w->log.riscs[l->risc].name, risc))
			return s;
	}
	fail_msg("no share of (%d) %s in %d", x, risc, (int)op);
	return NULL;
}

static const char two_launches[] = OLD_HEAD RUN(0, 1, "BRISC", 100, 110, 150, 160)
	RUN(0, 1, "NCRISC", 105, 120, 190, 195) RUN(0, 2, "BRISC", 101, 111, 141, 160)
		RUN(0, 1, "BRISC", 500, 510, 910, 920) RUN(0, 2, "BRISC", 501, 520, 620, 640);

static void every_lane_has_its_share_of_every_launch(void **state)
{
	struct world w;

	(void)state;
	build(&w, two_launches, UT_TT_ALL_CHIPS, 1000);
	assert_int_equal(w.kernels.count, 2);
	assert_int_equal(w.shares.count, 5);
	assert_int_equal(w.shares.ops_left, 0);
	assert_int_equal(share(&w, 1, 1, "BRISC")->cycles, 40);
	assert_int_equal(share(&w, 1, 1, "NCRISC")->cycles, 70);
	assert_int_equal(share(&w, 1, 1, "NCRISC")->start, 120);
	assert_int_equal(share(&w, 1, 2, "BRISC")->cycles, 30);
	assert_int_equal(share(&w, 2, 1, "BRISC")->cycles, 400);
	assert_int_equal(share(&w, 2, 2, "BRISC")->cycles, 100);
	/* from the first to the last marker of each core's kernels: 80 and 30, 400 and 100 */
	assert_int_equal(w.kernels.items[0].core_cycles, 110);
	assert_int_equal(w.kernels.items[1].core_cycles, 500);
	drop(&w);
}

static void of_too_many_the_longest_are_there(void **state)
{
	struct world w;

	(void)state;
	build(&w, two_launches, UT_TT_ALL_CHIPS, 4);
	assert_int_equal(w.shares.ops_left, 1);
	assert_int_equal(w.shares.count, 2);
	assert_int_equal(share(&w, 2, 1, "BRISC")->cycles, 400);
	drop(&w);
}

static void a_chip_alone(void **state)
{
	struct world w;

	(void)state;
	build(&w,
	      OLD_HEAD RUN(0, 1, "BRISC", 100, 110, 150, 160)
		      RUN(7, 1, "BRISC", 100, 110, 199, 200),
	      1, 1000);
	assert_int_equal(w.kernels.count, 1);
	assert_int_equal(w.log.chips[w.kernels.items[0].chip].id, 7);
	assert_int_equal(w.shares.count, 1);
	assert_int_equal(w.shares.items[0].cycles, 89);
	drop(&w);
}

UT_TESTS(kernels)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_lane_has_its_share_of_every_launch),
		cmocka_unit_test(of_too_many_the_longest_are_there),
		cmocka_unit_test(a_chip_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
