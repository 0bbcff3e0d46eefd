/*
 * fuzz_view.c - libFuzzer target: any bytes as a question of the viewer.
 *
 * The first line is the method, the rest its JSON. The trace is always the same: spans that nest
 * and overlap, async spans, counters, marks, arrows and names that are no text. What comes out must
 * be JSON, whatever went in, or a window of the length that it says.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/build.h"
#include "plain_json.h"
#include "text/out.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t make_type(struct ut_build *b, const char *name, uint8_t kind, uint8_t flags)
{
	struct ut_type type = { .name = ut_strtab_intern_z(&b->store.trace.strings, name),
				.cat = ut_strtab_intern_z(&b->store.trace.strings, "cpu_op"),
				.kind = kind,
				.flags = flags };

	return ut_types_intern(&b->store.types, &type);
}

static uint32_t make_args(struct ut_build *b, uint64_t value)
{
	struct ut_arg args[2] = { { .key = ut_strtab_intern_z(&b->store.trace.strings, "i"),
				    .type = UT_ARG_U64,
				    .value.u64 = value },
				  { .key = ut_strtab_intern_z(&b->store.trace.strings, "s"),
				    .type = UT_ARG_STR,
				    .value.str = ut_strtab_intern(&b->store.trace.strings,
								  "<\xff\0>", 4) } };

	return ut_arglists_add(&b->store.args, args, 2);
}

/* Stacks of a function that is named, one that is not and one whose name is no text. */
static void fill_samples(struct ut_build *b, uint32_t thread)
{
	static const char *const names[] = { "main", NULL, "\xff<b>" };
	struct ut_trace *t = &b->store.trace;
	uint32_t stack = 0;

	for (uint64_t i = 0; i < 60; i++) {
		struct ut_place_in_code code = { .line = (uint32_t)i % 4 };

		code.function = names[i % 3] ? ut_strtab_intern_z(&t->strings, names[i % 3]) : 0;
		code.module = ut_strtab_intern_z(&t->strings, i % 2 ? "/app" : "t.py");
		code.file = i % 2 ? 0 : code.module;
		stack = ut_stacks_site(&t->stacks, &t->arena, i % 9 ? stack : 0,
				       ut_stacks_place(&t->stacks, &t->arena, &code));
		ut_build_add(b, thread, 40000 + i * 10, ut_sample_val(stack, i),
			     make_type(b, i % 5 ? "cpu-clock" : "peak bytes", UT_KIND_SAMPLE, 0),
			     0);
	}
}

static void fill(struct ut_build *b)
{
	static const char *const names[] = { "step", "aten::add", "\xff\xfe", "<script>" };
	uint32_t process = ut_trace_add_process(&b->store.trace, 7), types[4];
	uint32_t thread = ut_trace_add_track(&b->store.trace, process, UT_TRACK_THREAD);
	uint32_t async = ut_trace_add_track(&b->store.trace, process, UT_TRACK_ASYNC);
	uint32_t counter = ut_trace_add_track(&b->store.trace, process, UT_TRACK_COUNTER);

	b->store.trace.processes[process].rank = 1;
	for (int i = 0; i < 4; i++)
		types[i] = make_type(b, names[i], UT_KIND_SPAN, i == 3 ? UT_EV_UNFINISHED : 0);
	for (uint64_t i = 0; i < 400; i++) {
		ut_build_add(b, thread, i * 100, 90, types[i % 4], i % 5 ? 0 : make_args(b, i));
		ut_build_add(b, thread, i * 100 + 10, i % 7 ? 20 : 110, types[(i + 1) % 4], 0);
		ut_build_add(b, async, i * 90, i, make_type(b, "req", UT_KIND_ASYNC_BEGIN, 0), 0);
		ut_build_add(b, async, i * 90 + 500, i, make_type(b, "req", UT_KIND_ASYNC_END, 0),
			     0);
		ut_build_add(b, counter, i * 50, i * i, make_type(b, "n", UT_KIND_COUNTER, 0), 0);
	}
	ut_build_add(b, thread, 5, 1, make_type(b, "f", UT_KIND_FLOW_OUT, 0), 0);
	ut_build_add(b, thread, 250, 1, make_type(b, "f", UT_KIND_FLOW_IN, 0), 0);
	ut_build_add(b, thread, 300, 0, make_type(b, "mark", UT_KIND_INSTANT, 0), 0);
	fill_samples(b, thread);
}

/* Made once: it is only read. */
static struct ut_view *get_view(void)
{
	static struct ut_view *view;
	struct ut_build build;
	struct ut_store store;

	if (view)
		return view;
	ut_build_init(&build);
	fill(&build);
	ut_build_finish(&build, &store);
	view = ut_view_new();
	ut_view_add(view, "fuzz", &store);
	ut_view_ready(view, 1);
	return view;
}

static void must_be_window(const char *bytes, size_t len)
{
	uint32_t head[4];

	if (len < 40)
		abort();
	memcpy(head, bytes, sizeof(head));
	if (len != 40 + head[2] * (size_t)21 + (head[1] + (size_t)1) * 8 + head[3] * (size_t)12)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = memchr(data, '\n', size);
	size_t len = end ? (size_t)(end - text) : 0;
	enum ut_answer kind = UT_ANSWER_JSON;
	struct ut_out *out;
	char method[32];

	if (!end || len >= sizeof(method))
		return 0;
	memcpy(method, text, len);
	method[len] = '\0';
	if (!strcmp(method, "sql")) /* fuzz_sql.c */
		return 0;
	out = ut_out_open_memory();
	if (!ut_view_ask(get_view(), method, (struct ut_str){ end + 1, size - len - 1 }, out, &kind,
			 NULL)) {
		size_t n;
		const char *bytes = ut_out_data(out, &n);

		(kind == UT_ANSWER_COLUMNS ? must_be_window : must_be_json)(bytes, n);
	}
	ut_out_abandon(out);
	return 0;
}
