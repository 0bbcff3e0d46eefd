/* test_run.c - tests src/record/launch/run.h */
#include "launch/run.h"

#include <errno.h>
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

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "launch/session.h"
#include "support/unit.h"
#include "wire/control.h"

struct fixture {
	struct ut_arena arena;
	char dir[64];
	struct ut_session session;
	struct ut_launch launch;
};

static int make(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .dir = "/tmp/ut_run_XXXXXX" };
	*state = &f;
	if (!mkdtemp(f.dir) || ut_session_create(&f.session, &f.arena, f.dir, "app", NULL))
		return -1;
	f.launch = (struct ut_launch){
		.session_dir = f.session.dir,
		.library = "/nowhere/libunitrace.so",
		.control = f.session.control,
	};
	return 0;
}

static int release(void **state)
{
	struct fixture *f = *state;
	int rc = ut_session_remove(&f->session, NULL);

	rc = rc ? rc : ut_path_remove_tree(f->dir, NULL);
	ut_arena_release(&f->arena);
	return rc;
}

static struct ut_launch_result run_shell(struct fixture *f, const char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct ut_launch_result r;

	f->launch.argv = argv;
	assert_int_equal(ut_launch_run(&f->launch, &f->arena, &r, NULL), 0);
	assert_int_equal(r.exec_errno, 0);
	return r;
}

static void exit_status_comes_back(void **state)
{
	struct ut_launch_result r = run_shell(*state, "exit 7");

	assert_true(WIFEXITED(r.status));
	assert_int_equal(WEXITSTATUS(r.status), 7);
}

static void death_by_signal_comes_back(void **state)
{
	struct ut_launch_result r = run_shell(*state, "kill -TERM $$");

	assert_true(WIFSIGNALED(r.status));
	assert_int_equal(WTERMSIG(r.status), SIGTERM);
}

static void missing_program_is_reported_by_errno(void **state)
{
	struct fixture *f = *state;
	const char *argv[] = { "/nowhere/at-all", NULL };
	struct ut_launch_result r;

	f->launch.argv = argv;
	assert_int_equal(ut_launch_run(&f->launch, &f->arena, &r, NULL), 0);
	assert_int_equal(r.exec_errno, ENOENT);
	argv[0] = "/";
	assert_int_equal(ut_launch_run(&f->launch, &f->arena, &r, NULL), 0);
	assert_int_equal(r.exec_errno, EACCES);
}

static void program_finds_session_and_collector(void **state)
{
	struct fixture *f = *state;
	const char *script = ut_str_fmt(&f->arena,
					"test \"$UT_SESSION\" = '%s' && "
					"test \"$INTEL_LIBITTNOTIFY64\" = '%s' && "
					"test \"$INTEL_JIT_PROFILER64\" = '%s' && "
					"test -z \"$LD_PRELOAD$CCL_ITT_LEVEL\"",
					f->session.dir, f->launch.library, f->launch.library);

	unsetenv("LD_PRELOAD");
	assert_int_equal(run_shell(f, script).status, 0);
}

static void preload_goes_before_what_was_there(void **state)
{
	struct fixture *f = *state;

	/* printenv from the shell's own environment: the loader has only warned by then */
	setenv("LD_PRELOAD", "/nowhere/other.so", 1);
	f->launch.preload = true;
	f->launch.ccl = true;
	assert_int_equal(run_shell(f, "exec 2>/dev/null; test \"$LD_PRELOAD\" = "
				      "/nowhere/libunitrace.so:/nowhere/other.so && "
				      "test \"$CCL_ITT_LEVEL\" = 1")
				 .status,
			 0);
	unsetenv("LD_PRELOAD");
}

static void root_pid_is_the_program(void **state)
{
	struct fixture *f = *state;
	struct ut_launch_result r = run_shell(f, "exit 0");

	assert_int_equal(atomic_load(&f->session.control->root_pid), r.pid);
}

static void ignored_sigchld_does_not_lose_the_status(void **state)
{
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(WEXITSTATUS(run_shell(*state, "exit 9").status), 9);
	assert_ptr_equal(signal(SIGCHLD, SIG_DFL), SIG_IGN);
}

/* Does a line of the program's own /proc/self/status fit? grep, since shells touch the mask. */
static bool status_fits(struct fixture *f, const char *pattern)
{
	const char *argv[] = { "grep", "-q", pattern, "/proc/self/status", NULL };
	struct ut_launch_result r;

	f->launch.argv = argv;
	assert_int_equal(ut_launch_run(&f->launch, &f->arena, &r, NULL), 0);
	return r.status == 0;
}

static void program_inherits_mask_and_dispositions(void **state)
{
	bool blocked, ignored;
	sigset_t set, now;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGHUP, SIG_IGN);
	blocked = status_fits(*state, "^SigBlk:.*0000000000000800$");
	ignored = status_fits(*state, "^SigIgn:.*[13579bdf]$");
	signal(SIGHUP, SIG_DFL);
	sigprocmask(SIG_BLOCK, NULL, &now);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	assert_true(blocked);
	assert_true(ignored);
	assert_true(sigismember(&now, SIGUSR2));
	assert_false(sigismember(&now, SIGTERM));
}

/* The wait status of a child that ends as the given one says. */
static int ended_as(int status)
{
	int got = 0;
	pid_t pid = fork();

	if (pid == 0)
		ut_launch_end_as(status);
	waitpid(pid, &got, 0);
	return got;
}

static void ends_as_the_program_ended(void **state)
{
	static const int fatal[] = { SIGSEGV, SIGKILL, SIGTERM, SIGABRT, SIGPIPE, SIGINT };
	sigset_t set;

	(void)state;
	assert_int_equal(ended_as(7 << 8), 7 << 8);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL); /* a mask must not save us */
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		assert_int_equal(ended_as(fatal[i] | 0x80), fatal[i]);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, release)

UT_TESTS(run)
{
	const struct CMUnitTest tests[] = {
		CASE(exit_status_comes_back),
		CASE(death_by_signal_comes_back),
		CASE(missing_program_is_reported_by_errno),
		CASE(program_finds_session_and_collector),
		CASE(preload_goes_before_what_was_there),
		CASE(root_pid_is_the_program),
		CASE(ignored_sigchld_does_not_lose_the_status),
		CASE(program_inherits_mask_and_dispositions),
		cmocka_unit_test(ends_as_the_program_ended),
	};

	return cmocka_run_group_tests_name("launch/run", tests, NULL, NULL);
}
