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
#include "text/out.h"
#include "text/table_report.h"

#define NAME_COLUMNS 48
#define CELL         64

static const char *const kinds[] = { "run", "rank", "kernel" };
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

static double diff_summary_value_of(const struct ut_ace_row *r, enum ut_ace_figure f)
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

/* Does the pair have what the rule is about? If it does, *met says whether the rule is met. */
static bool diff_summary_compare(const struct ut_diff_rule *rule, const struct ut_ace_pair *p,
				 bool *met)
{
	enum ut_ace_figure f = (enum ut_ace_figure)rule->metric;
	double old = diff_summary_value_of(p->before, f), new = diff_summary_value_of(p->after, f);
	double scale = ut_ace_figures[f].unit == UT_ACE_US ? 1000 : 1; /* rules are in ns */

	if (rule->type != UT_RULE_CHANGE) {
		*met = rule->type == UT_RULE_NEW ? !p->before : !p->after;
		return rule->type == UT_RULE_NEW || p->before;
	}
	if (!p->before && adds_up(f))
		old = 0;
	if (!p->after && adds_up(f))
		new = 0;
	*met = isfinite(old) && isfinite(new) && ut_diff_rule_holds(rule, old * scale, new *scale);
	return isfinite(old) && isfinite(new) && (old > 0 || !rule->percent);
}

/* What is in list is met, whatever the status; -ENODATA if a rule was compared with nothing. */
static int diff_summary_check(const struct ut_diff_rules *rules, const struct both *b,
			      struct failures *list, struct ut_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < rules->count; i++) {
		const struct ut_diff_rule *rule = &rules->items[i];
		bool fits = false, compared = rule->type == UT_RULE_NEW;

		for (size_t k = 0; k < b->count; k++) {
			const struct ut_ace_pair *p = &b->pairs[k];
			bool met = false;

			if (!ut_diff_rule_names(rule, some_row(p)->name))
				continue;
			fits = true;
			compared |= diff_summary_compare(rule, p, &met);
			if (!met)
				continue;
			list->items = ut_grow(list->items, list->count + 1, &list->cap,
					      sizeof(*list->items));
			list->items[list->count++] = (struct failure){ rule, p };
		}
		if (!compared && !rc)
			rc = ut_diff_rule_idle(rule, fits, err);
	}
	return rc;
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

/* A figure with its unit, and the number that rows are ordered by. */
static struct ut_report_cell figure_cell(char buf[CELL], enum ut_ace_figure f, double v)
{
	struct ut_report_cell number = isfinite(v) ? ut_report_real(v) : ut_report_none();

	return ut_report_said(number, cell(buf, f, v));
}

static struct ut_report_cell change_cell(char buf[CELL], enum ut_ace_figure f, double change)
{
	char text[CELL];

	snprintf(buf, CELL, "%s%.*s", change > 0 ? "+" : "", CELL - 2, cell(text, f, change));
	return ut_report_said(isfinite(change) ? ut_report_real(change) : ut_report_none(), buf);
}

static struct ut_report_cell percent_cell(char buf[CELL], double old, double new)
{
	if (!isfinite(old) || !isfinite(new))
		return ut_report_said(ut_report_none(), "-");
	if (old == 0)
		return ut_report_said(ut_report_real(new > 0 ? HUGE_VAL : 0),
				      new > 0 ? "+inf" : "0.0%");
	snprintf(buf, CELL, "%+.1f%%", 100 * (new - old) / old);
	return ut_report_said(ut_report_real(100 * (new - old) / old), buf);
}

static size_t kernels_from(const struct both *b)
{
	size_t i = 0;

	while (i < b->count && some_row(&b->pairs[i])->kind != UT_ACE_ROW_KERNEL)
		i++;
	return i;
}

#define FIGURE(k, t)                                                                               \
	{                                                                                          \
		.key = (k), .title = (t), .type = UT_REPORT_NUMBER                                 \
	}
#define TABLE(list)                                                                                \
	{                                                                                          \
		.columns = (list), .count = sizeof(list) / sizeof((list)[0])                       \
	}

/* Run and ranks: a line for each figure that one of the sides has. CSV has kernels there, too. */
static const struct ut_report_column figure_columns[] = {
	{ .key = "of", .type = UT_REPORT_WORD, .readers = UT_FOR_CSV },
	{ .key = "name", .title = "Of", .type = UT_REPORT_TEXT },
	{ .key = "rank", .type = UT_REPORT_COUNT, .readers = UT_FOR_CSV },
	{ .key = "state", .type = UT_REPORT_WORD, .readers = UT_FOR_CSV },
	{ .key = "figure", .title = "Figure", .type = UT_REPORT_WORD },
	{ .key = "unit", .type = UT_REPORT_WORD, .readers = UT_FOR_CSV },
	FIGURE("before", "Before"),
	FIGURE("after", "After"),
	FIGURE("change", "Change"),
	FIGURE("percent", "Percent"),
};
static const struct ut_report_table figure_table = TABLE(figure_columns);

static const char *diff_summary_state_of(const struct ut_ace_pair *p)
{
	return !p->before ? "new" : !p->after ? "vanished" : "both";
}

static struct ut_report_cell rank_cell(const struct ut_ace_row *r)
{
	return r->rank == UT_ACE_ALL_RANKS ? ut_report_none() : ut_report_i64(r->rank);
}

static void add_figure(struct ut_report *r, const struct ut_ace_pair *p, enum ut_ace_figure f)
{
	double old = diff_summary_value_of(p->before, f), new = diff_summary_value_of(p->after, f);
	const struct ut_ace_row *row = some_row(p);
	char texts[4][CELL];

	if (!isfinite(old) && !isfinite(new))
		return;
	ut_report_add(r, (const struct ut_report_cell[]){
				 ut_report_text(kinds[row->kind]),
				 ut_report_text(row->name),
				 rank_cell(row),
				 ut_report_text(diff_summary_state_of(p)),
				 ut_report_text(ut_ace_figures[f].word),
				 ut_report_text(units[ut_ace_figures[f].unit]),
				 figure_cell(texts[0], f, old),
				 figure_cell(texts[1], f, new),
				 change_cell(texts[2], f, new - old),
				 percent_cell(texts[3], old, new),
			 });
}

static void put_figures(struct ut_out *o, const struct both *b, size_t end,
			const struct ut_report_opts *opts)
{
	struct ut_report *r = ut_report_start(o, opts, &figure_table);

	for (size_t i = 0; i < end; i++) {
		for (int k = 0; k < UT_ACE_FIGURES; k++)
			add_figure(r, &b->pairs[i], (enum ut_ace_figure)k);
	}
	ut_report_finish(r);
}

/* Two of them: with and without ranks. */
#define KERNEL_COLUMNS(whose)                                                                      \
	{ .key = "kernel", .title = "Kernel", .type = UT_REPORT_TEXT, .most = NAME_COLUMNS },      \
		{ .key = "rank", .title = "Rank", .type = UT_REPORT_COUNT, .readers = (whose) },   \
		FIGURE("before_count", "Count"), FIGURE("after_count", "After"),                   \
		FIGURE("before_total", "Total"), FIGURE("after_total", "After"),                   \
		FIGURE("change", "Change"), FIGURE("mean", "Mean"), FIGURE("energy", "Energy"),    \
		FIGURE("power", "Power"), FIGURE("before_watts", "Watts"),                         \
		FIGURE("after_watts", "After")

static const struct ut_report_column kernel_columns[] = { KERNEL_COLUMNS(UT_FOR_NOBODY) };
static const struct ut_report_column rank_columns[] = { KERNEL_COLUMNS(0) };
static const struct ut_report_table kernel_table = TABLE(kernel_columns);
static const struct ut_report_table rank_table = TABLE(rank_columns);

static void diff_summary_add_kernel(struct ut_report *r, const struct ut_ace_pair *p)
{
	static const enum ut_ace_figure shown[] = { UT_ACE_FIGURE_MEAN, UT_ACE_FIGURE_ENERGY,
						    UT_ACE_FIGURE_POWER };
	static const enum ut_ace_figure both[] = { UT_ACE_FIGURE_COUNT, UT_ACE_FIGURE_TOTAL };
	const struct ut_ace_row *row = some_row(p);
	double change = diff_summary_value_of(p->after, UT_ACE_FIGURE_TOTAL) -
			diff_summary_value_of(p->before, UT_ACE_FIGURE_TOTAL);
	struct ut_report_cell cells[sizeof(kernel_columns) / sizeof(kernel_columns[0])];
	char texts[sizeof(kernel_columns) / sizeof(kernel_columns[0])][CELL];
	size_t n = 0;

	cells[n++] = ut_report_text(row->name);
	cells[n++] = ut_report_i64(row->rank);
	for (size_t i = 0; i < 2; i++) {
		cells[n] =
			figure_cell(texts[n], both[i], diff_summary_value_of(p->before, both[i]));
		n++;
		cells[n] = figure_cell(texts[n], both[i], diff_summary_value_of(p->after, both[i]));
		n++;
	}
	cells[n] = change_cell(texts[n], UT_ACE_FIGURE_TOTAL, change);
	if (!p->before || !p->after)
		cells[n] = ut_report_said(ut_report_none(), p->after ? "new" : "vanished");
	n++;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		cells[n] = percent_cell(texts[n], diff_summary_value_of(p->before, shown[i]),
					diff_summary_value_of(p->after, shown[i]));
		n++;
	}
	cells[n] = figure_cell(texts[n], UT_ACE_FIGURE_POWER,
			       diff_summary_value_of(p->before, UT_ACE_FIGURE_POWER));
	n++;
	cells[n] = figure_cell(texts[n], UT_ACE_FIGURE_POWER,
			       diff_summary_value_of(p->after, UT_ACE_FIGURE_POWER));
	ut_report_add(r, cells);
}

static void diff_summary_put_kernels(struct ut_out *o, const struct both *b,
				     const struct ut_diff_summary *d)
{
	size_t from = kernels_from(b);
	struct ut_report *r;
	uint64_t left;

	if (from == b->count)
		return;
	ut_out_text(o, "\n");
	r = ut_report_start(o, &d->report, d->by_rank ? &rank_table : &kernel_table);
	for (size_t i = from; i < b->count; i++)
		diff_summary_add_kernel(r, &b->pairs[i]);
	ut_report_end(r);
	left = ut_report_left(r, NULL);
	if (left)
		ut_out_fmt(o, "... and %" PRIu64 " more; --rows 0 shows them\n", left);
	ut_report_close(r);
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
		ut_out_fmt(o, ": %s -> %s", cell(old, k, diff_summary_value_of(f->pair->before, k)),
			   cell(new, k, diff_summary_value_of(f->pair->after, k)));
	ut_out_text(o, "\n");
	ut_buf_release(&name);
}

static void diff_summary_put_text(struct ut_out *o, const struct both *b,
				  const struct ut_diff_summary *d, const struct failures *list)
{
	struct ut_report_opts all = d->report;

	all.sort = NULL;
	all.limit = 0;
	put_figures(o, b, kernels_from(b), &all);
	diff_summary_put_kernels(o, b, d);
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

static void json_figures(struct ut_out *o, const struct ut_ace_pair *p)
{
	bool more = false;

	ut_out_text(o, "{");
	for (int k = 0; k < UT_ACE_FIGURES; k++) {
		enum ut_ace_figure f = (enum ut_ace_figure)k;
		double old = diff_summary_value_of(p->before, f),
		       new = diff_summary_value_of(p->after, f);

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
	ut_out_text(o, "}");
}

static const struct ut_report_column pair_columns[] = {
	{ .key = "of", .type = UT_REPORT_WORD },      { .key = "name", .type = UT_REPORT_TEXT },
	{ .key = "rank", .type = UT_REPORT_COUNT },   { .key = "state", .type = UT_REPORT_WORD },
	{ .key = "figures", .type = UT_REPORT_TEXT },
};
static const struct ut_report_table pair_table = TABLE(pair_columns);

static void put_pairs(struct ut_out *o, const struct both *b, const struct ut_report_opts *opts)
{
	struct ut_report *r = ut_report_start(o, opts, &pair_table);
	struct ut_out *memory = ut_out_open_memory();

	for (size_t i = 0; i < b->count; i++) {
		const struct ut_ace_row *row = some_row(&b->pairs[i]);
		struct ut_report_cell figures = { .type = UT_CELL_JSON };

		ut_out_clear(memory);
		json_figures(memory, &b->pairs[i]);
		figures.text.ptr = ut_out_data(memory, &figures.text.len);
		ut_report_add(r, (const struct ut_report_cell[]){
					 ut_report_text(kinds[row->kind]),
					 ut_report_text(row->name), rank_cell(row),
					 ut_report_text(diff_summary_state_of(&b->pairs[i])),
					 figures });
	}
	ut_out_abandon(memory);
	ut_report_finish(r);
}

static void put_json_failures(struct ut_out *o, const struct failures *list,
			      const struct ut_report_opts *opts)
{
	static const struct ut_report_column columns[] = {
		{ .key = "of", .type = UT_REPORT_WORD },
		{ .key = "name", .type = UT_REPORT_TEXT },
		{ .key = "rank", .type = UT_REPORT_COUNT },
		{ .key = "rule", .type = UT_REPORT_TEXT },
	};
	static const struct ut_report_table table = TABLE(columns);
	struct ut_report *r = ut_report_start(o, opts, &table);

	for (size_t i = 0; i < list->count; i++) {
		const struct ut_ace_row *row = some_row(list->items[i].pair);

		ut_report_add(r,
			      (const struct ut_report_cell[]){
				      ut_report_text(kinds[row->kind]), ut_report_text(row->name),
				      rank_cell(row), ut_report_text(list->items[i].rule->text) });
	}
	ut_report_finish(r);
}

static void diff_summary_put_json(struct ut_out *o, const struct both *b,
				  struct ut_report_opts opts, const struct failures *list)
{
	ut_out_text(o, "{\"schema\":\"unitrace.analyze-diff/1\",\n\"rows\":[");
	opts.open = "";
	opts.first = "\n";
	opts.close = "\n],\n\"failures\":[";
	put_pairs(o, b, &opts);
	opts.sort = NULL;
	opts.limit = 0;
	opts.close = "\n]}\n";
	put_json_failures(o, list, &opts);
}

int ut_diff_summary_check_sort(bool by_rank, const struct ut_report_opts *opts, struct ut_err *err)
{
	const struct ut_report_table *table = by_rank ? &rank_table : &kernel_table;

	if (opts->format == UT_REPORT_JSON)
		table = &pair_table;
	else if (opts->format == UT_REPORT_CSV)
		table = &figure_table;
	return ut_report_check_sort(table, opts->sort, err);
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
		struct ut_err idle = { 0 };
		int compared;

		b.pairs = ut_ace_compare(&b.sides[0], &b.sides[1], d->min_count, &b.count);
		compared = diff_summary_check(rules, &b, &list, &idle);
		if (d->report.format == UT_REPORT_JSON)
			diff_summary_put_json(o, &b, d->report, &list);
		else if (d->report.format == UT_REPORT_CSV)
			put_figures(o, &b, b.count, &d->report);
		else
			diff_summary_put_text(o, &b, d, &list);
		*failed = list.count;
		rc = ut_out_commit(o, err);
		if (!rc && !*failed && compared)
			rc = ut_err_set(err, compared, "%s", idle.text);
	}
	free(list.items);
	free(b.pairs);
	ut_ace_summary_release(&b.sides[0]);
	ut_ace_summary_release(&b.sides[1]);
	return rc;
}
