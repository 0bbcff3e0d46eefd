/*
 * pass_iterate.c - how long an iteration takes, from the sequence of kernels of a rank.
 *
 * First the repeating part is looked for: the shortest beginning of the sequence that is, after
 * at most a third of it that happens once, some word twice. Then every further occurrence of that
 * word is an iteration; after a disturbance the next one is not counted.
 *
 * A word twice with half length h that starts before h covers the places h-1 and 2h-1. So for
 * each h one look at how far the sequence agrees with itself h later, to the left and to the
 * right of there, tells where the first such word ends. With sums of hashes that look is a binary
 * search: n log n in all. (The reference tries all beginnings: n^3.)
 */
#include <inttypes.h>
#include <stdlib.h>

#include "acelyzer/order.h"
#include "acelyzer/stage.h"
#include "base/grow.h"
#include "text/shortest.h"

#define SHORTEST 10 /* kernels before anything is called an iteration */
#define PRIME    ((UINT64_C(1) << 61) - 1)
#define BASE     UINT64_C(0x1e3779b97f4a7c15)

__extension__ typedef unsigned __int128 wide;

struct word {
	const uint32_t *letter; /* names */
	const double *ts;
	size_t count;
	uint64_t *hash;  /* of the first i letters */
	uint64_t *power; /* BASE^i */
};

static uint64_t times(uint64_t a, uint64_t b)
{
	wide p = (wide)a * b;
	uint64_t r = (uint64_t)(p & PRIME) + (uint64_t)(p >> 61);

	return r >= PRIME ? r - PRIME : r;
}

static uint64_t pass_iterate_hash_of(const struct word *w, size_t from, size_t len)
{
	uint64_t x = w->hash[from + len], y = times(w->hash[from], w->power[len]);

	return x >= y ? x - y : x + PRIME - y;
}

static void hash_all(struct word *w)
{
	w->hash = ut_make((w->count + 1) * sizeof(*w->hash));
	w->power = ut_make((w->count + 1) * sizeof(*w->power));
	w->power[0] = 1;
	for (size_t i = 0; i < w->count; i++) {
		uint64_t h = times(w->hash[i], BASE) + w->letter[i] + 1;

		w->hash[i + 1] = h >= PRIME ? h - PRIME : h;
		w->power[i + 1] = times(w->power[i], BASE);
	}
}

/* How many letters from x on agree with those from y on, at most most. */
static size_t agree_right(const struct word *w, size_t x, size_t y, size_t most)
{
	size_t low = 0, high = most;

	if (!most || w->letter[x] != w->letter[y])
		return 0;
	while (low < high) {
		size_t mid = low + (high - low + 1) / 2;

		if (pass_iterate_hash_of(w, x, mid) == pass_iterate_hash_of(w, y, mid))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/* The same to the left of x and y, which are not included. */
static size_t agree_left(const struct word *w, size_t x, size_t y, size_t most)
{
	size_t low = 0, high = most;

	if (!most || w->letter[x - 1] != w->letter[y - 1])
		return 0;
	while (low < high) {
		size_t mid = low + (high - low + 1) / 2;

		if (pass_iterate_hash_of(w, x - mid, mid) == pass_iterate_hash_of(w, y - mid, mid))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/* The first doubled word: where it starts, and its half. False if there is none. */
static bool find_double(const struct word *w, size_t *start, size_t *half)
{
	size_t best = SIZE_MAX;

	for (size_t h = SHORTEST / 3; 2 * h <= w->count && 2 * h <= best; h++) {
		size_t left, right, p;

		if (!h || w->letter[h - 1] != w->letter[2 * h - 1])
			continue;
		left = agree_left(w, h, 2 * h, h);
		right = agree_right(w, h, 2 * h, w->count - 2 * h < h ? w->count - 2 * h : h);
		p = h - left;
		if (2 * h + p < SHORTEST)
			p = SHORTEST - 2 * h;
		/* of words that end together the one that starts first counts: the longest */
		if (p <= right && p < (2 * h + p) / 3 && 2 * h + p <= best) {
			best = 2 * h + p;
			*start = p;
			*half = h;
		}
	}
	return best != SIZE_MAX;
}

/* For each beginning of ref: the longest shorter one that it ends with. */
static size_t *borders(const uint32_t *ref, size_t n)
{
	size_t *border = ut_make((n + 1) * sizeof(*border)), k = 0;

	for (size_t i = 1; i < n; i++) {
		while (k && ref[i] != ref[k])
			k = border[k];
		k += ref[i] == ref[k];
		border[i + 1] = k;
	}
	return border;
}

static void add_start(struct ut_ace_iteration *it, double ts)
{
	it->starts = ut_grow(it->starts, it->start_count + 1, &it->start_cap, sizeof(*it->starts));
	it->starts[it->start_count++] = ts;
}

/* How many letters earlier the word could begin as well: the repetition goes back that far. */
static size_t earlier(const struct word *w, size_t start, size_t half)
{
	size_t n = 0;

	while (n < start && w->letter[start - n - 1] == w->letter[start - n - 1 + half])
		n++;
	return n;
}

/*
 * Counts the occurrences behind the doubled word. What was collected since the last one is known
 * by its length and by matched, the longest beginning of the word that it ends with.
 */
static void count_words(const struct word *w, size_t start, size_t half,
			struct ut_ace_iteration *it)
{
	const uint32_t *ref = w->letter + start;
	size_t *border = borders(ref, half), matched = 0, length = 0;
	size_t back = earlier(w, start, half);
	double last = w->ts[start + half];
	bool restarted = false;

	it->count = 1;
	it->mean = last - w->ts[start];
	add_start(it, w->ts[start - back]);
	add_start(it, w->ts[start + half - back]);
	for (size_t i = start + 2 * half; i < w->count; i++) {
		while (matched && (matched == half || w->letter[i] != ref[matched]))
			matched = border[matched];
		matched += w->letter[i] == ref[matched];
		length++;
		if (length > half) { /* disturbed: go on with what may be a new beginning */
			length = matched;
			restarted = true;
		}
		if (length == half && matched == half) {
			double from = w->ts[i + 1 - half];

			if (!restarted) {
				it->count++;
				it->mean += (from - last - it->mean) / (double)it->count;
			}
			add_start(it, w->ts[i + 1 - half - back]);
			restarted = false;
			last = from;
			length = matched = 0;
		}
	}
	if (matched + back) /* one that was not finished */
		add_start(it, w->ts[w->count - matched - back]);
	free(border);
}

static void detect(struct ut_ace_analysis *a, const uint32_t *kernels, size_t n)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_found *f = &a->found;
	uint32_t *letter = ut_make((n + 1) * sizeof(*letter));
	double *ts = ut_make((n + 1) * sizeof(*ts));
	struct ut_ace_iteration *it;
	struct word w = { .letter = letter, .ts = ts, .count = n };
	char text[UT_SHORTEST_ROOM];
	size_t start = 0, half = 0;

	for (size_t i = 0; i < n; i++) {
		const struct ut_ace_event *e = ut_ace_listed(t, kernels, n, i);

		letter[i] = e->name;
		ts[i] = e->ts;
	}
	f->iterations = ut_grow(f->iterations, f->iteration_count + 1, &f->iteration_cap,
				sizeof(*f->iterations));
	it = &f->iterations[f->iteration_count++];
	it->pid = ut_ace_num(t, t->events[kernels[0]].pid);
	hash_all(&w);
	if (find_double(&w, &start, &half))
		count_words(&w, start, half, it);
	ut_ace_say(&a->messages, UT_ACE_INFO,
		   "ITSTATS: [%" PRId64 "] avg_iteration_time=%s, iterations=%" PRIu64, it->pid,
		   ut_shortest(text, it->mean), it->count);
	free(w.hash);
	free(w.power);
	free(letter);
	free(ts);
}

/* Release 1.3 takes the kernels of torch traces, too, and such without stamps. */
static bool counts(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	if (a->opts.release >= UT_ACE_1_3)
		return e->ph == 'X' && ut_ace_is_kernel(a, e);
	return ut_ace_has_stamps(e) && ut_ace_flags_of(a, e) & UT_ACE_NAME(ANY_EXEC);
}

int ut_ace_pass_iterations(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t before = t->seq_count, groups, *ends;

	for (size_t i = 0; i < before; i++) {
		if (counts(a, ut_ace_at(t, i)))
			ut_ace_seq_add(t, t->seq[i]);
	}
	groups = ut_ace_order_group(t, before, t->seq_count, false, &ends);
	for (size_t g = 0, from = before; g < groups; from = ends[g++])
		detect(a, t->seq + from, ends[g] - from);
	free(ends);
	t->seq_count = before;
	return 0;
}
