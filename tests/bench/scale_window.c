/*
 * scale_window.c FILE - what it takes to show a saved trace: opening it, and drawing all of its
 * lanes, 2000 pixels wide, for the whole of its time and for a thousandth in its middle; and how
 * many bytes its statistics per name are on their way to another rank. Run by bench_scale.py;
 * prints ms of CPU time, the best of five.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyze/stats.h"
#include "analyze/stats_pack.h"
#include "base/str.h"
#include "import/importer.h"
#include "model/pyramid.h"

#define PIXELS  2000
#define REPEATS 5

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void draw_all(const struct ut_store *s, const struct ut_picture *w)
{
	static struct ut_cell cells[PIXELS];

	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		for (uint32_t lane = 0; lane < ut_pyramid_lanes(s, track)->count; lane++)
			ut_pyramid_window(s, track, lane, w, cells);
	}
}

static double draw_ms(const struct ut_store *s, const struct ut_picture *w)
{
	double best = 1e9;

	for (int i = 0; i < REPEATS; i++) {
		double start = cpu_ms(), took;

		draw_all(s, w);
		took = cpu_ms() - start;
		best = took < best ? took : best;
	}
	return best;
}

static size_t table_bytes(const struct ut_store *s)
{
	struct ut_buf packed = { 0 };
	struct ut_stats stats;
	size_t len;

	ut_stats_init(&stats, 1u << UT_BY_NAME);
	ut_stats_add(&stats, s, NULL, 1);
	ut_stats_pack(&stats, &packed);
	len = packed.len;
	ut_buf_release(&packed);
	ut_stats_release(&stats);
	return len;
}

int main(int argc, char **argv)
{
	struct ut_import_opts opts = { .threads = 1 };
	struct ut_err err = { 0 };
	struct ut_picture all, part;
	struct ut_store store;
	double start = cpu_ms(), opened;

	if (argc < 2 || ut_import(argv[1], &opts, &store, &err)) {
		fprintf(stderr, "scale_window: %s\n", argc < 2 ? "FILE is missing" : err.text);
		return 1;
	}
	opened = cpu_ms() - start;
	if (!store.pyramid)
		ut_pyramid_build(&store, 1);
	all = (struct ut_picture){ store.trace.first, store.trace.last, PIXELS };
	part = all;
	part.t0 += (all.t1 - all.t0) / 2;
	part.t1 = part.t0 + (all.t1 - all.t0) / 1000 + 1;
	printf("open %.2f whole %.2f part %.2f table %zu\n", opened, draw_ms(&store, &all),
	       draw_ms(&store, &part), table_bytes(&store));
	ut_store_release(&store);
	return 0;
}
