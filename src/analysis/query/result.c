#include "query/result.h"

#include <string.h>

#include "query/stack.h"

static void result_value(sqlite3_context *ctx, const struct ut_place *p)
{
	uint64_t bits = p->block->val[p->i];
	const struct ut_type *type = ut_place_type(p);
	double real;

	if (type->kind != UT_KIND_COUNTER) {
		ut_sql_result_u64(ctx, bits);
	} else if (type->flags & UT_EV_DOUBLE) {
		memcpy(&real, &bits, sizeof(real));
		sqlite3_result_double(ctx, real);
	} else if (type->flags & UT_EV_SIGNED) {
		sqlite3_result_int64(ctx, (sqlite3_int64)bits);
	} else {
		ut_sql_result_u64(ctx, bits);
	}
}

/* A weight that needs more bits is an argument. */
static void result_weight(sqlite3_context *ctx, const struct ut_traces *t, const struct ut_place *p,
			  struct ut_arg_list *list)
{
	uint32_t weight = ut_sample_weight(p->block->val[p->i]);
	const struct ut_trace *trace = &p->trace->store->trace;

	if (weight != UT_SAMPLE_WEIGHT_ARG) {
		sqlite3_result_int64(ctx, weight);
		return;
	}
	ut_arg_list_get(list, t, ut_place_args(t, p));
	for (size_t i = 0; i < list->count; i++) {
		const struct ut_arg *a = &list->items[i];

		if (strcmp(ut_strtab_get(&trace->strings, a->key).ptr, UT_SAMPLE_WEIGHT) != 0)
			continue;
		if (a->type == UT_ARG_F64)
			sqlite3_result_double(ctx, a->value.f64);
		else if (a->type == UT_ARG_U64)
			ut_sql_result_u64(ctx, a->value.u64);
		else if (a->type == UT_ARG_I64)
			sqlite3_result_int64(ctx, a->value.i64);
	}
}

static void result_row_field(sqlite3_context *ctx, const struct ut_traces *t,
			     const struct ut_place *p, enum ut_field f, struct ut_arg_list *list)
{
	int64_t number;

	if (f == UT_FIELD_VALUE) {
		result_value(ctx, p);
	} else if (f == UT_FIELD_CALLSITE) {
		if (ut_stack_id(t, p, &number))
			sqlite3_result_int64(ctx, number);
	} else if (f == UT_FIELD_WEIGHT) {
		result_weight(ctx, t, p, list);
	} else if (f == UT_FIELD_ARGS) {
		ut_arg_list_get(list, t, ut_place_args(t, p));
		ut_sql_result_args(ctx, list);
	} else if (f == UT_FIELD_ARG_SET) {
		number = ut_place_args(t, p);
		if (number)
			sqlite3_result_int64(ctx, number);
	} else if (f == UT_FIELD_UNFINISHED) {
		sqlite3_result_int(ctx, ut_field_unfinished(t, p));
	} else {
		number = ut_field_of_row(t, p, f);
		if (f != UT_FIELD_PARENT || number >= 0)
			sqlite3_result_int64(ctx, number);
	}
}

void ut_sql_result_field(sqlite3_context *ctx, const struct ut_traces *t, const struct ut_place *p,
			 enum ut_field f, struct ut_arg_list *list)
{
	struct ut_datum cell;

	switch (ut_field_level(f)) {
	case UT_LEVEL_ROW:
		result_row_field(ctx, t, p, f, list);
		break;
	case UT_LEVEL_TYPE:
		cell = ut_field_of_type(p->trace, p->block->type[p->i], f);
		ut_sql_result_datum(ctx, &cell);
		break;
	case UT_LEVEL_TRACK:
		cell = ut_field_of_track(t, p->track, f);
		ut_sql_result_datum(ctx, &cell);
		break;
	}
}
