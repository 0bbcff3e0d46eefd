/*
 * test_perfetto_import.c - tests src/trace/import/perfetto*.c: sequences, clocks, tracks, events,
 * arguments. Lines are those of the CSV exporter:
 * pid,process,tid,track,kind,ts,dur,name,category,depth,value,id,flags,args
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

#define THREAD  1 /* uuids */
#define PROCESS 2
#define OTHER   3

static int make(void **state)
{
	*state = calloc(1, sizeof(struct pf));
	return *state ? 0 : -1;
}

static int drop(void **state)
{
	pf_release(*state);
	free(*state);
	return 0;
}

/* Process 10 "app" with thread 11 "main". */
static struct pf *app(void **state)
{
	struct pf *f = *state;

	pf_process(f, PROCESS, 10, "app");
	pf_thread(f, THREAD, 10, 11, "main");
	return f;
}

/* ---- slices and instants ------------------------------------------------------------------- */

static void begins_and_ends_become_spans(void **state)
{
	struct pf *f = app(state);

	pf_begin(f, 100, THREAD, "outer");
	pf_begin(f, 110, THREAD, "inner");
	pf_end(f, 120, THREAD);
	pf_instant(f, 125, THREAD, "now");
	pf_end(f, 130, THREAD);
	pf_expect(f, "10,app,11,main,span,100,30,outer,,0,,,,\n"
		     "10,app,11,main,span,110,10,inner,,1,,,,\n"
		     "10,app,11,main,instant,125,,now,,,,,,\n");
	assert_string_equal(f->warnings.data, "");
}

static void events_of_a_thread_may_come_in_any_order(void **state)
{
	struct pf *f = app(state);

	pf_end(f, 130, THREAD);
	pf_begin(f, 110, THREAD, "inner");
	pf_end(f, 120, THREAD);
	pf_begin(f, 100, THREAD, "outer");
	pf_expect(f, "10,app,11,main,span,100,30,outer,,0,,,,\n"
		     "10,app,11,main,span,110,10,inner,,1,,,,\n");
}

static void what_never_ended_reaches_to_the_last_sign_of_life(void **state)
{
	struct pf *f = app(state);

	pf_end(f, 90, THREAD);
	pf_begin(f, 100, THREAD, "open");
	pf_instant(f, 140, THREAD, "last");
	pf_expect(f, "10,app,11,main,span,100,40,open,,0,,,unfinished,\n"
		     "10,app,11,main,instant,140,,last,,,,,,\n");
	assert_int_equal(f->store.trace.losses.stray_ends, 1);
	assert_int_equal(f->store.trace.losses.unfinished, 1);
}

static void instants_have_the_scope_of_their_track(void **state)
{
	struct pf *f = app(state);

	pf_instant(f, 1, THREAD, "t");
	pf_instant(f, 2, PROCESS, "p");
	pf_instant(f, 3, 0, "g");
	pf_expect(f, "10,app,11,main,instant,1,,t,,,,,,\n"
		     "10,app,,process,instant,2,,p,,,,,process,\n"
		     "0,global,,global,instant,3,,g,,,,,global,\n");
}

static void tracks_may_be_described_after_their_events(void **state)
{
	struct pf *f = *state;

	pf_begin(f, 5, THREAD, "a");
	pf_end(f, 9, THREAD);
	pf_value(f, 6, OTHER, -4);
	pf_thread(f, THREAD, 10, 11, NULL);
	pf_counter(f, OTHER, THREAD, "load");
	pf_process(f, PROCESS, 10, "app");
	pf_expect(f, "10,app,11,,span,5,4,a,,0,,,,\n"
		     "10,app,,11 / load,counter,6,,11 / load,,,-4,,,\n");
}

static void threads_have_names_from_trees_as_well(void **state)
{
	struct pf *f = *state;
	size_t tree, inside;

	pf_open(f, 1, 0);
	tree = ut_pbuf_begin(&f->file, PACKET_PROCESS_TREE);
	inside = ut_pbuf_begin(&f->file, 1);
	ut_pbuf_varint(&f->file, 1, 10);
	pf_text(f, 3, "/usr/bin/app");
	pf_text(f, 3, "-x");
	ut_pbuf_end(&f->file, inside);
	inside = ut_pbuf_begin(&f->file, 2);
	ut_pbuf_varint(&f->file, 1, 11);
	pf_text(f, 2, "worker");
	ut_pbuf_varint(&f->file, 3, 10);
	ut_pbuf_end(&f->file, inside);
	ut_pbuf_end(&f->file, tree);
	pf_close(f);
	pf_thread(f, THREAD, 10, 11, NULL);
	pf_instant(f, 1, THREAD, "x");
	pf_expect(f, "10,app,11,worker,instant,1,,x,,,,,,\n");
	assert_string_equal(
		ut_strtab_get(&f->store.trace.strings, f->store.trace.processes[0].cmdline).ptr,
		"/usr/bin/app -x");
}

static void ranks_and_odd_ids_are_understood(void **state)
{
	struct pf *f = *state;

	pf_process(f, PROCESS, -1, "RANK 3 solver");
	pf_thread(f, THREAD, -1, -2, NULL);
	pf_instant(f, 1, THREAD, "x");
	pf_expect(f, "-1,solver,-2,,instant,1,,x,,,,,,\n");
	assert_int_equal(f->store.trace.processes[0].rank, 3);
}

/* ---- sequences ----------------------------------------------------------------------------- */

static void interned_event(struct pf *f, uint32_t sequence, uint64_t flags, uint64_t iid)
{
	size_t event;

	pf_open(f, sequence, flags);
	ut_pbuf_varint(&f->file, PACKET_TIMESTAMP, 1);
	event = ut_pbuf_begin(&f->file, PACKET_TRACK_EVENT);
	ut_pbuf_varint(&f->file, EVENT_TYPE, TYPE_INSTANT);
	ut_pbuf_varint(&f->file, EVENT_TRACK_UUID, THREAD);
	ut_pbuf_varint(&f->file, EVENT_NAME_IID, iid);
	ut_pbuf_end(&f->file, event);
	pf_close(f);
}

static void define(struct pf *f, uint32_t sequence, uint64_t flags, uint64_t iid, const char *text)
{
	pf_open(f, sequence, flags);
	pf_intern(f, INTERNED_NAMES, iid, text);
	pf_close(f);
}

static void names_are_known_on_their_sequence_until_it_starts_over(void **state)
{
	struct pf *f = app(state);

	define(f, 1, SEQ_STATE_CLEARED, 7, "one");
	define(f, 2, SEQ_STATE_CLEARED, 7, "two");
	interned_event(f, 1, SEQ_NEEDS_STATE, 7);
	interned_event(f, 2, SEQ_NEEDS_STATE, 7);
	define(f, 1, SEQ_STATE_CLEARED, 8, "eight");
	interned_event(f, 1, SEQ_NEEDS_STATE, 7);
	interned_event(f, 1, SEQ_NEEDS_STATE, 8);
	pf_expect(f, "10,app,11,main,instant,1,,one,,,,,,\n"
		     "10,app,11,main,instant,1,,two,,,,,,\n"
		     "10,app,11,main,instant,1,,,,,,,,\n"
		     "10,app,11,main,instant,1,,eight,,,,,,\n");
	assert_string_equal(f->warnings.data,
			    "references to names that the file does not define: 1\n");
}

static void a_name_may_be_defined_in_the_packet_that_uses_it(void **state)
{
	struct pf *f = app(state);
	size_t event;

	pf_open(f, 1, SEQ_STATE_CLEARED);
	event = ut_pbuf_begin(&f->file, PACKET_TRACK_EVENT);
	ut_pbuf_varint(&f->file, EVENT_TYPE, TYPE_INSTANT);
	ut_pbuf_varint(&f->file, EVENT_TRACK_UUID, THREAD);
	ut_pbuf_varint(&f->file, EVENT_NAME_IID, 1);
	ut_pbuf_end(&f->file, event);
	pf_intern(f, INTERNED_NAMES, 1, "late");
	ut_pbuf_varint(&f->file, PACKET_TIMESTAMP, 5);
	pf_close(f);
	pf_expect(f, "10,app,11,main,instant,5,,late,,,,,,\n");
}

static void packets_that_miss_their_state_are_counted(void **state)
{
	struct pf *f = app(state);

	interned_event(f, 3, SEQ_NEEDS_STATE, 1); /* nobody has begun this sequence */
	define(f, 2, SEQ_STATE_CLEARED, 1, "name");
	interned_event(f, 2, SEQ_NEEDS_STATE, 1);
	pf_open(f, 2, 0);
	ut_pbuf_varint(&f->file, PACKET_PREVIOUS_DROPPED, 1);
	pf_close(f);
	interned_event(f, 2, SEQ_NEEDS_STATE, 1);
	interned_event(f, 2, SEQ_NEEDS_STATE, 1);
	define(f, 2, SEQ_STATE_CLEARED, 1, "again");
	interned_event(f, 2, SEQ_NEEDS_STATE, 1);
	pf_expect(f, "10,app,11,main,instant,1,,name,,,,,,\n"
		     "10,app,11,main,instant,1,,again,,,,,,\n");
	assert_string_equal(
		f->warnings.data,
		"packets left out because what they refer to was lost while recording: 3\n");
	assert_int_equal(f->store.trace.losses.unread, 3);
}

static void defaults_say_where_events_belong(void **state)
{
	struct pf *f = app(state);
	size_t mark, inside, event;

	pf_counter(f, OTHER, PROCESS, "c");
	pf_open(f, 4, SEQ_STATE_CLEARED);
	mark = ut_pbuf_begin(&f->file, PACKET_DEFAULTS);
	inside = ut_pbuf_begin(&f->file, DEFAULTS_EVENT);
	ut_pbuf_varint(&f->file, EVENT_TRACK_UUID, THREAD);
	ut_pbuf_varint(&f->file, EVENT_EXTRA_TRACKS, OTHER);
	ut_pbuf_end(&f->file, inside);
	ut_pbuf_end(&f->file, mark);
	pf_close(f);
	pf_open(f, 4, SEQ_NEEDS_STATE);
	ut_pbuf_varint(&f->file, PACKET_TIMESTAMP, 3);
	event = ut_pbuf_begin(&f->file, PACKET_TRACK_EVENT);
	ut_pbuf_varint(&f->file, EVENT_TYPE, TYPE_INSTANT);
	ut_pbuf_varint(&f->file, EVENT_EXTRA_VALUES, 77);
	ut_pbuf_end(&f->file, event);
	pf_close(f);
	pf_expect(f, "10,app,11,main,instant,3,,,,,,,,\n"
		     "10,app,,c,counter,3,,c,,,77,,,\n");
}

/* ---- clocks -------------------------------------------------------------------------------- */

struct clock {
	uint64_t id, ts, unit;
	bool incremental;
};

static void snapshot(struct pf *f, uint32_t sequence, uint64_t primary, const struct clock *clocks,
		     size_t count)
{
	size_t mark;

	pf_open(f, sequence, 0);
	mark = ut_pbuf_begin(&f->file, PACKET_CLOCK_SNAPSHOT);
	for (size_t i = 0; i < count; i++) {
		size_t clock = ut_pbuf_begin(&f->file, SNAPSHOT_CLOCKS);

		ut_pbuf_varint(&f->file, CLOCK_ID, clocks[i].id);
		ut_pbuf_varint(&f->file, CLOCK_TIMESTAMP, clocks[i].ts);
		if (clocks[i].incremental)
			ut_pbuf_varint(&f->file, CLOCK_INCREMENTAL, 1);
		if (clocks[i].unit)
			ut_pbuf_varint(&f->file, CLOCK_UNIT_NS, clocks[i].unit);
		ut_pbuf_end(&f->file, clock);
	}
	if (primary)
		ut_pbuf_varint(&f->file, SNAPSHOT_PRIMARY, primary);
	ut_pbuf_end(&f->file, mark);
	pf_close(f);
}

static void instant_on(struct pf *f, uint32_t sequence, uint64_t clock, uint64_t ts)
{
	size_t event;

	pf_open(f, sequence, 0);
	ut_pbuf_varint(&f->file, PACKET_TIMESTAMP, ts);
	ut_pbuf_varint(&f->file, PACKET_CLOCK_ID, clock);
	event = ut_pbuf_begin(&f->file, PACKET_TRACK_EVENT);
	ut_pbuf_varint(&f->file, EVENT_TYPE, TYPE_INSTANT);
	ut_pbuf_varint(&f->file, EVENT_TRACK_UUID, THREAD);
	ut_pbuf_end(&f->file, event);
	pf_close(f);
}

static void times_of_all_clocks_come_onto_that_of_the_trace(void **state)
{
	struct pf *f = app(state);
	const struct clock first[] = { { CLOCK_BOOT, 1000, 0, 0 },
				       { CLOCK_MONO, 400, 0, 0 },
				       { CLOCK_REAL, 9000000, 0, 0 } };
	const struct clock later[] = { { CLOCK_BOOT, 2000, 0, 0 }, { CLOCK_MONO, 1300, 0, 0 } };

	snapshot(f, 1, 0, first, 3);
	snapshot(f, 1, 0, later, 2);
	instant_on(f, 1, CLOCK_MONO, 300);  /* before the first: by the first */
	instant_on(f, 1, CLOCK_MONO, 1200); /* by the first */
	instant_on(f, 1, CLOCK_MONO, 1300); /* by the second */
	instant_on(f, 1, CLOCK_REAL, 9000005);
	instant_on(f, 1, CLOCK_BOOT, 2500);
	pf_expect(f, "10,app,11,main,instant,900,,,,,,,,\n"
		     "10,app,11,main,instant,1005,,,,,,,,\n"
		     "10,app,11,main,instant,1800,,,,,,,,\n"
		     "10,app,11,main,instant,2000,,,,,,,,\n"
		     "10,app,11,main,instant,2500,,,,,,,,\n");
	assert_int_equal(f->store.trace.realtime_offset, 8999000);
	assert_int_equal(f->store.trace.boottime_offset, 0);
}

static void the_primary_clock_is_the_clock_of_the_trace(void **state)
{
	struct pf *f = app(state);
	const struct clock all[] = { { CLOCK_BOOT, 1000, 0, 0 }, { CLOCK_MONO, 400, 0, 0 } };

	snapshot(f, 1, CLOCK_MONO, all, 2);
	instant_on(f, 1, CLOCK_BOOT, 1100);
	instant_on(f, 1, 0, 501); /* not said: that of the trace */
	pf_expect(f, "10,app,11,main,instant,500,,,,,,,,\n"
		     "10,app,11,main,instant,501,,,,,,,,\n");
	assert_int_equal(f->store.trace.boottime_offset, 600);
}

static void clocks_of_a_sequence_count_in_their_unit_from_the_last_time(void **state)
{
	struct pf *f = app(state);
	const struct clock world[] = { { CLOCK_BOOT, 500000, 0, 0 }, { CLOCK_MONO, 100000, 0, 0 } };
	const struct clock one[] = { { CLOCK_MONO, 100000, 0, 0 }, { 64, 7, 1000, true } };
	const struct clock two[] = { { CLOCK_BOOT, 900000, 0, 0 }, { 64, 0, 0, false } };

	snapshot(f, 9, 0, world, 2);
	snapshot(f, 1, 0, one, 2); /* knows no BOOTTIME, but MONOTONIC leads there */
	snapshot(f, 2, 0, two, 2);
	instant_on(f, 1, 64, 3); /* 10 us there: 3 us after the snapshot */
	instant_on(f, 1, 64, 1);
	instant_on(f, 2, 64, 42);
	pf_expect(f, "10,app,11,main,instant,503000,,,,,,,,\n"
		     "10,app,11,main,instant,504000,,,,,,,,\n"
		     "10,app,11,main,instant,900042,,,,,,,,\n");
	assert_string_equal(f->warnings.data, "");
}

static void a_clock_that_nobody_explains_is_taken_as_it_is(void **state)
{
	struct pf *f = app(state);
	const struct clock all[] = { { CLOCK_BOOT, 1000, 0, 0 } };

	snapshot(f, 1, 0, all, 1);
	instant_on(f, 1, 77, 5);
	pf_expect(f, "10,app,11,main,instant,5,,,,,,,,\n");
	assert_string_equal(
		f->warnings.data,
		"times of clock 77, which the file does not explain, are shown as they are: 1\n");
}

/* ---- counters ------------------------------------------------------------------------------ */

static void counters_have_types_units_and_differences(void **state)
{
	struct pf *f = app(state);
	double half = 0.5;
	uint64_t bits;
	size_t mark, inside, event;

	memcpy(&bits, &half, sizeof(bits));
	pf_open(f, 1, 0);
	mark = ut_pbuf_begin(&f->file, PACKET_TRACK_DESCRIPTOR);
	ut_pbuf_varint(&f->file, TRACK_UUID, OTHER);
	ut_pbuf_varint(&f->file, TRACK_PARENT, THREAD);
	inside = ut_pbuf_begin(&f->file, TRACK_COUNTER);
	ut_pbuf_varint(&f->file, COUNTER_TYPE, 1);
	ut_pbuf_varint(&f->file, COUNTER_MULTIPLIER, 1000);
	ut_pbuf_varint(&f->file, COUNTER_INCREMENTAL, 1);
	ut_pbuf_end(&f->file, inside);
	ut_pbuf_end(&f->file, mark);
	pf_close(f);
	pf_value(f, 1, OTHER, 5);
	pf_value(f, 2, OTHER, -7);
	define(f, 1, SEQ_STATE_CLEARED, 1, "x"); /* differences count from 0 again */
	pf_value(f, 3, OTHER, 1);
	pf_counter(f, 4, PROCESS, "d");
	event = pf_event_open(f, 4, TYPE_COUNTER, 4);
	ut_pbuf_fixed64(&f->file, EVENT_DOUBLE_COUNTER, bits);
	pf_event_close(f, event);
	pf_expect(f, "10,app,,main / thread_time,counter,1,,main / thread_time,,,5000,,,\n"
		     "10,app,,main / thread_time,counter,2,,main / thread_time,,,-2000,,,\n"
		     "10,app,,main / thread_time,counter,3,,main / thread_time,,,1000,,,\n"
		     "10,app,,d,counter,4,,d,,,0.5,,,\n");
	assert_string_equal(
		ut_strtab_get(&f->store.trace.strings, f->store.trace.tracks[1].unit).ptr, "ns");
}

static void counters_of_the_same_name_are_numbered(void **state)
{
	struct pf *f = app(state);

	pf_counter(f, OTHER, PROCESS, "n");
	pf_counter(f, 4, PROCESS, "n");
	pf_value(f, 1, OTHER, 5);
	pf_value(f, 2, 4, 6);
	pf_expect(f, "10,app,,n,counter,1,,n,,,5,,,\n"
		     "10,app,,n id: 2,counter,2,,n,,,6,,,\n");
}

static void extra_values_go_to_the_tracks_that_the_event_names(void **state)
{
	struct pf *f = app(state);
	const unsigned char packed[] = { 5, 6 };
	size_t event;

	pf_counter(f, 5, PROCESS, "a");
	pf_counter(f, 6, PROCESS, "b");
	event = pf_event_open(f, 9, TYPE_INSTANT, THREAD);
	ut_pbuf_bytes(&f->file, EVENT_EXTRA_TRACKS, packed, 2);
	ut_pbuf_varint(&f->file, EVENT_EXTRA_VALUES, 50);
	ut_pbuf_varint(&f->file, EVENT_EXTRA_VALUES, (uint64_t)-60);
	ut_pbuf_varint(&f->file, EVENT_EXTRA_VALUES, 70); /* has no track */
	ut_pbuf_varint(&f->file, EVENT_EXTRA_DOUBLE_TRACKS, 5);
	ut_pbuf_double(&f->file, EVENT_EXTRA_DOUBLE_VALUES, 1.25);
	pf_event_close(f, event);
	pf_expect(f, "10,app,11,main,instant,9,,,,,,,,\n"
		     "10,app,,a,counter,9,,a,,,50,,,\n"
		     "10,app,,a,counter,9,,a,,,1.25,,,\n"
		     "10,app,,b,counter,9,,b,,,-60,,,\n");
}

/* ---- categories and flows ------------------------------------------------------------------ */

static void several_categories_are_one_text(void **state)
{
	struct pf *f = app(state);
	size_t event = pf_event_open(f, 1, TYPE_INSTANT, THREAD);

	pf_text(f, EVENT_CATEGORIES, "a");
	pf_text(f, EVENT_CATEGORIES, "b");
	pf_event_close(f, event);
	pf_expect(f, "10,app,11,main,instant,1,,,\"a,b\",,,,,\n");
}

static void flow(struct pf *f, uint64_t ts, uint32_t field, uint64_t id)
{
	size_t event = pf_event_open(f, ts, TYPE_INSTANT, THREAD);

	if (field == EVENT_FLOWS || field == EVENT_ENDING_FLOWS)
		ut_pbuf_fixed64(&f->file, field, id);
	else
		ut_pbuf_varint(&f->file, field, id);
	pf_event_close(f, event);
}

static void flows_run_in_order_of_time(void **state)
{
	struct pf *f = app(state);

	flow(f, 30, EVENT_FLOWS, 900);
	flow(f, 10, EVENT_FLOWS, 900);
	flow(f, 20, EVENT_FLOWS_OLD, 900);
	flow(f, 40, EVENT_FLOWS, 5);
	flow(f, 50, EVENT_ENDING_FLOWS, 5);
	flow(f, 60, EVENT_FLOWS, 5); /* the number is free again */
	flow(f, 70, EVENT_ENDING_FLOWS_OLD, 5);
	pf_expect(f, "10,app,11,main,instant,10,,,,,,,,\n"
		     "10,app,11,main,flow out,10,,,,,,1,,\n"
		     "10,app,11,main,instant,20,,,,,,,,\n"
		     "10,app,11,main,flow step,20,,,,,,1,,\n"
		     "10,app,11,main,instant,30,,,,,,,,\n"
		     "10,app,11,main,flow in,30,,,,,,1,,\n"
		     "10,app,11,main,instant,40,,,,,,,,\n"
		     "10,app,11,main,flow out,40,,,,,,2,,\n"
		     "10,app,11,main,instant,50,,,,,,,,\n"
		     "10,app,11,main,flow in,50,,,,,,2,,\n"
		     "10,app,11,main,instant,60,,,,,,,,\n"
		     "10,app,11,main,flow out,60,,,,,,3,,\n"
		     "10,app,11,main,instant,70,,,,,,,,\n"
		     "10,app,11,main,flow in,70,,,,,,3,,\n");
}

UT_TESTS(perfetto_import)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(begins_and_ends_become_spans),
		CASE(events_of_a_thread_may_come_in_any_order),
		CASE(what_never_ended_reaches_to_the_last_sign_of_life),
		CASE(instants_have_the_scope_of_their_track),
		CASE(tracks_may_be_described_after_their_events),
		CASE(threads_have_names_from_trees_as_well),
		CASE(ranks_and_odd_ids_are_understood),
		CASE(names_are_known_on_their_sequence_until_it_starts_over),
		CASE(a_name_may_be_defined_in_the_packet_that_uses_it),
		CASE(packets_that_miss_their_state_are_counted),
		CASE(defaults_say_where_events_belong),
		CASE(times_of_all_clocks_come_onto_that_of_the_trace),
		CASE(the_primary_clock_is_the_clock_of_the_trace),
		CASE(clocks_of_a_sequence_count_in_their_unit_from_the_last_time),
		CASE(a_clock_that_nobody_explains_is_taken_as_it_is),
		CASE(counters_have_types_units_and_differences),
		CASE(counters_of_the_same_name_are_numbered),
		CASE(extra_values_go_to_the_tracks_that_the_event_names),
		CASE(several_categories_are_one_text),
		CASE(flows_run_in_order_of_time),
	};
#undef CASE

	return cmocka_run_group_tests_name("import/perfetto", tests, NULL, NULL);
}
