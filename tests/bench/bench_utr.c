/*
 * bench_utr.c - how long a saved trace takes to write and to open again.
 *
 *   bench_utr [MEGABYTES [STRINGS]]     1024 MB and 1 million strings by default
 *
 * Writes a made-up trace of that size into a file in $TMPDIR (/var/tmp), beside as many bytes out
 * of one buffer, which is what the disk and the page cache can do; then opens it, from the cache,
 * and draws the whole of it once. Finding a string by its text needs an index of all of them, which
 * is made when it is first asked for; and checking all sums reads every byte.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "export/utr_write.h"
#include "harness.h"
#include "import/importer.h"
#include "model/build.h"
#include "model/pyramid.h"
#include "text/out.h"

#define TRACKS 64u
#define PIXELS 2000u
#define ROUNDS 9

static char path[PATH_MAX];

static double clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Opening and writing wait for the kernel. */
static double now(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static void die(const struct ut_err *err)
{
	fprintf(stderr, "bench_utr: %s\n", err->text);
	unlink(path);
	exit(1);
}

static void add_names(struct ut_build *b, uint32_t strings)
{
	for (uint32_t i = 0; i < strings; i++) {
		char name[64];
		int len = snprintf(name, sizeof(name), "at::native::operation<%u>", i);

		ut_strtab_intern(&b->store.trace.strings, name, (size_t)len);
	}
}

/* An outer span and one inside it, the shape that most traces have; every fourth has arguments. */
static void make_store(struct ut_store *s, uint64_t rows, uint32_t strings)
{
	struct ut_build b;
	uint32_t types[256];

	ut_build_init(&b);
	ut_trace_add_process(&b.store.trace, 1);
	add_names(&b, strings);
	for (uint32_t i = 0; i < 256; i++)
		types[i] = ut_types_intern(&b.store.types, &(struct ut_type){ .name = i + 1 });
	for (uint32_t i = 0; i < TRACKS; i++)
		ut_trace_add_track(&b.store.trace, 0, UT_TRACK_THREAD);
	for (uint64_t i = 0; i < rows; i += 2) {
		const struct ut_arg args[] = { { .key = 1, .type = UT_ARG_U64, .value.u64 = i } };
		uint32_t track = (uint32_t)(i / 2 % TRACKS);
		uint32_t list = i % 8 ? 0 : ut_arglists_add(&b.store.args, args, 1);
		uint64_t ts = i / 2 / TRACKS * 1000;

		ut_build_add(&b, track, ts, 900, types[i % 251], list);
		ut_build_add(&b, track, ts + 100, 500, types[i % 241], 0);
	}
	ut_build_finish(&b, s);
}

static double write_store(const struct ut_store *s)
{
	struct ut_out *out = ut_out_open(path, UT_OUT_OVERWRITE);
	double start = now();
	struct ut_err err = { 0 };

	ut_utr_write(s, out);
	if (ut_out_commit(out, &err))
		die(&err);
	return now() - start;
}

/* As many bytes, as fast as they go. */
static double write_plain(uint64_t size)
{
	static char buffer[256 << 10];
	char other[PATH_MAX + 8];
	double start = now();
	int fd;

	snprintf(other, sizeof(other), "%s.plain", path);
	fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	while (fd >= 0 && size) {
		ssize_t n = write(fd, buffer, size < sizeof(buffer) ? size : sizeof(buffer));

		if (n <= 0)
			break;
		size -= (uint64_t)n;
	}
	if (fd < 0 || size)
		die(&(struct ut_err){ .text = "the disk is full" });
	close(fd);
	unlink(other);
	return now() - start;
}

static double open_store(struct ut_store *s)
{
	struct ut_err err = { 0 };
	double start = now();

	if (ut_import(path, NULL, s, &err))
		die(&err);
	return now() - start;
}

static double draw(const struct ut_store *s)
{
	static struct ut_cell cells[PIXELS];
	const struct ut_picture w = { s->trace.first, s->trace.last, PIXELS };
	double start = clock_of(CLOCK_PROCESS_CPUTIME_ID); /* the machine is not ours alone */

	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		for (uint32_t i = 0; i < ut_pyramid_lanes(s, track)->count; i++)
			ut_pyramid_window(s, track, i, &w, cells);
	}
	return clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static uint64_t file_size(void)
{
	int fd = open(path, O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);

	close(fd);
	return (uint64_t)size;
}

static void bench_write(const struct ut_store *s, double made, double built)
{
	double best = 1e9, plain = 1e9;
	uint64_t size;

	for (int i = 0; i < 3; i++) {
		double took = write_store(s);

		best = took < best ? took : best;
		size = file_size();
		took = write_plain(size);
		plain = took < plain ? took : plain;
	}
	printf("%llu rows, %u strings, %.1f MB, %.2f bytes a row; made in %.2f s, pyramid in %.2f "
	       "s\n",
	       (unsigned long long)s->row_count, s->trace.strings.count, (double)size * 1e-6,
	       (double)size / (double)s->row_count, made, built);
	printf("  write   %8.0f MB/s, %.2f x the time of plain writing (%.0f MB/s)\n",
	       (double)size / best * 1e-6, best / plain, (double)size / plain * 1e-6);
}

static void bench_open(void)
{
	const struct ut_import_opts checked = { .checked = true };
	double opened = 1e9, drawn = 1e9, first, sums;
	int rounds = bench_rounds(ROUNDS);
	struct ut_err err = { 0 };
	struct ut_store s;
	uint64_t size = file_size();

	for (int i = 0; i < rounds; i++) {
		double took = open_store(&s);

		opened = took < opened ? took : opened;
		took = draw(&s);
		drawn = took < drawn ? took : drawn;
		if (i + 1 < rounds)
			ut_store_release(&s);
	}
	first = now();
	ut_strtab_intern_z(&s.trace.strings, "is not there");
	first = now() - first;
	ut_store_release(&s);
	sums = now();
	if (ut_import(path, &checked, &s, &err))
		die(&err);
	sums = now() - sums;
	ut_store_release(&s);
	printf("  open    %8.3f ms (%.5f x checking all sums: %.0f MB/s)\n", opened * 1e3,
	       opened / sums, (double)size / sums * 1e-6);
	printf("  draw    %8.3f ms for all lanes, 2,000 pixels wide\n", drawn * 1e3);
	printf("  find    %8.3f ms for the first string that is looked for\n", first * 1e3);
}

static void bench(uint64_t bytes, uint32_t strings)
{
	struct ut_store s;
	double start = now(), made, built;

	make_store(&s, bytes / 34 / 2 * 2, strings);
	made = now() - start;
	start = now();
	ut_pyramid_build(&s, 1);
	built = now() - start;
	bench_write(&s, made, built);
	ut_store_release(&s);
	bench_open();
	unlink(path);
}

int main(int argc, char **argv)
{
	uint64_t bytes = bench_size(argc, argv, 1, 1024, 1) << 20;
	uint32_t strings = (uint32_t)bench_size(argc, argv, 2, 1000000, 10000);
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/bench_utr.%ld.utr", dir && *dir ? dir : "/var/tmp",
		 (long)getpid());
	bench(bytes, 1000);
	bench(bytes, strings);
	return 0;
}
