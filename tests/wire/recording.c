/* recording.c - see recording.h. */
#include "wire/recording.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/grow.h"
#include "base/path.h"
#include "import/spool/records.h"

int recording_make_in(struct recording *r, const char *parent)
{
	*r = (struct recording){ 0 };
	snprintf(r->dir, sizeof(r->dir), "%s/ut_wire_XXXXXX", parent);
	if (!mkdtemp(r->dir))
		return -1;
	return ut_control_create(r->dir, &r->control, NULL);
}

int recording_make(void **state)
{
	struct recording *r = malloc(sizeof(*r));

	*state = r;
	return recording_make_in(r, "/tmp");
}

int recording_drop(void **state)
{
	struct recording *r = *state;
	int rc = ut_path_remove_tree(r->dir, NULL);

	ut_control_close(r->control);
	free(r);
	return rc;
}

/* "PID-TICKS.spool": the later time is the newer one. */
static uint64_t age_of(const char *name)
{
	const char *dash = strchr(name, '-');

	return dash ? strtoull(dash + 1, NULL, 10) : 0;
}

static size_t look(const struct recording *r, char *newest, size_t size)
{
	DIR *d = opendir(r->dir);
	struct dirent *e;
	uint64_t latest = 0;
	size_t count = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		if (!strstr(e->d_name, UT_SPOOL_SUFFIX))
			continue;
		count++;
		if (newest && age_of(e->d_name) > latest) {
			latest = age_of(e->d_name);
			snprintf(newest, size, "%s/%s", r->dir, e->d_name);
		}
	}
	closedir(d);
	return count;
}

const char *recording_path(struct recording *r)
{
	assert_true(look(r, r->path, sizeof(r->path)) > 0);
	return r->path;
}

size_t recording_count(const struct recording *r)
{
	return look(r, NULL, 0);
}

/* ---- reading ------------------------------------------------------------------------------- */

struct reading {
	struct records all;
	size_t cap;
	uint32_t thread;
	uint64_t part;
};

static void add_record(struct reading *in, const struct ut_spool_walk *w,
		       const struct ut_spool_rec *r)
{
	struct record *to;

	in->all.items = ut_grow(in->all.items, in->all.count + 1, &in->cap, sizeof(*to));
	to = &in->all.items[in->all.count];
	*to = (struct record){ .thread = in->thread,
			       .part = in->part,
			       .ticks = w->ticks,
			       .kind = r->kind,
			       .payload = r->payload,
			       .order = in->all.count++ };
	if (r->kind != UT_WORD_LONG)
		return;
	to->type = r->type;
	to->count = r->count;
	for (size_t i = 0; i < 12; i++)
		to->words[i] = ut_rec_word(r, i);
}

static void read_chunk(struct reading *in, const struct ut_chunk_view *view)
{
	struct ut_spool_walk w = { .pos = view->begin, .end = view->end };
	struct ut_spool_rec r = { 0 };

	in->thread = 0;
	in->part = 0;
	while (ut_spool_walk_next(&w, &r)) {
		if (r.kind == UT_WORD_LONG && r.type == UT_REC_THREAD) {
			in->thread = ut_rec_low(&r, 1);
			in->part = w.ticks;
		}
		add_record(in, &w, &r);
	}
	in->all.torn += w.torn;
	in->all.chunks += view->kind == UT_CHUNK_DATA;
	in->all.meta_chunks += view->kind == UT_CHUNK_META;
}

static int by_thread(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

struct records records_read(const char *path)
{
	struct reading in = { 0 };
	struct ut_chunk_view view;
	struct ut_spool_map m;
	size_t offset = 0;

	assert_int_equal(ut_spool_map(&m, path, NULL), 0);
	while (ut_spool_next_chunk(&m, &offset, &view))
		read_chunk(&in, &view);
	in.all.bytes = m.used;
	in.all.dropped = atomic_load(&m.header->dropped);
	in.all.overwritten = atomic_load(&m.header->overwritten);
	in.all.status = atomic_load(&m.header->status);
	in.all.threads = atomic_load(&m.header->threads);
	ut_spool_unmap(&m);
	if (in.all.count)
		qsort(in.all.items, in.all.count, sizeof(*in.all.items), by_thread);
	return in.all;
}

void records_release(struct records *all)
{
	free(all->items);
	*all = (struct records){ 0 };
}

size_t records_of(const struct records *all, enum ut_rec type)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		n += all->items[i].type == type;
	return n;
}

/* ---- writing ------------------------------------------------------------------------------- */

void put_number(struct ut_tbuf *t, uint32_t number)
{
	ut_tbuf_word(t, UT_WORD_BEGIN, number);
}

void put_long(struct ut_tbuf *t, uint64_t a, uint64_t b)
{
	const uint64_t words[2] = { a, b };

	ut_tbuf_words(t, UT_REC_COUNTER, words, 2);
}

void expect_numbers(const struct records *all, uint32_t thread, size_t count)
{
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct record *r = &all->items[i];

		if (r->thread != thread)
			continue;
		if (r->ticks < last)
			fail_msg("time steps back at number %zu", n);
		last = r->ticks;
		if (r->kind != UT_WORD_BEGIN)
			continue;
		if (r->payload != n)
			fail_msg("number %u, not %zu", r->payload, n);
		n++;
	}
	assert_int_equal(n, count);
}

uint32_t expect_numbers_in(const char *path, size_t count)
{
	struct ut_chunk_view view;
	struct ut_spool_map m;
	size_t offset = 0, n = 0;
	uint32_t status;

	assert_int_equal(ut_spool_map(&m, path, NULL), 0);
	while (ut_spool_next_chunk(&m, &offset, &view)) {
		struct ut_spool_walk w = { .pos = view.begin, .end = view.end };
		struct ut_spool_rec r = { 0 };

		while (view.kind == UT_CHUNK_DATA && ut_spool_walk_next(&w, &r))
			if (r.kind == UT_WORD_BEGIN && r.payload != n++)
				fail_msg("number %u, not %zu", r.payload, n - 1);
	}
	assert_int_equal(n, count);
	status = atomic_load(&m.header->status);
	ut_spool_unmap(&m);
	return status;
}
