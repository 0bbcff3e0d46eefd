/* test_disk.c - tests src/record/wire/disk.h: room is made without touching what is there. */
#include "wire/disk.h"

#include <errno.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "support/unit.h"
#include "wire/spool.h"

#define BYTES (4 * UT_CHUNK_MAX)

static void zeros_are_written_where_they_help(void **state)
{
	(void)state;
	assert_true(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "6.16.0"));
	assert_true(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "6.18.44-fc-v490"));
	assert_true(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "7.0"));
	assert_true(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "10.1.2"));
	/* Small folios: twice the work. */
	assert_false(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "6.15.9"));
	assert_false(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "6.1.0-40-amd64"));
	assert_false(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "5.20"));
	/* The pages are there already. */
	assert_false(ut_disk_fill_helps(TMPFS_MAGIC, "6.18.44"));
	/* What is no version is an old one. */
	assert_false(ut_disk_fill_helps(EXT4_SUPER_MAGIC, ""));
	assert_false(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "unknown"));
	assert_false(ut_disk_fill_helps(EXT4_SUPER_MAGIC, "6"));
}

static char *content(int fd)
{
	char *all = malloc(BYTES);

	assert_non_null(all);
	assert_int_equal(pread(fd, all, BYTES, 0), BYTES);
	return all;
}

static size_t count_of(const char *all, size_t from, size_t to, char c)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += all[i] == c;
	return n;
}

/* Also where it does not help: then nothing is written, and zeros are read all the same. */
static void filling_leaves_the_neighbours_alone(void **state)
{
	const uint64_t from = UT_CHUNK_UNIT, to = from + UT_CHUNK_MAX;
	struct stat st;
	char *all;
	int fd;

	assert_int_equal(ut_disk_make(*state), 0);
	fd = ut_disk_fd();
	assert_true(fd >= 0);
	assert_int_equal(ut_disk_allocate(fd, 0, BYTES), 0);
	all = calloc(1, BYTES);
	assert_non_null(all);
	memset(all, 'x', BYTES);
	assert_int_equal(pwrite(fd, all, from, 0), from);
	assert_int_equal(pwrite(fd, all, BYTES - to, (off_t)to), BYTES - to);
	free(all);
	ut_disk_fill(from, UT_CHUNK_MAX);
	all = content(fd);
	assert_int_equal(count_of(all, 0, from, 'x'), from);
	assert_int_equal(count_of(all, from, to, 0), to - from);
	assert_int_equal(count_of(all, to, BYTES, 'x'), BYTES - to);
	free(all);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, BYTES);
	ut_disk_forget();
}

static void a_descriptor_that_was_closed_is_opened_again_by_name(void **state)
{
	int fd;

	assert_int_equal(ut_disk_make(*state), 0);
	fd = ut_disk_fd();
	assert_int_equal(close(fd), 0);
	assert_true(ut_disk_fd() >= 0);
	close(ut_disk_fd());
	ut_disk_remove();
	assert_int_equal(ut_disk_fd(), -ENOENT);
	ut_disk_fill(0, UT_CHUNK_UNIT); /* nothing to fill, nobody harmed */
	ut_disk_forget();
}

static int make_dir(void **state)
{
	static char dir[64];

	snprintf(dir, sizeof(dir), "/tmp/ut_disk_XXXXXX");
	*state = mkdtemp(dir);
	return !*state;
}

static int drop_dir(void **state)
{
	return ut_path_remove_tree(*state, NULL);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

UT_TESTS(disk)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zeros_are_written_where_they_help),
		IN_DIR(filling_leaves_the_neighbours_alone),
		IN_DIR(a_descriptor_that_was_closed_is_opened_again_by_name),
	};

	return cmocka_run_group_tests_name("wire/disk", tests, NULL, NULL);
}
