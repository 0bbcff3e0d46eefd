#include "analyze/diff.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/diff_test.h"
#include "base/grow.h"

#define P_SURE   0.001
#define P_LIKELY 0.05
/* With one run on each side: how often a call after is longer (or shorter) than one before. */
#define PAIRS_APART     0.60
#define PAIRS_FAR_APART 0.75

const char *const ut_metric_words[UT_DIFF_METRIC_COUNT_OF] = {
#define METRIC_WORD(metric, word) word,
	UT_DIFF_METRIC_LIST(METRIC_WORD)
#undef METRIC_WORD
};

const char *const ut_significance_words[UT_SIGNIFICANCES] = { "noise", "likely", "sure" };
const char *const ut_apart_words[UT_SIGNIFICANCES] = { "alike", "apart", "far apart" };

/* ---- sides --------------------------------------------------------------------------------- */

void ut_diff_side_init(struct ut_diff_side *s, unsigned int by)
{
	*s = (struct ut_diff_side){ 0 };
	ut_stats_init(&s->stats, by);
}

void ut_diff_side_release(struct ut_diff_side *s)
{
	for (size_t i = 0; i < s->run_count; i++)
		free(s->runs[i].items);
	free(s->runs);
	ut_stats_release(&s->stats);
	*s = (struct ut_diff_side){ 0 };
}

void ut_diff_side_add(struct ut_diff_side *s, const struct ut_stats *run)
{
	struct ut_diff_runs *mine;

	ut_stats_merge(&s->stats, run);
	s->runs = ut_grow(s->runs, s->run_count + 1, &s->run_cap, sizeof(*s->runs));
	mine = &s->runs[s->run_count++];
	mine->count = s->stats.group_count + 1;
	mine->items = ut_make(mine->count * sizeof(*mine->items));
	for (size_t i = 1; i <= run->group_count; i++) {
		uint32_t group = ut_stats_same(&s->stats, run, run->groups[i].key);
		const struct ut_dist *d = &run->groups[i].dist;

		mine->items[group] = (struct ut_diff_run){ d->count, (double)d->total };
	}
}

/* The mean duration in each run that has the group; how many that are. */
static size_t run_means(const struct ut_diff_side *s, const struct ut_stats_group *g, double *out)
{
	size_t group = (size_t)(g - s->stats.groups), n = 0;

	for (size_t i = 0; i < s->run_count; i++) {
		const struct ut_diff_runs *r = &s->runs[i];

		if (group < r->count && r->items[group].count)
			out[n++] = r->items[group].total / (double)r->items[group].count;
	}
	return n;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void fill_values(double *v, const struct ut_stats_group *g, size_t runs)
{
	double n = runs ? (double)runs : 1;

	if (!g)
		return;
	v[UT_DIFF_METRIC_COUNT] = (double)g->dist.count / n;
	v[UT_DIFF_METRIC_TOTAL] = (double)ut_stats_total(g) / n;
	v[UT_DIFF_METRIC_SELF] = (double)g->self / n;
	v[UT_DIFF_METRIC_MEAN] = (double)g->dist.total / (double)g->dist.count;
	v[UT_DIFF_METRIC_MIN] = (double)g->dist.min;
	v[UT_DIFF_METRIC_P50] = (double)ut_dist_quantile(&g->dist, 500);
	v[UT_DIFF_METRIC_P90] = (double)ut_dist_quantile(&g->dist, 900);
	v[UT_DIFF_METRIC_P99] = (double)ut_dist_quantile(&g->dist, 990);
	v[UT_DIFF_METRIC_MAX] = (double)g->dist.max;
}

static void test_row(const struct ut_diff *d, struct ut_diff_row *r, double *scratch)
{
	size_t n, m;

	r->p = -1;
	if (!r->before || !r->after)
		return;
	r->p = ut_test_ranks(&r->before->dist, &r->after->dist, &r->above);
	if (!d->by_runs)
		return;
	n = run_means(d->before, r->before, scratch);
	m = run_means(d->after, r->after, scratch + n);
	r->p = ut_test_welch(scratch, n, scratch + n, m);
}

static enum ut_significance analyze_diff_evaluate(const struct ut_diff *d,
						  const struct ut_diff_row *r)
{
	double pairs = r->above > 0.5 ? r->above : 1 - r->above;

	if (r->p < 0)
		return UT_SIGNIFICANCE_SURE; /* there or not: nothing to be unsure about */
	if (r->p >= P_LIKELY)
		return UT_SIGNIFICANCE_NOISE;
	if (!d->by_runs)
		return pairs >= PAIRS_FAR_APART ? UT_SIGNIFICANCE_SURE
		       : pairs >= PAIRS_APART   ? UT_SIGNIFICANCE_LIKELY
						: UT_SIGNIFICANCE_NOISE;
	return r->p < P_SURE ? UT_SIGNIFICANCE_SURE : UT_SIGNIFICANCE_LIKELY;
}

static bool are_few(const struct ut_diff *d, const struct ut_diff_row *r)
{
	double pairs = r->above > 0.5 ? r->above : 1 - r->above;

	return !d->by_runs && r->p >= P_LIKELY && pairs >= PAIRS_FAR_APART;
}

static void test_rows(struct ut_diff *d)
{
	double *scratch = ut_make((d->before->run_count + d->after->run_count) * sizeof(double));
	double *p = ut_make((d->count + 1) * sizeof(*p));

	for (size_t i = 0; i < d->count; i++) {
		test_row(d, &d->rows[i], scratch);
		p[i] = d->rows[i].p;
	}
	ut_test_adjust(p, d->count);
	for (size_t i = 0; i < d->count; i++) {
		d->rows[i].p = p[i];
		d->rows[i].significance = analyze_diff_evaluate(d, &d->rows[i]);
		d->rows[i].few = are_few(d, &d->rows[i]);
	}
	free(scratch);
	free(p);
}

const struct ut_stats *ut_diff_texts(const struct ut_diff *d, const struct ut_diff_row *r,
				     const uint32_t **key)
{
	*key = r->before ? r->before->key : r->after->key;
	return r->before ? &d->before->stats : &d->after->stats;
}

static int compare_texts(const struct ut_diff *d, const struct ut_diff_row *a,
			 const struct ut_diff_row *b)
{
	const uint32_t *x, *y;
	const struct ut_stats *s = ut_diff_texts(d, a, &x), *t = ut_diff_texts(d, b, &y);

	return ut_stats_compare(s, x, t, y);
}

static int analyze_diff_compare_rows(const void *a, const void *b, void *diff)
{
	const struct ut_diff_row *x = a, *y = b;
	double dx = fabs(x->new[UT_DIFF_METRIC_TOTAL] - x->old[UT_DIFF_METRIC_TOTAL]);
	double dy = fabs(y->new[UT_DIFF_METRIC_TOTAL] - y->old[UT_DIFF_METRIC_TOTAL]);

	return dx != dy ? (dx < dy) - (dx > dy) : compare_texts(diff, x, y);
}

static void analyze_diff_add_row(struct ut_diff *d, const struct ut_stats_group *before,
				 const struct ut_stats_group *after, uint64_t min_count)
{
	struct ut_diff_row *r = &d->rows[d->count];

	before = before && before->dist.count ? before : NULL;
	after = after && after->dist.count ? after : NULL;
	if ((!before || before->dist.count < min_count) &&
	    (!after || after->dist.count < min_count))
		return;
	if (!before && !after)
		return;
	*r = (struct ut_diff_row){ .before = before, .after = after, .above = 0.5 };
	fill_values(r->old, before, d->before->run_count);
	fill_values(r->new, after, d->after->run_count);
	d->count++;
}

static void analyze_diff_finalize(struct ut_stats *s)
{
	for (size_t i = 1; i <= s->group_count; i++)
		ut_dist_finalize(&s->groups[i].dist);
}

void ut_diff_make(struct ut_diff *d, struct ut_diff_side *before, struct ut_diff_side *after,
		  uint64_t min_count)
{
	struct ut_stats *a = &before->stats, *b = &after->stats;
	size_t most;

	/* the same groups on both sides, though some are empty */
	for (size_t i = 1; i <= b->group_count; i++)
		ut_stats_same(a, b, b->groups[i].key);
	for (size_t i = 1; i <= a->group_count; i++)
		ut_stats_same(b, a, a->groups[i].key);
	analyze_diff_finalize(a);
	analyze_diff_finalize(b);
	most = a->group_count + 1;
	*d = (struct ut_diff){ .before = before, .after = after };
	d->rows = ut_make(most * sizeof(*d->rows));
	d->by_runs = before->run_count > 1 || after->run_count > 1;
	for (size_t i = 1; i <= a->group_count; i++) {
		uint32_t other = ut_stats_same(b, a, a->groups[i].key);

		analyze_diff_add_row(d, &a->groups[i], &b->groups[other], min_count);
	}
	test_rows(d);
	qsort_r(d->rows, d->count, sizeof(*d->rows), analyze_diff_compare_rows, d);
}

void ut_diff_release(struct ut_diff *d)
{
	free(d->rows);
	*d = (struct ut_diff){ 0 };
}
