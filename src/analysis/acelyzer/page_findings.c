/*
 * page_findings.c - what is worth a look, in sentences with their evidence; the first is the
 * verdict of the page. Nothing is judged without a reason that is said.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/report_page.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/out.h"

#define LEAST_TRUST   95.0 /* percent; the same as that of --verify=strict */
#define LEAST_EXPOSED 0.1  /* share of the time */
#define LEAST_LATE    0.01 /* share of the time */

struct findings {
	const struct ut_ace_page *page;
	struct ut_out *json;
	bool any;
	struct ut_ace_split sum; /* of all ranks */
};

/* One of the list; tone is bad, warn or nothing. say and why are written behind it. */
static void acelyzer_page_findings_begin(struct findings *f, const char *tone)
{
	ut_out_fmt(f->json, "%s{\"tone\":\"%s\"", f->any ? "," : "", tone);
	f->any = true;
}

#define SENTENCE 1024 /* bytes: names that go into one are cut before */

static void acelyzer_page_findings_put(struct findings *f, const char *key, const char *fmt, ...)
	UT_PRINTF(3, 4);

static void acelyzer_page_findings_put(struct findings *f, const char *key, const char *fmt, ...)
{
	char text[SENTENCE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ut_out_fmt(f->json, ",\"%s\":", key);
	ut_out_json_str(f->json, text, strlen(text));
}

static void acelyzer_page_findings_end(struct findings *f, const char *tab)
{
	acelyzer_page_findings_put(f, "tab", "%s", tab);
	ut_out_text(f->json, "}");
}

/* As the page prints times: four digits, one unit, a narrow space before it. */
static const char *in_time(char room[32], double ns)
{
	static const struct {
		double by;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "\u00b5s" }, { 1, "ns" } };
	size_t i = 0;
	double v;

	while (i < 3 && ns < units[i].by * 0.99995)
		i++;
	v = ns / units[i].by;
	snprintf(room, 32, "%.*f\u202f%s",
		 i == 3 || v >= 1000 ? 0
		 : v >= 100          ? 1
		 : v >= 10           ? 2
				     : 3,
		 fmin(v, 1e12), units[i].unit);
	return room;
}

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : 0;
}

/* ---- what costs time ------------------------------------------------------------------------ */

static void doubt(struct findings *f)
{
	const struct ut_ace_trust *t = &f->page->report->x->trust;
	char doubted[32], lost[32];

	if (!(t->device > 0) || t->percent >= LEAST_TRUST)
		return;
	acelyzer_page_findings_begin(f, "bad");
	acelyzer_page_findings_put(
		f, "say",
		"Only %.1f %% of the device time can be trusted: read the figures with care.",
		t->percent);
	acelyzer_page_findings_put(
		f, "why",
		"Host and device disagree about %s, and %s is lost. What to do stands beside each "
		"finding below.",
		in_time(doubted, t->doubted * 1000), in_time(lost, t->lost * 1000));
	acelyzer_page_findings_end(f, "trust");
}

/* The kernel in which a rank spends most beyond what others spend in it on average; NULL = none. */
static const struct ut_ace_kernel *slow_kernel(const struct ut_ace_extra *x, uint32_t rank,
					       double *by)
{
	struct sum {
		double total, ranks;
	} *sums = ut_make((x->kernel_count + 1) * sizeof(*sums));
	const struct ut_ace_kernel *worst = NULL;
	struct ut_idmap names = { 0 };
	uint32_t count = 0;

	*by = 0;
	for (size_t i = 0; i < x->kernel_count; i++) {
		const struct ut_ace_kernel *k = &x->kernels[i];
		uint32_t at = ut_idmap_get(&names, k->name);

		if (!at)
			ut_idmap_put(&names, k->name, at = ++count);
		if (k->rank != rank) {
			sums[at - 1].total += k->total;
			sums[at - 1].ranks++;
		}
	}
	for (size_t i = 0; i < x->kernel_count; i++) {
		const struct ut_ace_kernel *k = &x->kernels[i];
		const struct sum *s = &sums[ut_idmap_get(&names, k->name) - 1];
		double over = s->ranks > 0 ? k->total - s->total / s->ranks : 0;

		if (k->rank == rank && !k->comm && over > *by) {
			*by = over;
			worst = k;
		}
	}
	ut_idmap_release(&names);
	free(sums);
	return worst;
}

/* " Most of it is in NAME: ..."; nothing if no kernel stands out. */
static void name_cause(const struct findings *f, uint32_t rank, char room[512])
{
	const struct ut_ace_report *r = f->page->report;
	double by;
	const struct ut_ace_kernel *k = slow_kernel(r->x, rank, &by);
	struct ut_str name;
	char time[32];

	room[0] = 0;
	if (!k)
		return;
	name = ut_ace_str(&r->a->table, k->name);
	snprintf(room, 512, " The most of it is in %.*s: %s more in all than on the other ranks.",
		 name.len < 200 ? (int)name.len : 200, name.ptr, in_time(time, by * 1000));
}

static void stragglers(struct findings *f)
{
	const struct ut_ace_extra *x = f->page->report->x;

	for (size_t i = 0; i < x->rank_count; i++) {
		const struct ut_ace_extra_rank *k = &x->ranks[i];
		double gain = (double)k->step_excess * (double)k->step_count;
		char excess[32], mean[32], cause[512];

		if (!k->straggler)
			continue;
		name_cause(f, (uint32_t)i, cause);
		acelyzer_page_findings_begin(f, "bad");
		acelyzer_page_findings_put(f, "say",
					   "Rank %" PRId64
					   " makes the others wait: it takes %s longer than "
					   "the median rank in a step.",
					   k->rank, in_time(excess, (double)k->step_excess));
		if (k->coll.last)
			acelyzer_page_findings_put(
				f, "why",
				"It is the slowest in %" PRIu64 " of %" PRIu64
				" steps, and the last in %" PRIu64 " of %" PRIu64
				" collectives, by %s on average.%s",
				k->step.last, k->step.seen, k->coll.last, k->coll.seen,
				in_time(mean, k->coll.total / (double)k->coll.last), cause);
		else
			acelyzer_page_findings_put(f, "why",
						   "It is the slowest in %" PRIu64 " of %" PRIu64
						   " steps.%s",
						   k->step.last, k->step.seen, cause);
		ut_ace_report_num(f->json, "gain", gain > 0 ? gain : 0);
		acelyzer_page_findings_end(f, "stragglers");
	}
}

static void exposed(struct findings *f)
{
	const struct ut_ace_extra *x = f->page->report->x;
	double open = (double)f->sum.part[UT_ACE_WORK_COMM],
	       all = (double)f->sum.whole[UT_ACE_WORK_COMM], length = (double)f->sum.length;
	char time[32], whole[32];

	if (!(open >= LEAST_EXPOSED * length) || !(open > 0))
		return;
	acelyzer_page_findings_begin(f, "warn");
	acelyzer_page_findings_put(f, "say",
				   "%.1f %% of the time is communication that no kernel hides.",
				   share_of(open, length));
	acelyzer_page_findings_put(
		f, "why",
		"%s of %s of communication is exposed, all ranks together; %.1f %% is hidden "
		"behind kernels.",
		in_time(time, open), in_time(whole, all), share_of(all - open, all));
	ut_ace_report_num(f->json, "gain", x->rank_count ? open / (double)x->rank_count : 0);
	acelyzer_page_findings_end(f, "overlap");
}

/* The collective to which somebody comes late most, if nobody is named a straggler for it. */
static void late(struct findings *f)
{
	const struct ut_ace_report *r = f->page->report;
	size_t count;
	struct ut_ace_coll_row *rows = ut_ace_coll_rows(r->x, &count);
	double length = r->x->rank_count ? (double)f->sum.length / (double)r->x->rank_count : 0;
	struct ut_str name;
	char mean[32];

	if (count && rows[0].worst_count && rows[0].late >= LEAST_LATE * length) {
		name = ut_ace_str(&r->a->table, rows[0].name);
		acelyzer_page_findings_begin(f, "warn");
		acelyzer_page_findings_put(f, "say", "%.*s waits for its last rank: %s on average.",
					   name.len < 200 ? (int)name.len : 200, name.ptr,
					   in_time(mean, rows[0].late / (double)rows[0].count));
		acelyzer_page_findings_put(
			f, "why", "Rank %" PRId64 " comes last in %" PRIu64 " of %" PRIu64 ".",
			r->x->ranks[rows[0].worst].rank, rows[0].worst_count, rows[0].count);
		ut_ace_report_num(f->json, "gain", rows[0].late);
		acelyzer_page_findings_end(f, "stragglers");
	}
	free(rows);
}

/* ---- what is missing or doubtful ------------------------------------------------------------ */

static void issue(struct findings *f, int i)
{
	const struct ut_ace_report *r = f->page->report;
	const struct ut_ace_issue_kind *k = &ut_ace_issue_kinds[i];
	uint64_t n = r->a->issues[i];
	double share = ut_ace_issue_share(&r->x->trust, k->base, n);

	acelyzer_page_findings_begin(f, k->severity == UT_ACE_NOTE ? "" : "warn");
	acelyzer_page_findings_put(f, "say", "%" PRIu64 " %s.", n, k->text);
	if (isfinite(share))
		acelyzer_page_findings_put(f, "why", "%.2f %% of all %s. %s", share,
					   ut_ace_bases[k->base], k->remedy);
	else
		acelyzer_page_findings_put(f, "why", "%s", k->remedy);
	acelyzer_page_findings_end(f, "trust");
}

/* What every run has: where the time went. */
static void plain(struct findings *f)
{
	const struct ut_ace_extra *x = f->page->report->x;
	double length = (double)f->sum.length;
	char time[32];

	acelyzer_page_findings_begin(f, "");
	if (!x->rank_count) {
		acelyzer_page_findings_put(f, "say", "There is no device work in this trace.");
		acelyzer_page_findings_put(
			f, "why",
			"Nothing in it is a kernel, a transfer or a step of a collective.");
		acelyzer_page_findings_end(f, "timeline");
		return;
	}
	acelyzer_page_findings_put(f, "say", "%.1f %% of the time computes, %.1f %% is idle.",
				   share_of((double)f->sum.part[UT_ACE_WORK_COMPUTE], length),
				   share_of((double)f->sum.part[UT_ACE_IDLE], length));
	acelyzer_page_findings_put(
		f, "why",
		"%zu rank%s, %s each on average, from the first work to the last; %.1f %% is "
		"communication that nothing hides, %.1f %% transfer, %.1f %% preparation.",
		x->rank_count, x->rank_count == 1 ? "" : "s",
		in_time(time, length / (double)x->rank_count),
		share_of((double)f->sum.part[UT_ACE_WORK_COMM], length),
		share_of((double)f->sum.part[UT_ACE_WORK_TRANSFER], length),
		share_of((double)f->sum.part[UT_ACE_WORK_PREP], length));
	acelyzer_page_findings_end(f, "steps");
}

static void no_power(struct findings *f)
{
	const struct ut_ace_extra *x = f->page->report->x;

	if (x->has_power || !x->rank_count)
		return;
	acelyzer_page_findings_begin(f, "");
	acelyzer_page_findings_put(f, "say", "Energy is not known.");
	acelyzer_page_findings_put(f, "why", "There are %s.", ut_ace_no_power());
	acelyzer_page_findings_end(f, "trust");
}

void ut_ace_page_findings(const struct ut_ace_page *p)
{
	struct findings f = { .page = p, .json = ut_out_open_memory() };
	const struct ut_ace_report *r = p->report;

	for (size_t i = 0; i < r->x->rank_count; i++)
		ut_ace_add_split(&f.sum, &r->x->ranks[i].all);
	ut_out_text(f.json, "[");
	doubt(&f);
	stragglers(&f);
	exposed(&f);
	late(&f);
	if (!f.any) /* nothing costs time that we can tell of: then this is the verdict */
		plain(&f);
	for (int severity = UT_ACE_LOSS; severity >= UT_ACE_NOTE; severity--) {
		for (int i = 0; i < UT_ACE_ISSUES; i++) {
			if (r->a->issues[i] && (int)ut_ace_issue_kinds[i].severity == severity)
				issue(&f, i);
		}
	}
	no_power(&f);
	ut_out_text(f.json, "]");
	ut_ace_page_attach(p, "findings", f.json);
}
