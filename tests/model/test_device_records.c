/* What devices did, typed: made of arguments once, or as a file has it if that fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/build.h"
#include "model/device_records.h"
#include "support/unit.h"

struct work {
	struct ut_build b;
	uint32_t program, device, queue, side;
};

static uint32_t string(struct work *w, const char *text)
{
	return ut_strtab_intern_z(&w->b.store.trace.strings, text);
}

static void start(struct work *w)
{
	struct ut_trace *t = &w->b.store.trace;

	ut_build_init(&w->b);
	w->program = ut_trace_add_track(t, ut_trace_add_process(t, 7), UT_TRACK_THREAD);
	w->device = ut_trace_add_process(t, 7);
	t->processes[w->device].kind = UT_PROCESS_DEVICE;
	w->queue = ut_trace_add_track(t, w->device, UT_TRACK_LANE);
	t->tracks[w->queue].role = UT_ROLE_QUEUE;
	w->side = ut_trace_add_track(t, w->device, UT_TRACK_LANE);
	t->tracks[w->side].role = UT_ROLE_SIDE;
}

/* Facts are "key" and a text, or a number if text is NULL; up to the first without a key. */
struct fact {
	const char *key, *text;
	uint64_t number;
};

static void add(struct work *w, uint32_t track, const char *cat, uint64_t ts,
		const struct fact *facts)
{
	const struct ut_type type = { .name = string(w, "gemm"), .cat = string(w, cat) };
	struct ut_arg args[16] = { 0 };
	size_t count = 0;

	for (; facts && facts->key; facts++) {
		args[count].key = string(w, facts->key);
		args[count].type = facts->text ? UT_ARG_STR : UT_ARG_U64;
		if (facts->text)
			args[count].value.str = string(w, facts->text);
		else
			args[count].value.u64 = facts->number;
		count++;
	}
	ut_build_add(&w->b, track, ts, 10, ut_types_intern(&w->b.store.types, &type),
		     ut_arglists_add(&w->b.store.args, args, count));
}

static void arguments_are_typed_once(void **state)
{
	static const struct fact kernel[] = { { "task", "step", 0 },
					      { "thread", NULL, 9 },
					      { "correlation", NULL, 4 },
					      { "queued", NULL, 80 },
					      { "submitted", NULL, 90 },
					      { "grid", "64x4x1", 0 },
					      { "block", "(256)", 0 },
					      { "registers", NULL, 32 },
					      { "static shared memory", NULL, 100 },
					      { "dynamic shared memory", NULL, 28 },
					      { "SIMD", NULL, 32 },
					      { 0 } };
	static const struct fact copy[] = { { "bytes", NULL, 4096 }, { 0 } };
	const struct ut_device_records *r;
	struct ut_device_record one;
	struct ut_store s;
	struct work w;

	(void)state;
	start(&w);
	add(&w, w.queue, "kernel", 100, kernel);
	add(&w, w.queue, "copy", 120, copy);
	add(&w, w.queue, "kernel", 140, kernel);
	ut_build_finish(&w.b, &s);
	r = ut_store_devices(&s);
	assert_ptr_equal(r, ut_store_devices(&s));
	assert_int_equal(r->count, 3);
	assert_int_equal(r->launch_count, 2); /* nothing, and that of both kernels */
	assert_int_equal(r->launch[0], r->launch[2]);
	assert_int_equal(r->row[2], 2);
	assert_int_equal(r->track[2], w.queue);
	one = ut_device_record_get(r, 0);
	assert_int_equal(one.kind, UT_DEVICE_KERNEL);
	assert_int_equal(one.correlation, 4);
	assert_int_equal(one.queued, 80);
	assert_int_equal(one.submitted, 90);
	assert_int_equal(one.thread, 9);
	assert_string_equal(ut_strtab_get(&s.trace.strings, one.task).ptr, "step");
	assert_int_equal(one.launch.grid[0], 64);
	assert_int_equal(one.launch.grid[1], 4);
	assert_int_equal(one.launch.block[0], 256);
	assert_int_equal(one.launch.block[1], 0);
	assert_int_equal(one.launch.registers, 32);
	assert_int_equal(one.launch.static_shared, 100);
	assert_int_equal(one.launch.dynamic_shared, 28);
	assert_int_equal(one.launch.lanes, 32);
	one = ut_device_record_get(r, 1);
	assert_int_equal(one.kind, UT_DEVICE_COPY);
	assert_int_equal(one.bytes, 4096);
	assert_int_equal(one.launch.grid[0], 0);
	ut_store_release(&s);
}

static void only_work_of_devices_has_a_record(void **state)
{
	static const struct fact called[] = { { "correlation", NULL, 4 }, { 0 } };
	struct ut_store s;
	struct work w;

	(void)state;
	start(&w);
	add(&w, w.program, "kernel", 100, NULL);   /* somebody else's word */
	add(&w, w.program, "kernel", 120, called); /* torch.profiler */
	add(&w, w.program, "copy", 140, called);
	add(&w, w.queue, "train", 100, NULL);
	add(&w, w.side, "sync", 100, NULL);
	add(&w, w.side, "copy", 120, NULL);
	ut_build_finish(&w.b, &s);
	assert_int_equal(ut_store_devices(&s)->count, 2);
	assert_int_equal(ut_store_devices(&s)->track[0], w.program);
	assert_int_equal(ut_store_devices(&s)->row[0], 1);
	assert_int_equal(ut_store_devices(&s)->track[1], w.side);
	ut_store_release(&s);
}

static void sizes_may_be_arrays_and_of_any_text(void **state)
{
	static const struct {
		const char *text;
		const char *shown;
	} sizes[] = { { "64x1x1", "64x1x1" },
		      { "[64, 2]", "64x2" },
		      { "none", "" },
		      { "", "" },
		      { "1,2,3,4", "1x2x3" } };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ut_device_record r = { 0 };
		struct ut_arena arena = { 0 };
		struct ut_buf text = { 0 };
		struct ut_strtab strings;
		struct ut_arg a = { .type = UT_ARG_STR };

		ut_strtab_init(&strings, &arena);
		a.value.str = ut_strtab_intern_z(&strings, sizes[i].text);
		ut_device_record_put(&r, &strings, ut_device_field_called(ut_str_of("grid")), &a);
		ut_device_size_text(&text, r.launch.grid);
		assert_string_equal(text.data ? text.data : "", sizes[i].shown);
		ut_buf_release(&text);
		a = (struct ut_arg){ .type = UT_ARG_U64, .flags = UT_ARG_ARRAY };
		for (a.value.u64 = 3; a.value.u64 < 8; a.value.u64++)
			ut_device_record_put(&r, &strings,
					     ut_device_field_called(ut_str_of("block")), &a);
		ut_device_size_text(&text, r.launch.block);
		assert_string_equal(text.data, "3x4x5");
		ut_buf_release(&text);
		ut_arena_release(&arena);
	}
}

/* A store whose file has these records. */
static void save(struct ut_store *s, void *columns, size_t count,
		 const struct ut_device_launch *launch)
{
	s->saved_devices = ut_make(sizeof(*s->saved_devices));
	ut_device_records_map(s->saved_devices, columns, count);
	s->saved_devices->launches = launch;
	s->saved_devices->launch_count = 1;
}

static void records_of_a_file_that_do_not_fit_are_made_anew(void **state)
{
	static const struct fact called[] = { { "correlation", NULL, 4 }, { 0 } };
	static const struct ut_device_launch launch = { .registers = 5 };

	(void)state;
	for (int wrong = 0; wrong < 5; wrong++) {
		uint64_t columns[UT_DEVICE_RECORD_BYTES / 8 + 1] = { 0 };
		const struct ut_device_records *r;
		struct ut_store s;
		struct work w;

		start(&w);
		add(&w, w.queue, "kernel", 100, called);
		ut_build_finish(&w.b, &s);
		save(&s, columns, 1, &launch);
		*(uint64_t *)(uintptr_t)s.saved_devices->correlation = 77;
		*(uint32_t *)(uintptr_t)s.saved_devices->track = wrong == 1 ? 99 : w.queue;
		*(uint64_t *)(uintptr_t)s.saved_devices->row = wrong == 2;
		*(uint32_t *)(uintptr_t)s.saved_devices->launch = wrong == 3;
		*(uint8_t *)(uintptr_t)s.saved_devices->kind = wrong == 4 ? 200 : 0;
		assert_int_equal(ut_device_records_check(s.saved_devices, &s),
				 wrong ? 0 : SIZE_MAX);
		r = ut_store_devices(&s);
		assert_int_equal(r->count, 1);
		assert_int_equal(r->correlation[0], wrong ? 4 : 77);
		assert_int_equal(ut_device_record_get(r, 0).launch.registers, wrong ? 0 : 5);
		ut_store_release(&s);
	}
}

UT_TESTS(device_records)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_typed_once),
		cmocka_unit_test(only_work_of_devices_has_a_record),
		cmocka_unit_test(sizes_may_be_arrays_and_of_any_text),
		cmocka_unit_test(records_of_a_file_that_do_not_fit_are_made_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
