#include "acelyzer/order.h"

#include <stdlib.h>
#include <string.h>

#include "acelyzer/each.h"
#include "acelyzer/sort_events.h"
#include "base/big.h"
#include "base/grow.h"

#define FEW_OF 64 /* if fewer than one in so many are out of place, these are put in */

/* What to sort by. */
enum by {
	BY_TS,
	BY_END,
	BY_CLOCK,
};

static double order_value_of(const struct ut_ace_event *e, enum by by)
{
	return by == BY_TS ? e->ts : by == BY_END ? ut_ace_end(e) : e->dur;
}

/* How many of seq[from..to) are in order, from the first on. */
static size_t sorted(const struct ut_ace_table *t, size_t from, size_t to, enum by by)
{
	double last = from < to ? order_value_of(ut_ace_at(t, from), by) : 0;
	size_t i = from;

	for (; i < to; i++) {
		double v = order_value_of(ut_ace_at(t, i), by);

		if (v < last)
			break;
		last = v;
	}
	return i - from;
}

/* Room for n items and as many spare ones; sorts take turns in it. */
static struct ut_ace_item *scratch(struct ut_ace_table *t, size_t n)
{
	if (!t->scratch || 2 * n > t->scratch_cap) {
		free(t->scratch);
		t->scratch = ut_ace_big_make(2 * n, sizeof(struct ut_ace_item));
		t->scratch_cap = 2 * n;
	}
	return t->scratch;
}

/* What becomes a list of items. */
struct listing {
	const struct ut_ace_table *table;
	size_t first; /* of seq */
	struct ut_ace_item *items;
	enum by by;
};

static void order_list(void *ctx, size_t from, size_t to)
{
	const struct listing *l = ctx;

	for (size_t i = from; i < to; i++) {
		const struct ut_ace_event *e = ut_ace_at(l->table, l->first + i);

		l->items[i].key = ut_ace_sort_key(order_value_of(e, l->by));
		l->items[i].event = l->table->seq[l->first + i];
	}
}

/* seq[from..from + n) as items, sorted; valid until the next sort. */
static const struct ut_ace_item *sort_items(struct ut_ace_table *t, size_t from, size_t n,
					    enum by by, bool late)
{
	struct ut_ace_item *items = scratch(t, n), *spare = items + n;
	struct listing listing = { t, from, items, by };

	ut_ace_each(t->threads, n, order_list, &listing);
	ut_ace_sort(&items, &spare, n, late, t->threads > 1);
	return items;
}

/* The first n of seq in order are followed by a few, which go to where they belong. */
static void put_in(struct ut_ace_table *t, size_t from, size_t n, const struct ut_ace_item *few,
		   size_t count, enum by by)
{
	uint32_t *seq = t->seq + from;

	while (count--) {
		size_t low = 0, high = n;

		while (low < high) {
			size_t mid = (low + high) / 2;

			if (ut_ace_sort_key(order_value_of(&t->events[seq[mid]], by)) <=
			    few[count].key)
				low = mid + 1;
			else
				high = mid;
		}
		memmove(seq + low + count + 1, seq + low, (n - low) * sizeof(*seq));
		seq[low + count] = few[count].event;
		n = low;
	}
}

static void sort(struct ut_ace_table *t, size_t from, size_t to, enum by by)
{
	size_t n = to - from, done = sorted(t, from, to, by);
	const struct ut_ace_item *items;

	if (done == n)
		return;
	if (n - done < n / FEW_OF) {
		items = sort_items(t, from + done, n - done, by, false);
		put_in(t, from, done, items, n - done, by);
		return;
	}
	items = sort_items(t, from, n, by, false);
	for (size_t i = 0; i < n; i++)
		t->seq[from + i] = items[i].event;
}

void ut_ace_order_late_first(struct ut_ace_table *t)
{
	const struct ut_ace_item *items = sort_items(t, 0, t->seq_count, BY_TS, true);

	for (size_t i = 0; i < t->seq_count; i++)
		t->seq[i] = items[i].event;
}

void ut_ace_order_reverse(struct ut_ace_table *t)
{
	for (size_t i = 0, k = t->seq_count; i + 1 < k; i++) {
		uint32_t x = t->seq[i];

		t->seq[i] = t->seq[--k];
		t->seq[k] = x;
	}
}

void ut_ace_order_by_ts(struct ut_ace_table *t, size_t from, size_t to)
{
	sort(t, from, to, BY_TS);
}

void ut_ace_order_by_end(struct ut_ace_table *t, size_t from, size_t to)
{
	sort(t, from, to, BY_END);
}

void ut_ace_order_by_clock(struct ut_ace_table *t, size_t from, size_t to)
{
	sort(t, from, to, BY_CLOCK);
}

static double length(const struct ut_ace_event *e)
{
	return e->flags & UT_ACE_HAS_DUR ? e->dur : 0;
}

/* Many events of one time: merge sort by length, longest first. */
static void sort_equal(struct ut_ace_table *t, uint32_t *seq, uint32_t *spare, size_t n)
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

void ut_ace_order_by_ts_dur(struct ut_ace_table *t, size_t from, size_t to)
{
	uint32_t *spare = NULL;
	size_t cap = 0;

	ut_ace_order_by_ts(t, from, to);
	for (size_t i = from; i < to;) {
		size_t k = i + 1;

		while (k < to && ut_ace_at(t, k)->ts == t->events[t->seq[i]].ts)
			k++;
		if (k - i > 1) {
			spare = ut_grow(spare, k - i, &cap, sizeof(*spare));
			sort_equal(t, t->seq + i, spare, k - i);
		}
		i = k;
	}
	free(spare);
}

size_t ut_ace_order_group(struct ut_ace_table *t, size_t from, size_t to, bool threads,
			  size_t **ends)
{
	struct ut_arena arena = { 0 };
	struct ut_idmap map;
	size_t n = to - from, cap = 0, groups = 0;
	uint32_t *group = ut_make((n + 1) * sizeof(*group)), *old = ut_make((n + 1) * sizeof(*old));
	size_t *end = ut_grow(NULL, 16, &cap, sizeof(*end));

	ut_idmap_init(&map, &arena);
	for (size_t i = 0; i < n; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, from + i);
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

size_t ut_ace_order_split(struct ut_ace_table *t,
			  bool (*last)(void *ctx, const struct ut_ace_event *e), void *ctx)
{
	uint32_t *behind = ut_make((t->seq_count + 1) * sizeof(*behind));
	size_t kept = 0, moved = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		if (last(ctx, ut_ace_at(t, i)))
			behind[moved++] = t->seq[i];
		else
			t->seq[kept++] = t->seq[i];
	}
	memcpy(t->seq + kept, behind, moved * sizeof(*behind));
	free(behind);
	return kept;
}
