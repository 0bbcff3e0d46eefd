#include "report/table_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "report/table_stats.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/table_report.h"

#define NAME_COLUMNS 48
#define MOST_COLUMNS (UT_BY_COUNT + 16 + 2 * UT_DIFF_METRIC_COUNT_OF)
#define SHOWN        4 /* metrics of which people see the change */

/* ---- columns ------------------------------------------------------------------------------- */

#define PEOPLE .readers = UT_FOR_PEOPLE
#define PERCENT(k, t)                                                                              \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "%", .type = UT_REPORT_SHARE, PEOPLE             \
	}

static const struct ut_report_column people_columns[] = {
	{ .key = "count",
	  .title = "Count",
	  .type = UT_REPORT_NUMBER,
	  .digits = 10,
	  .group = "before",
	  PEOPLE },
	{ .key = "count",
	  .title = "After",
	  .type = UT_REPORT_NUMBER,
	  .digits = 10,
	  .group = "after",
	  PEOPLE },
	{ .key = "total",
	  .title = "Total",
	  .unit = "ns",
	  .type = UT_REPORT_TIME,
	  .group = "before",
	  PEOPLE },
	{ .key = "total",
	  .title = "After",
	  .unit = "ns",
	  .type = UT_REPORT_TIME,
	  .group = "after",
	  PEOPLE },
	{ .key = "change", .title = "Change", .unit = "ns", .type = UT_REPORT_TIME, PEOPLE },
	PERCENT("mean", "Mean"),
	PERCENT("p50", "P50"),
	PERCENT("p90", "P90"),
	PERCENT("p99", "P99"),
};

struct columns {
	struct ut_report_column list[MOST_COLUMNS];
	struct ut_report_table table;
};

static size_t add_metrics(struct ut_report_column *to, const char *group)
{
	for (int i = 0; i < UT_DIFF_METRIC_COUNT_OF; i++)
		to[i] = (struct ut_report_column){ .key = ut_metric_words[i],
						   .unit = i == UT_DIFF_METRIC_COUNT ? NULL : "ns",
						   .type = UT_REPORT_NUMBER,
						   .readers = UT_FOR_PROGRAMS,
						   .group = group };
	return UT_DIFF_METRIC_COUNT_OF;
}

static void table_diff_make_columns(struct columns *c, unsigned int by, bool by_runs)
{
	const struct ut_report_column state = { .key = "state",
						.type = UT_REPORT_WORD,
						.readers = UT_FOR_PROGRAMS };
	const struct ut_report_column last[] = {
		{ .key = by_runs ? "verdict" : "calls",
		  .title = by_runs ? "Verdict" : "Calls",
		  .type = UT_REPORT_WORD,
		  .optional = true },
		{ .key = "p",
		  .type = UT_REPORT_NUMBER,
		  .readers = by_runs ? UT_FOR_PROGRAMS : UT_FOR_NOBODY,
		  .optional = true },
		{ .key = "above",
		  .type = UT_REPORT_NUMBER,
		  .readers = UT_FOR_PROGRAMS,
		  .optional = true },
	};
	size_t n = ut_stats_key_columns(c->list, by);

	memcpy(c->list + n, people_columns, sizeof(people_columns));
	n += sizeof(people_columns) / sizeof(people_columns[0]);
	c->list[n++] = state;
	n += add_metrics(c->list + n, "before");
	n += add_metrics(c->list + n, "after");
	memcpy(c->list + n, last, sizeof(last));
	n += sizeof(last) / sizeof(last[0]);
	c->table = (struct ut_report_table){ .columns = c->list, .count = n };
}

int ut_diff_check_sort(unsigned int by, bool by_runs, const char *sort, struct ut_err *err)
{
	struct columns c;

	table_diff_make_columns(&c, by, by_runs);
	return ut_report_check_sort(&c.table, sort, err);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* What people see where no number says it. */
struct words {
	char change[UT_CELL_TIME + 1];
	char percent[SHOWN][32];
	struct ut_buf significance;
};

static uint64_t ns_of(double value)
{
	return value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

static struct ut_report_cell change_cell(struct words *w, double change)
{
	char text[UT_CELL_TIME];

	ut_cell_time(text, ns_of(fabs(change)));
	snprintf(w->change, sizeof(w->change), "%s%s",
		 change < -0.5   ? "-"
		 : change >= 0.5 ? "+"
				 : "",
		 text);
	return ut_report_said(ut_report_real(change), w->change);
}

static struct ut_report_cell percent_cell(char text[32], const struct ut_diff_row *r,
					  enum ut_diff_metric m)
{
	if (!r->before || !r->after)
		return ut_report_said(ut_report_none(), r->after ? "new" : "gone");
	if (!(r->old[m] > 0))
		return ut_report_said(ut_report_real(r->new[m] > 0 ? HUGE_VAL : 0),
				      r->new[m] > 0 ? "+inf" : "0.0%");
	snprintf(text, 32, "%+.1f%%", 100 * (r->new[m] - r->old[m]) / r->old[m]);
	return ut_report_said(ut_report_real(100 * (r->new[m] - r->old[m]) / r->old[m]), text);
}

static bool is_unfinished(const struct ut_diff_row *r)
{
	return (r->before && r->before->unfinished) || (r->after && r->after->unfinished);
}

/* Nothing is said of calls some of which never ended: these were longer than is known. */
static const char *verdict_word(const struct ut_diff *d, const struct ut_diff_row *r)
{
	return is_unfinished(r) ? "unfinished"
	       : d->by_runs     ? ut_significance_words[r->significance]
	       : r->few         ? "too few"
				: ut_apart_words[r->significance];
}

/* "longer in 97% of pairs": of two calls, one from each run. */
static void put_nesting(struct ut_buf *b, const struct ut_diff_row *r)
{
	double pairs = 100 * (r->above > 0.5 ? r->above : 1 - r->above);

	if (r->few)
		ut_buf_text(b, "too few calls");
	else if (r->significance == UT_SIGNIFICANCE_NOISE)
		ut_buf_text(b, ut_apart_words[r->significance]);
	else
		ut_buf_fmt(b, "%s in %.0f%% of pairs", r->above > 0.5 ? "longer" : "shorter",
			   pairs > 99 && pairs < 100 ? 99 : pairs);
}

static struct ut_report_cell significance_cell(struct words *w, const struct ut_diff *d,
					       const struct ut_diff_row *r)
{
	struct ut_buf *b = &w->significance;

	if (r->p < 0)
		return ut_report_said(ut_report_none(), r->after ? "new" : "vanished");
	if (is_unfinished(r))
		return ut_report_text(verdict_word(d, r));
	b->len = 0;
	if (!d->by_runs) {
		put_nesting(b, r);
		return ut_report_said(ut_report_text(verdict_word(d, r)), b->data);
	}
	ut_buf_text(b, ut_significance_words[r->significance]);
	if (r->p < 0.001)
		ut_buf_text(b, " (p<0.001)");
	else
		ut_buf_fmt(b, " (p=%.3f)", r->p);
	return ut_report_said(ut_report_text(ut_significance_words[r->significance]), b->data);
}

static size_t metric_cells(struct ut_report_cell *to, const double *values)
{
	for (int i = 0; i < UT_DIFF_METRIC_COUNT_OF; i++)
		to[i] = values ? ut_report_real(values[i]) : ut_report_none();
	return UT_DIFF_METRIC_COUNT_OF;
}

static void table_diff_add_row(struct ut_report *report, const struct ut_diff *d,
			       const struct ut_diff_row *r, struct words *w)
{
	static const enum ut_diff_metric shown[SHOWN] = { UT_DIFF_METRIC_MEAN, UT_DIFF_METRIC_P50,
							  UT_DIFF_METRIC_P90, UT_DIFF_METRIC_P99 };
	struct ut_report_cell cells[MOST_COLUMNS];
	const uint32_t *key;
	const struct ut_stats *s = ut_diff_texts(d, r, &key);
	size_t n = ut_stats_key_cells(cells, s, key, s->by);

	cells[n++] = ut_report_real(r->old[UT_DIFF_METRIC_COUNT]);
	cells[n++] = ut_report_real(r->new[UT_DIFF_METRIC_COUNT]);
	cells[n++] = ut_report_u64(ns_of(r->old[UT_DIFF_METRIC_TOTAL]));
	cells[n++] = ut_report_u64(ns_of(r->new[UT_DIFF_METRIC_TOTAL]));
	cells[n++] = change_cell(w, r->new[UT_DIFF_METRIC_TOTAL] - r->old[UT_DIFF_METRIC_TOTAL]);
	for (size_t i = 0; i < SHOWN; i++)
		cells[n++] = percent_cell(w->percent[i], r, shown[i]);
	cells[n++] = ut_report_text(!r->before ? "new" : !r->after ? "vanished" : "both");
	n += metric_cells(cells + n, r->before ? r->old : NULL);
	n += metric_cells(cells + n, r->after ? r->new : NULL);
	cells[n++] = significance_cell(w, d, r);
	cells[n++] = r->p >= 0 ? ut_report_real(r->p) : ut_report_none();
	cells[n++] = r->p >= 0 ? ut_report_real(r->above) : ut_report_none();
	ut_report_add(report, cells);
}

static void table_diff_put_rows(struct ut_out *o, const struct ut_diff *d,
				const struct ut_report_opts *opts)
{
	struct words words = { 0 };
	struct ut_report *r;
	struct columns c;
	uint64_t left;

	table_diff_make_columns(&c, d->before->stats.by, d->by_runs);
	r = ut_report_start(o, opts, &c.table);
	for (size_t i = 0; i < d->count; i++)
		table_diff_add_row(r, d, &d->rows[i], &words);
	ut_report_end(r);
	left = ut_report_left(r, NULL);
	if (left && ut_report_for_people(r))
		ut_out_fmt(o, "... and %" PRIu64 " more; --rows 0 shows them\n", left);
	ut_buf_release(&words.significance);
	ut_report_close(r);
}

/* ---- for people ---------------------------------------------------------------------------- */

static void put_failure(struct ut_out *o, const struct ut_diff *d, const struct ut_diff_failure *f)
{
	const struct ut_diff_rule *rule = f->rule;
	const struct ut_diff_row *r = f->row;
	char old[UT_CELL_TIME], new[UT_CELL_TIME];
	const uint32_t *key;
	const struct ut_stats *s = ut_diff_texts(d, r, &key);
	struct ut_buf name = { 0 };

	for (int i = 0; i < UT_BY_COUNT; i++) {
		struct ut_str str = ut_strtab_get(&s->strings, key[i]);

		if (!(s->by >> i & 1))
			continue;
		ut_buf_text(&name, name.len ? ", " : "");
		ut_cell_name(&name, str.ptr, str.len, NAME_COLUMNS * 2);
	}
	ut_out_fmt(o, "FAILED %s: %s", rule->text, name.data ? name.data : "everything");
	if (rule->type == UT_RULE_CHANGE && rule->metric == UT_DIFF_METRIC_COUNT)
		ut_out_fmt(o, ": %.10g -> %.10g", r->old[rule->metric], r->new[rule->metric]);
	else if (rule->type == UT_RULE_CHANGE)
		ut_out_fmt(o, ": %s -> %s, %s", ut_cell_time(old, ns_of(r->old[rule->metric])),
			   ut_cell_time(new, ns_of(r->new[rule->metric])), verdict_word(d, r));
	ut_out_text(o, "\n");
	ut_buf_release(&name);
}

static void table_diff_put_text(struct ut_out *o, const struct ut_diff *d,
				const struct ut_report_opts *opts,
				const struct ut_diff_failure *failures, size_t failure_count)
{
	if (!d->count) {
		ut_out_text(o, "no spans on either side\n");
		return;
	}
	table_diff_put_rows(o, d, opts);
	if (!d->by_runs)
		ut_out_text(o, "One run on each side tells how far apart their calls are, not "
			       "whether the program has changed: compare several (--against).\n");
	for (size_t i = 0; i < failure_count; i++)
		put_failure(o, d, &failures[i]);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_failures(struct ut_out *o, const struct ut_diff *d,
			 const struct ut_report_opts *opts, const struct ut_diff_failure *failures,
			 size_t failure_count)
{
	struct ut_report *r;
	struct columns c;
	size_t n = ut_stats_key_columns(c.list, d->before->stats.by);

	c.list[n++] = (struct ut_report_column){ .key = "rule", .type = UT_REPORT_TEXT };
	c.table = (struct ut_report_table){ .columns = c.list, .count = n };
	r = ut_report_start(o, opts, &c.table);
	for (size_t i = 0; i < failure_count; i++) {
		struct ut_report_cell cells[MOST_COLUMNS];
		const uint32_t *key;
		const struct ut_stats *s = ut_diff_texts(d, failures[i].row, &key);

		n = ut_stats_key_cells(cells, s, key, s->by);
		cells[n] = ut_report_text(failures[i].rule->text);
		ut_report_add(r, cells);
	}
	ut_report_finish(r);
}

static void table_diff_put_json(struct ut_out *o, const struct ut_diff *d,
				struct ut_report_opts opts, const struct ut_diff_failure *failures,
				size_t failure_count)
{
	ut_out_fmt(o, "{\"runs_before\":%zu,\"runs_after\":%zu,\"test\":\"%s\",\n\"rows\":[",
		   d->before->run_count, d->after->run_count, d->by_runs ? "welch" : "none");
	opts.open = "";
	opts.first = "\n";
	opts.close = "\n],\n\"failures\":[";
	table_diff_put_rows(o, d, &opts);
	opts.sort = NULL;
	opts.limit = 0;
	opts.close = "\n]}\n";
	put_failures(o, d, &opts, failures, failure_count);
}

void ut_diff_print(struct ut_out *o, const struct ut_diff *d, const struct ut_report_opts *opts,
		   const struct ut_diff_failure *failures, size_t failure_count)
{
	if (opts->format == UT_REPORT_JSON)
		table_diff_put_json(o, d, *opts, failures, failure_count);
	else if (opts->format == UT_REPORT_TABLE)
		table_diff_put_text(o, d, opts, failures, failure_count);
	else
		table_diff_put_rows(o, d, opts);
}
