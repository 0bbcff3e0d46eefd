/*
 * plain_json.h - for fuzz targets: what we write is JSON that nobody has to repair.
 */
#ifndef UT_TESTS_FUZZ_PLAIN_JSON_H
#define UT_TESTS_FUZZ_PLAIN_JSON_H

#include <stdlib.h>

#include "base/json.h"

/* One JSON value and nothing else. */
static inline void must_be_json(const char *text, size_t len)
{
	struct ut_json j;

	ut_json_init_text(&j, text, len);
	if (!ut_json_skip(&j, NULL) || ut_json_peek(&j))
		abort();
	for (int i = 0; i < UT_JSON_REPAIRS; i++) {
		if (j.repairs[i].count)
			abort();
	}
	ut_json_release(&j);
}

#endif
