/*
 * bench_view_ask.c - what the viewer's answers cost, without the server around them.
 *
 *   bench_view_ask [ROWS]     10 million by default
 *
 * The trace and the windows are those of bench_view.py: 64 threads with spans three deep, screens
 * of 1,400 pixels and 64 lanes, anywhere, from everything to a hundred thousandth of it. CPU time,
 * since the machine is not ours alone; the floor is measured in the same run: of windows, copying
 * as many bytes; of searches, one bare pass over the times and lengths of all rows.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "harness.h"
#include "model/build.h"
#include "model/store.h"
#include "span_tree.h"
#include "text/out.h"
#include "view/view.h"

#define NAMES   200u
#define TRACKS  64u
#define LANES   192u /* three of each */
#define SCREEN  64u
#define WINDOWS 600
#define ROUNDS  5

static volatile uint64_t sum;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* How long it is, in ns. */
static uint64_t make_store(struct ut_store *s, uint64_t rows)
{
	uint32_t types[NAMES], process;
	struct ut_build b;
	uint64_t last = 0;

	ut_build_init(&b);
	process = ut_trace_add_process(&b.store.trace, 1);
	for (uint32_t i = 0; i < NAMES; i++) {
		char name[32];
		int len = snprintf(name, sizeof(name), "function %u", i);
		uint32_t id = ut_strtab_intern(&b.store.trace.strings, name, (size_t)len);

		types[i] = ut_types_intern(&b.store.types, &(struct ut_type){ .name = id });
	}
	for (uint32_t t = 0; t < TRACKS; t++) {
		uint32_t track = ut_trace_add_track(&b.store.trace, process, UT_TRACK_THREAD);
		uint64_t ts = 0;

		b.store.trace.tracks[track].id = t + 1;
		for (uint64_t i = 0; i < rows / TRACKS; i += 4)
			add_tree(&b, track, types, NAMES, &ts);
		last = ts > last ? ts : last;
	}
	b.store.trace.last = last;
	ut_build_finish(&b, s);
	return last;
}

/* One question; how long the answer is. */
static size_t ask(struct ut_view *v, const char *method, const struct ut_buf *json)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_err err = { 0 };
	enum ut_answer kind;
	size_t len = 0;

	if (ut_view_ask(v, method, (struct ut_str){ json->data, json->len }, out, &kind, &err)) {
		fprintf(stderr, "%s: %s\n", method, err.text);
		exit(1);
	}
	ut_out_data(out, &len);
	ut_out_abandon(out);
	return len;
}

static void make_window(struct ut_buf *json, uint64_t span)
{
	double width = (double)span * pow(10, -5.0 * (dice() % 1000000) / 1e6);
	double t0 = ((double)span - width) * (dice() % 1000000) / 1e6;
	uint32_t first = dice() % (LANES - SCREEN);

	json->len = 0;
	ut_buf_fmt(json, "{\"t0\":%.3f,\"t1\":%.3f,\"pixels\":1400,\"lanes\":[", t0, t0 + width);
	for (uint32_t i = first; i < first + SCREEN; i++)
		ut_buf_fmt(json, "%s[%u,%u]", i > first ? "," : "", i / 3, i % 3);
	ut_buf_text(json, "]}");
}

static double copy_bytes(size_t len)
{
	char *from = malloc(len + 1), *to = malloc(len + 1);
	double start;

	memset(from, 1, len);
	memset(to, 2, len);
	start = now();
	for (int i = 0; i < WINDOWS; i++) {
		memcpy(to, from, len);
		sum += (uint64_t)to[(size_t)i * 7 % (len + 1)];
	}
	start = now() - start;
	free(from);
	free(to);
	return start / WINDOWS;
}

static void report_windows(struct ut_view *v, uint64_t span)
{
	int rounds = bench_rounds(ROUNDS);
	struct ut_buf json = { 0 };
	double best = 1e9, floor;
	size_t len = 0;

	for (int round = 0; round < rounds; round++) {
		double took = 0;

		for (int i = 0; i < WINDOWS; i++) {
			double start;

			make_window(&json, span);
			start = now();
			len += ask(v, "window", &json);
			took += now() - start;
		}
		best = took < best ? took : best;
	}
	len /= (size_t)WINDOWS * (size_t)rounds;
	floor = copy_bytes(len);
	printf("a window: %.3f ms, %.2f MB; %.1f x copying as much (%.3f ms)\n", best / WINDOWS,
	       (double)len / 1e6, best / WINDOWS / floor, floor);
	ut_buf_release(&json);
}

static double bare_pass(const struct ut_store *s)
{
	double start = now();

	for (uint32_t t = 0; t < s->trace.track_count; t++) {
		for (size_t n = 0; n < ut_rows_blocks(&s->rows[t]); n++) {
			const struct ut_block *b = &s->rows[t].blocks[n];
			uint64_t all = 0;

			for (uint32_t i = 0; i < b->count; i++)
				all += b->ts[i] ^ b->val[i];
			sum += all;
		}
	}
	return now() - start;
}

static void report_search(struct ut_view *v, const struct ut_store *s, const char *query)
{
	struct ut_buf json = { 0 };
	double best = 1e9, floor = 1e9;

	ut_buf_fmt(&json, "{\"query\":\"%s\",\"limit\":1000,\"scope\":{}}", query);
	for (int round = 0; round < bench_rounds(ROUNDS); round++) {
		double start = now(), took;

		ask(v, "search", &json);
		took = now() - start;
		best = took < best ? took : best;
		took = bare_pass(s);
		floor = took < floor ? took : floor;
	}
	printf("search %-12s %.1f ms; %.1f x a bare pass (%.1f ms)\n", query, best, best / floor,
	       floor);
	ut_buf_release(&json);
}

int main(int argc, char **argv)
{
	uint64_t rows = bench_size(argc, argv, 1, 10000000, 10000), span;
	struct ut_view *v = ut_view_new();
	struct ut_store store;

	/* What is freed stays, as it does in the threads of a server. */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	span = make_store(&store, rows);
	ut_view_lend(v, "bench", &store);
	ut_view_ready(v, 0);
	report_windows(v, span);
	report_search(v, &store, "function 7");
	report_search(v, &store, "dur:>1us");
	report_search(v, &store, "self:>700"); /* a tenth of all */
	report_search(v, &store, "self:>250"); /* half of them */
	ut_view_free(v);
	ut_store_release(&store);
	return 0;
}
