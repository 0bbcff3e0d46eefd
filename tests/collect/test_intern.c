/* test_intern.c - tests src/record/collect/intern.h */
#define INTEL_NO_MACRO_BODY
#include "collect/intern.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/session.h"
#include "support/unit.h"
#include "wire/control.h"

static void one_number_for_one_text(void **state)
{
	uint32_t a = ut_intern_z("alpha"), b = ut_intern_z("beta");

	(void)state;
	assert_true(a && b && a != b);
	assert_int_equal(ut_intern("alpha and more", 5), a);
	assert_int_equal(ut_intern_handle("alpha")->extra1, a);
	assert_ptr_equal(ut_intern_handle("alpha"), ut_intern_handle("alpha"));
	assert_string_equal(ut_intern_handle("beta")->strA, "beta");
	assert_int_equal(ut_intern_z(NULL), 0);
	assert_int_equal(ut_intern(NULL, 5), 0);
	assert_null(ut_intern_handle(NULL));
	assert_null(ut_intern_domain(NULL));
	assert_int_equal(ut_string_id(NULL), 0);
	assert_int_equal(ut_domain_id(NULL), 0);
	assert_true(ut_intern_z("") > 0);
}

static void texts_are_copied(void **state)
{
	char text[] = "changes";
	__itt_string_handle *h = ut_intern_handle(text);

	(void)state;
	text[0] = 'X';
	assert_string_equal(h->strA, "changes");
	assert_int_not_equal(ut_intern_z(text), h->extra1);
}

static void endless_texts_are_cut(void **state)
{
	char *big = malloc(1 << 20);
	__itt_string_handle *h;

	(void)state;
	memset(big, 'x', (1 << 20) - 1);
	big[(1 << 20) - 1] = '\0';
	h = ut_intern_handle(big);
	assert_true(strlen(h->strA) > 10000 && strlen(h->strA) < 65536);
	assert_ptr_equal(ut_intern_handle(big), h);
	free(big);
}

static void objects_of_a_static_part_are_numbered_in_place(void **state)
{
	__itt_string_handle h = { .strA = "made early" };
	__itt_domain d = { .flags = 1, .nameA = "early domain" };

	(void)state;
	assert_int_equal(ut_string_id(&h), ut_intern_z("made early")); /* also before */
	ut_intern_adopt_string(&h);
	assert_int_equal(h.extra1, ut_intern_z("made early"));
	ut_intern_adopt_domain(&d);
	assert_int_equal(ut_domain_id(&d), ut_domain_id(ut_intern_domain("early domain")));
	assert_int_equal(ut_domain_id_by_name("early domain"), ut_domain_id(&d));
}

#define THREADS 4
#define NAMES   2000

static pthread_barrier_t together;

static void *intern_all(void *arg)
{
	uint32_t *ids = arg;
	char name[32];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		if (i % 4 == 0)
			pthread_barrier_wait(&together);
		ids[i] = ut_domain_id_by_name(name);
		ids[NAMES + i] = ut_intern_z(name);
	}
	return NULL;
}

/* A task ends in the domain it was begun in: two numbers for one name would lose the end. */
static void threads_that_ask_at_once_get_the_same_number(void **state)
{
	static uint32_t ids[THREADS][2 * NAMES];
	pthread_t threads[THREADS];

	(void)state;
	pthread_barrier_init(&together, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, intern_all, ids[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < THREADS; i++)
		assert_memory_equal(ids[0], ids[i], sizeof(ids[0]));
}

static void filtered_domains(void)
{
	static const char *const names[] = { "wanted.a", "wanted.b", "other" };

	for (int i = 0; i < 3; i++) {
		__itt_domain *d = ut_intern_domain(names[i]);

		if (d->flags != (i == 0))
			_exit(1);
		if ((ut_domain_id(d) == UT_DOMAIN_UNWANTED) != (i != 0))
			_exit(2);
	}
}

static void wake_and_filter(void)
{
	__itt_domain_create("wake");
	filtered_domains();
}

static void domains_that_the_session_does_not_want_are_switched_off(void **state)
{
	struct session *s = *state;

	assert_int_equal(ut_control_add_filter(s->control->include, "wanted.*"), 0);
	assert_int_equal(ut_control_add_filter(s->control->exclude, "*.b"), 0);
	session_run(s, wake_and_filter);
	assert_int_equal(s->status, 0);
}

UT_TESTS(intern)
{
	const struct CMUnitTest tests[] = {
		/* First: it forks, and the child has to start without a number given. */
		cmocka_unit_test_setup_teardown(
			domains_that_the_session_does_not_want_are_switched_off, session_make,
			session_drop),
		cmocka_unit_test(one_number_for_one_text),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(endless_texts_are_cut),
		cmocka_unit_test(objects_of_a_static_part_are_numbered_in_place),
		cmocka_unit_test(threads_that_ask_at_once_get_the_same_number),
	};

	return cmocka_run_group_tests_name("collect/intern", tests, NULL, NULL);
}
