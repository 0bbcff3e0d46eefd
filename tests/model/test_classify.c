/* test_classify.c - tests src/trace/model/classify.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/build.h"
#include "model/classify.h"
#include "model/trace.h"
#include "support/unit.h"

static struct ut_trace t;

static int make(void **state)
{
	(void)state;
	ut_trace_init(&t);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	ut_trace_release(&t);
	return 0;
}

static const struct ut_process *process_called(const char *name)
{
	uint32_t at = ut_trace_add_process(&t, 7);

	t.processes[at].name = ut_strtab_intern_z(&t.strings, name);
	ut_classify_places(&t);
	return &t.processes[at];
}

static const char *model_of(const struct ut_process *p)
{
	return ut_strtab_get(&t.strings, p->model).ptr;
}

static void devices_of_ours_and_of_intels_tool_are_known_by_their_names(void **state)
{
	static const struct {
		const char *name, *model;
		uint8_t api, type;
		int32_t device, sub_device;
	} all[] = {
		{ "DEVICE [NVIDIA H200] cuda:3 GPU-1a2b #3", "NVIDIA H200", UT_API_CUDA, 0, 3, -1 },
		{ "DEVICE [pthread-x] OpenCL CPU #1", "pthread-x", UT_API_OPENCL,
		  UT_DEVICE_TYPE_CPU, 1, -1 },
		{ "DEVICE [Arc] OpenCL GPU 0000:3a:00.0 #0", "Arc", UT_API_OPENCL,
		  UT_DEVICE_TYPE_GPU, 0, -1 },
		{ "DEVICE [Acc] OpenCL device #2", "Acc", UT_API_OPENCL, 0, 2, -1 },
		{ "DEVICE [Null device] null #0", "Null device", UT_API_DUMMY, 0, 0, -1 },
		{ "DEVICE<vm>[Intel GPU] 0:3a:0.0 #0", "Intel GPU", UT_API_LEVEL_ZERO, 0, 0, -1 },
		{ "DEVICE<vm>[Intel GPU] 0:3a:0.0 #1.1", "Intel GPU", UT_API_LEVEL_ZERO, 0, 1, 1 },
		{ "DEVICE [My device] mine:0 #4", "My device", UT_API_NONE, 0, 4, -1 },
		{ "DEVICE", "", UT_API_NONE, 0, 7, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct ut_process *p = process_called(all[i].name);

		assert_int_equal(p->kind, UT_PROCESS_DEVICE);
		assert_true(p->guessed);
		assert_int_equal(p->api.api, all[i].api);
		assert_int_equal(p->device_type, all[i].type);
		assert_int_equal(p->device, all[i].device);
		assert_int_equal(p->sub_device, all[i].sub_device);
		assert_string_equal(model_of(p), all[i].model);
	}
}

static void all_else_is_a_program(void **state)
{
	const struct ut_process *p = process_called("solver");

	(void)state;
	assert_int_equal(p->kind, UT_PROCESS_PROGRAM);
	assert_int_equal(p->device, -1);
	assert_int_equal(process_called("")->kind, UT_PROCESS_PROGRAM);
	assert_int_equal(process_called("MY DEVICE")->kind, UT_PROCESS_PROGRAM);
	assert_int_equal(process_called("HOST<vm>")->kind, UT_PROCESS_PROGRAM);
	assert_int_equal(process_called("HOST-OS-KMD<vm>")->kind, UT_PROCESS_OTHER);
}

static const struct ut_process *labelled(const char *json)
{
	uint32_t at = ut_trace_add_process(&t, 5);

	t.processes[at].args = (uint32_t)t.arg_count;
	ut_trace_add_arg(&t, ut_strtab_intern_z(&t.strings, "process_labels"), UT_ARG_JSON)
		->value.str = ut_strtab_intern_z(&t.strings, json);
	ut_trace_close_args(&t);
	ut_classify_places(&t);
	return &t.processes[at];
}

static void devices_of_torch_are_known_by_their_labels(void **state)
{
	const struct ut_process *p = labelled("{\"labels\":\"GPU 12\"}");

	(void)state;
	assert_int_equal(p->kind, UT_PROCESS_DEVICE);
	assert_int_equal(p->api.api, UT_API_CUDA);
	assert_int_equal(p->device_type, UT_DEVICE_TYPE_GPU);
	assert_int_equal(p->device, 12);
	assert_string_equal(ut_strtab_get(&t.strings, ut_process_shown_name(p)).ptr, "GPU 12");
	assert_int_equal(p->name, 0);
	assert_int_equal(ut_process_shown_name(process_called("app")),
			 ut_strtab_intern_z(&t.strings, "app"));
	assert_int_equal(labelled("{\"labels\":\"CPU\"}")->kind, UT_PROCESS_PROGRAM);
	assert_int_equal(labelled("{\"labels\":\"GPU \"}")->kind, UT_PROCESS_PROGRAM);
	assert_int_equal(labelled("{\"labels\":\"GPU 1x\"}")->kind, UT_PROCESS_PROGRAM);
	assert_int_equal(labelled("{\"labels\":\"GPU 123456789\"}")->kind, UT_PROCESS_PROGRAM);
}

static void devices_are_known_as_pytorch_calls_them(void **state)
{
	static const struct {
		const char *name;
		uint8_t api;
		int32_t device;
	} known[] = { { "cuda:0", UT_API_CUDA, 0 },
		      { "hip:3", UT_API_HIP, 3 },
		      { "xpu:12", UT_API_LEVEL_ZERO, 12 } };
	static const char *const programs[] = { "cuda:", "cuda",      "cuda:0x",      "cuda:0 run",
						"mpi:0", "my cuda:0", "cuda:1234567", "CUDA" };

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct ut_process *p = process_called(known[i].name);

		assert_int_equal(p->kind, UT_PROCESS_DEVICE);
		assert_int_equal(p->api.api, known[i].api);
		assert_int_equal(p->device_type, UT_DEVICE_TYPE_GPU);
		assert_int_equal(p->device, known[i].device);
		assert_true(p->guessed);
	}
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		assert_int_equal(process_called(programs[i])->kind, UT_PROCESS_PROGRAM);
}

static void ids_of_other_tools_are_texts(void **state)
{
	static const struct {
		const char *id;
		uint8_t kind;
		int32_t device;
	} all[] = { { "\"Device 2\"", UT_PROCESS_OTHER, 2 },
		    { "\"Spans\"", UT_PROCESS_OTHER, -1 },
		    { "\"Device x\"", UT_PROCESS_PROGRAM, -1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		uint32_t at = ut_trace_add_process(&t, 0);

		t.processes[at].pid_text = ut_strtab_intern_z(&t.strings, all[i].id);
		ut_classify_places(&t);
		assert_int_equal(t.processes[at].kind, all[i].kind);
		assert_int_equal(t.processes[at].device, all[i].device);
	}
}

static const struct ut_track *track_called(uint32_t process, const char *name)
{
	uint32_t at = ut_trace_add_track(&t, process, UT_TRACK_THREAD);

	t.tracks[at].name = ut_strtab_intern_z(&t.strings, name);
	ut_classify_places(&t);
	return &t.tracks[at];
}

static void rows_are_known_by_their_names_and_by_whose_they_are(void **state)
{
	const struct ut_track *k;
	uint32_t app, device;

	(void)state;
	process_called("app");
	process_called("DEVICE [H200] cuda:0 #0");
	app = 0;
	device = 1;
	assert_int_equal(track_called(device, "Stream 7")->role, UT_ROLE_QUEUE);
	assert_int_equal(track_called(device, "Overhead")->role, UT_ROLE_SIDE);
	assert_int_equal(track_called(device, "Waits of the host (2)")->role, UT_ROLE_SIDE);
	assert_int_equal(track_called(device, "Unified memory")->role, UT_ROLE_SIDE);
	assert_int_equal(track_called(app, "Overhead")->role, UT_ROLE_UNKNOWN);
	assert_int_equal(track_called(app, "main")->role, UT_ROLE_UNKNOWN);
	assert_int_equal(track_called(app, "Control")->role, UT_ROLE_CONTROL);
	k = track_called(app, "CUDA driver calls of thread 4711 (2)");
	assert_int_equal(k->role, UT_ROLE_CALLS);
	assert_int_equal(k->thread, 4711);
	assert_int_equal(k->api.api, UT_API_CUDA);
	k = track_called(app, "MINE calls of thread 5");
	assert_int_equal(k->api.api, UT_API_OTHER);
	assert_string_equal(ut_api_name(&t.strings, k->api).ptr, "MINE");
}

static void what_was_said_stays(void **state)
{
	uint32_t at = ut_trace_add_process(&t, 1), track;

	(void)state;
	t.processes[at].name = ut_strtab_intern_z(&t.strings, "DEVICE [x] cuda:0 #9");
	t.processes[at].kind = UT_PROCESS_PROGRAM;
	track = ut_trace_add_track(&t, at, UT_TRACK_THREAD);
	t.tracks[track].name = ut_strtab_intern_z(&t.strings, "CUDA calls of thread 5");
	t.tracks[track].role = UT_ROLE_FRAMES;
	ut_classify_places(&t);
	assert_int_equal(t.processes[at].kind, UT_PROCESS_PROGRAM);
	assert_int_equal(t.processes[at].device, -1);
	assert_false(t.processes[at].guessed);
	assert_int_equal(t.tracks[track].role, UT_ROLE_FRAMES);
	assert_int_equal(t.tracks[track].thread, 0);
}

static struct ut_category category(const char *name)
{
	return ut_classify_category(&t, ut_strtab_intern_z(&t.strings, name));
}

static void categories_distinguish_work_from_calls(void **state)
{
	struct ut_category c;

	(void)state;
	assert_int_equal(category("kernel").use, UT_CATEGORY_WORK);
	assert_int_equal(category("gpu_memcpy").work, UT_DEVICE_COPY);
	assert_int_equal(category("gpu_op").work, UT_DEVICE_BY_NAME);
	assert_false(category("copy").anywhere);
	c = category("CUDA driver");
	assert_int_equal(c.use, UT_CATEGORY_CALL);
	assert_int_equal(c.api.api, UT_API_CUDA);
	assert_true(c.driver);
	assert_int_equal(category("Python").use, UT_CATEGORY_TOOL);
	assert_int_equal(category("my domain").use, UT_CATEGORY_PLAIN);
	assert_int_equal(ut_classify_category(&t, 0).use, UT_CATEGORY_PLAIN);
	ut_classify_add_calls(&t, ut_strtab_intern_z(&t.strings, "MINE"));
	c = category("MINE");
	assert_int_equal(c.use, UT_CATEGORY_CALL);
	assert_int_equal(c.api.api, UT_API_OTHER);
	assert_string_equal(ut_api_title(&t.strings, c.api).ptr, "MINE");
	assert_true(ut_classify_is_busy(category("gpu_memset"), "x"));
	assert_true(ut_classify_is_busy(category("my domain"), "x"));
	assert_false(ut_classify_is_busy(category("gpu_user_annotation"), "x"));
	assert_false(ut_classify_is_busy(category("cuda_sync"), "x"));
	assert_false(ut_classify_is_busy(category("sync"), "barrier"));
	assert_true(ut_classify_is_busy(category("gpu_op"), "gemm"));
	assert_false(ut_classify_is_busy(category("gpu_op"), "zeCommandListAppendBarrier"));
	assert_true(category("Trace").itself);
	assert_true(category("overhead").itself);
	assert_false(category("python_function").itself);
	assert_int_equal(ut_classify_work("zeCommandListAppendMemoryCopy"), UT_DEVICE_COPY);
	assert_int_equal(ut_classify_work("gemm"), UT_DEVICE_KERNEL);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make, drop)

/* One span in a process of which nobody says what it is; what it is taken for. */
static uint8_t kind_by(const char *category, const char *key, const char *more)
{
	struct ut_build b;
	struct ut_store store;
	struct ut_trace *of = &b.store.trace;
	struct ut_arg arg = { .type = UT_ARG_U64, .value.u64 = 5 };
	struct ut_type type = { .kind = UT_KIND_SPAN };
	uint32_t list, track;
	uint8_t kind;

	ut_build_init(&b);
	track = ut_trace_add_track(of, ut_trace_add_process(of, 7), UT_TRACK_THREAD);
	arg.key = ut_strtab_intern_z(&of->strings, key);
	type.cat = ut_strtab_intern_z(&of->strings, category);
	list = ut_arglists_add(&b.store.args, &arg, 1);
	ut_build_add(&b, track, 10, 5, ut_types_intern(&b.store.types, &type), list);
	type.cat = ut_strtab_intern_z(&of->strings, more);
	ut_build_add(&b, track, 20, 5, ut_types_intern(&b.store.types, &type), 0);
	ut_build_finish(&b, &store);
	ut_classify_store(&store);
	kind = store.trace.processes[0].kind;
	assert_int_equal(store.trace.tracks[0].role,
			 kind == UT_PROCESS_DEVICE ? UT_ROLE_QUEUE : UT_ROLE_UNKNOWN);
	assert_true(store.trace.processes[0].guessed);
	ut_store_release(&store);
	return kind;
}

static void a_process_of_nothing_but_device_work_is_a_device(void **state)
{
	(void)state;
	assert_int_equal(kind_by("kernel", "correlation", "kernel"), UT_PROCESS_DEVICE);
	assert_int_equal(kind_by("gpu_memcpy", "External id", "gpu_memset"), UT_PROCESS_DEVICE);
	assert_int_equal(kind_by("kernel", "correlation", "gpu_user_annotation"),
			 UT_PROCESS_DEVICE);
	assert_int_equal(kind_by("kernel", "size", "kernel"), UT_PROCESS_PROGRAM);
	assert_int_equal(kind_by("kernel", "correlation", "cuda_runtime"), UT_PROCESS_PROGRAM);
	assert_int_equal(kind_by("kernel", "correlation", "mine"), UT_PROCESS_PROGRAM);
	assert_int_equal(kind_by("gpu_user_annotation", "correlation", "cuda_sync"),
			 UT_PROCESS_PROGRAM);
}

UT_TESTS(classify)
{
	const struct CMUnitTest tests[] = {
		CLAIM(devices_of_ours_and_of_intels_tool_are_known_by_their_names),
		CLAIM(all_else_is_a_program),
		CLAIM(devices_of_torch_are_known_by_their_labels),
		CLAIM(devices_are_known_as_pytorch_calls_them),
		CLAIM(a_process_of_nothing_but_device_work_is_a_device),
		CLAIM(ids_of_other_tools_are_texts),
		CLAIM(rows_are_known_by_their_names_and_by_whose_they_are),
		CLAIM(what_was_said_stays),
		CLAIM(categories_distinguish_work_from_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
