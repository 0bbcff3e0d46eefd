/* test_disk_space.c - tests src/base/disk_space.h */
#include "base/disk_space.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

#define MI UINT64_C(1048576)
#define GI (1024 * MI)

static const struct ut_disk_reserve usual = { 0 };

static uint64_t wanted(uint64_t total)
{
	return ut_disk_reserve_wanted(&usual,
				      &(struct ut_disk_space){ .total = total, .free = total });
}

static uint64_t kept(const struct ut_disk_reserve *r, uint64_t total, uint64_t free)
{
	return ut_disk_reserve_kept(r, &(struct ut_disk_space){ .total = total, .free = free });
}

static void the_usual_reserve_is_5_percent_and_at_least_2_gib(void **state)
{
	(void)state;
	assert_int_equal(wanted(1000 * GI), 50 * GI);
	assert_int_equal(wanted(100 * GI), 5 * GI);
	assert_int_equal(wanted(20 * GI), 2 * GI);
	assert_int_equal(wanted(8 * GI), 2 * GI);
}

static void on_a_small_disk_it_is_5_percent(void **state)
{
	(void)state;
	assert_int_equal(wanted(100 * MI), 5 * MI);
	assert_int_equal(wanted(4000 * MI), 200 * MI);
}

static void a_nearly_full_disk_keeps_three_quarters_of_what_is_free(void **state)
{
	(void)state;
	assert_int_equal(kept(&usual, 100 * GI, 50 * GI), 5 * GI);
	assert_int_equal(kept(&usual, 100 * GI, 4 * GI), 3 * GI);
	assert_int_equal(kept(&usual, 100 * GI, 0), 0);
}

static void what_was_asked_for_is_kept_as_it_is(void **state)
{
	struct ut_disk_reserve r;

	(void)state;
	assert_int_equal(ut_disk_reserve_parse("20G", &r, NULL), 0);
	assert_int_equal(kept(&r, 100 * GI, 4 * GI), 20 * GI);
	assert_int_equal(ut_disk_reserve_parse("10%", &r, NULL), 0);
	assert_int_equal(kept(&r, 100 * GI, 4 * GI), 10 * GI);
	assert_int_equal(ut_disk_reserve_parse("0.5%", &r, NULL), 0);
	assert_int_equal(kept(&r, 100 * GI, 50 * GI), GI / 2);
	assert_int_equal(ut_disk_reserve_parse("0", &r, NULL), 0);
	assert_int_equal(kept(&r, 100 * GI, 4 * GI), 0);
	assert_int_not_equal(ut_disk_reserve_parse("101%", &r, NULL), 0);
	assert_int_not_equal(ut_disk_reserve_parse("-1%", &r, NULL), 0);
	assert_int_not_equal(ut_disk_reserve_parse("nan%", &r, NULL), 0);
	assert_int_not_equal(ut_disk_reserve_parse("%", &r, NULL), 0);
	assert_int_not_equal(ut_disk_reserve_parse("much", &r, NULL), 0);
	assert_int_not_equal(ut_disk_reserve_parse("", &r, NULL), 0);
}

static void the_space_of_a_path_that_is_to_be_made_is_that_of_its_disk(void **state)
{
	struct ut_disk_space root, below, fd;
	int dir = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(ut_disk_space_path("/tmp", &root));
	assert_true(root.total > 0 && root.free <= root.total);
	assert_true(ut_disk_space_path("/tmp/not/there/yet", &below));
	assert_int_equal(below.device, root.device);
	assert_true(ut_disk_space_fd(dir, &fd));
	assert_int_equal(fd.device, root.device);
	assert_int_equal(fd.total, root.total);
	assert_true(ut_disk_space_path("", &below));
	assert_true(ut_disk_space_path("not-there", &below));
	close(dir);
}

UT_TESTS(disk_space)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_usual_reserve_is_5_percent_and_at_least_2_gib),
		cmocka_unit_test(on_a_small_disk_it_is_5_percent),
		cmocka_unit_test(a_nearly_full_disk_keeps_three_quarters_of_what_is_free),
		cmocka_unit_test(what_was_asked_for_is_kept_as_it_is),
		cmocka_unit_test(the_space_of_a_path_that_is_to_be_made_is_that_of_its_disk),
	};

	return cmocka_run_group_tests_name("base/disk_space", tests, NULL, NULL);
}
