/*
 * fuzz_category.c - libFuzzer target: any bytes as a schema (INI and JSON) and as a report of
 * kernels. What was read is written and read again, and must say the same of every name.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "category/schema.h"
#include "category/tally.h"
#include "category/tally_table.h"
#include "text/out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct ut_schema *s, const struct ut_tally *t)
{
	struct ut_schema again = { 0 };
	struct ut_buf json = { 0 };

	if (ut_schema_write_json(s, t->count % 2, &json, NULL)) {
		ut_buf_release(&json);
		return; /* too deep */
	}
	if (ut_schema_read_json(&again, "again", (struct ut_str){ json.data, json.len }, NULL))
		abort();
	for (size_t i = 0; i < t->count; i++) {
		bool a = ut_schema_category(s, t->names[i].name).ptr != NULL;
		bool b = ut_schema_category(&again, t->names[i].name).ptr != NULL;

		if (a != b)
			abort();
	}
	ut_buf_release(&json);
	ut_schema_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ut_str text = { (const char *)data, size };
	struct ut_schema ini = { .ignore_spaces = size % 2 }, json = { 0 };
	struct ut_out *out = ut_out_open_memory();
	struct ut_tally tally = { 0 };
	size_t count;

	ut_tally_report(&tally, text);
	if (!ut_schema_read_json(&json, "fuzz", text, NULL))
		ut_tally_json(out, ut_tally_lines(&tally, &json, UT_AGGREGATE_MEDIAN, true, &count),
			      count);
	if (!ut_schema_read_ini(&ini, "fuzz", text, NULL, NULL)) {
		ut_tally_json(out, ut_tally_lines(&tally, &ini, UT_AGGREGATE_MIN_1, false, &count),
			      count);
		if (ut_utf8_valid(text.ptr, text.len)) /* JSON has nothing else */
			check_again(&ini, &tally);
	}
	ut_tally_release(&tally);
	ut_schema_release(&ini);
	ut_schema_release(&json);
	ut_out_abandon(out);
	return 0;
}
