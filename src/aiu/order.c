#include "aiu/order.h"

#include <stdlib.h>
#include <string.h>

#include "aiu/big.h"
#include "base/grow.h"

#define DIGIT_BITS 11
#define DIGITS     6 /* 66 bits */
#define BUCKETS    (1u << DIGIT_BITS)
#define FEW        64 /* up to here insertion is faster */
#define MOST_RUNS  32 /* sorted pieces; with more, digits are faster than merging */

struct item {
	uint64_t key;
	uint32_t event;
};

/* Bits of a double that compare like the double. */
static uint64_t key_of(double v)
{
	uint64_t bits;

	v += 0.0; /* -0 is 0 */
	memcpy(&bits, &v, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static void insertion(struct item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct item x = items[i];
		size_t at = i;

		for (; at && items[at - 1].key > x.key; at--)
			items[at] = items[at - 1];
		items[at] = x;
	}
}

/* One pass per digit in which the keys differ at all; times of one trace share the upper ones. */
static void radix(struct item **items, struct item **spare, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 1; i < n; i++)
		all |= (*items)[i].key ^ (*items)[0].key;
	for (int d = 0; d < DIGITS; d++) {
		size_t start[BUCKETS + 1] = { 0 };
		int shift = d * DIGIT_BITS;
		struct item *from = *items, *to = *spare;

		if (!(all >> shift & (BUCKETS - 1)))
			continue;
		for (size_t i = 0; i < n; i++)
			start[(from[i].key >> shift & (BUCKETS - 1)) + 1]++;
		for (size_t b = 0; b < BUCKETS; b++)
			start[b + 1] += start[b];
		for (size_t i = 0; i < n; i++)
			to[start[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
		*items = to;
		*spare = from;
	}
}

/*
 * Merges runs of rising keys: what was put together from a few sorted lists is sorted in a few
 * rounds. False if there are too many runs. late: of equal keys the later run's comes first (then
 * no run may hold equal keys), otherwise the earlier one's.
 */
static bool merge_runs(struct item **items, struct item **spare, size_t n, bool late)
{
	size_t ends[MOST_RUNS + 1], runs = 0;

	for (size_t i = 1; i <= n; i++) {
		uint64_t last = (*items)[i - 1].key;

		if (i < n && (late ? last < (*items)[i].key : last <= (*items)[i].key))
			continue;
		if (runs == MOST_RUNS)
			return false;
		ends[runs++] = i;
	}
	while (runs > 1) {
		size_t from = 0, kept = 0;

		for (size_t r = 0; r < runs; r += 2) {
			size_t mid = ends[r], end = r + 1 < runs ? ends[r + 1] : mid;
			size_t x = from, y = mid;

			for (size_t at = from; at < end; at++) {
				bool left =
					y == end ||
					(x < mid && (late ? (*items)[x].key < (*items)[y].key
							  : (*items)[x].key <= (*items)[y].key));

				(*spare)[at] = left ? (*items)[x++] : (*items)[y++];
			}
			ends[kept++] = from = end;
		}
		runs = kept;
		{
			struct item *swap = *items;

			*items = *spare;
			*spare = swap;
		}
	}
	return true;
}

/* What to sort by. */
enum by {
	BY_TS,
	BY_END,
	BY_CLOCK,
};

static double value_of(const struct ut_aiu_event *e, enum by by)
{
	return by == BY_TS ? e->ts : by == BY_END ? ut_aiu_end(e) : e->dur;
}

static bool sorted(const struct ut_aiu_table *t, size_t from, size_t to, enum by by)
{
	double last = from < to ? value_of(&t->events[t->seq[from]], by) : 0;

	for (size_t i = from + 1; i < to; i++) {
		double v = value_of(&t->events[t->seq[i]], by);

		if (v < last)
			return false;
		last = v;
	}
	return true;
}

static void sort(struct ut_aiu_table *t, size_t from, size_t to, enum by by)
{
	size_t n = to - from;
	struct item *items, *spare;

	if (sorted(t, from, to, by))
		return;
	items = ut_aiu_big_make(n, sizeof(*items));
	for (size_t i = 0; i < n; i++) {
		const struct ut_aiu_event *e = &t->events[t->seq[from + i]];

		items[i] = (struct item){ key_of(value_of(e, by)), t->seq[from + i] };
	}
	spare = ut_aiu_big_make(n, sizeof(*spare));
	if (n <= FEW)
		insertion(items, n);
	else if (!merge_runs(&items, &spare, n, false))
		radix(&items, &spare, n);
	for (size_t i = 0; i < n; i++)
		t->seq[from + i] = items[i].event;
	free(items);
	free(spare);
}

void ut_aiu_order_late_first(struct ut_aiu_table *t)
{
	size_t n = t->seq_count;
	struct item *items = ut_aiu_big_make(n, sizeof(*items));
	struct item *spare = ut_aiu_big_make(n, sizeof(*spare));

	for (size_t i = 0; i < n; i++)
		items[i] = (struct item){ key_of(t->events[t->seq[i]].ts), t->seq[i] };
	if (!merge_runs(&items, &spare, n, true)) {
		for (size_t i = 0, k = n; i + 1 < k; i++) {
			struct item x = items[i];

			items[i] = items[--k];
			items[k] = x;
		}
		radix(&items, &spare, n);
	}
	for (size_t i = 0; i < n; i++)
		t->seq[i] = items[i].event;
	free(items);
	free(spare);
}

void ut_aiu_order_reverse(struct ut_aiu_table *t)
{
	for (size_t i = 0, k = t->seq_count; i + 1 < k; i++) {
		uint32_t x = t->seq[i];

		t->seq[i] = t->seq[--k];
		t->seq[k] = x;
	}
}

void ut_aiu_order_by_ts(struct ut_aiu_table *t, size_t from, size_t to)
{
	sort(t, from, to, BY_TS);
}

void ut_aiu_order_by_end(struct ut_aiu_table *t, size_t from, size_t to)
{
	sort(t, from, to, BY_END);
}

void ut_aiu_order_by_clock(struct ut_aiu_table *t, size_t from, size_t to)
{
	sort(t, from, to, BY_CLOCK);
}

static double length(const struct ut_aiu_event *e)
{
	return e->flags & UT_AIU_HAS_DUR ? e->dur : 0;
}

/* Many events of one time: merge sort by length, longest first. */
static void sort_equal(struct ut_aiu_table *t, uint32_t *seq, uint32_t *spare, size_t n)
{
	size_t half = n / 2, i = 0, k = half;

	if (n < 2)
		return;
	sort_equal(t, seq, spare, half);
	sort_equal(t, seq + half, spare, n - half);
	for (size_t at = 0; at < n; at++) {
		bool left = k == n ||
			    (i < half && length(&t->events[seq[i]]) >= length(&t->events[seq[k]]));

		spare[at] = left ? seq[i++] : seq[k++];
	}
	memcpy(seq, spare, n * sizeof(*seq));
}

void ut_aiu_order_by_ts_dur(struct ut_aiu_table *t, size_t from, size_t to)
{
	uint32_t *spare = NULL;
	size_t cap = 0;

	ut_aiu_order_by_ts(t, from, to);
	for (size_t i = from; i < to;) {
		size_t k = i + 1;

		while (k < to && t->events[t->seq[k]].ts == t->events[t->seq[i]].ts)
			k++;
		if (k - i > 1) {
			spare = ut_grow(spare, k - i, &cap, sizeof(*spare));
			sort_equal(t, t->seq + i, spare, k - i);
		}
		i = k;
	}
	free(spare);
}

size_t ut_aiu_order_group(struct ut_aiu_table *t, size_t from, size_t to, bool threads,
			  size_t **ends)
{
	struct ut_arena arena = { 0 };
	struct ut_idmap map;
	size_t n = to - from, cap = 0, groups = 0;
	uint32_t *group = ut_make((n + 1) * sizeof(*group)), *old = ut_make((n + 1) * sizeof(*old));
	size_t *end = ut_grow(NULL, 16, &cap, sizeof(*end));

	ut_idmap_init(&map, &arena);
	for (size_t i = 0; i < n; i++) {
		const struct ut_aiu_event *e = &t->events[t->seq[from + i]];
		uint64_t key = (uint64_t)e->pid << 32 | (threads ? e->tid : 0);
		uint32_t g;

		old[i] = t->seq[from + i];
		if (i && key == ((uint64_t)t->events[old[i - 1]].pid << 32 |
				 (threads ? t->events[old[i - 1]].tid : 0))) {
			g = group[i - 1];
		} else {
			g = ut_idmap_get(&map, key);
			if (!g) {
				end = ut_grow(end, groups + 2, &cap, sizeof(*end));
				g = (uint32_t)++groups;
				ut_idmap_put(&map, key, g);
			}
		}
		group[i] = g;
		end[g]++;
	}
	/* end[g] becomes where group g - 1 begins, then, after placing, where it ends */
	for (size_t g = 0, at = from; g < groups; g++) {
		size_t size = end[g + 1];

		end[g + 1] = at;
		at += size;
	}
	for (size_t i = 0; i < n; i++)
		t->seq[end[group[i]]++] = old[i];
	for (size_t g = 0; g < groups; g++)
		end[g] = end[g + 1];
	free(group);
	free(old);
	ut_arena_release(&arena);
	*ends = end;
	return groups;
}

size_t ut_aiu_order_split(struct ut_aiu_table *t,
			  bool (*last)(void *ctx, const struct ut_aiu_event *e), void *ctx)
{
	uint32_t *behind = ut_make((t->seq_count + 1) * sizeof(*behind));
	size_t kept = 0, moved = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		if (last(ctx, &t->events[t->seq[i]]))
			behind[moved++] = t->seq[i];
		else
			t->seq[kept++] = t->seq[i];
	}
	memcpy(t->seq + kept, behind, moved * sizeof(*behind));
	free(behind);
	return kept;
}
