/*
 * test_spool_live.c - tests ut_spool_live_look(): a recording that grows while it is looked at
 * shows at every look what reading the whole file would, wherever the looks fall.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "import/build.h"
#include "import/inputs.h"
#include "import/spool/reader.h"
#include "ittnotify.h"
#include "model/pyramid.h"
#include "model/store.h"
#include "support/unit.h"
#include "wire/process.h"

#define THREADS 3u
#define DEPTH   8u
#define STEP    ((uint64_t)1 << 15) /* ticks between two records */
#define NEAR    50000u              /* ns: clocks are looked at anew each time, with some error */

static uint64_t seed;

static uint32_t dice(uint32_t sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % sides);
}

/* ---- a program ------------------------------------------------------------------------------ */

struct program {
	struct build b;
	uint64_t ticks, correlation, ids;
	double rate; /* ns per tick */
	struct ut_clock_pair start;
	uint32_t thread; /* who writes now */
	uint32_t depth[THREADS + 1];
	uint64_t calls[64]; /* correlation of those whose work is not told yet */
	uint32_t call_count;
	uint64_t overlapped; /* id of the one that is open; 0 = none */
	uint64_t work_end;   /* ns, of the queue */
	bool frame;
	int fd;
};

/* ns per tick of this machine's clock. What happens is spread over seconds of it, so a short look
   would be too short: an error of a microsecond in 20 ms is 150 of them in the end. */
static double clock_rate(void)
{
	static double rate;
	struct ut_clock_pair a, b;

	if (rate > 0)
		return rate;
	ut_clock_pair_take(ut_clock_source(), &a);
	usleep(400000); /* a length to measure; longer is as good */
	ut_clock_pair_take(ut_clock_source(), &b);
	rate = (double)(b.mono - a.mono) / (double)(b.ticks - a.ticks);
	return rate;
}

/* A clock that runs as this machine's does, and began long enough ago for all that will happen. */
static void set_clock(struct program *p)
{
	struct ut_spool_header *h = build_header(&p->b);
	struct ut_clock_pair a;
	uint64_t ago = (uint64_t)1 << 33;

	p->rate = clock_rate();
	ut_clock_pair_take(ut_clock_source(), &a);
	a.ticks -= ago;
	a.mono -= (uint64_t)((double)ago * p->rate);
	a.real -= (uint64_t)((double)ago * p->rate);
	h->start = p->start = a;
	h->clock_source = (uint32_t)ut_clock_source();
	h->threads = THREADS;
	ut_process_boot_id(h->boot_id);
	p->ticks = a.ticks + STEP;
}

static uint64_t ns_of(const struct program *p)
{
	return p->start.mono + (uint64_t)((double)(p->ticks - p->start.ticks) * p->rate);
}

static void start(struct program *p)
{
	struct build *b = &p->b;

	*p = (struct program){ .thread = 1 };
	build_start(b);
	set_clock(p);
	build_define(b, UT_REC_THREAD_INFO, (uint64_t[]){ pair(3, 103), 0 }, 2, "three\0\0\0", 8);
	BUILD_DEFINE(b, COUNTER_DEF, pair(1, build_name(b, "counter")), pair(1, 0));
	BUILD_DEFINE(b, DEVICE, pair(2, build_name(b, "GPU")), pair(0, 0), 0);
	BUILD_DEFINE(b, QUEUE, pair(3, 2), pair(build_name(b, "stream"), 0));
	build_chunk(b, 4);
	build_thread(b, 1, p->ticks);
	build_file(b);
	p->fd = open(b->path, O_RDWR | O_CLOEXEC);
	assert_true(p->fd >= 0);
}

/* What has been written by now, as it lies in the file. */
static void publish(struct program *p)
{
	build_header(&p->b)->next = p->b.size;
	assert_int_equal(pwrite(p->fd, p->b.bytes, p->b.size, 0), p->b.size);
}

static void change_thread(struct program *p)
{
	if (p->b.end - p->b.pos < 64 || !dice(5))
		build_chunk(&p->b, 4);
	p->thread = 1 + dice(THREADS);
	build_thread(&p->b, p->thread, p->ticks);
}

static void begin_task(struct program *p)
{
	char name[16];

	if (p->depth[p->thread] == DEPTH)
		return;
	snprintf(name, sizeof(name), "task %u", dice(30));
	p->depth[p->thread]++;
	if (dice(3))
		build_begin(&p->b, p->ticks, name);
	else
		BUILD_LONG(&p->b, TASK_BEGIN, p->ticks, pair(1, build_name(&p->b, name)), ++p->ids,
			   0, 7);
}

static void end_task(struct program *p)
{
	if (!p->depth[p->thread])
		return;
	p->depth[p->thread]--;
	build_end(&p->b, p->ticks);
}

/* Arguments of what is open, however long that has been. */
static void say_more(struct program *p)
{
	if (p->depth[p->thread])
		BUILD_LONG(&p->b, META_NUM, p->ticks, pair(1, build_name(&p->b, "said")), 0, 0, 0,
			   pair(__itt_metadata_u64, __itt_scope_task), 1, dice(1000));
}

static void call(struct program *p)
{
	uint32_t api = build_name(&p->b, "cuda");

	BUILD_LONG(&p->b, CALL_BEGIN, p->ticks, pair(api, build_name(&p->b, "launch")),
		   ++p->correlation);
	if (p->call_count < 64)
		p->calls[p->call_count++] = p->correlation;
	p->ticks += STEP;
	BUILD_LONG(&p->b, CALL_END, p->ticks, pair(api, 0));
}

/* Told when it is complete, later than others. */
static void report_work(struct program *p)
{
	uint64_t begin = p->work_end;

	if (!p->call_count)
		return;
	begin = begin > ns_of(p) ? begin : ns_of(p);
	p->work_end = begin + 9000;
	BUILD_LONG(&p->b, WORK, p->ticks, pair(3, build_name(&p->b, "kernel")), pair(0, 100), 0, 0,
		   begin, p->work_end, p->calls[--p->call_count]);
}

static void overlap(struct program *p)
{
	if (p->overlapped) {
		BUILD_LONG(&p->b, OVERLAPPED_END, p->ticks, pair(1, 0), p->overlapped);
		p->overlapped = 0;
	} else {
		p->overlapped = ++p->ids;
		BUILD_LONG(&p->b, OVERLAPPED_BEGIN, p->ticks, pair(1, build_name(&p->b, "async")),
			   p->overlapped);
	}
}

static void frame(struct program *p)
{
	if (p->frame)
		BUILD_LONG(&p->b, FRAME_END, p->ticks, pair(1, 0));
	else
		BUILD_LONG(&p->b, FRAME_BEGIN, p->ticks, pair(1, 0));
	p->frame = !p->frame;
}

static void happen(struct program *p)
{
	p->ticks += STEP;
	if (p->b.end - p->b.pos < 64 || !dice(12))
		change_thread(p);
	p->ticks += STEP;
	switch (dice(14)) {
	case 0:
	case 1:
	case 2:
	case 3:
		begin_task(p);
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		end_task(p);
		break;
	case 8:
		say_more(p);
		break;
	case 9:
		BUILD_LONG(&p->b, COUNTER, p->ticks, pair(1, __itt_metadata_u64), dice(1000));
		break;
	case 10:
		BUILD_LONG(&p->b, MARKER, p->ticks, pair(1, build_name(&p->b, "marker")), 0, 0, 0,
			   pair(__itt_scope_task, 0));
		break;
	case 11:
		call(p);
		break;
	case 12:
		report_work(p);
		break;
	default:
		if (dice(2))
			overlap(p);
		else
			frame(p);
		break;
	}
}

/* Ends all that is open. */
static void end_all(struct program *p)
{
	for (uint32_t i = 1; i <= THREADS; i++) {
		p->ticks += STEP;
		if (p->b.end - p->b.pos < 64)
			build_chunk(&p->b, 4);
		p->thread = i;
		build_thread(&p->b, i, p->ticks);
		while (p->depth[i]) {
			p->ticks += STEP;
			end_task(p);
		}
	}
	p->ticks += STEP;
	if (p->overlapped)
		overlap(p);
	p->ticks += STEP;
	if (p->frame)
		frame(p);
	while (p->call_count)
		report_work(p);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static const char *text_of(const struct ut_store *s, uint32_t id)
{
	return ut_strtab_get(&s->trace.strings, id).ptr;
}

/* The number of the track of b that is this one of a. */
static uint32_t same_track(const struct ut_store *a, uint32_t track, const struct ut_store *b)
{
	const struct ut_track *x = &a->trace.tracks[track];

	for (uint32_t i = 0; i < b->trace.track_count; i++) {
		const struct ut_track *y = &b->trace.tracks[i];

		if (x->type == y->type && !strcmp(text_of(a, x->name), text_of(b, y->name)) &&
		    (x->type != UT_TRACK_THREAD || x->id == y->id))
			return i;
	}
	fail_msg("no track '%s'", text_of(a, x->name));
	return 0;
}

static struct ut_event event_at(const struct ut_store *s, uint32_t track, uint64_t row)
{
	return ut_block_event(s, track, &s->rows[track].blocks[row / UT_BLOCK_ROWS],
			      (uint32_t)(row % UT_BLOCK_ROWS));
}

static bool is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < NEAR;
}

static void same_args(const struct ut_store *a, uint32_t x, const struct ut_store *b, uint32_t y)
{
	struct ut_arg p[16], q[16];
	size_t n = ut_arglists_get(&a->args, x, p, 16);

	assert_int_equal(n, ut_arglists_get(&b->args, y, q, 16));
	for (size_t i = 0; i < n && i < 16; i++) {
		assert_string_equal(text_of(a, p[i].key), text_of(b, q[i].key));
		if (p[i].type == UT_ARG_STR)
			assert_string_equal(text_of(a, p[i].value.str), text_of(b, q[i].value.str));
		else
			assert_int_equal(p[i].value.u64, q[i].value.u64);
	}
}

static bool is_flow(const struct ut_event *e)
{
	return e->kind == UT_KIND_FLOW_IN || e->kind == UT_KIND_FLOW_OUT;
}

static void same_event(const struct ut_store *a, const struct ut_event *x, const struct ut_store *b,
		       const struct ut_event *y)
{
	assert_string_equal(text_of(a, x->name), text_of(b, y->name));
	assert_string_equal(text_of(a, x->cat), text_of(b, y->cat));
	assert_int_equal(x->kind, y->kind);
	assert_int_equal(x->flags, y->flags);
	assert_true(is_near(x->ts, y->ts));
	if (x->kind == UT_KIND_SPAN)
		assert_true(is_near(x->val, y->val));
	else if (x->kind == UT_KIND_COUNTER)
		assert_int_equal(x->val, y->val);
	/* what is told about a span that goes on is shown when it ends */
	if (!(x->flags & UT_EV_UNFINISHED))
		same_args(a, x->args, b, y->args);
}

/* What is open on these is shown otherwise until it has ended. */
static bool waits_for_ends(const struct ut_track *t)
{
	return t->type == UT_TRACK_ASYNC || t->role == UT_ROLE_FRAMES;
}

static void compare(const struct ut_store *live, const struct ut_store *whole, bool is_last)
{
	for (uint32_t track = 0; track < whole->trace.track_count; track++) {
		uint64_t rows = whole->rows[track].count;
		uint32_t other;

		if (!rows || (!is_last && waits_for_ends(&whole->trace.tracks[track])))
			continue;
		other = same_track(whole, track, live);
		assert_int_equal(live->rows[other].count, rows);
		for (uint64_t i = 0; i < rows; i++) {
			struct ut_event x = event_at(whole, track, i);
			struct ut_event y = event_at(live, other, i);

			same_event(whole, &x, live, &y);
			assert_true(!i || is_flow(&y) || y.ts >= event_at(live, other, i - 1).ts);
		}
	}
	assert_int_equal(live->trace.losses.stray_ends, whole->trace.losses.stray_ends);
	assert_int_equal(live->trace.losses.unknown, whole->trace.losses.unknown);
	assert_int_equal(live->trace.losses.torn, whole->trace.losses.torn);
	assert_true(is_near(live->trace.first, whole->trace.first));
	assert_true(is_near(live->trace.last, whole->trace.last));
}

/* The picture that comes with it is that of its rows. */
static void compare_pictures(struct ut_store *live)
{
	static struct ut_cell a[200], b[200];
	const struct ut_picture w = { live->trace.first, live->trace.last + 1, 200 };
	struct ut_pyramid *shown = live->pyramid, *fresh;

	live->pyramid = NULL;
	ut_pyramid_build(live, 1);
	fresh = live->pyramid;
	for (uint32_t track = 0; track < live->trace.track_count; track++) {
		const struct ut_lanes *x = &shown->tracks[track], *y = &fresh->tracks[track];

		assert_int_equal(x->count, y->count);
		for (uint32_t lane = 0; lane < x->count; lane++) {
			if (x->lanes[lane].kind == UT_LANE_COUNTER)
				continue;
			live->pyramid = shown;
			ut_pyramid_window(live, track, lane, &w, a);
			live->pyramid = fresh;
			ut_pyramid_window(live, track, lane, &w, b);
			for (size_t i = 0; i < 200; i++)
				assert_int_equal(a[i].busy, b[i].busy);
		}
	}
	live->pyramid = shown;
	ut_pyramid_free(fresh);
}

static void look(struct ut_spool_live *l, struct program *p, bool is_last, struct ut_store *live)
{
	struct ut_err err = { 0 };
	struct ut_store whole;

	/* nothing begins as late as what is open ends */
	p->ticks += STEP;
	BUILD_LONG(&p->b, COUNTER, p->ticks, pair(1, __itt_metadata_u64), 0);
	publish(p);
	if (ut_spool_live_look(l, live, &err))
		fail_msg("%s", err.text);
	assert_int_equal(ut_import(p->b.path, NULL, &whole, &err), 0);
	compare(live, &whole, is_last);
	compare_pictures(live);
	ut_store_release(&whole);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void follow_program(uint32_t events, uint32_t most)
{
	struct ut_store live[2] = { 0 };
	struct ut_err err = { 0 };
	struct ut_spool_live *l;
	struct program p;
	uint32_t looks = 0;

	start(&p);
	publish(&p);
	l = ut_spool_live_open(p.b.path, &err);
	if (!l)
		fail_msg("%s", err.text);
	for (uint32_t done = 0; done < events; looks++) {
		uint32_t n = 1 + dice(most);

		for (uint32_t i = 0; i < n; i++)
			happen(&p);
		done += n;
		ut_store_release(&live[looks % 2]); /* the one before is still looked at */
		look(l, &p, false, &live[looks % 2]);
	}
	end_all(&p);
	ut_store_release(&live[looks % 2]);
	look(l, &p, true, &live[looks % 2]);
	ut_spool_live_close(l);
	ut_store_release(&live[0]);
	ut_store_release(&live[1]);
	close(p.fd);
	build_release(&p.b);
}

static void test_every_look_shows_what_the_file_holds(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 20; n++) {
		seed = n * 7919;
		follow_program(400, n % 3 ? 30 : 4);
	}
	seed = 12345;
	follow_program(20000, 4000);
}

/* A record that is being written, or never will be. */
static void test_a_torn_record_stops_nothing_for_long(void **state)
{
	struct ut_store s = { 0 };
	struct ut_err err = { 0 };
	struct ut_spool_live *l;
	struct program p;
	uint64_t rows = 0;

	(void)state;
	seed = 4;
	start(&p);
	build_begin(&p.b, p.ticks += STEP, "before");
	build_end(&p.b, p.ticks += STEP);
	build_raw(&p.b, ut_word_long(UT_WORD_RESERVED, p.ticks, UT_REC_MARKER, 3));
	p.b.pos += 2;
	p.b.pos++; /* and one of which nothing is there */
	build_begin(&p.b, p.ticks += STEP, "behind");
	build_end(&p.b, p.ticks += STEP);
	publish(&p);
	l = ut_spool_live_open(p.b.path, &err);
	assert_non_null(l);
	for (int i = 0; i < 32 && rows < 2; i++) {
		struct ut_store more;

		if (ut_spool_live_look(l, &more, &err))
			continue; /* nothing new */
		ut_store_release(&s);
		ut_store_move(&s, &more);
		rows = s.row_count;
	}
	assert_int_equal(rows, 2);
	assert_int_equal(s.trace.losses.torn, 1);
	ut_store_release(&s);
	ut_spool_live_close(l);
	close(p.fd);
	build_release(&p.b);
}

/* What was recorded later than the look began is left for the next one. */
static void test_the_future_is_not_shown(void **state)
{
	struct ut_store s;
	struct ut_err err = { 0 };
	struct ut_spool_live *l;
	struct program p;

	(void)state;
	start(&p);
	build_begin(&p.b, p.ticks += STEP, "now");
	build_end(&p.b, p.ticks += STEP);
	build_begin(&p.b, p.ticks + ((uint64_t)1 << 30), "then");
	BUILD_LONG(&p.b, TIME, p.ticks, p.ticks + ((uint64_t)1 << 40));
	build_begin(&p.b, p.ticks + ((uint64_t)1 << 40), "in some hours");
	publish(&p);
	l = ut_spool_live_open(p.b.path, &err);
	assert_non_null(l);
	assert_int_equal(ut_spool_live_look(l, &s, &err), 0);
	assert_int_equal(s.row_count, 2);
	ut_store_release(&s);
	ut_spool_live_close(l);
	close(p.fd);
	build_release(&p.b);
}

static void test_what_cannot_be_followed_is_said(void **state)
{
	struct ut_err err = { 0 };
	struct ut_spool_live *l;
	struct ut_store s;
	struct program p;

	(void)state;
	start(&p);
	publish(&p);
	l = ut_spool_live_open(p.b.path, &err);
	assert_non_null(l);
	build_header(&p.b)->overwritten = 1;
	publish(&p);
	assert_int_equal(ut_spool_live_look(l, &s, &err), -ENOTSUP);
	ut_spool_live_close(l);
	assert_null(ut_spool_live_open(p.b.path, &err));
	build_header(&p.b)->overwritten = 0;
	build_header(&p.b)->boot_id[0] = '?';
	publish(&p);
	assert_null(ut_spool_live_open(p.b.path, &err));
	assert_null(ut_spool_live_open("/nonexistent", &err));
	close(p.fd);
	build_release(&p.b);
}

UT_TESTS(spool_live)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_look_shows_what_the_file_holds),
		cmocka_unit_test(test_a_torn_record_stops_nothing_for_long),
		cmocka_unit_test(test_the_future_is_not_shown),
		cmocka_unit_test(test_what_cannot_be_followed_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
