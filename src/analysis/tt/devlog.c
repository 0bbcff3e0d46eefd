#include "tt/devlog.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"

#define HUGE_PAGE ((uintptr_t)2 << 20)

void *ut_tt_make_rows(size_t rows, size_t size)
{
	char *p = ut_make((rows + 1) * size);
	uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	uintptr_t to = ((uintptr_t)p + (rows + 1) * size) & ~(HUGE_PAGE - 1);

	/* fresh from the kernel, and not touched yet: 512 times fewer faults */
	if (to > from)
		madvise(p + (from - (uintptr_t)p), to - from, MADV_HUGEPAGE);
	return p;
}

void ut_tt_log_init(struct ut_tt_log *log)
{
	*log = (struct ut_tt_log){ .max_cores = -1 };
	ut_strtab_init(&log->strings, &log->arena);
}

void ut_tt_log_release(struct ut_tt_log *log)
{
	free(log->marks);
	free(log->riscs);
	free(log->chips);
	free(log->cores);
	free(log->lanes);
	free(log->rows);
	free(log->by_chip);
	free(log->by_core);
	ut_arena_release(&log->arena);
	*log = (struct ut_tt_log){ 0 };
}

bool ut_tt_is(const struct ut_tt_log *log, uint32_t id, const char *text)
{
	struct ut_str s = ut_tt_str(log, id);

	return ut_str_is(s, text);
}

/* Of the older family firmware, 1 and 4, and kernels, 2 and 3, are pairs; others are single. */
static void find_pair(const struct ut_tt_log *log, struct ut_tt_mark *m)
{
	if (log->zones) {
		m->opens = m->phase == UT_TT_START;
		m->pair = m->phase == UT_TT_START || m->phase == UT_TT_END ? m->zone + 1 : 0;
	} else {
		m->opens = m->id == 1 || m->id == 2;
		m->pair = m->id == 1 || m->id == 4 ? 1 : m->id == 2 || m->id == 3 ? 2 : 0;
	}
}

uint32_t ut_tt_mark_renamed(struct ut_tt_log *log, uint32_t mark, uint32_t zone)
{
	struct ut_tt_mark copy = log->marks[mark];

	if (copy.zone == zone)
		return mark;
	copy.zone = zone;
	copy.text = NULL;
	find_pair(log, &copy);
	log->marks = ut_grow(log->marks, log->mark_count + 1, &log->mark_cap, sizeof(copy));
	log->marks[log->mark_count] = copy;
	return (uint32_t)log->mark_count++;
}

/* ---- order of time ------------------------------------------------------------------------- */

/*
 * Many lanes become one: a tree of losers, whose leaves are the lanes. At the same time the lane
 * that comes first wins, which is the order that a stable sort of the lanes in a row would give.
 */
struct head {
	uint64_t ts;   /* of the lane's next row */
	uint32_t rank; /* the lane; once it has no more rows, the lane + the number of leaves */
};

struct merge {
	const struct ut_tt_row *rows;
	struct head *loser;  /* per inner node */
	uint32_t *at, *end;  /* per lane: next row, end */
	uint32_t leaves;     /* a power of two */
	uint32_t *to;        /* where the next row goes */
	uint32_t ***to_core; /* per lane: the same, in the order of its core */
};

static bool tt_devlog_before(struct head a, struct head b)
{
	return a.ts < b.ts || (a.ts == b.ts && a.rank < b.rank);
}

static struct head head_of(const struct merge *m, uint32_t lane)
{
	if (m->at[lane] == m->end[lane])
		return (struct head){ UINT64_MAX, lane + m->leaves };
	return (struct head){ m->rows[m->at[lane]].ts, lane };
}

/* Who wins below node; the losers are written on the way. */
static struct head play(struct merge *m, uint32_t node)
{
	struct head a, b;

	if (node >= m->leaves)
		return head_of(m, node - m->leaves);
	a = play(m, 2 * node);
	b = play(m, 2 * node + 1);
	m->loser[node] = tt_devlog_before(a, b) ? b : a;
	return tt_devlog_before(a, b) ? a : b;
}

/* A lane has moved on: it plays again, up to the top. */
static struct head replay(struct merge *m, uint32_t lane)
{
	struct head winner = head_of(m, lane);

	for (uint32_t node = (lane + m->leaves) / 2; node; node /= 2) {
		struct head other = m->loser[node];

		if (tt_devlog_before(other, winner)) {
			m->loser[node] = winner;
			winner = other;
		}
	}
	return winner;
}

/* The order of a core is the chip's, with the other cores left out. */
static void run_merge(struct merge *m)
{
	struct head winner = play(m, 1);

	while (winner.rank < m->leaves) {
		uint32_t lane = winner.rank, row = m->at[lane]++;

		*m->to++ = row;
		*(*m->to_core[lane])++ = row;
		/* there are too many lanes for the processor to see that each is read in order */
		if (row + 4 < m->end[lane])
			__builtin_prefetch(&m->rows[row + 4]);
		winner = replay(m, lane);
	}
}

static void merge_chip(struct ut_tt_log *log, const struct ut_tt_chip *chip)
{
	const struct ut_tt_core *core = &log->cores[chip->core];
	const struct ut_tt_core *last = core + chip->core_count - 1;
	uint32_t count = last->lane + last->lane_count - core->lane;
	uint32_t **next = ut_make(chip->core_count * sizeof(*next));
	struct merge m = { .rows = log->rows, .leaves = 1, .to = log->by_chip + chip->first };

	while (m.leaves < count)
		m.leaves *= 2;
	m.loser = ut_make(m.leaves * sizeof(*m.loser));
	m.at = ut_make((size_t)m.leaves * 2 * sizeof(*m.at));
	m.end = m.at + m.leaves;
	m.to_core = ut_make(m.leaves * sizeof(*m.to_core));
	for (uint32_t i = 0; i < chip->core_count; i++)
		next[i] = log->by_core + core[i].first;
	for (uint32_t i = 0; i < count; i++) {
		const struct ut_tt_lane *lane = &log->lanes[core->lane + i];

		m.at[i] = lane->first;
		m.end[i] = lane->first + lane->count;
		m.to_core[i] = &next[lane->core - chip->core];
	}
	run_merge(&m);
	free(m.loser);
	free(m.at);
	free(m.to_core);
	free(next);
}

void ut_tt_log_order(struct ut_tt_log *log)
{
	log->by_chip = ut_tt_make_rows(log->row_count, sizeof(*log->by_chip));
	log->by_core = ut_tt_make_rows(log->row_count, sizeof(*log->by_core));
	for (size_t i = 0; i < log->chip_count; i++)
		merge_chip(log, &log->chips[i]);
}

/* ---- what is missing ----------------------------------------------------------------------- */

/* How many of each pair are open in the lane whose number + 1 is the stamp. */
struct open {
	uint32_t *count, *stamp;
};

static uint64_t check_lane(struct ut_tt_log *log, uint32_t number, const struct open *o)
{
	const struct ut_tt_lane *lane = &log->lanes[number];
	uint64_t no_start = 0, no_end = 0;

	for (uint32_t i = 0; i < lane->count; i++) {
		const struct ut_tt_row *row = &log->rows[lane->first + i];
		bool start;
		uint32_t pair = ut_tt_pair(&log->marks[row->mark], &start);

		if (!pair)
			continue;
		if (o->stamp[pair] != number + 1)
			o->count[pair] = 0;
		o->stamp[pair] = number + 1;
		if (start) {
			o->count[pair]++;
			no_end++;
		} else if (o->count[pair]) {
			o->count[pair]--;
			no_end--;
		} else {
			no_start++;
		}
	}
	log->doubts.no_end += no_end;
	log->doubts.no_start += no_start;
	return no_end + no_start;
}

void ut_tt_log_check(struct ut_tt_log *log)
{
	size_t pairs = (size_t)log->strings.count + 3; /* a zone's is its name + 1 */
	struct open o = { ut_make(pairs * sizeof(*o.count)), ut_make(pairs * sizeof(*o.stamp)) };
	uint64_t most = 0;

	for (size_t i = 0; i < log->mark_count; i++)
		find_pair(log, &log->marks[i]);
	for (uint32_t i = 0; i < log->lane_count; i++) {
		uint64_t bad = check_lane(log, i, &o);

		log->doubts.lanes += bad > 0;
		if (bad > most) {
			most = bad;
			log->doubts.worst = i;
		}
	}
	free(o.count);
	free(o.stamp);
}
