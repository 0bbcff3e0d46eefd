/* test_spool_read.c - tests src/trace/import/spool/records.h and the listing of
 * src/trace/import/spool/reader.h. */
#include "import/spool/records.h"

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
#include "import/build.h"
#include "import/spool/reader.h"
#include "support/unit.h"
#include "wire/process.h"

/* ---- the file ------------------------------------------------------------------------------ */

static void expect_refused(struct build *b, int rc, const char *why)
{
	struct ut_err err = { 0 };
	struct ut_spool_map m;

	assert_int_equal(ut_spool_map(&m, build_file(b), &err), rc);
	assert_non_null(strstr(err.text, why));
	assert_null(m.base);
	unlink(b->path);
}

static void what_is_no_recording_is_refused_with_a_reason(void **state)
{
	struct ut_err err = { 0 };
	struct ut_spool_map m;
	struct build b;

	(void)state;
	assert_int_equal(ut_spool_map(&m, "/nowhere.spool", &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere.spool"));
	assert_int_equal(ut_spool_map(&m, "/tmp", NULL), -EPROTO);
	assert_int_equal(ut_spool_map(&m, "/dev/null", NULL), -EPROTO);
	build_start(&b);
	build_header(&b)->version = 7;
	expect_refused(&b, -EPROTO, "version 7");
	build_header(&b)->version = UT_SPOOL_VERSION;
	build_header(&b)->magic[0] = 'X';
	expect_refused(&b, -EPROTO, "not a recording");
	memcpy(build_header(&b)->magic, UT_SPOOL_MAGIC, 8);
	b.size = 5000; /* cut off inside the first unit */
	expect_refused(&b, -EPROTO, "not a recording");
	build_release(&b);
}

static size_t count_chunks(struct build *b)
{
	struct ut_chunk_view view;
	struct ut_spool_map m;
	size_t offset = 0, n = 0;

	assert_int_equal(ut_spool_map(&m, build_file(b), NULL), 0);
	while (ut_spool_next_chunk(&m, &offset, &view)) {
		assert_true((const char *)view.begin > m.base);
		assert_true(view.begin <= view.end);
		assert_true((const char *)view.end <= m.base + m.size);
		n++;
	}
	ut_spool_unmap(&m);
	unlink(b->path);
	return n;
}

static struct ut_chunk *chunk_at(struct build *b, size_t offset)
{
	return (struct ut_chunk *)(void *)(b->bytes + offset);
}

static void chunks_that_were_never_opened_are_stepped_over(void **state)
{
	struct build b;
	size_t second;

	(void)state;
	build_start(&b); /* one META chunk */
	second = b.size;
	build_chunk(&b, 3);
	build_chunk(&b, 1);
	assert_int_equal(count_chunks(&b), 3);
	chunk_at(&b, second)->magic = 0;
	assert_int_equal(count_chunks(&b), 2);
	chunk_at(&b, second)->magic = UT_CHUNK_MAGIC;
	chunk_at(&b, second)->bytes = 0;
	assert_int_equal(count_chunks(&b), 2);
	chunk_at(&b, second)->bytes = UT_CHUNK_UNIT + 8;
	assert_int_equal(count_chunks(&b), 2);
	chunk_at(&b, second)->bytes = UINT32_MAX & ~(UT_CHUNK_UNIT - 1);
	assert_int_equal(count_chunks(&b), 2);
	build_release(&b);
}

static void a_file_cut_anywhere_is_read_as_far_as_it_goes(void **state)
{
	struct build b;
	size_t whole;

	(void)state;
	build_start(&b);
	build_chunk(&b, 2);
	whole = b.size;
	for (size_t size = UT_CHUNK_UNIT; size <= whole; size += 4096) {
		b.size = size;
		assert_true(count_chunks(&b) <= 2);
	}
	assert_int_equal(count_chunks(&b), 2);
	build_release(&b);
}

/* ---- records ------------------------------------------------------------------------------- */

static void the_full_time_is_the_nearest_with_those_low_bits(void **state)
{
	const uint64_t base = 5ull << 32;
	const uint64_t words[] = { ut_word(UT_WORD_BEGIN, base + 10, 0),
				   ut_word(UT_WORD_BEGIN, base + (1u << 31) - 1, 0),
				   ut_word(UT_WORD_BEGIN, base + (3u << 30), 0),
				   ut_word(UT_WORD_BEGIN, base + (1ull << 32) + 5, 0),
				   ut_word(UT_WORD_BEGIN, base + (1ull << 32) - 5, 0) };
	struct ut_spool_walk w = { .pos = words, .end = words + 5, .ticks = base };
	struct ut_spool_rec r;

	(void)state;
	assert_true(ut_spool_walk_next(&w, &r));
	assert_int_equal(w.ticks, base + 10);
	assert_true(ut_spool_walk_next(&w, &r));
	assert_int_equal(w.ticks, base + (1u << 31) - 1);
	assert_true(ut_spool_walk_next(&w, &r));
	assert_int_equal(w.ticks, base + (3u << 30));
	assert_true(ut_spool_walk_next(&w, &r));
	assert_int_equal(w.ticks, base + (1ull << 32) + 5);
	assert_true(ut_spool_walk_next(&w, &r)); /* a little back over the border */
	assert_int_equal(w.ticks, base + (1ull << 32) - 5);
	assert_false(ut_spool_walk_next(&w, &r));
}

static void a_record_that_claims_more_than_the_chunk_ends_it(void **state)
{
	const uint64_t words[] = { ut_word_long(UT_WORD_LONG, 1, UT_REC_COUNTER, 4), 1, 2 };
	const uint64_t none[] = { ut_word_long(UT_WORD_LONG, 1, UT_REC_COUNTER, 0), 1 };
	struct ut_spool_walk w = { .pos = words, .end = words + 3 };
	struct ut_spool_rec r;

	(void)state;
	assert_false(ut_spool_walk_next(&w, &r));
	assert_int_equal(w.torn, 1);
	w = (struct ut_spool_walk){ .pos = none, .end = none + 2 };
	assert_false(ut_spool_walk_next(&w, &r));
	assert_int_equal(w.torn, 1);
}

static void words_and_bytes_that_are_not_there_are_zero(void **state)
{
	const uint64_t words[] = { ut_word_long(UT_WORD_LONG, 1, UT_REC_META_STR, 3),
				   7 | 8ull << 32, 0x6261 };
	struct ut_spool_walk w = { .pos = words, .end = words + 3 };
	struct ut_spool_rec r;
	size_t len = 100;

	(void)state;
	assert_true(ut_spool_walk_next(&w, &r));
	assert_int_equal(r.count, 2);
	assert_int_equal(ut_rec_low(&r, 0), 7);
	assert_int_equal(ut_rec_high(&r, 0), 8);
	assert_int_equal(ut_rec_word(&r, 5), 0);
	assert_memory_equal(ut_rec_bytes(&r, 1, &len), "ab", 2);
	assert_int_equal(len, 8);
	assert_string_equal(ut_rec_bytes(&r, 9, &len), "");
	assert_int_equal(len, 0);
}

/* ---- listing ------------------------------------------------------------------------------- */

static void put_spool(struct build *b, const char *dir, const char *name, uint64_t start)
{
	char path[256];

	build_header(b)->start.mono = start;
	build_file(b);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(rename(b->path, path), 0);
}

static void a_session_lists_its_spools_in_order_of_their_start(void **state)
{
	char dir[] = "/tmp/ut_list_XXXXXX", path[64];
	struct ut_spool_info *list;
	struct build b;
	size_t count;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(ut_spool_list(dir, &list, &count, NULL), 0);
	assert_int_equal(count, 0);
	build_start(&b);
	put_spool(&b, dir, "1-1.spool", 300);
	put_spool(&b, dir, "2-2.spool", 100);
	put_spool(&b, dir, "other.txt", 50);
	snprintf(path, sizeof(path), "%s/3-3.spool", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600)); /* killed before it was ready */
	assert_int_equal(ut_spool_list(dir, &list, &count, NULL), 0);
	assert_int_equal(count, 2);
	assert_int_equal(list[0].start_mono, 100);
	assert_int_equal(list[1].start_mono, 300);
	assert_string_equal(list[0].name, "app");
	assert_false(list[0].alive);
	free(list);
	assert_int_equal(ut_spool_list("/nowhere", &list, &count, NULL), -ENOENT);
	build_release(&b);
	assert_int_equal(ut_path_remove_tree(dir, NULL), 0);
}

static void a_process_is_alive_only_if_it_is_the_same_one(void **state)
{
	struct ut_spool_info info;
	struct ut_spool_header *h;
	struct build b;

	(void)state;
	build_start(&b);
	h = build_header(&b);
	ut_process_boot_id(h->boot_id);
	h->pid = (uint32_t)getpid();
	h->proc_start = ut_process_start(h->pid);
	assert_int_equal(ut_spool_info(build_file(&b), &info, NULL), 0);
	assert_true(info.alive);
	unlink(b.path);
	h->proc_start++; /* the number was given to another */
	assert_int_equal(ut_spool_info(build_file(&b), &info, NULL), 0);
	assert_false(info.alive);
	unlink(b.path);
	h->proc_start--;
	h->boot_id[0] ^= 1;
	assert_int_equal(ut_spool_info(build_file(&b), &info, NULL), 0);
	assert_false(info.alive);
	build_release(&b);
}

UT_TESTS(spool_read)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_recording_is_refused_with_a_reason),
		cmocka_unit_test(chunks_that_were_never_opened_are_stepped_over),
		cmocka_unit_test(a_file_cut_anywhere_is_read_as_far_as_it_goes),
		cmocka_unit_test(the_full_time_is_the_nearest_with_those_low_bits),
		cmocka_unit_test(a_record_that_claims_more_than_the_chunk_ends_it),
		cmocka_unit_test(words_and_bytes_that_are_not_there_are_zero),
		cmocka_unit_test(a_session_lists_its_spools_in_order_of_their_start),
		cmocka_unit_test(a_process_is_alive_only_if_it_is_the_same_one),
	};

	return cmocka_run_group_tests_name("import/spool_read", tests, NULL, NULL);
}
