/* Names: each once, found again, also when their hashes are equal, from several threads at once. */
#include "collect/names.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>

#include "support/unit.h"

struct text {
	struct ut_name name;
	char text[24];
};

static bool is(const struct ut_name *name, const char *text, size_t len)
{
	return !strncmp(((const struct text *)name)->text, text, len) &&
	       !((const struct text *)name)->text[len];
}

static struct ut_names fresh(unsigned int bits)
{
	return (struct ut_names){ calloc((size_t)1 << bits, sizeof(_Atomic uintptr_t)), bits, is };
}

static struct text *make(const char *prefix, int i, uint64_t hash)
{
	struct text *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	snprintf(t->text, sizeof(t->text), "%s%d", prefix, i);
	t->name.hash = hash;
	return t;
}

static struct ut_name *add(const struct ut_names *n, struct text *t)
{
	return ut_names_add(n, &t->name, t->text, strlen(t->text));
}

static uint64_t spread(int i)
{
	return (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
}

static int seen;

static void see(struct ut_name *name)
{
	seen++;
	free(name);
}

static void check_all(uint64_t (*hash)(int), int count)
{
	struct ut_names n = fresh(4);

	for (int i = 0; i < count; i++) {
		struct text *t = make("n", i, hash(i)), *again = make("n", i, hash(i));

		assert_null(ut_names_find(&n, hash(i), t->text, strlen(t->text)));
		assert_ptr_equal(add(&n, t), t);
		assert_ptr_equal(add(&n, again), t);
		free(again);
	}
	for (int i = 0; i < count; i++) {
		struct text *t = make("n", i, 0);

		assert_non_null(ut_names_find(&n, hash(i), t->text, strlen(t->text)));
		assert_null(ut_names_find(&n, hash(i) + 1, "other", 5));
		free(t);
	}
	seen = 0;
	ut_names_each(&n, see);
	assert_int_equal(seen, count);
	free((void *)(uintptr_t)n.slots);
}

static void every_name_is_found_again(void **state)
{
	(void)state;
	check_all(spread, 20000);
}

static uint64_t equal(int i)
{
	(void)i;
	return 42;
}

static void names_with_the_same_hash_are_distinguished(void **state)
{
	(void)state;
	check_all(equal, 300);
}

static uint64_t high_bits_only(int i)
{
	return (uint64_t)i << 48;
}

static void hashes_that_differ_late_are_distinguished(void **state)
{
	(void)state;
	check_all(high_bits_only, 5000);
}

struct racer {
	pthread_t thread;
	const struct ut_names *names;
	struct ut_name **got;
};

#define RACED 20000

static void *race(void *arg)
{
	struct racer *r = arg;

	for (int i = 0; i < RACED; i++) {
		struct text *t = make("r", i, spread(i));

		r->got[i] = add(r->names, t);
		if (r->got[i] != &t->name)
			free(t);
	}
	return NULL;
}

static void threads_that_add_the_same_name_get_the_same(void **state)
{
	struct ut_names n = fresh(2);
	struct racer racers[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		racers[i] = (struct racer){ .names = &n,
					    .got = calloc(RACED, sizeof(struct ut_name *)) };
		pthread_create(&racers[i].thread, NULL, race, &racers[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(racers[i].thread, NULL);
	for (int k = 0; k < RACED; k++)
		for (int i = 1; i < 4; i++)
			assert_ptr_equal(racers[0].got[k], racers[i].got[k]);
	seen = 0;
	ut_names_each(&n, see);
	assert_int_equal(seen, RACED);
	for (int i = 0; i < 4; i++)
		free(racers[i].got);
	free((void *)(uintptr_t)n.slots);
}

UT_TESTS(names)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_is_found_again),
		cmocka_unit_test(names_with_the_same_hash_are_distinguished),
		cmocka_unit_test(hashes_that_differ_late_are_distinguished),
		cmocka_unit_test(threads_that_add_the_same_name_get_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
