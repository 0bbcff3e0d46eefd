/* test_lifetimes.c - tests src/app/session/lifetimes.h: when processes ended */
#include "session/lifetimes.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"
#include "wire/spool.h"

#define TIMES    20
#define PATIENCE 30 /* seconds */

static uint64_t start_of_this_process(void)
{
	char text[1024], *at, *rest = NULL;
	int fd = open("/proc/self/stat", O_RDONLY);
	ssize_t len = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[len > 0 ? len : 0] = '\0';
	at = strtok_r(strrchr(text, ')') + 2, " ", &rest);
	for (int field = 3; at && field < 22; field++)
		at = strtok_r(NULL, " ", &rest);
	return at ? strtoull(at, NULL, 10) : 0;
}

/* A process that has a spool, and becomes another program when it may read a byte. */
static void record_and_execute(const char *path, int from)
{
	struct ut_spool_header *h;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char byte;

	if (fd < 0 || ftruncate(fd, UT_SPOOL_HEADER_BYTES))
		_exit(1);
	h = mmap(NULL, UT_SPOOL_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		_exit(1);
	h->pid = (uint32_t)getpid();
	h->proc_start = start_of_this_process();
	memcpy(h->magic, UT_SPOOL_MAGIC, sizeof(h->magic));
	if (read(from, &byte, 1) != 1)
		_exit(1);
	execlp("sleep", "sleep", "1000", (char *)NULL);
	_exit(1);
}

/* Looks until the spool says that the process was seen, or that it has ended; false: never. */
static bool look_until(struct ut_lifetimes *l, const char *path, bool ended)
{
	time_t until = time(NULL) + PATIENCE;
	struct ut_spool_header h = { 0 };

	while (time(NULL) < until) {
		int fd = open(path, O_RDONLY);
		bool whole = fd >= 0 && pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h);

		if (fd >= 0)
			close(fd);
		if (whole && (ended ? h.ended : h.seen_ticks))
			return true;
		ut_lifetimes_look(l);
	}
	return false;
}

/* Whether a look or the closed spool is noticed first. */
static void what_executes_another_program_has_ended(void **state)
{
	char dir[] = "/tmp/ut_lifetimes_XXXXXX", path[128];
	struct ut_lifetimes l = { .dir = dir };
	bool good = true;

	(void)state;
	assert_non_null(mkdtemp(dir));
	ut_lifetimes_watch(&l, 0);
	for (int i = 0; l.watched && good && i < TIMES; i++) {
		int pipes[2];
		pid_t pid;

		assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
		pid = fork();
		if (!pid) {
			snprintf(path, sizeof(path), "%s/%d-1.spool", dir, (int)getpid());
			record_and_execute(path, pipes[0]);
		}
		snprintf(path, sizeof(path), "%s/%d-1.spool", dir, (int)pid);
		good = pid > 0 && look_until(&l, path, false) && write(pipes[1], "x", 1) == 1 &&
		       look_until(&l, path, true);
		if (pid > 0 && !kill(pid, SIGKILL))
			waitpid(pid, NULL, 0);
		close(pipes[0]);
		close(pipes[1]);
		unlink(path);
	}
	ut_lifetimes_release(&l);
	rmdir(dir);
	assert_true(good);
}

UT_TESTS(lifetimes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_executes_another_program_has_ended),
	};

	return cmocka_run_group_tests_name("session/lifetimes", tests, NULL, NULL);
}
