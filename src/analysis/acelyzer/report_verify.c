/*
 * report_verify.c - how much of the output can be trusted, for machines and for people.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "acelyzer/analysis_report.h"
#include "text/out.h"
#include "text/table_report.h"

#define MOST_MISSING 100

double ut_ace_issue_share(const struct ut_ace_trust *t, enum ut_ace_base base, uint64_t count)
{
	const uint64_t whole[] = { 0, t->events, t->spans, t->kernels, t->files };

	return whole[base] ? (double)count / (double)whole[base] * 100 : NAN;
}

static void put_issue(struct ut_out *o, const struct ut_ace_report *r, int i)
{
	uint64_t n = r->a->issues[i];

	ut_out_fmt(o, "{\"key\":\"%s\",\"severity\":\"%s\",\"count\":%" PRIu64,
		   ut_ace_issue_kinds[i].key, ut_ace_severities[ut_ace_issue_kinds[i].severity], n);
	ut_ace_report_num(o, "share_percent",
			  ut_ace_issue_share(&r->x->trust, ut_ace_issue_kinds[i].base, n));
	ut_out_fmt(o, ",\"of\":\"%s\",\"text\":\"%s\"}", ut_ace_bases[ut_ace_issue_kinds[i].base],
		   ut_ace_issue_kinds[i].text);
}

static void put_clocks(struct ut_out *o, const struct ut_ace_report *r)
{
	bool more = false;

	ut_out_text(o, ",\n\"clocks\":[");
	for (size_t i = 0; i < r->x->rank_count; i++) {
		const struct ut_ace_clock_fit *f = &r->x->ranks[i].fit;

		if (!f->points)
			continue;
		ut_out_fmt(o,
			   "%s{\"rank\":%" PRId64 ",\"points\":%" PRIu64 ",\"outliers\":%" PRIu64,
			   more ? ",\n" : "\n", r->x->ranks[i].rank, f->points, f->outliers);
		ut_ace_report_num(o, "given_mhz", r->a->opts.soc);
		ut_ace_report_num(o, "detected_mhz", f->mhz > 0 ? f->mhz : NAN);
		ut_ace_report_num(o, "residual_rms_us", f->rms);
		ut_ace_report_num(o, "residual_max_us", f->most);
		ut_out_text(o, "}");
		more = true;
	}
	ut_out_text(o, "]");
}

static void put_messages(struct ut_out *o, const struct ut_ace_messages *m)
{
	size_t n = 0;

	ut_out_text(o, ",\n\"messages\":[");
	for (size_t i = 0; i < m->count && n < UT_ACE_REPORT_MESSAGES; i++) {
		if (m->items[i].level > UT_ACE_WARN)
			continue;
		ut_out_fmt(o, "%s{\"severity\":\"%s\",\"text\":", n++ ? ",\n" : "\n",
			   m->items[i].level == UT_ACE_ERROR ? "error" : "warning");
		ut_out_json_str(o, m->items[i].text, strlen(m->items[i].text));
		ut_out_text(o, "}");
	}
	ut_out_text(o, "]");
}

void ut_ace_report_verify(struct ut_out *o, const struct ut_ace_report *r)
{
	const struct ut_ace_extra *x = r->x;
	const struct ut_ace_trust *t = &x->trust;
	bool more = false;

	ut_out_fmt(o, "\"verify\":{\"errors\":%" PRIu64 ",\"warnings\":%" PRIu64,
		   t->count[UT_ACE_LOSS], t->count[UT_ACE_CAUTION]);
	ut_ace_report_num(o, "trust_percent", t->percent);
	ut_ace_report_num(o, "device_us", t->device);
	ut_ace_report_num(o, "doubted_us", t->doubted);
	ut_ace_report_num(o, "lost_us", t->lost);
	ut_out_fmt(o, ",\"files\":%" PRIu64 ",\"events_read\":%" PRIu64 ",\"events_kept\":%zu",
		   t->files, t->events, r->a->table.seq_count);
	ut_out_fmt(o,
		   ",\"device_spans\":%" PRIu64 ",\"kernels\":%" PRIu64 ",\"stopped\":", t->spans,
		   t->kernels);
	if (*t->stopped)
		ut_out_json_str(o, t->stopped, strlen(t->stopped));
	else
		ut_out_text(o, "null");
	ut_out_text(o, ",\n\"issues\":[");
	for (int i = 0; i < UT_ACE_ISSUES; i++) {
		if (!r->a->issues[i])
			continue;
		ut_out_text(o, more ? ",\n" : "\n");
		put_issue(o, r, i);
		more = true;
	}
	ut_out_text(o, "],\n\"missing_ranks\":[");
	for (size_t i = 0; i < x->missing_count && i < MOST_MISSING; i++)
		ut_out_fmt(o, "%s%" PRId64, i ? "," : "", x->missing[i]);
	ut_out_text(o, "],\n\"stages\":[");
	for (size_t i = 0; i < x->stage_count; i++) {
		const struct ut_ace_stage_count *s = &x->stages[i];

		ut_out_fmt(o,
			   "%s{\"stage\":\"%s\",\"before\":%" PRIu64 ",\"added\":%" PRIu64
			   ",\"dropped\":%" PRIu64 "}",
			   i ? ",\n" : "\n", s->stage, s->before, s->added, s->dropped);
	}
	ut_out_text(o, "]");
	put_clocks(o, r);
	put_messages(o, &r->a->messages);
	ut_out_text(o, "}");
}

/* ---- text ---------------------------------------------------------------------------------- */

#define TABLE(list)                                                                                \
	{                                                                                          \
		.columns = (list), .count = sizeof(list) / sizeof((list)[0])                       \
	}

static const struct ut_report_opts plain = { .width = UT_REPORT_WIDTH_OWN };

static void add_issue(struct ut_report *t, const struct ut_ace_report *r, int issue, int severity)
{
	uint64_t count = r->a->issues[issue];
	double share = ut_ace_issue_share(&r->x->trust, ut_ace_issue_kinds[issue].base, count);
	char text[32] = "";

	if (isfinite(share))
		snprintf(text, sizeof(text), "%.2f %%", share);
	ut_report_add(t, (const struct ut_report_cell[]){
				 ut_report_text(ut_ace_severities[severity]),
				 ut_report_u64(count),
				 ut_report_said(ut_report_real(share), text),
				 ut_report_text(ut_ace_bases[ut_ace_issue_kinds[issue].base]),
				 ut_report_text(ut_ace_issue_kinds[issue].text),
			 });
}

static bool is_clean(const struct ut_ace_report *r)
{
	for (int i = 0; i < UT_ACE_ISSUES; i++) {
		if (r->a->issues[i])
			return false;
	}
	return true;
}

static void print_issues(struct ut_out *o, const struct ut_ace_report *r)
{
	static const struct ut_report_column columns[] = {
		{ .key = "severity", .title = "Severity", .type = UT_REPORT_WORD },
		{ .key = "count", .title = "Count", .type = UT_REPORT_COUNT },
		{ .key = "share", .title = "Share", .unit = "%", .type = UT_REPORT_SHARE },
		{ .key = "of", .title = "Of", .type = UT_REPORT_WORD },
		{ .key = "what", .title = "What", .type = UT_REPORT_TEXT },
	};
	static const struct ut_report_table table = TABLE(columns);
	struct ut_report *t;

	if (is_clean(r))
		return;
	t = ut_report_start(o, &plain, &table);
	for (int s = UT_ACE_LOSS; s >= UT_ACE_NOTE; s--) {
		for (int i = 0; i < UT_ACE_ISSUES; i++) {
			if (r->a->issues[i] && (int)ut_ace_issue_kinds[i].severity == s)
				add_issue(t, r, i, s);
		}
	}
	ut_report_finish(t);
}

static void print_stages(struct ut_out *o, const struct ut_ace_extra *x)
{
	static const struct ut_report_column columns[] = {
		{ .key = "stage", .title = "Stage", .type = UT_REPORT_WORD },
		{ .key = "before", .title = "Before", .type = UT_REPORT_COUNT },
		{ .key = "added", .title = "Added", .type = UT_REPORT_COUNT },
		{ .key = "dropped", .title = "Dropped", .type = UT_REPORT_COUNT },
	};
	static const struct ut_report_table table = TABLE(columns);
	struct ut_report *t;

	if (!x->stage_count)
		return;
	t = ut_report_start(o, &plain, &table);
	for (size_t i = 0; i < x->stage_count; i++)
		ut_report_add(t, (const struct ut_report_cell[]){
					 ut_report_text(x->stages[i].stage),
					 ut_report_u64(x->stages[i].before),
					 ut_report_u64(x->stages[i].added),
					 ut_report_u64(x->stages[i].dropped),
				 });
	ut_report_finish(t);
}

static bool has_clocks(const struct ut_ace_extra *x)
{
	for (size_t i = 0; i < x->rank_count; i++) {
		if (x->ranks[i].fit.points)
			return true;
	}
	return false;
}

static void print_clocks(struct ut_out *o, const struct ut_ace_report *r)
{
#define THREE .type = UT_REPORT_NUMBER, .digits = UT_DIGITS_FIXED + 3
	static const struct ut_report_column columns[] = {
		{ .key = "rank", .title = "Rank", .type = UT_REPORT_COUNT },
		{ .key = "given", .title = "Given MHz", .unit = "mhz", .type = UT_REPORT_NUMBER },
		{ .key = "detected", .title = "Detected", .unit = "mhz", THREE },
		{ .key = "rms", .title = "Residual rms us", .unit = "us", THREE },
		{ .key = "max", .title = "Max us", .unit = "us", THREE },
		{ .key = "outliers", .title = "Outliers", .type = UT_REPORT_COUNT },
	};
#undef THREE
	static const struct ut_report_table table = TABLE(columns);
	struct ut_report *t;

	if (!has_clocks(r->x))
		return;
	t = ut_report_start(o, &plain, &table);
	for (size_t i = 0; i < r->x->rank_count; i++) {
		const struct ut_ace_clock_fit *f = &r->x->ranks[i].fit;

		if (!f->points)
			continue;
		ut_report_add(t, (const struct ut_report_cell[]){
					 ut_report_i64(r->x->ranks[i].rank),
					 ut_report_real(r->a->opts.soc),
					 f->mhz > 0 ? ut_report_real(f->mhz)
						    : ut_report_said(ut_report_none(), "-"),
					 ut_report_real(f->rms),
					 ut_report_real(f->most),
					 ut_report_u64(f->outliers),
				 });
	}
	ut_report_finish(t);
}

void ut_ace_report_text(struct ut_out *o, const struct ut_ace_report *r)
{
	const struct ut_ace_trust *t = &r->x->trust;

	print_stages(o, r->x);
	print_clocks(o, r);
	print_issues(o, r);
	if (*t->stopped)
		ut_out_fmt(o, "stopped: %s\n", t->stopped);
	ut_out_fmt(o, "events: %" PRIu64 " read, %zu after all stages\n", t->events,
		   r->a->table.seq_count);
	if (!(t->device > 0)) {
		ut_out_text(o, "trust: there is no device time to speak of\n");
		return;
	}
	ut_out_fmt(o,
		   "trust: %.1f %% of the device time (%.3f of %.3f ms); %.3f ms in doubt, %.3f ms "
		   "lost; %" PRIu64 " errors, %" PRIu64 " warnings\n",
		   t->percent, (t->device - t->doubted - t->lost) / 1000, t->device / 1000,
		   t->doubted / 1000, t->lost / 1000, t->count[UT_ACE_LOSS],
		   t->count[UT_ACE_CAUTION]);
}
