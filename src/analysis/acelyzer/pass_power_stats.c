/*
 * pass_power_stats.c - --power-stats: power while kernels ran and while none did, weighted by
 * time. Each rank by itself; the figures are those of all ranks together.
 */
#include <stdlib.h>

#include "acelyzer/order.h"
#include "acelyzer/stage.h"
#include "base/grow.h"

/* A stretch of time: of a kernel, or of one power. */
struct period {
	double from, to, watts;
};

struct periods {
	struct period *items;
	size_t count, cap;
};

static void pass_power_stats_add(struct periods *p, double from, double to, double watts)
{
	if (to <= from)
		return;
	p->items = ut_grow(p->items, p->count + 1, &p->cap, sizeof(*p->items));
	p->items[p->count++] = (struct period){ from, to, watts };
}

static int pass_power_stats_by_start(const void *x, const void *y)
{
	const struct period *a = x, *b = y;

	return (a->from > b->from) - (a->from < b->from);
}

static int by_watts(const void *x, const void *y)
{
	const struct period *a = x, *b = y;

	return (a->watts > b->watts) - (a->watts < b->watts);
}

static void sort(struct periods *p, int (*by)(const void *, const void *))
{
	if (p->count)
		qsort(p->items, p->count, sizeof(*p->items), by);
}

/* Kernels that overlap become one. */
static void pass_power_stats_merge(struct periods *p)
{
	size_t kept = 0;

	sort(p, pass_power_stats_by_start);
	for (size_t i = 0; i < p->count; i++) {
		if (kept && p->items[i].from <= p->items[kept - 1].to) {
			if (p->items[i].to > p->items[kept - 1].to)
				p->items[kept - 1].to = p->items[i].to;
		} else {
			p->items[kept++] = p->items[i];
		}
	}
	p->count = kept;
}

/* Of one rank: events[0..n). */
static void pass_power_stats_collect(struct ut_ace_analysis *a, const uint32_t *events, size_t n,
				     struct periods *power, struct periods *kernels)
{
	struct ut_ace_table *t = &a->table;
	double ts = 0, watts = 0;
	bool any = false;
	struct ut_arg arg;

	for (size_t i = 0; i < n; i++) {
		const struct ut_ace_event *e = &t->events[events[i]];

		if (e->ts == 0)
			continue;
		if (e->ph == 'X' && ut_ace_flags_of(a, e) & UT_ACE_NAME(ANY_EXEC)) {
			pass_power_stats_add(kernels, e->ts, ut_ace_end(e), 0);
		} else if (e->ph == 'C' && e->name == UT_ACE_K_POWER &&
			   ut_ace_arg(t, e->args, UT_ACE_K_WATTS, &arg)) {
			if (any)
				pass_power_stats_add(power, ts, e->ts, watts);
			any = true;
			ts = e->ts;
			watts = arg.value.f64;
		}
	}
}

/* Cuts the periods at the kernels' begins and ends. Both are sorted by time. */
static void pass_power_stats_split(const struct periods *power, const struct periods *kernels,
				   struct periods *with, struct periods *without)
{
	size_t first = 0;

	for (size_t i = 0; i < power->count; i++) {
		struct period p = power->items[i];

		while (first < kernels->count && kernels->items[first].to <= p.from)
			first++;
		for (size_t k = first; k < kernels->count && kernels->items[k].from < p.to; k++) {
			const struct period *q = &kernels->items[k];
			double from = q->from > p.from ? q->from : p.from;
			double to = q->to < p.to ? q->to : p.to;

			pass_power_stats_add(without, p.from, from, p.watts);
			pass_power_stats_add(with, from, to, p.watts);
			p.from = to > p.from ? to : p.from;
		}
		pass_power_stats_add(without, p.from, p.to, p.watts);
	}
}

static void pass_power_stats_say(struct ut_ace_analysis *a, const char *what, struct periods *p)
{
	double time = 0, energy = 0, busy = 0, sum = 0, median = 0, least = 0;

	sort(p, by_watts);
	for (size_t i = 0; i < p->count; i++) {
		double dur = p->items[i].to - p->items[i].from;

		time += dur;
		energy += dur * p->items[i].watts;
		busy += p->items[i].watts > 0 ? dur : 0;
	}
	for (size_t i = 0; i < p->count; i++) {
		if (p->items[i].watts <= 0)
			continue;
		least = least > 0 ? least : p->items[i].watts;
		sum += p->items[i].to - p->items[i].from;
		if (sum >= busy / 2) {
			median = p->items[i].watts;
			break;
		}
	}
	if (!p->count)
		ut_ace_say(&a->messages, UT_ACE_INFO, "%s: No data", what);
	else
		ut_ace_say(
			&a->messages, UT_ACE_INFO,
			"%s: min_non_zero=%.2fW, max=%.2fW, mean_non_zero=%.2fW, "
			"median_non_zero=%.2fW, avg_total=%.2fW (time-weighted, dur_total=%.2fus, "
			"dur_non_zero=%.2fus)",
			what, least, p->items[p->count - 1].watts, busy > 0 ? energy / busy : 0,
			median, time > 0 ? energy / time : 0, time, busy);
}

static bool pass_power_stats_add_rank(struct ut_ace_analysis *a, const uint32_t *events, size_t n,
				      struct periods *with, struct periods *without)
{
	struct periods power = { 0 }, kernels = { 0 };
	bool any;

	pass_power_stats_collect(a, events, n, &power, &kernels);
	pass_power_stats_merge(&kernels);
	sort(&power, pass_power_stats_by_start);
	pass_power_stats_split(&power, &kernels, with, without);
	any = power.count > 0;
	free(power.items);
	free(kernels.items);
	return any;
}

int ut_ace_pass_power_stats(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct periods with = { 0 }, without = { 0 };
	size_t before = t->seq_count, groups, *ends;
	bool any = false;

	for (size_t i = 0; i < before; i++)
		ut_ace_seq_add(t, t->seq[i]);
	groups = ut_ace_order_group(t, before, t->seq_count, false, &ends);
	for (size_t g = 0, from = before; g < groups; from = ends[g++])
		any |= pass_power_stats_add_rank(a, t->seq + from, ends[g] - from, &with, &without);
	t->seq_count = before;
	if (any) {
		pass_power_stats_say(a, "Power with kernels", &with);
		pass_power_stats_say(a, "Power without kernels", &without);
	} else {
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "Insufficient power data (need at least 2 samples) for statistics");
	}
	free(ends);
	free(with.items);
	free(without.items);
	return 0;
}
