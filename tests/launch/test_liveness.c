/* test_liveness.c - tests src/record/launch/liveness.h */
#include "launch/liveness.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

/* A process that waits, started with UT_SESSION=dir behind an environment of that size. */
static pid_t start(const char *dir, size_t padding)
{
	static char big[200000], session[256];
	char sleep_name[] = "sleep", seconds[] = "60", path[] = "PATH=/usr/bin:/bin";
	char *argv[] = { sleep_name, seconds, NULL };
	char *env[] = { path, big, session, NULL };
	int ends[2];
	pid_t pid;
	char c;

	memset(big, 'x', padding);
	big[0] = 'A';
	big[1] = '=';
	big[padding] = '\0';
	snprintf(session, sizeof(session), "UT_SESSION=%s", dir);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0); /* closed when exec has happened */
	pid = fork();
	if (pid == 0) {
		execvpe("sleep", argv, env);
		_exit(127);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 0);
	close(ends[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void processes_of_the_session_are_counted_while_they_live(void **state)
{
	char dir[64];
	pid_t pid;

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/ut_liveness_%ld", (long)getpid());
	assert_int_equal(ut_liveness_count(dir), 0);
	pid = start(dir, 10);
	assert_int_equal(ut_liveness_count(dir), 1);
	dir[strlen(dir) - 1] = '\0';
	assert_int_equal(ut_liveness_count(dir), 0); /* a beginning of the name is another name */
	end(pid);
}

static void large_environments_are_read_to_the_end(void **state)
{
	char dir[64];

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/ut_liveness_%ld", (long)getpid());
	for (size_t padding = 65470; padding < 65536; padding += 7) {
		pid_t pid = start(dir, padding);

		assert_int_equal(ut_liveness_count(dir), 1);
		end(pid);
	}
}

UT_TESTS(liveness)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_of_the_session_are_counted_while_they_live),
		cmocka_unit_test(large_environments_are_read_to_the_end),
	};

	return cmocka_run_group_tests_name("launch/liveness", tests, NULL, NULL);
}
