/* test_spool_memory.c - tests src/trace/import/spool/memory_books.h: the books of what a program
 * allocated. */
#include "import/spool/memory_books.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/build.h"
#include "model/memory_samples.h"
#include "support/unit.h"

/* Two stacks: 11 is "f", 12 is "f" called from "main" as "g". */
static void start(struct build *b)
{
	build_start(b);
	BUILD_DEFINE(b, FRAME, pair(1, build_name(b, "main")), 0, 0, 0);
	BUILD_DEFINE(b, FRAME, pair(2, build_name(b, "f")), 0, 0, 0);
	BUILD_DEFINE(b, FRAME, pair(3, build_name(b, "g")), 0, 0, 0);
	BUILD_DEFINE(b, STACK, pair(10, 0), 1);
	BUILD_DEFINE(b, STACK, pair(11, 10), 2);
	BUILD_DEFINE(b, STACK, pair(12, 10), 3);
	build_chunk(b, 4);
	build_thread(b, 1, 100);
}

static void got(struct build *b, uint64_t ticks, uint64_t address, uint64_t bytes, uint32_t stack)
{
	BUILD_LONG(b, ALLOCATED, ticks, address, bytes, pair(stack, 0));
}

static void drew(struct build *b, uint64_t ticks, uint64_t address, uint64_t bytes, uint32_t bits)
{
	BUILD_LONG(b, ALLOCATED, ticks, address, bytes, pair(11, bits << 16));
}

static void gave(struct build *b, uint64_t ticks, uint64_t address)
{
	BUILD_LONG(b, FREED, ticks, address);
}

static void kept(struct build *b, uint64_t ticks, uint64_t address)
{
	BUILD_LONG(b, ALLOCATED, ticks, address, 0, pair(0, 1u << 24));
}

/* ---- what comes of it ---------------------------------------------------------------------- */

static const char *name_of(const struct seen *s, uint32_t id)
{
	return ut_strtab_get(&s->trace.strings, id).ptr;
}

static const char *function_of(const struct seen *s, const struct ut_event *e)
{
	return name_of(s, ut_stacks_innermost(&s->trace.stacks, ut_sample_stack(e->val)).function);
}

/* Bytes of all samples of a kind that end in a function; NULL = any. */
static uint64_t bytes_of(const struct seen *s, enum ut_memory_sample which, const char *function)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct ut_event *e = &s->events[i];

		if (e->kind == UT_KIND_SAMPLE &&
		    !strcmp(name_of(s, e->name), ut_memory_sample_names[which]) &&
		    (!function || !strcmp(function_of(s, e), function)))
			bytes += ut_sample_weight(e->val);
	}
	return bytes;
}

static uint64_t highest(const struct seen *s)
{
	uint64_t most = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->events[i].kind == UT_KIND_COUNTER && s->events[i].val > most)
			most = s->events[i].val;
	}
	return most;
}

static uint64_t last_level(const struct seen *s)
{
	uint64_t level = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->events[i].kind == UT_KIND_COUNTER)
			level = s->events[i].val;
	}
	return level;
}

static void finish(struct seen *s, struct build *b)
{
	seen_release(s);
	build_release(b);
}

/* ---- the claims ---------------------------------------------------------------------------- */

static void the_peak_is_when_most_was_live_and_whose(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	got(&b, 1000, 0xa0, 500, 11);
	got(&b, 2000, 0xb0, 300, 12); /* 800: the peak */
	gave(&b, 3000, 0xa0);
	got(&b, 4000, 0xc0, 400, 12); /* 700 */
	gave(&b, 5000, 0xb0);
	seen_import(&s, &b);
	assert_int_equal(bytes_of(&s, UT_MEMORY_AT_PEAK, "f"), 500);
	assert_int_equal(bytes_of(&s, UT_MEMORY_AT_PEAK, "g"), 300);
	assert_int_equal(bytes_of(&s, UT_MEMORY_NEVER_FREED, "f"), 0);
	assert_int_equal(bytes_of(&s, UT_MEMORY_NEVER_FREED, "g"), 400);
	assert_int_equal(bytes_of(&s, UT_MEMORY_ALLOCATED, NULL), 1200);
	assert_int_equal(highest(&s), 800);
	assert_int_equal(last_level(&s), 400);
	finish(&s, &b);
}

static void another_thread_may_free(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	got(&b, 1000, 0xa0, 500, 11);
	got(&b, 5000, 0xa0, 70, 12); /* after the other thread has freed it */
	build_chunk(&b, 1);
	build_thread(&b, 2, 100);
	gave(&b, 3000, 0xa0);
	gave(&b, 9000, 0xa0);
	seen_import(&s, &b);
	assert_int_equal(bytes_of(&s, UT_MEMORY_NEVER_FREED, NULL), 0);
	assert_int_equal(bytes_of(&s, UT_MEMORY_AT_PEAK, NULL), 500);
	assert_int_equal(last_level(&s), 0);
	finish(&s, &b);
}

static void what_was_there_before_is_no_loss(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	gave(&b, 1000, 0xdead);
	got(&b, 2000, 0xa0, 8, 11);
	gave(&b, 3000, 0xa0);
	gave(&b, 4000, 0xa0);
	seen_import(&s, &b);
	assert_int_equal(bytes_of(&s, UT_MEMORY_ALLOCATED, NULL), 8);
	assert_int_equal(last_level(&s), 0);
	finish(&s, &b);
}

static void a_block_that_could_not_be_resized_stays(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	got(&b, 1000, 0xa0, 500, 11);
	gave(&b, 2000, 0xa0);
	kept(&b, 2100, 0xa0);
	kept(&b, 2200, 0xa0); /* nonsense: it is there already */
	kept(&b, 2300, 0xbad);
	seen_import(&s, &b);
	assert_int_equal(bytes_of(&s, UT_MEMORY_NEVER_FREED, "f"), 500);
	assert_int_equal(bytes_of(&s, UT_MEMORY_ALLOCATED, "f"), 500);
	assert_int_equal(bytes_of(&s, UT_MEMORY_AT_PEAK, "f"), 500);
	finish(&s, &b);
}

static void an_end_that_was_lost_ends_with_the_next_block(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	got(&b, 1000, 0xa0, 500, 11);
	got(&b, 2000, 0xa0, 100, 12);
	seen_import(&s, &b);
	assert_int_equal(bytes_of(&s, UT_MEMORY_NEVER_FREED, NULL), 100);
	assert_int_equal(bytes_of(&s, UT_MEMORY_ALLOCATED, NULL), 600);
	finish(&s, &b);
}

/* The text of the first sample of a kind, behind its time and value. */
static void expect_sample(const struct seen *s, const char *name, const char *args)
{
	char start_of_it[64];
	const char *at;

	snprintf(start_of_it, sizeof(start_of_it), ": sample %s ", name);
	at = strstr(s->text, start_of_it);
	assert_non_null(at);
	at = strchr(at, '{');
	assert_non_null(at);
	assert_int_equal(strncmp(at, args, strlen(args)), 0);
}

static void allocations_know_their_task_and_how_long_they_lived(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	build_begin(&b, 900, "load");
	got(&b, 1000, 0xa0, 500, 11);
	build_end(&b, 1500);
	gave(&b, 3000, 0xa0);
	seen_import(&s, &b);
	expect_sample(&s, "allocated bytes", "{task='load', count=1, freed=1, life_ns=2000}");
	expect_sample(&s, "peak bytes", "{task='load', count=1}");
	finish(&s, &b);
}

/* Drawn with 1 byte of 1024: 512 blocks of 4096 bytes are drawn nearly always (p = 0.98). */
static void what_was_drawn_stands_for_more(void **state)
{
	double p = 1 - exp(-4096.0 / 1024);
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	for (uint64_t i = 0; i < 512; i++)
		drew(&b, 1000 + i, 0x1000 + 16 * i, 4096, 10);
	seen_import(&s, &b);
	assert_in_range(bytes_of(&s, UT_MEMORY_ALLOCATED, "f"), (uint64_t)(512 * 4096 / p) - 512,
			(uint64_t)(512 * 4096 / p) + 512);
	assert_in_range(bytes_of(&s, UT_MEMORY_NEVER_FREED, "f"), (uint64_t)(512 * 4096 / p) - 2,
			(uint64_t)(512 * 4096 / p) + 2);
	assert_non_null(strstr(s.text, "variance="));
	finish(&s, &b);
}

static double uniform(void)
{
	return ((double)rand() + 0.5) / ((double)RAND_MAX + 1);
}

/*
 * A program that always has 1 MiB, in blocks of 256 bytes that come and go: the highest of many
 * estimates is much too high, and is not what is told.
 */
static void the_highest_of_many_estimates_is_not_the_peak(void **state)
{
	const uint64_t blocks = 4096, size = 256;
	double p = 1 - exp(-256.0 / 32768), raw = 0, reported = 0;
	int rounds = 12;

	(void)state;
	srand(1);
	for (int round = 0; round < rounds; round++) {
		bool live[4096] = { false };
		struct build b;
		struct seen s;

		start(&b);
		build_chunk(&b, 60);
		build_thread(&b, 1, 100);
		for (uint64_t i = 0; i < 20 * blocks; i++) {
			uint64_t at = i < blocks ? i : (uint64_t)rand() % blocks;

			if (live[at])
				gave(&b, 1000 + 2 * i, 0x10000 + at * size);
			live[at] = uniform() < p;
			if (live[at])
				drew(&b, 1001 + 2 * i, 0x10000 + at * size, size, 15);
		}
		seen_import(&s, &b);
		raw += (double)highest(&s) / (double)(blocks * size) / rounds;
		reported += (double)bytes_of(&s, UT_MEMORY_AT_PEAK, NULL) /
			    (double)(blocks * size) / rounds;
		finish(&s, &b);
	}
	assert_true(raw > 1.4);
	assert_true(reported > 0.75 && reported < 1.25);
}

/* Many sites and slices of time: sums are the same, however rows are put together. */
static void sums_are_exact_whatever_the_time(void **state)
{
	uint64_t all = 0, left = 0;
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	build_chunk(&b, 60);
	build_thread(&b, 1, 100);
	for (uint64_t i = 0; i < 20000; i++) {
		got(&b, 1000 + i * 977, 0x1000 + 16 * i, i % 700, 11 + i % 2);
		all += i % 700;
		if (i % 3)
			gave(&b, 1010 + i * 977, 0x1000 + 16 * i);
		else
			left += i % 700;
	}
	seen_import(&s, &b);
	assert_int_equal(bytes_of(&s, UT_MEMORY_ALLOCATED, NULL), all);
	assert_int_equal(bytes_of(&s, UT_MEMORY_NEVER_FREED, NULL), left);
	assert_int_equal(last_level(&s), left);
	assert_in_range(bytes_of(&s, UT_MEMORY_AT_PEAK, NULL), left, left + 700);
	finish(&s, &b);
}

UT_TESTS(spool_memory)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peak_is_when_most_was_live_and_whose),
		cmocka_unit_test(another_thread_may_free),
		cmocka_unit_test(what_was_there_before_is_no_loss),
		cmocka_unit_test(a_block_that_could_not_be_resized_stays),
		cmocka_unit_test(an_end_that_was_lost_ends_with_the_next_block),
		cmocka_unit_test(allocations_know_their_task_and_how_long_they_lived),
		cmocka_unit_test(what_was_drawn_stands_for_more),
		cmocka_unit_test(the_highest_of_many_estimates_is_not_the_peak),
		cmocka_unit_test(sums_are_exact_whatever_the_time),
	};

	return cmocka_run_group_tests_name("import/spool_memory", tests, NULL, NULL);
}
