/*
 * test_writer.c - tests src/record/wire/writer.h: what threads have recorded is read back. Compiled
 * with writer.c, to look at its windows. What happens to the process is in test_writer_ends.c.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "import/spool/records.h"
#include "wire/recording.h"

#include "support/unit.h"
#include "wire/writer.c" /* last: its names are short */

static void open_writer(struct recording *r)
{
	assert_int_equal(ut_writer_open(r->dir, r->control), 0);
}

static struct ut_tbuf attached(void)
{
	struct ut_tbuf t = { 0 };

	ut_tbuf_attach(&t, 0);
	return t;
}

static struct records read_back(struct recording *r)
{
	return records_read(recording_path(r));
}

/* ---- windows and chunks -------------------------------------------------------------------- */

static void windows_cover_the_file_without_gap_or_overlap(void **state)
{
	(void)state;
	assert_int_equal(window_start(0), 0);
	for (uint32_t i = 0; i < WINDOW_COUNT - 1; i += i < 200 ? 1 : 997) {
		uint64_t start = window_start(i), end = start + window_size(i);

		assert_int_equal(window_start(i + 1), end);
		assert_int_equal(window_of(start), i);
		assert_int_equal(window_of(start + 1), i);
		assert_int_equal(window_of(end - 1), i);
		assert_int_equal(window_of(end), i + 1);
		assert_int_equal(window_size(i),
				 LEAST_WINDOW << (i < SMALL_STEPS ? i : SMALL_STEPS));
	}
}

static void records_come_back_as_they_were_made(void **state)
{
	struct recording *r = *state;
	struct ut_tbuf t;
	struct records all;
	size_t longs = 0;

	open_writer(r);
	t = attached();
	for (uint32_t i = 0; i < 50000; i++) {
		put_number(&t, i);
		if (i % 3 == 0)
			put_long(&t, i, 7);
	}
	all = read_back(r);
	expect_numbers(&all, t.thread, 50000);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].type == UT_REC_COUNTER) {
			assert_int_equal(all.items[i].words[0], longs);
			assert_int_equal(all.items[i].words[1], 7);
			longs += 3;
		}
	assert_int_equal(longs, 50001);
	assert_int_equal(all.torn, 0);
	assert_int_equal(all.dropped, 0);
	records_release(&all);
}

static void no_chunk_lies_across_two_windows(void **state)
{
	struct recording *r = *state;
	const uint32_t count = 1200000; /* 9.2 MiB: three borders */
	struct ut_chunk_view view;
	struct ut_spool_map m;
	struct ut_tbuf t;
	size_t offset = 0;

	open_writer(r);
	t = attached();
	for (uint32_t i = 0; i < count; i++)
		put_number(&t, i);
	assert_int_equal(ut_spool_map(&m, recording_path(r), NULL), 0);
	while (ut_spool_next_chunk(&m, &offset, &view)) {
		uint64_t at =
			(uint64_t)((const char *)view.begin - m.base) & ~(UT_CHUNK_UNIT - 1ull);

		assert_int_equal(window_of(at), window_of(offset - 1));
	}
	ut_spool_unmap(&m);
	assert_int_equal(expect_numbers_in(r->path, count), 0);
}

static void a_busy_thread_is_given_larger_chunks_and_leaves_no_gap(void **state)
{
	struct recording *r = *state;
	const uint32_t count = 2000000; /* 15.3 MiB: small chunks are the first 3 to 4 MiB */
	uint64_t bytes = UT_CHUNK_UNIT;
	struct ut_chunk_view view;
	struct ut_spool_map m;
	struct ut_tbuf t;
	size_t offset = 0, large = 0;

	open_writer(r);
	t = attached();
	for (uint32_t i = 0; i < count; i++)
		put_number(&t, i);
	assert_int_equal(ut_spool_map(&m, recording_path(r), NULL), 0);
	while (ut_spool_next_chunk(&m, &offset, &view)) {
		struct ut_chunk c;

		memcpy(&c, m.base + bytes, sizeof(c)); /* where the one before has ended */
		assert_int_equal(c.magic, UT_CHUNK_MAGIC);
		assert_true(c.bytes <= (bytes > (3u << 20) ? UT_CHUNK_MAX : 16 * UT_CHUNK_UNIT));
		large += c.bytes == UT_CHUNK_MAX;
		bytes += c.bytes;
	}
	assert_int_equal(bytes, atomic_load(&w.header->next));
	assert_true(bytes - count * 8ull < bytes / 4);
	assert_true(large >= 8);
	ut_spool_unmap(&m);
	assert_int_equal(expect_numbers_in(r->path, count), 0);
}

static void a_small_recording_is_a_small_file(void **state)
{
	struct recording *r = *state;
	struct ut_tbuf t;
	struct stat st;

	open_writer(r);
	t = attached();
	put_number(&t, 0);
	assert_int_equal(stat(recording_path(r), &st), 0);
	assert_true(st.st_size <= (off_t)LEAST_WINDOW);
}

/* ---- single records ------------------------------------------------------------------------ */

static void zeros_at_the_end_are_left_out_and_read_as_zero(void **state)
{
	struct recording *r = *state;
	static const uint64_t words[7] = { 5, 0, 6, 0, 0, 0, 0 }, none[7];
	struct ut_tbuf t;
	struct records all;
	size_t n = 0;

	open_writer(r);
	t = attached();
	ut_tbuf_words(&t, UT_REC_TASK_BEGIN, words, 7);
	ut_tbuf_words(&t, UT_REC_TASK_BEGIN, none, 7);
	all = read_back(r);
	for (size_t i = 0; i < all.count; i++) {
		const struct record *x = &all.items[i];

		if (x->type != UT_REC_TASK_BEGIN)
			continue;
		assert_int_equal(x->count, n ? 0 : 3);
		assert_memory_equal(x->words, n ? none : words, sizeof(words));
		n++;
	}
	assert_int_equal(n, 2);
	records_release(&all);
}

static void bytes_are_kept_whole_also_when_they_are_zeros(void **state)
{
	struct recording *r = *state;
	static const char bytes[] = "abc\0\0\0\0\0\0\0\0";
	const uint64_t word = 1;
	struct ut_tbuf t;
	struct records all;

	open_writer(r);
	t = attached();
	ut_tbuf_record(&t, UT_REC_META_STR, &word, 1, bytes, sizeof(bytes));
	put_number(&t, 0);
	all = read_back(r);
	expect_numbers(&all, t.thread, 1);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].type == UT_REC_META_STR) {
			assert_int_equal(all.items[i].count, 3);
			assert_memory_equal(&all.items[i].words[1], bytes, sizeof(bytes));
		}
	assert_int_equal(records_of(&all, UT_REC_META_STR), 1);
	records_release(&all);
}

static void a_record_larger_than_a_chunk_is_cut_and_harms_no_other(void **state)
{
	struct recording *r = *state;
	static char big[1 << 20];
	const uint64_t word = 1;
	struct ut_tbuf t;
	struct records all;

	open_writer(r);
	t = attached();
	for (uint32_t i = 0; i < 200; i++) {
		put_number(&t, i);
		ut_tbuf_record(&t, UT_REC_META_STR, &word, 1, big, i * 5000);
		assert_true(ut_writer_define(UT_REC_STRING, &word, 1, big, i * 5000));
	}
	all = read_back(r);
	expect_numbers(&all, t.thread, 200);
	assert_int_equal(records_of(&all, UT_REC_META_STR), 200);
	assert_int_equal(records_of(&all, UT_REC_STRING), 200);
	assert_int_equal(all.torn + all.dropped, 0);
	records_release(&all);
}

static void unfinished_records_holes_and_skips_cost_only_themselves(void **state)
{
	struct recording *r = *state;
	struct ut_tbuf t;
	struct records all;
	uint64_t *slot;

	open_writer(r);
	t = attached();
	put_number(&t, 0);
	slot = ut_tbuf_take(&t, 5); /* killed while it filled the slot */
	slot[0] = ut_word_long(UT_WORD_RESERVED, 0, UT_REC_COUNTER, 5);
	slot[1] = slot[2] = UINT64_MAX;
	put_number(&t, 1);
	assert_non_null(ut_tbuf_take(&t, 9)); /* killed before it wrote anything */
	put_number(&t, 2);
	slot = ut_tbuf_take(&t, 1);
	slot[0] = ut_word(UT_WORD_SKIP, 0, 0xfffffff);
	put_number(&t, 3);
	all = read_back(r);
	expect_numbers(&all, t.thread, 4);
	assert_int_equal(all.torn, 1);
	records_release(&all);
}

static void recording_keeps_errno(void **state)
{
	struct recording *r = *state;
	const uint64_t word = 1;
	struct ut_tbuf t;

	open_writer(r);
	t = attached();
	errno = 77;
	for (uint32_t i = 0; i < 300000; i++)
		put_number(&t, i);
	put_long(&t, 1, 2);
	for (int i = 0; i < 3000; i++)
		ut_writer_define(UT_REC_STRING, &word, 1, "text of a name", 14);
	assert_int_equal(errno, 77);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* Fills the chunk until so many words are left. */
static void fill_up(struct ut_tbuf *t, uint32_t *number, ptrdiff_t left)
{
	put_number(t, (*number)++);
	while (t->end - t->pos > left)
		put_number(t, (*number)++);
	assert_int_equal(t->end - t->pos, left);
}

static void expect_last_between(const struct records *all, uint32_t thread, uint64_t from,
				uint64_t to)
{
	const struct record *last = NULL;

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].thread == thread && all->items[i].kind == UT_WORD_BEGIN)
			last = &all->items[i];
	assert_non_null(last);
	assert_true(last->ticks >= from);
	assert_true(last->ticks <= to);
}

/* Whatever room the chunk has for saying the full time: none, one word, two, plenty. */
static void times_further_apart_than_31_bits_are_right(void **state)
{
	struct recording *r = *state;
	uint64_t start, woken, end;
	struct ut_tbuf t[5];
	struct records all;
	uint32_t n[5] = { 0 };

	open_writer(r);
	for (int i = 0; i < 5; i++) {
		t[i] = attached();
		fill_up(&t[i], &n[i], i < 4 ? i : 1000);
	}
	start = ut_clock_ticks(ut_writer_clock);
	while (ut_clock_ticks(ut_writer_clock) - start < (1ull << 31) + (1ull << 28))
		usleep(1000); /* the clock cannot be told to go on faster */
	woken = ut_clock_ticks(ut_writer_clock);
	for (int i = 0; i < 5; i++)
		put_number(&t[i], n[i]++);
	end = ut_clock_ticks(ut_writer_clock);
	all = read_back(r);
	for (int i = 0; i < 5; i++) {
		expect_numbers(&all, t[i].thread, n[i]);
		expect_last_between(&all, t[i].thread, woken, end);
	}
	records_release(&all);
}

/* ---- threads ------------------------------------------------------------------------------- */

#define THREADS 4
#ifdef __SANITIZE_THREAD__
#define PER_THREAD   50000u
#define SHORT_ROUNDS 200u
#else
#define PER_THREAD   200000u
#define SHORT_ROUNDS 1000u
#endif

static void *record_numbers(void *arg)
{
	uint32_t count = *(const uint32_t *)arg;
	struct ut_tbuf t = attached();

	for (uint32_t i = 0; i < count; i++) {
		put_number(&t, i);
		if (i % 8 == 0)
			put_long(&t, i, t.thread);
	}
	ut_tbuf_detach(&t);
	return NULL;
}

/*
 * Reads the growing file: whatever is there already is whole and in order. Threads go on while one
 * chunk after the other is read, so a later one may hold more than fits to an earlier one; who
 * follows a recording takes that into account (import/spool/live.c).
 */
static void expect_order(const char *path)
{
	struct records all = records_read(path);
	uint32_t thread = 0, next = 0;

	for (size_t i = 0; i < all.count; i++) {
		const struct record *x = &all.items[i];

		if (x->thread != thread) {
			thread = x->thread;
			next = 0;
		}
		if (x->kind == UT_WORD_BEGIN) {
			assert_true(x->payload >= next);
			next = x->payload + 1;
		}
		if (x->type == UT_REC_COUNTER && thread)
			assert_int_equal(x->words[1], thread);
	}
	records_release(&all);
}

static void threads_record_side_by_side_while_somebody_reads(void **state)
{
	struct recording *r = *state;
	const uint32_t count = PER_THREAD;
	pthread_t threads[THREADS];
	struct records all;

	open_writer(r);
	recording_path(r);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, record_numbers, (void *)(uintptr_t)&count);
	for (int i = 0; i < 5; i++)
		expect_order(r->path);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	all = read_back(r);
	for (uint32_t i = 1; i <= THREADS; i++)
		expect_numbers(&all, i, PER_THREAD);
	assert_int_equal(all.threads, THREADS);
	assert_int_equal(all.torn + all.dropped, 0);
	records_release(&all);
}

static void thousands_of_short_threads_share_chunks(void **state)
{
	struct recording *r = *state;
	const uint32_t count = 10, rounds = SHORT_ROUNDS;
	pthread_t threads[THREADS];
	struct records all;

	open_writer(r);
	for (uint32_t n = 0; n < rounds; n++) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, record_numbers,
				       (void *)(uintptr_t)&count);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	all = read_back(r);
	for (uint32_t i = 1; i <= rounds * THREADS; i += 7)
		expect_numbers(&all, i, count);
	assert_int_equal(records_of(&all, UT_REC_COUNTER), rounds * THREADS * 2);
	assert_true(all.bytes < 2u << 20); /* not 16 KiB for each of them */
	records_release(&all);
}

/* ---- definitions --------------------------------------------------------------------------- */

#define NAMES 3000u

static void *define_names(void *arg)
{
	uint32_t first = *(const uint32_t *)arg;
	char text[128];

	for (uint32_t i = first; i < first + NAMES; i++) {
		uint64_t word = ut_pack(i, 100);

		snprintf(text, sizeof(text), "%0100u", i);
		if (!ut_writer_define(UT_REC_STRING, &word, 1, text, 100))
			return arg;
	}
	return NULL;
}

static void expect_names(const struct records *all, uint32_t count)
{
	unsigned char *seen = calloc(count, 1);
	char text[128];

	for (size_t i = 0; i < all->count; i++) {
		uint32_t id = (uint32_t)all->items[i].words[0];

		if (all->items[i].type != UT_REC_STRING)
			continue;
		assert_true(id < count);
		assert_int_equal(seen[id]++, 0);
		snprintf(text, sizeof(text), "%0100u", id);
		assert_memory_equal(&all->items[i].words[1], text, 80);
	}
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(seen[i], 1);
	free(seen);
}

static void definitions_of_all_threads_overflow_into_new_chunks(void **state)
{
	struct recording *r = *state;
	uint32_t first[THREADS];
	pthread_t threads[THREADS];
	struct records all;
	void *failed;

	open_writer(r);
	for (uint32_t i = 0; i < THREADS; i++) {
		first[i] = i * NAMES;
		pthread_create(&threads[i], NULL, define_names, &first[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	all = read_back(r);
	expect_names(&all, THREADS * NAMES);
	assert_true(all.meta_chunks > 10);
	records_release(&all);
}

/* ---- flight recorder ----------------------------------------------------------------------- */

/* The numbers of the thread: the newest are there, without a gap. Gives how many. */
static size_t count_newest(const struct records *all, uint32_t thread, uint32_t last)
{
	uint32_t next = 0;
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct record *x = &all->items[i];

		if (x->thread != thread || x->kind != UT_WORD_BEGIN)
			continue;
		if (n)
			assert_int_equal(x->payload, next);
		next = x->payload + 1;
		n++;
	}
	assert_int_equal(next, last + 1);
	return n;
}

/* What is left of the thread's numbers are neighbours. */
static void expect_no_gap(const struct records *all, uint32_t thread)
{
	uint32_t next = 0;
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct record *x = &all->items[i];

		if (x->thread != thread || x->kind != UT_WORD_BEGIN)
			continue;
		if (n++ && x->payload != next)
			fail_msg("thread %u: number %u, not %u", thread, x->payload, next);
		next = x->payload + 1;
	}
}

static void the_flight_recorder_keeps_the_newest_and_every_definition(void **state)
{
	struct recording *r = *state;
	const uint32_t count = 500000;
	uint32_t first = 0;
	struct ut_tbuf t, idle;
	struct records all;

	r->control->keep_bytes = 256 << 10;
	open_writer(r);
	assert_null(define_names(&first));
	idle = attached();
	put_number(&idle, 42);
	t = attached();
	for (uint32_t i = 0; i < count; i++)
		put_number(&t, i);
	all = read_back(r);
	expect_names(&all, NAMES);
	assert_true(count_newest(&all, t.thread, count - 1) > 200 * 1024 / 8);
	assert_int_equal(count_newest(&all, idle.thread, 42), 1); /* rare records are kept longer */
	assert_true(all.overwritten > 200);
	assert_int_equal(all.dropped, 0);
	assert_true(all.bytes < 1500 * 1024);
	records_release(&all);
}

/* The newest of each thread without a gap: what is lost of a thread is its oldest. */
static void the_flight_recorder_takes_the_oldest_from_every_thread(void **state)
{
	struct recording *r = *state;
	const uint32_t count = PER_THREAD;
	pthread_t threads[THREADS];
	struct ut_tbuf slow;
	struct records all;

	r->control->keep_bytes = 1 << 20;
	open_writer(r);
	slow = attached();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, record_numbers, (void *)(uintptr_t)&count);
	for (uint32_t i = 0; i < 10000; i++) {
		put_number(&slow, i);
		usleep(i % 100 ? 0 : 1);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 10000; i < 10010; i++)
		put_number(&slow, i);
	all = read_back(r);
	count_newest(&all, slow.thread, 10009);
	for (uint32_t i = 1; i <= all.threads; i++)
		if (i != slow.thread)
			expect_no_gap(&all, i);
	assert_int_equal(all.dropped, 0);
	records_release(&all);
}

static void the_flight_recorder_is_shared_by_many_short_threads(void **state)
{
	struct recording *r = *state;
	const uint32_t count = 10;
	pthread_t thread;
	struct records all;

	r->control->keep_bytes = 256 << 10;
	open_writer(r);
	for (int i = 0; i < 1000; i++) {
		pthread_create(&thread, NULL, record_numbers, (void *)(uintptr_t)&count);
		pthread_join(thread, NULL);
	}
	all = read_back(r);
	expect_numbers(&all, 1000, count);
	assert_int_equal(records_of(&all, UT_REC_THREAD_INFO), 2000);
	assert_true(all.bytes < 1u << 20);
	records_release(&all);
}

#define IN_SESSION(f) cmocka_unit_test_setup_teardown(f, recording_make, recording_drop)

UT_TESTS(writer)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_cover_the_file_without_gap_or_overlap),
		IN_SESSION(records_come_back_as_they_were_made),
		IN_SESSION(no_chunk_lies_across_two_windows),
		IN_SESSION(a_busy_thread_is_given_larger_chunks_and_leaves_no_gap),
		IN_SESSION(a_small_recording_is_a_small_file),
		IN_SESSION(zeros_at_the_end_are_left_out_and_read_as_zero),
		IN_SESSION(bytes_are_kept_whole_also_when_they_are_zeros),
		IN_SESSION(a_record_larger_than_a_chunk_is_cut_and_harms_no_other),
		IN_SESSION(unfinished_records_holes_and_skips_cost_only_themselves),
		IN_SESSION(recording_keeps_errno),
		IN_SESSION(times_further_apart_than_31_bits_are_right),
		IN_SESSION(threads_record_side_by_side_while_somebody_reads),
		IN_SESSION(thousands_of_short_threads_share_chunks),
		IN_SESSION(definitions_of_all_threads_overflow_into_new_chunks),
		IN_SESSION(the_flight_recorder_keeps_the_newest_and_every_definition),
		IN_SESSION(the_flight_recorder_takes_the_oldest_from_every_thread),
		IN_SESSION(the_flight_recorder_is_shared_by_many_short_threads),
	};

	return cmocka_run_group_tests_name("wire/writer", tests, NULL, NULL);
}
