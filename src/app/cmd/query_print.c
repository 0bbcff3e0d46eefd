#include "cmd/query_print.h"

#include <inttypes.h>
#include <string.h>

#include "text/out.h"

static void query_print_begin(void *ctx, size_t columns, const char *const *names)
{
	struct ut_print *p = ctx;
	struct ut_report_column *list;
	struct ut_report_table table = { .count = columns, .ruled = true };

	ut_arena_release(&p->arena);
	list = UT_NEW_N(&p->arena, struct ut_report_column, columns + 1);
	for (size_t i = 0; i < columns; i++)
		list[i].key = ut_arena_copy(&p->arena, names[i], strlen(names[i]));
	table.columns = list;
	p->cells = UT_NEW_N(&p->arena, struct ut_report_cell, columns + 1);
	p->count = columns;
	p->rows = 0;
	p->rc = ut_report_begin(p->report, &table, &p->err);
}

static struct ut_report_cell cell_of(const struct ut_value *v)
{
	struct ut_report_cell cell = { .text = { v->text, v->len } };

	switch (v->type) {
	case UT_VALUE_NULL:
		break;
	case UT_VALUE_INT:
		return ut_report_i64(v->number);
	case UT_VALUE_REAL:
		return ut_report_real(v->real);
	case UT_VALUE_TEXT:
		cell.type = UT_CELL_TEXT;
		break;
	case UT_VALUE_BLOB:
		cell.type = UT_CELL_BLOB;
		break;
	}
	return cell;
}

static int query_print_row(void *ctx, const struct ut_value *values)
{
	struct ut_print *p = ctx;

	if (p->rc)
		return p->rc;
	for (size_t i = 0; i < p->count; i++)
		p->cells[i] = cell_of(&values[i]);
	ut_report_add(p->report, p->cells);
	p->rows++;
	return 0;
}

static void query_print_end(void *ctx)
{
	struct ut_print *p = ctx;
	uint64_t left;

	if (p->rc)
		return;
	ut_report_end(p->report);
	left = ut_report_left(p->report, NULL);
	if (left && ut_report_for_people(p->report))
		ut_out_fmt(p->out, "... and %" PRIu64 " more; --rows 0 shows them\n", left);
}

void ut_print_init(struct ut_print *p, struct ut_out *out, const struct ut_report_opts *opts)
{
	*p = (struct ut_print){ .out = out, .report = ut_report_open(out, opts) };
	p->result = (struct ut_result){
		.ctx = p, .begin = query_print_begin, .row = query_print_row, .end = query_print_end
	};
}

void ut_print_release(struct ut_print *p)
{
	ut_report_close(p->report);
	ut_arena_release(&p->arena);
}
