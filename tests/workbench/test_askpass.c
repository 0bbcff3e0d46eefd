/* test_askpass.c - tests src/app/workbench/askpass.h: who is told a password, and who is not. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"
#include "workbench/askpass.h"

static void prompts_for_passwords_and_others(void **state)
{
	(void)state;
	assert_true(ut_askpass_is_for_password("u@h's password: "));
	assert_true(ut_askpass_is_for_password("(u@h) Password: "));
	assert_true(ut_askpass_is_for_password("Enter passphrase for key '/home/u/.ssh/id': "));
	assert_false(ut_askpass_is_for_password("Are you sure you want to continue connecting "
						"(yes/no/[fingerprint])? "));
	assert_false(ut_askpass_is_for_password("Allow use of the key? password (yes/no)"));
	assert_false(ut_askpass_is_for_password("Verification code: "));
	assert_false(ut_askpass_is_for_password(""));
}

/* Runs the helper below us, as ssh would, and gives what it says. depth: how far below. */
static char *ask(struct ut_askpass *a, pid_t parent, const char *prompt, int depth)
{
	static char said[256];
	struct pollfd p = { .fd = a->socket_fd, .events = POLLIN };
	int ends[2], status;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		const char *words[] = { UT_ASKPASS_NAME, prompt, NULL };

		setenv(UT_ASKPASS_SETTING, a->name, 1);
		if (depth && (pid = fork())) {
			waitpid(pid, &status, 0);
			_exit(0);
		}
		_exit(ut_askpass_run(2, words, ends[1]));
	}
	close(ends[1]);
	if (poll(&p, 1, 10000) > 0)
		ut_askpass_answer(a, parent ? parent : getpid(), "s3cret");
	got = read(ends[0], said, sizeof(said) - 1);
	said[got > 0 ? got : 0] = '\0';
	close(ends[0]);
	waitpid(pid, &status, 0);
	return said;
}

static void a_child_of_ssh_is_reported_once(void **state)
{
	struct ut_askpass a;

	(void)state;
	assert_int_equal(ut_askpass_open(&a, NULL), 0);
	assert_string_equal(ask(&a, 0, "are you sure (yes/no)? ", 0), "");
	assert_string_equal(ask(&a, 0, "password: ", 0), "s3cret\n");
	assert_string_equal(ask(&a, 0, "password: ", 0), "");
	ut_askpass_close(&a);
}

static void others_are_not(void **state)
{
	struct ut_askpass a;

	(void)state;
	assert_int_equal(ut_askpass_open(&a, NULL), 0);
	assert_string_equal(ask(&a, 1, "password: ", 0), ""); /* of another process */
	assert_string_equal(ask(&a, 0, "password: ", 1), ""); /* of a jump host's ssh, say */
	assert_string_equal(ask(&a, 0, "password: ", 0), "s3cret\n");
	ut_askpass_close(&a);
}

static void the_helper_is_known_by_its_name(void **state)
{
	(void)state;
	unsetenv(UT_ASKPASS_SETTING);
	assert_false(ut_askpass_is_meant("./" UT_ASKPASS_NAME));
	setenv(UT_ASKPASS_SETTING, "x", 1);
	assert_true(ut_askpass_is_meant("./" UT_ASKPASS_NAME));
	assert_false(ut_askpass_is_meant("unitrace"));
	assert_int_equal(ut_askpass_run(1, (const char *const[]){ "x", NULL }, 1), 1);
}

UT_TESTS(askpass)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prompts_for_passwords_and_others),
		cmocka_unit_test(a_child_of_ssh_is_reported_once),
		cmocka_unit_test(others_are_not),
		cmocka_unit_test(the_helper_is_known_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
