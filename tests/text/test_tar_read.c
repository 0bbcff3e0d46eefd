/* test_tar_read.c - tests src/trace/text/tar_read.h: files of tarballs, long names, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/unit.h"
#include "text/source.h"
#include "text/tar_read.h"

#define BLOCK 512

struct tarball {
	char bytes[64 * BLOCK];
	size_t len;
};

struct seen {
	size_t count;
	char names[8][200];
	size_t sizes[8];
	char first[8]; /* byte of each */
};

static void sign(char *block)
{
	unsigned int sum = 0;

	memset(block + 148, ' ', 8);
	for (int i = 0; i < BLOCK; i++)
		sum += (unsigned char)block[i];
	snprintf(block + 148, 7, "%06o", sum);
}

static char *add(struct tarball *t, const char *name, char type, const char *text)
{
	char *block = t->bytes + t->len;
	size_t len = strlen(text);

	memset(block, 0, BLOCK);
	memcpy(block, name, strlen(name));
	snprintf(block + 124, 12, "%011o", (unsigned int)len & 0xffffffu);
	block[156] = type;
	memcpy(block + 257, "ustar\00000", 8);
	sign(block);
	memset(block + BLOCK, 0, (len + BLOCK - 1) / BLOCK * BLOCK);
	memcpy(block + BLOCK, text, len);
	t->len += BLOCK + (len + BLOCK - 1) / BLOCK * BLOCK;
	return block;
}

static void finish(struct tarball *t)
{
	memset(t->bytes + t->len, 0, 2 * (size_t)BLOCK);
	t->len += 2 * (size_t)BLOCK;
}

static int see(void *ctx, const char *name, struct ut_str text, struct ut_err *err)
{
	struct seen *s = ctx;

	(void)err;
	snprintf(s->names[s->count], sizeof(s->names[0]), "%s", name);
	s->first[s->count] = text.len ? text.ptr[0] : 0;
	s->sizes[s->count++] = text.len;
	return 0;
}

static int read_it(const struct tarball *t, struct seen *seen, struct ut_err *err)
{
	char path[] = "tar_read.XXXXXX";
	int fd = mkstemp(path), rc;
	struct ut_source s;

	*seen = (struct seen){ 0 };
	assert_true(fd >= 0);
	assert_int_equal(write(fd, t->bytes, t->len), t->len);
	close(fd);
	assert_int_equal(ut_source_open(&s, path, err), 0);
	assert_true(ut_tar_is(s.head, s.head_len));
	rc = ut_tar_each(&s, 2000, see, seen, err);
	ut_source_close(&s);
	unlink(path);
	return rc;
}

static void files_come_in_order_and_folders_do_not(void **state)
{
	static struct tarball t;
	struct ut_err err = { 0 };
	char long_text[1025];
	struct seen seen;

	(void)state;
	memset(long_text, 'z', 1024);
	long_text[1024] = '\0';
	t.len = 0;
	add(&t, "dir/", '5', "");
	add(&t, "dir/a", '0', "alpha");
	add(&t, "link", '2', "");
	add(&t, "old", '\0', long_text);
	add(&t, "empty", '0', "");
	finish(&t);
	assert_int_equal(read_it(&t, &seen, &err), 0);
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.names[0], "dir/a");
	assert_int_equal(seen.sizes[0], 5);
	assert_int_equal(seen.sizes[1], 1024);
	assert_int_equal(seen.first[1], 'z');
	assert_string_equal(seen.names[2], "empty");
}

static void long_names_of_gnu_and_pax_are_read(void **state)
{
	static struct tarball t;
	struct ut_err err = { 0 };
	struct seen seen;
	char *block;

	(void)state;
	t.len = 0;
	add(&t, "././@LongLink", 'L', "a/very/long/name");
	add(&t, "a/very", '0', "1");
	add(&t, "PaxHeader", 'x', "18 path=from/pax\n11 size=2\n");
	add(&t, "x", '0', "22");
	block = add(&t, "short", '0', "3");
	memcpy(block + 345, "prefix", 6);
	sign(block);
	finish(&t);
	assert_int_equal(read_it(&t, &seen, &err), 0);
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.names[0], "a/very/long/name");
	assert_string_equal(seen.names[1], "from/pax");
	assert_int_equal(seen.sizes[1], 2);
	assert_string_equal(seen.names[2], "prefix/short");
}

static void damage_is_reported(void **state)
{
	static struct tarball t;
	struct ut_err err = { 0 };
	struct seen seen;
	char *block;

	(void)state;
	t.len = 0;
	add(&t, "a", '0', "text");
	t.len -= 100;
	assert_true(read_it(&t, &seen, &err) < 0);
	assert_non_null(strstr(err.text, "it ends in the middle of a file"));

	t.len = 0;
	err = (struct ut_err){ 0 };
	block = add(&t, "a", '0', "text");
	block[0] = 'b';
	assert_true(read_it(&t, &seen, &err) < 0);
	assert_non_null(strstr(err.text, "wrong checksum"));

	t.len = 0;
	err = (struct ut_err){ 0 };
	block = add(&t, "big", '0', "text");
	snprintf(block + 124, 12, "%011o", 2001u);
	sign(block);
	assert_true(read_it(&t, &seen, &err) < 0);
	assert_non_null(strstr(err.text, "big in it has 2001 bytes"));
}

UT_TESTS(tar_read)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_come_in_order_and_folders_do_not),
		cmocka_unit_test(long_names_of_gnu_and_pax_are_read),
		cmocka_unit_test(damage_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
