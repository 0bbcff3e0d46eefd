/*
 * bench_json.c - from Chrome JSON to columns: MB/s per core and memory per byte of text, beside
 * the bare scanner (step over every event) and Python's json, each in a process of its own.
 *
 *   bench_json [MB | FILE] [THREADS] [SHAPE]
 *
 * The made-up files look like those of several tools: see json_shapes.h. CPU time, because the
 * machine is not ours alone; the best of three runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "harness.h"
#include "import/importer.h"
#include "json_shapes.h"

#define ROUNDS 3

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_file(const struct shape *shape, const char *path, long size)
{
	double ts = 1700000000000.0;
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		exit(1);
	}
	fputs(shape->before, f);
	for (uint64_t i = 0; ftell(f) < size; i++) {
		ts += dice(20000) / 1e3;
		if (i)
			fputs(",\n", f);
		shape->put(f, i, ts);
	}
	fputs(shape->after, f);
	fclose(f);
}

/* ---- what is measured ---------------------------------------------------------------------- */

static ssize_t read_fd(void *ctx, void *to, size_t len, struct ut_err *err)
{
	(void)err;
	return read(*(int *)ctx, to, len);
}

/* Every event of the list that the cursor is in front of. */
static uint64_t scan_list(struct ut_json *j)
{
	uint64_t events = 0;
	bool more;

	ut_json_enter(j);
	do {
		ut_json_mark(j);
		do
			more = ut_json_element(j) && ut_json_skip(j, NULL);
		while (!more && ut_json_again(j));
		events += more;
	} while (more);
	return events;
}

/* Steps over every member of the outermost object, and every event of the list. */
static uint64_t scan(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct ut_str key;
	uint64_t events = 0;
	struct ut_json j;
	char first;
	bool more;

	ut_json_init(&j, read_fd, &fd, 0);
	do
		first = ut_json_peek(&j);
	while (!first && ut_json_again(&j));
	if (first == '[')
		events = scan_list(&j);
	else
		ut_json_enter(&j);
	while (first == '{') {
		ut_json_mark(&j);
		do
			more = ut_json_member(&j, &key);
		while (!more && ut_json_again(&j));
		if (!more)
			break;
		if (key.len == 11 && !memcmp(key.ptr, "traceEvents", 11)) {
			events = scan_list(&j);
		} else {
			(void)ut_json_hold(&j, NULL);
			(void)ut_json_skip(&j, NULL);
		}
	}
	ut_json_release(&j);
	close(fd);
	return events;
}

static void report(void *ctx, const char *path, const char *text)
{
	(void)ctx;
	fprintf(stderr, "%s: %s\n", path, text);
}

static uint64_t load(const char *path, unsigned int threads)
{
	const struct ut_import_opts opts = { .threads = threads, .warn = report };
	struct ut_store store;
	struct ut_err err = { 0 };
	uint64_t rows;

	if (ut_import(path, &opts, &store, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	rows = store.row_count;
	ut_store_release(&store);
	return rows;
}

enum job {
	SCAN,
	IMPORT,
	PARALLEL,
	PYTHON,
	JOBS
};

static const char *const job_names[] = { "bare scanner", "import", "import, parallel",
					 "python3 json" };

struct result {
	double cpu, wall; /* s */
	double rss;       /* bytes */
	uint64_t count;
};

static void work(enum job job, const char *path, unsigned int threads, int to)
{
	uint64_t count = 0;

	if (job == PYTHON) {
		dup2(to, 1);
		execlp("python3", "python3", "-c",
		       "import json,os,sys;d=json.load(open(sys.argv[1]));"
		       "d=d['traceEvents'] if isinstance(d,dict) else d;"
		       "os.write(1,len(d).to_bytes(8,'little'))",
		       path, (char *)NULL);
		_exit(77);
	}
	count = job == SCAN ? scan(path) : load(path, job == IMPORT ? 1 : threads);
	if (write(to, &count, sizeof(count)) != sizeof(count))
		_exit(1);
	_exit(0);
}

static bool once(enum job job, const char *path, unsigned int threads, struct result *r)
{
	struct rusage use;
	int fds[2], status;
	double start = now();
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0)
		return false;
	if (!pid)
		work(job, path, threads, fds[1]);
	close(fds[1]);
	if (read(fds[0], &r->count, sizeof(r->count)) != sizeof(r->count))
		r->count = 0;
	close(fds[0]);
	wait4(pid, &status, 0, &use);
	r->wall = now() - start;
	r->cpu = (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec * 1e-6 +
		 (double)use.ru_stime.tv_sec + (double)use.ru_stime.tv_usec * 1e-6;
	r->rss = (double)use.ru_maxrss * 1024;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool best(enum job job, const char *path, unsigned int threads, struct result *r)
{
	struct result try;

	for (int i = 0; i < (job == PYTHON ? 1 : bench_rounds(ROUNDS)); i++) {
		if (!once(job, path, threads, &try))
			return false;
		if (!i || try.cpu < r->cpu)
			*r = try;
	}
	return true;
}

static void compare(const char *path, unsigned int threads)
{
	struct result r[JOBS] = { 0 };
	struct stat st;
	double mb;

	if (stat(path, &st) < 0) {
		perror(path);
		exit(1);
	}
	mb = (double)st.st_size / 1e6;
	printf("%.0f MB of text\n", mb);
	for (enum job job = SCAN; job < JOBS; job++) {
		if (!best(job, path, threads, &r[job])) {
			printf("%-18s not measured\n", job_names[job]);
			continue;
		}
		printf("%-18s %7.0f MB/s per core, %7.0f MB/s wall, memory %.2f x the text, "
		       "%" PRIu64 " %s\n",
		       job_names[job], mb / r[job].cpu, mb / r[job].wall,
		       r[job].rss / (double)st.st_size, r[job].count,
		       job == IMPORT || job == PARALLEL ? "rows" : "events");
	}
	printf("import / bare scanner: %.2f of its speed\n", r[SCAN].cpu / r[IMPORT].cpu);
	if (r[PYTHON].cpu > 0)
		printf("import / python3 json: %.0f times its speed, %.2f of its memory\n",
		       r[PYTHON].cpu / r[IMPORT].cpu, r[IMPORT].rss / r[PYTHON].rss);
}

static void compare_shape(const struct shape *shape, long mb, unsigned int threads)
{
	char path[] = "/tmp/bench_json.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	make_file(shape, path, mb * 1000000);
	printf("%s: ", shape->name);
	compare(path, threads);
	close(fd);
	unlink(path);
}

int main(int argc, char **argv)
{
	unsigned int threads = argc > 2 ? (unsigned int)atoi(argv[2]) : 2;
	long mb = (long)bench_size(argc, argv, 1, 50, 1);

	if (argc > 1 && !mb) {
		compare(argv[1], threads);
		return 0;
	}
	for (size_t i = 0; i < COUNT_OF(shapes); i++) {
		if (argc <= 3 || !strcmp(argv[3], shapes[i].name))
			compare_shape(&shapes[i], mb, threads);
	}
	return 0;
}
