/*
 * bench_stats.c - how fast statistics are made of columns in memory, against a bare loop that sums
 * up the durations of the same rows: what reading them costs at least. The ratio is taken in one
 * run, so it holds on any machine; the budget is 15 ns a row.
 *
 *   bench_stats [ROWS] [NAMES]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyze/filter.h"
#include "analyze/stats.h"
#include "harness.h"
#include "model/build.h"

#define TRACKS 8
#define ROUNDS 3
#define BUDGET 15.0 /* ns a row */

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Calls of two to four levels, lengths over three powers of ten, as in traces of programs. */
static void fill(struct ut_store *store, uint64_t rows, uint32_t names)
{
	struct ut_build b;
	uint32_t *types = calloc(names, sizeof(*types));
	uint32_t process;
	uint64_t seed = 1, ts = 1000000;

	ut_build_init(&b);
	process = ut_trace_add_process(&b.store.trace, 1);
	for (uint32_t i = 0; i < TRACKS; i++)
		ut_trace_add_track(&b.store.trace, process, UT_TRACK_THREAD);
	for (uint32_t i = 0; i < names; i++) {
		struct ut_type type = { 0 };
		char name[64];

		snprintf(name, sizeof(name), "dnnl::primitive::execute::kind_%" PRIu32, i);
		type.name = ut_strtab_intern_z(&b.store.trace.strings, name);
		types[i] = ut_types_intern(&b.store.types, &type);
	}
	for (uint64_t i = 0; i < rows; i++) {
		uint32_t track = (uint32_t)(i * TRACKS / rows), level = i & 3;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		if (!level)
			ts += 200000;
		ut_build_add(&b, track, ts + level * 100 + (seed >> 56),
			     (40000u >> level * 3) + (seed >> 40) % (100000u >> level * 3),
			     types[(((seed >> 33) % names & ~3u) + level) % names], 0);
	}
	ut_build_finish(&b, store);
	free(types);
}

static uint64_t sum_lengths(const struct ut_store *store)
{
	uint64_t sum = 0;

	for (size_t t = 0; t < store->trace.track_count; t++) {
		for (size_t n = 0; n < ut_rows_blocks(&store->rows[t]); n++) {
			const struct ut_block *b = &store->rows[t].blocks[n];

			for (uint32_t i = 0; i < b->count; i++)
				sum += b->val[i];
		}
	}
	return sum;
}

static double best_sum(const struct ut_store *store)
{
	static volatile uint64_t keep;
	double best = 1e9;

	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		double start = now(CLOCK_PROCESS_CPUTIME_ID), took;

		keep = sum_lengths(store);
		took = now(CLOCK_PROCESS_CPUTIME_ID) - start;
		best = took < best ? took : best;
	}
	(void)keep;
	return best;
}

static void bench(const char *what, const struct ut_store *store, const struct ut_filter *filter,
		  unsigned int by, unsigned int threads)
{
	double bare = best_sum(store), best = 1e9, wall = 1e9;

	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		double start = now(CLOCK_PROCESS_CPUTIME_ID), clock = now(CLOCK_MONOTONIC), took;
		struct ut_stats s;

		ut_stats_init(&s, by);
		ut_stats_add(&s, store, filter, threads);
		took = now(CLOCK_PROCESS_CPUTIME_ID) - start;
		clock = now(CLOCK_MONOTONIC) - clock;
		best = took < best ? took : best;
		wall = clock < wall ? clock : wall;
		ut_stats_release(&s);
	}
	printf("%-22s %6.2f ns a row (budget %.0f)  %5.1f x a bare sum  %6.2f s for 100 M rows, "
	       "%6.2f s of wall time\n",
	       what, best / (double)store->row_count * 1e9, BUDGET, best / bare,
	       best / (double)store->row_count * 1e8, wall / (double)store->row_count * 1e8);
}

int main(int argc, char **argv)
{
	uint64_t rows = bench_size(argc, argv, 1, 20000000, 10000);
	uint32_t names = (uint32_t)bench_size(argc, argv, 2, 200, 200);
	struct ut_filter_opts opts = { .min_dur = "1us" };
	struct ut_filter filter;
	struct ut_store store;

	if (!rows || !names || ut_filter_init(&filter, &opts, NULL))
		return 2;
	fill(&store, rows, names);
	bench("by name", &store, NULL, 1u << UT_BY_NAME, 1);
	bench("by name, 2 threads", &store, NULL, 1u << UT_BY_NAME, 2);
	bench("by name and thread", &store, NULL, 1u << UT_BY_NAME | 1u << UT_BY_TRACK, 1);
	bench("spans of 1 us and more", &store, &filter, 1u << UT_BY_NAME, 1);
	ut_filter_release(&filter);
	ut_store_release(&store);
	return 0;
}
