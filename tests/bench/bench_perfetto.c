/*
 * bench_perfetto.c - how fast Perfetto traces are read: made-up spans, plain and with arguments,
 * against a bare walk over the same packets and their fields. The floor is measured in the same
 * run, so the ratio holds on any machine. Memory is that of a process that does nothing else.
 *
 *   bench_perfetto [SPANS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "export/exporter.h"
#include "harness.h"
#include "import/importer.h"
#include "import/perfetto/protobuf.h"
#include "model/event.h"
#include "model/trace.h"
#include "text/out.h"
#include "text/source.h"

#define NAMES  200
#define TRACKS 8
#define ROUNDS 3

struct shape {
	const char *name;
	enum ut_track_type type;
	bool args;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine is not ours alone */
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_perfetto: %s\n", what);
	exit(1);
}

/* ---- a file -------------------------------------------------------------------------------- */

static void fill(struct ut_trace *t, enum ut_track_type type)
{
	uint32_t process;

	ut_trace_init(t);
	process = ut_trace_add_process(t, 31527);
	t->processes[process].name = ut_strtab_intern_z(&t->strings, "bench");
	for (uint32_t i = 0; i < TRACKS; i++) {
		uint32_t track = ut_trace_add_track(t, process, type);
		char name[16];

		snprintf(name, sizeof(name), "row %u", i);
		t->tracks[track].id = 31527 + i;
		t->tracks[track].name = ut_strtab_intern_z(&t->strings, name);
	}
	ut_strtab_intern_z(&t->strings, "my.domain");
	for (int i = 0; i < NAMES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "dnnl::primitive::execute::kind_%d", i);
		ut_strtab_intern_z(&t->strings, name);
	}
}

static uint32_t add_args(struct ut_trace *t, uint32_t seed)
{
	uint32_t at = (uint32_t)t->arg_count;

	ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, "bytes"), UT_ARG_U64)->value.u64 = seed;
	ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, "shape"), UT_ARG_STR)->value.str =
		ut_strtab_intern_z(&t->strings, "64x128x256");
	ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, "stream"), UT_ARG_I64)->value.i64 = 7;
	ut_trace_close_args(t);
	return at;
}

/* Pairs of an outer span and one inside it. */
static void write_trace(const char *path, const struct shape *shape, size_t spans)
{
	struct ut_out *out = ut_out_open(path, UT_OUT_OVERWRITE);
	struct ut_sink *sink = ut_export_perfetto.open(out);
	struct ut_event e = { .kind = UT_KIND_SPAN, .ts = 1794729441490426 };
	struct ut_err err = { 0 };
	struct ut_trace t;
	uint32_t seed = 1, first;

	fill(&t, shape->type);
	e.cat = ut_strtab_intern_z(&t.strings, "my.domain");
	first = e.cat + 1;
	for (size_t i = 0; i < spans; i++) {
		size_t mark = t.arg_count;

		seed = seed * 1664525 + 1013904223;
		e.name = first + (seed >> 8) % NAMES;
		e.track = (uint32_t)(i >> 10) % TRACKS;
		e.val = i & 1 ? 700 + (seed >> 20) : 5000 + (seed >> 20);
		e.ts += i & 1 ? 200 : 10007;
		e.args = shape->args ? add_args(&t, seed) : 0;
		ut_sink_event(sink, &t, &e);
		ut_trace_drop_args(&t, mark);
	}
	ut_export_perfetto.end_trace(sink, &t);
	ut_export_perfetto.close(sink);
	ut_trace_release(&t);
	if (ut_out_commit(out, &err))
		die(err.text);
}

/* ---- measuring ----------------------------------------------------------------------------- */

static uint64_t import(const char *path)
{
	struct ut_source source;
	struct ut_store store;
	struct ut_err err = { 0 };
	uint64_t rows;

	if (ut_source_open(&source, path, &err) ||
	    ut_import_perfetto.load(&source, NULL, &store, &err))
		die(err.text);
	ut_source_close(&source);
	rows = store.row_count;
	ut_store_release(&store);
	return rows;
}

/* The floor: every field of every packet and event is looked at, nothing is kept. */
static uint64_t walk(struct ut_pb m, int depth)
{
	struct ut_pb_field f;
	uint64_t sum = 0;

	while (ut_pb_next(&m, &f)) {
		sum += f.number ^ f.value;
		if (f.wire == UT_PB_BYTES && depth < 2 && (f.number == 1 || f.number == 11))
			sum += walk(ut_pb_inside(&f), depth + 1);
	}
	return sum;
}

static double best_walk(const char *path, size_t size)
{
	unsigned char *data = malloc(size);
	FILE *f = fopen(path, "rb");
	double best = 1e9;
	volatile uint64_t sink;

	if (!data || !f || fread(data, 1, size, f) != size)
		die("the file cannot be read back");
	fclose(f);
	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		double start = now(), took;

		sink = walk((struct ut_pb){ .at = data, .end = data + size }, 0);
		(void)sink;
		took = now() - start;
		best = took < best ? took : best;
	}
	free(data);
	return best;
}

/* For --import: what this process has used at most, in KiB. */
static void print_peak(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "VmHWM:", 6))
			printf("%ld\n", strtol(line + 6, NULL, 10));
	}
	if (f)
		fclose(f);
}

/* getrusage() would count what the parent had before the exec. */
static long peak_of(const char *self, const char *path)
{
	char command[512], answer[64] = "";
	FILE *f;

	snprintf(command, sizeof(command), "'%s' --import '%s'", self, path);
	f = popen(command, "r");
	if (!f || !fgets(answer, sizeof(answer), f) || pclose(f))
		die("the child failed");
	return strtol(answer, NULL, 10);
}

/* Peak memory of a process that imports the file, above one that does not. */
static double peak_bytes(const char *self, const char *path)
{
	return (double)(peak_of(self, path) - peak_of(self, "")) * 1024;
}

static size_t size_of(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size = -1;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0)
		die("the file cannot be opened");
	fclose(f);
	return (size_t)size;
}

static void bench(const char *self, const struct shape *shape, size_t spans)
{
	char path[] = "/tmp/bench_perfettoXXXXXX";
	double best = 1e9, peak, floor;
	size_t size;
	uint64_t rows = 0;

	close(mkstemp(path));
	write_trace(path, shape, spans);
	size = size_of(path);
	peak = peak_bytes(self, path);
	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		double start = now(), took;

		rows = import(path);
		took = now() - start;
		best = took < best ? took : best;
	}
	floor = best_walk(path, size);
	unlink(path);
	printf("%-20s %6.0f MB/s  %5.1f M spans/s  %4.1f B/span  %4.1f x a bare walk  "
	       "RSS %4.2f x the file\n",
	       shape->name, (double)size / best * 1e-6, (double)rows / best * 1e-6,
	       (double)size / (double)rows, best / floor, peak / (double)size);
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {
		{ "threads", UT_TRACK_THREAD, false },
		{ "threads, arguments", UT_TRACK_THREAD, true },
		{ "lanes", UT_TRACK_LANE, false },
		{ "overlapping", UT_TRACK_ASYNC, false },
	};
	size_t spans = bench_size(argc, argv, 1, 1000000, 1000);

	if (argc == 3 && !strcmp(argv[1], "--import")) {
		if (*argv[2])
			import(argv[2]);
		print_peak();
		return 0;
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		bench(argv[0], &shapes[i], spans);
	return 0;
}
