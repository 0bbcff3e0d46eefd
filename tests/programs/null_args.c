/* null_args.c - NULL, nonsense, giants and bad UTF-8 wherever the API takes something. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ittnotify.h>

#define GIANT 65536

static __itt_domain *d;
static int failures;

static void check(int ok, const char *what)
{
	if (!ok)
		printf("failed: %s\n", what), failures++;
}

static __itt_string_handle *text(const char *s)
{
	return __itt_string_handle_create(s);
}

static void task(const char *name)
{
	__itt_task_begin(d, __itt_null, __itt_null, text(name));
	__itt_task_end(d);
}

static void tasks(void)
{
	__itt_task_begin(NULL, __itt_null, __itt_null, NULL);
	__itt_task_end(NULL);
	__itt_task_begin(d, __itt_null, __itt_null, NULL);
	__itt_task_end(d);
	__itt_task_begin_fn(d, __itt_null, __itt_null, NULL);
	__itt_task_end(d);
	__itt_task_begin_overlapped(d, __itt_null, __itt_null, NULL);
	__itt_task_end_overlapped(d, __itt_null);
	__itt_task_group(d, __itt_null, __itt_null, NULL);
	__itt_region_begin(d, __itt_null, __itt_null, NULL);
	__itt_region_end(d, __itt_null);
	__itt_id_create(d, __itt_null);
	__itt_id_destroy(d, __itt_null);
	__itt_frame_begin_v3(NULL, NULL);
	__itt_frame_end_v3(NULL, NULL);
	__itt_frame_submit_v3(d, NULL, 0, 0);
	__itt_frame_submit_v3(d, NULL, 1ull << 63, 5);
	__itt_frame_begin(NULL);
	__itt_frame_end(NULL);
	__itt_frame_create(NULL);
	__itt_marker(d, __itt_null, NULL, (__itt_scope)77);
	__itt_relation_add(d, __itt_null, (__itt_relation)99, __itt_null);
	__itt_relation_add_to_current(d, __itt_relation_is_child_of, __itt_null);
}

static void arguments(void)
{
	__itt_metadata_add(d, __itt_null, NULL, __itt_metadata_u64, 1, NULL);
	__itt_metadata_add(d, __itt_null, text("k"), (__itt_metadata_type)55, 1, &failures);
	__itt_metadata_str_add(d, __itt_null, NULL, NULL, (size_t)-1);
	__itt_metadata_str_add(d, __itt_null, NULL, "orphan", (size_t)-1);
	__itt_metadata_add_with_scope(d, (__itt_scope)66, NULL, __itt_metadata_u32, 1, &failures);
	__itt_metadata_str_add_with_scope(d, __itt_scope_global, NULL, NULL, 0);
	__itt_formatted_metadata_add(d, NULL);
	__itt_task_begin(d, __itt_null, __itt_null, text("null text"));
	__itt_formatted_metadata_add(d, text("value %s end"), (char *)NULL);
	__itt_task_end(d);
	__itt_formatted_metadata_add_overlapped(d, __itt_null, NULL);
}

static void numbers(void)
{
	__itt_counter c = __itt_counter_create(NULL, NULL),
		      nameless = __itt_counter_create("c", NULL);

	__itt_counter_inc(c);
	__itt_counter_inc(NULL);
	__itt_counter_set_value(nameless, NULL);
	__itt_counter_set_value(NULL, NULL);
	__itt_counter_inc(nameless);
	__itt_counter_inc_v3(NULL, NULL);
	__itt_counter_inc_v3(d, NULL);
	__itt_counter_destroy(NULL);
	__itt_bind_context_metadata_to_counter(NULL, 1, NULL);
	__itt_bind_context_metadata_to_counter(nameless, 3, NULL);
	__itt_histogram_submit(NULL, 5, NULL, NULL);
	__itt_histogram_submit(
		__itt_histogram_create(NULL, NULL, __itt_metadata_unknown, __itt_metadata_unknown),
		5, NULL, NULL);
	__itt_set_track(__itt_track_create(NULL, NULL, __itt_track_type_normal));
	task("on a track without a name");
	__itt_set_track(NULL);
	__itt_track_group_create(NULL, __itt_track_group_type_normal);
	__itt_clock_domain_create(NULL, NULL);
}

static void names(void)
{
	__itt_mark_type mark = __itt_mark_create(NULL);
	__itt_event event = __itt_event_create(NULL, 5);

	check(event > 0, "an event has a positive number");
	check(!__itt_event_start(event) && !__itt_event_end(event), "event calls return 0");
	check(!__itt_event_start(-1) && !__itt_event_end(12345678), "also for unknown events");
	check(__itt_event_create("", 0) > 0, "also for an empty name");
	__itt_mark(mark, NULL);
	__itt_mark_off(mark);
	__itt_mark(__itt_mark_create("null mark"), NULL);
	__itt_mark_global(-5, NULL);
	__itt_thread_set_name(NULL);
	__itt_thr_name_set(NULL, 5);
	__itt_thr_name_set("x", -1);
	__itt_sync_create(NULL, NULL, NULL, 0);
	__itt_sync_prepare(NULL);
	__itt_sync_acquired(NULL);
	__itt_notify_sync_name(NULL, NULL, 1, NULL, 1, 0);
	__itt_stack_callee_enter(NULL);
	__itt_heap_allocate_end(NULL, NULL, 1, 0);
	__itt_heap_free_end(__itt_heap_function_create(NULL, NULL), NULL);
	__itt_module_load(NULL, NULL, NULL);
	__itt_module_load_with_sections(NULL);
	__itt_model_site_beginA(NULL);
	__itt_model_site_end_2();
	__itt_model_task_end_2();
}

static void giants(void)
{
	char *giant = malloc(GIANT + 1);

	if (!giant)
		return;
	memset(giant, 'g', GIANT);
	giant[GIANT] = '\0';
	task(giant);
	__itt_task_begin(d, __itt_null, __itt_null, text("giant argument"));
	__itt_metadata_str_add(d, __itt_null, text("giant"), giant, (size_t)-1);
	__itt_formatted_metadata_add(d, text("%s"), giant);
	__itt_task_end(d);
	giant[4096] = '\0';
	task(giant);
	__itt_thread_set_name(giant);
	free(giant);
}

int main(void)
{
	char name[32];

	check(__itt_domain_create("first of all") != NULL, "a domain is one before we are there");
	check(__itt_domain_create("") != NULL, "a domain without a name is one");
	__itt_task_begin(NULL, __itt_null, __itt_null, NULL); /* loads the collector */
	(void)__itt_domain_create(NULL);
	(void)__itt_string_handle_create(NULL);
	d = __itt_domain_create("nulls, with \"quotes\"");
	check(d != NULL, "a domain is never NULL");
	tasks();
	arguments();
	numbers();
	names();
	giants();
	task("\xff\xfe broken \xc3( utf-8 \xed\xa0\x80 \xf8\x88\x80\x80\x80");
	task("quote \" backslash \\ newline \n tab \t bell \a nul-less \x7f");
	task("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	task("");
	for (int i = 0; i < 1000; i++) {
		__itt_domain *more;

		snprintf(name, sizeof(name), "domain %d", i);
		more = __itt_domain_create(name);
		check(more != NULL, "one of many domains");
		__itt_task_begin(more, __itt_null, __itt_null, text("in many domains"));
		__itt_task_end(more);
	}
	task("the end");
	printf("%d failures\n", failures);
	return 0;
}
