/*
 * fuzz_kernels.c - libFuzzer target: any bytes as a Chrome trace, and what is said of its kernels:
 * verdicts by kernel, op, task and line, and the sheets of the viewer's tabs.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "ops/kernel_groups.h"
#include "ops/kernel_table.h"
#include "text/out.h"
#include "text/table_report.h"
#include "trace.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(struct ut_store *store, enum ut_kernel_by by, uint64_t *launches)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_kernel_groups g;
	uint64_t sum = 0;

	ut_kernel_groups_init(&g, by);
	ut_kernel_groups_add(&g, store);
	ut_kernel_groups_finish(&g);
	for (size_t i = 0; i < g.group_count; i++)
		sum += g.groups[i].launches;
	need(by == UT_BY_KERNEL || sum == *launches, "every way to add up has the same launches");
	*launches = sum;
	ut_kernel_table_print(out, &g, &(struct ut_report_opts){ .format = UT_REPORT_JSON });
	ut_kernel_groups_release(&g);
	ut_out_abandon(out);
}

/* What a page would be given: one line of JSON each. */
static void ask(struct ut_view *view, const char *tool)
{
	struct ut_out *out = ut_out_open_memory();
	enum ut_answer kind = UT_ANSWER_JSON;
	struct ut_err err = { 0 };
	char question[100];
	const char *text;
	size_t len;

	snprintf(question, sizeof(question), "{\"tool\":\"%s\",\"name\":\"%s\"}", tool,
		 !strcmp(tool, "kernels") ? "verdicts" : tool);
	if (!ut_view_ask(view, "sheet", ut_str_of(question), out, &kind, &err)) {
		text = ut_out_data(out, &len);
		need(len && !memchr(text, '\n', len), "a sheet is one line");
	}
	ut_out_abandon(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_store store;
	struct ut_view *view;
	uint64_t launches = 0;

	if (load_trace(data, size, &store))
		return 0;
	for (int by = UT_BY_KERNEL; by < UT_KERNEL_BYS; by++)
		evaluate(&store, (enum ut_kernel_by)by, &launches);
	view = ut_view_new();
	ut_view_add(view, "fuzz", &store);
	ut_view_ready(view, 1);
	ask(view, "kernels");
	ask(view, "metrics");
	ask(view, "roofline");
	ut_view_free(view);
	return 0;
}
