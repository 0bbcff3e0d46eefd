/* test_trace_spans.c - tests src/analysis/ops/trace_spans.h: what an op is, whose row it is in, who
 * was going on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/build.h"
#include "model/strtab.h"
#include "ops/trace_spans.h"
#include "support/unit.h"

struct fixture {
	struct ut_build build;
	struct ut_store store;
	struct ut_arena arena;
	struct ut_strtab texts;
	struct ut_ops_spans spans;
};

static uint32_t thread(struct fixture *f, uint64_t pid, uint64_t tid)
{
	struct ut_trace *t = &f->build.store.trace;
	uint32_t track = ut_trace_add_track(t, ut_trace_add_process(t, pid), UT_TRACK_THREAD);

	t->tracks[track].id = tid;
	return track;
}

static void span(struct fixture *f, uint32_t track, const char *cat, const char *name, uint64_t ts,
		 uint64_t length)
{
	struct ut_strtab *strings = &f->build.store.trace.strings;
	const struct ut_type type = { .name = ut_strtab_intern_z(strings, name),
				      .cat = ut_strtab_intern_z(strings, cat),
				      .kind = UT_KIND_SPAN };

	ut_build_add(&f->build, track, ts, length, ut_types_intern(&f->build.store.types, &type),
		     0);
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	ut_build_init(&f->build);
	ut_strtab_init(&f->texts, &f->arena);
}

static void make(struct fixture *f, bool nested)
{
	ut_build_finish(&f->build, &f->store);
	ut_ops_spans_make(&f->spans, &f->store, &f->texts, nested);
}

static void end(struct fixture *f)
{
	ut_ops_spans_release(&f->spans);
	ut_store_release(&f->store);
	ut_arena_release(&f->arena);
}

static const char *code(const struct fixture *f, uint32_t span_plus_1)
{
	return span_plus_1 ? ut_strtab_get(&f->texts, f->spans.items[span_plus_1 - 1].code).ptr
			   : "";
}

/* A step with two ops, one of which calls another, which uses a library that marks, too. */
static void add_step(struct fixture *f)
{
	uint32_t track = thread(f, 1, 7);

	span(f, track, "train", "step", 0, 100);
	span(f, track, "PyTorch", "aten::linear", 10, 40);
	span(f, track, "PyTorch", "aten::addmm", 20, 20);
	span(f, track, "dnnl", "matmul", 25, 10);
	span(f, track, "cuda_runtime", "cudaLaunchKernel", 27, 2);
	span(f, track, "PyTorch", "aten::relu", 60, 10);
}

static void the_innermost_span_that_was_going_on_is_found(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add_step(&f);
	make(&f, false);
	assert_string_equal(code(&f, ut_ops_spans_at(&f.spans, 7, 5)), "step");
	assert_string_equal(code(&f, ut_ops_spans_at(&f.spans, 7, 28)), "matmul");
	assert_string_equal(code(&f, ut_ops_spans_at(&f.spans, 7, 38)), "aten::addmm");
	assert_string_equal(code(&f, ut_ops_spans_at(&f.spans, 7, 45)), "aten::linear");
	assert_string_equal(code(&f, ut_ops_spans_at(&f.spans, 7, 55)), "step");
	assert_int_equal(ut_ops_spans_at(&f.spans, 7, 101), 0);
	assert_int_equal(ut_ops_spans_at(&f.spans, 8, 28), 0);
	end(&f);
}

static void what_an_op_does_belongs_to_the_outermost_op(void **state)
{
	static const char *const owners[] = { "step", "aten::linear", "aten::linear",
					      "aten::linear", "aten::relu" };
	struct fixture f;

	(void)state;
	begin(&f);
	add_step(&f);
	make(&f, false);
	assert_int_equal(f.spans.count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_string_equal(code(&f, f.spans.items[i].owner + 1), owners[i]);
	assert_int_equal(f.spans.items[1].depth, 0);
	assert_int_equal(f.spans.items[2].depth, 1);
	assert_int_equal(f.spans.items[3].depth, 2);
	assert_int_equal(f.spans.items[1].self, 20);
	end(&f);
}

static void or_to_the_innermost_if_all_are_wanted(void **state)
{
	static const char *const owners[] = { "step", "aten::linear", "aten::addmm", "aten::addmm",
					      "aten::relu" };
	struct fixture f;

	(void)state;
	begin(&f);
	add_step(&f);
	make(&f, true);
	for (uint32_t i = 0; i < 5; i++)
		assert_string_equal(code(&f, f.spans.items[i].owner + 1), owners[i]);
	end(&f);
}

static void ops_are_known_by_their_names(void **state)
{
	static const struct {
		const char *cat, *name, *code; /* NULL = neither op nor task */
		bool op;
	} cases[] = {
		{ "anything", "aten::mm", "aten::mm", true },
		{ "NVTX", "aten::mm, seq = 3, sizes = [[2, 3]]", "aten::mm", true },
		{ "cpu_op", "flash_attn::fwd", "flash_attn::fwd", true },
		{ "cpu_op", "autograd::engine::evaluate_function: X", "", false },
		{ "cpu_op", "torch::autograd::AccumulateGrad", "", false },
		{ "cpu_op", "MmBackward0", "MmBackward0", false },
		{ "solver", "std::sort", "std::sort", false },
		{ "kernel", "aten::mm", NULL, false },
		{ "python_function", "f.py(3): g", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;

		begin(&f);
		span(&f, thread(&f, 1, 7), cases[i].cat, cases[i].name, 1, 1);
		make(&f, false);
		assert_int_equal(f.spans.count, cases[i].code ? 1 : 0);
		if (cases[i].code) {
			assert_int_equal(f.spans.items[0].op, cases[i].op);
			assert_string_equal(code(&f, 1),
					    *cases[i].code ? cases[i].code : cases[i].name);
		}
		end(&f);
	}
}

static void threads_of_two_processes_may_have_one_id(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	span(&f, thread(&f, 1, 7), "cpu_op", "aten::a", 0, 10);
	span(&f, thread(&f, 2, 7), "cpu_op", "aten::b", 20, 10);
	make(&f, false);
	assert_string_equal(code(&f, ut_ops_spans_at(&f.spans, 7, 5)), "aten::a");
	assert_string_equal(code(&f, ut_ops_spans_at(&f.spans, 7, 25)), "aten::b");
	end(&f);
}

UT_TESTS(trace_spans)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_span_that_was_going_on_is_found),
		cmocka_unit_test(what_an_op_does_belongs_to_the_outermost_op),
		cmocka_unit_test(or_to_the_innermost_if_all_are_wanted),
		cmocka_unit_test(ops_are_known_by_their_names),
		cmocka_unit_test(threads_of_two_processes_may_have_one_id),
	};

	return cmocka_run_group_tests_name("ops/trace_spans", tests, NULL, NULL);
}
