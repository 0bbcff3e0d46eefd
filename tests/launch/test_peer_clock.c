/*
 * test_peer_clock.c - tests src/record/launch/peer_clock.h: two launchers of different hosts, which
 * are both this one, the second with a clock that was started at another time and runs faster.
 */
#include "launch/peer_clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/peer_meet.h"
#include "support/unit.h"
#include "support/wait.h"
#include "wire/clock.h"
#include "wire/host_clock.h"

#define AHEAD INT64_C(5000000000000)
#define FAST  100e-6
#define MS    UINT64_C(1000000)

static char root[] = "/tmp/ut_peer_XXXXXX";
static char shared[64], first[64], second[64];
static uint64_t zero;

static int make_folders(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(shared, sizeof(shared), "%s/shared", root);
	snprintf(first, sizeof(first), "%s/first", root);
	snprintf(second, sizeof(second), "%s/second", root);
	zero = ut_clock_ns(CLOCK_MONOTONIC);
	return mkdir(shared, 0700) || mkdir(first, 0700) || mkdir(second, 0700);
}

static int remove_folders(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static uint64_t fast_clock(void)
{
	double true_ns = (double)(ut_clock_ns(CLOCK_MONOTONIC) - zero);

	return zero + (uint64_t)(true_ns * (1 + FAST)) + (uint64_t)AHEAD;
}

static struct ut_peer_clock *start(const char *session, const char *boot_id, uint64_t (*now)(void))
{
	const struct ut_peer_clock_opts opts = { .folder = shared,
						 .session = session,
						 .job = 4711,
						 .boot_id = boot_id,
						 .now = now,
						 .every = 10 * MS };

	return ut_peer_clock_start(&opts);
}

static size_t files_in(const char *folder)
{
	DIR *d = opendir(folder);
	size_t count = 0;
	struct dirent *e;

	while ((e = readdir(d)))
		count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	return count;
}

/* Of a session's file; how many lines that are. */
static size_t read_samples(const char *session, char *text, size_t size)
{
	char path[128];
	size_t n, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/" UT_HOST_CLOCK_FILE, session);
	f = fopen(path, "r");
	n = f ? fread(text, 1, size - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		found++;
	return found;
}

/* The text of a session's file, when it has so many lines. */
static char *samples_of(const char *session, size_t lines)
{
	static char text[65536];

	UT_WAIT_UNTIL(read_samples(session, text, sizeof(text)) >= lines);
	return text;
}

static void the_clock_of_another_host_is_found_within_its_bound(void **state)
{
	struct ut_peer_clock *a = start(first, "boot of a", NULL), *b;
	char id[UT_CLOCK_ID], reference[UT_CLOCK_ID], want[UT_CLOCK_ID];
	char *text;
	size_t count = 0;

	(void)state;
	assert_non_null(a);
	samples_of(first, 1); /* it is there */
	b = start(second, "boot of b", fast_clock);
	assert_non_null(b);
	samples_of(second, 12);
	ut_peer_clock_stop(b);
	ut_peer_clock_stop(a);
	assert_int_equal(files_in(shared), 0);
	text = samples_of(second, 1);
	assert_int_equal(sscanf(text, UT_HOST_CLOCK_HEAD "%16s %16s", id, reference), 2);
	ut_host_clock_id("boot of b", want);
	assert_string_equal(id, want);
	ut_host_clock_id("boot of a", want);
	assert_string_equal(reference, want);
	for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		int64_t at, add, error;
		double gained;

		assert_int_equal(
			sscanf(line + 1, "%" SCNd64 " %" SCNd64 " %" SCNd64, &at, &add, &error), 3);
		gained = (double)(at - AHEAD - (int64_t)zero) / (1 + FAST) * FAST;
		assert_true(llabs(-add - AHEAD - (int64_t)gained) <= error + 2);
		assert_true(error < 50000000);
		count++;
	}
	assert_true(count >= 11);
	text = samples_of(first, 1);
	assert_non_null(strstr(text, " -\n"));
}

static void one_launcher_of_a_host_is_enough(void **state)
{
	struct ut_peer_clock *a = start(first, "boot of c", NULL);

	(void)state;
	assert_non_null(a);
	assert_null(start(second, "boot of c", NULL));
	ut_peer_clock_stop(a);
	ut_peer_clock_stop(NULL);
}

static void what_somebody_has_left_behind_is_replaced_and_strangers_are_not_believed(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct ut_meeting m, other;
	FILE *f;

	(void)state;
	ut_meeting_init(&m, shared, 7, "boot of d");
	ut_meeting_init(&other, shared, 7, "boot of e");
	f = fopen(m.path, "w");
	fputs("unitrace-clock 1\nid 0123456789abcdef\nport 9\nsecret "
	      "00112233445566778899aabbccddeeff\naddress 127.0.0.1\n",
	      f);
	fclose(f);
	/* others can write it: it is not believed, and not removed */
	chmod(m.path, 0666);
	assert_int_equal(ut_meeting_join(&m), UT_MEETING_NONE);
	chmod(m.path, 0600);
	assert_int_equal(ut_meeting_join(&m), UT_MEETING_NOBODY); /* it may come */
	utimensat(AT_FDCWD, m.path, old, 0);
	assert_int_equal(ut_meeting_join(&m), UT_MEETING_NOBODY); /* it is a leftover */
	assert_int_equal(ut_meeting_join(&m), UT_MEETING_REFERENCE);
	assert_int_equal(ut_meeting_join(&other), UT_MEETING_NOBODY); /* nobody answers */
	ut_meeting_leave(&other);
	assert_int_equal(access(m.path, F_OK), 0);
	ut_meeting_leave(&m);
	assert_int_equal(access(m.path, F_OK), -1);
}

static void broken_files_and_folders_that_are_not_there_do_no_harm(void **state)
{
	static const char *const texts[] = {
		"", "unitrace-clock 1\n", "unitrace-clock 1\nid x\nport 99999\nsecret 00\n",
		"unitrace-clock 1\nid 0123456789abcdef0123456789\nport 9\n",
		"unitrace-clock 1\nid 0123456789abcdef\nport 9\nsecret zz\naddress nowhere\n"
	};
	struct ut_meeting m;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		int fd;

		ut_meeting_init(&m, shared, 100 + i, "boot of f");
		fd = open(m.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
		close(fd);
		assert_int_equal(ut_meeting_join(&m), UT_MEETING_NONE);
		ut_meeting_leave(&m);
		unlink(m.path);
	}
	ut_meeting_init(&m, "/nowhere", 1, "boot of f");
	assert_int_equal(ut_meeting_join(&m), UT_MEETING_NOBODY);
	ut_meeting_leave(&m);
}

UT_TESTS(peer_clock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_of_another_host_is_found_within_its_bound),
		cmocka_unit_test(one_launcher_of_a_host_is_enough),
		cmocka_unit_test(
			what_somebody_has_left_behind_is_replaced_and_strangers_are_not_believed),
		cmocka_unit_test(broken_files_and_folders_that_are_not_there_do_no_harm),
	};

	return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
