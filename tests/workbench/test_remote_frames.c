/* test_remote_frames.c - tests src/app/workbench/remote_frames.h: what the other side says, in any
 * pieces, and what it must not say. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"
#include "workbench/folder.h"
#include "workbench/remote_frames.h"

static void frames_come_in_any_pieces(void **state)
{
	static const char text[] = "hello there\r\n" UT_REMOTE_BEGIN "\n"
				   "output 7 5 -\nab\nc\nfile 3 0 my prog.1.utr\nover 0 0 -\n";
	(void)state;
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct ut_remote_reader r = { 0 };
		struct ut_remote_frame f;
		char line[64];
		size_t lines = 0, frames = 0;
		int rc = 0;

		for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
			size_t left = sizeof(text) - 1 - at;

			ut_remote_reader_add(&r, text + at, left < piece ? left : piece);
			while (lines < 2 && ut_remote_reader_line(&r, line, sizeof(line)))
				assert_string_equal(line,
						    lines++ ? UT_REMOTE_BEGIN : "hello there");
			while (lines == 2 && (rc = ut_remote_reader_next(&r, &f, NULL)) > 0) {
				if (frames == 0) {
					assert_int_equal(f.kind, UT_REMOTE_OUTPUT);
					assert_int_equal(f.offset, 7);
					assert_true(ut_str_is(f.bytes, "ab\nc\n"));
				} else if (frames == 1) {
					assert_int_equal(f.kind, UT_REMOTE_FILE);
					assert_string_equal(f.name, "my prog.1.utr");
				}
				frames++;
			}
			assert_int_equal(rc, 0);
		}
		assert_int_equal(frames, 3);
		ut_remote_reader_release(&r);
	}
}

static void what_is_no_frame_is_refused(void **state)
{
	static const char *const wrong[] = {
		"\n",
		"x 0 0 -\n",
		"file 0 0 ../x\n",
		"file 0 0 a/b\n",
		"file 0 0 /a\n",
		"file 0 0 a.modules.1/\n",
		"file 0 0 a.modules.1/..\n",
		"file 0 0 a.modules.1/.b\n",
		"file 0 0 a.modules.1//b\n",
		"file 0 0 a.modules.1/b/c\n",
		"file 0 0 a.modules.1/../b\n",
		"file 0 0 ../a.modules.1/b\n",
		"file 0 0 ./a.modules.1\n",
		"file 0 0 ..modules/a\n",
		"file 0 0 .modules/a\n",
		"file 0 0 -.modules/a\n",
		"file 0 0 a.modules\\/a\n",
		"file 0 0 a.modules.session/1.spool\n",
		"file 0 0 a.session/x.modules\n",
		"log 0 0 a.modules.1/b\n",
		"file 0 0 .x\n",
		"file 0 0 \n",
		"file 0 0\n",
		"file -1 0 x\n",
		"file 0 -1 x\n",
		"file 0x1 0 x\n",
		"file 99999999999999999999 0 x\n",
		"file 18446744073709551615 0 x\n",
		"file 0 262145 x\n",
		"output 0 0 x\n",
		"outputs 0 0 -\n",
		"over 0 0 -x\n",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct ut_remote_reader r = { 0 };
		struct ut_remote_frame f;

		ut_remote_reader_add(&r, wrong[i], strlen(wrong[i]));
		assert_int_equal(ut_remote_reader_next(&r, &f, NULL), -EPROTO);
		ut_remote_reader_release(&r);
	}
}

static void folders_are_those_of_modules_and_one_level_deep(void **state)
{
	char name[2 * UT_NAME_MOST + 4];

	(void)state;
	assert_true(ut_remote_name_fits("my prog.modules.4711/stalls.json"));
	assert_true(ut_remote_name_fits("\xc3\xa9.modules/1 2.cubin"));
	assert_false(ut_remote_name_fits("modules/x")); /* of a folder that --result-dir makes */
	assert_false(ut_remote_name_fits("a.modules/x\x80"));
	snprintf(name, sizeof(name), "%0*d.modules/%0*d", UT_NAME_MOST - 8, 0, UT_NAME_MOST, 0);
	assert_true(ut_remote_name_fits(name));
	snprintf(name, sizeof(name), "%0*d.modules/%0*d", UT_NAME_MOST - 7, 0, UT_NAME_MOST, 0);
	assert_false(ut_remote_name_fits(name));
	snprintf(name, sizeof(name), "%0*d.modules/%0*d", UT_NAME_MOST - 8, 0, UT_NAME_MOST + 1, 0);
	assert_false(ut_remote_name_fits(name));
}

static void a_line_without_end_is_refused(void **state)
{
	struct ut_remote_reader r = { 0 };
	struct ut_remote_frame f;
	char text[600];

	(void)state;
	memset(text, 'x', sizeof(text));
	ut_remote_reader_add(&r, text, sizeof(text));
	assert_int_equal(ut_remote_reader_next(&r, &f, NULL), -EPROTO);
	ut_remote_reader_release(&r);
}

static void what_is_written_is_read(void **state)
{
	struct ut_remote_reader r = { 0 };
	struct ut_remote_frame f;
	char text[256];
	int ends[2];
	ssize_t got;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(ut_remote_write(ends[1], UT_REMOTE_ERROR, "-", 0, ut_str_of("a\0b")), 0);
	assert_int_equal(ut_remote_write(ends[1], UT_REMOTE_FILE, "\xc3\xa9 x.utr",
					 UINT64_C(1) << 40, (struct ut_str){ "a\0b", 3 }),
			 0);
	got = read(ends[0], text, sizeof(text));
	assert_true(got > 0);
	ut_remote_reader_add(&r, text, (size_t)got);
	assert_int_equal(ut_remote_reader_next(&r, &f, NULL), 1);
	assert_int_equal(f.kind, UT_REMOTE_ERROR);
	assert_int_equal(ut_remote_reader_next(&r, &f, NULL), 1);
	assert_string_equal(f.name, "\xc3\xa9 x.utr");
	assert_int_equal(f.offset, UINT64_C(1) << 40);
	assert_int_equal(f.bytes.len, 3);
	ut_remote_reader_release(&r);
	close(ends[0]);
	close(ends[1]);
}

static void half_a_frame_has_a_deadline_and_silence_has_none(void **state)
{
	struct ut_remote_reader r = { 0 };
	struct ut_remote_frame f;
	int64_t now = 1;

	(void)state;
	assert_false(ut_remote_reader_is_late(&r, now));
	assert_false(ut_remote_reader_is_late(&r, now += 100 * (int64_t)UT_REMOTE_FRAME_MS));
	ut_remote_reader_add(&r, "log 0 4 -\nab", 12);
	assert_int_equal(ut_remote_reader_next(&r, &f, NULL), 0);
	assert_false(ut_remote_reader_is_late(&r, now));
	ut_remote_reader_add(&r, "c", 1); /* a byte now and then does not make it longer */
	assert_false(ut_remote_reader_is_late(&r, now + UT_REMOTE_FRAME_MS));
	assert_true(ut_remote_reader_is_late(&r, now + UT_REMOTE_FRAME_MS + 1));
	/* it comes after all, and with it the beginning of the next, which has its own time */
	ut_remote_reader_add(&r, "dlog", 4);
	assert_int_equal(ut_remote_reader_next(&r, &f, NULL), 1);
	now += UT_REMOTE_FRAME_MS + 1;
	assert_false(ut_remote_reader_is_late(&r, now));
	assert_true(ut_remote_reader_is_late(&r, now + UT_REMOTE_FRAME_MS + 1));
	ut_remote_reader_add(&r, " 0 0 -\n", 7);
	assert_int_equal(ut_remote_reader_next(&r, &f, NULL), 1);
	assert_false(ut_remote_reader_is_late(&r, now + 2 * (int64_t)UT_REMOTE_FRAME_MS));
	assert_false(ut_remote_reader_is_late(&r, now + 9 * (int64_t)UT_REMOTE_FRAME_MS));
	ut_remote_reader_release(&r);
}

UT_TESTS(remote_frames)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_in_any_pieces),
		cmocka_unit_test(what_is_no_frame_is_refused),
		cmocka_unit_test(folders_are_those_of_modules_and_one_level_deep),
		cmocka_unit_test(a_line_without_end_is_refused),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(half_a_frame_has_a_deadline_and_silence_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
