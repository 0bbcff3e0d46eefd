/* test_mcp_folders.c - tests src/app/mcp/mcp_folders.h: what a client may name, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "mcp/mcp_folders.h"
#include "support/unit.h"

static char *root;
static struct ut_arena arena;
static struct ut_mcp_folders folders;

static char *at(const char *name)
{
	return ut_path_join(&arena, root, name);
}

static void touch(const char *name)
{
	FILE *to = fopen(at(name), "we");

	assert_non_null(to);
	fclose(to);
}

static int start(void **state)
{
	char made[] = "/tmp/ut_mcp_folders.XXXXXX";
	const char *named[2];

	(void)state;
	assert_non_null(mkdtemp(made));
	root = realpath(made, NULL);
	mkdir(at("a"), 0700);
	mkdir(at("a/deep"), 0700);
	mkdir(at("b"), 0700);
	mkdir(at("a2"), 0700);
	touch("a/t.json");
	touch("a/deep/u.json");
	touch("b/v.json");
	touch("a2/w.json");
	touch("secret");
	assert_int_equal(symlink(at("secret"), at("a/link")), 0);
	assert_int_equal(symlink(at("a/t.json"), at("a/own")), 0);
	assert_int_equal(symlink(root, at("a/up")), 0);
	named[0] = at("a/");
	named[1] = at("b");
	return ut_mcp_folders_init(&folders, named, 2, NULL);
}

static int stop(void **state)
{
	(void)state;
	ut_mcp_folders_release(&folders);
	assert_int_equal(ut_path_remove_tree(root, NULL), 0);
	ut_arena_release(&arena);
	free(root);
	return 0;
}

static int find(const char *said, char **found)
{
	*found = NULL;
	return ut_mcp_folders_find(&folders, &arena, ut_str_of(said), found, NULL);
}

static void files_below_the_folders_are_found(void **state)
{
	static const char *const pairs[][2] = {
		{ "t.json", "a/t.json" },
		{ "./t.json", "a/t.json" },
		{ "deep/u.json", "a/deep/u.json" },
		{ "deep//./u.json", "a/deep/u.json" },
		{ "v.json", "b/v.json" },
		{ ".", "a" },
		{ "deep/", "a/deep" },
	};
	char *found;

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		assert_int_equal(find(pairs[i][0], &found), 0);
		assert_string_equal(found, at(pairs[i][1]));
		assert_int_equal(find(at(pairs[i][1]), &found), 0);
		assert_string_equal(found, at(pairs[i][1]));
	}
}

static void nothing_else_is(void **state)
{
	static const char *const relative[] = { "",     "..",       "../secret", "deep/../t.json",
						"link", "own",      "up/secret", "up/a/t.json",
						"no",   "deep/...", "/",         "/etc/passwd" };
	static const char *const absolute[] = { "secret", "a2/w.json", "a/../secret", "a/link",
						"a/up/secret" };
	char *found;

	(void)state;
	for (size_t i = 0; i < sizeof(relative) / sizeof(relative[0]); i++)
		assert_true(find(relative[i], &found) < 0 && !found);
	for (size_t i = 0; i < sizeof(absolute) / sizeof(absolute[0]); i++)
		assert_true(find(at(absolute[i]), &found) < 0 && !found);
	assert_true(ut_mcp_folders_find(&folders, &arena, (struct ut_str){ "t.json\0x", 8 }, &found,
					NULL) < 0);
}

static void only_plain_files_are_read(void **state)
{
	(void)state;
	assert_true(ut_mcp_folders_has(&folders, at("a/t.json")));
	assert_false(ut_mcp_folders_has(&folders, at("a/deep")));
	assert_false(ut_mcp_folders_has(&folders, at("a/link")));
	assert_false(ut_mcp_folders_has(&folders, at("a/own")));
	assert_false(ut_mcp_folders_has(&folders, at("secret")));
	assert_false(ut_mcp_folders_has(&folders, at("a2/w.json")));
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
	struct ut_mcp_folders none;
	const char *const named[] = { "/no/such/folder" };

	(void)state;
	assert_true(ut_mcp_folders_init(&none, named, 1, NULL) < 0);
	ut_mcp_folders_release(&none);
}

UT_TESTS(mcp_folders)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_below_the_folders_are_found),
		cmocka_unit_test(nothing_else_is),
		cmocka_unit_test(only_plain_files_are_read),
		cmocka_unit_test(a_folder_that_is_missing_is_an_error),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
