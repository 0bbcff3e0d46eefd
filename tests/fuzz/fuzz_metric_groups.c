/* fuzz_metric_groups.c - libFuzzer target: any text as a file of metric groups, and the list that a
 * backend gets of each. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/metric_list.h"
#include "metrics/metric_groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_metric_groups g = { 0 };
	struct ut_buf text = { 0 };
	struct ut_err err = { 0 };

	if (!ut_metric_groups_read(&g, "x", (struct ut_str){ (const char *)data, size }, &err)) {
		for (size_t i = 0; i < g.count; i++) {
			struct ut_metric_entry e;
			struct ut_str rest;
			size_t n = 0;

			text.len = 0;
			ut_metric_group_list(&g.items[i], &text);
			rest = (struct ut_str){ text.data, text.len };
			while (ut_metric_next(&rest, &e))
				n++;
			if (n != g.items[i].line_count)
				abort();
		}
		ut_metric_groups_print(&g, 0, &text);
	}
	ut_buf_release(&text);
	ut_metric_groups_release(&g);
	return 0;
}
