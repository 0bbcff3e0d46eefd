/*
 * diff_summary.c - what has changed between two summaries, as tables or JSON, and which rules it
 * breaks. A summary has figures, not samples of them, so there is no verdict: every change counts.
 */
#include "acelyzer/diff_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/summary_compare.h"
#include "analyze/diff_rule.h"
#include "base/grow.h"
#include "text/cells.h"
#include "text/grid.h"
#include "text/out.h"

#define NAME_COLUMNS 48
#define CELL         64

static const char *const units[] = { "us", "%", "J", "W", "" };

/* Two sides and what they have in common. */
struct both {
	struct ut_ace_summary sides[2];
	struct ut_ace_pair *pairs;
	size_t count;
};

struct failure {
	const struct ut_diff_rule *rule;
	const struct ut_ace_pair *pair;
};

struct failures {
	struct failure *items;
	size_t count, cap;
};

static const struct ut_ace_row *some_row(const struct ut_ace_pair *p)
{
	return p->after ? p->after : p->before;
}

static double value_of(const struct ut_ace_row *r, enum ut_ace_figure f)
{
	return r ? r->value[f] : NAN;
}

/* ---- rules --------------------------------------------------------------------------------- */

void ut_diff_summary_metrics(struct ut_diff_rules *rules)
{
	static struct ut_rule_metric metrics[UT_ACE_FIGURES];

	for (int i = 0; i < UT_ACE_FIGURES; i++)
		metrics[i] = (struct ut_rule_metric){ ut_ace_figures[i].word,
						      ut_ace_figures[i].unit == UT_ACE_US };
	rules->metrics = metrics;
	rules->metric_count = UT_ACE_FIGURES;
}

/* A kernel that is on one side only has changed its sums from or to 0. */
static bool adds_up(enum ut_ace_figure f)
{
	return f == UT_ACE_FIGURE_COUNT || f == UT_ACE_FIGURE_TOTAL || f == UT_ACE_FIGURE_ENERGY;
}

static bool is_met(const struct ut_diff_rule *rule, const struct ut_ace_pair *p)
{
	enum ut_ace_figure f = (enum ut_ace_figure)rule->metric;
	double old = value_of(p->before, f), new = value_of(p->after, f);
	double scale = ut_ace_figures[f].unit == UT_ACE_US ? 1000 : 1; /* rules are in ns */

	if (!ut_diff_rule_names(rule, some_row(p)->name))
		return false;
	if (rule->type != UT_RULE_CHANGE)
		return rule->type == UT_RULE_NEW ? !p->before : !p->after;
	if (!p->before && adds_up(f))
		old = 0;
	if (!p->after && adds_up(f))
		new = 0;
	return isfinite(old) && isfinite(new) && ut_diff_rule_holds(rule, old * scale, new *scale);
}

static void check(const struct ut_diff_rules *rules, const struct both *b, struct failures *list)
{
	for (size_t i = 0; i < rules->count; i++) {
		for (size_t k = 0; k < b->count; k++) {
			if (!is_met(&rules->items[i], &b->pairs[k]))
				continue;
			list->items = ut_grow(list->items, list->count + 1, &list->cap,
					      sizeof(*list->items));
			list->items[list->count++] =
				(struct failure){ &rules->items[i], &b->pairs[k] };
		}
	}
}

/* ---- text ---------------------------------------------------------------------------------- */

static const char *cell(char buf[CELL], enum ut_ace_figure f, double v)
{
	char time[UT_CELL_TIME];
	double ns = fabs(v) * 1000;

	if (!isfinite(v))
		snprintf(buf, CELL, "-");
	else if (ut_ace_figures[f].unit == UT_ACE_US)
		snprintf(buf, CELL, "%s%s", v < 0 ? "-" : "",
			 ut_cell_time(time, ns < 1.8e19 ? (uint64_t)(ns + 0.5) : UINT64_MAX));
	else if (ut_ace_figures[f].unit == UT_ACE_PERCENT)
		snprintf(buf, CELL, "%.1f %%", v);
	else if (ut_ace_figures[f].unit == UT_ACE_NUMBER)
		snprintf(buf, CELL, "%.10g", v);
	else
		snprintf(buf, CELL, "%.4g %s", v, units[ut_ace_figures[f].unit]);
	return buf;
}

static void add_cell(struct ut_grid *g, enum ut_ace_figure f, double v)
{
	char buf[CELL];

	ut_grid_text(g, cell(buf, f, v));
}

static void add_change(struct ut_grid *g, enum ut_ace_figure f, double change)
{
	char buf[CELL];

	ut_grid_fmt(g, "%s%s", change > 0 ? "+" : "", cell(buf, f, change));
}

static void add_percent(struct ut_grid *g, double old, double new)
{
	if (!isfinite(old) || !isfinite(new))
		ut_grid_text(g, "-");
	else if (old == 0)
		ut_grid_text(g, new > 0 ? "+inf" : "0.0%");
	else
		ut_grid_fmt(g, "%+.1f%%", 100 * (new - old) / old);
}

static size_t kernels_from(const struct both *b)
{
	size_t i = 0;

	while (i < b->count && some_row(&b->pairs[i])->kind != UT_ACE_ROW_KERNEL)
		i++;
	return i;
}

/* Run and ranks: a line for each figure that one of the sides has. */
static void put_figures(struct ut_out *o, const struct both *b, size_t end)
{
	struct ut_grid g = { 0 };

	ut_grid_column(&g, "Of", UT_GRID_LEFT);
	ut_grid_column(&g, "Figure", UT_GRID_LEFT);
	ut_grid_column(&g, "Before", UT_GRID_RIGHT);
	ut_grid_column(&g, "After", UT_GRID_RIGHT);
	ut_grid_column(&g, "Change", UT_GRID_RIGHT);
	ut_grid_column(&g, "Percent", UT_GRID_RIGHT);
	for (size_t i = 0; i < end; i++) {
		const struct ut_ace_pair *p = &b->pairs[i];

		for (int k = 0; k < UT_ACE_FIGURES; k++) {
			enum ut_ace_figure f = (enum ut_ace_figure)k;
			double old = value_of(p->before, f), new = value_of(p->after, f);

			if (!isfinite(old) && !isfinite(new))
				continue;
			ut_grid_text(&g, some_row(p)->name);
			ut_grid_text(&g, ut_ace_figures[f].word);
			add_cell(&g, f, old);
			add_cell(&g, f, new);
			add_change(&g, f, new - old);
			add_percent(&g, old, new);
		}
	}
	ut_grid_print(&g, o);
	ut_grid_release(&g);
}

static void add_kernel(struct ut_grid *g, const struct ut_ace_pair *p, bool by_rank)
{
	static const enum ut_ace_figure shown[] = { UT_ACE_FIGURE_MEAN, UT_ACE_FIGURE_ENERGY,
						    UT_ACE_FIGURE_POWER };
	const struct ut_ace_row *r = some_row(p);
	double old = value_of(p->before, UT_ACE_FIGURE_TOTAL);
	double new = value_of(p->after, UT_ACE_FIGURE_TOTAL);

	ut_grid_name(g, r->name, strlen(r->name), NAME_COLUMNS);
	if (by_rank)
		ut_grid_fmt(g, "%" PRId64, r->rank);
	add_cell(g, UT_ACE_FIGURE_COUNT, value_of(p->before, UT_ACE_FIGURE_COUNT));
	add_cell(g, UT_ACE_FIGURE_COUNT, value_of(p->after, UT_ACE_FIGURE_COUNT));
	add_cell(g, UT_ACE_FIGURE_TOTAL, old);
	add_cell(g, UT_ACE_FIGURE_TOTAL, new);
	if (p->before && p->after)
		add_change(g, UT_ACE_FIGURE_TOTAL, new - old);
	else
		ut_grid_text(g, p->after ? "new" : "vanished");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		add_percent(g, value_of(p->before, shown[i]), value_of(p->after, shown[i]));
	add_cell(g, UT_ACE_FIGURE_POWER, value_of(p->before, UT_ACE_FIGURE_POWER));
	add_cell(g, UT_ACE_FIGURE_POWER, value_of(p->after, UT_ACE_FIGURE_POWER));
}

static void put_kernels(struct ut_out *o, const struct both *b, const struct ut_diff_summary *d)
{
	static const char *const titles[] = { "Count", "After",  "Total", "After", "Change",
					      "Mean",  "Energy", "Power", "Watts", "After" };
	size_t from = kernels_from(b), left = b->count - from;
	size_t rows = d->rows && d->rows < left ? d->rows : left;
	struct ut_grid g = { 0 };

	if (!left)
		return;
	ut_grid_column(&g, "Kernel", UT_GRID_LEFT);
	if (d->by_rank)
		ut_grid_column(&g, "Rank", UT_GRID_RIGHT);
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		ut_grid_column(&g, titles[i], UT_GRID_RIGHT);
	for (size_t i = 0; i < rows; i++)
		add_kernel(&g, &b->pairs[from + i], d->by_rank);
	ut_out_text(o, "\n");
	ut_grid_print(&g, o);
	ut_grid_release(&g);
	if (rows < left)
		ut_out_fmt(o, "... and %zu more; --rows 0 shows them\n", left - rows);
}

static void put_failure(struct ut_out *o, const struct failure *f, bool by_rank)
{
	enum ut_ace_figure k = (enum ut_ace_figure)f->rule->metric;
	const struct ut_ace_row *r = some_row(f->pair);
	char old[CELL], new[CELL];
	struct ut_buf name = { 0 };

	ut_cell_name(&name, r->name, strlen(r->name), NAME_COLUMNS * 2);
	ut_out_fmt(o, "FAILED %s: %s", f->rule->text, name.data);
	if (by_rank && r->kind == UT_ACE_ROW_KERNEL)
		ut_out_fmt(o, ", rank %" PRId64, r->rank);
	if (f->rule->type == UT_RULE_CHANGE)
		ut_out_fmt(o, ": %s -> %s", cell(old, k, value_of(f->pair->before, k)),
			   cell(new, k, value_of(f->pair->after, k)));
	ut_out_text(o, "\n");
	ut_buf_release(&name);
}

static void put_text(struct ut_out *o, const struct both *b, const struct ut_diff_summary *d,
		     const struct failures *list)
{
	put_figures(o, b, kernels_from(b));
	put_kernels(o, b, d);
	for (size_t i = 0; i < list->count; i++)
		put_failure(o, &list->items[i], d->by_rank);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_number(struct ut_out *o, const char *key, double v)
{
	ut_out_fmt(o, "\"%s\":", key);
	if (isfinite(v))
		ut_out_json_double(o, v);
	else
		ut_out_text(o, "null");
}

static void json_name(struct ut_out *o, const struct ut_ace_row *r)
{
	static const char *const kinds[] = { "run", "rank", "kernel" };

	ut_out_fmt(o, "{\"of\":\"%s\",\"name\":", kinds[r->kind]);
	ut_out_json_str(o, r->name, strlen(r->name));
	if (r->rank == UT_ACE_ALL_RANKS)
		ut_out_text(o, ",\"rank\":null");
	else
		ut_out_fmt(o, ",\"rank\":%" PRId64, r->rank);
}

static void json_pair(struct ut_out *o, const struct ut_ace_pair *p)
{
	bool more = false;

	json_name(o, some_row(p));
	ut_out_fmt(o, ",\"state\":\"%s\",\"figures\":{",
		   !p->before  ? "new"
		   : !p->after ? "vanished"
			       : "both");
	for (int k = 0; k < UT_ACE_FIGURES; k++) {
		enum ut_ace_figure f = (enum ut_ace_figure)k;
		double old = value_of(p->before, f), new = value_of(p->after, f);

		if (!isfinite(old) && !isfinite(new))
			continue;
		ut_out_fmt(o, "%s\"%s\":{\"unit\":\"%s\",", more ? "," : "", ut_ace_figures[f].word,
			   units[ut_ace_figures[f].unit]);
		json_number(o, "before", old);
		ut_out_text(o, ",");
		json_number(o, "after", new);
		ut_out_text(o, ",");
		json_number(o, "change", new - old);
		ut_out_text(o, ",");
		json_number(o, "percent", old != 0 ? 100 * (new - old) / old : NAN);
		ut_out_text(o, "}");
		more = true;
	}
	ut_out_text(o, "}}");
}

static void put_json(struct ut_out *o, const struct both *b, const struct failures *list)
{
	ut_out_text(o, "{\"schema\":\"unitrace.analyze-diff/1\",\n\"rows\":[");
	for (size_t i = 0; i < b->count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		json_pair(o, &b->pairs[i]);
	}
	ut_out_text(o, "\n],\n\"failures\":[");
	for (size_t i = 0; i < list->count; i++) {
		const char *rule = list->items[i].rule->text;

		ut_out_text(o, i ? ",\n" : "\n");
		json_name(o, some_row(list->items[i].pair));
		ut_out_text(o, ",\"rule\":");
		ut_out_json_str(o, rule, strlen(rule));
		ut_out_text(o, "}");
	}
	ut_out_text(o, "\n]}\n");
}

int ut_diff_summary(const struct ut_diff_summary *d, const struct ut_diff_rules *rules,
		    bool *failed, struct ut_err *err)
{
	const char *const paths[] = { d->before, d->after };
	struct failures list = { 0 };
	struct both b = { 0 };
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		rc = ut_ace_summary_read(&b.sides[i], paths[i], d->by_rank, err);
	if (!rc) {
		struct ut_out *o = ut_out_open("-", 0);

		b.pairs = ut_ace_compare(&b.sides[0], &b.sides[1], d->min_count, &b.count);
		check(rules, &b, &list);
		if (d->json)
			put_json(o, &b, &list);
		else
			put_text(o, &b, d, &list);
		*failed = list.count;
		rc = ut_out_commit(o, err);
	}
	free(list.items);
	free(b.pairs);
	ut_ace_summary_release(&b.sides[0]);
	ut_ace_summary_release(&b.sides[1]);
	return rc;
}
