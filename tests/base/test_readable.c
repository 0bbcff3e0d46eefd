/* test_readable.c - tests src/base/readable.h. */
#include "base/readable.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "support/unit.h"

static void memory_is_known_to_be_there_or_not(void **state)
{
	char *map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	errno = 7;
	assert_true(ut_readable((uintptr_t)map, 8192));
	assert_int_equal(mprotect(map + 4096, 4096, PROT_NONE), 0);
	assert_true(ut_readable((uintptr_t)map + 4000, 96));
	assert_false(ut_readable((uintptr_t)map + 4000, 97));
	assert_false(ut_readable(8, 8));
	assert_false(ut_readable(UINTPTR_MAX - 4, 8));
	assert_int_equal(errno, 7);
	munmap(map, 8192);
}

UT_TESTS(readable)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(memory_is_known_to_be_there_or_not) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
