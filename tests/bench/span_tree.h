/*
 * span_tree.h - spans to measure with: the same in every benchmark, at random and the same each
 * time.
 */
#ifndef UT_BENCH_SPAN_TREE_H
#define UT_BENCH_SPAN_TREE_H

#include <stdint.h>

#include "model/build.h"

static inline uint32_t dice(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33);
}

/* An outer span, one inside it, and two in that; names: how many types there are. */
static inline void add_tree(struct ut_build *b, uint32_t track, const uint32_t *types,
			    uint32_t names, uint64_t *ts)
{
	uint64_t a = 300 + dice() % 500, c = 300 + dice() % 500, gap = dice() % 400;

	ut_build_add(b, track, *ts, a + c + 300, types[dice() % names], 0);
	ut_build_add(b, track, *ts + 50, a + c + 200, types[dice() % names], 0);
	ut_build_add(b, track, *ts + 100, a, types[dice() % names], 0);
	ut_build_add(b, track, *ts + 150 + a, c, types[dice() % names], 0);
	*ts += a + c + 300 + gap;
}

#endif
