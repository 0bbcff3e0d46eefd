/*
 * bench_export.c - how fast the exporters write: a million made-up spans to /dev/null (or to a
 * file, where the format needs one; as many samples, where it takes nothing else), against a bare
 * copy of the same bytes. The floor is measured
 * in the same run, so the ratio holds on any machine. And how fast the summary counts them, which
 * most runs do besides.
 *
 *   bench_export [EVENTS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/summary.h"
#include "export/exporter.h"
#include "harness.h"
#include "model/event.h"
#include "model/trace.h"
#include "text/out.h"
#include "view/page.h"

#define NAMES  200
#define TRACKS 8
#define ROUNDS 5
#define DEPTH  20

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine is not ours alone */
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fill(struct ut_trace *t)
{
	uint32_t process;

	ut_trace_init(t);
	process = ut_trace_add_process(t, 31527);
	t->processes[process].name = ut_strtab_intern_z(&t->strings, "bench");
	for (uint32_t i = 0; i < TRACKS; i++) {
		uint32_t track = ut_trace_add_track(t, process, UT_TRACK_THREAD);

		t->tracks[track].id = 31527 + i;
	}
	ut_strtab_intern_z(&t->strings, "my.domain");
	for (int i = 0; i < NAMES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "dnnl::primitive::execute::kind_%d", i);
		ut_strtab_intern_z(&t->strings, name);
	}
}

/* Pairs of an outer span and one inside it, the shape that most traces have. */
static void feed(struct ut_sink *sink, const struct ut_trace *t, size_t events)
{
	struct ut_event e = { .kind = UT_KIND_SPAN, .cat = 2, .ts = 1794729441490426 };
	uint32_t seed = 1;

	for (size_t i = 0; i < events; i++) {
		seed = seed * 1664525 + 1013904223;
		e.name = 3 + (seed >> 8) % NAMES;
		e.track = (uint32_t)(i >> 10) % TRACKS;
		e.val = i & 1 ? 700 + (seed >> 20) : 5000 + (seed >> 20);
		e.ts += i & 1 ? 200 : 10007;
		ut_sink_event(sink, t, &e);
	}
}

/* Stacks of up to DEPTH functions, a sample each millisecond. */
static void feed_samples(struct ut_sink *sink, struct ut_trace *t, size_t events)
{
	struct ut_event e = { .kind = UT_KIND_SAMPLE, .ts = 1794729441490426 };
	uint32_t stacks[NAMES], seed = 1;

	e.name = ut_strtab_intern_z(&t->strings, "cpu-clock");
	for (uint32_t i = 0; i < NAMES; i++) {
		struct ut_place_in_code place = { .address = 4096 + i * 64, .function = 3 + i };
		uint32_t number = ut_stacks_place(&t->stacks, &t->arena, &place);

		stacks[i] = ut_stacks_site(&t->stacks, &t->arena, i % DEPTH ? stacks[i - 1] : 0,
					   number);
	}
	for (size_t i = 0; i < events; i++) {
		seed = seed * 1664525 + 1013904223;
		e.track = (uint32_t)i % TRACKS;
		e.val = ut_sample_val(stacks[(seed >> 8) % NAMES], 1000000);
		e.ts += 1000000 / TRACKS;
		ut_sink_event(sink, t, &e);
	}
}

static bool takes_samples_only(const struct ut_exporter *x)
{
	return x == &ut_export_folded || x == &ut_export_pprof || x == &ut_export_speedscope ||
	       x == &ut_export_firefox;
}

static void write_trace(const struct ut_exporter *x, struct ut_out *out, size_t events)
{
	struct ut_sink *sink = x->open(out);
	struct ut_trace t;

	fill(&t);
	if (takes_samples_only(x))
		feed_samples(sink, &t, events);
	else
		feed(sink, &t, events);
	x->end_trace(sink, &t);
	x->close(sink);
	ut_trace_release(&t);
}

static double best_export(const struct ut_exporter *x, const char *path, size_t events)
{
	double best = 1e9;

	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		struct ut_out *out = ut_out_open(path, UT_OUT_OVERWRITE);
		double start = now(), took;
		struct ut_err err = { 0 };

		write_trace(x, out, events);
		if (ut_out_commit(out, &err)) {
			fprintf(stderr, "bench_export: %s\n", err.text);
			exit(1);
		}
		took = now() - start;
		best = took < best ? took : best;
	}
	return best;
}

/* The floor: the same bytes, copied through a buffer of the same size. */
static double best_copy(const char *data, size_t len)
{
	static char buffer[256 << 10];
	double best = 1e9;

	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		double start = now(), took;

		for (size_t at = 0; at < len; at += sizeof(buffer)) {
			size_t left = len - at;

			memcpy(buffer, data + at, left < sizeof(buffer) ? left : sizeof(buffer));
			__asm__ volatile("" : : "r"(buffer) : "memory");
		}
		took = now() - start;
		best = took < best ? took : best;
	}
	return best;
}

static void report(const struct ut_exporter *x, size_t events, double took, const char *data,
		   size_t len)
{
	printf("%-10s %6.1f M events/s  %7.1f MB/s  %5.1f B/event  %5.1f x memcpy\n", x->name,
	       (double)events / took * 1e-6, (double)len / took * 1e-6,
	       (double)len / (double)events, took / best_copy(data, len));
}

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	char *data = NULL;
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) <= 0 || fseek(f, 0, SEEK_SET) ||
	    !(data = malloc((size_t)size)) || fread(data, 1, (size_t)size, f) != (size_t)size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	*len = (size_t)size;
	return data;
}

/* A format that opens its file by name (SQLite) takes neither memory nor /dev/null. */
static void bench_file(const struct ut_exporter *x, size_t events)
{
	const char *tmp = getenv("TMPDIR");
	char dir[4096], path[4096 + 8];
	double took;
	char *data;
	size_t len;

	snprintf(dir, sizeof(dir), "%s/bench_export.XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		perror(dir);
		exit(1);
	}
	snprintf(path, sizeof(path), "%s/trace", dir);
	took = best_export(x, path, events);
	data = read_file(path, &len);
	report(x, events, took, data, len);
	free(data);
	unlink(path);
	rmdir(dir);
}

/* The format of pages needs one, which is built where there is Node. */
static bool is_built(const struct ut_exporter *x)
{
	struct ut_page page;

	return strcmp(x->name, "html") != 0 || ut_page_get(&page);
}

static void bench(const struct ut_exporter *x, size_t events)
{
	struct ut_out *memory;
	const char *data;
	size_t len;

	if (!is_built(x)) {
		printf("%-10s skipped: built without the viewer's page\n", x->name);
		return;
	}
	memory = ut_out_open_memory();
	write_trace(x, memory, events);
	data = ut_out_data(memory, &len);
	if (len)
		report(x, events, best_export(x, "/dev/null", events), data, len);
	else
		bench_file(x, events);
	ut_out_abandon(memory);
}

static void bench_summary(size_t events)
{
	double best = 1e9;

	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		struct ut_summary s;
		struct ut_trace t;
		double start = now(), took;

		ut_summary_init(&s);
		fill(&t);
		feed(&s.sink, &t, events);
		ut_summary_finish(&s);
		took = now() - start;
		best = took < best ? took : best;
		ut_trace_release(&t);
		ut_summary_release(&s);
	}
	printf("%-10s %6.1f M events/s\n", "summary", (double)events / best * 1e-6);
}

int main(int argc, char **argv)
{
	size_t events = bench_size(argc, argv, 1, 1000000, 1000);

	for (size_t i = 0; ut_exporters[i]; i++)
		bench(ut_exporters[i], events);
	bench_summary(events);
	return 0;
}
