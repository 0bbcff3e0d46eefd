#include "export/table_diff.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "export/table_stats.h"
#include "text/cells.h"
#include "text/grid.h"
#include "text/out.h"

#define NAME_COLUMNS 48

/* ---- text ---------------------------------------------------------------------------------- */

static uint64_t ns_of(double value)
{
	return value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

static void add_signed_time(struct ut_grid *g, double change)
{
	char text[UT_CELL_TIME];

	ut_cell_time(text, ns_of(fabs(change)));
	ut_grid_fmt(g, "%s%s", change < -0.5 ? "-" : change >= 0.5 ? "+" : "", text);
}

static void add_percent(struct ut_grid *g, const struct ut_diff_row *r, enum ut_metric m)
{
	if (!r->before || !r->after)
		ut_grid_text(g, r->after ? "new" : "gone");
	else if (!(r->old[m] > 0))
		ut_grid_text(g, r->new[m] > 0 ? "+inf" : "0.0%");
	else
		ut_grid_fmt(g, "%+.1f%%", 100 * (r->new[m] - r->old[m]) / r->old[m]);
}

/* "longer in 97% of pairs": of two calls, one from each run. */
static void put_nesting(struct ut_buf *b, const struct ut_diff_row *r)
{
	double pairs = 100 * (r->above > 0.5 ? r->above : 1 - r->above);

	if (r->verdict == UT_VERDICT_NOISE)
		ut_buf_text(b, ut_apart_words[r->verdict]);
	else
		ut_buf_fmt(b, "%s in %.0f%% of pairs", r->above > 0.5 ? "longer" : "shorter",
			   pairs > 99 && pairs < 100 ? 99 : pairs);
}

static void add_verdict(struct ut_grid *g, const struct ut_diff *d, const struct ut_diff_row *r)
{
	struct ut_buf b = { 0 };

	if (r->p < 0) {
		ut_grid_text(g, r->after ? "new" : "vanished");
	} else if (!d->by_runs) {
		put_nesting(&b, r);
		ut_grid_text(g, b.data);
		ut_buf_release(&b);
	} else if (r->p < 0.001)
		ut_grid_fmt(g, "%s (p<0.001)", ut_verdict_words[r->verdict]);
	else
		ut_grid_fmt(g, "%s (p=%.3f)", ut_verdict_words[r->verdict], r->p);
}

static void add_row(struct ut_grid *g, const struct ut_diff *d, const struct ut_diff_row *r)
{
	static const enum ut_metric shown[] = { UT_METRIC_MEAN, UT_METRIC_P50, UT_METRIC_P90,
						UT_METRIC_P99 };
	const uint32_t *key;
	const struct ut_stats *s = ut_diff_texts(d, r, &key);

	for (int i = 0; i < UT_BY_COUNT; i++) {
		struct ut_str str = ut_strtab_get(&s->strings, key[i]);

		if (s->by >> i & 1)
			ut_grid_name(g, str.len ? str.ptr : "-", str.len ? str.len : 1,
				     NAME_COLUMNS);
	}
	ut_grid_fmt(g, "%.10g", r->old[UT_METRIC_COUNT]);
	ut_grid_fmt(g, "%.10g", r->new[UT_METRIC_COUNT]);
	ut_grid_time(g, ns_of(r->old[UT_METRIC_TOTAL]));
	ut_grid_time(g, ns_of(r->new[UT_METRIC_TOTAL]));
	add_signed_time(g, r->new[UT_METRIC_TOTAL] - r->old[UT_METRIC_TOTAL]);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		add_percent(g, r, shown[i]);
	add_verdict(g, d, r);
}

static void put_table(struct ut_out *o, const struct ut_diff *d, size_t rows)
{
	static const char *const titles[] = { "Count", "After", "Total", "After", "Change",
					      "Mean",  "P50",   "P90",   "P99" };
	unsigned int by = d->before->stats.by;
	struct ut_grid g = { 0 };

	for (int i = 0; i < UT_BY_COUNT; i++) {
		if (by >> i & 1)
			ut_grid_column(&g, ut_by_titles[i], UT_GRID_LEFT);
	}
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		ut_grid_column(&g, titles[i], UT_GRID_RIGHT);
	ut_grid_column(&g, d->by_runs ? "Verdict" : "Calls", UT_GRID_LEFT);
	for (size_t i = 0; i < rows; i++)
		add_row(&g, d, &d->rows[i]);
	ut_grid_print(&g, o);
	ut_grid_release(&g);
}

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
	if (rule->type == UT_RULE_CHANGE && rule->metric == UT_METRIC_COUNT)
		ut_out_fmt(o, ": %.10g -> %.10g", r->old[rule->metric], r->new[rule->metric]);
	else if (rule->type == UT_RULE_CHANGE)
		ut_out_fmt(o, ": %s -> %s, %s", ut_cell_time(old, ns_of(r->old[rule->metric])),
			   ut_cell_time(new, ns_of(r->new[rule->metric])),
			   (d->by_runs ? ut_verdict_words : ut_apart_words)[r->verdict]);
	ut_out_text(o, "\n");
	ut_buf_release(&name);
}

void ut_diff_text(struct ut_out *o, const struct ut_diff *d, size_t limit,
		  const struct ut_diff_failure *failures, size_t failure_count)
{
	size_t rows = limit && limit < d->count ? limit : d->count;

	if (!d->count) {
		ut_out_text(o, "no spans on either side\n");
		return;
	}
	put_table(o, d, rows);
	if (rows < d->count)
		ut_out_fmt(o, "... and %zu more; --rows 0 shows them\n", d->count - rows);
	if (!d->by_runs)
		ut_out_text(o, "One run on each side tells how far apart their calls are, not "
			       "whether the program has changed: compare several (--against).\n");
	for (size_t i = 0; i < failure_count; i++)
		put_failure(o, d, &failures[i]);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_key(struct ut_out *o, const struct ut_diff *d, const struct ut_diff_row *r)
{
	const uint32_t *key;
	const struct ut_stats *s = ut_diff_texts(d, r, &key);

	ut_stats_json_key(o, s, key, s->by);
	ut_out_text(o, s->by ? "," : "");
}

static void json_values(struct ut_out *o, const char *key, const double *values)
{
	ut_out_fmt(o, ",\"%s\":", key);
	if (!values) {
		ut_out_text(o, "null");
		return;
	}
	for (int i = 0; i < UT_METRIC_COUNT_OF; i++) {
		ut_out_fmt(o, "%s\"%s%s\":", i ? "," : "{", ut_metric_words[i],
			   i == UT_METRIC_COUNT ? "" : "_ns");
		ut_out_json_double(o, values[i]);
	}
	ut_out_text(o, "}");
}

static void json_row(struct ut_out *o, const struct ut_diff *d, const struct ut_diff_row *r)
{
	ut_out_text(o, "{");
	json_key(o, d, r);
	ut_out_fmt(o, "\"state\":\"%s\"", !r->before ? "new" : !r->after ? "vanished" : "both");
	json_values(o, "before", r->before ? r->old : NULL);
	json_values(o, "after", r->after ? r->new : NULL);
	if (r->p >= 0) {
		if (d->by_runs) {
			ut_out_fmt(o, ",\"verdict\":\"%s\",\"p\":", ut_verdict_words[r->verdict]);
			ut_out_json_double(o, r->p);
		} else {
			ut_out_fmt(o, ",\"calls\":\"%s\"", ut_apart_words[r->verdict]);
		}
		ut_out_text(o, ",\"above\":");
		ut_out_json_double(o, r->above);
	}
	ut_out_text(o, "}");
}

void ut_diff_json(struct ut_out *o, const struct ut_diff *d, const struct ut_diff_failure *failures,
		  size_t failure_count)
{
	ut_out_fmt(o, "{\"runs_before\":%zu,\"runs_after\":%zu,\"test\":\"%s\",\n\"rows\":[",
		   d->before->run_count, d->after->run_count, d->by_runs ? "welch" : "none");
	for (size_t i = 0; i < d->count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		json_row(o, d, &d->rows[i]);
	}
	ut_out_text(o, "\n],\n\"failures\":[");
	for (size_t i = 0; i < failure_count; i++) {
		const char *rule = failures[i].rule->text;

		ut_out_text(o, i ? ",\n{" : "\n{");
		json_key(o, d, failures[i].row);
		ut_out_text(o, "\"rule\":");
		ut_out_json_str(o, rule, strlen(rule));
		ut_out_text(o, "}");
	}
	ut_out_text(o, "\n]}\n");
}
