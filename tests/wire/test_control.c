/* test_control.c - tests src/record/wire/control.h */
#include "wire/control.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"
#include "wire/recording.h"

/* ---- the file ------------------------------------------------------------------------------ */

static void what_the_launcher_sets_every_process_sees(void **state)
{
	struct recording *r = *state;
	struct ut_control *other;

	assert_int_equal(r->control->rank, -1);
	assert_int_equal(r->control->version, UT_CONTROL_VERSION);
	assert_true(r->control->start.mono > 0);
	other = ut_control_map(r->dir);
	assert_non_null(other);
	assert_ptr_not_equal(other, r->control);
	atomic_store(&r->control->state, UT_STATE_PAUSED);
	assert_int_equal(atomic_load(ut_control_state(other)), UT_STATE_PAUSED);
	ut_control_tick(r->control);
	assert_int_equal(atomic_load(&other->last_seq) % 2, 0);
	assert_true(other->last.mono >= other->start.mono);
	ut_control_close(other);
}

static void a_session_is_made_once(void **state)
{
	struct recording *r = *state;
	struct ut_control *other = NULL;
	struct ut_err err = { 0 };

	assert_int_equal(ut_control_create(r->dir, &other, &err), -EEXIST);
	assert_non_null(strstr(err.text, r->dir));
	err = (struct ut_err){ 0 };
	assert_int_equal(ut_control_create("/nowhere/at/all", &other, &err), -ENOENT);
}

static void what_is_no_session_is_refused(void **state)
{
	struct recording *r = *state;
	struct ut_control *other;
	struct ut_err err = { 0 };
	char path[128];

	assert_null(ut_control_map("/nowhere"));
	r->control->version++;
	assert_null(ut_control_map(r->dir));
	r->control->version--;
	snprintf(path, sizeof(path), "%s/" UT_CONTROL_FILE, r->dir);
	assert_int_equal(truncate(path, 100), 0); /* mapped, but never touched again below */
	assert_null(ut_control_map(r->dir));
	assert_int_equal(ut_control_open(r->dir, &other, &err), -ENOENT);
	assert_non_null(strstr(err.text, "not a session"));
	ut_control_close(NULL);
}

/* ---- filters ------------------------------------------------------------------------------- */

static bool passes(const char *include, const char *exclude, const char *name)
{
	char in[UT_FILTER_BYTES] = { 0 }, out[UT_FILTER_BYTES] = { 0 };

	if (include)
		assert_int_equal(ut_control_add_filter(in, include), 0);
	if (exclude)
		assert_int_equal(ut_control_add_filter(out, exclude), 0);
	return ut_control_passes(in, out, name);
}

static void patterns_match_as_in_the_shell(void **state)
{
	(void)state;
	assert_true(passes("dnn", NULL, "dnn"));
	assert_false(passes("dnn", NULL, "dnnl"));
	assert_true(passes("dnn*", NULL, "dnn"));
	assert_true(passes("*nn*", NULL, "dnnl"));
	assert_true(passes("d?n", NULL, "dnn"));
	assert_false(passes("d?n", NULL, "dn"));
	assert_true(passes("*a*b*c", NULL, "xaxbxbxc"));
	assert_false(passes("*a*b*c", NULL, "xaxcxb"));
	assert_true(passes("*", NULL, ""));
	assert_false(passes("?", NULL, ""));
	assert_true(passes("**", NULL, "x"));
	assert_false(passes("ab", NULL, "a"));
}

static void exclude_wins_and_an_empty_include_is_everything(void **state)
{
	(void)state;
	assert_true(passes(NULL, NULL, "x"));
	assert_false(passes(NULL, "x", "x"));
	assert_true(passes(NULL, "x", "y"));
	assert_false(passes("x*", "xy", "xy"));
	assert_true(passes("x*", "xy", "xz"));
	assert_false(passes("x*", "xy", "z"));
}

static void a_list_takes_patterns_until_it_is_full(void **state)
{
	char list[UT_FILTER_BYTES + 1] = { 0 }, pattern[32];
	int rc = 0, n = 0;

	(void)state;
	list[UT_FILTER_BYTES] = 'X';
	while (!rc) {
		snprintf(pattern, sizeof(pattern), "domain%04d", n);
		rc = ut_control_add_filter(list, pattern);
		n += !rc;
	}
	assert_int_equal(rc, -ENOSPC);
	assert_int_equal(list[UT_FILTER_BYTES], 'X');
	assert_int_equal(n, (UT_FILTER_BYTES - 1) / 11);
	assert_true(ut_control_passes(list, "", "domain0000"));
	snprintf(pattern, sizeof(pattern), "domain%04d", n - 1);
	assert_true(ut_control_passes(list, "", pattern));
	assert_false(ut_control_passes(list, "", "domain9999"));
	assert_int_equal(ut_control_add_filter(list, ""), -EINVAL);
}

static void matching_stays_fast_on_hostile_patterns(void **state)
{
	char list[UT_FILTER_BYTES] = { 0 }, pattern[2000] = { 0 }, name[4000] = { 0 };

	(void)state;
	for (int i = 0; i < 1998; i += 2)
		memcpy(pattern + i, "*a", 2);
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 2] = 'b';
	assert_int_equal(ut_control_add_filter(list, pattern), 0);
	assert_false(ut_control_passes(list, "", name));
}

/* ---- named sessions ------------------------------------------------------------------------ */

/* One for this program and its children. */
static const char *session_name(void)
{
	static char name[32];

	if (!name[0])
		snprintf(name, sizeof(name), "test-%d", (int)getpid());
	return name;
}

static uint32_t state_in(const char *path)
{
	uint32_t word = 77;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &word, sizeof(word)), sizeof(word));
	close(fd);
	return word;
}

static void a_name_is_shared_and_ends_with_its_last_user(void **state)
{
	char path[1024], again[1024];
	bool reused = true;
	int a, b;

	(void)state;
	assert_int_equal(ut_named_set(session_name(), UT_STATE_PAUSED, NULL), -ENOENT);
	a = ut_named_join(session_name(), path, &reused, NULL);
	assert_true(a >= 0);
	assert_false(reused);
	assert_int_equal(ut_named_set(session_name(), UT_STATE_PAUSED, NULL), UT_STATE_RUNNING);
	b = ut_named_join(session_name(), again, &reused, NULL);
	assert_true(b >= 0);
	assert_true(reused);
	assert_string_equal(path, again);
	assert_int_equal(state_in(path), UT_STATE_PAUSED); /* who joins later finds it as it is */
	ut_named_leave(a, path);
	assert_int_equal(ut_named_set(session_name(), UT_STATE_RUNNING, NULL), UT_STATE_PAUSED);
	ut_named_leave(b, path);
	assert_int_equal(ut_named_set(session_name(), UT_STATE_RUNNING, NULL), -ENOENT);
	assert_int_equal(access(path, F_OK), -1);
}

static void look_for_ours(void *ctx, const char *name)
{
	int *times = ctx;

	*times += !strcmp(name, session_name());
}

static void names_in_use_are_listed_and_no_others(void **state)
{
	int times = 0, fd;
	char path[1024];
	bool reused;

	(void)state;
	ut_named_each(look_for_ours, &times);
	assert_int_equal(times, 0);
	fd = ut_named_join(session_name(), path, &reused, NULL);
	assert_true(fd >= 0);
	ut_named_each(look_for_ours, &times);
	assert_int_equal(times, 1);
	/* The file alone, left behind by somebody who was killed, is no use. */
	close(fd);
	assert_int_equal(access(path, F_OK), 0);
	ut_named_each(look_for_ours, &times);
	assert_int_equal(times, 1);
	unlink(path);
}

static void stopped_is_for_ever_but_not_for_the_next_session(void **state)
{
	char path[1024];
	bool reused;
	int fd = ut_named_join(session_name(), path, &reused, NULL);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ut_named_set(session_name(), UT_STATE_STOPPED, NULL), UT_STATE_RUNNING);
	assert_int_equal(ut_named_set(session_name(), UT_STATE_RUNNING, NULL), UT_STATE_STOPPED);
	assert_int_equal(state_in(path), UT_STATE_STOPPED);
	ut_named_leave(fd, path);
	fd = ut_named_join(session_name(), path, &reused, NULL);
	assert_true(fd >= 0);
	assert_false(reused);
	assert_int_equal(state_in(path), UT_STATE_RUNNING);
	ut_named_leave(fd, path);
}

static void what_a_killed_launcher_leaves_behind_harms_nobody(void **state)
{
	char path[1024];
	bool reused = true;
	int fd, status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		fd = ut_named_join(session_name(), path, &reused, NULL);
		(void)!ut_named_set(session_name(), UT_STATE_STOPPED, NULL);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(ut_named_set(session_name(), UT_STATE_PAUSED, NULL), -ENOENT);
	fd = ut_named_join(session_name(), path, &reused, NULL);
	assert_true(fd >= 0);
	assert_false(reused);
	assert_int_equal(state_in(path), UT_STATE_RUNNING);
	ut_named_leave(fd, path);
}

static void names_that_could_leave_the_folder_are_refused(void **state)
{
	char path[1024], longest[70] = { 0 };
	struct ut_err err = { 0 };
	bool reused;

	(void)state;
	memset(longest, 'a', 65);
	assert_int_equal(ut_named_join("../x", path, &reused, &err), -EINVAL);
	assert_non_null(strstr(err.text, "../x"));
	assert_int_equal(ut_named_join("", path, &reused, NULL), -EINVAL);
	assert_int_equal(ut_named_join(longest, path, &reused, NULL), -EINVAL);
	assert_int_equal(ut_named_set("a b", UT_STATE_PAUSED, NULL), -EINVAL);
}

static void a_link_or_a_strangers_file_is_not_followed(void **state)
{
	char path[1024];
	bool reused;
	int fd = ut_named_join(session_name(), path, &reused, NULL);

	(void)state;
	assert_true(fd >= 0);
	ut_named_leave(fd, path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_true(ut_named_join(session_name(), path, &reused, NULL) < 0);
	unlink(path);
	if (geteuid() != 0)
		return;
	fd = open(path, O_RDWR | O_CREAT, 0666);
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	close(fd);
	assert_int_equal(ut_named_join(session_name(), path, &reused, NULL), -EPERM);
	unlink(path);
}

/* Joins and leaves in a hurry: whoever is in sees the same word as everybody else who is in. */
static void join_and_leave(int rounds)
{
	char path[1024];
	bool reused;

	for (int i = 0; i < rounds; i++) {
		struct stat ours, there;
		int fd = ut_named_join(session_name(), path, &reused, NULL);

		if (fd < 0 || fstat(fd, &ours) || stat(path, &there) ||
		    ours.st_ino != there.st_ino || ours.st_size < 4096)
			_exit(1);
		ut_named_leave(fd, path);
	}
	_exit(0);
}

static void joining_while_the_last_one_leaves_never_gives_a_dead_word(void **state)
{
	pid_t pids[4];
	int status;

	(void)state;
	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (!pids[i])
			join_and_leave(2000);
	}
	for (int i = 0; i < 4; i++) {
		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
	}
}

static void the_word_of_a_named_session_is_the_shared_one(void **state)
{
	struct recording *r = *state;
	bool reused;
	int fd = ut_named_join(session_name(), r->control->state_path, &reused, NULL);
	_Atomic uint32_t *word;

	assert_true(fd >= 0);
	word = ut_control_state(r->control);
	assert_ptr_not_equal(word, &r->control->state);
	assert_int_equal(ut_named_set(session_name(), UT_STATE_PAUSED, NULL), UT_STATE_RUNNING);
	assert_int_equal(atomic_load(word), UT_STATE_PAUSED);
	ut_named_leave(fd, r->control->state_path);
	munmap((void *)(uintptr_t)word, 4096);
	/* Gone: the session's own word serves. */
	assert_ptr_equal(ut_control_state(r->control), &r->control->state);
}

#define IN_SESSION(f) cmocka_unit_test_setup_teardown(f, recording_make, recording_drop)

UT_TESTS(control)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(what_the_launcher_sets_every_process_sees),
		IN_SESSION(a_session_is_made_once),
		IN_SESSION(what_is_no_session_is_refused),
		cmocka_unit_test(patterns_match_as_in_the_shell),
		cmocka_unit_test(exclude_wins_and_an_empty_include_is_everything),
		cmocka_unit_test(a_list_takes_patterns_until_it_is_full),
		cmocka_unit_test(matching_stays_fast_on_hostile_patterns),
		cmocka_unit_test(a_name_is_shared_and_ends_with_its_last_user),
		cmocka_unit_test(names_in_use_are_listed_and_no_others),
		cmocka_unit_test(stopped_is_for_ever_but_not_for_the_next_session),
		cmocka_unit_test(what_a_killed_launcher_leaves_behind_harms_nobody),
		cmocka_unit_test(names_that_could_leave_the_folder_are_refused),
		cmocka_unit_test(a_link_or_a_strangers_file_is_not_followed),
		cmocka_unit_test(joining_while_the_last_one_leaves_never_gives_a_dead_word),
		IN_SESSION(the_word_of_a_named_session_is_the_shared_one),
	};

	return cmocka_run_group_tests_name("wire/control", tests, NULL, NULL);
}
