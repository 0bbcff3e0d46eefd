/*
 * fuzz_summary.c - libFuzzer target: any bytes as a summary of analyze, compared with itself and
 * with one that has something.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/summary_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char other[] =
	"{\"schema\":\"unitrace.analyze/1\",\"totals\":{\"length_us\":9,\"idle_us\":3},"
	"\"ranks\":[{\"rank\":0,\"step_mean_us\":4,\"step_count\":2}],"
	"\"kernels\":[{\"name\":\"mm\",\"rank\":0,\"calls\":3,\"total_us\":6}]}";

/* Rows are in order, each once. */
static void check(const struct ut_ace_pair *pairs, size_t count, size_t before, size_t after)
{
	size_t old = 0, new = 0;

	for (size_t i = 0; i < count; i++) {
		if (!pairs[i].before && !pairs[i].after)
			abort();
		old += pairs[i].before != NULL;
		new += pairs[i].after != NULL;
	}
	if (old > before || new > after)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ut_str text = { (const char *)data, size };
	struct ut_ace_summary a, b;
	struct ut_err err = { 0 };

	for (int by_rank = 0; by_rank < 2; by_rank++) {
		struct ut_ace_pair *pairs;
		size_t count;

		if (ut_ace_summary_text(&b, "other", (struct ut_str){ other, strlen(other) },
					by_rank, &err))
			abort();
		if (!ut_ace_summary_text(&a, "fuzz", text, by_rank, &err)) {
			pairs = ut_ace_compare(&a, &b, 0, &count);
			check(pairs, count, a.count, b.count);
			free(pairs);
			pairs = ut_ace_compare(&a, &a, 2, &count);
			check(pairs, count, a.count, a.count);
			free(pairs);
			ut_ace_summary_release(&a);
		}
		ut_ace_summary_release(&b);
	}
	return 0;
}
