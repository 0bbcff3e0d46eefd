/*
 * test_static_part.c - tests src/record/sdk/ittnotify.c and objects.c: what a program sees with and
 * without a collector, and what a collector sees.
 *
 * link: -Wl,--wrap=dlopen -Wl,--wrap=dlsym
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sdk/fake_collectors.h"
#include "support/unit.h"
#include "support/wait.h"

#define COLLECTOR(path) "INTEL_LIBITTNOTIFY64=" path
#define ENV(...)        ((const char *const[]){ __VA_ARGS__, NULL })

static const char *const *const no_env;

/* ---- The table ------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void table_has_156_entries_and_152_distinct_names(void **state)
{
	const char *names[] = {
#define ITT_FN(ret, name, params, args, dll, group) #dll,
#include "itt/api.def"
	};
	size_t n = sizeof(names) / sizeof(*names), distinct = 1;

	(void)state;
	qsort(names, n, sizeof(*names), by_text);
	for (size_t i = 1; i < n; i++)
		distinct += strcmp(names[i - 1], names[i]) != 0;
	assert_int_equal(n, 156);
	assert_int_equal(distinct, 152);
}

/* The pointers of the list are those of the header: same names, same types (or it won't compile).
 */
static void every_entry_has_its_pointer_in_the_header(void **state)
{
	size_t set = 0;

	(void)state;
#define ITT_FN(ret, name, params, args, dll, group)                                                \
	{                                                                                          \
		ret(*fn) params = ITTNOTIFY_NAME(name);                                            \
		set += fn != NULL;                                                                 \
	}
#include "itt/api.def"
	assert_int_equal(set, 156);
}

/* ---- Without a collector -------------------------------------------------------------------- */

static void no_collector(void)
{
	__itt_domain *d = __itt_domain_create("d");

	CHECK(d && !d->flags);
	CHECK(!__itt_string_handle_create("s"));
	CHECK(!__itt_counter_create("c", "d"));
	CHECK(__itt_task_begin_ptr); /* the stub: creation has not asked for a collector */
	CHECK(!__itt_get_timestamp());
	CHECK(!__itt_task_begin_ptr);
	__itt_task_begin(d, __itt_null, __itt_null, NULL);
	__itt_task_end((__itt_domain *)NULL);
	__itt_pause();
	CHECK(__itt_event_start(3) == 0);
	CHECK(__itt_get_collection_state() == __itt_collection_collector_absent);
	CHECK(seen.opened == 0);
}

static void without_a_collector_calls_do_nothing(void **state)
{
	(void)state;
	assert_int_equal(alone(no_collector, no_env), 0);
	assert_int_equal(alone(no_collector, ENV(COLLECTOR(""))), 0);
}

static int errors[8];

static void note_error(__itt_error_code code, va_list args)
{
	(void)args;
	errors[code]++;
}

static void wrong_path(void)
{
	__itt_domain *d = __itt_domain_create("early");
	__itt_string_handle *s = __itt_string_handle_create("name");

	__itt_set_error_handler(note_error);
	CHECK(d && d->flags && s);
	__itt_task_begin(d, __itt_null, __itt_null, s);
	CHECK(seen.opened == 1);
	CHECK(__itt_get_collection_state() == __itt_collection_init_fail);
	CHECK(!__itt_task_begin_ptr);
	CHECK(errors[__itt_error_no_module] == 1);
	/* ASan or valgrind would speak up here, were they freed. */
	CHECK(!strcmp(d->nameA, "early") && !strcmp(s->strA, "name"));
	d = __itt_domain_create("late");
	CHECK(d && !d->flags);
}

static void wrong_path_leaves_early_handles_valid(void **state)
{
	(void)state;
	assert_int_equal(alone(wrong_path, ENV(COLLECTOR("missing"))), 0);
	assert_int_equal(alone(wrong_path, ENV(COLLECTOR("/nowhere/lib.so"))), 0);
}

static void endless_path(void)
{
	char *path = malloc(5000);

	CHECK(path);
	memset(path, 'x', 4999);
	path[4999] = '\0';
	setenv("INTEL_LIBITTNOTIFY64", path, 1);
	free(path);
	__itt_set_error_handler(note_error);
	__itt_pause();
	CHECK(seen.opened == 0);
	CHECK(errors[__itt_error_env_too_long] == 1);
	CHECK(__itt_get_collection_state() == __itt_collection_collector_absent);
}

static void path_longer_than_any_path_is_ignored(void **state)
{
	(void)state;
	assert_int_equal(alone(endless_path, no_env), 0);
}

/* ---- The handshake -------------------------------------------------------------------------- */

static void handshake(void)
{
	static const unsigned char magic[] = ITT_MAGIC;
	const __itt_global *copy;

	__itt_task_begin(__itt_domain_create("d"), __itt_null, __itt_null, NULL);
	__itt_task_begin(__itt_domain_create("d"), __itt_null, __itt_null, NULL);
	__itt_pause();
	copy = seen.copy;
	CHECK(seen.init == 1 && seen.opened == 1);
	CHECK(seen.tasks == 2 && seen.pauses == 1);
	CHECK(seen.groups == __itt_group_all);
	CHECK(!memcmp(copy->magic, magic, sizeof(magic)));
	CHECK(copy->version_major == 3 && copy->version_minor == 0);
	CHECK(copy->version_build == UT_ITT_BUILD);
	CHECK(copy->api_initialized == 1 && copy->mutex_initialized == 1);
	CHECK(copy->lib && copy->state == __itt_collection_init_successful);
}

static void collector_is_notified_once_about_a_proper_copy(void **state)
{
	(void)state;
	assert_int_equal(alone(handshake, ENV(COLLECTOR(FAKE_V2))), 0);
}

/* One entry as the collector sees it; returns the next. */
static const __itt_api_info *check_entry(const __itt_api_info *api, const char *name, void *pointer,
					 int group, bool has_body)
{
	CHECK(!strcmp(api->name, name) && (int)api->group == group);
	CHECK((void *)api->func_ptr == pointer && *api->func_ptr == api->init_func);
	CHECK(api->null_func == (has_body ? api->init_func : NULL));
	return api + 1;
}

static void check_table(void)
{
	const __itt_api_info *api = seen.copy->api_list_ptr;

	CHECK(seen.copy->api_initialized == 0);
#define ITT_FN(ret, name, params, args, dll, group)                                                \
	api = check_entry(api, "__itt_" #dll, &ITTNOTIFY_NAME(name), (int)(group), false);
#define ITT_FN_STATIC(ret, name, params, args, dll, group)                                         \
	api = check_entry(api, "__itt_" #dll, &ITTNOTIFY_NAME(name), (int)(group), true);
#define ITT_FNV_STATIC ITT_FN_STATIC
#include "itt/api.def"
	CHECK(!api->name);
}

static void table_seen_by_the_collector(void)
{
	during_init = check_table;
	__itt_resume();
	CHECK(seen.init == 1);
}

static void collector_finds_every_entry_in_the_table(void **state)
{
	(void)state;
	assert_int_equal(alone(table_seen_by_the_collector, ENV(COLLECTOR(FAKE_V2))), 0);
}

static void explicit_init(void)
{
	CHECK(!__itt_init_ittlib(NULL, __itt_group_all));
	__itt_fini_ittlib();
	CHECK(__itt_init_ittlib(FAKE_V2, __itt_group_structure) == 1);
	CHECK(seen.init == 1 && seen.groups == __itt_group_structure);
	CHECK(__itt_init_ittlib(NULL, __itt_group_heap) == 0);
	CHECK(__itt_init_ittlib(NULL, __itt_group_control) == 1);
}

static void init_ittlib_says_whether_anybody_listens(void **state)
{
	(void)state;
	assert_int_equal(alone(explicit_init, no_env), 0);
}

static void nested_call(void)
{
	__itt_domain *d = __itt_domain_create("inner");

	__itt_task_begin(d, __itt_null, __itt_null, NULL);
	__itt_pause();
	__itt_get_collection_state();
	CHECK(!__itt_api_version());
}

static void call_from_inside(void)
{
	during_init = nested_call;
	__itt_task_begin(__itt_domain_create("d"), __itt_null, __itt_null, NULL);
	CHECK(seen.init == 1 && seen.tasks == 1 && seen.pauses == 0);
}

static void collector_may_call_itt_while_it_starts(void **state)
{
	(void)state;
	assert_int_equal(alone(call_from_inside, ENV(COLLECTOR(FAKE_V2))), 0);
}

static void stop_and_go(void)
{
	__itt_resume();
	__itt_fini_ittlib();
	__itt_fini_ittlib();
	CHECK(seen.init == 1 && seen.fini == 1);
	CHECK(!__itt_task_begin_ptr);
	__itt_pause();
	CHECK(seen.init == 2 && seen.pauses == 1);
	CHECK(__itt_task_begin_ptr);
}

static void fini_silences_all_and_pause_starts_again(void **state)
{
	(void)state;
	assert_int_equal(alone(stop_and_go, ENV(COLLECTOR(FAKE_V2))), 0);
}

static void keep_errno(void)
{
	errno = EBADMSG;
	__itt_pause();
	CHECK(errno == EBADMSG);
}

static void errno_is_left_as_found(void **state)
{
	(void)state;
	assert_int_equal(alone(keep_errno, ENV(COLLECTOR(FAKE_V2))), 0);
	assert_int_equal(alone(keep_errno, ENV(COLLECTOR("/nowhere/lib.so"))), 0);
}

/* ---- Threads -------------------------------------------------------------------------------- */

enum {
	N_THREADS = 8
};

static pthread_barrier_t gate;
static atomic_int racing;

/* Until all threads are at their first call. */
static void slow(void)
{
	double end = 0;

	while (racing < N_THREADS)
		CHECK(ut_wait_step(&end));
}

static void *race(void *domain)
{
	pthread_barrier_wait(&gate);
	racing++;
	__itt_task_begin((__itt_domain *)domain, __itt_null, __itt_null, NULL);
	return NULL;
}

static void many_first_calls(void)
{
	__itt_domain *d = __itt_domain_create("d");
	pthread_t threads[N_THREADS];

	during_init = slow;
	pthread_barrier_init(&gate, NULL, N_THREADS);
	for (int i = 0; i < N_THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, race, d));
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(seen.init == 1);
	CHECK(seen.tasks == N_THREADS);
}

static void racing_first_calls_start_once_and_lose_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(alone(many_first_calls, ENV(COLLECTOR(FAKE_V2))), 0);
}

/* ---- Early objects -------------------------------------------------------------------------- */

static void early_objects(void)
{
	uint64_t max = 99;
	char units[] = "GB/s";
	__itt_context_metadata meta[] = { { __itt_context_units, units },
					  { __itt_context_max_val, &max },
					  { __itt_context_unknown, &max } };
	__itt_domain *d1 = __itt_domain_create("one"), *d2 = __itt_domain_create("two");
	__itt_string_handle *s = __itt_string_handle_create("s");
	__itt_counter c = __itt_counter_create("c", NULL);
	__itt_counter f = __itt_counter_create_typed("c", NULL, __itt_metadata_float);
	__itt_counter v3 = __itt_counter_create_v3(d1, "c", __itt_metadata_u64);
	__itt_histogram *h =
		__itt_histogram_create(d1, "h", __itt_metadata_u64, __itt_metadata_double);
	const __itt_global *copy;

	__itt_bind_context_metadata_to_counter(c, 3, meta);
	CHECK(seen.opened == 0);
	CHECK(d1 == __itt_domain_create("one") && s == __itt_string_handle_create("s"));
	CHECK(c == __itt_counter_create_typed("c", NULL, __itt_metadata_u64));
	CHECK(h == __itt_histogram_create(d1, "h", __itt_metadata_u64, __itt_metadata_double));
	CHECK(c && f && v3 && c != f && c != v3);
	CHECK(h != __itt_histogram_create(d2, "h", __itt_metadata_u64, __itt_metadata_double));

	__itt_task_begin(d1, __itt_null, __itt_null, s);
	copy = seen.copy;
	CHECK(copy && seen.tasks == 1);
	CHECK(copy->domain_list == d1 && d1->next == d2 && !d2->next);
	CHECK(d1->flags && !d1->extra1 && !d1->extra2 && !strcmp(d1->nameA, "one"));
	CHECK(copy->string_list == s && !s->next && !s->extra1 && !strcmp(s->strA, "s"));
	CHECK((void *)copy->counter_list == (void *)c && !copy->counter_list->extra2);
	CHECK((void *)copy->counter_list->next == (void *)f);
	CHECK(copy->counter_list->next->type == __itt_metadata_float);
	CHECK(!strcmp(copy->counter_list->next->next->domainA, "one"));
	CHECK(copy->histogram_list == h && h->domain == d1 && h->y_type == __itt_metadata_double);
	CHECK(copy->counter_metadata_list->counter == c);
	CHECK(!strcmp(copy->counter_metadata_list->str_valueA, "GB/s"));
	CHECK(copy->counter_metadata_list->next->value == 99);
	CHECK(!copy->counter_metadata_list->next->next);

	CHECK(__itt_domain_create("later") != d1); /* the collector's from now on */
	__itt_release_resources();
	CHECK(!copy->domain_list && !copy->string_list && !copy->counter_list);
	CHECK(!copy->histogram_list && !copy->counter_metadata_list);
}

static void early_objects_wait_in_the_lists_for_the_collector(void **state)
{
	(void)state;
	assert_int_equal(alone(early_objects, ENV(COLLECTOR(FAKE_V2))), 0);
}

static void null_names(void)
{
	CHECK(!__itt_domain_create(NULL) && !__itt_string_handle_create(NULL));
	CHECK(!__itt_counter_create(NULL, "d"));
	CHECK(!__itt_counter_create_v3(NULL, "c", __itt_metadata_u64));
	CHECK(!__itt_histogram_create(NULL, "h", __itt_metadata_u64, __itt_metadata_u64));
	__itt_bind_context_metadata_to_counter(NULL, 1, NULL);
}

static void objects_without_a_name_are_refused(void **state)
{
	(void)state;
	assert_int_equal(alone(null_names, ENV(COLLECTOR(FAKE_V2))), 0);
	assert_int_equal(alone(null_names, no_env), 0);
}

/* ---- Groups and older collectors ------------------------------------------------------------ */

static void groups_without_a_path(void)
{
	__itt_domain *d = __itt_domain_create("d");

	CHECK(d && d->flags);
	__itt_task_begin(d, __itt_null, __itt_null, NULL);
	CHECK(seen.opened == 1 && !strcmp(seen.path, "libittnotify.so"));
}

static void groups_alone_ask_for_the_default_collector(void **state)
{
	(void)state;
	assert_int_equal(alone(groups_without_a_path, ENV("INTEL_ITTNOTIFY_GROUPS=all")), 0);
	assert_int_equal(alone(groups_without_a_path, ENV("KMP_FOR_TCHECK=1")), 0);
	assert_int_equal(alone(groups_without_a_path, ENV("KMP_FOR_TPROFILE=1")), 0);
}

static void only_sync(void)
{
	__itt_set_error_handler(note_error);
	__itt_sync_prepare(errors);
	__itt_fsync_prepare(errors);
	CHECK(seen.syncs == 1);
	CHECK(!__itt_task_begin_ptr && !__itt_fsync_prepare_ptr);
	CHECK(errors[__itt_error_no_symbol] > 0);
	CHECK(!errors[__itt_error_unknown_group]);
}

static void sync_and_structure(void)
{
	__itt_set_error_handler(note_error);
	__itt_sync_prepare(errors);
	CHECK(seen.syncs == 1);
	CHECK(__itt_task_begin_ptr);
	CHECK(errors[__itt_error_unknown_group] == 1);
}

static void only_control(void)
{
	CHECK(__itt_init_ittlib(NULL, __itt_group_control)); /* api_version is in every group */
	CHECK(seen.opened == 1);
	CHECK(!__itt_sync_prepare_ptr && !__itt_task_begin_ptr);
}

static void nothing_bound(void)
{
	__itt_sync_prepare(errors);
	CHECK(seen.opened == 1 && seen.syncs == 0);
	CHECK(!__itt_task_begin_ptr && !__itt_sync_prepare_ptr);
}

static void version_1_collector_gets_the_groups_asked_for(void **state)
{
	(void)state;
	assert_int_equal(alone(only_sync, ENV(COLLECTOR(FAKE_V1), "INTEL_ITTNOTIFY_GROUPS=sync")),
			 0);
	assert_int_equal(
		alone(sync_and_structure,
		      ENV(COLLECTOR(FAKE_V1), "INTEL_ITTNOTIFY_GROUPS=;sync, bogus structure")),
		0);
	assert_int_equal(alone(only_control, ENV(COLLECTOR(FAKE_V1), "INTEL_ITTNOTIFY_GROUPS=all")),
			 0);
	assert_int_equal(alone(nothing_bound, ENV(COLLECTOR(FAKE_V1))), 0);
}

static void old_names(void)
{
	__itt_notify_sync_prepare(errors);
	__itt_sync_prepare(errors);
	CHECK(seen.syncs == 2);
	CHECK(!__itt_fsync_prepare_ptr && !__itt_task_begin_ptr);
	__itt_thread_ignore();
	__itt_thr_ignore();
	CHECK(__itt_thr_name_set("t", 1) == 0);
}

static void oldest_collectors_serve_the_newer_names(void **state)
{
	(void)state;
	assert_int_equal(alone(old_names, ENV(COLLECTOR(FAKE_V0))), 0);
}

static void library_without_itt(void)
{
	__itt_domain *d = __itt_domain_create("d");

	__itt_task_begin(d, __itt_null, __itt_null, NULL);
	CHECK(!__itt_task_begin_ptr && !__itt_sync_prepare_ptr);
}

static void any_library_may_be_named_as_collector(void **state)
{
	(void)state;
	assert_int_equal(alone(library_without_itt, ENV(COLLECTOR("libm.so.6"))), 0);
}

/* ---- Calls whose stub does more than pass them on ------------------------------------------- */

static void format_first(void)
{
	__itt_domain *d = __itt_domain_create("d");
	__itt_string_handle *f = __itt_string_handle_create("%s=%d/%.1f");

	__itt_formatted_metadata_add(d, f, "x", 7, 2.5);
	CHECK(!strcmp(seen.text, "x=7/2.5"));
	__itt_formatted_metadata_add(d, f, "y", 8, 3.5);
	CHECK(!strcmp(seen.text, "y=8/3.5"));
}

static void first_call_may_be_formatted_metadata(void **state)
{
	(void)state;
	assert_int_equal(alone(format_first, ENV(COLLECTOR(FAKE_V2))), 0);
}

static void module_first(void)
{
	__itt_module_object module = { 0 };

	__itt_module_load_with_sections(NULL);
	CHECK(seen.init == 1);
	__itt_fini_ittlib();
	__itt_module_load_with_sections(&module);
	CHECK(seen.module_version == 1);
}

static void modules_are_stamped_with_their_version(void **state)
{
	(void)state;
	assert_int_equal(alone(module_first, ENV(COLLECTOR(FAKE_V2))), 0);
}

static void disabled(void)
{
	__itt_domain *d = __itt_domain_create("d");

	__itt_resume();
	d->flags = 0;
	__itt_task_begin(d, __itt_null, __itt_null, NULL);
	CHECK(seen.tasks == 0);
	d->flags = 1;
	__itt_task_begin(d, __itt_null, __itt_null, NULL);
	CHECK(seen.tasks == 1);
}

static void disabled_domain_makes_no_call(void **state)
{
	(void)state;
	assert_int_equal(alone(disabled, ENV(COLLECTOR(FAKE_V2))), 0);
}

static void evaluate(void)
{
	__itt_domain *domains[] = { __itt_domain_create("d"), NULL };
	__itt_domain **at = domains;

	__itt_task_begin(*at++, __itt_null, __itt_null, NULL);
	CHECK(seen.tasks == 1 && at == domains + 1);
	__itt_task_begin(*at++, __itt_null, __itt_null, NULL);
	CHECK(seen.tasks == 1 && at == domains + 2);
}

static void domain_is_evaluated_once(void **state)
{
	(void)state;
	assert_int_equal(alone(evaluate, ENV(COLLECTOR(FAKE_V2))), 0);
}

UT_TESTS(static_part)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_has_156_entries_and_152_distinct_names),
		cmocka_unit_test(every_entry_has_its_pointer_in_the_header),
		cmocka_unit_test(without_a_collector_calls_do_nothing),
		cmocka_unit_test(wrong_path_leaves_early_handles_valid),
		cmocka_unit_test(path_longer_than_any_path_is_ignored),
		cmocka_unit_test(collector_is_notified_once_about_a_proper_copy),
		cmocka_unit_test(collector_finds_every_entry_in_the_table),
		cmocka_unit_test(init_ittlib_says_whether_anybody_listens),
		cmocka_unit_test(collector_may_call_itt_while_it_starts),
		cmocka_unit_test(fini_silences_all_and_pause_starts_again),
		cmocka_unit_test(errno_is_left_as_found),
		cmocka_unit_test(racing_first_calls_start_once_and_lose_nothing),
		cmocka_unit_test(early_objects_wait_in_the_lists_for_the_collector),
		cmocka_unit_test(objects_without_a_name_are_refused),
		cmocka_unit_test(groups_alone_ask_for_the_default_collector),
		cmocka_unit_test(version_1_collector_gets_the_groups_asked_for),
		cmocka_unit_test(oldest_collectors_serve_the_newer_names),
		cmocka_unit_test(any_library_may_be_named_as_collector),
		cmocka_unit_test(first_call_may_be_formatted_metadata),
		cmocka_unit_test(modules_are_stamped_with_their_version),
		cmocka_unit_test(disabled_domain_makes_no_call),
		cmocka_unit_test(domain_is_evaluated_once),
	};

	/* The tests choose the environment, whoever runs them. */
	unsetenv("INTEL_LIBITTNOTIFY64");
	unsetenv("INTEL_ITTNOTIFY_GROUPS");
	unsetenv("KMP_FOR_TPROFILE");
	unsetenv("KMP_FOR_TCHECK");
	return cmocka_run_group_tests_name("sdk/static_part", tests, NULL, NULL);
}
