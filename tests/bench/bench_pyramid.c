/*
 * bench_pyramid.c - how long the level-of-detail pyramid takes to make and a window to draw.
 *
 *   bench_pyramid [ROWS]     10 million by default
 *
 * The trace is made up: 64 threads with spans three deep, or one thread with everything. A window
 * is 2,000 pixels wide and shows the whole trace or a part of it: a screen of lanes (SCREEN of
 * them, 16 pixels high on one of 1,024) by one thread, then all lanes of all tracks by as many
 * threads as there are cores. The budget is 5 ms. Beside them, in the same run: one bare pass over
 * the times of all rows, which a viewer without a pyramid would need for every picture.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "harness.h"
#include "model/build.h"
#include "model/pyramid.h"
#include "model/store.h"
#include "span_tree.h"

#define PIXELS 2000u
#define SCREEN 64u
#define NAMES  200u
#define ROUNDS 15

static uint64_t sum;

static double read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The machine is not ours alone. */
static double now(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void make_store(struct ut_store *s, uint64_t rows, uint32_t tracks)
{
	struct ut_build b;
	uint32_t types[NAMES], process;

	ut_build_init(&b);
	process = ut_trace_add_process(&b.store.trace, 1);
	for (uint32_t i = 0; i < NAMES; i++) {
		char name[32];
		int len = snprintf(name, sizeof(name), "operation %u", i);
		uint32_t id = ut_strtab_intern(&b.store.trace.strings, name, (size_t)len);

		types[i] = ut_types_intern(&b.store.types, &(struct ut_type){ .name = id });
	}
	for (uint32_t t = 0; t < tracks; t++) {
		uint32_t track = ut_trace_add_track(&b.store.trace, process, UT_TRACK_THREAD);
		uint64_t ts = 1000000 + dice() % 1000000;

		for (uint64_t i = 0; i < rows / tracks; i += 4)
			add_tree(&b, track, types, NAMES, &ts);
	}
	ut_build_finish(&b, s);
}

static struct ut_picture_lane *list_lanes(const struct ut_store *s, uint32_t count)
{
	struct ut_picture_lane *lanes = calloc(count, sizeof(*lanes));
	uint32_t n = 0;

	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		for (uint32_t i = 0; i < ut_pyramid_lanes(s, track)->count; i++, n++) {
			lanes[n].track = track;
			lanes[n].lane = i;
			lanes[n].cells = calloc(PIXELS, sizeof(*lanes[n].cells));
		}
	}
	return lanes;
}

/* The best of some rounds, on a clock. */
static double draw(const struct ut_store *s, const struct ut_picture *w,
		   const struct ut_picture_lane *lanes, uint32_t count, unsigned int threads,
		   clockid_t clock)
{
	double best = 1e9;

	for (int round = 0; round < bench_rounds(ROUNDS); round++) {
		double start = read_clock(clock), took;

		ut_pyramid_picture(s, w, lanes, count, threads);
		took = read_clock(clock) - start;
		best = took < best ? took : best;
		sum += lanes[0].cells[PIXELS / 2].busy;
	}
	return best;
}

static void draw_windows(const struct ut_store *s, uint32_t count, double bare)
{
	struct ut_picture_lane *lanes = list_lanes(s, count);
	uint32_t screen = count < SCREEN ? count : SCREEN;
	uint64_t length = s->trace.last - s->trace.first;

	for (uint64_t zoom = 1; zoom <= 1 << 20; zoom *= 8) {
		uint64_t width = length / zoom, t0 = s->trace.first + (length - width) / 3;
		const struct ut_picture w = { t0, t0 + width, PIXELS };
		double one = draw(s, &w, lanes, screen, 1, CLOCK_PROCESS_CPUTIME_ID);
		double all = draw(s, &w, lanes, count, 0, CLOCK_MONOTONIC);

		printf("  1/%-8llu of it: %2u lanes %6.3f ms of one core, %5.1f ns a pixel and "
		       "lane, %.4f x a bare pass; all lanes %7.3f ms of wall time\n",
		       (unsigned long long)zoom, screen, one * 1e3, one * 1e9 / PIXELS / screen,
		       one / bare, all * 1e3);
	}
	for (uint32_t i = 0; i < count; i++)
		free(lanes[i].cells);
	free(lanes);
}

static double bare_pass(const struct ut_store *s)
{
	double start = now();

	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		for (size_t n = 0; n < ut_rows_blocks(&s->rows[track]); n++) {
			const struct ut_block *b = &s->rows[track].blocks[n];

			for (uint32_t i = 0; i < b->count; i++)
				sum += b->ts[i] ^ b->val[i];
		}
	}
	return now() - start;
}

static uint64_t pyramid_bytes(const struct ut_store *s, uint32_t *lanes)
{
	uint64_t bytes = 0;

	*lanes = 0;
	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		const struct ut_lanes *l = ut_pyramid_lanes(s, track);

		for (uint32_t i = 0; i < l->count; i++) {
			bytes += sizeof(struct ut_lane) +
				 ut_lane_nodes(l->lanes[i].count) * sizeof(struct ut_node);
			bytes += l->lanes[i].count *
				 ((l->lanes[i].rows ? 4u : 0u) + (l->lanes[i].ends ? 8u : 0u));
		}
		*lanes += l->count;
	}
	return bytes;
}

static void bench(uint64_t rows, uint32_t tracks)
{
	struct ut_store s;
	uint32_t lanes;
	uint64_t bytes;
	double start, build, bare;

	make_store(&s, rows, tracks);
	bare = bare_pass(&s);
	bare = bare_pass(&s);
	start = now();
	ut_pyramid_build(&s, 1);
	build = now() - start;
	bytes = pyramid_bytes(&s, &lanes);
	printf("%llu rows, %u tracks, %u lanes: build %.1f M rows/s (%.1f x a bare pass), "
	       "%.2f bytes/row\n",
	       (unsigned long long)s.row_count, tracks, lanes, (double)s.row_count / build * 1e-6,
	       build / bare, (double)bytes / (double)s.row_count);
	draw_windows(&s, lanes, bare);
	ut_store_release(&s);
}

int main(int argc, char **argv)
{
	uint64_t rows = bench_size(argc, argv, 1, 10000000, 10000);

	bench(rows, 64);
	bench(rows, 1);
	return sum == 1;
}
