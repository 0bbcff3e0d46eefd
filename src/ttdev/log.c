#include "ttdev/log.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

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

	return s.len == strlen(text) && !memcmp(s.ptr, text, s.len);
}

uint32_t ut_tt_mark_renamed(struct ut_tt_log *log, uint32_t mark, uint32_t zone)
{
	struct ut_tt_mark copy = log->marks[mark];

	if (copy.zone == zone)
		return mark;
	copy.zone = zone;
	copy.text = NULL;
	log->marks = ut_grow(log->marks, log->mark_count + 1, &log->mark_cap, sizeof(copy));
	log->marks[log->mark_count] = copy;
	return (uint32_t)log->mark_count++;
}

/* ---- order of time ------------------------------------------------------------------------- */

/*
 * Many lanes become one: a tree of losers, whose leaves are the lanes. At the same time the lane
 * that comes first wins, which is the order that a stable sort of the lanes in a row would give.
 */
struct merge {
	const struct ut_tt_row *rows;
	uint32_t *at, *end; /* per lane: next row, end */
	uint32_t *loser;    /* per inner node: lane */
	uint32_t leaves;
};

static bool before(const struct merge *m, uint32_t a, uint32_t b)
{
	bool a_left = m->at[a] < m->end[a], b_left = m->at[b] < m->end[b];
	uint64_t ta, tb;

	if (!a_left || !b_left)
		return a_left || (!b_left && a < b);
	ta = m->rows[m->at[a]].ts;
	tb = m->rows[m->at[b]].ts;
	return ta < tb || (ta == tb && a < b);
}

/* Who wins below node; the losers are written on the way. */
static uint32_t play(struct merge *m, uint32_t node)
{
	uint32_t a, b;

	if (node >= m->leaves)
		return node - m->leaves;
	a = play(m, 2 * node);
	b = play(m, 2 * node + 1);
	m->loser[node] = before(m, a, b) ? b : a;
	return before(m, a, b) ? a : b;
}

/* The winner has moved on: it plays again, up to the top. */
static uint32_t replay(struct merge *m, uint32_t winner)
{
	for (uint32_t node = (winner + m->leaves) / 2; node; node /= 2) {
		uint32_t other = m->loser[node];

		if (before(m, other, winner)) {
			m->loser[node] = winner;
			winner = other;
		}
	}
	return winner;
}

static void merge_lanes(const struct ut_tt_log *log, uint32_t lane, uint32_t count, uint32_t *to)
{
	struct merge m = { .rows = log->rows, .leaves = 1 };
	uint32_t winner;

	while (m.leaves < count)
		m.leaves *= 2;
	m.at = ut_make((size_t)m.leaves * 3 * sizeof(*m.at));
	m.end = m.at + m.leaves;
	m.loser = m.end + m.leaves;
	for (uint32_t i = 0; i < count; i++) {
		m.at[i] = log->lanes[lane + i].first;
		m.end[i] = m.at[i] + log->lanes[lane + i].count;
	}
	winner = play(&m, 1);
	while (m.at[winner] < m.end[winner]) {
		*to++ = m.at[winner]++;
		winner = replay(&m, winner);
	}
	free(m.at);
}

/* The order of a core is the chip's, with the other cores left out. */
static void part_cores(struct ut_tt_log *log, const struct ut_tt_chip *chip, uint32_t *next)
{
	for (uint32_t i = 0; i < chip->count; i++) {
		uint32_t row = log->by_chip[chip->first + i];
		uint32_t core = log->lanes[log->rows[row].lane].core;

		log->by_core[log->cores[core].first + next[core]++] = row;
	}
}

void ut_tt_log_order(struct ut_tt_log *log)
{
	uint32_t *next = ut_make((log->core_count + 1) * sizeof(*next));

	log->by_chip = ut_make((log->row_count + 1) * sizeof(*log->by_chip));
	log->by_core = ut_make((log->row_count + 1) * sizeof(*log->by_core));
	for (size_t i = 0; i < log->chip_count; i++) {
		const struct ut_tt_chip *chip = &log->chips[i];
		const struct ut_tt_core *core = &log->cores[chip->core];
		const struct ut_tt_core *last = core + chip->core_count - 1;

		merge_lanes(log, core->lane, last->lane + last->lane_count - core->lane,
			    log->by_chip + chip->first);
		part_cores(log, chip, next);
	}
	free(next);
}

/* ---- what is missing ----------------------------------------------------------------------- */

/* Pairs of the older family: firmware 1 and 4, kernel 2 and 3. Others are single. */
static int old_pair(int64_t id, bool *start)
{
	*start = id == 1 || id == 2;
	return id == 1 || id == 4 ? 1 : id == 2 || id == 3 ? 2 : 0;
}

uint64_t ut_tt_pair(const struct ut_tt_log *log, const struct ut_tt_mark *m, bool *start)
{
	*start = m->phase == UT_TT_START;
	if (!log->zones)
		return (uint64_t)old_pair(m->id, start);
	return m->phase == UT_TT_START || m->phase == UT_TT_END ? (uint64_t)m->zone + 1 : 0;
}

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
		uint64_t pair = ut_tt_pair(log, &log->marks[row->mark], &start);

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
