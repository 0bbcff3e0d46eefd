/* test_streams.c - tests src/analysis/merge/streams.h and merge/spill.h. */
#include "merge/streams.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/grow.h"
#include "base/str.h"
#include "merge/spill.h"
#include "support/unit.h"

/* A stream of count events, "S:N" each, whose keys grow by step; frames of a few events. */
struct fake {
	struct ut_stream stream; /* first */
	int number, count, at, step;
	int fail_at; /* 0 = never */
};

static int next_fake(struct ut_stream *s, struct ut_frame *f, struct ut_err *err)
{
	struct fake *fake = (struct fake *)s;

	f->count = 0;
	f->len = 0;
	f->text = ut_grow(f->text, 4096, &f->cap, 1);
	f->keys = ut_grow(f->keys, 16, &f->key_cap, sizeof(*f->keys));
	f->ends = ut_grow(f->ends, 16, &f->end_cap, sizeof(*f->ends));
	if (fake->fail_at && fake->at >= fake->fail_at)
		return ut_err_set(err, -EIO, "stream %d broke", fake->number);
	while (fake->at < fake->count && f->count < 1 + (uint32_t)(fake->at + fake->number) % 7) {
		f->keys[f->count] = fake->at / 3 * 3 * fake->step; /* equal keys, too */
		f->len += (size_t)sprintf(f->text + f->len, ",\n%d:%d", fake->number, fake->at++);
		f->ends[f->count++] = f->len;
	}
	return f->count > 0;
}

static void close_fake(struct ut_stream *s)
{
	free(s);
}

static struct ut_stream *fake(int number, int count, int step, int fail_at)
{
	struct fake *f = ut_make(sizeof(*f));

	*f = (struct fake){ { next_fake, close_fake }, number, count, 0, step, fail_at };
	return &f->stream;
}

struct text {
	struct ut_runs runs; /* first */
	struct ut_buf buf;
	int64_t last;
};

static int put_text(struct ut_runs *r, const struct ut_frame *f, uint32_t from, uint32_t to,
		    struct ut_err *err)
{
	struct text *t = (struct text *)r;
	uint64_t start = from ? f->ends[from - 1] : 0;

	(void)err;
	assert_true(from < to);
	for (uint32_t i = from; i < to; i++) {
		assert_true(f->keys[i] >= t->last);
		t->last = f->keys[i];
	}
	ut_buf_add(&t->buf, f->text + start, f->ends[to - 1] - start);
	return 0;
}

#define STREAMS 9

static void make_streams(struct ut_stream **s, int n)
{
	for (int i = 0; i < n; i++)
		s[i] = fake(i, i == 4 ? 0 : 50 + 30 * i, 1 + i % 3, 0);
}

static void close_streams(struct ut_stream **s, int n)
{
	for (int i = 0; i < n; i++)
		s[i]->close(s[i]);
}

static struct text merge(int n, unsigned int threads)
{
	struct ut_stream *s[STREAMS];
	struct text t = { .runs.put = put_text, .last = INT64_MIN };
	struct ut_err err = { 0 };

	make_streams(s, n);
	assert_int_equal(ut_streams_merge(s, (size_t)n, threads, &t.runs, &err), 0);
	close_streams(s, n);
	return t;
}

static void every_event_comes_once_and_in_order_of_its_stream(void **state)
{
	struct text t = merge(STREAMS, 0);
	int seen[STREAMS] = { 0 }, all = 0;

	(void)state;
	for (const char *p = t.buf.data; p && *p; all++) {
		int stream, number, used;

		assert_int_equal(sscanf(p, ",\n%d:%d%n", &stream, &number, &used), 2);
		assert_int_equal(number, seen[stream]++);
		p += used;
	}
	for (int i = 0; i < STREAMS; i++)
		assert_int_equal(seen[i], i == 4 ? 0 : 50 + 30 * i);
	ut_buf_release(&t.buf);
}

static void equal_keys_come_in_the_order_of_streams(void **state)
{
	struct text t = merge(3, 0);

	(void)state;
	assert_memory_equal(t.buf.data,
			    ",\n0:0,\n0:1,\n0:2,\n1:0,\n1:1,\n1:2,\n2:0,\n2:1,\n2:2,\n0:3", 50);
	ut_buf_release(&t.buf);
}

static void threads_change_nothing(void **state)
{
	struct text alone = merge(STREAMS, 0);

	(void)state;
	for (unsigned int threads = 1; threads < 6; threads++) {
		struct text t = merge(STREAMS, threads);

		assert_int_equal(t.buf.len, alone.buf.len);
		assert_memory_equal(t.buf.data, alone.buf.data, t.buf.len);
		ut_buf_release(&t.buf);
	}
	ut_buf_release(&alone.buf);
}

/* In groups, through a file: what ranks do, and what many files need. */
static void merging_in_groups_gives_the_same_bytes(void **state)
{
	struct text alone = merge(STREAMS, 0), t;

	(void)state;
	for (int cut = 1; cut < STREAMS; cut++) {
		struct ut_stream *s[STREAMS], *halves[2];
		struct ut_err err = { 0 };

		int fd = ut_spill_unnamed("/tmp/x");
		uint64_t size = 0;

		assert_true(fd >= 0);
		make_streams(s, STREAMS);
		for (int half = 0; half < 2; half++) {
			int first = half ? cut : 0, n = half ? STREAMS - cut : cut;
			struct ut_spill spill;

			ut_spill_start(&spill, fd, size, "spill");
			assert_int_equal(
				ut_streams_merge(s + first, (size_t)n, 2, &spill.runs, &err), 0);
			assert_int_equal(ut_spill_finish(&spill, &err), 0);
			halves[half] = ut_spill_open_part(fd, "spill", ut_spill_begin(&spill),
							  ut_spill_end(&spill));
			size = spill.size;
			ut_spill_release(&spill);
		}
		t = (struct text){ .runs.put = put_text, .last = INT64_MIN };
		assert_int_equal(ut_streams_merge(halves, 2, 2, &t.runs, &err), 0);
		assert_int_equal(t.buf.len, alone.buf.len);
		assert_memory_equal(t.buf.data, alone.buf.data, t.buf.len);
		ut_buf_release(&t.buf);
		close_streams(halves, 2);
		close(fd);
		close_streams(s, STREAMS);
	}
	ut_buf_release(&alone.buf);
}

/* What ranks do to write together. Long enough for several frames of a spill. */
static void parts_between_cuts_are_the_whole(void **state)
{
	static const int64_t keys[] = { INT64_MIN, -5,    0,     1,     3,        29997,
					29998,     45000, 59997, 59998, INT64_MAX };
	struct ut_stream *s = fake(0, 60000, 1, 0);
	struct text whole = { .runs.put = put_text, .last = INT64_MIN };
	struct text parts = { .runs.put = put_text, .last = INT64_MIN };
	struct ut_spill_cut from = { 0 }, to;
	struct ut_err err = { 0 };
	struct ut_stream *part;
	struct ut_spill spill;
	int fd = ut_spill_unnamed("/tmp/x");

	(void)state;
	assert_true(fd >= 0);
	ut_spill_start(&spill, fd, 0, "spill");
	assert_int_equal(ut_streams_merge(&s, 1, 0, &spill.runs, &err), 0);
	assert_int_equal(ut_spill_finish(&spill, &err), 0);
	assert_true(spill.frames > 5);
	for (size_t i = 0; i <= sizeof(keys) / sizeof(keys[0]); i++) {
		to = ut_spill_end(&spill);
		if (i < sizeof(keys) / sizeof(keys[0]))
			assert_int_equal(ut_spill_find(&spill, keys[i], &to, &err), 0);
		part = ut_spill_open_part(fd, "spill", from, to);
		assert_int_equal(ut_streams_merge(&part, 1, 0, &parts.runs, &err), 0);
		assert_int_equal(parts.buf.len, to.text);
		if (i < sizeof(keys) / sizeof(keys[0]))
			assert_true(!parts.buf.len || parts.last < keys[i]);
		part->close(part);
		from = to;
	}
	part = ut_spill_open(fd, "spill");
	assert_int_equal(ut_streams_merge(&part, 1, 0, &whole.runs, &err), 0);
	assert_int_equal(parts.buf.len, whole.buf.len);
	assert_memory_equal(parts.buf.data, whole.buf.data, whole.buf.len);
	part->close(part);
	close(fd);
	s->close(s);
	ut_spill_release(&spill);
	ut_buf_release(&whole.buf);
	ut_buf_release(&parts.buf);
}

static void a_stream_that_fails_ends_it_with_its_reason(void **state)
{
	(void)state;
	for (unsigned int threads = 0; threads < 3; threads++) {
		struct ut_stream *s[2] = { fake(0, 100, 1, 0), fake(1, 100, 1, 40) };
		struct text t = { .runs.put = put_text, .last = INT64_MIN };
		struct ut_err err = { 0 };

		assert_int_equal(ut_streams_merge(s, 2, threads, &t.runs, &err), -EIO);
		assert_string_equal(err.text, "stream 1 broke");
		ut_buf_release(&t.buf);
		close_streams(s, 2);
	}
}

static void a_damaged_spill_is_noticed(void **state)
{
	(void)state;
	for (off_t keep = 1; keep < 200; keep += 13) {
		struct ut_stream *s = fake(0, 30, 1, 0), *back;
		struct text t = { .runs.put = put_text, .last = INT64_MIN };
		struct ut_err err = { 0 };
		int fd = ut_spill_unnamed("/tmp/x");
		struct ut_spill spill;

		ut_spill_start(&spill, fd, 0, "spill");
		assert_int_equal(ut_streams_merge(&s, 1, 0, &spill.runs, &err), 0);
		assert_int_equal(ut_spill_finish(&spill, &err), 0);
		ut_spill_release(&spill);
		assert_int_equal(ftruncate(fd, keep), 0);
		back = ut_spill_open(fd, "spill");
		assert_int_equal(ut_streams_merge(&back, 1, 0, &t.runs, &err), -EPROTO);
		assert_non_null(strstr(err.text, "spill: the temporary file is"));
		ut_buf_release(&t.buf);
		back->close(back);
		close(fd);
		s->close(s);
	}
}

UT_TESTS(streams)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_comes_once_and_in_order_of_its_stream),
		cmocka_unit_test(equal_keys_come_in_the_order_of_streams),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(merging_in_groups_gives_the_same_bytes),
		cmocka_unit_test(parts_between_cuts_are_the_whole),
		cmocka_unit_test(a_stream_that_fails_ends_it_with_its_reason),
		cmocka_unit_test(a_damaged_spill_is_noticed),
	};

	return cmocka_run_group_tests_name("merge/streams", tests, NULL, NULL);
}
