/*
 * test_writer_ends.c - tests src/record/wire/writer.h: whatever happens to the process, its
 * descriptors or its disk, what was recorded is read back, and the program goes on.
 */
#include "wire/writer.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "support/unit.h"
#include "wire/recording.h"

static void open_writer(struct recording *r)
{
	assert_int_equal(ut_writer_open(r->dir, r->control), 0);
}

static struct ut_tbuf attached(void)
{
	struct ut_tbuf t = { 0 };

	ut_tbuf_attach(&t, 0);
	return t;
}

static struct records read_back(struct recording *r)
{
	return records_read(recording_path(r));
}

/* Runs part in a child and gives its wait status. */
static int in_child(void (*part)(struct recording *r), struct recording *r)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		part(r);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* ---- signals ------------------------------------------------------------------------------- */

#define FROM_HANDLER (1u << 27)

static struct ut_tbuf handled;
static volatile uint32_t handler_calls;

static void record_in_handler(int sig)
{
	(void)sig;
	put_number(&handled, FROM_HANDLER | handler_calls);
	put_long(&handled, handler_calls, 1);
	handler_calls++;
}

static void start_timer(long us, void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, us }, { 0, us } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void stop_timer(void)
{
	struct itimerval off = { 0 };

	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_IGN);
}

static void handlers_may_record_in_the_middle_of_a_record(void **state)
{
	struct recording *r = *state;
	uint64_t number = 0, from_handler = 0;
	uint32_t last = 0, main_count = 0;
	struct records all;

	open_writer(r);
	handled = attached();
	handler_calls = 0;
	start_timer(50, record_in_handler);
	while (handler_calls < 2000) {
		put_number(&handled, main_count++);
		put_long(&handled, 0, 0);
	}
	stop_timer();
	all = read_back(r);
	for (size_t i = 0; i < all.count; i++) {
		const struct record *x = &all.items[i];

		if (x->kind != UT_WORD_BEGIN)
			continue;
		if (x->payload & FROM_HANDLER) {
			assert_true(!from_handler || (x->payload ^ FROM_HANDLER) > last);
			last = x->payload ^ FROM_HANDLER;
			from_handler++;
		} else {
			assert_int_equal(x->payload, number);
			number++;
		}
	}
	/* Only a handler that interrupts the change of chunks finds no room, and that is told. */
	assert_int_equal(number, main_count);
	assert_int_equal(all.torn, 0);
	assert_int_equal(2ull * handler_calls - from_handler -
				 (records_of(&all, UT_REC_COUNTER) - number),
			 all.dropped);
	records_release(&all);
}

static void do_nothing(int sig)
{
	(void)sig;
}

static void record_under_fire(struct recording *r)
{
	struct ut_tbuf t;

	if (ut_writer_open(r->dir, r->control))
		_exit(1);
	t = attached();
	start_timer(100, do_nothing);
	for (uint32_t i = 0; i < 5000000; i++) /* 38 MiB: a window of 32 is allocated */
		put_number(&t, i);
	stop_timer();
}

/* tmpfs gives up an allocation when a signal comes, however harmless. */
static void a_storm_of_signals_does_not_end_the_recording(void **state)
{
	struct recording r;

	(void)state;
	if (recording_make_in(&r, "/dev/shm")) {
		print_message("no /dev/shm here\n");
		skip();
	}
	assert_int_equal(in_child(record_under_fire, &r), 0);
	assert_int_equal(expect_numbers_in(recording_path(&r), 5000000), 0);
	ut_control_close(r.control);
	assert_int_equal(ut_path_remove_tree(r.dir, NULL), 0);
}

/* ---- fork ---------------------------------------------------------------------------------- */

static struct ut_tbuf inherited;

static void record_as_child(struct recording *r)
{
	uint32_t generation = ut_writer_generation();

	if (ut_writer_open(r->dir, r->control) || ut_writer_generation() == generation)
		_exit(1);
	ut_tbuf_attach(&inherited, 0);
	for (uint32_t i = 0; i < 300000; i++)
		put_number(&inherited, i);
}

static void a_forked_child_has_a_spool_of_its_own(void **state)
{
	struct recording *r = *state;
	struct records all;
	char path[512];

	open_writer(r);
	inherited = attached();
	put_number(&inherited, 0);
	snprintf(path, sizeof(path), "%s", recording_path(r));
	assert_int_equal(in_child(record_as_child, r), 0);
	put_number(&inherited, 1);
	assert_int_equal(recording_count(r), 2);
	assert_string_not_equal(recording_path(r), path);
	all = read_back(r);
	expect_numbers(&all, 1, 300000);
	records_release(&all);
	all = records_read(path);
	expect_numbers(&all, 1, 2);
	records_release(&all);
}

/* A buffer that belongs to the first spool must not fit the third when the second failed. */
static void a_spool_that_could_not_be_made_leaves_no_old_buffer_valid(void **state)
{
	struct recording *r = *state;
	struct ut_tbuf t;

	assert_true(ut_writer_open("/nowhere", r->control) < 0);
	open_writer(r);
	t = attached();
	put_number(&t, 0);
	assert_true(ut_writer_open("/nowhere", r->control) < 0);
	assert_int_equal(ut_writer_generation(), 0);
	assert_false(ut_writer_define(UT_REC_STRING, &(uint64_t){ 1 }, 1, "x", 1));
	open_writer(r);
	assert_int_not_equal(t.generation, ut_writer_generation());
}

/* ---- the end of the disk, of descriptors, of the process ------------------------------------ */

static void expect_prefix(struct recording *r, uint32_t status, uint32_t made)
{
	struct records all = read_back(r);
	size_t there = 0;

	for (size_t i = 0; i < all.count; i++)
		there += all.items[i].kind == UT_WORD_BEGIN;
	assert_int_equal(all.status, status);
	assert_true(there > 50000);
	expect_numbers(&all, 1, there);
	assert_int_equal(there + all.dropped, made);
	records_release(&all);
}

static void the_largest_size_ends_the_recording_and_says_so(void **state)
{
	struct recording *r = *state;
	struct ut_tbuf t;
	struct stat st;

	r->control->max_bytes = 2 * (1 << 20);
	open_writer(r);
	t = attached();
	for (uint32_t i = 0; i < 1000000; i++)
		put_number(&t, i);
	assert_int_equal(stat(recording_path(r), &st), 0);
	assert_true(st.st_size <= 2 * (off_t)(1 << 20));
	expect_prefix(r, EFBIG, 1000000);
}

static void record_a_million(struct recording *r)
{
	struct ut_tbuf t;

	if (ut_writer_open(r->dir, r->control))
		_exit(1);
	t = attached();
	for (uint32_t i = 0; i < 1000000; i++)
		put_number(&t, i);
}

static void mount_small_disk(char *disk, const char *size)
{
	char options[32];

	assert_non_null(mkdtemp(disk));
	snprintf(options, sizeof(options), "size=%s", size);
	if (!mount("none", disk, "tmpfs", 0, options))
		return;
	print_message("not here: no right to mount a small disk\n");
	rmdir(disk);
	skip();
}

static void a_full_disk_ends_the_recording_and_not_the_program(void **state)
{
	struct recording r;
	char disk[] = "/tmp/ut_disk_XXXXXX";

	(void)state;
	mount_small_disk(disk, "5m");
	assert_int_equal(recording_make_in(&r, disk), 0);
	assert_int_equal(in_child(record_a_million, &r), 0);
	expect_prefix(&r, ENOSPC, 1000000);
	ut_control_close(r.control);
	assert_int_equal(ut_path_remove_tree(r.dir, NULL), 0);
	umount(disk);
	rmdir(disk);
}

static void the_reserve_of_the_disk_stays_free(void **state)
{
	struct recording r;
	struct statvfs fs;
	char disk[] = "/tmp/ut_disk_XXXXXX";

	(void)state;
	mount_small_disk(disk, "8m");
	assert_int_equal(recording_make_in(&r, disk), 0);
	r.control->disk_reserve = 5u << 20;
	assert_int_equal(in_child(record_a_million, &r), 0);
	assert_int_equal(statvfs(disk, &fs), 0);
	assert_true((uint64_t)fs.f_bavail * fs.f_frsize >= 5u << 20);
	expect_prefix(&r, UT_SPOOL_RESERVE, 1000000);
	ut_control_close(r.control);
	assert_int_equal(ut_path_remove_tree(r.dir, NULL), 0);
	umount(disk);
	rmdir(disk);
}

/* Who could not record, and how much is missing, is known even then. */
static void a_disk_below_its_reserve_takes_the_first_window(void **state)
{
	struct recording *r = *state;
	struct records all;
	struct stat st;

	r->control->disk_reserve = UINT64_MAX / 2;
	assert_int_equal(in_child(record_a_million, r), 0);
	assert_int_equal(stat(recording_path(r), &st), 0);
	assert_true(st.st_size <= 1 << 16);
	all = read_back(r);
	assert_int_equal(all.status, UT_SPOOL_RESERVE);
	assert_true(all.dropped > 900000 && all.dropped < 1000000);
	records_release(&all);
}

static void record_with_a_limit(struct recording *r)
{
	const struct rlimit limit = { 4 * (1 << 20), 4 * (1 << 20) }, none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &limit);
	record_a_million(r); /* SIGXFSZ as the program has it: it would kill */
}

static void a_limit_on_file_sizes_ends_the_recording_and_not_the_program(void **state)
{
	struct recording *r = *state;

	assert_int_equal(in_child(record_with_a_limit, r), 0);
	expect_prefix(r, EFBIG, 1000000);
}

static void record_and_lower_the_limit(struct recording *r)
{
	const struct rlimit low = { 100000, 100000 }, none = { 0, 0 };
	struct ut_tbuf t;

	setrlimit(RLIMIT_CORE, &none);
	if (ut_writer_open(r->dir, r->control))
		_exit(1);
	t = attached();
	for (uint32_t i = 0; i < 1000000; i++) {
		if (i == 300000) /* in the middle of a window: what is allocated is used up */
			setrlimit(RLIMIT_FSIZE, &low);
		put_number(&t, i);
	}
}

static void a_limit_that_falls_below_the_file_ends_only_the_recording(void **state)
{
	struct recording *r = *state;

	assert_int_equal(in_child(record_and_lower_the_limit, r), 0);
	expect_prefix(r, EFBIG, 1000000);
}

/* The number of our descriptor, as a program might find it. */
static int spool_descriptor(void)
{
	char link[64], path[512];

	for (int fd = 3; fd < 1024; fd++) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		if (strstr(path, UT_SPOOL_SUFFIX))
			return fd;
	}
	return -1;
}

static void a_file_of_the_program_under_our_number_stays_as_it_is(void **state)
{
	struct recording *r = *state;
	FILE *theirs = tmpfile();
	struct ut_tbuf t;
	struct stat st;
	int fd;

	assert_non_null(theirs);
	open_writer(r);
	t = attached();
	for (uint32_t i = 0; i < 1000000; i++) {
		if (i == 1000) {
			fd = spool_descriptor();
			assert_true(fd > 2);
			assert_int_equal(dup2(fileno(theirs), fd), fd);
		}
		put_number(&t, i);
	}
	assert_int_equal(fstat(fileno(theirs), &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(expect_numbers_in(recording_path(r), 1000000), 0);
	fclose(theirs);
}

static void programs_may_close_descriptors_they_do_not_know(void **state)
{
	struct recording *r = *state;
	struct ut_tbuf t;

	open_writer(r);
	t = attached();
	for (uint32_t i = 0; i < 1000000; i++) {
		if (i == 1000)
			for (int fd = 3; fd < 1024; fd++)
				close(fd);
		for (int fd = 3; i == 500000 && fd < 10; fd++)
			assert_int_equal(dup2(1, fd), fd); /* and use them again */
		put_number(&t, i);
	}
	assert_int_equal(expect_numbers_in(recording_path(r), 1000000), 0);
}

static void record_and_die(struct recording *r)
{
	struct ut_tbuf t;

	if (ut_writer_open(r->dir, r->control))
		_exit(1);
	t = attached();
	for (uint32_t i = 0; i < 100000; i++)
		put_number(&t, i);
	put_long(&t, 1, 2);
	kill(getpid(), SIGKILL);
}

static void nothing_is_lost_when_the_process_is_killed(void **state)
{
	struct recording *r = *state;
	struct records all;

	assert_true(WIFSIGNALED(in_child(record_and_die, r)));
	all = read_back(r);
	expect_numbers(&all, 1, 100000);
	assert_int_equal(records_of(&all, UT_REC_COUNTER), 1);
	records_release(&all);
}

#define IN_SESSION(f) cmocka_unit_test_setup_teardown(f, recording_make, recording_drop)

UT_TESTS(writer_ends)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(handlers_may_record_in_the_middle_of_a_record),
		cmocka_unit_test(a_storm_of_signals_does_not_end_the_recording),
		IN_SESSION(a_forked_child_has_a_spool_of_its_own),
		IN_SESSION(a_spool_that_could_not_be_made_leaves_no_old_buffer_valid),
		IN_SESSION(the_largest_size_ends_the_recording_and_says_so),
		cmocka_unit_test(a_full_disk_ends_the_recording_and_not_the_program),
		cmocka_unit_test(the_reserve_of_the_disk_stays_free),
		IN_SESSION(a_disk_below_its_reserve_takes_the_first_window),
		IN_SESSION(a_limit_on_file_sizes_ends_the_recording_and_not_the_program),
		IN_SESSION(a_limit_that_falls_below_the_file_ends_only_the_recording),
		IN_SESSION(a_file_of_the_program_under_our_number_stays_as_it_is),
		IN_SESSION(programs_may_close_descriptors_they_do_not_know),
		IN_SESSION(nothing_is_lost_when_the_process_is_killed),
	};

	return cmocka_run_group_tests_name("wire/writer_ends", tests, NULL, NULL);
}
