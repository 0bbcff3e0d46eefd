/* test_timers.c - tests src/record/launch/cpu/timers.h: files as programs leave them, sound and
 * hostile.
 */
#include "launch/cpu/timers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "launch/cpu/taker.h"
#include "support/unit.h"
#include "wire/clock.h"
#include "wire/process.h"

#define SLOTS UT_TIMER_SLOTS_LEAST

static char dir[] = "/tmp/ut_timersXXXXXX";
static struct ut_timers timers;
static struct ut_taker taker;

static struct ut_timer_header sound(void)
{
	return (struct ut_timer_header){ .magic = UT_TIMER_MAGIC,
					 .version = UT_TIMER_VERSION,
					 .pid = (uint32_t)getppid(),
					 .ppid = 1,
					 .slots = SLOTS,
					 .start = ut_clock_ns(CLOCK_MONOTONIC),
					 .proc_start = ut_process_start((uint32_t)getppid()) };
}

static char path[128];

/* A file with one full slot. */
static int make(const struct ut_timer_header *h, const struct ut_timer_slot *slot, size_t bytes)
{
	const uint32_t full = UT_SLOT_FULL;
	int fd;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "-%" PRIu64 UT_TIMER_SUFFIX, dir, h->pid,
		 h->start);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(pwrite(fd, h, sizeof(*h), 0), sizeof(*h));
	assert_int_equal(pwrite(fd, &full, sizeof(full), UT_TIMER_STATES_AT + 4), sizeof(full));
	assert_int_equal(
		pwrite(fd, slot, sizeof(*slot), (off_t)(ut_timer_slots_at(SLOTS) + sizeof(*slot))),
		sizeof(*slot));
	return fd;
}

static uint32_t state_of(int fd)
{
	uint32_t state = 99;

	assert_int_equal(pread(fd, &state, sizeof(state), UT_TIMER_STATES_AT + 4), sizeof(state));
	return state;
}

static void drain(void)
{
	timers.looked = 0;
	ut_timers_drain(&timers, &taker, ut_clock_ns(CLOCK_MONOTONIC));
}

static void a_sample_is_taken_and_its_slot_given_back(void **state)
{
	const struct ut_timer_header h = sound();
	const struct ut_timer_slot slot = { .tid = h.pid, .time = h.start + 1, .weight = 4000000 };
	int fd = make(&h, &slot, ut_timer_ring_bytes(SLOTS));

	(void)state;
	drain();
	assert_int_equal(timers.count, 1);
	assert_int_equal(taker.samples, 1);
	assert_int_equal(state_of(fd), UT_SLOT_FREE);
	drain();
	assert_int_equal(taker.samples, 1);
	close(fd);
}

/* Whatever a program writes there, nothing outside its file is read, and nothing is believed. */
static void what_makes_no_sense_is_no_sample(void **state)
{
	const struct ut_timer_header h = sound();
	struct ut_timer_slot slots[] = {
		{ .tid = 0, .time = h.start + 1 },
		{ .tid = UINT32_MAX, .time = h.start + 1 },
		{ .tid = h.pid, .time = h.start - 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		int fd = make(&h, &slots[i], ut_timer_ring_bytes(SLOTS));

		drain();
		assert_int_equal(taker.samples, 0);
		assert_int_equal(state_of(fd), UT_SLOT_FREE);
		close(fd);
	}
}

static void a_stack_of_any_size_and_content_is_walked(void **state)
{
	const struct ut_timer_header h = sound();
	struct ut_timer_slot slot = { .tid = h.pid,
				      .time = h.start + 1,
				      .stack_bytes = UINT32_MAX };
	int fd;

	(void)state;
	memset(slot.regs, 0xff, sizeof(slot.regs));
	memset(slot.stack, 0xf7, sizeof(slot.stack));
	fd = make(&h, &slot, ut_timer_ring_bytes(SLOTS));
	drain();
	assert_int_equal(taker.samples, 1);
	close(fd);
}

static void files_that_are_none_are_left_alone(void **state)
{
	const struct ut_timer_slot slot = { .tid = 1, .time = UINT64_MAX / 2 };
	struct ut_timer_header h[8];

	(void)state;
	for (size_t i = 0; i < 8; i++)
		h[i] = sound();
	h[0].magic[0] = 'x';
	h[1].version++;
	h[2].slots = 0;
	h[3].slots = UINT32_MAX;
	h[4].slots = SLOTS + 1; /* more than there is room for */
	h[5].maps_bytes = UT_TIMER_MAPS_BYTES + 1;
	h[6].pid = 0;
	h[7].pid = UINT32_MAX;
	for (size_t i = 0; i < 8; i++) {
		int fd = make(&h[i], &slot, ut_timer_ring_bytes(SLOTS));

		drain();
		assert_int_equal(timers.count, 0);
		close(fd);
		unlink(path);
	}
	assert_int_equal(taker.samples, 0);
}

static void one_that_becomes_shorter_ends_nobody(void **state)
{
	const struct ut_timer_header h = sound();
	const struct ut_timer_slot slot = { .tid = h.pid, .time = h.start + 1 };
	int fd = make(&h, &slot, ut_timer_ring_bytes(SLOTS));

	(void)state;
	drain();
	assert_int_equal(timers.count, 1);
	assert_int_equal(ftruncate(fd, 100), 0);
	drain();
	assert_int_equal(ftruncate(fd, 0), 0);
	drain();
	assert_int_equal(taker.samples, 1);
	close(fd);
}

/* Its last samples are taken first, and what was lost is counted. */
static void a_program_that_has_ended_is_let_go(void **state)
{
	struct ut_timer_header h = sound();
	const struct ut_timer_slot slot = { .tid = h.pid, .time = h.start + 1 };
	int fd;

	(void)state;
	h.proc_start++; /* the number is somebody else's by now */
	h.unarmed = 3;
	fd = make(&h, &slot, ut_timer_ring_bytes(SLOTS));
	drain();
	assert_int_equal(taker.samples, 1);
	assert_int_equal(timers.count, 0);
	assert_int_equal(timers.programs, 1);
	assert_int_equal(timers.unarmed, 3);
	assert_int_equal(access(path, F_OK), -1);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	memset(&taker, 0, sizeof(taker));
	ut_taker_init(&taker, dir);
	ut_timers_open(&timers, dir, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ut_timers_close(&timers);
	ut_taker_release(&taker);
	return 0;
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UT_TESTS(timers)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sample_is_taken_and_its_slot_given_back),
		TEST(what_makes_no_sense_is_no_sample),
		TEST(a_stack_of_any_size_and_content_is_walked),
		TEST(files_that_are_none_are_left_alone),
		TEST(one_that_becomes_shorter_ends_nobody),
		TEST(a_program_that_has_ended_is_let_go),
	};

	return cmocka_run_group_tests_name("launch/timers", tests, make_dir, remove_dir);
}
