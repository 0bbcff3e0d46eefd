#include "acelyzer/sort_events.h"

#include <pthread.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     6 /* 66 bits */
#define BUCKETS    (1u << DIGIT_BITS)
#define FEW        64    /* up to here insertion is faster, and never too far */
#define NEAR       8     /* places that items move on average, up to which insertion is faster */
#define MOST_RUNS  32    /* sorted pieces; with more, digits are faster than merging */
#define WORTH      65536 /* items from which on a thread costs less than it saves */

struct how {
	bool late; /* of equal keys what stood behind comes first */
	bool two;  /* threads */
};

uint64_t ut_ace_sort_key(double v)
{
	uint64_t bits;

	v += 0.0; /* -0 is 0 */
	memcpy(&bits, &v, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Two jobs of one kind: at the same time, if that is wanted and there is a thread to be had. */
static void do_both(void *(*fn)(void *), void *x, void *y, bool two)
{
	pthread_t id;
	bool started = two && !pthread_create(&id, NULL, fn, x);

	fn(y);
	if (started)
		pthread_join(id, NULL);
	else
		fn(x);
}

/* A part to sort by the digits in which keys of the whole differ: all. */
struct digits {
	struct ut_ace_item *items, *spare;
	size_t n;
	uint64_t all;
};

/* Leaves the result in items, which is the same of the two places for all parts. */
static void *sort_digits(void *ctx)
{
	struct digits *s = ctx;

	for (int d = 0; d < DIGITS; d++) {
		size_t start[BUCKETS + 1] = { 0 };
		int shift = d * DIGIT_BITS;
		struct ut_ace_item *from = s->items, *to = s->spare;

		if (!(s->all >> shift & (BUCKETS - 1)))
			continue; /* times of one trace share the upper ones */
		for (size_t i = 0; i < s->n; i++)
			start[(from[i].key >> shift & (BUCKETS - 1)) + 1]++;
		for (size_t b = 0; b < BUCKETS; b++)
			start[b + 1] += start[b];
		for (size_t i = 0; i < s->n; i++)
			to[start[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
		s->items = to;
		s->spare = from;
	}
	return NULL;
}

/* Half of a merge: the first count items, or from behind the last count. */
struct merge {
	const struct ut_ace_item *x, *y; /* x stood before y */
	size_t nx, ny;
	struct ut_ace_item *to;
	size_t count;
	bool late, back;
};

static void merge_front(const struct merge *m)
{
	size_t x = 0, y = 0;

	for (size_t at = 0; at < m->count; at++) {
		bool left = y == m->ny || (x < m->nx && (m->late ? m->x[x].key < m->y[y].key
								 : m->x[x].key <= m->y[y].key));

		m->to[at] = left ? m->x[x++] : m->y[y++];
	}
}

static void merge_back(const struct merge *m)
{
	size_t x = m->nx, y = m->ny, at = x + y;

	for (size_t end = at - m->count; at > end;) {
		bool right = !x || (y && (m->late ? m->y[y - 1].key > m->x[x - 1].key
						  : m->y[y - 1].key >= m->x[x - 1].key));

		m->to[--at] = right ? m->y[--y] : m->x[--x];
	}
}

static void *merge_half(void *ctx)
{
	const struct merge *m = ctx;

	if (m->back)
		merge_back(m);
	else
		merge_front(m);
	return NULL;
}

/* from[0..mid) and from[mid..n) into to[0..n). */
static void merge_two(const struct ut_ace_item *from, size_t mid, size_t n, struct ut_ace_item *to,
		      struct how how)
{
	struct merge front = { .x = from,
			       .y = from + mid,
			       .nx = mid,
			       .ny = n - mid,
			       .to = to,
			       .count = n / 2,
			       .late = how.late };
	struct merge back = front;

	back.back = true;
	back.count = n - n / 2;
	do_both(merge_half, &front, &back, how.two && n >= WORTH);
}

static void swap(struct ut_ace_item **x, struct ut_ace_item **y)
{
	struct ut_ace_item *was = *x;

	*x = *y;
	*y = was;
}

/*
 * Merges runs of rising keys: what was put together from a few sorted lists is sorted in a few
 * rounds. False if there are too many runs. With late no run holds equal keys.
 */
static bool merge_runs(struct ut_ace_item **items, struct ut_ace_item **spare, size_t n,
		       struct how how)
{
	size_t ends[MOST_RUNS + 1], runs = 0;

	for (size_t i = 1; i <= n; i++) {
		uint64_t last = (*items)[i - 1].key;

		if (i < n && (how.late ? last < (*items)[i].key : last <= (*items)[i].key))
			continue;
		if (runs == MOST_RUNS)
			return false;
		ends[runs++] = i;
	}
	while (runs > 1) {
		size_t from = 0, kept = 0;

		for (size_t r = 0; r < runs; r += 2) {
			size_t mid = ends[r], end = r + 1 < runs ? ends[r + 1] : mid;

			merge_two(*items + from, mid - from, end - from, *spare + from, how);
			ends[kept++] = from = end;
		}
		runs = kept;
		swap(items, spare);
	}
	return true;
}

/*
 * Insertion, for what is nearly in order: times that were corrected a little. False, and nothing
 * has changed, if items have to go far.
 */
static bool insert(struct ut_ace_item **items, struct ut_ace_item **spare, size_t n, bool late)
{
	const struct ut_ace_item *from = *items;
	struct ut_ace_item *to = *spare;
	size_t moves = 0, i;

	for (i = 0; i < n && moves <= NEAR * (i + 1024); i++) {
		uint64_t key = from[i].key;
		size_t at = i;

		for (; at && (late ? to[at - 1].key >= key : to[at - 1].key > key); at--)
			to[at] = to[at - 1];
		to[at] = from[i];
		moves += i - at;
	}
	if (i < n)
		return false;
	swap(items, spare);
	return true;
}

static void radix(struct ut_ace_item **items, struct ut_ace_item **spare, size_t n, bool two)
{
	size_t half = two && n >= WORTH ? n / 2 : 0;
	struct digits low = { *items, *spare, half, 0 };
	struct digits high = { *items + half, *spare + half, n - half, 0 };

	for (size_t i = 1; i < n; i++)
		high.all |= (*items)[i].key ^ (*items)[0].key;
	low.all = high.all;
	do_both(sort_digits, &low, &high, half > 0);
	*items = low.items;
	*spare = low.spare;
	if (half) {
		merge_two(*items, half, n, *spare, (struct how){ .two = two });
		swap(items, spare);
	}
}

static void reverse(struct ut_ace_item *items, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		struct ut_ace_item x = items[i];

		items[i] = items[--n];
		items[n] = x;
	}
}

void ut_ace_sort(struct ut_ace_item **items, struct ut_ace_item **spare, size_t n, bool late,
		 bool two)
{
	struct how how = { late, two };

	if ((n > FEW && merge_runs(items, spare, n, how)) || insert(items, spare, n, late))
		return;
	if (late)
		reverse(*items, n);
	radix(items, spare, n, two);
}
