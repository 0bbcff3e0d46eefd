/*
 * report_verify.c - how much of the output can be trusted, for machines and for people.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "acelyzer/analysis_report.h"
#include "text/grid.h"
#include "text/out.h"

#define MOST_MISSING 100

static const struct {
	const char *key, *text;
	enum ut_ace_severity severity;
	enum ut_ace_base base;
} kinds[] = {
#define KIND(issue, key, severity, base, text) { key, text, UT_ACE_##severity, UT_ACE_OF_##base },
	UT_ACE_ISSUE_LIST(KIND)
#undef KIND
};

static const char *const severities[] = { "info", "warning", "error" };
static const char *const bases[] = { "", "events", "device spans", "kernels", "files" };

_Static_assert(sizeof(bases) / sizeof(bases[0]) == UT_ACE_BASES, "every base has a word");

/* In percent; NAN = of nothing that can be counted. */
static double share_of(const struct ut_ace_trust *t, enum ut_ace_base base, uint64_t count)
{
	const uint64_t whole[] = { 0, t->events, t->spans, t->kernels, t->files };

	return whole[base] ? (double)count / (double)whole[base] * 100 : NAN;
}

static void put_issue(struct ut_out *o, const struct ut_ace_report *r, int i)
{
	uint64_t n = r->a->issues[i];

	ut_out_fmt(o, "{\"key\":\"%s\",\"severity\":\"%s\",\"count\":%" PRIu64, kinds[i].key,
		   severities[kinds[i].severity], n);
	ut_ace_report_num(o, "share_percent", share_of(&r->x->trust, kinds[i].base, n));
	ut_out_fmt(o, ",\"of\":\"%s\",\"text\":\"%s\"}", bases[kinds[i].base], kinds[i].text);
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

static void put_messages(struct ut_out *o, const struct ut_ace_messages *m, size_t most)
{
	size_t n = 0;

	ut_out_text(o, ",\n\"messages\":[");
	for (size_t i = 0; i < m->count && n < most; i++) {
		if (m->items[i].level > UT_ACE_WARN)
			continue;
		ut_out_fmt(o, "%s{\"severity\":\"%s\",\"text\":", n++ ? ",\n" : "\n",
			   m->items[i].level == UT_ACE_ERROR ? "error" : "warning");
		ut_out_json_str(o, m->items[i].text, strlen(m->items[i].text));
		ut_out_text(o, "}");
	}
	ut_out_text(o, "]");
}

void ut_ace_report_verify(struct ut_out *o, const struct ut_ace_report *r, size_t messages)
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
	put_messages(o, &r->a->messages, messages);
	ut_out_text(o, "}");
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_issues(struct ut_out *o, const struct ut_ace_report *r)
{
	struct ut_grid g = { 0 };
	size_t n = 0;

	ut_grid_column(&g, "Severity", UT_GRID_LEFT);
	ut_grid_column(&g, "Count", UT_GRID_RIGHT);
	ut_grid_column(&g, "Share", UT_GRID_RIGHT);
	ut_grid_column(&g, "Of", UT_GRID_LEFT);
	ut_grid_column(&g, "What", UT_GRID_LEFT);
	for (int s = UT_ACE_LOSS; s >= UT_ACE_NOTE; s--) {
		for (int i = 0; i < UT_ACE_ISSUES; i++) {
			uint64_t count = r->a->issues[i];
			double share = share_of(&r->x->trust, kinds[i].base, count);

			if (!count || (int)kinds[i].severity != s)
				continue;
			n++;
			ut_grid_text(&g, severities[s]);
			ut_grid_count(&g, count);
			if (isfinite(share))
				ut_grid_fmt(&g, "%.2f %%", share);
			else
				ut_grid_text(&g, "");
			ut_grid_text(&g, bases[kinds[i].base]);
			ut_grid_text(&g, kinds[i].text);
		}
	}
	if (n)
		ut_grid_print(&g, o);
	ut_grid_release(&g);
}

static void print_stages(struct ut_out *o, const struct ut_ace_extra *x)
{
	struct ut_grid g = { 0 };

	ut_grid_column(&g, "Stage", UT_GRID_LEFT);
	ut_grid_column(&g, "Before", UT_GRID_RIGHT);
	ut_grid_column(&g, "Added", UT_GRID_RIGHT);
	ut_grid_column(&g, "Dropped", UT_GRID_RIGHT);
	for (size_t i = 0; i < x->stage_count; i++) {
		ut_grid_text(&g, x->stages[i].stage);
		ut_grid_count(&g, x->stages[i].before);
		ut_grid_count(&g, x->stages[i].added);
		ut_grid_count(&g, x->stages[i].dropped);
	}
	if (x->stage_count)
		ut_grid_print(&g, o);
	ut_grid_release(&g);
}

static void print_clocks(struct ut_out *o, const struct ut_ace_report *r)
{
	struct ut_grid g = { 0 };
	size_t n = 0;

	ut_grid_column(&g, "Rank", UT_GRID_RIGHT);
	ut_grid_column(&g, "Given MHz", UT_GRID_RIGHT);
	ut_grid_column(&g, "Detected", UT_GRID_RIGHT);
	ut_grid_column(&g, "Residual rms us", UT_GRID_RIGHT);
	ut_grid_column(&g, "Max us", UT_GRID_RIGHT);
	ut_grid_column(&g, "Outliers", UT_GRID_RIGHT);
	for (size_t i = 0; i < r->x->rank_count; i++) {
		const struct ut_ace_clock_fit *f = &r->x->ranks[i].fit;

		if (!f->points)
			continue;
		n++;
		ut_grid_fmt(&g, "%" PRId64, r->x->ranks[i].rank);
		ut_grid_fmt(&g, "%g", r->a->opts.soc);
		ut_grid_fmt(&g, f->mhz > 0 ? "%.3f" : "-", f->mhz);
		ut_grid_fmt(&g, "%.3f", f->rms);
		ut_grid_fmt(&g, "%.3f", f->most);
		ut_grid_count(&g, f->outliers);
	}
	if (n)
		ut_grid_print(&g, o);
	ut_grid_release(&g);
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
