/*
 * page_trust.c - how much of the page can be trusted: issues and what to do about them, clocks,
 * stages, messages.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "acelyzer/report_page.h"
#include "text/out.h"
#include "view/sheet.h"

#define MISSING_MOST 100u

#define SHEET(s, columns) ut_sheet_init(s, columns, sizeof(columns) / sizeof((columns)[0]))

/* Attaches a sheet that has rows. */
static void page_trust_finish(const struct ut_ace_page *p, const char *name, struct ut_sheet *s,
			      uint64_t more)
{
	struct ut_out *json;

	if (!s->rows) {
		ut_sheet_release(s);
		return;
	}
	json = ut_out_open_memory();
	ut_sheet_write(s, more, json);
	ut_ace_page_attach(p, name, json);
}

static void put_trust(const struct ut_ace_page *p)
{
	const struct ut_ace_extra *x = p->report->x;
	const struct ut_ace_trust *t = &x->trust;
	struct ut_out *json = ut_out_open_memory();

	ut_out_fmt(json, "{\"errors\":%" PRIu64 ",\"warnings\":%" PRIu64, t->count[UT_ACE_LOSS],
		   t->count[UT_ACE_CAUTION]);
	ut_ace_report_num(json, "share", t->device > 0 ? t->percent / 100 : NAN);
	ut_ace_report_num(json, "device", t->device * 1000);
	ut_ace_report_num(json, "doubted", t->doubted * 1000);
	ut_ace_report_num(json, "lost", t->lost * 1000);
	ut_out_fmt(json,
		   ",\"read\":%" PRIu64 ",\"kept\":%zu,\"files\":%" PRIu64 ",\"spans\":%" PRIu64
		   ",\"kernels\":%" PRIu64 ",\"stopped\":",
		   t->events, p->report->a->table.seq_count, t->files, t->spans, t->kernels);
	if (*t->stopped)
		ut_out_json_str(json, t->stopped, strlen(t->stopped));
	else
		ut_out_text(json, "null");
	ut_out_fmt(json, ",\"missingCount\":%zu,\"missing\":[", x->missing_count);
	for (size_t i = 0; i < x->missing_count && i < MISSING_MOST; i++)
		ut_out_fmt(json, "%s%" PRId64, i ? "," : "", x->missing[i]);
	ut_out_text(json, "]}");
	ut_ace_page_attach(p, "trust", json);
}

static void put_issues(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "severity", .title = "Severity", .type = "text" },
		{ .key = "what", .title = "What", .type = "text" },
		{ .key = "remedy", .title = "What to do", .type = "text" },
		{ .key = "count", .title = "Count", .type = "count" },
		{ .key = "share", .title = "Share", .type = "share", .wide = true },
		{ .key = "of", .title = "Of", .type = "text", .wide = true },
	};
	const struct ut_ace_report *r = p->report;
	struct ut_sheet s;

	SHEET(&s, columns);
	for (int severity = UT_ACE_LOSS; severity >= UT_ACE_NOTE; severity--) {
		for (int i = 0; i < UT_ACE_ISSUES; i++) {
			const struct ut_ace_issue_kind *k = &ut_ace_issue_kinds[i];
			uint64_t n = r->a->issues[i];

			if (!n || (int)k->severity != severity)
				continue;
			ut_sheet_text(&s, ut_str_of(ut_ace_severities[severity]));
			ut_sheet_text(&s, ut_str_of(k->text));
			ut_sheet_text(&s, ut_str_of(k->remedy));
			ut_sheet_u64(&s, n);
			ut_sheet_double(&s, ut_ace_issue_share(&r->x->trust, k->base, n) / 100);
			if (k->base)
				ut_sheet_text(&s, ut_str_of(ut_ace_bases[k->base]));
			else
				ut_sheet_null(&s);
		}
	}
	page_trust_finish(p, "issues", &s, 0);
}

static void put_clocks(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "rank", .title = "Rank", .type = "count" },
		{ .key = "given", .title = "Given", .type = "number", .unit = "MHz" },
		{ .key = "detected", .title = "Detected", .type = "number", .unit = "MHz" },
		{ .key = "rms",
		  .title = "Residual, rms",
		  .type = "time",
		  .hint = "distance of spans from the line through all of them" },
		{ .key = "max", .title = "At most", .type = "time", .wide = true },
		{ .key = "points", .title = "Spans", .type = "count", .wide = true },
		{ .key = "outliers", .title = "Outliers", .type = "count" },
	};
	const struct ut_ace_report *r = p->report;
	struct ut_sheet s;

	SHEET(&s, columns);
	for (size_t i = 0; i < r->x->rank_count; i++) {
		const struct ut_ace_clock_fit *f = &r->x->ranks[i].fit;

		if (!f->points)
			continue;
		ut_sheet_i64(&s, r->x->ranks[i].rank);
		ut_sheet_double(&s, r->a->opts.soc);
		ut_sheet_double(&s, f->mhz > 0 ? f->mhz : NAN);
		ut_sheet_double(&s, f->mhz > 0 ? f->rms * 1000 : NAN);
		ut_sheet_double(&s, f->mhz > 0 ? f->most * 1000 : NAN);
		ut_sheet_u64(&s, f->points);
		ut_sheet_u64(&s, f->outliers);
	}
	page_trust_finish(p, "clocks", &s, 0);
}

static void put_stages(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "stage", .title = "Stage", .type = "name" },
		{ .key = "before", .title = "Events before", .type = "count" },
		{ .key = "added", .title = "Added", .type = "count" },
		{ .key = "dropped", .title = "Dropped", .type = "count" },
	};
	const struct ut_ace_extra *x = p->report->x;
	struct ut_sheet s;

	SHEET(&s, columns);
	for (size_t i = 0; i < x->stage_count; i++) {
		ut_sheet_text(&s, ut_str_of(x->stages[i].stage));
		ut_sheet_u64(&s, x->stages[i].before);
		ut_sheet_u64(&s, x->stages[i].added);
		ut_sheet_u64(&s, x->stages[i].dropped);
	}
	page_trust_finish(p, "stages", &s, 0);
}

static void put_messages(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "severity", .title = "Severity", .type = "text" },
		{ .key = "text", .title = "Message", .type = "text" },
	};
	const struct ut_ace_messages *m = &p->report->a->messages;
	uint64_t more = 0;
	struct ut_sheet s;

	SHEET(&s, columns);
	for (size_t i = 0; i < m->count; i++) {
		if (m->items[i].level > UT_ACE_WARN)
			continue;
		if (s.rows >= UT_ACE_REPORT_MESSAGES) {
			more++;
			continue;
		}
		ut_sheet_text(&s,
			      ut_str_of(m->items[i].level == UT_ACE_ERROR ? "error" : "warning"));
		ut_sheet_text(&s, ut_str_of(m->items[i].text));
	}
	page_trust_finish(p, "messages", &s, more);
}

void ut_ace_page_trust(const struct ut_ace_page *p)
{
	put_trust(p);
	put_issues(p);
	put_clocks(p);
	put_stages(p);
	put_messages(p);
}
