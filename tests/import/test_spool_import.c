/* test_spool_import.c - tests src/trace/import/spool*.c: from records to events, line by line. */
#include "import/spool/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/build.h"
#include "ittnotify.h"
#include "support/unit.h"
#include "wire/spool_ops.h"

/* A builder with an open part of the main thread. */
static void start(struct build *b)
{
	build_start(b);
	build_chunk(b, 1);
	build_thread(b, 1, 100);
}

/* "domain|name, ID, ID of parent" with ids of one word. */
static void begin_id(struct build *b, enum ut_rec type, uint64_t ticks, const char *name,
		     uint64_t id, uint64_t parent)
{
	const uint64_t words[] = { pair(1, name ? build_name(b, name) : 0), id, parent };

	build_bytes(b, type, ticks, words, 3, NULL, 0);
}

static void meta(struct build *b, uint64_t ticks, uint64_t id, uint32_t scope, const char *key,
		 uint64_t value)
{
	const uint64_t words[] = { pair(1, build_name(b, key)),     id, 0,    0,
				   pair(__itt_metadata_u64, scope), 1,  value };

	build_bytes(b, UT_REC_META_NUM, ticks, words, 7, NULL, 0);
}

/* ---- nesting ------------------------------------------------------------------------------- */

static void tasks_come_in_order_of_their_begins_outer_first(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	build_begin(&b, 110, "outer");
	build_begin(&b, 120, "inner");
	build_end(&b, 130);
	build_begin(&b, 130, "second");
	build_end(&b, 130);
	build_end(&b, 150);
	expect_events(&b, "main: span outer 110+40\n"
			  "main: span inner 120+10\n"
			  "main: span second 130+0\n");
}

static void a_task_ends_with_everything_in_it(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	BUILD_DEFINE(&b, DOMAIN, pair(2, build_name(&b, "other")));
	build_begin(&b, 110, "outer");
	build_raw(&b, ut_word(UT_WORD_BEGIN, 120, 2 | (uint64_t)build_name(&b, "lost") << 8));
	build_raw(&b, ut_word(UT_WORD_BEGIN, 130, 2 | (uint64_t)build_name(&b, "lost") << 8));
	build_end(&b, 150);
	build_raw(&b, ut_word(UT_WORD_END, 160, 2)); /* has lost its begin now */
	seen_import(&s, &b);
	assert_string_equal(s.text, "main: span outer 110+40\n"
				    "main: span lost 120+29 implicit\n"
				    "main: span lost 130+18 implicit\n");
	assert_int_equal(s.trace.losses.implicit_ends, 2);
	assert_int_equal(s.trace.losses.stray_ends, 1);
	seen_release(&s);
	build_release(&b);
}

static void implicit_ends_leave_nothing_outside(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_DEFINE(&b, DOMAIN, pair(2, build_name(&b, "other")));
	build_begin(&b, 110, "outer");
	build_raw(&b, ut_word(UT_WORD_BEGIN, 120, 2 | (uint64_t)build_name(&b, "a") << 8));
	build_raw(&b, ut_word(UT_WORD_BEGIN, 121, 2 | (uint64_t)build_name(&b, "b") << 8));
	build_begin(&b, 122, "ended");
	build_end(&b, 150);
	build_end(&b, 150); /* no time between what a and b contain and their end */
	expect_events(&b, "main: span outer 110+40\n"
			  "main: span a 120+30 implicit\n"
			  "main: span b 121+29 implicit\n"
			  "main: span ended 122+28\n");
}

static void an_end_without_begin_is_counted_and_ends_nothing(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	build_end(&b, 105);
	build_begin(&b, 110, "work");
	build_raw(&b, ut_word(UT_WORD_END, 120, 77)); /* of a domain that has begun nothing */
	build_end(&b, 130);
	seen_import(&s, &b);
	assert_string_equal(s.text, "main: span work 110+20\n");
	assert_int_equal(s.trace.losses.stray_ends, 2);
	seen_release(&s);
	build_release(&b);
}

static void what_never_ended_reaches_to_the_last_sign_of_life(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	build_begin(&b, 110, "crashed");
	build_begin(&b, 120, "done");
	build_end(&b, 130);
	build_begin(&b, 140, "in");
	build_thread(&b, 2, 150);
	build_begin(&b, 160, "elsewhere");
	build_end(&b, 500);
	seen_import(&s, &b);
	assert_string_equal(s.text, "main: span crashed 110+390 unfinished\n"
				    "main: span done 120+10\n"
				    "main: span in 140+359 unfinished\n"
				    "two: span elsewhere 160+340\n");
	assert_int_equal(s.trace.losses.unfinished, 2);
	assert_int_equal(s.trace.last, 500);
	seen_release(&s);
	build_release(&b);
}

static void time_that_steps_back_in_a_signal_handler_keeps_the_order(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	build_begin(&b, 120, "handler"); /* between a look at the clock (110) and its use */
	build_end(&b, 130);
	build_begin(&b, 110, "interrupted");
	build_begin(&b, 150, "handler");
	build_end(&b, 160);
	build_end(&b, 140);
	expect_events(&b, "main: span handler 120+10\n"
			  "main: span interrupted 130+30\n"
			  "main: span handler 150+10\n");
}

static void records_without_a_thread_or_of_no_known_kind_are_skipped(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	build_start(&b);
	build_chunk(&b, 1);
	build_begin(&b, 50, "nobody");
	build_thread(&b, 1, 100);
	build_bytes(&b, (enum ut_rec)250, 105, (uint64_t[]){ 1, 2 }, 2, NULL, 0);
	build_raw(&b, 0);
	build_begin(&b, 110, "work");
	build_raw(&b, ut_word_long(UT_WORD_RESERVED, 111, UT_REC_COUNTER, 3));
	build_raw(&b, UINT64_MAX);
	build_raw(&b, 0);
	build_end(&b, 120);
	build_raw(&b, ut_word(9, 130, 0)); /* garbage ends the chunk */
	build_begin(&b, 140, "work");
	seen_import(&s, &b);
	assert_string_equal(s.text, "main: span work 110+10\n");
	assert_int_equal(s.trace.losses.unknown, 1);
	assert_int_equal(s.trace.losses.torn, 2);
	seen_release(&s);
	build_release(&b);
}

/* ---- over several parts -------------------------------------------------------------------- */

static void spans_and_their_arguments_reach_over_many_parts(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	build_begin(&b, 110, "one");
	begin_id(&b, UT_REC_TASK_BEGIN, 120, "two", 7, 0);
	for (uint64_t i = 0; i < 5; i++) {
		build_chunk(&b, 1);
		build_thread(&b, 2, 200 + i * 100);
		build_begin(&b, 210 + i * 100, "other");
		build_thread(&b, 1, 200 + i * 100);
		meta(&b, 220 + i * 100, 7, 0, "late", i);
		build_begin(&b, 230 + i * 100, "in");
		build_end(&b, 240 + i * 100);
	}
	build_end(&b, 900);
	meta(&b, 910, 0, 0, "last", 9);
	build_end(&b, 950);
	expect_events(&b, "main: span one 110+840 {last=9}\n"
			  "main: span two 120+780 {id=0x7, late=0, late #2=1, late #3=2, late "
			  "#4=3, late #5=4}\n"
			  "main: span in 230+10\n"
			  "main: span in 330+10\n"
			  "main: span in 430+10\n"
			  "main: span in 530+10\n"
			  "main: span in 630+10\n"
			  "two: span other 210+740 unfinished\n"
			  "two: span other 310+639 unfinished\n"
			  "two: span other 410+538 unfinished\n"
			  "two: span other 510+437 unfinished\n"
			  "two: span other 610+336 unfinished\n");
}

static void parts_are_read_in_their_order_wherever_they_lie(void **state)
{
	struct build b;

	(void)state;
	build_start(&b);
	build_chunk(&b, 1);
	build_part(&b, 1, 2, 1000);
	build_end(&b, 1010);
	build_chunk(&b, 1);
	build_part(&b, 1, 1, 100);
	build_begin(&b, 110, "early");
	expect_events(&b, "main: span early 110+900\n");
}

static void what_was_open_when_a_part_is_missing_ends_with_the_part_before(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	build_start(&b);
	build_chunk(&b, 1);
	build_part(&b, 1, 7, 100);
	build_begin(&b, 110, "outer");
	build_begin(&b, 120, "inner");
	build_begin(&b, 130, "ended");
	build_end(&b, 140);
	build_part(&b, 1, 9, 1000); /* the flight recorder has used the eighth again */
	build_end(&b, 1010);
	build_begin(&b, 1020, "later");
	build_end(&b, 1030);
	seen_import(&s, &b);
	assert_string_equal(s.text, "main: span outer 110+30 unfinished\n"
				    "main: span inner 120+20 unfinished\n"
				    "main: span ended 130+10\n"
				    "main: span later 1020+10\n");
	assert_int_equal(s.trace.losses.unfinished, 2);
	assert_int_equal(s.trace.losses.stray_ends, 1);
	seen_release(&s);
	build_release(&b);
}

/* ---- arguments ----------------------------------------------------------------------------- */

static void arguments_of_every_type_hang_on_the_current_task(void **state)
{
	static const int32_t s32[] = { -1, 2 };
	static const float f32 = 0.5f;
	static const uint16_t u16 = 65535;
	static const int16_t s16 = -3;
	const double f64 = -2.25;
	struct build b;
	uint32_t key;

	(void)state;
	start(&b);
	key = build_name(&b, "k");
	build_begin(&b, 110, "work");
#define NUM(type, count, from, size)                                                               \
	build_bytes(&b, UT_REC_META_NUM, 115, (uint64_t[]){ pair(1, key), 0, 0, 0, type, count },  \
		    6, from, size)
	NUM(__itt_metadata_s32, 2, s32, 8);
	NUM(__itt_metadata_float, 1, &f32, 4);
	NUM(__itt_metadata_double, 1, &f64, 8);
	NUM(__itt_metadata_u16, 1, &u16, 2);
	NUM(__itt_metadata_s16, 1, &s16, 2);
	NUM(__itt_metadata_s64, 1, &(int64_t){ INT64_MIN }, 8);
	NUM(__itt_metadata_u32, 1, &(uint32_t){ 7 }, 4);
	NUM(99, 1, &f64, 8); /* no such type */
#undef NUM
	build_bytes(&b, UT_REC_META_STR, 116, (uint64_t[]){ pair(1, key), 0, 0, 0, 3 }, 5, "abc",
		    3);
	build_bytes(&b, UT_REC_META_TEXT, 117, (uint64_t[]){ pair(1, key), 0, 0, 0, 5 }, 5, "x = 1",
		    5);
	build_end(&b, 120);
	expect_events(&b,
		      "main: span work 110+10 {k=-1;2, k #2=0.5, k #3=-2.25, k #4=65535, k #5=-3, "
		      "k #6=-9223372036854775808, k #7=7, k #8='abc', info='x = 1'}\n");
}

static void more_values_than_there_are_bytes_are_not_believed(void **state)
{
	struct build b;
	uint32_t key;

	(void)state;
	start(&b);
	key = build_name(&b, "k");
	build_begin(&b, 110, "work");
	BUILD_LONG(&b, META_NUM, 115, pair(1, key), 0, 0, 0, __itt_metadata_u64, UINT32_MAX, 5, 6);
	BUILD_LONG(&b, META_STR, 116, pair(1, key), 0, 0, 0, UINT32_MAX, 0x6968);
	build_end(&b, 120);
	expect_events(&b, "main: span work 110+10 {k=5;6, k #2='hi'}\n");
}

static void metadata_finds_its_task_by_id_and_stands_alone_otherwise(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	begin_id(&b, UT_REC_TASK_BEGIN, 110, "outer", 5, 0);
	build_begin(&b, 120, "inner");
	meta(&b, 125, 5, 0, "of outer", 1);
	meta(&b, 126, 0, 0, "of inner", 2);
	meta(&b, 127, 99, 0, "of nobody", 3);
	build_end(&b, 130);
	build_end(&b, 140);
	meta(&b, 150, 0, 0, "too late", 4);
	expect_events(&b, "main: span outer 110+30 {id=0x5, of outer=1}\n"
			  "main: span inner 120+10 {of inner=2}\n"
			  "main: instant too late 150 {too late=4}\n"
			  "main: instant of nobody 127 {id=0x63, of nobody=3}\n");
}

static void scoped_metadata_belongs_to_its_track_or_to_everything(void **state)
{
	struct build b;
	struct seen s;
	const struct ut_arg *a;

	(void)state;
	start(&b);
	build_begin(&b, 110, "work");
	meta(&b, 115, 0, __itt_scope_global, "all", 1);
	meta(&b, 116, 0, __itt_scope_track, "mine", 2);
	build_end(&b, 120);
	seen_import(&s, &b);
	assert_string_equal(s.text, "main: span work 110+10\n");
	a = &s.trace.args[s.trace.global_args];
	assert_string_equal(ut_strtab_get(&s.trace.strings, a->key).ptr, "all");
	a = &s.trace.args[s.trace.tracks[s.events[0].track].args];
	assert_string_equal(ut_strtab_get(&s.trace.strings, a->key).ptr, "mine");
	seen_release(&s);
	build_release(&b);
}

/* ---- joined by id -------------------------------------------------------------------------- */

static void overlapped_tasks_end_on_any_thread(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	begin_id(&b, UT_REC_OVERLAPPED_BEGIN, 110, "a", 1, 0);
	begin_id(&b, UT_REC_OVERLAPPED_BEGIN, 120, "b", 2, 1);
	meta(&b, 125, 1, 0, "k", 8);
	BUILD_LONG(&b, OVERLAPPED_END, 130, 1, 1);
	BUILD_LONG(&b, OVERLAPPED_END, 131, 1, 99);
	build_thread(&b, 2, 135);
	BUILD_LONG(&b, OVERLAPPED_END, 140, 1, 2);
	expect_events(&b, "dom: async begin a 110#1 {id=0x1, k=8}\n"
			  "dom: async end a 130#1\n"
			  "dom: async begin b 120#2 {id=0x2, parent=0x1}\n"
			  "dom: async end b 140#2\n");
}

static void an_id_that_is_used_again_is_another_task(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	for (uint64_t i = 0; i < 3; i++) {
		begin_id(&b, UT_REC_OVERLAPPED_BEGIN, 110 + i * 100, "task", 1, 0);
		meta(&b, 120 + i * 100, 1, 0, "round", i);
		BUILD_LONG(&b, OVERLAPPED_END, 130 + i * 100, 1, 1);
	}
	begin_id(&b, UT_REC_OVERLAPPED_BEGIN, 500, "task", 1, 0);
	meta(&b, 510, 1, 0, "round", 9);
	expect_events(&b, "dom: async begin task 110#1 {id=0x1, round=0}\n"
			  "dom: async end task 130#1\n"
			  "dom: async begin task 210#2 {id=0x1, round=1}\n"
			  "dom: async end task 230#2\n"
			  "dom: async begin task 310#3 {id=0x1, round=2}\n"
			  "dom: async end task 330#3\n"
			  "dom: async begin task 500#4 unfinished {id=0x1, round=9}\n"
			  "dom: async end task 510#4 unfinished\n");
}

static void a_region_lasts_as_long_as_it_was_begun_more_often_than_ended(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	begin_id(&b, UT_REC_REGION_BEGIN, 110, "r", 1, 0);
	begin_id(&b, UT_REC_REGION_BEGIN, 120, "r", 1, 0);
	BUILD_LONG(&b, REGION_END, 130, 1, 1);
	BUILD_LONG(&b, REGION_END, 140, 1, 1);
	BUILD_LONG(&b, REGION_END, 150, 1, 1);
	seen_import(&s, &b);
	assert_string_equal(s.text, "Regions: dom: async begin r 110#1 {id=0x1}\n"
				    "Regions: dom: async end r 140#1\n");
	assert_int_equal(s.trace.losses.stray_ends, 1);
	seen_release(&s);
	build_release(&b);
}

static void frames_have_a_lane_and_a_begin_ends_the_frame_before(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	BUILD_LONG(&b, FRAME_BEGIN, 110, 1, 0);
	BUILD_LONG(&b, FRAME_BEGIN, 120, 1, 0);
	BUILD_LONG(&b, FRAME_END, 130, 1, 0);
	BUILD_LONG(&b, FRAME_END, 131, 1, 0);
	BUILD_LONG(&b, FRAME_SUBMIT, 150, 1, 0, 0, 0, 140, 145);
	BUILD_LONG(&b, FRAME_SUBMIT, 151, 1, 0, 0, 0, 142, 150); /* overlaps: the next lane */
	BUILD_LONG(&b, FRAME_BEGIN, 160, 1, 3);
	build_begin(&b, 170, "x");
	build_end(&b, 180);
	seen_import(&s, &b);
	assert_string_equal(s.text, "main: span x 170+10\n"
				    "Frames: dom: span frame 110+10\n"
				    "Frames: dom: span frame 120+10\n"
				    "Frames: dom: span frame 140+5\n"
				    "Frames: dom (2): span frame 142+8\n"
				    "Frames: dom: span frame 160+20 unfinished {id=0x3}\n");
	assert_int_equal(s.trace.losses.stray_ends, 1);
	assert_int_equal(s.trace.losses.unfinished, 1);
	seen_release(&s);
	build_release(&b);
}

static void relations_become_arrows_bound_to_their_tasks(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	begin_id(&b, UT_REC_TASK_BEGIN, 110, "maker", 5, 0);
	build_end(&b, 120);
	build_thread(&b, 2, 125);
	begin_id(&b, UT_REC_TASK_BEGIN, 130, "taker", 6, 0);
	BUILD_LONG(&b, RELATION, 135, pair(1, __itt_relation_is_dependent_on), 0, 5);
	build_end(&b, 140);
	expect_events(&b, "main: span maker 110+10 {id=0x5}\n"
			  "main: flow out dependent on 110#1\n"
			  "two: span taker 130+10 {id=0x6}\n"
			  "two: flow in dependent on 130#1\n");
}

static void marks_are_moments_until_they_are_switched_off(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_LONG(&b, MARK, 110, pair(build_name(&b, "m"), build_name(&b, "p")));
	BUILD_LONG(&b, MARK, 120, pair(build_name(&b, "m"), 0));
	BUILD_LONG(&b, MARK_OFF, 130, build_name(&b, "m"));
	BUILD_LONG(&b, MARK_OFF, 140, build_name(&b, "m"));
	expect_events(&b, "main: instant m 110 {parameter='p'}\n"
			  "Marks: async begin m 120#1\n"
			  "Marks: async end m 130#1\n");
}

/* ---- numbers, clocks, tracks --------------------------------------------------------------- */

static void counters_have_a_track_each_with_unit_and_type(void **state)
{
	struct build b;
	struct seen s;
	double d = 1.5;
	uint64_t bits;

	(void)state;
	memcpy(&bits, &d, 8);
	start(&b);
	BUILD_DEFINE(&b, COUNTER_DEF, pair(1, build_name(&b, "speed")),
		     pair(build_name(&b, "dom"), __itt_metadata_double));
	build_define(&b, UT_REC_COUNTER_META, (uint64_t[]){ pair(1, __itt_context_unitsA), 4 }, 2,
		     "MB/s", 4);
	BUILD_DEFINE(&b, COUNTER_DEF, pair(2, build_name(&b, "level")), 0);
	BUILD_LONG(&b, COUNTER, 110, pair(1, __itt_metadata_double), bits);
	BUILD_LONG(&b, COUNTER, 120, pair(2, __itt_metadata_s64), UINT64_MAX);
	BUILD_LONG(&b, COUNTER, 130, pair(2, __itt_metadata_u64)); /* a value of 0 is not stored */
	BUILD_LONG(&b, COUNTER, 140, pair(77, 0), 1);
	seen_import(&s, &b);
	assert_string_equal(s.text, "dom: speed: counter dom: speed 110=1.5\n"
				    "level: counter level 120=-1\n"
				    "level: counter level 130=0\n");
	assert_string_equal(
		ut_strtab_get(&s.trace.strings, s.trace.tracks[s.events[0].track].unit).ptr,
		"MB/s");
	seen_release(&s);
	build_release(&b);
}

static void times_on_the_programs_own_clock_are_mapped(void **state)
{
	struct build b;
	uint32_t work;

	(void)state;
	start(&b);
	work = build_name(&b, "work");
	BUILD_DEFINE(&b, CLOCK_DOMAIN, 1, 1000000, 50, 1000); /* a us tick; 50 is ns 1000 */
	BUILD_LONG(&b, TASK_BEGIN_CLOCK, 110, pair(1, work), 1, 52);
	BUILD_LONG(&b, TASK_END_CLOCK, 120, 1, 1, 55);
	BUILD_LONG(&b, TASK_END_CLOCK, 121, 1, 1, 56);
	BUILD_LONG(&b, MARKER, 130, pair(1, work), 9, 0, 0, __itt_scope_global, 1, 49);
	BUILD_LONG(&b, MARKER, 140, pair(1, work));
	expect_events(&b, "main: instant work 0 global {id=0x9}\n"
			  "main: instant work 140\n"
			  "Clock: dom: span work 3000+3000\n");
}

static void the_programs_own_tracks_take_what_is_begun_on_them(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_DEFINE(&b, TRACK_GROUP, pair(1, build_name(&b, "group")));
	BUILD_DEFINE(&b, TRACK, pair(2, 1), pair(build_name(&b, "track"), 1));
	BUILD_LONG(&b, SET_TRACK, 105, 2);
	build_begin(&b, 110, "there");
	build_begin(&b, 110, "in");
	BUILD_LONG(&b, SET_TRACK, 120, 0);
	build_begin(&b, 130, "here");
	build_end(&b, 140);
	build_end(&b, 150);
	build_end(&b, 150);
	expect_events(&b, "main: span here 130+10\n"
			  "group: track: span there 110+40\n"
			  "group: track: span in 110+40\n");
}

static void compiled_methods_are_reported(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_DEFINE(&b, JIT_METHOD, pair(1, 0), 700, 0x5000, 64,
		     pair(build_name(&b, "f"), build_name(&b, "C")), build_name(&b, "f.py"));
	expect_events(&b,
		      "JIT: instant f 700 {address=0x5000, bytes=64, class='C', file='f.py'}\n");
}

static void a_pause_is_a_span_of_its_own(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_LONG(&b, PAUSE, 110, 1);
	BUILD_LONG(&b, RESUME, 150, 1);
	BUILD_LONG(&b, DETACH, 160, 0);
	expect_events(&b, "main: instant collection paused 110 process\n"
			  "main: instant collection resumed 150 process\n"
			  "main: instant collector detached 160 process\n"
			  "Control: span paused 110+40\n");
}

static void a_heap_is_a_counter_of_what_is_alive(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_DEFINE(&b, HEAP_FUNCTION, pair(1, build_name(&b, "malloc")), 0);
	BUILD_LONG(&b, HEAP, 110, pair(1, UT_HEAP_ALLOC_END), 0x10, 100);
	BUILD_LONG(&b, HEAP, 120, pair(1, UT_HEAP_REALLOC_END), 0x10, 300, 0x20);
	BUILD_LONG(&b, HEAP, 130, pair(1, UT_HEAP_FREE_END), 0x20);
	BUILD_LONG(&b, HEAP, 140, pair(1, UT_HEAP_FREE_END), 0x99);
	expect_events(&b, "heap: malloc: counter heap: malloc 110=100\n"
			  "heap: malloc: counter heap: malloc 120=300\n"
			  "heap: malloc: counter heap: malloc 130=0\n"
			  "heap: malloc: counter heap: malloc 140=0\n");
}

static void events_that_end_out_of_order_overlap(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_LONG(&b, EVENT_START, 110, build_name(&b, "e"));
	build_begin(&b, 120, "task");
	BUILD_LONG(&b, EVENT_END, 130, build_name(&b, "e"));
	build_end(&b, 140);
	BUILD_LONG(&b, EVENT_START, 150, build_name(&b, "alone"));
	BUILD_LONG(&b, EVENT_START, 160, build_name(&b, "e"));
	BUILD_LONG(&b, EVENT_END, 170, build_name(&b, "e"));
	expect_events(&b, "main: async begin e 110#1\n"
			  "main: async end e 130#1\n"
			  "main: span task 120+20\n"
			  "main: instant alone 150\n"
			  "main: span e 160+10\n");
}

/* ---- hostile numbers ----------------------------------------------------------------------- */

static void impossible_numbers_do_not_leak_into_the_next_import(void **state)
{
	(void)state;
	for (int round = 0; round < 3; round++) {
		struct build b;
		struct seen s;

		start(&b);
		BUILD_DEFINE(&b, COUNTER_DEF, pair(UINT32_MAX, build_name(&b, "c")), 0);
		BUILD_DEFINE(&b, TRACK, pair(4, 60000), pair(build_name(&b, "t"), 1));
		BUILD_LONG(&b, SET_TRACK, 110, 4);
		BUILD_LONG(&b, COUNTER, 120, pair(UINT32_MAX, 0), 1);
		build_begin(&b, 130, "x");
		build_thread(&b, UINT32_MAX, 140);
		build_begin(&b, 150, "y");
		BUILD_LONG(&b, MARK, 160, build_name(&b, "m"));
		seen_import(&s, &b);
		assert_int_equal(s.trace.losses.torn, 1);
		seen_release(&s);
		build_release(&b);
	}
}

static void many_ends_of_nothing_do_not_take_for_ever(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	build_start(&b);
	build_chunk(&b, 64);
	build_thread(&b, 1, 100);
	for (uint64_t i = 0; i < 60000; i++)
		build_begin(&b, 110 + i, "deep");
	for (uint64_t i = 0; i < 60000; i++)
		build_raw(&b, ut_word(UT_WORD_END, 70000 + i, 9));
	seen_import(&s, &b);
	assert_int_equal(s.trace.losses.stray_ends, 60000);
	assert_int_equal(s.count, 60000);
	seen_release(&s);
	build_release(&b);
}

UT_TESTS(spool_import)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_come_in_order_of_their_begins_outer_first),
		cmocka_unit_test(a_task_ends_with_everything_in_it),
		cmocka_unit_test(implicit_ends_leave_nothing_outside),
		cmocka_unit_test(an_end_without_begin_is_counted_and_ends_nothing),
		cmocka_unit_test(what_never_ended_reaches_to_the_last_sign_of_life),
		cmocka_unit_test(time_that_steps_back_in_a_signal_handler_keeps_the_order),
		cmocka_unit_test(records_without_a_thread_or_of_no_known_kind_are_skipped),
		cmocka_unit_test(spans_and_their_arguments_reach_over_many_parts),
		cmocka_unit_test(parts_are_read_in_their_order_wherever_they_lie),
		cmocka_unit_test(what_was_open_when_a_part_is_missing_ends_with_the_part_before),
		cmocka_unit_test(arguments_of_every_type_hang_on_the_current_task),
		cmocka_unit_test(more_values_than_there_are_bytes_are_not_believed),
		cmocka_unit_test(metadata_finds_its_task_by_id_and_stands_alone_otherwise),
		cmocka_unit_test(scoped_metadata_belongs_to_its_track_or_to_everything),
		cmocka_unit_test(overlapped_tasks_end_on_any_thread),
		cmocka_unit_test(an_id_that_is_used_again_is_another_task),
		cmocka_unit_test(a_region_lasts_as_long_as_it_was_begun_more_often_than_ended),
		cmocka_unit_test(frames_have_a_lane_and_a_begin_ends_the_frame_before),
		cmocka_unit_test(relations_become_arrows_bound_to_their_tasks),
		cmocka_unit_test(marks_are_moments_until_they_are_switched_off),
		cmocka_unit_test(counters_have_a_track_each_with_unit_and_type),
		cmocka_unit_test(times_on_the_programs_own_clock_are_mapped),
		cmocka_unit_test(the_programs_own_tracks_take_what_is_begun_on_them),
		cmocka_unit_test(compiled_methods_are_reported),
		cmocka_unit_test(a_pause_is_a_span_of_its_own),
		cmocka_unit_test(a_heap_is_a_counter_of_what_is_alive),
		cmocka_unit_test(events_that_end_out_of_order_overlap),
		cmocka_unit_test(impossible_numbers_do_not_leak_into_the_next_import),
		cmocka_unit_test(many_ends_of_nothing_do_not_take_for_ever),
	};

	return cmocka_run_group_tests_name("import/spool_import", tests, NULL, NULL);
}
