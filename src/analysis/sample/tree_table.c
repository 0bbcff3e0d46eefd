/* tree_table.c - trees of calls as tables: see hotspots_table.h. */
#include "sample/hotspots_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "sample/call_tree.h"
#include "sample/prof.h"
#include "sample/short_name.h"
#include "sample/table_parts.h"
#include "text/out.h"
#include "text/table_report.h"

#define MOST_INDENT 40u

enum {
	TOTAL,
	TOTAL_SHARE,
	SELF,
	SAMPLES,
	ID,
	PARENT,
	DEPTH,
	NAME,
	MODULE,
	COLUMNS
};

#define COLUMN_LIST(weight, unit_)                                                                 \
	{                                                                                          \
		[TOTAL] = { .key = "total", .title = "Total", .unit = unit_, .type = weight },     \
		[TOTAL_SHARE] = { .key = "total_share",                                            \
				  .title = "Total %",                                              \
				  .unit = "%",                                                     \
				  .type = UT_REPORT_SHARE },                                       \
		[SELF] = { .key = "self",                                                          \
			   .title = "Self",                                                        \
			   .unit = unit_,                                                          \
			   .type = weight,                                                         \
			   .if_any = true },                                                       \
		[SAMPLES] = { .key = "samples",                                                    \
			      .title = "Samples",                                                  \
			      .type = UT_REPORT_COUNT,                                             \
			      .readers = UT_FOR_PROGRAMS },                                        \
		[ID] = { .key = "id", .type = UT_REPORT_COUNT, .readers = UT_FOR_PROGRAMS },       \
		[PARENT] = { .key = "parent",                                                      \
			     .type = UT_REPORT_COUNT,                                              \
			     .readers = UT_FOR_PROGRAMS },                                         \
		[DEPTH] = { .key = "depth", .type = UT_REPORT_COUNT, .readers = UT_FOR_PROGRAMS }, \
		[NAME] = { .key = "name",                                                          \
			   .title = "Name",                                                        \
			   .type = UT_REPORT_TEXT,                                                 \
			   .most = UT_HOT_NAME_COLUMNS + MOST_INDENT },                            \
		[MODULE] = { .key = "module",                                                      \
			     .title = "Module",                                                    \
			     .type = UT_REPORT_TEXT,                                               \
			     .most = UT_HOT_MODULE_COLUMNS,                                        \
			     .if_any = true },                                                     \
	}

static const struct ut_report_column columns[UT_HOT_UNITS][COLUMNS] = {
	COLUMN_LIST(UT_REPORT_TIME, "ns"),
	COLUMN_LIST(UT_REPORT_BYTES, "bytes"),
	COLUMN_LIST(UT_REPORT_COUNT, NULL),
};

struct printing {
	const struct ut_call_tree *t;
	struct ut_report *report;
	bool people;
	bool upwards; /* callers are below what they call */
	uint64_t all, least;
	uint32_t *indent; /* by node */
	struct ut_buf name, shown;
};

int ut_call_tree_check_sort(const char *sort, struct ut_err *err)
{
	const struct ut_report_table table = { columns[0], COLUMNS, .ruled = true };

	return ut_report_check_sort(&table, sort, err);
}

/* Is there anything else to be shown beside it? Then it stands further in than its caller. */
static bool has_siblings(const struct printing *p, uint32_t node)
{
	const struct ut_tree_node *n = &p->t->nodes[node];
	uint32_t first = p->t->nodes[n->parent].first, second = p->t->nodes[first].next;

	/* what the caller did itself is something, too */
	return (second && p->t->nodes[second].total >= p->least) ||
	       p->t->nodes[n->parent].self * 20 > p->t->nodes[n->parent].total;
}

static void tree_table_add_name(struct printing *p, uint32_t node)
{
	const struct ut_tree_node *n = &p->t->nodes[node];
	const struct ut_prof_frame *f = &p->t->profile->functions[n->function];
	struct ut_str s = ut_prof_text(p->t->profile, f->function);
	uint32_t indent = 0;

	if (n->parent)
		indent = p->indent[n->parent] +
			 (has_siblings(p, node) || (p->upwards && !p->t->nodes[n->parent].parent));

	p->indent[node] = indent;
	p->name.len = 0;
	for (uint32_t i = 0; p->people && i < 2 * indent && i < MOST_INDENT; i++)
		ut_buf_char(&p->name, ' ');
	if (p->people)
		ut_prof_label(&p->name, p->t->profile, f);
	else if (f->function)
		ut_buf_add(&p->name, s.ptr, s.len);
	else
		ut_buf_text(&p->name, "[unknown]");
}

static bool print_node(void *ctx, uint32_t node, uint32_t depth)
{
	struct printing *p = ctx;
	const struct ut_tree_node *n = &p->t->nodes[node];
	const struct ut_prof_frame *f = &p->t->profile->functions[n->function];
	struct ut_report_cell cells[COLUMNS];

	if (n->total < p->least || !n->total)
		return false;
	tree_table_add_name(p, node);
	cells[TOTAL] = ut_report_u64(n->total);
	cells[TOTAL_SHARE] = ut_report_real(ut_hot_share(n->total, p->all));
	cells[SELF] =
		p->people && (p->upwards || !n->self) ? ut_report_none() : ut_report_u64(n->self);
	cells[SAMPLES] = ut_report_u64(n->samples);
	cells[ID] = ut_report_u64(node);
	cells[PARENT] = n->parent ? ut_report_u64(n->parent) : ut_report_none();
	cells[DEPTH] = ut_report_u64(depth);
	cells[NAME] = ut_report_str((struct ut_str){ p->name.data, p->name.len });
	cells[MODULE] = ut_hot_path_cell(p->t->profile, f->module, p->people);
	ut_report_add(p->report, cells);
	return true;
}

void ut_call_tree_print(struct ut_out *out, const struct ut_call_tree *t, double least,
			const struct ut_report_opts *opts)
{
	const struct ut_report_table table = { columns[ut_hot_unit(t->profile)], COLUMNS,
					       .ruled = true };
	struct printing p = { .t = t, .all = t->profile->weight };

	p.report = ut_report_start(out, opts, &table);
	p.people = ut_report_for_people(p.report);
	p.upwards = t->kind == UT_TREE_BOTTOM_UP || t->kind == UT_TREE_CALLERS;
	p.least = (uint64_t)((double)p.all * least / 100);
	p.indent = ut_make(t->count * sizeof(*p.indent));
	ut_call_tree_walk(t, print_node, &p);
	ut_report_finish(p.report);
	ut_buf_release(&p.name);
	ut_buf_release(&p.shown);
	free(p.indent);
}
