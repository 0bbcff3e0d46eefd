/*
 * test_perfetto_lanes.c - tests src/trace/import/perfetto/lanes.c, import/perfetto/legacy.c and
 * import/perfetto/ftrace.c: what belongs to no thread, and what Chrome and the kernel write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/pf.h"
#include "model/perfetto_fields.h"
#include "support/unit.h"

#define PROCESS 2
#define THREAD  3

static int make(void **state)
{
	struct pf *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	pf_process(f, PROCESS, 10, "app");
	pf_thread(f, THREAD, 10, 11, "main");
	*state = f;
	return 0;
}

static int drop(void **state)
{
	pf_release(*state);
	free(*state);
	return 0;
}

static void span(struct pf *f, uint64_t uuid, const char *name, uint64_t from, uint64_t to)
{
	pf_begin(f, from, uuid, name);
	pf_end(f, to, uuid);
}

/* ---- lanes --------------------------------------------------------------------------------- */

static void tracks_of_one_name_that_overlap_are_one_async_lane(void **state)
{
	struct pf *f = *state;

	pf_lane(f, 20, PROCESS, "requests");
	pf_lane(f, 21, PROCESS, "requests");
	span(f, 21, "b", 15, 25);
	span(f, 20, "a", 10, 20);
	span(f, 20, "c", 30, 40);
	pf_expect(f, "10,app,,requests,async begin,10,,a,,,,1,,\n"
		     "10,app,,requests,async begin,15,,b,,,,2,,\n"
		     "10,app,,requests,async end,20,,a,,,,1,,\n"
		     "10,app,,requests,async end,25,,b,,,,2,,\n"
		     "10,app,,requests,async begin,30,,c,,,,3,,\n"
		     "10,app,,requests,async end,40,,c,,,,3,,\n");
	assert_int_equal(f->store.trace.tracks[1].type, UT_TRACK_ASYNC);
}

static void tracks_of_one_name_that_nest_are_one_lane(void **state)
{
	struct pf *f = *state;

	pf_lane(f, 20, PROCESS, "steps");
	pf_lane(f, 21, PROCESS, "steps");
	span(f, 21, "inside", 12, 15);
	span(f, 20, "a", 10, 20);
	pf_instant(f, 13, 20, "now");
	pf_expect(f, "10,app,,steps,span,10,10,a,,0,,,,\n"
		     "10,app,,steps,span,12,3,inside,,1,,,,\n"
		     "10,app,,steps,instant,13,,now,,,,,,\n");
}

static void moments_on_overlapping_lanes_belong_to_the_span_around_them(void **state)
{
	struct pf *f = *state;

	pf_lane(f, 20, PROCESS, "r");
	pf_lane(f, 21, PROCESS, "r");
	pf_begin(f, 10, 20, "a");
	pf_instant(f, 12, 20, "in a");
	pf_instant(f, 12, 21, "in none");
	pf_begin(f, 15, 21, "b");
	pf_end(f, 20, 20);
	pf_end(f, 25, 21);
	pf_expect(f, "10,app,,r,async begin,10,,a,,,,1,,\n"
		     "10,app,,r,async instant,12,,in a,,,,1,,\n"
		     "10,app,,r,async instant,12,,in none,,,,0,,\n"
		     "10,app,,r,async begin,15,,b,,,,2,,\n"
		     "10,app,,r,async end,20,,a,,,,1,,\n"
		     "10,app,,r,async end,25,,b,,,,2,,\n");
}

static void overlapping_spans_that_never_end_are_closed_and_flagged(void **state)
{
	struct pf *f = *state;

	pf_lane(f, 20, PROCESS, "r");
	pf_lane(f, 21, PROCESS, "r");
	pf_begin(f, 10, 20, "a");
	span(f, 21, "b", 15, 25);
	pf_begin(f, 20, 21, "c");
	pf_end(f, 22, 21);
	pf_end(f, 5, 20);
	pf_lane(f, 22, PROCESS, "r");
	span(f, 22, "d", 24, 40);
	pf_expect(f, "10,app,,r,async begin,10,,a,,,,1,unfinished,\n"
		     "10,app,,r,async begin,15,,b,,,,2,,\n"
		     "10,app,,r,async begin,20,,c,,,,3,,\n"
		     "10,app,,r,async end,22,,c,,,,3,,\n"
		     "10,app,,r,async begin,24,,d,,,,4,,\n"
		     "10,app,,r,async end,25,,b,,,,2,,\n"
		     "10,app,,r,async end,40,,a,,,,1,unfinished,\n"
		     "10,app,,r,async end,40,,d,,,,4,,\n");
	assert_int_equal(f->store.trace.losses.unfinished, 1);
	assert_int_equal(f->store.trace.losses.stray_ends, 1);
}

static void tracks_inside_of_tracks_are_called_by_their_path(void **state)
{
	struct pf *f = *state;

	pf_lane(f, 30, PROCESS, "GPU 0");
	pf_lane(f, 31, 30, "stream 7");
	pf_lane(f, 40, THREAD, "gc");
	pf_lane(f, 50, 0, "root");
	pf_lane(f, 51, 50, NULL);
	pf_lane(f, 60, 61, "loop"); /* parents that run in a circle */
	pf_lane(f, 61, 60, "pool");
	pf_instant(f, 1, 31, "x");
	pf_instant(f, 2, 40, "y");
	pf_instant(f, 3, 51, "first");
	pf_instant(f, 4, 60, "z");
	assert_int_equal(pf_load(f, f->file.len), 0);
	{
		static const char *const names[] = { "main", "GPU 0 / stream 7", "main / gc",
						     "root / first", NULL };
		const struct ut_trace *t = &f->store.trace;

		for (size_t i = 0; names[i]; i++)
			assert_string_equal(ut_strtab_get(&t->strings, t->tracks[i].name).ptr,
					    names[i]);
		assert_int_equal(t->track_count, 5);
	}
}

static void what_overlaps_on_a_thread_returns_to_it(void **state)
{
	struct pf *f = *state;

	pf_lane(f, 20, THREAD, "main (overlap)");
	span(f, THREAD, "a", 10, 20);
	span(f, 20, "b", 15, 25);
	pf_expect(f, "10,app,11,main,span,10,10,a,,0,,,,\n"
		     "10,app,11,main,span,15,10,b,,1,,,,\n");
}

/* ---- Chrome's phases ----------------------------------------------------------------------- */

static size_t open_legacy(struct pf *f, uint64_t ts, char phase, const char *name, size_t *event)
{
	size_t legacy;

	*event = pf_event_open(f, ts, 0, THREAD);
	pf_text(f, EVENT_NAME, name);
	pf_text(f, EVENT_CATEGORIES, "cat");
	legacy = ut_pbuf_begin(&f->file, EVENT_LEGACY);
	ut_pbuf_varint(&f->file, LEGACY_PHASE, (uint64_t)phase);
	return legacy;
}

static void legacy(struct pf *f, uint64_t ts, char phase, const char *name, uint64_t id)
{
	size_t event, mark = open_legacy(f, ts, phase, name, &event);

	ut_pbuf_varint(&f->file, LEGACY_ID, id);
	ut_pbuf_end(&f->file, mark);
	pf_event_close(f, event);
}

static void phases_of_chrome_are_understood(void **state)
{
	struct pf *f = *state;
	size_t event, mark;

	mark = open_legacy(f, 10, 'X', "complete", &event);
	ut_pbuf_varint(&f->file, LEGACY_DURATION_US, 3);
	ut_pbuf_end(&f->file, mark);
	pf_event_close(f, event);
	legacy(f, 20, 'B', "call", 0);
	legacy(f, 25, 'E', NULL, 0);
	legacy(f, 30, 's', "arrow", 8);
	legacy(f, 31, 't', "arrow", 8);
	legacy(f, 32, 'f', "arrow", 8);
	legacy(f, 40, 'N', "thing", 5);
	legacy(f, 41, 'O', "thing", 5);
	legacy(f, 42, 'D', "thing", 5);
	mark = open_legacy(f, 50, 'I', "mark", &event);
	ut_pbuf_varint(&f->file, LEGACY_INSTANT_SCOPE, 2);
	ut_pbuf_end(&f->file, mark);
	pf_event_close(f, event);
	legacy(f, 60, 'M', "metadata", 0);
	pf_expect(f, "10,app,11,main,span,10,3000,complete,cat,0,,,,\n"
		     "10,app,11,main,span,20,5,call,cat,1,,,,\n"
		     "10,app,11,main,flow out,30,,,,,,1,,\n"
		     "10,app,11,main,flow step,31,,,,,,1,,\n"
		     "10,app,11,main,flow in,32,,,,,,1,,\n"
		     "10,app,11,main,object new,40,,thing,cat,,,5,,\n"
		     "10,app,11,main,object state,41,,thing,cat,,,5,,\n"
		     "10,app,11,main,object gone,42,,thing,cat,,,5,,\n"
		     "10,app,,process,instant,50,,mark,cat,,,,process,\n");
	pf_expect_warning(f, "that only Chrome's own tools know were left out: 0 and 1\n");
}

static void async_events_of_chrome_pair_by_category_and_id(void **state)
{
	struct pf *f = *state;

	legacy(f, 10, 'b', "load", 1);
	legacy(f, 11, 'b', "load", 2);
	legacy(f, 12, 'n', "step", 2);
	legacy(f, 20, 'e', "load", 1);
	legacy(f, 21, 'e', "load", 2);
	pf_expect(f, "10,app,,load,async begin,10,,load,cat,,,1,,\n"
		     "10,app,,load,async begin,11,,load,cat,,,2,,\n"
		     "10,app,,load,async instant,12,,step,cat,,,2,,\n"
		     "10,app,,load,async end,20,,load,cat,,,1,,\n"
		     "10,app,,load,async end,21,,load,cat,,,2,,\n");
}

static void counters_of_chrome_are_their_arguments(void **state)
{
	struct pf *f = *state;
	size_t event, mark = open_legacy(f, 10, 'C', "heap", &event), a;

	ut_pbuf_end(&f->file, mark);
	a = ut_pbuf_begin(&f->file, EVENT_ANNOTATIONS);
	pf_text(f, ANNOTATION_NAME, "used");
	ut_pbuf_varint(&f->file, ANNOTATION_UINT, 7);
	ut_pbuf_end(&f->file, a);
	pf_event_close(f, event);
	pf_expect(f, "10,app,,heap,counter,10,,heap,cat,,7,,,\n");
}

static void events_may_be_written_for_another_thread(void **state)
{
	struct pf *f = *state;
	size_t event, mark = open_legacy(f, 10, 'I', "x", &event);

	ut_pbuf_varint(&f->file, LEGACY_PID, 70);
	ut_pbuf_varint(&f->file, LEGACY_TID, 71);
	ut_pbuf_end(&f->file, mark);
	pf_event_close(f, event);
	pf_expect(f, "70,,71,,instant,10,,x,cat,,,,,\n");
}

static void threads_and_times_of_old_belong_to_their_sequence(void **state)
{
	struct pf *f = *state;
	size_t mark;

	pf_open(f, 5, SEQ_STATE_CLEARED);
	mark = ut_pbuf_begin(&f->file, PACKET_THREAD_DESCRIPTOR);
	ut_pbuf_varint(&f->file, THREAD_PID, 10);
	ut_pbuf_varint(&f->file, THREAD_TID, 12);
	ut_pbuf_varint(&f->file, THREAD_REFERENCE_US, 100);
	ut_pbuf_end(&f->file, mark);
	pf_close(f);
	for (uint64_t i = 1; i < 3; i++) {
		pf_open(f, 5, 0);
		mark = ut_pbuf_begin(&f->file, PACKET_TRACK_EVENT);
		ut_pbuf_varint(&f->file, EVENT_DELTA_US, i);
		ut_pbuf_varint(&f->file, EVENT_TYPE, TYPE_INSTANT);
		ut_pbuf_end(&f->file, mark);
		pf_close(f);
	}
	pf_expect(f, "10,app,12,,instant,101000,,,,,,,,\n"
		     "10,app,12,,instant,103000,,,,,,,,\n");
}

/* ---- the kernel ---------------------------------------------------------------------------- */

static void kernel_event(struct pf *f, uint64_t ts, uint64_t tid, const char *print,
			 const char *comm)
{
	size_t event = ut_pbuf_begin(&f->file, 2), inside;

	ut_pbuf_varint(&f->file, 1, ts);
	ut_pbuf_varint(&f->file, 2, tid);
	if (print) {
		inside = ut_pbuf_begin(&f->file, 3);
		pf_text(f, 2, print);
		ut_pbuf_end(&f->file, inside);
	} else if (comm) {
		inside = ut_pbuf_begin(&f->file, 4);
		pf_text(f, 5, comm);
		ut_pbuf_varint(&f->file, 6, tid);
		ut_pbuf_end(&f->file, inside);
	} else {
		ut_pbuf_bytes(&f->file, 17, "", 0); /* sched_wakeup */
	}
	ut_pbuf_end(&f->file, event);
}

static size_t open_bundle(struct pf *f, uint64_t cpu)
{
	size_t mark;

	pf_open(f, 1, 0);
	mark = ut_pbuf_begin(&f->file, PACKET_FTRACE);
	ut_pbuf_varint(&f->file, 1, cpu);
	return mark;
}

static void a_cpu_is_a_lane_of_those_who_ran_on_it(void **state)
{
	struct pf *f = *state;
	size_t mark = open_bundle(f, 2);

	kernel_event(f, 10, 11, NULL, "main");
	kernel_event(f, 20, 0, NULL, "swapper");
	kernel_event(f, 25, 1, NULL, NULL);
	kernel_event(f, 30, 12, NULL, "other");
	ut_pbuf_end(&f->file, mark);
	pf_close(f);
	pf_expect(f, "0,global,,CPU 2,span,10,10,main,,0,,,,\"{\"\"tid\"\":11}\"\n"
		     "0,global,,CPU 2,span,30,0,other,,0,,,unfinished,\"{\"\"tid\"\":12}\"\n");
	assert_string_equal(f->warnings.data, "kernel events that are neither sched_switch nor "
					      "marks of programs were left out: 1\n");
}

static void switches_may_come_as_columns(void **state)
{
	struct pf *f = *state;
	const unsigned char ts[] = { 10, 10, 5 }, tids[] = { 11, 12, 0 }, comms[] = { 0, 1, 0 };
	size_t mark = open_bundle(f, 0), compact = ut_pbuf_begin(&f->file, 4);

	ut_pbuf_bytes(&f->file, 1, ts, 3);
	ut_pbuf_bytes(&f->file, 3, tids, 3);
	pf_text(f, 5, "one");
	pf_text(f, 5, "two");
	ut_pbuf_bytes(&f->file, 6, comms, 3);
	ut_pbuf_end(&f->file, compact);
	ut_pbuf_end(&f->file, mark);
	pf_close(f);
	pf_expect(f, "0,global,,CPU 0,span,10,10,one,,0,,,,\"{\"\"tid\"\":11}\"\n"
		     "0,global,,CPU 0,span,20,5,two,,0,,,,\"{\"\"tid\"\":12}\"\n");
}

static void marks_written_through_the_kernel_belong_to_their_threads(void **state)
{
	static const char *const marks[] = { "B|10|work|more\n", "I|10|now\n",    "C|10|depth|-3\n",
					     "E|10\n",           "S|10|load|7\n", "F|10|load|7\n",
					     "plain text\n" };
	struct pf *f = *state;
	size_t mark = open_bundle(f, 0);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		kernel_event(f, 10 + i, 11, marks[i], NULL);
	ut_pbuf_end(&f->file, mark);
	pf_close(f);
	pf_expect(f, "10,app,11,main,span,10,3,work,,0,,,,\n"
		     "10,app,11,main,instant,11,,now,,,,,,\n"
		     "10,app,,depth,counter,12,,depth,,,-3,,,\n"
		     "10,app,,load,span,14,1,load,,0,,,,\n");
	pf_expect_warning(f, "marks of programs were left out: 1\n");
}

UT_TESTS(perfetto_lanes)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(tracks_of_one_name_that_overlap_are_one_async_lane),
		CASE(tracks_of_one_name_that_nest_are_one_lane),
		CASE(moments_on_overlapping_lanes_belong_to_the_span_around_them),
		CASE(overlapping_spans_that_never_end_are_closed_and_flagged),
		CASE(tracks_inside_of_tracks_are_called_by_their_path),
		CASE(what_overlaps_on_a_thread_returns_to_it),
		CASE(phases_of_chrome_are_understood),
		CASE(async_events_of_chrome_pair_by_category_and_id),
		CASE(counters_of_chrome_are_their_arguments),
		CASE(events_may_be_written_for_another_thread),
		CASE(threads_and_times_of_old_belong_to_their_sequence),
		CASE(a_cpu_is_a_lane_of_those_who_ran_on_it),
		CASE(switches_may_come_as_columns),
		CASE(marks_written_through_the_kernel_belong_to_their_threads),
	};
#undef CASE

	return cmocka_run_group_tests_name("import/perfetto_lanes", tests, NULL, NULL);
}
