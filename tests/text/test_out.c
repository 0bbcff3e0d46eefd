/* test_out.c - tests src/trace/text/out.h: exact numbers, and a file that is whole or not there. */
#include <errno.h>
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
#include "text/digits.h"
#include "text/out.h"

static char home[64];
static char path[128];

static int enter_home(void **state)
{
	(void)state;
	snprintf(home, sizeof(home), "/tmp/ut_out_XXXXXX");
	assert_non_null(mkdtemp(home));
	return chdir(home);
}

static int leave_home(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return chdir("/") || system(command);
}

static const char *in_home(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", home, name);
	return path;
}

static int files_in_home(void)
{
	FILE *f = popen("ls -A | wc -l", "r");
	int n = -1;

	assert_int_equal(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

static void expect_file(const char *name, const char *text)
{
	char got[4096] = "";
	int fd = open(name, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(text));
	close(fd);
	assert_string_equal(got, text);
}

static void numbers_are_exact_at_every_size(void **state)
{
	uint64_t v = 1;

	(void)state;
	for (int i = 0; i < 20; i++, v *= 10) {
		const uint64_t nearby[] = { v - 1, v, v + 1, v * 9, v * 5 + 3 };

		for (size_t k = 0; k < 5; k++) {
			char want[40], got[64];

			snprintf(want, sizeof(want), "%" PRIu64, nearby[k]);
			*ut_digits_u64(got, nearby[k]) = '\0';
			assert_string_equal(got, want);
			snprintf(want, sizeof(want), "%" PRIu64 ".%03u", nearby[k] / 1000,
				 (unsigned int)(nearby[k] % 1000));
			*ut_digits_us(got, nearby[k]) = '\0';
			assert_string_equal(got, want);
			snprintf(want, sizeof(want), "0x%" PRIx64, nearby[k]);
			*ut_digits_hex(got, nearby[k]) = '\0';
			assert_string_equal(got, want);
		}
	}
}

static void numbers_are_exact_at_random(void **state)
{
	uint64_t v = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t n;
		char want[40], got[64];

		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
		n = v >> (v & 63);
		snprintf(want, sizeof(want), "%" PRIu64, n);
		*ut_digits_u64(got, n) = '\0';
		assert_string_equal(got, want);
	}
}

static void the_extremes_of_each_type_are_printed(void **state)
{
	struct ut_out *o = ut_out_open_memory();
	size_t len;

	(void)state;
	ut_out_u64(o, UINT64_MAX);
	ut_out_text(o, " ");
	ut_out_i64(o, INT64_MIN);
	ut_out_text(o, " ");
	ut_out_i64(o, INT64_MAX);
	ut_out_text(o, " ");
	ut_out_us(o, UINT64_MAX);
	ut_out_text(o, " ");
	ut_out_us(o, 0);
	ut_out_write(o, "", 1);
	assert_string_equal(ut_out_data(o, &len), "18446744073709551615 -9223372036854775808 "
						  "9223372036854775807 "
						  "18446744073709551.615 0.000");
	ut_out_abandon(o);
}

static void long_formats_are_not_cut(void **state)
{
	struct ut_out *o = ut_out_open_memory();
	size_t len;

	(void)state;
	ut_out_fmt(o, "%0*d", 100000, 7);
	ut_out_fmt(o, "%s", "");
	assert_int_equal(ut_out_data(o, &len)[99999], '7');
	assert_int_equal(len, 100000);
	ut_out_abandon(o);
}

static void a_file_appears_only_when_committed(void **state)
{
	struct ut_out *o = ut_out_open(in_home("a.txt"), 0);
	struct ut_err err = { 0 };

	(void)state;
	ut_out_text(o, "hello");
	assert_int_not_equal(access("a.txt", F_OK), 0);
	assert_int_equal(ut_out_commit(o, &err), 0);
	expect_file("a.txt", "hello");
	assert_int_equal(files_in_home(), 1);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
	struct ut_out *o = ut_out_open(in_home("b.txt"), 0);

	(void)state;
	for (int i = 0; i < 100000; i++)
		ut_out_text(o, "more than the buffer ");
	assert_int_not_equal(access("b.txt", F_OK), 0);
	ut_out_abandon(o);
	ut_out_abandon(NULL);
	assert_int_equal(files_in_home(), 0);
}

static void an_existing_file_is_kept_unless_asked(void **state)
{
	struct ut_err err = { 0 };
	struct ut_out *o;

	(void)state;
	o = ut_out_open("c.txt", 0);
	ut_out_text(o, "old");
	assert_int_equal(ut_out_commit(o, &err), 0);

	o = ut_out_open("c.txt", 0);
	ut_out_text(o, "new");
	assert_int_equal(ut_out_commit(o, &err), -EEXIST);
	assert_string_equal(err.text, "c.txt: File exists");
	expect_file("c.txt", "old");

	o = ut_out_open("c.txt", UT_OUT_OVERWRITE);
	ut_out_text(o, "new");
	assert_int_equal(ut_out_commit(o, NULL), 0);
	expect_file("c.txt", "new");
	assert_int_equal(files_in_home(), 1);
}

static void a_file_that_came_in_between_is_kept_too(void **state)
{
	struct ut_out *a = ut_out_open("d.txt", 0), *b = ut_out_open("d.txt", 0);
	struct ut_err err = { 0 };

	(void)state;
	ut_out_text(a, "first");
	ut_out_text(b, "second");
	assert_int_equal(ut_out_commit(a, &err), 0);
	assert_int_equal(ut_out_commit(b, &err), -EEXIST);
	expect_file("d.txt", "first");
	assert_int_equal(files_in_home(), 1);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
	struct ut_out *o = ut_out_open("no/such/file", 0);
	struct ut_err err = { 0 };

	(void)state;
	ut_out_text(o, "x");
	assert_int_equal(ut_out_commit(o, &err), -ENOENT);
	assert_string_equal(err.text, "no/such/file: No such file or directory");
	assert_int_equal(ut_out_commit(ut_out_open(home, 0), NULL), -EISDIR);
}

static void the_longest_file_name_works(void **state)
{
	char name[256];
	struct ut_out *o;

	(void)state;
	memset(name, 'n', 255);
	name[255] = '\0';
	o = ut_out_open(name, 0);
	ut_out_text(o, "x");
	assert_int_equal(ut_out_commit(o, NULL), 0);
	expect_file(name, "x");
}

static void a_full_disk_is_reported_once(void **state)
{
	struct ut_out *o = ut_out_open("/dev/full", 0);
	struct ut_err err = { 0 };

	(void)state;
	for (int i = 0; i < 1000000; i++)
		ut_out_u64(o, 12345678);
	assert_int_equal(ut_out_commit(o, &err), -ENOSPC);
	assert_string_equal(err.text, "/dev/full: No space left on device");
}

/* Unpacks with the system's own tool and compares its checksum with that of the plain file. */
static void expect_packed(const char *name, const char *tool, size_t lines)
{
	char command[256];
	struct ut_out *o = ut_out_open(name, 0);

	for (size_t i = 0; i < lines; i++)
		ut_out_fmt(o, "line %zu\n", i);
	assert_int_equal(ut_out_commit(o, NULL), 0);
	snprintf(command, sizeof(command),
		 "test \"$(%s -dc %s | cksum)\" = \"$(seq -f 'line %%.0f' 0 %zu | head -n %zu | "
		 "cksum)\"",
		 tool, name, lines, lines);
	assert_int_equal(system(command), 0);
}

static void gz_files_are_gzip(void **state)
{
	(void)state;
	if (!UT_HAVE_ZLIB)
		skip();
	expect_packed("empty.gz", "gzip", 0);
	expect_packed("short.gz", "gzip", 10);
	expect_packed("long.gz", "gzip", 500000);
}

static void zst_files_are_zstandard(void **state)
{
	(void)state;
	if (!UT_HAVE_ZSTD || system("zstd --version >/dev/null 2>&1"))
		skip();
	expect_packed("empty.zst", "zstd", 0);
	expect_packed("short.zst", "zstd", 10);
	expect_packed("long.zst", "zstd", 500000);
}

UT_TESTS(out)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, enter_home, leave_home)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_exact_at_every_size),
		cmocka_unit_test(numbers_are_exact_at_random),
		cmocka_unit_test(the_extremes_of_each_type_are_printed),
		cmocka_unit_test(long_formats_are_not_cut),
		CASE(a_file_appears_only_when_committed),
		CASE(an_abandoned_file_leaves_nothing),
		CASE(an_existing_file_is_kept_unless_asked),
		CASE(a_file_that_came_in_between_is_kept_too),
		CASE(a_folder_that_is_not_there_is_named),
		CASE(the_longest_file_name_works),
		CASE(a_full_disk_is_reported_once),
		CASE(gz_files_are_gzip),
		CASE(zst_files_are_zstandard),
	};
#undef CASE

	return cmocka_run_group_tests_name("text/out", tests, NULL, NULL);
}
