/* test_ring.c - tests src/record/wire/ring.h */
#include "wire/ring.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"
#include "wire/control.h"
#include "wire/spool.h"

#define MS UINT64_C(1000000)

/* A ring for so many bytes and ns; one tick is one ns. */
static void open_ring(uint64_t keep_bytes, uint64_t keep_ns)
{
	static struct ut_control control;
	const struct ut_clock_pair now = { .ticks = 2000 * MS, .mono = 2000 * MS };

	control.keep_bytes = keep_bytes;
	control.keep_ns = keep_ns;
	control.start = (struct ut_clock_pair){ .ticks = 1000 * MS, .mono = 1000 * MS };
	ut_ring_open(&control, &now);
}

static struct ut_chunk *make_chunk(void)
{
	struct ut_chunk *c = aligned_alloc(16, UT_CHUNK_UNIT);

	memset(c, 0xee, UT_CHUNK_UNIT);
	*c = (struct ut_chunk){ .magic = UT_CHUNK_MAGIC, .bytes = UT_CHUNK_UNIT };
	ut_ring_add();
	return c;
}

static void free_chunks(struct ut_chunk **chunks, size_t count)
{
	open_ring(0, 0);
	for (size_t i = 0; i < count; i++)
		free(chunks[i]);
}

static void off_unless_the_session_asks_for_it(void **state)
{
	(void)state;
	open_ring(0, 0);
	assert_false(ut_ring_on());
	open_ring(1, 0);
	assert_true(ut_ring_on());
	open_ring(0, 1);
	assert_true(ut_ring_on());
	open_ring(0, 0);
	assert_false(ut_ring_on());
}

static void chunks_are_small_until_there_would_be_too_many(void **state)
{
	(void)state;
	open_ring(1 << 20, 0);
	assert_int_equal(ut_ring_chunk_bytes(), UT_CHUNK_UNIT);
	open_ring(1ull << 30, 0);
	assert_int_equal(ut_ring_chunk_bytes(), UT_CHUNK_UNIT);
	open_ring(4ull << 30, 0);
	assert_int_equal(ut_ring_chunk_bytes(), 4 * UT_CHUNK_UNIT);
	open_ring(1ull << 50, 0);
	assert_int_equal(ut_ring_chunk_bytes(), 16 * UT_CHUNK_UNIT);
	open_ring(0, 0);
}

static void grows_to_its_size_and_then_reuses_from_the_oldest_on(void **state)
{
	struct ut_chunk *c[8];

	(void)state;
	open_ring(8 * UT_CHUNK_UNIT, 0);
	for (uint64_t i = 0; i < 8; i++) {
		assert_null(ut_ring_reuse(100 + i));
		c[i] = make_chunk();
		ut_ring_leave(c[i], 100 + i);
	}
	for (uint64_t i = 0; i < 20; i++) {
		assert_ptr_equal(ut_ring_reuse(200 + i), c[i % 8]);
		assert_int_equal(c[i % 8]->turn, 1 + i / 8);
		ut_ring_leave(c[i % 8], 200 + i);
	}
	free_chunks(c, 8);
}

static void a_reused_chunk_is_empty(void **state)
{
	struct ut_chunk *c[4];
	const char *bytes;

	(void)state;
	open_ring(1, 0); /* less than four is four */
	for (int i = 0; i < 4; i++) {
		assert_null(ut_ring_reuse(5));
		c[i] = make_chunk();
	}
	ut_ring_leave(c[2], 7);
	assert_ptr_equal(ut_ring_reuse(8), c[2]);
	bytes = (const char *)(c[2] + 1);
	for (size_t i = 0; i < UT_CHUNK_UNIT - sizeof(*c[2]); i++)
		assert_int_equal(bytes[i], 0);
	assert_int_equal(c[2]->bytes, UT_CHUNK_UNIT);
	assert_int_equal(atomic_load(&c[2]->magic), UT_CHUNK_MAGIC);
	free_chunks(c, 4);
}

static void a_chunk_in_use_is_never_taken_away(void **state)
{
	struct ut_chunk *c[5];

	(void)state;
	open_ring(4 * UT_CHUNK_UNIT, 0);
	for (int i = 0; i < 4; i++)
		c[i] = make_chunk();
	for (uint64_t i = 0; i < 10; i++)
		assert_null(ut_ring_reuse(10 + i)); /* all busy: more than asked for */
	c[4] = make_chunk();
	ut_ring_leave(c[1], 50);
	assert_ptr_equal(ut_ring_reuse(60), c[1]);
	assert_null(ut_ring_reuse(61));
	free_chunks(c, 5);
}

static void what_was_left_last_is_kept_longest_however_long_it_was_in_use(void **state)
{
	struct ut_chunk *c[4];

	(void)state;
	open_ring(4 * UT_CHUNK_UNIT, 0);
	for (int i = 0; i < 4; i++)
		c[i] = make_chunk(); /* the first one belongs to a slow thread */
	for (uint64_t i = 1; i < 4; i++)
		ut_ring_leave(c[i], 10 + i);
	ut_ring_leave(c[0], 20);
	assert_ptr_equal(ut_ring_reuse(30), c[1]);
	assert_ptr_equal(ut_ring_reuse(31), c[2]);
	assert_ptr_equal(ut_ring_reuse(32), c[3]);
	assert_ptr_equal(ut_ring_reuse(33), c[0]);
	free_chunks(c, 4);
}

static void by_time_keeps_what_is_young_however_much_that_is(void **state)
{
	struct ut_chunk *c[64];
	size_t n = 0;

	(void)state;
	open_ring(0, 10 * MS);
	for (uint64_t t = 3000 * MS; t < 3050 * MS; t += MS) {
		struct ut_chunk *chunk = ut_ring_reuse(t);

		if (!chunk)
			chunk = c[n++] = make_chunk();
		ut_ring_leave(chunk, t);
	}
	assert_in_range(n, 10, 12); /* one chunk a ms, ten ms to keep */
	free_chunks(c, n);
}

static void a_chunk_left_after_we_looked_at_the_clock_is_young(void **state)
{
	struct ut_chunk *c[1];

	(void)state;
	open_ring(0, 10 * MS);
	c[0] = make_chunk();
	ut_ring_leave(c[0], 3000 * MS + 1);
	assert_null(ut_ring_reuse(3000 * MS));
	free_chunks(c, 1);
}

static void a_forked_child_starts_with_an_empty_ring(void **state)
{
	struct ut_chunk *c[8];

	(void)state;
	open_ring(4 * UT_CHUNK_UNIT, 0);
	for (int i = 0; i < 4; i++) {
		c[i] = make_chunk();
		ut_ring_leave(c[i], 10);
	}
	open_ring(4 * UT_CHUNK_UNIT, 0);
	for (int i = 4; i < 8; i++) {
		assert_null(ut_ring_reuse(20));
		c[i] = make_chunk(); /* being written to, whatever was there before */
	}
	assert_null(ut_ring_reuse(30));
	free_chunks(c, 8);
}

/* ---- threads ------------------------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  20000

static void *take_and_leave(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	intptr_t bad = 0;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct ut_chunk *c = ut_ring_reuse(i);
		_Atomic uintptr_t *owner;

		if (!c)
			continue;
		owner = (void *)(c + 1);
		bad += atomic_exchange(owner, me) != 0;
		bad += atomic_exchange(owner, 0) != me;
		ut_ring_leave(c, i);
	}
	return (void *)bad;
}

static void no_chunk_is_given_to_two_threads(void **state)
{
	struct ut_chunk *c[8];
	pthread_t threads[THREADS];
	void *bad;

	(void)state;
	open_ring(8 * UT_CHUNK_UNIT, 0);
	for (int i = 0; i < 8; i++) {
		c[i] = make_chunk();
		ut_ring_leave(c[i], 1);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, take_and_leave, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	free_chunks(c, 8);
}

UT_TESTS(ring)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_unless_the_session_asks_for_it),
		cmocka_unit_test(chunks_are_small_until_there_would_be_too_many),
		cmocka_unit_test(grows_to_its_size_and_then_reuses_from_the_oldest_on),
		cmocka_unit_test(a_reused_chunk_is_empty),
		cmocka_unit_test(a_chunk_in_use_is_never_taken_away),
		cmocka_unit_test(what_was_left_last_is_kept_longest_however_long_it_was_in_use),
		cmocka_unit_test(by_time_keeps_what_is_young_however_much_that_is),
		cmocka_unit_test(a_chunk_left_after_we_looked_at_the_clock_is_young),
		cmocka_unit_test(a_forked_child_starts_with_an_empty_ring),
		cmocka_unit_test(no_chunk_is_given_to_two_threads),
	};

	return cmocka_run_group_tests_name("wire/ring", tests, NULL, NULL);
}
