/*
 * every_call.c - calls every ITT function at least once, each with names and values of its own,
 * so that test_api.py can look for each in the timeline. One function per topic.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ittnotify.h>
#include <jitprofiling.h>

static __itt_domain *domain;

static __itt_string_handle *text(const char *s)
{
	return __itt_string_handle_create(s);
}

static __itt_id id_of(unsigned long long n)
{
	return __itt_id_make(NULL, n);
}

static void begin(const char *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, text(name));
}

static void end(void)
{
	__itt_task_end(domain);
}

static __attribute__((noinline)) void a_named_function(void)
{
	usleep(1000);
}

static void tasks(void)
{
	__itt_task_group(domain, id_of(9), __itt_null, text("the group"));
	__itt_task_begin(domain, id_of(10), id_of(9), text("task with id"));
	begin("task inside");
	end();
	__itt_task_end(domain);
	__itt_task_begin(domain, id_of(11), id_of(10), text("task with parent"));
	__itt_task_end(domain);
	__itt_task_begin_fn(domain, __itt_null, __itt_null, (void *)a_named_function);
	a_named_function();
	__itt_task_end(domain);
	begin("task given an id");
	__itt_id_create(domain, id_of(12));
	__itt_metadata_str_add(domain, id_of(12), text("by id"), "found", (size_t)-1);
	end();
	__itt_id_destroy(domain, id_of(12));
}

static void *end_elsewhere(void *unused)
{
	__itt_task_end_overlapped(domain, id_of(21));
	return unused;
}

static void overlapped(void)
{
	pthread_t thread;

	__itt_task_begin_overlapped(domain, id_of(20), __itt_null, text("overlapped a"));
	__itt_task_begin_overlapped(domain, id_of(21), id_of(20), text("overlapped b"));
	__itt_metadata_str_add(domain, id_of(21), text("colour"), "green", 5);
	__itt_formatted_metadata_add_overlapped(domain, id_of(20), text("%s %d"), "formatted", -7);
	__itt_task_end_overlapped(domain, id_of(20));
	if (!pthread_create(&thread, NULL, end_elsewhere, NULL))
		pthread_join(thread, NULL);
}

static void regions(void)
{
	__itt_region_begin(domain, id_of(30), __itt_null, text("region"));
	usleep(1000);
	__itt_region_end(domain, id_of(30));
}

static void frames(void)
{
	__itt_domain *d3 = __itt_domain_create("frames.v3"),
		     *ds = __itt_domain_create("frames.sent");
	__itt_frame v1 = __itt_frame_create("frames.v1");
	__itt_id id = id_of(40);
	__itt_timestamp from, to;

	__itt_frame_begin_v3(d3, &id);
	usleep(1000);
	__itt_frame_end_v3(d3, &id);
	__itt_frame_begin_v3(d3, NULL);
	__itt_frame_begin_v3(d3, NULL); /* ends the one before */
	__itt_frame_end_v3(d3, NULL);
	from = __itt_get_timestamp();
	usleep(2000);
	to = __itt_get_timestamp();
	__itt_frame_submit_v3(ds, NULL, from, to);
	__itt_frame_submit_v3(ds, NULL, to, __itt_timestamp_none);
	__itt_frame_begin(v1);
	__itt_frame_end(v1);
}

static void markers(void)
{
	__itt_marker(domain, __itt_null, text("marker global"), __itt_scope_global);
	__itt_marker(domain, __itt_null, text("marker process"), __itt_scope_track_group);
	__itt_marker(domain, id_of(50), text("marker thread"), __itt_scope_track);
	__itt_marker(domain, __itt_null, text("marker task"), __itt_scope_task);
}

static void marks_and_events(void)
{
	__itt_mark_type timestamp = __itt_mark_create("mark moment");
	__itt_mark_type span = __itt_mark_create("mark span");
	__itt_mark_type global = __itt_mark_create("mark global");
	__itt_event event = __itt_event_create("event span", 10);
	__itt_event single = __itt_event_create("event moment and more", 12);

	__itt_mark(timestamp, "a parameter");
	__itt_mark(span, NULL);
	__itt_mark_off(span);
	__itt_mark_global(global, "global parameter");
	__itt_mark_global_off(global);
	if (__itt_event_start(event) || __itt_event_end(event) || __itt_event_start(single))
		puts("an event call failed");
}

static void metadata(void)
{
	uint64_t u64 = 18446744073709551615ull;
	int64_t s64[] = { -9223372036854775807ll - 1, 2 };
	uint32_t u32 = 4294967295u;
	int32_t s32 = -2147483647;
	uint16_t u16 = 65535;
	int16_t s16[] = { -32768, 0, 32767 };
	float f = 0.5f;
	double d[] = { 0.1, -1e300 };

	begin("metadata");
	__itt_metadata_add(domain, __itt_null, text("u64"), __itt_metadata_u64, 1, &u64);
	__itt_metadata_add(domain, __itt_null, text("s64"), __itt_metadata_s64, 2, s64);
	__itt_metadata_add(domain, __itt_null, text("u32"), __itt_metadata_u32, 1, &u32);
	__itt_metadata_add(domain, __itt_null, text("s32"), __itt_metadata_s32, 1, &s32);
	__itt_metadata_add(domain, __itt_null, text("u16"), __itt_metadata_u16, 1, &u16);
	__itt_metadata_add(domain, __itt_null, text("s16"), __itt_metadata_s16, 3, s16);
	__itt_metadata_add(domain, __itt_null, text("float"), __itt_metadata_float, 1, &f);
	__itt_metadata_add(domain, __itt_null, text("double"), __itt_metadata_double, 2, d);
	__itt_metadata_add(domain, __itt_null, text("nothing"), __itt_metadata_u64, 0, &u64);
	__itt_metadata_str_add(domain, __itt_null, text("cut"), "abcdef", 3);
	__itt_metadata_str_add(domain, __itt_null, text("whole"), "abcdef", (size_t)-1);
	end();

	begin("formatted");
	__itt_formatted_metadata_add(
		domain, text("[%s] %d %u %hd %hu %ld %lu %lld %llu %.2f %lf %%"), "text", -1, 2u,
		(short)-3, (unsigned short)4, -5l, 6ul, -7ll, 8ull, 9.25, 10.5);
	end();

	u32 = 7;
	__itt_metadata_add_with_scope(domain, __itt_scope_global, text("global number"),
				      __itt_metadata_u32, 1, &u32);
	__itt_metadata_str_add_with_scope(domain, __itt_scope_track, text("thread text"), "of main",
					  (size_t)-1);
	begin("scoped");
	__itt_metadata_str_add_with_scope(domain, __itt_scope_task, text("task text"), "of task",
					  (size_t)-1);
	end();
}

static void relations(void)
{
	__itt_task_begin(domain, id_of(60), __itt_null, text("cause"));
	__itt_task_end(domain);
	__itt_task_begin(domain, id_of(61), __itt_null, text("effect"));
	__itt_relation_add_to_current(domain, __itt_relation_is_dependent_on, id_of(60));
	__itt_task_end(domain);
	__itt_task_begin(domain, id_of(62), __itt_null, text("first"));
	__itt_task_end(domain);
	__itt_task_begin(domain, id_of(63), __itt_null, text("second"));
	__itt_task_end(domain);
	__itt_relation_add(domain, id_of(62), __itt_relation_is_predecessor_to, id_of(63));
	__itt_task_begin(domain, id_of(64), __itt_null, text("first ex"));
	__itt_task_end(domain);
	__itt_task_begin(domain, id_of(65), __itt_null, text("second ex"));
	__itt_relation_add_to_current_ex(domain, NULL, 0, __itt_relation_is_continuation_of,
					 id_of(64));
	__itt_task_end(domain);
	__itt_relation_add_ex(domain, NULL, 0, id_of(64), __itt_relation_is_parent_of, id_of(65));
}

/* A clock of 1 MHz that stood at 5000000 when it was asked. */
static void clock_info(__itt_clock_info *info, void *data)
{
	++*(int *)data;
	info->clock_freq = 1000000;
	info->clock_base = 5000000;
}

static int asked;

static void clocks(void)
{
	__itt_clock_domain *clock = __itt_clock_domain_create(clock_info, &asked);
	__itt_domain *d = __itt_domain_create("clocked");
	__itt_counter counter = __itt_counter_create("clocked counter", "api");
	uint64_t value = 77;

	__itt_clock_domain_reset();
	printf("clock asked %d times\n", asked);
	__itt_id_create_ex(d, clock, 5000100, id_of(70));
	__itt_task_begin_ex(d, clock, 5001000, id_of(70), __itt_null, text("clock task"));
	__itt_task_end_ex(d, clock, 5003500);
	__itt_task_begin_fn_ex(domain, clock, 5004000, __itt_null, __itt_null,
			       (void *)a_named_function);
	__itt_task_end_ex(domain, clock, 5004600);
	__itt_task_begin_overlapped_ex(d, clock, 5005000, id_of(71), __itt_null,
				       text("clock overlapped"));
	__itt_task_end_overlapped_ex(d, clock, 5006000, id_of(71));
	__itt_marker_ex(d, clock, 5007000, __itt_null, text("clock marker"), __itt_scope_global);
	__itt_counter_set_value_ex(counter, clock, 5008000, &value);
	__itt_id_destroy_ex(d, clock, 5009000, id_of(70));
}

static void set(const char *name, __itt_metadata_type type, void *value)
{
	__itt_counter_set_value(__itt_counter_create_typed(name, "api", type), value);
}

static void describe(__itt_counter counter)
{
	char name[] = "the name", units[] = "bytes", device[] = "disk", pci[] = "0000:00:1f.0";
	uint64_t max = 1000, tid = 1, yes = 1;
	__itt_context_metadata list[] = {
		{ __itt_context_name, name },
		{ __itt_context_units, units },
		{ __itt_context_device, device },
		{ __itt_context_pci_addr, pci },
		{ __itt_context_tid, &tid },
		{ __itt_context_max_val, &max },
		{ __itt_context_bandwidth_flag, &yes },
		{ __itt_context_is_abs_val_flag, &yes },
	};

	__itt_bind_context_metadata_to_counter(counter, sizeof(list) / sizeof(list[0]), list);
}

static void counters(void)
{
	__itt_counter plain = __itt_counter_create("plain", "api"), v3;
	uint64_t u64 = 18446744073709551615ull, twelve = 12;
	int64_t s64 = -9223372036854775807ll;
	uint32_t u32 = 4000000000u;
	int32_t s32 = -2000000000;
	uint16_t u16 = 60000;
	int16_t s16 = -30000;
	float f = 0.25f;
	double d = -1.5e10;

	__itt_counter_inc(plain);
	__itt_counter_inc_delta(plain, 10);
	__itt_counter_dec(plain);
	__itt_counter_dec_delta(plain, 4);
	set("u64", __itt_metadata_u64, &u64);
	set("s64", __itt_metadata_s64, &s64);
	set("u32", __itt_metadata_u32, &u32);
	set("s32", __itt_metadata_s32, &s32);
	set("u16", __itt_metadata_u16, &u16);
	set("s16", __itt_metadata_s16, &s16);
	set("float", __itt_metadata_float, &f);
	set("double", __itt_metadata_double, &d);
	v3 = __itt_counter_create_v3(domain, "v3", __itt_metadata_u64);
	__itt_counter_set_value_v3(v3, &twelve);
	__itt_counter_inc_v3(domain, text("v3 by name"));
	__itt_counter_inc_delta_v3(domain, text("v3 by name"), 5);
	__itt_counter_dec_v3(domain, text("v3 by name"));
	__itt_counter_dec_delta_v3(domain, text("v3 by name"), 2);
	describe(__itt_counter_create("described", "api"));
	__itt_counter_inc_delta(__itt_counter_create("described", "api"), 512);
	__itt_counter_destroy(plain);
}

static void histograms(void)
{
	__itt_histogram *h = __itt_histogram_create(domain, "histogram", __itt_metadata_double,
						    __itt_metadata_u32);
	__itt_histogram *plain =
		__itt_histogram_create(domain, "series", __itt_metadata_u64, __itt_metadata_s16);
	double x[] = { 0.5, 1.5, 2.5 };
	uint32_t y[] = { 1, 20, 300 };
	int16_t series[] = { -1, 2 };

	__itt_histogram_submit(h, 3, x, y);
	__itt_histogram_submit(plain, 2, NULL, series);
}

static void *name_threads(void *unused)
{
	__itt_thr_name_set("older name and more", 10);
	begin("on older name");
	end();
	__itt_thr_ignore();
	begin("ignored");
	end();
	return unused;
}

static void *ignore_thread(void *unused)
{
	begin("before ignore");
	end();
	__itt_thread_ignore();
	begin("ignored");
	end();
	return unused;
}

static void run(void *(*body)(void *))
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, body, NULL))
		pthread_join(thread, NULL);
}

static void threads(void)
{
	__itt_thread_set_name("the main thread");
	run(name_threads);
	run(ignore_thread);
}

static void tracks(void)
{
	__itt_track_group *group =
		__itt_track_group_create(text("group"), __itt_track_group_type_normal);
	__itt_track *track = __itt_track_create(group, text("row"), __itt_track_type_normal);

	__itt_set_track(track);
	begin("on the row");
	end();
	__itt_set_track(NULL);
	begin("back on the thread");
	end();
}

static void control(void)
{
	begin("before pause");
	end();
	__itt_pause();
	begin("in pause");
	end();
	__itt_resume();
	begin("after resume");
	end();
	__itt_pause_scoped(__itt_collection_scope_host);
	begin("in scoped pause");
	end();
	__itt_resume_scoped(__itt_collection_scope_host);
	__itt_pause_scoped(__itt_collection_scope_offload);
	begin("in offload pause");
	end();
	__itt_resume_scoped(__itt_collection_scope_all);
	__itt_enable_attach();
}

static void sync_objects(void)
{
	static int lock, renamed, older, oldest, plain;

	__itt_sync_create(&lock, "Mutex", "my lock", __itt_attr_mutex);
	__itt_sync_prepare(&lock);
	__itt_sync_acquired(&lock);
	__itt_sync_releasing(&lock);
	__itt_sync_create(&renamed, "Barrier", "wrong", __itt_attr_barrier);
	__itt_sync_rename(&renamed, "right");
	__itt_sync_prepare(&renamed);
	__itt_sync_cancel(&renamed);
	__itt_sync_destroy(&renamed);
	__itt_sync_set_name(&older, "Older", "name", 0);
	__itt_fsync_prepare(&older);
	__itt_fsync_acquired(&older);
	__itt_fsync_prepare(&older);
	__itt_fsync_cancel(&older);
	__itt_fsync_releasing(&older);
	__itt_notify_sync_name(&oldest, "Oldest xxx", 6, "legacy yyy", 6, 0);
	__itt_notify_sync_prepare(&oldest);
	__itt_notify_sync_acquired(&oldest);
	__itt_notify_sync_prepare(&plain);
	__itt_notify_sync_cancel(&plain);
	__itt_notify_sync_releasing(&plain);
}

static __itt_caller caller;

static void *callee(void *unused)
{
	__itt_stack_callee_enter(caller);
	begin("callee");
	end();
	__itt_stack_callee_leave(caller);
	return unused;
}

static void stitch(void)
{
	begin("caller");
	caller = __itt_stack_caller_create();
	end();
	run(callee);
	__itt_stack_caller_destroy(caller);
}

static void heap(void)
{
	__itt_heap_function h = __itt_heap_function_create("pool", "api");
	int a, b;
	void *p = &a, *q = &b;

	__itt_heap_allocate_begin(h, 100, 0);
	__itt_heap_allocate_end(h, &p, 100, 0);
	__itt_heap_reallocate_begin(h, p, 250, 0);
	__itt_heap_reallocate_end(h, p, &q, 250, 0);
	__itt_heap_internal_access_begin();
	__itt_heap_internal_access_end();
	__itt_heap_free_begin(h, q);
	__itt_heap_free_end(h, q);
	__itt_heap_record_memory_growth_begin();
	__itt_heap_record_memory_growth_end();
	__itt_heap_reset_detection(__itt_heap_leaks);
	__itt_heap_record(__itt_heap_leaks | __itt_heap_growth);
}

static void modules(void)
{
	__itt_section_info section = {
		"text", itt_section_type_text, __itt_section_exec, (void *)0x30000, 0x1000, 0
	};
	__itt_module_object module = { .module_type = __itt_module_type_elf,
				       .module_name = "/made/up/sections.so",
				       .section_array = &section,
				       .section_number = 1 };

	__itt_module_load((void *)0x10000, (void *)0x20000, "/made/up.so");
	__itt_module_unload((void *)0x10000);
	__itt_module_load_with_sections(&module);
	__itt_module_unload_with_sections(&module);
}

static void model_names(void)
{
	__itt_model_site site = NULL;
	__itt_model_site_instance site_instance = NULL;
	__itt_model_task task = NULL;
	__itt_model_task_instance task_instance = NULL;

	__itt_model_site_begin(&site, &site_instance, "model site");
	__itt_model_task_begin(&task, &task_instance, "model task");
	__itt_model_task_end(&task, &task_instance);
	__itt_model_site_end(&site, &site_instance);
	__itt_model_site_beginA("model site A");
	__itt_model_task_beginA("model task A");
	__itt_model_task_end_2();
	__itt_model_iteration_taskA("iteration A");
	__itt_model_iteration_taskAL("iteration AL and more", 12);
	__itt_model_site_end_2();
	__itt_model_site_beginAL("model site AL and more", 13);
	__itt_model_task_beginAL("model task AL and more", 13);
	__itt_model_task_end_2();
	__itt_model_site_end_2();
}

static void model_hints(void)
{
	static int thing;

	__itt_model_lock_acquire(&thing);
	__itt_model_lock_release(&thing);
	__itt_model_lock_acquire_2(&thing);
	__itt_model_lock_release_2(&thing);
	__itt_model_record_allocation(&thing, sizeof(thing));
	__itt_model_record_deallocation(&thing);
	__itt_model_induction_uses(&thing, sizeof(thing));
	__itt_model_reduction_uses(&thing, sizeof(thing));
	__itt_model_observe_uses(&thing, sizeof(thing));
	__itt_model_clear_uses(&thing);
	__itt_model_disable_push(__itt_model_disable_observation);
	__itt_model_disable_pop();
	__itt_model_aggregate_task(3);
}

/* What is told to checkers: moments, and answers that let the caller go on. */
static void hints(void)
{
	static int thing[2];
	const int dimensions[] = { 2 };

	__itt_suppress_push(__itt_suppress_all_errors);
	__itt_suppress_pop();
	__itt_suppress_mark_range(__itt_suppress_range, __itt_suppress_all_errors, thing, 8);
	__itt_suppress_clear_range(__itt_unsuppress_range, __itt_suppress_all_errors, thing, 8);
	__itt_av_save(thing, 1, dimensions, __itt_e_int32, "no-file.txt", 0);
	__itt_memory_read(thing, 8);
	__itt_memory_write(thing, 8);
	__itt_memory_update(thing, 8);
	__itt_state_set(7);
	printf("states %d %d", __itt_state_get(), __itt_state_set(__itt_state_get()));
	printf(" %d", (int)__itt_thr_mode_set(__itt_thr_prop_quiet, __itt_thr_state_set));
	printf(" %d", (int)__itt_thr_mode_set(__itt_thr_prop_quiet, __itt_thr_state_clr));
	printf(" %d", (int)__itt_obj_mode_set(__itt_obj_prop_ignore, __itt_obj_state_use));
	printf(" %d\n", (int)__itt_obj_mode_set(__itt_obj_prop_ignore, __itt_obj_state_clr));
	__itt_enable_attach();
	__itt_mark_pt_region_begin(__itt_pt_region_create("pt region"));
	__itt_mark_pt_region_end(0);
	printf("version %s, state %d\n", __itt_api_version() ? "known" : "unknown",
	       (int)__itt_get_collection_state());
}

static void jit(void)
{
	static char name[] = "jit_loop", class_name[] = "Jit", file[] = "jit.src",
		    module[] = "engine";
	LineNumberInfo lines[] = { { 8, 1 }, { 16, 2 } };
	iJIT_Method_Load load = { .method_id = iJIT_GetNewMethodID(),
				  .method_name = name,
				  .method_load_address = (void *)0x7000,
				  .method_size = 64,
				  .line_number_size = 2,
				  .line_number_table = lines,
				  .class_file_name = class_name,
				  .source_file_name = file };
	static char name2[] = "jit_v2", name3[] = "jit_v3", inlined[] = "jit_inline";
	iJIT_Method_Load_V2 v2 = { .method_id = iJIT_GetNewMethodID(),
				   .method_name = name2,
				   .method_load_address = (void *)0x8000,
				   .method_size = 32,
				   .module_name = module };
	iJIT_Method_Load_V3 v3 = { .method_id = iJIT_GetNewMethodID(),
				   .method_name = name3,
				   .method_load_address = (void *)0x9000,
				   .method_size = 16,
				   .module_name = module,
				   .module_arch = iJIT_CA_64 };
	iJIT_Method_Inline_Load in = { .method_id = iJIT_GetNewMethodID(),
				       .parent_method_id = load.method_id,
				       .method_name = inlined,
				       .method_load_address = (void *)0x7008,
				       .method_size = 8 };

	printf("jit %d", (int)iJIT_IsProfilingActive());
	printf(" %d", iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED, &load));
	printf(" %d", iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V2, &v2));
	printf(" %d", iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V3, &v3));
	printf(" %d", iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_INLINE_LOAD_FINISHED, &in));
	printf(" %d\n", iJIT_NotifyEvent(iJVM_EVENT_TYPE_METHOD_UNLOAD_START, &load));
	iJIT_NotifyEvent(iJVM_EVENT_TYPE_SHUTDOWN, NULL);
}

int main(void)
{
	domain = __itt_domain_create("api");
	tasks();
	overlapped();
	regions();
	frames();
	markers();
	marks_and_events();
	metadata();
	relations();
	clocks();
	counters();
	histograms();
	threads();
	tracks();
	control();
	sync_objects();
	stitch();
	heap();
	modules();
	model_names();
	model_hints();
	hints();
	jit();
	begin("last");
	end();
	__itt_detach();
	begin("after detach");
	end();
	__itt_release_resources();
	return 0;
}
