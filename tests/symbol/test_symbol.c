/* test_symbol.c - tests src/record/symbol/symbol.h on this program itself. */
#include "symbol/symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

int findable_function(int x);

int __attribute__((noinline)) findable_function(int x)
{
	return x * 3 + 1;
}

/* Where in the file the byte at this address of ours lies. */
static uint64_t file_offset(uintptr_t address)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	uint64_t start, end, offset, found = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    address >= start && address < end)
			found = address - start + offset;
	fclose(f);
	return found;
}

static void a_function_is_found_at_every_byte_of_it(void **state)
{
	uint64_t at = file_offset((uintptr_t)findable_function);
	char name[64];

	(void)state;
	assert_true(at > 0);
	assert_true(ut_symbol_name("/proc/self/exe", at, name, sizeof(name)));
	assert_string_equal(name, "findable_function");
	assert_true(ut_symbol_name("/proc/self/exe", at + 3, name, sizeof(name)));
	assert_string_equal(name, "findable_function");
}

static void a_long_name_is_cut_to_fit(void **state)
{
	uint64_t at = file_offset((uintptr_t)findable_function);
	char name[9];

	(void)state;
	assert_true(ut_symbol_name("/proc/self/exe", at, name, sizeof(name)));
	assert_string_equal(name, "findable");
}

static void what_has_no_symbol_there_has_no_name(void **state)
{
	char name[64] = "old";

	(void)state;
	assert_false(ut_symbol_name("/proc/self/exe", 0, name, sizeof(name)));
	assert_string_equal(name, "");
	assert_false(ut_symbol_name("/proc/self/exe", UINT64_MAX, name, sizeof(name)));
	assert_false(ut_symbol_name("/nowhere", 100, name, sizeof(name)));
	assert_false(ut_symbol_name("/tmp", 100, name, sizeof(name)));
	assert_false(ut_symbol_name("/dev/zero", 100, name, sizeof(name)));
	assert_false(ut_symbol_name("/etc/passwd", 100, name, sizeof(name)));
}

static size_t read_self(char **bytes)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	*bytes = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, *bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	return (size_t)st.st_size;
}

/* A cut or damaged file gives no name or a wrong one; it never harms us. */
static void a_damaged_file_is_harmless(void **state)
{
	uint64_t at = file_offset((uintptr_t)findable_function);
	char path[] = "/tmp/ut_symbol_XXXXXX", name[64], *bytes;
	size_t size = read_self(&bytes);
	int fd = mkstemp(path);
	uint64_t seed = 1;

	(void)state;
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	for (int i = 0; i < 300; i++) {
		uint64_t junk = seed = seed * 6364136223846793005u + 1442695040888963407u;
		off_t to = (off_t)((seed >> 33) % sizeof(Elf64_Ehdr));

		assert_int_equal(pwrite(fd, &junk, 1 + i % 8, to), 1 + i % 8);
		(void)!ut_symbol_name(path, at, name, sizeof(name));
		assert_int_equal(pwrite(fd, bytes, sizeof(Elf64_Ehdr) + 8, 0),
				 sizeof(Elf64_Ehdr) + 8);
	}
	for (size_t left = size; left > 16; left -= left / 7) {
		assert_int_equal(ftruncate(fd, (off_t)left), 0);
		(void)!ut_symbol_name(path, at, name, sizeof(name));
	}
	close(fd);
	unlink(path);
	free(bytes);
}

UT_TESTS(symbol)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_found_at_every_byte_of_it),
		cmocka_unit_test(a_long_name_is_cut_to_fit),
		cmocka_unit_test(what_has_no_symbol_there_has_no_name),
		cmocka_unit_test(a_damaged_file_is_harmless),
	};

	return cmocka_run_group_tests_name("symbol/symbol", tests, NULL, NULL);
}
