/*
 * report_json.c - the summary for machines: ranks, steps and kernels, and the frame around all.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/analysis_report.h"
#include "base/grow.h"
#include "text/out.h"

/* diff reads these words. */
static const char *const sources[] = { "run", "iterations", "profiler" };

void ut_ace_report_us(struct ut_out *o, const char *key, int64_t ns)
{
	ut_out_fmt(o, ",\"%s\":%s", key, ns < 0 ? "-" : "");
	ut_out_us(o, ns < 0 ? (uint64_t)-ns : (uint64_t)ns);
}

void ut_ace_report_num(struct ut_out *o, const char *key, double value)
{
	ut_out_fmt(o, ",\"%s\":", key);
	if (isfinite(value))
		ut_out_json_double(o, value);
	else
		ut_out_text(o, "null");
}

void ut_ace_report_name(struct ut_out *o, const struct ut_ace_report *r, uint32_t name)
{
	struct ut_str s = ut_ace_str(&r->a->table, name);

	ut_out_json_str(o, s.ptr, s.len);
}

static double report_json_share(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : NAN;
}

/* Thousandths of a percent are enough for everybody. */
static double rounded(double v)
{
	return round(v * 1000) / 1000;
}

static void put_split(struct ut_out *o, const struct ut_ace_split *s)
{
	int64_t comm = s->whole[UT_ACE_WORK_COMM], open = s->part[UT_ACE_WORK_COMM];

	ut_ace_report_us(o, "length_us", s->length);
	ut_ace_report_us(o, "busy_us", s->length - s->part[UT_ACE_IDLE]);
	ut_ace_report_us(o, "compute_us", s->part[UT_ACE_WORK_COMPUTE]);
	ut_ace_report_us(o, "communication_us", comm);
	ut_ace_report_us(o, "communication_exposed_us", open);
	ut_ace_report_us(o, "communication_hidden_us", comm - open);
	ut_ace_report_num(o, "overlap_percent",
			  rounded(report_json_share((double)(comm - open), (double)comm)));
	ut_ace_report_us(o, "transfer_us", s->whole[UT_ACE_WORK_TRANSFER]);
	ut_ace_report_us(o, "transfer_exposed_us", s->part[UT_ACE_WORK_TRANSFER]);
	ut_ace_report_us(o, "prep_us", s->whole[UT_ACE_WORK_PREP]);
	ut_ace_report_us(o, "prep_exposed_us", s->part[UT_ACE_WORK_PREP]);
	ut_ace_report_us(o, "idle_us", s->part[UT_ACE_IDLE]);
}

void ut_ace_add_split(struct ut_ace_split *a, const struct ut_ace_split *b)
{
	a->length += b->length;
	for (int i = 0; i < UT_ACE_PARTS; i++)
		a->part[i] += b->part[i];
	for (int i = 0; i < UT_ACE_WORKS; i++)
		a->whole[i] += b->whole[i];
}

static void put_late(struct ut_out *o, const char *key, const struct ut_ace_late *l)
{
	ut_out_fmt(o, ",\"%s\":{\"seen\":%" PRIu64 ",\"last\":%" PRIu64, key, l->seen, l->last);
	ut_ace_report_num(o, "mean_late_us",
			  l->last ? rounded(l->total / (double)l->last / 1000) : 0);
	ut_ace_report_us(o, "max_late_us", l->most);
	ut_ace_report_num(o, "total_late_us", rounded(l->total / 1000));
	ut_out_text(o, "}");
}

static int report_json_by_value(const void *p, const void *q)
{
	int64_t a = *(const int64_t *)p, b = *(const int64_t *)q;

	return (a > b) - (a < b);
}

struct ut_ace_step_times ut_ace_step_times(const struct ut_ace_extra_rank *k)
{
	int64_t *v = ut_make((k->step_count + 1) * sizeof(*v));
	struct ut_ace_step_times t;
	double sum = 0;
	size_t n = k->step_count;

	for (size_t i = 0; i < n; i++) {
		v[i] = k->steps[i].split.length;
		sum += (double)v[i];
	}
	qsort(v, n, sizeof(*v), report_json_by_value);
	t = (struct ut_ace_step_times){ sum / (double)n, v[n / 2], v[0], v[n ? n - 1 : 0] };
	free(v);
	return t;
}

static void put_step_times(struct ut_out *o, const struct ut_ace_extra_rank *k)
{
	struct ut_ace_step_times t;

	ut_out_fmt(o, ",\"step_source\":\"%s\",\"step_count\":%zu", sources[k->source],
		   k->step_count);
	if (!k->step_count)
		return;
	t = ut_ace_step_times(k);
	ut_ace_report_num(o, "step_mean_us", rounded(t.mean / 1000));
	ut_ace_report_us(o, "step_median_us", t.median);
	ut_ace_report_us(o, "step_min_us", t.min);
	ut_ace_report_us(o, "step_max_us", t.max);
}

static void put_rank(struct ut_out *o, const struct ut_ace_extra_rank *k)
{
	ut_out_fmt(o, "{\"rank\":%" PRId64, k->rank);
	ut_ace_report_us(o, "begin_us", k->begin);
	put_split(o, &k->all);
	put_step_times(o, k);
	ut_ace_report_num(o, "energy_j", k->sample_count ? k->energy : NAN);
	ut_ace_report_num(o, "energy_compute_j", k->sample_count ? k->active : NAN);
	put_late(o, "late_in_collectives", &k->coll);
	put_late(o, "late_in_steps", &k->step);
	ut_ace_report_us(o, "step_excess_us", k->step_excess);
	ut_out_fmt(o, ",\"straggler\":%s}", k->straggler ? "true" : "false");
}

struct ut_ace_bar ut_ace_step_bar(const struct ut_ace_extra_rank *k, size_t first, size_t most)
{
	size_t per = (k->step_count + most - 1) / most, left = k->step_count - first;
	struct ut_ace_bar b = { .first = first, .count = left < per ? left : per };

	for (size_t i = first; i < first + b.count; i++) {
		ut_ace_add_split(&b.sum, &k->steps[i].split);
		b.energy += k->steps[i].energy;
	}
	return b;
}

static void put_bars(struct ut_out *o, const struct ut_ace_extra_rank *k, bool *more)
{
	struct ut_ace_bar b;

	for (size_t i = 0; i < k->step_count; i += b.count) {
		b = ut_ace_step_bar(k, i, UT_ACE_STEP_BARS);
		ut_out_fmt(o, "%s\n{\"rank\":%" PRId64 ",\"first\":%zu,\"count\":%zu",
			   *more ? "," : "", k->rank, i, b.count);
		ut_ace_report_us(o, "begin_us", k->steps[i].begin);
		put_split(o, &b.sum);
		ut_ace_report_num(o, "energy_j", k->sample_count ? b.energy : NAN);
		ut_out_text(o, "}");
		*more = true;
	}
}

static void put_steps(struct ut_out *o, const struct ut_ace_extra *x)
{
	bool more = false;

	ut_out_text(o, "\"steps\":[");
	for (size_t i = 0; i < x->rank_count; i++)
		put_bars(o, &x->ranks[i], &more);
	ut_out_text(o, "]");
}

static void report_json_put_kernel(struct ut_out *o, const struct ut_ace_report *r,
				   const struct ut_ace_kernel *k, double total)
{
	const struct ut_ace_extra_rank *rank = &r->x->ranks[k->rank];
	bool power = rank->sample_count;
	double n = (double)k->calls;

	ut_out_text(o, "{\"name\":");
	ut_ace_report_name(o, r, k->name);
	ut_out_fmt(o, ",\"rank\":%" PRId64 ",\"kind\":\"%s\",\"calls\":%" PRIu64, rank->rank,
		   k->comm ? "communication" : "compute", k->calls);
	ut_ace_report_num(o, "total_us", k->total);
	ut_ace_report_num(o, "share_percent", rounded(report_json_share(k->total, total)));
	ut_ace_report_num(o, "mean_us", k->mean);
	ut_ace_report_num(o, "median_us", k->median < 0 ? NAN : k->median);
	ut_ace_report_num(o, "min_us", k->min);
	ut_ace_report_num(o, "max_us", k->max);
	ut_ace_report_num(o, "stdev_us", n > 1 ? sqrt(fmax(0, k->square) / (n - 1)) : 0);
	ut_ace_report_num(o, "energy_j", power ? k->energy : NAN);
	ut_ace_report_num(o, "energy_percent",
			  power ? rounded(report_json_share(k->energy, rank->energy)) : NAN);
	ut_ace_report_num(o, "power_w", power && k->total > 0 ? k->energy / k->total * 1e6 : NAN);
	ut_out_text(o, "}");
}

double *ut_ace_kernel_totals(const struct ut_ace_extra *x)
{
	double *totals = ut_make((x->rank_count + 1) * sizeof(*totals));

	for (size_t i = 0; i < x->kernel_count; i++)
		totals[x->kernels[i].rank] += x->kernels[i].total;
	return totals;
}

static void report_json_put_kernels(struct ut_out *o, const struct ut_ace_report *r)
{
	const struct ut_ace_extra *x = r->x;
	double *totals = ut_ace_kernel_totals(x);

	ut_out_fmt(o, "\"kernel_count\":%zu,\"kernels\":[", x->kernel_count);
	for (size_t i = 0; i < x->kernel_count; i++) {
		const struct ut_ace_kernel *k = &x->kernels[i];

		ut_out_text(o, i ? ",\n" : "\n");
		report_json_put_kernel(o, r, k, totals[k->rank]);
	}
	ut_out_text(o, "]");
	free(totals);
}

/* All ranks together. */
static void put_totals(struct ut_out *o, const struct ut_ace_report *r)
{
	const struct ut_ace_extra *x = r->x;
	struct ut_ace_split sum = { 0 };
	double energy = 0;
	int64_t longest = 0;

	for (size_t i = 0; i < x->rank_count; i++) {
		const struct ut_ace_extra_rank *k = &x->ranks[i];

		ut_ace_add_split(&sum, &k->all);
		energy += k->energy;
		longest = k->all.length > longest ? k->all.length : longest;
	}
	ut_out_fmt(o, "\"totals\":{\"ranks\":%zu,\"collectives\":%zu", x->rank_count,
		   x->coll_count);
	put_split(o, &sum);
	ut_ace_report_us(o, "longest_rank_us", longest);
	ut_ace_report_num(o, "energy_j", x->has_power ? energy : NAN);
	ut_out_text(o, "}");
}

void ut_ace_report_json(struct ut_out *o, const struct ut_ace_report *r)
{
	const struct ut_ace_extra *x = r->x;

	ut_out_text(o, "{\"schema\":\"unitrace.analyze/1\",\"title\":");
	ut_out_json_str(o, r->title, strlen(r->title));
	ut_out_fmt(o, ",\"source\":%s,\n", r->source);
	ut_out_text(o, "\"zero_us\":");
	ut_out_json_double(o, x->zero);
	ut_out_text(o, ",\n");
	put_totals(o, r);
	ut_out_text(o, ",\n\"ranks\":[");
	for (size_t i = 0; i < x->rank_count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		put_rank(o, &x->ranks[i]);
	}
	ut_out_text(o, "],\n");
	put_steps(o, x);
	ut_out_text(o, ",\n");
	report_json_put_kernels(o, r);
	ut_out_text(o, ",\n");
	ut_ace_report_colls(o, r);
	ut_out_text(o, ",\n");
	ut_ace_report_power(o, r);
	ut_out_text(o, ",\n");
	ut_ace_report_verify(o, r);
	ut_out_text(o, "}\n");
}
