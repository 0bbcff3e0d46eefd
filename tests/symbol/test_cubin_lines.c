/* test_cubin_lines.c - tests src/record/symbol/cubin_lines.h on a cubin of nvcc's. */
#include "symbol/cubin_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static const char *cubin(void)
{
	static char path[4096];
	const char *source = getenv("UNITRACE_SOURCE");

	snprintf(path, sizeof(path), "%s/tests/data/cuda/kernels.cubin", source ? source : ".");
	return path;
}

static uint32_t line_of(const struct ut_cubin_lines *l, const char *function, uint64_t offset)
{
	const char *file = NULL;
	uint32_t line = 0;

	if (!ut_cubin_line(l, function, offset, &file, &line))
		return 0;
	assert_string_equal(file, "/src/kernels.cu");
	return line;
}

/* As binutils' readelf --debug-dump=decodedline tells them. */
static void instructions_have_the_lines_that_the_compiler_gave(void **state)
{
	struct ut_cubin_lines l;

	(void)state;
	assert_true(ut_cubin_lines_open(&l, cubin()));
	assert_int_equal(line_of(&l, "_Z5chasePKiiPi", 0), 30);
	assert_int_equal(line_of(&l, "_Z5chasePKiiPi", 0x80), 36);
	assert_int_equal(line_of(&l, "_Z5chasePKiiPi", 0x88), 36);
	assert_int_equal(line_of(&l, "_Z5chasePKiiPi", 0x1f0), 38);
	assert_int_equal(line_of(&l, "relu", 0x70), 27);
	assert_int_equal(line_of(&l, "_Z6matmuliPKfS0_Pf", 0x190), 19);
	ut_cubin_lines_close(&l);
	ut_cubin_lines_close(&l);
}

static void what_is_not_there_has_no_line(void **state)
{
	struct ut_cubin_lines l;

	(void)state;
	assert_true(ut_cubin_lines_open(&l, cubin()));
	assert_int_equal(line_of(&l, "relu", 0x180), 0); /* behind its end */
	assert_int_equal(line_of(&l, "nobody", 0), 0);
	assert_int_equal(line_of(&l, "", 0), 0);
	ut_cubin_lines_close(&l);
	assert_false(ut_cubin_lines_open(&l, "/proc/self/exe"));
	assert_false(ut_cubin_lines_open(&l, "/nowhere"));
}

/* Any byte may be wrong: nothing is read beyond the file, and it ends. */
static void damage_is_survived(void **state)
{
	FILE *f = fopen(cubin(), "rb");
	static _Alignas(8) char good[1 << 16], bad[1 << 16];
	struct ut_cubin_lines l;
	size_t size;

	(void)state;
	assert_non_null(f);
	size = fread(good, 1, sizeof(good), f);
	fclose(f);
	for (size_t i = 0; i < size; i += 7) {
		memcpy(bad, good, size);
		bad[i] = (char)(bad[i] ^ 0xff);
		if (ut_cubin_lines_open_memory(&l, bad, size - i % 3))
			ut_cubin_lines_close(&l);
	}
}

UT_TESTS(cubin_lines)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_have_the_lines_that_the_compiler_gave),
		cmocka_unit_test(what_is_not_there_has_no_line),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
