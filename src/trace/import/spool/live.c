/*
 * live.c - see reader.h: a recording that is followed while it is made.
 *
 * Why a look gives whole records in their order. It begins with a look at the clock, and takes no
 * record that is later than that. A thread makes a record when it has stored the one before; so of
 * all that it has not stored by the time that we look, the first may be older than our clock, and
 * the others are not: nothing is taken behind a gap. Definitions are stored before they are used,
 * so those that are read after the clock are all that our records need.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapped.h"
#include "import/spool/live_state.h"
#include "import/spool/reader.h"
#include "import/spool/steps.h"
#include "model/classify.h"
#include "model/growing.h"
#include "wire/process.h"

#define RESERVE       ((size_t)1 << 38) /* addresses for a file; they cost nothing */
#define RESERVE_LEAST ((size_t)1 << 30)
#define GAP_LOOKS     8u    /* then what was claimed is never going to be a chunk */
#define STUCK_LOOKS   4u    /* then a record will never be complete: its writer is gone */
#define BEHIND        4096u /* words in which we look for what came behind it */
#define ARROW_LOOKS   16u   /* then the call of a piece of work was not recorded */

/* ---- the file ------------------------------------------------------------------------------- */

/* Its records are pointed to, so it must not move: the addresses are set aside. */
static int live_reserve(struct ut_spool_live *l, struct ut_err *err)
{
	void *space = MAP_FAILED;

	for (l->reserved = RESERVE; l->reserved >= RESERVE_LEAST; l->reserved /= 2) {
		space = mmap(NULL, l->reserved, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (space != MAP_FAILED)
			break;
	}
	if (space == MAP_FAILED)
		return ut_err_set(err, -ENOTSUP, "%s: no room to follow it", l->path);
	l->im.map.base = space;
	return 0;
}

/* Maps what the file has grown by. */
static int map_more(struct ut_spool_live *l, struct ut_err *err)
{
	struct ut_spool_map *m = &l->im.map;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from = m->size / page * page, size;
	struct stat st;
	uint64_t next;

	if (fstat(l->fd, &st) < 0)
		return ut_err_set(err, -errno, "%s: %s", l->path, strerror(errno));
	size = (size_t)st.st_size;
	if (size > l->reserved)
		return ut_err_set(err, -ENOTSUP, "%s: too large to follow it", l->path);
	if (size > m->size) {
		void *at = (void *)((uintptr_t)m->base + from);

		if (mmap(at, size - from, PROT_READ, MAP_SHARED | MAP_FIXED, l->fd, (off_t)from) ==
		    MAP_FAILED)
			return ut_err_set(err, -errno, "%s: cannot map it: %s", l->path,
					  strerror(errno));
		ut_mapped_remove(m->base);
		ut_mapped_add(m->base, size, l->path);
		m->size = size;
	}
	m->header = (const void *)m->base;
	if (m->size < UT_CHUNK_UNIT)
		return ut_err_set(err, -EPROTO, "%s: not a recording of unitrace", l->path);
	next = atomic_load(&m->header->next);
	m->used = next < m->size ? (size_t)next : m->size;
	l->im.tables.most = m->size / sizeof(uint64_t);
	return 0;
}

static bool can_be_followed(const struct ut_spool_live *l)
{
	const struct ut_spool_header *h = l->im.map.header;
	char boot_id[40];

	ut_process_boot_id(boot_id);
	return boot_id[0] && !strncmp(h->boot_id, boot_id, sizeof(h->boot_id)) &&
	       h->clock_source == (uint32_t)ut_clock_source() && !atomic_load(&h->overwritten);
}

/* ---- chunks --------------------------------------------------------------------------------- */

static void add_gap(struct ut_spool_live *l, size_t from, size_t to, unsigned int looks)
{
	if (from < to && looks < GAP_LOOKS)
		*UT_VEC_PUSH(&l->gaps) = (struct ut_live_gap){ from, to, looks };
}

static void find_chunks(struct ut_spool_live *l, size_t from, size_t to, unsigned int looks)
{
	struct ut_spool_map m = l->im.map;
	struct ut_chunk_view view;
	size_t offset = from;

	m.used = to;
	while (ut_spool_next_chunk(&m, &offset, &view)) {
		size_t start =
			(size_t)((const char *)view.begin - m.base) / UT_CHUNK_UNIT * UT_CHUNK_UNIT;

		add_gap(l, from, start, looks);
		from = offset;
		*UT_VEC_PUSH(&l->chunks) =
			(struct ut_live_chunk){ .at = { .pos = view.begin, .end = view.end },
						.is_meta = view.kind == UT_CHUNK_META };
	}
	add_gap(l, from, to, looks);
}

static void look_for_chunks(struct ut_spool_live *l)
{
	size_t count = l->gaps.count, used = l->im.map.used;

	for (size_t i = 0; i < count; i++) {
		struct ut_live_gap gap = l->gaps.items[i];

		find_chunks(l, gap.from, gap.to, gap.looks + 1);
	}
	l->gaps.count -= count;
	if (l->gaps.count)
		memmove(l->gaps.items, l->gaps.items + count,
			l->gaps.count * sizeof(*l->gaps.items));
	if (used > l->known)
		find_chunks(l, l->known, used, 0);
	l->known = used > l->known ? used : l->known;
}

/* Is there something behind a word that has not been written? */
static const uint64_t *live_behind(const struct ut_spool_walk *w)
{
	const uint64_t *end = w->end - w->pos > BEHIND ? w->pos + BEHIND : w->end;

	for (const uint64_t *at = w->pos + 1; at < end; at++) {
		if (__atomic_load_n(at, __ATOMIC_RELAXED))
			return at;
	}
	return NULL;
}

/* Steps over a record that is never going to be complete. */
static void step_over(struct ut_live_chunk *c)
{
	uint64_t word = __atomic_load_n(c->at.pos, __ATOMIC_ACQUIRE);
	size_t words = word >> 44, left = (size_t)(c->at.end - c->at.pos);
	const uint64_t *next = (word & 15) == UT_WORD_NONE ? live_behind(&c->at) : NULL;

	if ((word & 15) == UT_WORD_RESERVED && words && words <= left) {
		c->at.pos += words;
		c->at.torn++;
	} else if (next) {
		c->at.pos = next;
	}
}

/* The next complete record that is not later than horizon. */
static bool next_record(struct ut_live_chunk *c, uint64_t horizon, struct ut_spool_rec *r)
{
	struct ut_spool_walk before;

	while (c->at.pos < c->at.end) {
		uint32_t kind = __atomic_load_n(c->at.pos, __ATOMIC_ACQUIRE) & 15;

		if (kind == UT_WORD_NONE || kind == UT_WORD_RESERVED)
			return false;
		before = c->at;
		if (kind == UT_WORD_SKIP) {
			c->at.pos++;
			continue;
		}
		if (!ut_spool_walk_next(&c->at, r))
			return false;
		if (c->at.ticks <= horizon)
			return true;
		c->at = before;
		return false;
	}
	return false;
}

/* Nothing more will come: it is full, or whoever filled it has gone on to another. */
static bool is_done(struct ut_spool_live *l, struct ut_live_chunk *c)
{
	if (c->at.pos >= c->at.end)
		return true;
	if (c->stuck_at != c->at.pos) {
		c->stuck_at = c->at.pos;
		c->stuck = 0;
		return false;
	}
	c->stuck++;
	if (c->stuck >= STUCK_LOOKS && (c->stuck & (c->stuck - 1)) == 0)
		step_over(c);
	return !c->is_meta && c->stuck > 1 && c->number && c->stuck_at == c->at.pos &&
	       l->threads.items[c->thread].number > c->number;
}

static struct ut_live_thread *thread_of(struct ut_spool_live *l, uint32_t number)
{
	while (l->threads.count <= number)
		*UT_VEC_PUSH(&l->threads) = (struct ut_live_thread){ 0 };
	return &l->threads.items[number];
}

static struct ut_spool_part *open_part(struct ut_spool_live *l, struct ut_live_chunk *c)
{
	struct ut_spool_part *part = UT_VEC_PUSH(&l->im.parts);

	*part = (struct ut_spool_part){ .thread = c->thread,
					.number = c->number,
					.ticks = c->at.ticks,
					.begin = c->at.pos,
					.end = c->at.pos };
	return part;
}

/* A thread begins to write here; what comes before its number is right is nobody's. */
static void change_thread(struct ut_spool_live *l, struct ut_live_chunk *c,
			  const struct ut_spool_rec *r)
{
	struct ut_live_thread *t;

	c->thread = ut_rec_low(r, 1);
	c->number = ut_rec_high(r, 1);
	if (c->thread > l->im.tables.most || c->thread > atomic_load(&l->im.map.header->threads)) {
		c->thread = c->number = 0;
		c->at.torn++;
		return;
	}
	t = thread_of(l, c->thread);
	t->number = c->number > t->number ? c->number : t->number;
}

static void scan_chunk(struct ut_spool_live *l, struct ut_live_chunk *c, uint64_t horizon)
{
	struct ut_spool_import *im = &l->im;
	struct ut_spool_part *part = NULL;
	struct ut_spool_rec r;

	while (next_record(c, horizon, &r)) {
		if (r.kind == UT_WORD_LONG && r.type == UT_REC_THREAD) {
			change_thread(l, c, &r);
			part = c->thread ? open_part(l, c) : NULL;
			continue;
		}
		if (!c->thread)
			continue;
		if (!part) {
			part = open_part(l, c);
			part->begin = r.kind == UT_WORD_LONG ? r.words - 1 : c->at.pos - 1;
			part->ticks = c->at.ticks; /* records carry the low half of it */
		}
		part->end = c->at.pos;
		if (r.kind == UT_WORD_LONG)
			ut_spool_scan_long(im, c->thread, c->at.ticks, &r);
		im->last = c->at.ticks > im->last ? c->at.ticks : im->last;
	}
}

/* Chunks of one kind; those that are done are forgotten. */
static void scan_chunks(struct ut_spool_live *l, bool is_meta, uint64_t horizon)
{
	struct ut_spool_rec r;
	size_t kept = 0;

	for (size_t i = 0; i < l->chunks.count; i++) {
		struct ut_live_chunk *c = &l->chunks.items[i];
		const uint64_t *pos = c->at.pos;
		uint64_t torn = c->at.torn;
		bool done = false;

		if (c->is_meta == is_meta) {
			if (is_meta && !c->at.ticks)
				c->at.ticks = l->im.map.header->start.ticks;
			while (is_meta && next_record(c, UINT64_MAX, &r))
				ut_spool_scan_definition(&l->im, &r);
			if (!is_meta)
				scan_chunk(l, c, horizon);
			done = is_done(l, c);
			l->im.trace->losses.torn += c->at.torn - torn;
			l->words += (uint64_t)(c->at.pos - pos);
		}
		if (!done)
			l->chunks.items[kept++] = *c;
	}
	l->chunks.count = kept;
}

/* ---- arrows --------------------------------------------------------------------------------- */

void ut_spool_live_place(struct ut_spool_import *im, uint64_t id, uint32_t thread, uint64_t begin)
{
	*UT_VEC_PUSH(&im->places) = (struct ut_spool_place){
		.key = id, .ticks = begin, .begin = begin, .thread = thread
	};
	ut_idmap_put(&im->live->place_of, id, (uint32_t)im->places.count);
}

/* Of the calls with one number, the first that is sent has the arrows of all work. */
void ut_spool_live_call(struct ut_spool_import *im, uint64_t correlation, const struct ut_event *e)
{
	if (!correlation || ut_idmap_get(&im->live->call_of, correlation))
		return;
	*UT_VEC_PUSH(&im->live->calls) = *e;
	ut_idmap_put(&im->live->call_of, correlation, (uint32_t)im->live->calls.count);
}

void ut_spool_live_work(struct ut_spool_import *im, uint64_t correlation, const struct ut_event *e)
{
	if (correlation)
		*UT_VEC_PUSH(&im->live->arrows) =
			(struct ut_live_arrow){ .correlation = correlation, .to = *e };
}

static void draw_arrows(struct ut_spool_live *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->arrows.count; i++) {
		struct ut_live_arrow a = l->arrows.items[i];
		uint32_t at = ut_idmap_get(&l->call_of, a.correlation);

		if (at) {
			l->arrow_count++;
			ut_spool_send_arrow(&l->im, &l->calls.items[at - 1], UT_KIND_FLOW_OUT,
					    l->arrow_count);
			ut_spool_send_arrow(&l->im, &a.to, UT_KIND_FLOW_IN, l->arrow_count);
		} else if (++a.looks < ARROW_LOOKS) {
			l->arrows.items[kept++] = a;
		}
	}
	l->arrows.count = kept;
}

/* ---- one look ------------------------------------------------------------------------------- */

/* Pairs of the collector lie in the past, whose times have been told: only the first look uses
 * them. */
static void read_definitions(struct ut_spool_live *l, const struct ut_clock_pair *now)
{
	struct ut_clock_map before = l->im.tables.clock;

	scan_chunks(l, true, UINT64_MAX);
	ut_spool_finalize_code(&l->im);
	l->im.tables.code_count = 0;
	if (l->is_clocked) {
		l->im.tables.clock = before;
		ut_spool_clock_go_on(&l->im, now);
	} else {
		ut_spool_finalize_clock(&l->im, l->path);
		l->is_clocked = true;
	}
}

/* What is needed only while a thread is read is shared by all. */
static void lend(struct ut_spool_reader *to, struct ut_spool_reader *from)
{
	to->items.items = from->items.items;
	to->items.cap = from->items.cap;
	to->args.items = from->args.items;
	to->args.cap = from->args.cap;
	from->items.items = NULL;
	from->args.items = NULL;
	from->items.cap = from->args.cap = 0;
	from->items.count = from->args.count = 0;
}

static void read_threads(struct ut_spool_live *l)
{
	struct ut_spool_import *im = &l->im;
	struct ut_spool_reader room = { .im = im };

	ut_spool_sort_parts(im);
	for (size_t i = 0, n = 0; i < im->parts.count; i += n, n = 0) {
		struct ut_live_thread *t = &l->threads.items[im->parts.items[i].thread];

		while (i + n < im->parts.count &&
		       im->parts.items[i + n].thread == im->parts.items[i].thread)
			n++;
		if (!t->reader) {
			t->reader = ut_make(sizeof(*t->reader));
			ut_spool_reader_init(t->reader, im);
		}
		lend(t->reader, &room);
		ut_spool_read_on(t->reader, &im->parts.items[i], n);
		lend(&room, t->reader);
	}
	free(room.items.items);
	free(room.args.items);
	im->parts.count = 0;
}

static void name_threads(struct ut_spool_live *l)
{
	for (uint32_t i = 0; i < l->im.tables.thread_cap; i++) {
		const struct ut_spool_thread *t = &l->im.tables.threads[i];

		if (t->track && t->name)
			l->im.trace->tracks[t->track - 1].name = t->name;
	}
}

/* The header counts from the beginning. */
static void add_losses(struct ut_spool_live *l)
{
	const struct ut_spool_header *h = l->im.map.header;
	struct ut_losses now = { 0 };

	now.dropped = atomic_load(&h->dropped);
	now.ignored = atomic_load(&h->ignored);
	for (size_t i = 0; i < UT_LOSSES; i++)
		l->im.trace->losses.all[i] += now.all[i] - l->backend_data.all[i];
	l->backend_data = now;
}

/* What was said about tracks, if there is more of it. */
static void finalize_facts(struct ut_spool_live *l)
{
	struct ut_spool_tables *t = &l->im.tables;

	if (t->fact_count == l->facts)
		return;
	for (size_t i = 0; i < t->fact_count; i++)
		t->trace->tracks[t->facts[i].track].args = 0;
	ut_spool_tables_finalize(t);
	l->facts = t->fact_count;
}

static void set_times(struct ut_spool_live *l)
{
	struct ut_trace *t = l->im.trace;
	uint64_t last = l->im.last ? ut_spool_ns(&l->im.tables, l->im.last) : 0;

	if (!t->first)
		t->first = ut_spool_ns(&l->im.tables, l->im.map.header->start.ticks);
	t->last = t->last > t->first ? t->last : t->first;
	t->last = last > t->last ? last : t->last;
}

static void live_read_more(struct ut_spool_live *l, const struct ut_clock_pair *now)
{
	struct ut_spool_import *im = &l->im;

	look_for_chunks(l);
	read_definitions(l, now);
	scan_chunks(l, false, now->ticks);
	set_times(l);
	ut_spool_import_submits(im);
	read_threads(l);
	ut_spool_cross_go_on(l->cross);
	ut_spool_prepare_measured(im);
	ut_spool_import_devices(im);
	ut_spool_import_values(im);
	ut_spool_import_samples(im);
	ut_spool_import_messages(im);
	draw_arrows(l);
	ut_spool_flows_go_on(im, now->ticks);
	im->works.count = im->submits.count = 0;
	im->backend_data.values.count = im->backend_data.samples.count = 0;
	im->backend_data.asked_device = 0;
	ut_idmap_clear(&im->backend_data.values_of);
	name_threads(l);
	finalize_facts(l);
	add_losses(l);
}

int ut_spool_live_look(struct ut_spool_live *l, struct ut_store *store, struct ut_err *err)
{
	struct ut_clock_pair now;
	uint64_t before = l->words;
	int rc;

	ut_clock_pair_take(ut_clock_source(), &now);
	rc = map_more(l, err);
	if (!rc && !can_be_followed(l))
		rc = ut_err_set(err, -ENOTSUP, "%s: cannot be followed", l->path);
	if (rc)
		return rc;
	live_read_more(l, &now);
	if (l->words == before && l->is_shown)
		return 1;
	l->is_shown = true;
	ut_growing_show(l->growing, l->im.last ? ut_spool_ns(&l->im.tables, l->im.last) : 0, store);
	ut_classify_places(&store->trace);
	return 0;
}

uint64_t ut_spool_live_bytes(const struct ut_spool_live *l)
{
	return l->words * sizeof(uint64_t);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void init(struct ut_spool_live *l)
{
	struct ut_arena *arena;

	l->growing = ut_growing_new();
	l->im.live = l;
	l->im.path = l->path;
	l->im.trace = ut_growing_trace(l->growing);
	l->im.sink = ut_growing_sink(l->growing);
	arena = &l->im.trace->arena;
	ut_spool_import_init(&l->im);
	ut_idmap_init(&l->rows_of, arena);
	ut_idmap_init(&l->call_of, arena);
	ut_idmap_init(&l->place_of, arena);
	l->cross = ut_spool_cross_new(&l->im);
}

struct ut_spool_live *ut_spool_live_open(const char *path, struct ut_err *err)
{
	struct ut_spool_live *l = ut_make(sizeof(*l));
	struct ut_spool_map probe;
	int rc = ut_spool_map(&probe, path, err); /* is it one? */

	if (rc) {
		free(l);
		return NULL;
	}
	ut_spool_unmap(&probe);
	l->path = strdup(path);
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (l->fd < 0)
		rc = ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = rc ? rc : live_reserve(l, err);
	rc = rc ? rc : map_more(l, err);
	if (!rc && !can_be_followed(l))
		rc = ut_err_set(err, -ENOTSUP, "%s: cannot be followed", path);
	if (rc) {
		ut_spool_live_close(l);
		return NULL;
	}
	init(l);
	return l;
}

void ut_spool_live_close(struct ut_spool_live *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->threads.count; i++) {
		if (l->threads.items[i].reader)
			ut_spool_reader_release(l->threads.items[i].reader);
		free(l->threads.items[i].reader);
	}
	for (size_t i = 0; i < l->rows.count; i++)
		ut_spool_rows_free(l->rows.items[i]);
	ut_spool_cross_free(l->cross);
	l->im.map.size = l->reserved; /* all that was set aside */
	ut_spool_import_release(&l->im);
	ut_growing_end(l->growing);
	free(l->chunks.items);
	free(l->gaps.items);
	free(l->threads.items);
	free(l->rows.items);
	free(l->calls.items);
	free(l->arrows.items);
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
	free(l);
}
