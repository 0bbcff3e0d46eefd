#include "analyze/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

const char *const ut_by_words[UT_BY_COUNT] = {
#define BY_WORD(dim, word, title) word,
	UT_BY_LIST(BY_WORD)
#undef BY_WORD
};

const char *const ut_by_titles[UT_BY_COUNT] = {
#define BY_TITLE(dim, word, title) title,
	UT_BY_LIST(BY_TITLE)
#undef BY_TITLE
};

static int find_dimension(const char *word, size_t len)
{
	for (int i = 0; i < UT_BY_COUNT; i++) {
		if (strlen(ut_by_words[i]) == len && !strncmp(word, ut_by_words[i], len))
			return i;
	}
	if (len == 5 && !strncmp(word, "track", len))
		return UT_BY_TRACK;
	return len == 3 && !strncmp(word, "cat", len) ? UT_BY_CATEGORY : -1;
}

int ut_by_parse(const char *text, unsigned int *by, struct ut_err *err)
{
	*by = 0;
	for (;;) {
		size_t len = strcspn(text, ",");
		int dim = find_dimension(text, len);

		if (dim < 0)
			return ut_err_set(err, -EINVAL,
					  "'%.*s' is none of name, category, thread, process, rank",
					  (int)len, text);
		*by |= 1u << dim;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

void ut_stats_init(struct ut_stats *s, unsigned int by)
{
	*s = (struct ut_stats){ .by = by };
	ut_strtab_init(&s->strings, &s->arena);
	s->groups = ut_grow(NULL, 1, &s->group_cap, sizeof(*s->groups));
	s->counters = ut_grow(NULL, 1, &s->counter_cap, sizeof(*s->counters));
}

void ut_stats_release(struct ut_stats *s)
{
	for (size_t i = 0; s->groups && i <= s->group_count; i++)
		ut_dist_release(&s->groups[i].dist);
	free(s->groups);
	free(s->counters);
	ut_hashtab_release(&s->groups_by_key);
	ut_hashtab_release(&s->counters_by_key);
	ut_arena_release(&s->arena);
	*s = (struct ut_stats){ 0 };
}

/* ---- finding by key ------------------------------------------------------------------------ */

/* Groups and counters begin with their key. 0 = there is none. */
static uint32_t analyze_stats_find(const struct ut_hashtab *t, const void *items, size_t size,
				   uint32_t hash, const uint32_t key[UT_BY_COUNT])
{
	uint32_t at = hash, n;

	while ((n = ut_hashtab_next(t, hash, &at)) &&
	       memcmp((const char *)items + n * size, key, UT_BY_COUNT * sizeof(*key)) != 0)
		;
	return n;
}

static uint32_t analyze_stats_hash_of(const uint32_t key[UT_BY_COUNT])
{
	return (uint32_t)ut_hash_bytes(key, UT_BY_COUNT * sizeof(*key));
}

uint32_t ut_stats_group(struct ut_stats *s, const uint32_t key[UT_BY_COUNT])
{
	uint32_t hash = analyze_stats_hash_of(key);
	uint32_t n =
		analyze_stats_find(&s->groups_by_key, s->groups, sizeof(*s->groups), hash, key);

	if (n)
		return n;
	s->groups = ut_grow(s->groups, s->group_count + 2, &s->group_cap, sizeof(*s->groups));
	n = (uint32_t)++s->group_count;
	memcpy(s->groups[n].key, key, sizeof(s->groups->key));
	ut_hashtab_add(&s->groups_by_key, hash, n);
	return n;
}

uint32_t ut_stats_counter(struct ut_stats *s, const uint32_t key[UT_BY_COUNT])
{
	uint32_t hash = analyze_stats_hash_of(key);
	uint32_t n = analyze_stats_find(&s->counters_by_key, s->counters, sizeof(*s->counters),
					hash, key);

	if (n)
		return n;
	s->counters =
		ut_grow(s->counters, s->counter_count + 2, &s->counter_cap, sizeof(*s->counters));
	n = (uint32_t)++s->counter_count;
	memcpy(s->counters[n].key, key, sizeof(s->counters->key));
	ut_hashtab_add(&s->counters_by_key, hash, n);
	return n;
}

/* ---- merging ------------------------------------------------------------------------------- */

int ut_stats_compare(const struct ut_stats *s, const uint32_t a[UT_BY_COUNT],
		     const struct ut_stats *t, const uint32_t b[UT_BY_COUNT])
{
	int order = 0;

	for (int i = 0; !order && i < UT_BY_COUNT; i++)
		order = ut_str_cmp(ut_strtab_get(&s->strings, a[i]),
				   ut_strtab_get(&t->strings, b[i]));
	return order;
}

static uint32_t analyze_stats_own_string(struct ut_stats *s, const struct ut_stats *from,
					 uint32_t id)
{
	struct ut_str str = ut_strtab_get(&from->strings, id);

	return ut_strtab_intern(&s->strings, str.ptr, str.len);
}

static void own_key(struct ut_stats *s, const struct ut_stats *from, const uint32_t *key,
		    uint32_t ours[UT_BY_COUNT])
{
	for (int i = 0; i < UT_BY_COUNT; i++)
		ours[i] = analyze_stats_own_string(s, from, key[i]);
}

uint32_t ut_stats_same(struct ut_stats *s, const struct ut_stats *from,
		       const uint32_t key[UT_BY_COUNT])
{
	uint32_t ours[UT_BY_COUNT];

	own_key(s, from, key, ours);
	return ut_stats_group(s, ours);
}

static void merge_group(struct ut_stats_group *to, const struct ut_stats_group *from)
{
	to->instants += from->instants;
	to->unfinished += from->unfinished;
	to->aside += from->aside;
	to->self += from->self;
	to->nested += from->nested;
	ut_dist_merge(&to->dist, &from->dist);
}

void ut_stats_merge_counter(const struct ut_stats *s, struct ut_stats_counter *to,
			    const struct ut_stats_counter *from)
{
	bool any = to->values;

	if (!to->unit || (from->unit && ut_str_cmp(ut_strtab_get(&s->strings, from->unit),
						   ut_strtab_get(&s->strings, to->unit)) < 0))
		to->unit = from->unit;
	if (from->values) {
		to->min = any && to->min < from->min ? to->min : from->min;
		to->max = any && to->max > from->max ? to->max : from->max;
		if (!any || from->last_ts > to->last_ts ||
		    (from->last_ts == to->last_ts && from->last > to->last)) {
			to->last_ts = from->last_ts;
			to->last = from->last;
		}
	}
	to->count += from->count;
	to->bad += from->bad;
	to->values += from->values;
	to->weight += from->weight;
	ut_exact_merge(&to->sum, &from->sum);
}

void ut_stats_merge(struct ut_stats *to, const struct ut_stats *from)
{
	for (size_t i = 1; i <= from->group_count; i++) {
		uint32_t mine = ut_stats_same(to, from, from->groups[i].key); /* groups move */

		merge_group(&to->groups[mine], &from->groups[i]);
	}
	for (size_t i = 1; i <= from->counter_count; i++) {
		struct ut_stats_counter c = from->counters[i];
		uint32_t key[UT_BY_COUNT], mine;

		c.unit = analyze_stats_own_string(to, from, c.unit);
		own_key(to, from, c.key, key);
		mine = ut_stats_counter(to, key);
		ut_stats_merge_counter(to, &to->counters[mine], &c);
	}
	to->traces += from->traces;
	to->processes += from->processes;
	to->tracks += from->tracks;
	to->rows += from->rows;
}

ut_u128 ut_stats_busy(const struct ut_stats *s)
{
	ut_u128 sum = 0;

	for (size_t i = 1; i <= s->group_count; i++)
		sum += s->groups[i].self;
	return sum;
}

double ut_stats_share(ut_u128 self, ut_u128 busy)
{
	return busy ? 100.0 * (double)self / (double)busy : 0;
}

double ut_stats_counter_mean(const struct ut_stats_counter *c)
{
	if (!c->weight)
		return c->last;
	return (double)(ut_exact_value(&c->sum) / (long double)c->weight);
}

/* ---- order --------------------------------------------------------------------------------- */

struct ranked {
	const struct ut_stats_group *group;
	ut_u128 value;
};

static int compare_ranked(const void *a, const void *b, void *stats)
{
	const struct ranked *x = a, *y = b;
	int order = (x->value < y->value) - (x->value > y->value);

	return order ? order : ut_stats_compare(stats, x->group->key, stats, y->group->key);
}

static const struct ut_stats_group **sorted(struct ut_stats *s, struct ranked *ranked, size_t count)
{
	const struct ut_stats_group **list =
		UT_NEW_N(&s->arena, const struct ut_stats_group *, count + 1);

	qsort_r(ranked, count, sizeof(*ranked), compare_ranked, s);
	for (size_t i = 0; i < count; i++)
		list[i] = ranked[i].group;
	free(ranked);
	return list;
}

const struct ut_stats_group **ut_stats_order(struct ut_stats *s, enum ut_stats_sort sort,
					     size_t *count)
{
	struct ranked *ranked = ut_make((s->group_count + 1) * sizeof(*ranked));

	*count = 0;
	for (size_t i = 1; i <= s->group_count; i++) {
		struct ut_stats_group *g = &s->groups[i];

		if (!g->dist.count && !g->unfinished)
			continue;
		ut_dist_finalize(&g->dist);
		ranked[(*count)++] =
			(struct ranked){ g, sort == UT_SORT_TOTAL ? ut_stats_total(g) : 0 };
	}
	return sorted(s, ranked, *count);
}

const struct ut_stats_group **ut_stats_order_instants(struct ut_stats *s, size_t *count)
{
	struct ranked *ranked = ut_make((s->group_count + 1) * sizeof(*ranked));

	*count = 0;
	for (size_t i = 1; i <= s->group_count; i++) {
		if (s->groups[i].instants)
			ranked[(*count)++] =
				(struct ranked){ &s->groups[i], s->groups[i].instants };
	}
	return sorted(s, ranked, *count);
}

static int compare_counters(const void *a, const void *b, void *stats)
{
	const struct ut_stats_counter *const *x = a, *const *y = b;

	return ut_stats_compare(stats, (*x)->key, stats, (*y)->key);
}

const struct ut_stats_counter **ut_stats_order_counters(struct ut_stats *s, size_t *count)
{
	const struct ut_stats_counter **list =
		UT_NEW_N(&s->arena, const struct ut_stats_counter *, s->counter_count + 1);

	*count = s->counter_count;
	for (size_t i = 0; i < *count; i++)
		list[i] = &s->counters[i + 1];
	qsort_r(list, *count, sizeof(const struct ut_stats_counter *), compare_counters, s);
	return list;
}
