/* The columns: what goes in comes out, in the store's order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/build.h"
#include "model/nesting.h"
#include "support/unit.h"

static uint32_t type_of(struct ut_build *b, const char *name, uint8_t kind)
{
	return ut_types_intern(
		&b->store.types,
		&(struct ut_type){ .name = ut_strtab_intern_z(&b->store.trace.strings, name),
				   .kind = kind });
}

static uint32_t one_track(struct ut_build *b)
{
	ut_build_init(b);
	return ut_trace_add_track(&b->store.trace, ut_trace_add_process(&b->store.trace, 7),
				  UT_TRACK_THREAD);
}

static const char *name_of(const struct ut_store *s, uint32_t track, uint64_t row)
{
	const struct ut_block *b = &s->rows[track].blocks[row / UT_BLOCK_ROWS];

	return ut_strtab_get(&s->trace.strings,
			     ut_store_type(s, b->type[row % UT_BLOCK_ROWS])->name)
		.ptr;
}

static void an_empty_trace_is_a_trace(void **state)
{
	struct ut_build b;
	struct ut_store s;

	(void)state;
	ut_build_init(&b);
	ut_build_finish(&b, &s);
	assert_int_equal(s.row_count, 0);
	ut_store_release(&s);
}

static void rows_come_back_in_order_of_nesting(void **state)
{
	struct ut_build b;
	struct ut_store s;
	uint32_t t = one_track(&b);

	(void)state;
	/* As tools write them: when they end. */
	ut_build_add(&b, t, 20, 10, type_of(&b, "inner", UT_KIND_SPAN), 0);
	ut_build_add(&b, t, 10, 0, type_of(&b, "mark", UT_KIND_INSTANT), 0);
	ut_build_add(&b, t, 10, 25, type_of(&b, "middle", UT_KIND_SPAN), 0);
	ut_build_add(&b, t, 10, 90, type_of(&b, "outer", UT_KIND_SPAN), 0);
	ut_build_finish(&b, &s);
	assert_int_equal(s.rows[t].count, 4);
	assert_string_equal(name_of(&s, t, 0), "outer");
	assert_string_equal(name_of(&s, t, 1), "middle");
	assert_string_equal(name_of(&s, t, 2), "mark");
	assert_string_equal(name_of(&s, t, 3), "inner");
	assert_int_equal(s.rows[t].first, 10);
	assert_int_equal(s.rows[t].last, 100);
	assert_int_equal(s.trace.first, 10);
	assert_int_equal(s.trace.last, 100);
	ut_store_release(&s);
}

static void begins_and_ends_become_spans(void **state)
{
	struct ut_arg arg = { .type = UT_ARG_U64 }, got[4];
	struct ut_build b;
	struct ut_store s;
	uint32_t t = one_track(&b), first, second;

	(void)state;
	arg.key = ut_strtab_intern_z(&b.store.trace.strings, "n");
	arg.value.u64 = 1;
	first = ut_arglists_add(&b.store.args, &arg, 1);
	arg.key = ut_strtab_intern_z(&b.store.trace.strings, "m");
	arg.value.u64 = UINT64_MAX;
	second = ut_arglists_add(&b.store.args, &arg, 1);
	ut_build_add(&b, t, 5, 0, type_of(&b, "", UT_RAW_END), 0);
	ut_build_add(&b, t, 10, 0, type_of(&b, "a", UT_RAW_BEGIN), first);
	ut_build_add(&b, t, 12, 0, type_of(&b, "b", UT_RAW_BEGIN), 0);
	ut_build_add(&b, t, 14, 0, type_of(&b, "", UT_RAW_END), 0);
	ut_build_add(&b, t, 20, 0, type_of(&b, "", UT_RAW_END), second);
	ut_build_add(&b, t, 30, 0, type_of(&b, "open", UT_RAW_BEGIN), 0);
	ut_build_add(&b, t, 35, 0, type_of(&b, "mark", UT_KIND_INSTANT), 0);
	ut_build_finish(&b, &s);
	assert_int_equal(s.rows[t].count, 4);
	assert_string_equal(name_of(&s, t, 0), "a");
	assert_int_equal(s.rows[t].blocks[0].val[0], 10);
	assert_int_equal(ut_arglists_get(&s.args, s.rows[t].blocks[0].args[0], got, 4), 2);
	assert_int_equal(got[0].value.u64, 1);
	assert_true(got[1].value.u64 == UINT64_MAX);
	assert_int_equal(s.rows[t].blocks[0].val[1], 2);
	assert_string_equal(name_of(&s, t, 2), "open");
	assert_int_equal(s.rows[t].blocks[0].val[2], 5);
	assert_int_equal(ut_store_type(&s, s.rows[t].blocks[0].type[2])->flags, UT_EV_UNFINISHED);
	assert_int_equal(s.trace.losses.stray_ends, 1);
	assert_int_equal(s.trace.losses.unfinished, 1);
	ut_store_release(&s);
}

/* Sorted, nearly sorted (written at their end, nested) and unsorted times, in several blocks. */
static void any_order_of_arrival_is_sorted(void **state)
{
	enum {
		ROWS = 3 * UT_BLOCK_ROWS + 100
	};

	(void)state;
	for (int way = 0; way < 3; way++) {
		struct ut_build b;
		struct ut_store s;
		uint32_t t = one_track(&b), type = type_of(&b, "x", UT_KIND_SPAN);
		uint64_t sum = 0, seen = 0, before = 0;

		srand(42);
		for (uint32_t i = 0; i < ROWS; i++) {
			uint64_t ts = way == 0   ? i
				      : way == 1 ? (i % 10 == 9 ? i - 9 : i + 1)
						 : (uint64_t)rand();

			ut_build_add(&b, t, ts, i, type, 0);
			sum += ts * (i + 1);
		}
		ut_build_finish(&b, &s);
		assert_int_equal(s.rows[t].count, ROWS);
		assert_int_equal(ut_rows_blocks(&s.rows[t]), 4);
		for (size_t n = 0; n < 4; n++) {
			const struct ut_block *block = &s.rows[t].blocks[n];

			assert_int_equal(block->count, n < 3 ? UT_BLOCK_ROWS : 100);
			for (uint32_t i = 0; i < block->count; i++) {
				assert_true(block->ts[i] >= before);
				before = block->ts[i];
				seen += block->ts[i] * (block->val[i] + 1);
			}
		}
		assert_true(seen == sum);
		ut_store_release(&s);
	}
}

static struct ut_arg make_arg(struct ut_trace *t, const char *key, enum ut_arg_type type,
			      uint64_t value)
{
	struct ut_arg a = { .key = ut_strtab_intern_z(&t->strings, key), .type = (uint8_t)type };

	a.value.u64 = value;
	if (type == UT_ARG_STR || type == UT_ARG_JSON)
		a.value = (__typeof__(a.value)){ .str = ut_strtab_intern_z(&t->strings, "text") };
	return a;
}

static void arguments_keep_their_values(void **state)
{
	struct ut_build b;
	struct ut_trace *t = &b.store.trace;
	struct ut_arg in[8], out[8];
	uint32_t list;

	(void)state;
	ut_build_init(&b);
	in[0] = make_arg(t, "s", UT_ARG_STR, 0);
	in[1] = make_arg(t, "small", UT_ARG_U64, 17);
	in[2] = make_arg(t, "big", UT_ARG_U64, 1ull << 40);
	in[3] = make_arg(t, "minus", UT_ARG_I64, (uint64_t)-3);
	in[4] = make_arg(t, "least", UT_ARG_I64, 1ull << 63);
	in[5] = make_arg(t, "yes", UT_ARG_BOOL, 1);
	in[6] = make_arg(t, "at", UT_ARG_PTR, 0xdeadbeef);
	in[7] = make_arg(t, "json", UT_ARG_JSON, 0);
	list = ut_arglists_add(&b.store.args, in, 8);
	assert_int_equal(ut_arglists_get(&b.store.args, list, out, 8), 8);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(in[i].key, out[i].key);
		assert_int_equal(in[i].type, out[i].type);
		assert_true(in[i].value.u64 == out[i].value.u64);
	}
	assert_int_equal(ut_arglists_get(&b.store.args, list + 100000000, out, 8), 0);
	assert_int_equal(ut_arglists_get(&b.store.args, 0, out, 8), 0);
	ut_build_abandon(&b);
}

/* Parts of one file, read by several threads: names and tracks are the same, numbers differ. */
static void parts_join_into_one(void **state)
{
	struct ut_build a, b;
	struct ut_store s;
	struct ut_arg arg, got;
	uint32_t t = one_track(&a), list;
	char text[64];

	(void)state;
	ut_build_add(&a, t, 10, 5, type_of(&a, "first", UT_KIND_SPAN), 0);
	one_track(&b);
	arg = make_arg(&b.store.trace, "key", UT_ARG_STR, 0);
	list = ut_arglists_add(&b.store.args, &arg, 1);
	ut_build_add(&b, 0, 20, 5, type_of(&b, "second", UT_KIND_SPAN), list);
	ut_build_add(&b, 0, 30, 5, type_of(&b, "first", UT_KIND_SPAN), 0);
	ut_build_join(&a, &b, true);
	ut_build_finish(&a, &s);
	assert_int_equal(s.trace.process_count, 1);
	assert_int_equal(s.trace.track_count, 1);
	assert_int_equal(s.rows[t].count, 3);
	assert_string_equal(name_of(&s, t, 1), "second");
	assert_int_equal(s.rows[t].blocks[0].type[0], s.rows[t].blocks[0].type[2]);
	assert_int_equal(ut_arglists_get(&s.args, s.rows[t].blocks[0].args[1], &got, 1), 1);
	snprintf(text, sizeof(text), "%s=%s", ut_strtab_get(&s.trace.strings, got.key).ptr,
		 ut_strtab_get(&s.trace.strings, got.value.str).ptr);
	assert_string_equal(text, "key=text");
	ut_store_release(&s);
}

static void other_traces_stay_apart(void **state)
{
	struct ut_build a, b;
	struct ut_store s;

	(void)state;
	one_track(&a);
	ut_build_add(&a, 0, 10, 5, type_of(&a, "x", UT_KIND_SPAN), 0);
	one_track(&b);
	ut_build_add(&b, 0, 20, 5, type_of(&b, "x", UT_KIND_SPAN), 0);
	ut_build_join(&a, &b, false);
	ut_build_finish(&a, &s);
	assert_int_equal(s.trace.process_count, 2);
	assert_int_equal(s.trace.track_count, 2);
	assert_int_equal(s.rows[1].count, 1);
	ut_store_release(&s);
}

/* A store sent into a build is the same store. */
static void a_sent_store_is_the_same(void **state)
{
	struct ut_build a, b;
	struct ut_store s, copy;
	struct ut_arg arg;

	(void)state;
	one_track(&a);
	a.store.trace.tracks[0].id = 99;
	arg = make_arg(&a.store.trace, "k", UT_ARG_JSON, 0);
	ut_build_add(&a, 0, 10, 5, type_of(&a, "x", UT_KIND_SPAN),
		     ut_arglists_add(&a.store.args, &arg, 1));
	ut_build_add(&a, 0, 12, 1, type_of(&a, "y", UT_KIND_ASYNC_BEGIN), 0);
	ut_build_finish(&a, &s);
	ut_build_init(&b);
	ut_store_send(&s, 1000, &b.sink);
	ut_build_end_trace(&b, &s.trace);
	ut_build_finish(&b, &copy);
	assert_int_equal(copy.rows[0].count, 2);
	assert_int_equal(copy.rows[0].blocks[0].ts[0], 1010);
	assert_string_equal(name_of(&copy, 0, 1), "y");
	assert_int_equal(copy.trace.tracks[0].id, 99);
	assert_int_equal(copy.trace.processes[0].pid, 7);
	assert_int_equal(ut_arglists_get(&copy.args, copy.rows[0].blocks[0].args[0], &arg, 1), 1);
	assert_int_equal(arg.type, UT_ARG_JSON);
	ut_store_release(&s);
	ut_store_release(&copy);
}

static void async_ends_are_found_by_number(void **state)
{
	struct ut_build b;
	struct ut_store s;
	struct ut_async_end ends[4];
	uint32_t t = one_track(&b);

	(void)state;
	ut_build_add(&b, t, 10, 1, type_of(&b, "x", UT_KIND_ASYNC_BEGIN), 0);
	ut_build_add(&b, t, 12, 2, type_of(&b, "x", UT_KIND_ASYNC_BEGIN), 0);
	ut_build_add(&b, t, 15, 1, type_of(&b, "x", UT_KIND_ASYNC_END), 0);
	ut_build_add(&b, t, 16, 3, type_of(&b, "x", UT_KIND_ASYNC_END), 0);
	ut_build_finish(&b, &s);
	ut_nesting_of_track(&s, t, ends);
	assert_int_equal(ends[0].ts, 15);
	assert_int_equal(ends[0].row, 3);
	assert_true(ends[1].ts == UINT64_MAX);
	assert_int_equal(ends[2].ts, 0);
	assert_int_equal(ends[3].ts, 0);
	ut_store_release(&s);
}

UT_TESTS(store)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_trace_is_a_trace),
		cmocka_unit_test(rows_come_back_in_order_of_nesting),
		cmocka_unit_test(begins_and_ends_become_spans),
		cmocka_unit_test(any_order_of_arrival_is_sorted),
		cmocka_unit_test(arguments_keep_their_values),
		cmocka_unit_test(parts_join_into_one),
		cmocka_unit_test(other_traces_stay_apart),
		cmocka_unit_test(a_sent_store_is_the_same),
		cmocka_unit_test(async_ends_are_found_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
