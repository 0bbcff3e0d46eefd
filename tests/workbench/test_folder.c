/* test_folder.c - tests src/app/workbench/folder.h: names that fit, and nothing outside of a
 * folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

#include "base/path.h"
#include "support/unit.h"
#include "workbench/folder.h"

struct fixture {
	char path[64];
	int at;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->path, sizeof(f->path), "/tmp/ut_folder_XXXXXX");
	assert_non_null(mkdtemp(f->path));
	f->at = ut_folder_open_top(f->path, NULL);
	assert_true(f->at >= 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->at);
	assert_int_equal(ut_path_remove_tree(f->path, NULL), 0);
	free(f);
	return 0;
}

static void names_are_what_people_can_see(void **state)
{
	static const char *const good[] = { "a",   "r001-train", "llm speed",   "\xc3\xa9t\xc3\xa9",
					    "a.b", "(x) [y] *",  "\xe4\xb8\xad" };
	static const char *const bad[] = { "",
					   ".",
					   "..",
					   ".x",
					   "-x",
					   " x",
					   "x ",
					   "a/b",
					   "a\\b",
					   "a\nb",
					   "a\x7f",
					   "\xff",
					   "a\xc2\x85",
					   ("a\xe2\x80\xae"
					    "b"),
					   "a\xe2\x80\x8b",
					   "\xed\xa0\x80",
					   "a\xef\xbb\xbf" };
	char most[UT_NAME_MOST + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(ut_folder_name_fits(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ut_folder_name_fits(bad[i]));
	assert_false(ut_folder_name_fits(NULL));
	memset(most, 'x', sizeof(most));
	most[UT_NAME_MOST + 1] = '\0';
	assert_false(ut_folder_name_fits(most));
	most[UT_NAME_MOST] = '\0';
	assert_true(ut_folder_name_fits(most));
}

static void what_is_written_is_read_and_replaced_whole(void **state)
{
	struct fixture *f = *state;
	struct ut_buf text = { 0 };
	struct stat st;

	assert_int_equal(ut_folder_write(f->at, "x.json", ut_str_of("first"), NULL), 0);
	assert_int_equal(ut_folder_write(f->at, "x.json", ut_str_of("second"), NULL), 0);
	assert_int_equal(ut_folder_read(f->at, "x.json", 100, &text, NULL), 0);
	assert_string_equal(text.data, "second");
	assert_int_equal(fstatat(f->at, "x.json", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	text.len = 0;
	assert_int_equal(ut_folder_read(f->at, "x.json", 3, &text, NULL), -EFBIG);
	assert_int_equal(ut_folder_read(f->at, "none", 3, &text, NULL), -ENOENT);
	assert_int_equal(ut_folder_write(f->at, "../x", ut_str_of(""), NULL), -EINVAL);
	ut_buf_release(&text);
}

static void links_and_pipes_are_not_followed(void **state)
{
	struct fixture *f = *state;
	struct ut_buf text = { 0 };

	assert_int_equal(symlinkat("/etc", f->at, "folder"), 0);
	assert_int_equal(symlinkat("/etc/passwd", f->at, "file"), 0);
	assert_int_equal(mkfifoat(f->at, "pipe", 0600), 0);
	assert_true(ut_folder_open(f->at, "folder", false, NULL) < 0);
	assert_true(ut_folder_open(f->at, "..", false, NULL) < 0);
	assert_true(ut_folder_open(f->at, "a/b", false, NULL) < 0);
	assert_int_equal(ut_folder_open_file(f->at, "file", NULL, NULL), -ENOENT);
	assert_int_equal(ut_folder_open_file(f->at, "pipe", NULL, NULL), -ENOENT);
	assert_int_equal(ut_folder_read(f->at, "file", 1000, &text, NULL), -ENOENT);
	/* what takes the place of a link is a file; what the link led to is as it was */
	assert_int_equal(ut_folder_write(f->at, "file", ut_str_of("mine"), NULL), 0);
	assert_int_equal(ut_folder_read(f->at, "file", 1000, &text, NULL), 0);
	assert_string_equal(text.data, "mine");
	ut_buf_release(&text);
}

static void removing_leaves_what_links_lead_to(void **state)
{
	struct fixture *f = *state;
	int kept = ut_folder_open(f->at, "kept", true, NULL),
	    gone = ut_folder_open(f->at, "gone", true, NULL);
	int deep = ut_folder_open(gone, ".deep", true, NULL);
	struct stat st;

	assert_int_equal(ut_folder_write(kept, "x", ut_str_of("x"), NULL), 0);
	assert_int_equal(ut_folder_write(deep, "y", ut_str_of("y"), NULL), 0);
	assert_int_equal(symlinkat("../kept", gone, "link"), 0);
	assert_int_equal(ut_folder_remove(f->at, "gone", NULL), 0);
	assert_int_equal(ut_folder_remove(f->at, "gone", NULL), 0);
	assert_int_not_equal(fstatat(f->at, "gone", &st, 0), 0);
	assert_int_equal(fstatat(kept, "x", &st, 0), 0);
	close(kept);
	close(gone);
	close(deep);
}

static void moving_replaces_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ut_folder_write(f->at, "a", ut_str_of("a"), NULL), 0);
	assert_int_equal(ut_folder_write(f->at, "b", ut_str_of("b"), NULL), 0);
	assert_int_equal(ut_folder_move(f->at, "a", f->at, "b", NULL), -EEXIST);
	assert_int_equal(ut_folder_move(f->at, "a", f->at, "c", NULL), 0);
	assert_int_equal(ut_folder_move(f->at, "a", f->at, "d", NULL), -ENOENT);
}

static bool count(void *ctx, int at, const char *name, unsigned char type)
{
	size_t *n = ctx;

	(void)at;
	assert_int_not_equal(name[0], '.');
	assert_true(type == DT_REG || type == DT_DIR);
	(*n)++;
	return true;
}

static void hidden_entries_are_not_listed_and_bytes_are_those_of_all_levels(void **state)
{
	struct fixture *f = *state;
	int in = ut_folder_open(f->at, "in", true, NULL);
	size_t n = 0;

	assert_int_equal(ut_folder_write(f->at, "a", ut_str_of("12345"), NULL), 0);
	assert_int_equal(ut_folder_write(in, "b", ut_str_of("678"), NULL), 0);
	assert_int_equal(ut_folder_write(f->at, ".c", ut_str_of("9"), NULL), 0);
	assert_int_equal(ut_folder_each(f->at, count, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_int_equal(ut_folder_bytes(f->at), 8);
	close(in);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UT_TESTS(folder)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_what_people_can_see),
		TEST(what_is_written_is_read_and_replaced_whole),
		TEST(links_and_pipes_are_not_followed),
		TEST(removing_leaves_what_links_lead_to),
		TEST(moving_replaces_nothing),
		TEST(hidden_entries_are_not_listed_and_bytes_are_those_of_all_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
