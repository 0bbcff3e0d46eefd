#include "tt/read_log_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

/* A counter that wrapped, or whose upper half was read too early, is about 2^32 too low. */
#define WRAP_MIN (1ull << 31)
#define WRAP_MAX (1ull << 33)

/* Real chips have 31 names for them. */
#define MAX_RISCS 256

struct ut_tt_open_lane {
	int32_t chip, x, y;
	uint32_t risc; /* index into log->riscs */
	size_t first;  /* of its rows */
	size_t count;
	uint64_t last;  /* time of the last one */
	bool sorted;    /* by time */
	bool scattered; /* rows of other lanes are among them */
};

/* What has been read of a mark, and which one came behind it last time. */
struct ut_tt_known {
	const char *text; /* timer, then tail; in the log's arena */
	uint32_t len, timer_len;
	uint32_t next;
};

void ut_tt_build_init(struct ut_tt_build *b, struct ut_tt_log *log)
{
	*b = (struct ut_tt_build){ .log = log, .last = UINT32_MAX };
}

void ut_tt_build_release(struct ut_tt_build *b)
{
	free(b->rows);
	free(b->lanes);
	ut_hashtab_release(&b->by_place);
	ut_hashtab_release(&b->by_text);
	free(b->known);
	*b = (struct ut_tt_build){ 0 };
}

/* ---- room for rows -------------------------------------------------------------------------- */

/* By half, and not zeroed: these are most of the memory. */
static struct ut_tt_row *next_row(struct ut_tt_build *b)
{
	if (b->used == b->row_cap) {
		b->row_cap += b->row_cap / 2 + 4096;
		b->rows = realloc(b->rows, b->row_cap * sizeof(*b->rows));
		if (!b->rows)
			abort();
	}
	return &b->rows[b->used++];
}

static void begin_lane(struct ut_tt_build *b, uint32_t number)
{
	struct ut_tt_open_lane *l = &b->lanes[number];

	l->first = b->used;
	if (!b->log->zones) {
		*next_row(b) = (struct ut_tt_row){ .lane = number };
		l->count++;
	}
}

/* ---- lanes --------------------------------------------------------------------------------- */

static uint32_t find_risc(struct ut_tt_log *log, struct ut_str name)
{
	uint32_t id = ut_strtab_intern(&log->strings, name.ptr, name.len);

	for (uint32_t i = 0; i < log->risc_count; i++) {
		if (log->riscs[i].name == id)
			return i;
	}
	if (log->risc_count == MAX_RISCS)
		return UINT32_MAX;
	log->riscs = ut_grow(log->riscs, log->risc_count + 1, &log->risc_cap, sizeof(*log->riscs));
	log->riscs[log->risc_count].name = id;
	return (uint32_t)log->risc_count++;
}

/*
 * Of the lanes in the table, the one that agrees with lane in `ints` of the numbers of its place;
 * UINT32_MAX if there is none, and then this one, of this index, is put there.
 */
static uint32_t find_lane(const struct ut_tt_build *b, struct ut_hashtab *t,
			  const struct ut_tt_open_lane *lane, uint32_t index, int ints)
{
	const int32_t key[] = { lane->chip, lane->x, lane->y, (int32_t)lane->risc };
	size_t len = (size_t)ints * sizeof(*key);
	uint32_t hash = (uint32_t)ut_hash_bytes(key, len), at = hash, n;

	while ((n = ut_hashtab_next(t, hash, &at))) {
		const struct ut_tt_open_lane *o = &b->lanes[n - 1];
		const int32_t other[] = { o->chip, o->x, o->y, (int32_t)o->risc };

		if (!memcmp(key, other, len))
			return n - 1;
	}
	ut_hashtab_add(t, hash, index + 1);
	return UINT32_MAX;
}

uint32_t ut_tt_build_lane(struct ut_tt_build *b, const struct ut_tt_place *place)
{
	struct ut_tt_open_lane want = { .chip = place->chip, .x = place->x, .y = place->y };
	uint32_t found;

	want.risc = find_risc(b->log, place->risc);
	if (want.risc == UINT32_MAX)
		return UINT32_MAX;
	want.sorted = true;
	found = find_lane(b, &b->by_place, &want, (uint32_t)b->lane_count, 4);
	if (found != UINT32_MAX)
		return found;
	b->lanes = ut_grow(b->lanes, b->lane_count + 1, &b->lane_cap, sizeof(*b->lanes));
	b->lanes[b->lane_count++] = want;
	begin_lane(b, (uint32_t)b->lane_count - 1);
	return (uint32_t)b->lane_count - 1;
}

/* ---- marks --------------------------------------------------------------------------------- */

static uint32_t key_hash(const struct ut_tt_key *key)
{
	return (uint32_t)ut_hash_bytes(key->tail.ptr, key->tail.len) * 31 +
	       (uint32_t)ut_hash_bytes(key->timer.ptr, key->timer.len);
}

static bool read_log_build_same_key(const struct ut_tt_known *k, const struct ut_tt_key *key)
{
	return k->timer_len == key->timer.len && k->len == key->timer.len + key->tail.len &&
	       !memcmp(k->text, key->timer.ptr, key->timer.len) &&
	       !memcmp(k->text + k->timer_len, key->tail.ptr, key->tail.len);
}

/* UINT32_MAX = there is none. */
static uint32_t find_mark(const struct ut_tt_build *b, const struct ut_tt_key *key)
{
	uint32_t hash = key_hash(key), at = hash, n;

	while ((n = ut_hashtab_next(&b->by_text, hash, &at)) &&
	       !read_log_build_same_key(&b->known[n - 1], key))
		;
	return n - 1;
}

/* All cores do the same, so what followed a mark on one core follows it on the next. */
static void read_log_build_follow(struct ut_tt_build *b, uint32_t mark)
{
	if (b->last != UINT32_MAX)
		b->known[b->last].next = mark;
	b->last = mark;
}

uint32_t ut_tt_build_find(struct ut_tt_build *b, const struct ut_tt_key *key)
{
	uint32_t mark = b->last != UINT32_MAX ? b->known[b->last].next : UINT32_MAX;

	if (mark != UINT32_MAX && read_log_build_same_key(&b->known[mark], key)) {
		b->last = mark;
		return mark;
	}
	mark = find_mark(b, key);
	if (mark != UINT32_MAX)
		read_log_build_follow(b, mark);
	return mark;
}

uint32_t ut_tt_build_mark(struct ut_tt_build *b, const struct ut_tt_key *key,
			  const struct ut_tt_mark *mark)
{
	struct ut_tt_log *log = b->log;
	char *text = ut_arena_alloc(&log->arena, key->timer.len + key->tail.len + 1, 1);

	memcpy(text, key->timer.ptr, key->timer.len);
	memcpy(text + key->timer.len, key->tail.ptr, key->tail.len);
	b->known = ut_grow(b->known, log->mark_count + 1, &b->known_cap, sizeof(*b->known));
	b->known[log->mark_count] =
		(struct ut_tt_known){ .text = text,
				      .len = (uint32_t)(key->timer.len + key->tail.len),
				      .timer_len = (uint32_t)key->timer.len,
				      .next = UINT32_MAX };
	log->marks = ut_grow(log->marks, log->mark_count + 1, &log->mark_cap, sizeof(*mark));
	log->marks[log->mark_count++] = *mark;
	ut_hashtab_add(&b->by_text, key_hash(key), (uint32_t)log->mark_count);
	read_log_build_follow(b, (uint32_t)log->mark_count - 1);
	return (uint32_t)log->mark_count - 1;
}

/* ---- rows ---------------------------------------------------------------------------------- */

bool ut_tt_build_row(struct ut_tt_build *b, uint32_t lane, const struct ut_tt_row *row,
		     uint64_t line)
{
	struct ut_tt_open_lane *l = &b->lanes[lane];
	struct ut_tt_row *to;

	/* T0 will need a row in every lane */
	if (b->row_count + 2 * b->lane_count >= UINT32_MAX)
		return false;
	if (row->ts < l->last) {
		l->sorted = false;
		if (l->last - row->ts > WRAP_MIN && l->last - row->ts < WRAP_MAX &&
		    !b->log->doubts.wraps++)
			b->log->doubts.wrap_line = line;
	}
	l->last = row->ts;
	if (!l->count)
		l->first = b->used;
	l->scattered = l->scattered || l->first + l->count != b->used;
	to = next_row(b);
	*to = *row;
	to->lane = lane;
	l->count++;
	b->row_count++;
	return true;
}

/* Merge sort from below; stable. */
static void sort_rows(struct ut_tt_row *rows, size_t n)
{
	struct ut_tt_row *from = rows, *spare = ut_make(n * sizeof(*spare)), *to = spare;

	for (size_t width = 1; width < n; width *= 2) {
		struct ut_tt_row *swap = from;

		for (size_t at = 0; at < n; at += 2 * width) {
			size_t a = at, mid = at + width < n ? at + width : n;
			size_t c = mid, end = mid + width < n ? mid + width : n, out = at;

			while (a < mid && c < end)
				to[out++] = from[c].ts < from[a].ts ? from[c++] : from[a++];
			memcpy(to + out, from + a, (mid - a) * sizeof(*to));
			out += mid - a;
			memcpy(to + out, from + c, (end - c) * sizeof(*to));
		}
		from = to;
		to = swap;
	}
	if (from != rows)
		memcpy(rows, from, n * sizeof(*rows));
	free(spare);
}

/* ---- finish -------------------------------------------------------------------------------- */

/* Where lanes go: by chip, core and their own order of appearance. */
struct sorted_lane {
	uint32_t chip, core, lane;
};

static int read_log_build_by_place(const void *pa, const void *pb)
{
	const struct sorted_lane *a = pa, *b = pb;

	if (a->chip != b->chip)
		return a->chip < b->chip ? -1 : 1;
	if (a->core != b->core)
		return a->core < b->core ? -1 : 1;
	return (a->lane > b->lane) - (a->lane < b->lane);
}

/* A chip is known by the first lane on it, a core by the first in it. */
static uint32_t first_lane(const struct ut_tt_build *b, uint32_t lane, struct ut_hashtab *t,
			   int ints)
{
	uint32_t found = find_lane(b, t, &b->lanes[lane], lane, ints);

	return found != UINT32_MAX ? found : lane;
}

static struct sorted_lane *sort_lanes(struct ut_tt_build *b)
{
	struct ut_tt_log *log = b->log;
	struct sorted_lane *s = ut_make((b->lane_count + 1) * sizeof(*s));
	struct ut_hashtab chips = { 0 }, cores = { 0 };
	uint32_t *chip_of = ut_make((b->lane_count + 1) * sizeof(*chip_of));

	for (uint32_t i = 0; i < b->lane_count; i++) {
		uint32_t first = first_lane(b, i, &chips, 1);

		if (first == i) {
			chip_of[i] = (uint32_t)log->chip_count;
			log->chips = ut_grow(log->chips, log->chip_count + 1, &log->chip_cap,
					     sizeof(*log->chips));
			log->chips[log->chip_count++].id = b->lanes[i].chip;
		}
		s[i].chip = chip_of[first];
		s[i].core = first_lane(b, i, &cores, 3);
		s[i].lane = i;
	}
	qsort(s, b->lane_count, sizeof(*s), read_log_build_by_place);
	ut_hashtab_release(&chips);
	ut_hashtab_release(&cores);
	free(chip_of);
	return s;
}

static void add_lane(struct ut_tt_log *log, const struct ut_tt_open_lane *from, uint32_t core)
{
	log->lanes = ut_grow(log->lanes, log->lane_count + 1, &log->lane_cap, sizeof(*log->lanes));
	log->lanes[log->lane_count++] = (struct ut_tt_lane){ .core = core,
							     .risc = from->risc,
							     .first = (uint32_t)log->row_count,
							     .count = (uint32_t)from->count };
	log->row_count += from->count;
}

static void add_core(struct ut_tt_log *log, const struct ut_tt_open_lane *l, uint32_t chip)
{
	struct ut_tt_chip *c = &log->chips[chip];

	log->cores = ut_grow(log->cores, log->core_count + 1, &log->core_cap, sizeof(*log->cores));
	if (!c->core_count++) {
		c->core = (uint32_t)log->core_count;
		c->first = (uint32_t)log->row_count;
	}
	log->cores[log->core_count++] = (struct ut_tt_core){ .chip = chip,
							     .x = l->x,
							     .y = l->y,
							     .lane = (uint32_t)log->lane_count,
							     .first = (uint32_t)log->row_count };
}

/*
 * The smallest first time; a chip starts with what the chips before it had, as the original does.
 * Then the row of number 0 in every lane.
 */
static void add_t0(struct ut_tt_log *log)
{
	const struct ut_tt_mark zero = { .phase = UT_TT_OTHER };
	uint32_t mark = (uint32_t)log->mark_count, lane = 0, best_lane = 0;
	uint64_t best = UINT64_MAX;

	if (!log->zones) {
		log->marks = ut_grow(log->marks, log->mark_count + 1, &log->mark_cap, sizeof(zero));
		log->marks[log->mark_count++] = zero;
	}
	for (size_t i = 0; i < log->chip_count; i++) {
		struct ut_tt_chip *chip = &log->chips[i];
		uint32_t first = lane;

		for (; lane < log->lane_count && log->cores[log->lanes[lane].core].chip == i;
		     lane++) {
			uint64_t ts = log->rows[log->lanes[lane].first + !log->zones].ts;

			if (ts < best) {
				best = ts;
				best_lane = lane;
			}
		}
		chip->t0 = best;
		chip->t0_lane = best_lane;
		for (uint32_t k = first; !log->zones && k < lane; k++)
			log->rows[log->lanes[k].first] = (struct ut_tt_row){ best, 0, mark, k };
	}
}

/* Are all rows where they belong? */
static bool in_place(const struct ut_tt_build *b, const struct sorted_lane *sorted)
{
	for (size_t i = 0; i < b->lane_count; i++) {
		if (sorted[i].lane != i || b->lanes[i].scattered)
			return false;
	}
	return true;
}

/* Rows go to their lanes, which have got new numbers. */
static void move_rows(struct ut_tt_build *b, const struct sorted_lane *sorted)
{
	struct ut_tt_log *log = b->log;
	uint32_t *number = ut_make((b->lane_count + 1) * sizeof(*number));
	uint32_t *next = ut_make((b->lane_count + 1) * sizeof(*next));

	log->rows = ut_tt_make_rows(b->used, sizeof(*log->rows));
	for (uint32_t i = 0; i < b->lane_count; i++) {
		number[sorted[i].lane] = i;
		next[i] = log->lanes[i].first;
	}
	for (size_t i = 0; i < b->used; i++) {
		uint32_t lane = number[b->rows[i].lane];
		struct ut_tt_row *to = &log->rows[next[lane]++];

		*to = b->rows[i];
		to->lane = lane;
	}
	free(number);
	free(next);
}

static void place_rows(struct ut_tt_build *b, const struct sorted_lane *sorted)
{
	struct ut_tt_log *log = b->log;

	if (in_place(b, sorted)) {
		log->rows = b->rows;
		b->rows = NULL;
	} else {
		move_rows(b, sorted);
		free(b->rows);
		b->rows = NULL;
	}
	for (size_t i = 0; i < b->lane_count; i++) {
		const struct ut_tt_lane *lane = &log->lanes[i];
		uint32_t t0 = !log->zones;

		if (!b->lanes[sorted[i].lane].sorted)
			sort_rows(log->rows + lane->first + t0, lane->count - t0);
	}
}

void ut_tt_build_finish(struct ut_tt_build *b)
{
	struct ut_tt_log *log = b->log;
	struct sorted_lane *sorted = sort_lanes(b);

	for (size_t i = 0; i < b->lane_count; i++) {
		const struct ut_tt_open_lane *lane = &b->lanes[sorted[i].lane];
		struct ut_tt_core *core;

		if (!i || sorted[i].core != sorted[i - 1].core)
			add_core(log, lane, sorted[i].chip);
		core = &log->cores[log->core_count - 1];
		add_lane(log, lane, (uint32_t)log->core_count - 1);
		core->lane_count++;
		core->count = (uint32_t)log->row_count - core->first;
		log->chips[sorted[i].chip].count =
			(uint32_t)log->row_count - log->chips[sorted[i].chip].first;
	}
	place_rows(b, sorted);
	add_t0(log);
	free(sorted);
	ut_tt_log_order(log);
	ut_tt_log_check(log);
}
