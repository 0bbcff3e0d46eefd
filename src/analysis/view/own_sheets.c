/*
 * own_sheets.c - what the viewer itself attaches to every view. A page with its trace inside has
 * these sheets beside it, and does without this file.
 */
#include "view/advice.h"
#include "view/attached.h"
#include "view/bottlenecks.h"
#include "view/metrics_sheet.h"
#include "view/ranks_sheet.h"
#include "view/sample_stacks.h"

void ut_view_attach_own(struct ut_view *v)
{
	ut_view_attach_bottlenecks(v);
	ut_view_attach_metrics(v);
	ut_view_attach_ranks(v);
	ut_view_attach_advice(v);
	ut_view_attach_stacks(v);
}
