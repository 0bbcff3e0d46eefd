/*
 * writer.c - see writer.h. No stdio, no malloc, no lock.
 *
 * The file is mapped in windows that grow from 64 KiB to 64 MiB, so that a small recording costs a
 * small file. Every window is really allocated on disk before it is mapped: a store into a hole
 * of a full disk would kill the application with SIGBUS. Windows are never unmapped, because a
 * signal handler may have interrupted a store into one; what a thread has filled is given back
 * with MADV_DONTNEED, which leaves the data in the page cache and the application's memory flat.
 */
#include "wire/writer.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "wire/control.h"
#include "wire/disk.h"
#include "wire/process.h"
#include "wire/ring.h"
#include "wire/sandbox.h"
#include "wire/signals.h"
#include "wire/spare_stack.h"
#include "wire/sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define LEAST_WINDOW (64ull << 10)
#define SMALL_STEPS  10 /* windows of 64, 128, ... KiB, 32 MiB come before those of MOST_WINDOW */
#define MOST_WINDOW  (LEAST_WINDOW << SMALL_STEPS)
#define WINDOW_COUNT 32768 /* 2 TiB */
#define META_CHUNK   (4 * UT_CHUNK_UNIT)
#define BIG_FROM     19 /* chunks of a thread, some 4 MiB: it is given UT_CHUNK_MAX at a time */
#define RESTS        64
#define LEAST_REST   64 /* words; less is not worth handing on */

enum ut_clock_source ut_writer_clock = UT_CLOCK_MONOTONIC;

static _Atomic(char *) windows[WINDOW_COUNT];

static struct writer {
	int trouble; /* why there is no first window; negative errno */
	struct ut_spool_header *header;
	_Atomic(uint64_t *) rests[RESTS]; /* where threads that ended have stopped writing */
	_Atomic(struct ut_chunk *) meta;  /* the chunk that definitions go to */
	_Atomic uint32_t generation;
	_Atomic uint32_t last_window; /* none behind it is mapped */
	_Atomic uint64_t next_pair;   /* ticks at which the clocks are looked at again */
	uint64_t max_bytes;
	uint64_t disk_reserve;
} w;

/* ---- windows of the file
 * --------------------------------------------------------------------------- */

static uint64_t window_start(uint32_t index)
{
	if (index < SMALL_STEPS)
		return ((1ull << index) - 1) * LEAST_WINDOW;
	return MOST_WINDOW * (index - SMALL_STEPS + 1) - LEAST_WINDOW;
}

static uint64_t window_size(uint32_t index)
{
	return window_start(index + 1) - window_start(index);
}

static uint32_t window_of(uint64_t offset)
{
	uint64_t units = offset / LEAST_WINDOW + 1;

	if (units < 1u << SMALL_STEPS)
		return 63u - (uint32_t)__builtin_clzll(units);
	return SMALL_STEPS - 1 + (uint32_t)((offset + LEAST_WINDOW) / MOST_WINDOW);
}

static void end_recording(int error)
{
	uint32_t none = 0;

	atomic_compare_exchange_strong(&w.header->status, &none, (uint32_t)-error);
}

/* How much of a window may be used: the file itself keeps to --max-size. */
static uint64_t allowed_size(uint32_t index)
{
	uint64_t start = window_start(index), size = window_size(index);

	if (!index || !w.max_bytes || start + size <= w.max_bytes)
		return size;
	return w.max_bytes > start ? w.max_bytes - start : 0;
}

static char *map_window(uint32_t index)
{
	uint64_t start = window_start(index), size = window_size(index);
	char *known = NULL, *map;
	int fd = ut_disk_fd(), rc = fd;

	/* The first one is small, and says who could not record. */
	if (fd >= 0 && index && ut_disk_below(fd, w.disk_reserve, allowed_size(index)))
		rc = -UT_SPOOL_RESERVE;
	else if (fd >= 0)
		rc = ut_disk_allocate(fd, start, allowed_size(index));
	if (rc < 0)
		goto fail;
	map = ut_sys_mmap(size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
			  (off_t)start);
	if (map == MAP_FAILED) {
		rc = -errno;
		goto fail;
	}
	ut_sys_madvise(map, size, MADV_DONTDUMP);
	for (uint32_t last = atomic_load(&w.last_window); last < index;)
		atomic_compare_exchange_weak(&w.last_window, &last, index);
	if (!atomic_compare_exchange_strong(&windows[index], &known, map)) {
		ut_sys_munmap(map, size); /* another thread was faster; nobody has seen ours */
		return known;
	}
	return map;
fail:
	if (w.header)
		end_recording(rc);
	else
		w.trouble = rc;
	return NULL;
}

static char *window(uint32_t index)
{
	char *map;

	if (index >= WINDOW_COUNT)
		return NULL;
	map = atomic_load_explicit(&windows[index], memory_order_acquire);
	return map ? map : map_window(index);
}

/* ---- chunks -------------------------------------------------------------------------------- */

/*
 * Brings the pages in at once instead of by a fault each. Where the disk cannot take them after
 * all, it fails, and a store would have killed.
 */
static bool populate(struct ut_chunk *chunk, uint32_t bytes)
{
	int rc;

	do {
		rc = ut_sys_madvise(chunk, bytes, MADV_POPULATE_WRITE);
	} while (rc && errno == EINTR);
	if (rc && errno != EINVAL) /* EINVAL: a kernel before 5.14 */
		end_recording(-errno);
	return !rc || errno == EINVAL;
}

static bool writer_has_ended(void)
{
	return !w.header || atomic_load_explicit(&w.header->status, memory_order_relaxed);
}

/* What is recorded fits into what there is, also behind the end of a flight recorder's file. */
static bool is_locked_in(void)
{
	if (!w.header || !ut_sandbox_closed())
		return !w.header;
	end_recording(-UT_SPOOL_SANDBOX);
	return true;
}

bool ut_writer_may_go_on(void)
{
	return !writer_has_ended() && !is_locked_in();
}

/*
 * Claims some of the file's end within one window: bytes if there is so much, at least least.
 * 0 = the recording may not grow further.
 */
static uint32_t writer_claim(uint32_t bytes, uint32_t least, uint64_t *offset)
{
	uint64_t next = atomic_load(&w.header->next);

	for (;;) {
		uint32_t index = window_of(next);
		uint64_t end = window_start(index) + allowed_size(index);
		uint64_t rest = end > next ? end - next : 0;
		uint64_t take = rest < bytes ? rest : bytes;
		bool last = end != window_start(index + 1); /* nothing behind it may be used */

		if (last)
			take -= take % UT_CHUNK_UNIT;
		if (take < least) {
			if (last)
				return 0;
			take = rest;
		}
		if (!atomic_compare_exchange_weak(&w.header->next, &next, next + take))
			continue;
		if (take >= least) {
			*offset = next;
			return (uint32_t)take;
		}
		next += take; /* stays zeros, which readers step over */
	}
}

/* A fresh chunk from the end of the file; NULL when there is no room. ut_writer_may_go_on() has
 * said yes. */
static struct ut_chunk *append_chunk(uint32_t bytes, uint32_t least, enum ut_chunk_kind kind)
{
	struct ut_chunk *chunk;
	uint64_t offset;
	char *map;

	bytes = writer_claim(bytes, least, &offset);
	if (!bytes) {
		end_recording(-EFBIG);
		return NULL;
	}
	map = window(window_of(offset));
	if (!map)
		return NULL;
	chunk = (struct ut_chunk *)(void *)(map + (offset - window_start(window_of(offset))));
	ut_disk_fill(offset, bytes);
	if (!populate(chunk, bytes))
		return NULL;
	chunk->bytes = bytes;
	chunk->kind = kind;
	atomic_store_explicit(&chunk->magic, UT_CHUNK_MAGIC, memory_order_release);
	return chunk;
}

static uint64_t *chunk_end(struct ut_chunk *chunk)
{
	return (uint64_t *)(void *)chunk + chunk->bytes / sizeof(uint64_t);
}

static void leave_chunk(struct ut_tbuf *t)
{
	if (!t->chunk)
		return;
	if (ut_ring_on())
		ut_ring_leave(t->chunk, ut_clock_ticks(ut_writer_clock));
	else
		ut_sys_madvise(t->chunk, t->chunk->bytes, MADV_DONTNEED);
	t->chunk = NULL;
}

/* The rest of a chunk whose thread has ended. */
static uint64_t *take_rest(uint64_t **end)
{
	for (int i = 0; i < RESTS; i++) {
		uint64_t *pos;

		if (!atomic_load_explicit(&w.rests[i], memory_order_relaxed))
			continue;
		pos = atomic_exchange(&w.rests[i], NULL);
		if (pos) {
			*end = (uint64_t *)(uintptr_t)(*pos >> 4);
			return pos;
		}
	}
	return NULL;
}

/* The end of the rest is kept in its first word, dressed so that a reader steps over it. */
static void put_rest(uint64_t *pos, uint64_t *end)
{
	if (end - pos < LEAST_REST)
		return;
	*pos = (uint64_t)(uintptr_t)end << 4 | UT_WORD_SKIP;
	for (int i = 0; i < RESTS; i++) {
		uint64_t *none = NULL;

		if (atomic_compare_exchange_strong(&w.rests[i], &none, pos))
			return;
	}
	*pos = 0;
}

/* Large chunks cost less per record, but what a thread does not use of its last one is lost: so it
 * is given large ones when it has filled so much that this hardly counts. */
static uint32_t next_size(struct ut_tbuf *t)
{
	if (t->step < BIG_FROM)
		t->step++;
	if (t->step <= 2)
		return t->step == 1 ? UT_CHUNK_UNIT : 4 * UT_CHUNK_UNIT;
	return t->step < BIG_FROM ? 16 * UT_CHUNK_UNIT : UT_CHUNK_MAX;
}

static void look_at_clocks(uint64_t ticks)
{
	uint64_t due = atomic_load_explicit(&w.next_pair, memory_order_relaxed);
	struct ut_clock_pair pair;

	/* About once a second: 2^31 ticks are 0.5 to 2 s of a TSC and 2 s of nanoseconds. */
	if (ticks < due ||
	    !atomic_compare_exchange_strong(&w.next_pair, &due, ticks + (1ull << 31)))
		return;
	ut_clock_pair_take(ut_writer_clock, &pair);
	ut_writer_define(UT_REC_CLOCK_PAIR, &pair.ticks, 5, NULL, 0);
}

/* Writes the record that opens a thread's part of a chunk: spool.h (3) and (4). */
static void open_part(struct ut_tbuf *t, uint64_t *slot, uint64_t ticks)
{
	t->epoch = ticks >> 31;
	__atomic_store_n(slot, ut_word_long(UT_WORD_RESERVED, ticks, UT_REC_THREAD, 3),
			 __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
	slot[1] = ticks;
	slot[2] = ut_pack(t->thread, ++t->part);
	__atomic_store_n(slot, ut_word_long(UT_WORD_LONG, ticks, UT_REC_THREAD, 3),
			 __ATOMIC_RELEASE);
}

static struct ut_chunk *data_chunk(struct ut_tbuf *t, uint64_t ticks)
{
	struct ut_chunk *chunk = ut_ring_on() ? ut_ring_reuse(ticks) : NULL;
	uint32_t bytes;

	if (chunk) {
		atomic_fetch_add_explicit(&w.header->overwritten, 1, memory_order_relaxed);
		return chunk;
	}
	if (writer_has_ended())
		return NULL;
	bytes = ut_ring_on() ? ut_ring_chunk_bytes() : next_size(t);
	chunk = append_chunk(bytes, ut_ring_on() ? bytes : UT_CHUNK_UNIT, UT_CHUNK_DATA);
	if (chunk && ut_ring_on())
		ut_ring_add();
	return chunk;
}

static bool change_chunk(struct ut_tbuf *t, size_t count)
{
	uint64_t ticks = ut_clock_ticks(ut_writer_clock);
	uint64_t *pos = NULL, *end = NULL;
	struct ut_chunk *chunk = NULL;

	leave_chunk(t);
	t->end = NULL;
	if (t->step == 0 && count + 3 <= LEAST_REST)
		pos = take_rest(&end);
	if (!pos) {
		chunk = data_chunk(t, ticks);
		if (!chunk)
			return false;
		pos = (uint64_t *)(void *)(chunk + 1);
		end = chunk_end(chunk);
	}
	look_at_clocks(ticks);
	open_part(t, pos, ticks);
	t->chunk = chunk; /* NULL for a rest: its pages are not given back early */
	t->pos = pos + 3;
	t->end = end;
	return true;
}

struct change {
	struct ut_tbuf *t;
	size_t count;
	uint64_t *slot; /* NULL: there is no room */
};

static void run_change(void *arg)
{
	struct change *c = arg;

	if (change_chunk(c->t, c->count))
		c->slot = ut_tbuf_take(c->t, c->count);
}

/*
 * Room for count words in the next chunk. Signals wait meanwhile: a handler that records would
 * find the thread between two chunks.
 */
static uint64_t *writer_make_room(struct ut_tbuf *t, size_t count)
{
	int saved = errno;
	struct ut_signals before;
	struct change change = { .t = t, .count = count };

	if (t->generation != ut_writer_generation() || !t->generation || t->busy)
		return NULL;
	if (ut_ring_on() ? is_locked_in() : !ut_writer_may_go_on())
		return NULL;
	ut_signals_hold(&before);
	t->busy = 1;
	ut_spare_stack_run(run_change, &change);
	t->busy = 0;
	ut_signals_release(&before);
	errno = saved;
	return change.slot;
}

/*
 * The clock has moved on by more than 31 bits can tell: say the full time first. False when the
 * chunk has no room for that; the next one begins with it anyway.
 */
static bool catch_up(struct ut_tbuf *t, uint64_t ticks)
{
	uint64_t *slot;

	if (ticks >> 31 == t->epoch)
		return true;
	slot = ut_tbuf_take(t, 2);
	if (!slot)
		return false;
	t->epoch = ticks >> 31;
	__atomic_store_n(slot, ut_word_long(UT_WORD_RESERVED, ticks, UT_REC_TIME, 2),
			 __ATOMIC_RELAXED);
	slot[1] = ticks;
	__atomic_store_n(slot, ut_word_long(UT_WORD_LONG, ticks, UT_REC_TIME, 2), __ATOMIC_RELEASE);
	return true;
}

/*
 * Making room takes its time, up to a page fault per page. That is ours, not the program's: what
 * ends, ended before it; everything else happens after.
 */
static uint64_t *writer_room(struct ut_tbuf *t, size_t count, uint64_t *ticks, bool ends)
{
	uint64_t *slot = catch_up(t, *ticks) ? ut_tbuf_take(t, count) : NULL;

	if (slot)
		return slot;
	slot = writer_make_room(t, count);
	if (!slot)
		ut_writer_count_dropped();
	else if (!ends)
		*ticks = ut_clock_ticks(ut_writer_clock);
	return slot;
}

void ut_tbuf_word_slow(struct ut_tbuf *t, enum ut_word kind, uint64_t payload)
{
	uint64_t ticks = ut_clock_ticks(ut_writer_clock);
	uint64_t *slot = writer_room(t, 1, &ticks, kind == UT_WORD_END);

	if (slot)
		__atomic_store_n(slot, ut_word(kind, ticks, payload), __ATOMIC_RELEASE);
}

/* ---- long records -------------------------------------------------------------------------- */

static size_t words_for(size_t bytes)
{
	return (bytes + 7) / 8;
}

/* What a long record holds: count words, then len bytes. */
struct content {
	const uint64_t *words;
	size_t count;
	const void *bytes;
	size_t len;
};

static size_t total_words(const struct content *c)
{
	return 1 + c->count + words_for(c->len);
}

/* Fills a slot so that a reader sees either nothing or all of it: spool.h (1) and (2). */
static void writer_fill(uint64_t *slot, uint64_t ticks, enum ut_rec type, const struct content *c)
{
	size_t total = total_words(c);

	__atomic_store_n(slot, ut_word_long(UT_WORD_RESERVED, ticks, type, total),
			 __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
	for (size_t i = 0; i < c->count; i++)
		slot[1 + i] = c->words[i];
	if (c->len)
		memcpy(slot + 1 + c->count, c->bytes, c->len);
	__atomic_store_n(slot, ut_word_long(UT_WORD_LONG, ticks, type, total), __ATOMIC_RELEASE);
}

static bool ends_something(enum ut_rec type)
{
	return type == UT_REC_OVERLAPPED_END || type == UT_REC_REGION_END ||
	       type == UT_REC_FRAME_END || type == UT_REC_EVENT_END;
}

void ut_tbuf_record(struct ut_tbuf *t, enum ut_rec type, const uint64_t *words, size_t count,
		    const void *bytes, size_t len)
{
	const size_t most = UT_CHUNK_UNIT - 256; /* fits any chunk behind its first records */
	struct content c = { words, count, bytes, len < most ? len : most };
	uint64_t ticks = ut_clock_ticks(ut_writer_clock);
	uint64_t *slot;

	while (!c.len && c.count && !words[c.count - 1])
		c.count--;
	slot = writer_room(t, total_words(&c), &ticks, ends_something(type));
	if (slot)
		writer_fill(slot, ticks, type, &c);
}

void ut_writer_set_rank(int32_t rank)
{
	if (ut_writer_generation() && w.header)
		w.header->rank = rank;
}

void ut_writer_begin_off(void)
{
	if (w.header)
		w.header->began_off = 1;
}

void ut_writer_one_switch(void)
{
	if (w.header)
		w.header->one_switch = 1;
}

/* ---- definitions --------------------------------------------------------------------------- */

/* The first one is small: most children of a program have little to say. */
static uint32_t meta_bytes(bool further, size_t words)
{
	return further || words * 8 > UT_CHUNK_UNIT / 2 ? META_CHUNK : UT_CHUNK_UNIT;
}

struct more_meta {
	uint32_t bytes;
	struct ut_chunk *chunk;
};

static void run_more_meta(void *arg)
{
	struct more_meta *m = arg;

	m->chunk = append_chunk(m->bytes, m->bytes, UT_CHUNK_META);
}

static struct ut_chunk *more_meta(bool further, size_t words)
{
	static _Thread_local uint8_t depth;
	struct more_meta more = { .bytes = meta_bytes(further, words) };
	struct ut_signals before;

	if (depth++ < UT_SYS_DEEPEST && ut_writer_may_go_on()) {
		ut_signals_hold(&before);
		ut_spare_stack_run(run_more_meta, &more);
		ut_signals_release(&before);
	}
	depth--;
	return more.chunk;
}

/* Any thread may append to the META chunk: its first word counts the words that are taken. */
static uint64_t *meta_slot(size_t count)
{
	for (;;) {
		struct ut_chunk *chunk = atomic_load_explicit(&w.meta, memory_order_acquire);
		struct ut_chunk *fresh;

		if (chunk) {
			_Atomic uint64_t *taken = (_Atomic uint64_t *)(void *)(chunk + 1);
			size_t most = (chunk->bytes - sizeof(*chunk)) / 8 - 1;
			uint64_t at = atomic_fetch_add(taken, count);

			if (at + count <= most)
				return (uint64_t *)(void *)(chunk + 1) + 1 + at;
		}
		fresh = more_meta(chunk != NULL, count);
		if (!fresh)
			return NULL;
		/* If another thread was faster, ours stays empty. */
		atomic_compare_exchange_strong(&w.meta, &chunk, fresh);
	}
}

bool ut_writer_define(enum ut_rec type, const uint64_t *words, size_t count, const void *bytes,
		      size_t len)
{
	const size_t most = META_CHUNK - 256;
	struct content c = { words, count, bytes, len < most ? len : most };
	int saved = errno;
	uint64_t *slot;

	if (!w.header)
		return false;
	slot = meta_slot(total_words(&c));
	errno = saved;
	if (!slot) {
		ut_writer_count_dropped();
		return false;
	}
	writer_fill(slot, ut_clock_ticks(ut_writer_clock), type, &c);
	return true;
}

/* ---- threads ------------------------------------------------------------------------------- */

void ut_tbuf_attach(struct ut_tbuf *t, uint64_t start)
{
	uint64_t words[5] = { [4] = start };

	*t = (struct ut_tbuf){ .history = UINT64_MAX,
			       .ignored = t->ignored,
			       .busy = t->busy,
			       .generation = ut_writer_generation() };
	if (!t->generation)
		return;
	t->thread = atomic_fetch_add(&w.header->threads, 1) + 1;
	if (writer_has_ended())
		return;
	words[0] = ut_pack(t->thread, (uint32_t)ut_sys_call(SYS_gettid));
	words[1] = ut_clock_ticks(ut_writer_clock);
	prctl(PR_GET_NAME, &words[2]);
	ut_writer_define(UT_REC_THREAD_INFO, words, 5, NULL, 0);
}

void ut_tbuf_detach(struct ut_tbuf *t)
{
	uint64_t words[4] = { 0 };
	struct ut_signals before;

	if (t->generation != ut_writer_generation() || !t->generation || !ut_writer_may_go_on())
		return;
	words[0] = ut_pack(t->thread, (uint32_t)ut_sys_call(SYS_gettid));
	words[1] = ut_clock_ticks(ut_writer_clock);
	prctl(PR_GET_NAME, &words[2]); /* the program may have named it after its first record */
	ut_writer_define(UT_REC_THREAD_INFO, words, 4, NULL, 0);
	ut_signals_hold(&before);
	if (ut_ring_on())
		ut_ring_leave(t->chunk, words[1]);
	else if (t->end)
		put_rest(t->pos, t->end);
	t->pos = t->end = NULL;
	t->chunk = NULL;
	t->step = 0;
	ut_signals_release(&before);
}

void ut_writer_count_dropped(void)
{
	if (w.header)
		atomic_fetch_add_explicit(&w.header->dropped, 1, memory_order_relaxed);
}

void ut_writer_count_ignored(void)
{
	if (w.header)
		atomic_fetch_add_explicit(&w.header->ignored, 1, memory_order_relaxed);
}

void ut_writer_count_cut(void)
{
	if (w.header)
		atomic_fetch_add_explicit(&w.header->cut, 1, memory_order_relaxed);
}

uint32_t ut_writer_generation(void)
{
	return atomic_load_explicit(&w.generation, memory_order_acquire);
}

/* ---- opening ------------------------------------------------------------------------------- */

static void forget_parent(void)
{
	/* After fork: the parent's windows stay mapped here, unused, and are its own business. */
	w.header = NULL;
	for (uint32_t i = 0; i <= atomic_load(&w.last_window); i++)
		atomic_store(&windows[i], NULL);
	for (int i = 0; i < RESTS; i++)
		atomic_store(&w.rests[i], NULL);
	atomic_store(&w.meta, NULL);
	atomic_store(&w.next_pair, 0);
	ut_disk_forget();
}

int ut_writer_open(const char *dir, const struct ut_control *control)
{
	static uint32_t last; /* no number comes twice, or an old buffer would seem valid */
	struct ut_spool_header *header;
	int rc;

	atomic_store(&w.generation, 0);
	forget_parent();
	ut_writer_clock = control->clock_source == UT_CLOCK_TSC ? UT_CLOCK_TSC : UT_CLOCK_MONOTONIC;
	w.max_bytes = control->max_bytes;
	w.disk_reserve = control->disk_reserve;
	rc = ut_disk_make(dir);
	if (rc)
		return rc;
	ut_sandbox_look();
	header = (struct ut_spool_header *)(void *)window(0);
	if (!header) {
		ut_disk_remove();
		return w.trouble;
	}
	ut_process_describe(header, control->rank);
	header->clock_source = ut_writer_clock;
	ut_clock_pair_take(ut_writer_clock, &header->start);
	memcpy(header->boot_id, control->boot_id, sizeof(header->boot_id));
	atomic_store(&header->next, UT_CHUNK_UNIT);
	header->version = UT_SPOOL_VERSION;
	ut_ring_open(control, &header->start);
	w.header = header;
	/* The magic last: a reader that finds it finds a complete header. */
	atomic_thread_fence(memory_order_release);
	memcpy(header->magic, UT_SPOOL_MAGIC, sizeof(header->magic));
	atomic_store(&w.generation, ++last);
	return 0;
}
