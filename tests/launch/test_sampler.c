/* test_sampler.c - tests src/record/launch/cpu/sampler.h: a busy process is attached to and left
 * alone. */
#include "launch/cpu/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "support/unit.h"
#include "support/wait.h"
#include "wire/clock.h"
#include "wire/cpu_file.h"

/* How often is attached to a process; a thousand times with UNITRACE_LONG=1. */
static int attempts(void)
{
	const char *full = getenv("UNITRACE_LONG");

	return full && !strcmp(full, "1") ? 1000 : 200;
}

static char dir[] = "/tmp/ut_samplerXXXXXX";

/* Something to compute whose result depends on every step. Until the pipe is closed. */
static uint64_t compute(int until, uint64_t *rounds)
{
	uint64_t x = 1;
	char none;

	fcntl(until, F_SETFL, O_NONBLOCK);
	while (read(until, &none, 1) < 0) {
		for (int i = 0; i < 100000; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
		++*rounds;
	}
	return x;
}

/* The same in a few steps: two rounds of x = ax + b are one of x = aax + ab + b. */
static uint64_t again(uint64_t rounds)
{
	uint64_t a = 6364136223846793005u, b = 1442695040888963407u, x = 1;

	for (uint64_t n = rounds * 100000; n; n >>= 1) {
		if (n & 1)
			x = a * x + b;
		b = a * b + b;
		a *= a;
	}
	return x;
}

struct child {
	pid_t pid;
	int go, back;
};

/* Others that are busy, and new ones all the time, until the process ends. */
static void *idle_work(void *arg)
{
	for (volatile uint64_t n = 0; n < 20000000; n++)
		;
	return arg;
}

static void *keep_busy(void *arg)
{
	pthread_t thread;

	while (!pthread_create(&thread, NULL, idle_work, NULL))
		pthread_join(thread, NULL);
	return arg;
}

static void start_others(size_t count)
{
	pthread_t thread;

	while (count--)
		assert_int_equal(pthread_create(&thread, NULL, keep_busy, NULL), 0);
}

static struct child start(size_t others)
{
	int go[2], back[2];
	struct child c;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(back), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		uint64_t result[2] = { 0 };

		close(go[1]);
		close(back[0]);
		start_others(others);
		result[0] = compute(go[0], &result[1]);
		_exit(write(back[1], result, sizeof(result)) != sizeof(result));
	}
	close(go[0]);
	close(back[1]);
	c.go = go[1];
	c.back = back[0];
	return c;
}

static void end(struct child *c)
{
	uint64_t result[2];
	int status;

	close(c->go);
	assert_int_equal(read(c->back, result, sizeof(result)), sizeof(result));
	close(c->back);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	assert_int_equal(status, 0);
	assert_int_equal(result[0], again(result[1]));
}

/* Until it has used so much CPU time from now on, however busy the machine is. */
static void let_it_run(pid_t pid, uint64_t ms)
{
	clockid_t clock;
	uint64_t begin;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	begin = ut_clock_ns(clock);
	UT_WAIT_UNTIL(ut_clock_ns(clock) - begin >= ms * 1000000);
}

static size_t count_in(const char *path)
{
	DIR *d = opendir(path);
	size_t count = 0;

	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* Lines of /proc/PID/status that a debugger or a signal would change. */
static void status_of(pid_t pid, char *text, size_t size)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	text[0] = '\0';
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Tracer", 6) || (!strncmp(line, "Sig", 3) && line[3] != 'Q') ||
		    !strncmp(line, "ShdPnd", 6) || !strncmp(line, "Threads", 7) ||
		    !strncmp(line, "VmLck", 5))
			strncat(text, line, size - strlen(text) - 1);
	}
	fclose(f);
}

static void attached_again_and_again_nothing_changes(void **state)
{
	const struct ut_sampler_opts opts = { .dir = dir,
					      .hz = 1000,
					      .stacks = UT_STACKS_DWARF,
					      .stack_bytes = 8192,
					      .children = true };
	char path[64], before[1024], after[1024];
	struct child c = start(0);
	size_t ours, its;
	uint64_t samples = 0;

	(void)state;
	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)c.pid);
	let_it_run(c.pid, 2); /* it computes */
	ours = count_in("/proc/self/fd");
	its = count_in(path);
	status_of(c.pid, before, sizeof(before));
	for (int i = 0; i < attempts(); i++) {
		struct ut_sampler_result result;
		struct ut_err err = { 0 };
		struct ut_sampler *s = ut_sampler_start(&opts, c.pid, false, &err);

		if (!s && i == 0) {
			end(&c);
			fprintf(stderr, "SKIP: %s\n", err.text);
			exit(77);
		}
		if (!s)
			fail_msg("attempt %d: %s", i, err.text);
		if (i % 20 == 0)
			let_it_run(c.pid, 10);
		ut_sampler_stop(s, &result);
		samples += result.samples;
	}
	assert_true(samples > 10);
	assert_int_equal(count_in("/proc/self/fd"), ours);
	assert_int_equal(count_in(path), its);
	status_of(c.pid, after, sizeof(after));
	assert_string_equal(before, after);
	end(&c);
}

/* All threads that there are and that come meanwhile are seen, and stay. */
static void a_process_with_threads_is_attached_to(void **state)
{
	const struct ut_sampler_opts opts = { .dir = dir,
					      .hz = 1000,
					      .stacks = UT_STACKS_DWARF,
					      .stack_bytes = 8192,
					      .children = true };
	struct child c = start(3);
	size_t ours;
	uint64_t samples = 0;

	(void)state;
	let_it_run(c.pid, 10); /* with its threads */
	ours = count_in("/proc/self/fd");
	for (int i = 0; i < attempts() / 20; i++) {
		struct ut_sampler_result result;
		struct ut_err err = { 0 };
		struct ut_sampler *s = ut_sampler_start(&opts, c.pid, false, &err);

		if (!s)
			fail_msg("attempt %d: %s", i, err.text);
		let_it_run(c.pid, 2);
		ut_sampler_stop(s, &result);
		samples += result.samples;
	}
	assert_true(samples > 10);
	assert_int_equal(count_in("/proc/self/fd"), ours);
	end(&c);
}

/* What is written is a file that begins as it should and belongs to its owner alone. */
static void the_file_is_for_its_owner(void **state)
{
	struct ut_cpu_header header;
	struct dirent *e;
	size_t found = 0;
	DIR *d = opendir(dir);

	(void)state;
	while ((e = readdir(d))) {
		struct stat st;
		int fd;

		if (!strstr(e->d_name, UT_CPU_SUFFIX))
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY);
		assert_int_equal(read(fd, &header, sizeof(header)), sizeof(header));
		assert_memory_equal(header.magic, UT_CPU_MAGIC, sizeof(header.magic));
		assert_true(header.end >= header.start);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		close(fd);
		found++;
	}
	closedir(d);
	assert_true(found > 0);
}

static void who_is_not_there_is_reported(void **state)
{
	const struct ut_sampler_opts opts = { .dir = dir, .hz = 100 };
	struct ut_err err = { 0 };

	(void)state;
	assert_null(ut_sampler_start(&opts, 0x3ffffffe, false, &err));
	assert_non_null(strstr(err.text, "no such process"));
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return ut_path_remove_tree(dir, NULL);
}

UT_TESTS(sampler)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attached_again_and_again_nothing_changes),
		cmocka_unit_test(a_process_with_threads_is_attached_to),
		cmocka_unit_test(the_file_is_for_its_owner),
		cmocka_unit_test(who_is_not_there_is_reported),
	};

	return cmocka_run_group_tests_name("launch/sampler", tests, make_dir, remove_dir);
}
