/*
 * pass_prep.c - how many preparations ("Cmpt Prep") are going on at once, as a counter.
 *
 * The reference keeps a list of moments with the number that holds from there on, and changes it
 * with every preparation [s, e) that comes: what lies before s is final; what lies inside counts
 * one more; s gets what the last final one had plus one; e gets what the last one inside had
 * before, or 0 if there is none. The last rule forgets preparations around this one, and its
 * results are kept because they are what users compare with.
 *
 * A preparation that begins behind all moments of the list finds nothing to change: all are told,
 * and of them only the last number matters. So each heap of preparations that touch each other is
 * counted for itself, and most heaps are one preparation. But a heap may be as large as the trace.
 * Each preparation can add two moments to the list, so all places are known beforehand: the list
 * is a set of bits over them (who is next, who was before: a few words), and the additions are a
 * tree of sums.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/order.h"
#include "acelyzer/stage.h"
#include "base/grow.h"

#define LEVELS 6 /* 64^6 places */

/* The begin or the end of a preparation. */
struct place {
	double at;
	uint32_t prep; /* which */
	bool end;
};

struct timestamps {
	struct place *places; /* sorted */
	size_t count;
	size_t *begin_of, *end_of; /* of a preparation: its places */
	int64_t *value;            /* of the moment when it was put in */
	int64_t *sums;             /* Fenwick tree: what was added to ranges since */
	uint64_t *bits[LEVELS];
	size_t words[LEVELS];
	int levels;
	bool adds; /* something was added to a range: sums count */
};

static void set_bit(struct timestamps *m, size_t i, bool on)
{
	for (int l = 0; l < m->levels; l++, i /= 64) {
		uint64_t *word = &m->bits[l][i / 64], bit = UINT64_C(1) << i % 64;

		*word = on ? *word | bit : *word & ~bit;
		if (!on && *word)
			return;
	}
}

/* The last moment in the list before i; SIZE_MAX = none. */
static size_t last_before(const struct timestamps *m, size_t i)
{
	for (int l = 0; l < m->levels; l++, i /= 64) {
		uint64_t word = m->bits[l][i / 64] & ((UINT64_C(1) << i % 64) - 1);

		if (!word)
			continue;
		i = i / 64 * 64 + 63 - (size_t)__builtin_clzll(word);
		while (l-- > 0)
			i = i * 64 + 63 - (size_t)__builtin_clzll(m->bits[l][i]);
		return i;
	}
	return SIZE_MAX;
}

/* The first moment in the list from i on; SIZE_MAX = none. */
static size_t first_from(const struct timestamps *m, size_t i)
{
	for (int l = 0; l < m->levels; l++, i = i / 64 + 1) {
		uint64_t word;

		if (i / 64 >= m->words[l])
			return SIZE_MAX;
		word = m->bits[l][i / 64] & (~UINT64_C(0) << i % 64);
		if (!word)
			continue;
		i = i / 64 * 64 + (size_t)__builtin_ctzll(word);
		while (l-- > 0)
			i = i * 64 + (size_t)__builtin_ctzll(m->bits[l][i]);
		return i;
	}
	return SIZE_MAX;
}

static void add_from(struct timestamps *m, size_t i, int64_t n)
{
	for (i++; i <= m->count; i += i & -i)
		m->sums[i] += n;
}

static int64_t added_to(const struct timestamps *m, size_t i)
{
	int64_t n = 0;

	if (!m->adds)
		return 0;
	for (i++; i; i -= i & -i)
		n += m->sums[i];
	return n;
}

static int64_t value_at(const struct timestamps *m, size_t i)
{
	return m->value[i] + added_to(m, i);
}

static void pass_prep_put(struct timestamps *m, size_t i, int64_t value)
{
	m->value[i] = value - added_to(m, i);
	set_bit(m, i, true);
}

/* The first place at this time or later. */
static size_t pass_prep_place_of(const struct timestamps *m, double at)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (m->places[mid].at < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Is there a moment with exactly this time, at whose first place i is? */
static bool taken(const struct timestamps *m, size_t i, double at)
{
	i = first_from(m, i);
	return i != SIZE_MAX && m->places[i].at == at;
}

/* The counter of a rank, and the number that it told last. */
struct counter_writer {
	struct ut_ace_analysis *a;
	uint32_t pid;
	int64_t last;
};

static void pass_prep_report(struct counter_writer *t, double at, int64_t value)
{
	struct ut_arg arg = ut_ace_int_arg(UT_ACE_K_CONCURRENCY, value);
	struct ut_ace_event *e = ut_ace_add_counter(t->a, t->pid, at, UT_ACE_K_C_PREPS, &arg);

	e->cat = UT_ACE_K_CAT_PREPS;
	e->flags |= UT_ACE_HAS_CAT;
	t->last = value;
}

static void report_timestamp(struct counter_writer *t, struct timestamps *m, size_t i)
{
	pass_prep_report(t, m->places[i].at, value_at(m, i));
	set_bit(m, i, false);
}

static void add_prep(struct counter_writer *t, struct timestamps *m, size_t prep)
{
	size_t begin = m->begin_of[prep], end = m->end_of[prep], s, e, i, last;
	double from = m->places[begin].at, to = m->places[end].at;
	int64_t ready = 0, inside = 0;

	s = pass_prep_place_of(m, from);
	e = pass_prep_place_of(m, to);
	if (first_from(m, 0) == SIZE_MAX) {
		pass_prep_put(m, begin, t->last + 1);
		pass_prep_put(m, end, 0);
		return;
	}
	while ((i = first_from(m, 0)) < s) {
		report_timestamp(t, m, i);
		ready = t->last;
	}
	last = last_before(m, e);
	if (last != SIZE_MAX && last >= s) {
		inside = value_at(m, last);
		m->adds = true;
		add_from(m, s, 1);
		add_from(m, e, -1);
	}
	if (from == to || !taken(m, s, from)) {
		bool ends = taken(m, e, to);

		pass_prep_put(m, begin, ready + 1);
		if (!ends)
			pass_prep_put(m, end, inside);
	} else if (!taken(m, e, to)) {
		pass_prep_put(m, end, inside);
	}
}

/* Of one time: what comes later stands before, a begin before its own end. */
static int pass_prep_by_place(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->prep != b->prep)
		return a->prep > b->prep ? -1 : 1;
	return a->end - b->end;
}

static bool sorted(const struct place *p, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (pass_prep_by_place(&p[i - 1], &p[i]) > 0)
			return false;
	}
	return true;
}

/* Begins come in order and ends nearly always do: then merging is enough. */
static void sort_places(struct timestamps *m, struct ut_arena *arena)
{
	size_t half = m->count / 2, i = 0, k = half;
	struct place *all;

	if (!sorted(m->places, half))
		qsort(m->places, half, sizeof(*m->places), pass_prep_by_place);
	if (!sorted(m->places + half, half))
		qsort(m->places + half, half, sizeof(*m->places), pass_prep_by_place);
	all = UT_NEW_N(arena, struct place, m->count);
	for (size_t at = 0; at < m->count; at++) {
		bool left = k == m->count ||
			    (i < half && pass_prep_by_place(&m->places[i], &m->places[k]) < 0);

		all[at] = left ? m->places[i++] : m->places[k++];
	}
	m->places = all;
}

static void make_timestamps(struct timestamps *m, struct ut_arena *arena)
{
	size_t n = m->count;

	sort_places(m, arena);
	m->begin_of = UT_NEW_N(arena, size_t, n / 2);
	m->end_of = UT_NEW_N(arena, size_t, n / 2);
	for (size_t i = 0; i < n; i++)
		(m->places[i].end ? m->end_of : m->begin_of)[m->places[i].prep] = i;
	m->value = UT_NEW_N(arena, int64_t, n);
	m->sums = UT_NEW_N(arena, int64_t, n + 1);
	do {
		n = n / 64 + 1;
		m->words[m->levels] = n;
		m->bits[m->levels++] = UT_NEW_N(arena, uint64_t, n);
	} while (n > 1 && m->levels < LEVELS);
}

static void count_heap(struct counter_writer *t, const uint32_t *preps, size_t count)
{
	const struct ut_ace_event *events = t->a->table.events;
	struct ut_arena arena = { 0 };
	struct timestamps m = { .count = 2 * count };
	size_t i;

	m.places = UT_NEW_N(&arena, struct place, 2 * count);
	for (i = 0; i < count; i++) {
		const struct ut_ace_event *e = &events[preps[i]];

		m.places[i] = (struct place){ e->ts, (uint32_t)i, false };
		m.places[count + i] = (struct place){ ut_ace_end(e), (uint32_t)i, true };
	}
	make_timestamps(&m, &arena);
	for (i = 0; i < count; i++)
		add_prep(t, &m, i);
	while ((i = first_from(&m, 0)) != SIZE_MAX)
		report_timestamp(t, &m, i);
	ut_arena_release(&arena);
}

/* One that touches no other; it may end before it begins. */
static void count_one(struct counter_writer *t, const struct ut_ace_event *e)
{
	double from = e->ts, to = ut_ace_end(e);
	int64_t value = t->last + 1;

	if (to < from)
		pass_prep_report(t, to, 0);
	pass_prep_report(t, from, value);
	if (to >= from)
		pass_prep_report(t, to, 0);
}

static void count_rank(struct ut_ace_analysis *a, const uint32_t *preps, size_t count)
{
	const struct ut_ace_table *table = &a->table;
	struct counter_writer t = { .a = a, .pid = table->events[preps[0]].pid };

	for (size_t i = 0, next; i < count; i = next) {
		const struct ut_ace_event *e = &table->events[preps[i]], *other;
		double last = fmax(e->ts, ut_ace_end(e));

		for (next = i + 1; next < count; next++) {
			other = ut_ace_listed(table, preps, count, next);
			if (other->ts > last)
				break;
			last = fmax(last, ut_ace_end(other));
		}
		if (next == i + 1)
			count_one(&t, e);
		else
			count_heap(&t, preps + i, next - i);
	}
}

static bool is_prep(void *ctx, const struct ut_ace_event *e)
{
	return e->ph == 'X' && ut_ace_flags_of(ctx, e) & UT_ACE_NAME(END_PREP);
}

int ut_ace_pass_preps(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t others = t->seq_count, count, groups, *ends;
	uint32_t *preps;

	if (a->opts.keep_prep) {
		/* the order of the others must not change: group copies of the numbers */
		for (size_t i = 0; i < others; i++) {
			if (is_prep(a, ut_ace_at(t, i)))
				ut_ace_seq_add(t, t->seq[i]);
		}
	} else {
		ut_ace_names_reserve(&a->names, t);
		others = ut_ace_order_split(t, is_prep, a);
	}
	count = t->seq_count - others;
	if (!count)
		return 0;
	groups = ut_ace_order_group(t, others, t->seq_count, false, &ends);
	preps = ut_make(count * sizeof(*preps));
	memcpy(preps, t->seq + others, count * sizeof(*preps));
	t->seq_count = others;
	for (size_t g = 0, from = others; g < groups; from = ends[g++])
		count_rank(a, preps + (from - others), ends[g] - from);
	free(ends);
	free(preps);
	return 0;
}
