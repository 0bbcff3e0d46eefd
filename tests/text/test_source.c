/* test_source.c - tests src/trace/text/source.h: plain, gzip and zstd, whole, cut and damaged. */
#include "text/source.h"

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

#if UT_HAVE_ZLIB
#include <zlib.h>
#endif
#if UT_HAVE_ZSTD
#include <zstd.h>

#include "support/unit.h"
#endif

#define TEXT_BYTES 300000u

struct fixture {
	char path[64];
	unsigned char text[TEXT_BYTES], packed[2 * TEXT_BYTES], got[2 * TEXT_BYTES + 16];
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint32_t seed = 7;
	int fd;

	snprintf(f->path, sizeof(f->path), "/tmp/test_source.XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < TEXT_BYTES; i++) { /* half of it cannot be packed well */
		seed = seed * 1664525 + 1013904223;
		f->text[i] = i % 2 ? 'x' : (unsigned char)(seed >> 24);
	}
	*state = f;
	return 0;
}

static int drop(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	free(f);
	return 0;
}

static void put_file(const struct fixture *f, const void *data, size_t len)
{
	FILE *file = fopen(f->path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	fclose(file);
}

/* Everything, in pieces of an odd size; the length or a negative errno. */
static ssize_t read_all(struct fixture *f, struct ut_source *s, struct ut_err *err)
{
	size_t have = 0;
	ssize_t n;

	while ((n = ut_source_read(s, f->got + have, 7001, err)) > 0)
		have += (size_t)n;
	return n < 0 ? n : (ssize_t)have;
}

static void expect_text(struct fixture *f, size_t len, bool cut)
{
	struct ut_err err = { 0 };
	struct ut_source s;

	assert_int_equal(ut_source_open(&s, f->path, &err), 0);
	assert_int_equal(s.head_len, len < UT_SOURCE_HEAD ? len : UT_SOURCE_HEAD);
	assert_memory_equal(s.head, f->text, s.head_len);
	assert_int_equal(read_all(f, &s, &err), len);
	assert_memory_equal(f->got, f->text, len < TEXT_BYTES ? len : TEXT_BYTES);
	assert_int_equal(s.cut, cut);
	assert_int_equal(s.at, len);
	ut_source_close(&s);
	ut_source_close(&s);
}

static void a_plain_file_is_itself(void **state)
{
	struct fixture *f = *state;
	struct ut_err err = { 0 };
	struct ut_source s;
	char some[32];

	put_file(f, f->text, TEXT_BYTES);
	expect_text(f, TEXT_BYTES, false);
	put_file(f, f->text, 5);
	expect_text(f, 5, false);
	put_file(f, f->text, 0);
	expect_text(f, 0, false);

	put_file(f, f->text, TEXT_BYTES);
	assert_int_equal(ut_source_open(&s, f->path, &err), 0);
	assert_true(s.seekable);
	assert_int_equal(s.size, TEXT_BYTES);
	assert_int_equal(ut_source_read_at(&s, some, 32, 1000, &err), 32);
	assert_memory_equal(some, f->text + 1000, 32);
	assert_int_equal(ut_source_read_at(&s, some, 32, TEXT_BYTES - 5, &err), 5);
	assert_int_equal(ut_source_read_at(&s, some, 32, TEXT_BYTES + 5, &err), 0);
	ut_source_close(&s);
}

static void standard_input_is_read_from_a_pipe(void **state)
{
	struct fixture *f = *state;
	struct ut_err err = { 0 };
	int fds[2], saved = dup(0);
	struct ut_source s;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], f->text, 10000), 10000);
	close(fds[1]);
	dup2(fds[0], 0);
	close(fds[0]);
	assert_int_equal(ut_source_open(&s, "-", &err), 0);
	assert_false(s.seekable);
	assert_int_equal(read_all(f, &s, &err), 10000);
	assert_memory_equal(f->got, f->text, 10000);
	ut_source_close(&s);
	dup2(saved, 0);
	close(saved);
}

static void what_cannot_be_opened_says_why(void **state)
{
	struct ut_err err = { 0 };
	struct ut_source s;

	(void)state;
	assert_int_equal(ut_source_open(&s, "/nowhere.json", &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere.json: "));
	err = (struct ut_err){ 0 };
	assert_int_equal(ut_source_open(&s, "/tmp", &err), -EISDIR);
	assert_string_equal(err.text, "/tmp: is a directory");
}

/* Cut anywhere it gives what is there; damaged it is an error that says where. */
static void expect_cuts_and_damage(struct fixture *f, size_t packed)
{
	struct ut_err err = { 0 };
	struct ut_source s;
	ssize_t n;

	for (size_t len = 20; len < packed; len += packed / 7) {
		put_file(f, f->packed, len);
		assert_int_equal(ut_source_open(&s, f->path, &err), 0);
		n = read_all(f, &s, &err);
		assert_true(n >= 0 && n < TEXT_BYTES);
		assert_memory_equal(f->got, f->text, (size_t)n);
		assert_true(s.cut);
		ut_source_close(&s);
	}
	for (size_t i = 0; i < 64; i++)
		f->packed[packed / 2 + i] ^= 0x5a;
	put_file(f, f->packed, packed);
	assert_int_equal(ut_source_open(&s, f->path, &err), 0);
	n = read_all(f, &s, &err);
	assert_int_equal(n, -EPROTO);
	assert_non_null(strstr(err.text, f->path));
	assert_non_null(strstr(err.text, ": offset "));
	assert_non_null(strstr(err.text, "damaged"));
	ut_source_close(&s);
}

#if UT_HAVE_ZLIB
static size_t gzip_bytes(struct fixture *f, size_t at, const void *data, size_t len)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)len;
	z.next_out = f->packed + at;
	z.avail_out = (uInt)(sizeof(f->packed) - at);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return at + z.total_out;
}
#endif

static void gzip_is_unpacked(void **state)
{
#if UT_HAVE_ZLIB
	struct fixture *f = *state;
	struct ut_err err = { 0 };
	struct ut_source s;
	size_t n = gzip_bytes(f, 0, f->text, TEXT_BYTES);

	put_file(f, f->packed, n);
	expect_text(f, TEXT_BYTES, false);
	expect_cuts_and_damage(f, n);

	/* members one after the other, an empty one, zeros at the end */
	n = gzip_bytes(f, 0, f->text, 1000);
	n = gzip_bytes(f, n, f->text, 0);
	n = gzip_bytes(f, n, f->text + 1000, TEXT_BYTES - 1000);
	memset(f->packed + n, 0, 512);
	put_file(f, f->packed, n + 512);
	expect_text(f, TEXT_BYTES, false);

	memcpy(f->packed + n, "more", 4);
	put_file(f, f->packed, n + 4);
	assert_int_equal(ut_source_open(&s, f->path, &err), 0);
	assert_int_equal(read_all(f, &s, &err), -EPROTO);
	assert_non_null(strstr(err.text, "other bytes follow"));
	ut_source_close(&s);
#else
	(void)state;
	skip();
#endif
}

static void zstd_is_unpacked(void **state)
{
#if UT_HAVE_ZSTD
	struct fixture *f = *state;
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	size_t n, m;

	ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(ctx, f->packed, sizeof(f->packed), f->text, TEXT_BYTES);
	assert_false(ZSTD_isError(n));
	put_file(f, f->packed, n);
	expect_text(f, TEXT_BYTES, false);
	expect_cuts_and_damage(f, n);

	/* a frame to be skipped, then two frames */
	memcpy(f->packed, "\x51\x2a\x4d\x18\x04\0\0\0abcd", 12);
	n = 12 + ZSTD_compress2(ctx, f->packed + 12, 100000, f->text, 1000);
	m = ZSTD_compress2(ctx, f->packed + n, sizeof(f->packed) - n, f->text + 1000,
			   TEXT_BYTES - 1000);
	put_file(f, f->packed, n + m);
	expect_text(f, TEXT_BYTES, false);
	ZSTD_freeCCtx(ctx);
#else
	(void)state;
	skip();
#endif
}

UT_TESTS(source)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_plain_file_is_itself, make, drop),
		cmocka_unit_test_setup_teardown(standard_input_is_read_from_a_pipe, make, drop),
		cmocka_unit_test_setup_teardown(what_cannot_be_opened_says_why, make, drop),
		cmocka_unit_test_setup_teardown(gzip_is_unpacked, make, drop),
		cmocka_unit_test_setup_teardown(zstd_is_unpacked, make, drop),
	};

	return cmocka_run_group_tests_name("text/source", tests, NULL, NULL);
}
