/*
 * page_sheets.c - the tables of the page: steps, overlap, stragglers, kernels, energy.
 */
#include <math.h>
#include <stdlib.h>

#include "acelyzer/extra_work.h"
#include "acelyzer/report_page.h"
#include "base/grow.h"
#include "text/out.h"
#include "view/sheet.h"

#define STEP_ROWS    20000u /* of all ranks */
#define KERNELS_MOST 5000u
#define COLLS_MOST   2000u
#define CURVES_MOST  32u

#define SHEET(s, columns) ut_sheet_init(s, columns, sizeof(columns) / sizeof((columns)[0]))

/* A time that is known, or not. */
static void put_time(struct ut_sheet *s, bool known, double ns)
{
	if (known)
		ut_sheet_double(s, ns);
	else
		ut_sheet_null(s);
}

static void page_sheets_put_share(struct ut_sheet *s, double part, double whole)
{
	ut_sheet_double(s, whole > 0 ? part / whole : NAN);
}

static void page_sheets_finish(const struct ut_ace_page *p, const char *name, struct ut_sheet *s,
			       uint64_t more)
{
	struct ut_out *json = ut_out_open_memory();

	ut_sheet_write(s, more, json);
	ut_ace_page_attach(p, name, json);
}

/* ---- all together --------------------------------------------------------------------------- */

static void put_overview(const struct ut_ace_page *p)
{
	const struct ut_ace_extra *x = p->report->x;
	struct ut_out *json = ut_out_open_memory();
	struct ut_ace_split sum = { 0 };
	double energy = 0;

	for (size_t i = 0; i < x->rank_count; i++) {
		ut_ace_add_split(&sum, &x->ranks[i].all);
		energy += x->ranks[i].energy;
	}
	ut_out_fmt(json, "{\"ranks\":%zu,\"kernels\":%zu,\"collectives\":%zu", x->rank_count,
		   x->kernel_count, x->coll_count);
	ut_ace_report_num(json, "length", (double)sum.length);
	ut_ace_report_num(json, "compute", (double)sum.part[UT_ACE_WORK_COMPUTE]);
	ut_ace_report_num(json, "exposed", (double)sum.part[UT_ACE_WORK_COMM]);
	ut_ace_report_num(json, "communication", (double)sum.whole[UT_ACE_WORK_COMM]);
	ut_ace_report_num(json, "transfer", (double)sum.part[UT_ACE_WORK_TRANSFER]);
	ut_ace_report_num(json, "prep", (double)sum.part[UT_ACE_WORK_PREP]);
	ut_ace_report_num(json, "idle", (double)sum.part[UT_ACE_IDLE]);
	ut_ace_report_num(json, "energy", x->has_power ? energy : NAN);
	ut_out_text(json, "}");
	ut_ace_page_attach(p, "overview", json);
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* Where a stretch of time went; the parts of it add up to its length. */
#define PART_COLUMNS                                                                               \
	{ .key = "compute", .title = "Compute", .type = "time", .hint = "a kernel runs" },         \
		{ .key = "exposed",                                                                \
		  .title = "Exposed comm.",                                                        \
		  .type = "time",                                                                  \
		  .hint = "communication, while nothing computes" },                               \
		{ .key = "transfer",                                                               \
		  .title = "Transfer",                                                             \
		  .type = "time",                                                                  \
		  .hint = "between host and device, while nothing before it goes on",              \
		  .wide = true },                                                                  \
		{ .key = "prep",                                                                   \
		  .title = "Preparation",                                                          \
		  .type = "time",                                                                  \
		  .hint = "while nothing before it goes on",                                       \
		  .wide = true },                                                                  \
	{                                                                                          \
		.key = "idle", .title = "Idle", .type = "time", .hint = "nothing goes on"          \
	}

static void page_sheets_put_parts(struct ut_sheet *s, const struct ut_ace_split *split, double by)
{
	for (int i = 0; i < UT_ACE_PARTS; i++)
		ut_sheet_double(s, (double)split->part[i] / by);
}

static void page_sheets_put_step(const struct ut_ace_page *p, struct ut_sheet *s,
				 const struct ut_ace_extra_rank *k, const struct ut_ace_bar *b,
				 int64_t median)
{
	const struct ut_ace_step *last = &k->steps[b->first + b->count - 1];
	double n = (double)b->count;

	ut_sheet_i64(s, k->rank);
	ut_sheet_u64(s, b->first);
	ut_sheet_u64(s, b->count);
	ut_sheet_u64(s, ut_ace_page_time(p, k->steps[b->first].begin));
	ut_sheet_u64(s, ut_ace_page_time(p, last->begin + last->split.length));
	ut_sheet_double(s, (double)b->sum.length / n);
	ut_sheet_double(s, (double)b->sum.length / n - (double)median);
	page_sheets_put_parts(s, &b->sum, n);
	ut_sheet_double(s, k->sample_count ? b->energy / n : NAN);
}

static void put_steps(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "rank", .title = "Rank", .type = "count" },
		{ .key = "step", .title = "Step", .type = "count" },
		{ .key = "steps",
		  .title = "Steps",
		  .type = "count",
		  .hint = "taken together: figures are means of them" },
		{ .key = "begin", .title = "Begin", .type = "time", .wide = true },
		{ .key = "end", .title = "End", .type = "time", .wide = true },
		{ .key = "length", .title = "Length", .type = "time" },
		{ .key = "over",
		  .title = "Over median",
		  .type = "time",
		  .hint = "of the steps of its rank",
		  .wide = true },
		PART_COLUMNS,
		{ .key = "energy", .title = "Energy", .type = "number", .unit = "J", .wide = true },
	};
	const struct ut_ace_extra *x = p->report->x;
	size_t room = STEP_ROWS / (x->rank_count + 1) + 1;
	size_t most = room < UT_ACE_STEP_BARS ? room : UT_ACE_STEP_BARS;
	struct ut_sheet s;
	struct ut_ace_bar b;
	bool any = false;

	SHEET(&s, columns);
	for (size_t i = 0; i < x->rank_count; i++) {
		const struct ut_ace_extra_rank *k = &x->ranks[i];
		int64_t median = k->step_count ? ut_ace_step_times(k).median : 0;

		for (size_t n = 0; n < k->step_count; n += b.count, any = true) {
			b = ut_ace_step_bar(k, n, most);
			page_sheets_put_step(p, &s, k, &b, median);
		}
	}
	if (any)
		page_sheets_finish(p, "steps", &s, 0);
	else
		ut_sheet_release(&s);
}

static void put_rank_steps(struct ut_sheet *s, const struct ut_ace_extra_rank *k)
{
	struct ut_ace_step_times t;

	if (!k->step_count) {
		for (int i = 0; i < 4; i++)
			ut_sheet_null(s);
		return;
	}
	t = ut_ace_step_times(k);
	ut_sheet_double(s, t.mean);
	ut_sheet_i64(s, t.median);
	ut_sheet_i64(s, t.min);
	ut_sheet_i64(s, t.max);
}

static void put_ranks(const struct ut_ace_page *p)
{
	static const char *const sources[] = { "run", "iterations", "profiler" };
	static const struct ut_sheet_column columns[] = {
		{ .key = "rank", .title = "Rank", .type = "count" },
		{ .key = "begin", .title = "Begin", .type = "time", .wide = true },
		{ .key = "length",
		  .title = "Length",
		  .type = "time",
		  .hint = "from its first work to its last" },
		PART_COLUMNS,
		{ .key = "steps", .title = "Steps", .type = "count" },
		{ .key = "mean", .title = "Mean step", .type = "time", .wide = true },
		{ .key = "median", .title = "Median step", .type = "time" },
		{ .key = "min", .title = "Shortest", .type = "time", .wide = true },
		{ .key = "max", .title = "Longest", .type = "time" },
		{ .key = "source",
		  .title = "A step is",
		  .type = "text",
		  .hint = "run: nothing repeats",
		  .wide = true },
	};
	const struct ut_ace_extra *x = p->report->x;
	struct ut_sheet s;

	SHEET(&s, columns);
	for (size_t i = 0; i < x->rank_count; i++) {
		const struct ut_ace_extra_rank *k = &x->ranks[i];

		ut_sheet_i64(&s, k->rank);
		ut_sheet_u64(&s, ut_ace_page_time(p, k->begin));
		ut_sheet_i64(&s, k->all.length);
		page_sheets_put_parts(&s, &k->all, 1);
		ut_sheet_u64(&s, k->step_count);
		put_rank_steps(&s, k);
		ut_sheet_text(&s, ut_str_of(sources[k->source]));
	}
	page_sheets_finish(p, "ranks", &s, 0);
}

/* ---- communication -------------------------------------------------------------------------- */

static void put_overlap(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "rank", .title = "Rank", .type = "count" },
		{ .key = "communication", .title = "Communication", .type = "time" },
		{ .key = "hidden",
		  .title = "Hidden",
		  .type = "time",
		  .hint = "behind kernels: it costs nothing" },
		{ .key = "exposed",
		  .title = "Exposed",
		  .type = "time",
		  .hint = "nothing computes meanwhile" },
		{ .key = "overlap",
		  .title = "Overlap",
		  .type = "share",
		  .hint = "hidden, of all communication" },
		{ .key = "cost",
		  .title = "Exposed of run",
		  .type = "share",
		  .hint = "exposed, of the rank's whole time" },
	};
	const struct ut_ace_extra *x = p->report->x;
	struct ut_sheet s;
	bool any = false;

	SHEET(&s, columns);
	for (size_t i = 0; i < x->rank_count; i++) {
		const struct ut_ace_extra_rank *k = &x->ranks[i];
		int64_t all = k->all.whole[UT_ACE_WORK_COMM], open = k->all.part[UT_ACE_WORK_COMM];

		ut_sheet_i64(&s, k->rank);
		ut_sheet_i64(&s, all);
		ut_sheet_i64(&s, all - open);
		ut_sheet_i64(&s, open);
		page_sheets_put_share(&s, (double)(all - open), (double)all);
		page_sheets_put_share(&s, (double)open, (double)k->all.length);
		any |= all > 0;
	}
	if (any)
		page_sheets_finish(p, "overlap", &s, 0);
	else
		ut_sheet_release(&s);
}

/* What being late looks like: in how many of how many, by how much. */
static void put_late(struct ut_sheet *s, const struct ut_ace_late *l)
{
	bool raced = l->seen > 0;

	put_time(s, raced, (double)l->seen);
	put_time(s, raced, (double)l->last);
	put_time(s, raced && l->last, l->last ? l->total / (double)l->last : 0);
	put_time(s, raced && l->last, (double)l->most);
	put_time(s, raced, l->total);
}

static void put_stragglers(const struct ut_ace_page *p)
{
#define LATE(prefix, of, last, late, what)                                                         \
	{ .key = prefix "seen",                                                                    \
	  .title = of,                                                                             \
	  .type = "count",                                                                         \
	  .hint = "it took part in",                                                               \
	  .wide = true },                                                                          \
		{ .key = prefix "last", .title = last " in", .type = "count", .hint = what },      \
		{ .key = prefix "mean",                                                            \
		  .title = late " by",                                                             \
		  .type = "time",                                                                  \
		  .hint = "on average, where it was the last; against the median of the others" }, \
		{ .key = prefix "max", .title = late " at most", .type = "time", .wide = true },   \
	{                                                                                          \
		.key = prefix "total", .title = late " in all", .type = "time", .wide = true       \
	}
	static const struct ut_sheet_column columns[] = {
		{ .key = "rank", .title = "Rank", .type = "count" },
		{ .key = "straggler",
		  .title = "Straggler",
		  .type = "text",
		  .hint = "slowest in most steps, by more than the usual scatter" },
		{ .key = "excess",
		  .title = "Excess of a step",
		  .type = "time",
		  .hint = "median over all steps of what it takes beyond the median rank, "
			  "exposed communication aside" },
		LATE("coll_", "Collectives", "Last", "Late", "collectives to which it came last"),
		LATE("step_", "Steps", "Slowest", "Slower", "steps in which it was the slowest"),
	};
#undef LATE
	const struct ut_ace_extra *x = p->report->x;
	struct ut_sheet s;

	if (x->rank_count < 2)
		return;
	SHEET(&s, columns);
	for (size_t i = 0; i < x->rank_count; i++) {
		const struct ut_ace_extra_rank *k = &x->ranks[i];

		ut_sheet_i64(&s, k->rank);
		ut_sheet_text(&s, ut_str_of(!k->step.seen  ? "not known"
					    : k->straggler ? "yes"
							   : "no"));
		put_time(&s, k->step.seen > 0, (double)k->step_excess);
		put_late(&s, &k->coll);
		put_late(&s, &k->step);
	}
	page_sheets_finish(p, "stragglers", &s, 0);
}

/* Rows of ranks, columns of collectives in their order. */
static void put_heat(const struct ut_ace_page *p)
{
	const struct ut_ace_extra *x = p->report->x;
	struct ut_out *json = ut_out_open_memory();
	double *late;
	size_t columns = ut_ace_late_heat(x, &late);

	ut_out_fmt(json, "{\"collectives\":%zu,\"ranks\":[", x->coll_count);
	for (size_t i = 0; i < x->rank_count; i++) {
		ut_out_text(json, i ? ",{\"rank\":" : "{\"rank\":");
		ut_out_i64(json, x->ranks[i].rank);
		ut_out_text(json, ",\"late\":[");
		for (size_t k = i * columns; k < (i + 1) * columns; k++) {
			ut_out_text(json, k > i * columns ? "," : "");
			if (isfinite(late[k]))
				ut_out_json_double(json, late[k]);
			else
				ut_out_text(json, "null");
		}
		ut_out_text(json, "]}");
	}
	ut_out_text(json, "]}");
	free(late);
	ut_ace_page_attach(p, "late", json);
}

static void put_colls(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "name", .title = "Collective", .type = "name" },
		{ .key = "late",
		  .title = "Late by",
		  .type = "time",
		  .hint = "mean: the last one against the median of the others" },
		{ .key = "last_rank", .title = "Last most often", .type = "count" },
		{ .key = "last_count", .title = "How often", .type = "count" },
		{ .key = "count", .title = "Count", .type = "count" },
		{ .key = "ranks", .title = "Ranks", .type = "count", .wide = true },
		{ .key = "mean", .title = "Mean", .type = "time", .wide = true },
		{ .key = "max", .title = "Max", .type = "time", .wide = true },
		{ .key = "spread",
		  .title = "Mean spread",
		  .type = "time",
		  .hint = "from the first to the last that came",
		  .wide = true },
		{ .key = "latest", .title = "Late at most", .type = "time", .wide = true },
	};
	const struct ut_ace_extra *x = p->report->x;
	size_t count;
	struct ut_ace_coll_row *rows = ut_ace_coll_rows(x, &count);
	size_t most = count < COLLS_MOST ? count : COLLS_MOST;
	struct ut_sheet s;

	SHEET(&s, columns);
	for (size_t i = 0; i < most; i++) {
		const struct ut_ace_coll_row *w = &rows[i];
		double n = (double)w->count;

		ut_sheet_text(&s, ut_ace_str(&p->report->a->table, w->name));
		ut_sheet_double(&s, w->late / n);
		put_time(&s, w->worst_count > 0, (double)x->ranks[w->worst].rank);
		put_time(&s, w->worst_count > 0, (double)w->worst_count);
		ut_sheet_u64(&s, w->count);
		ut_sheet_u64(&s, w->ranks);
		ut_sheet_double(&s, w->length / n);
		ut_sheet_i64(&s, w->longest);
		ut_sheet_double(&s, w->spread / n);
		ut_sheet_i64(&s, w->latest);
	}
	if (count)
		page_sheets_finish(p, "collectives", &s, count - most);
	else
		ut_sheet_release(&s);
	free(rows);
	if (count)
		put_heat(p);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* A kernel, to be sorted. */
struct entry {
	double total;
	size_t at;
};

static int page_sheets_by_total(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void page_sheets_put_kernel(const struct ut_ace_page *p, struct ut_sheet *s,
				   const struct ut_ace_kernel *k, double total)
{
	const struct ut_ace_extra_rank *rank = &p->report->x->ranks[k->rank];
	bool power = rank->sample_count;
	double n = (double)k->calls;

	ut_sheet_text(s, ut_ace_str(&p->report->a->table, k->name));
	ut_sheet_text(s, ut_str_of(k->comm ? "communication" : "compute"));
	ut_sheet_i64(s, rank->rank);
	ut_sheet_u64(s, k->calls);
	ut_sheet_double(s, k->total * 1000);
	page_sheets_put_share(s, k->total, total);
	ut_sheet_double(s, k->mean * 1000);
	put_time(s, k->median >= 0, k->median * 1000);
	ut_sheet_double(s, k->min * 1000);
	ut_sheet_double(s, k->max * 1000);
	put_time(s, n > 1, n > 1 ? sqrt(fmax(0, k->square) / (n - 1)) * 1000 : 0);
	ut_sheet_double(s, power ? k->energy : NAN);
	ut_sheet_double(s, power && rank->energy > 0 ? k->energy / rank->energy : NAN);
	ut_sheet_double(s, power && k->total > 0 ? k->energy / k->total * 1e6 : NAN);
}

static void page_sheets_put_kernels(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "name", .title = "Kernel", .type = "name" },
		{ .key = "kind", .title = "Kind", .type = "text", .wide = true },
		{ .key = "rank", .title = "Rank", .type = "count" },
		{ .key = "calls", .title = "Calls", .type = "count" },
		{ .key = "total", .title = "Total", .type = "time" },
		{ .key = "share", .title = "Share of rank", .type = "share" },
		{ .key = "mean", .title = "Mean", .type = "time", .wide = true },
		{ .key = "median", .title = "Median", .type = "time", .wide = true },
		{ .key = "min", .title = "Min", .type = "time", .wide = true },
		{ .key = "max", .title = "Max", .type = "time", .wide = true },
		{ .key = "stdev", .title = "Deviation", .type = "time", .wide = true },
		{ .key = "energy", .title = "Energy", .type = "number", .unit = "J" },
		{ .key = "energy_share",
		  .title = "Energy of rank",
		  .type = "share",
		  .hint = "of everything that the rank used",
		  .wide = true },
		{ .key = "power", .title = "Power", .type = "number", .unit = "W", .wide = true },
	};
	const struct ut_ace_extra *x = p->report->x;
	struct entry *list = ut_make((x->kernel_count + 1) * sizeof(*list));
	double *totals = ut_ace_kernel_totals(x);
	size_t most = x->kernel_count < KERNELS_MOST ? x->kernel_count : KERNELS_MOST;
	struct ut_sheet s;

	for (size_t i = 0; i < x->kernel_count; i++)
		list[i] = (struct entry){ x->kernels[i].total, i };
	if (x->kernel_count)
		qsort(list, x->kernel_count, sizeof(*list), page_sheets_by_total);
	SHEET(&s, columns);
	for (size_t i = 0; i < most; i++)
		page_sheets_put_kernel(p, &s, &x->kernels[list[i].at],
				       totals[x->kernels[list[i].at].rank]);
	if (most)
		page_sheets_finish(p, "kernels", &s, x->kernel_count - most);
	else
		ut_sheet_release(&s);
	free(totals);
	free(list);
}

static void put_categories(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "name", .title = "Category", .type = "name" },
		{ .key = "rank", .title = "Rank", .type = "count" },
		{ .key = "time", .title = "Time", .type = "time" },
		{ .key = "utilization",
		  .title = "Utilisation",
		  .type = "share",
		  .hint = "the ideal time, of the time it took" },
		{ .key = "share", .title = "Share of rank", .type = "share" },
		{ .key = "calls", .title = "Calls", .type = "count" },
		{ .key = "ideal",
		  .title = "Ideal",
		  .type = "time",
		  .hint = "what the compiler expects" },
		{ .key = "phase", .title = "Phase", .type = "text", .wide = true },
	};
	const struct ut_ace_found *f = &p->report->a->found;
	struct ut_sheet s;

	if (!f->category_count)
		return;
	SHEET(&s, columns);
	for (size_t i = 0; i < f->category_count; i++) {
		const struct ut_ace_category *c = &f->categories[i];

		ut_sheet_text(&s, c->name);
		ut_sheet_i64(&s, c->pid);
		ut_sheet_double(&s, c->time * 1000);
		page_sheets_put_share(&s, c->ideal, c->time);
		page_sheets_put_share(&s, c->time, c->group_time);
		ut_sheet_u64(&s, c->calls);
		ut_sheet_double(&s, c->ideal * 1000);
		if (c->phase)
			ut_sheet_text(&s, ut_str_of(c->phase));
		else
			ut_sheet_null(&s);
	}
	page_sheets_finish(p, "categories", &s, 0);
}

/* ---- energy --------------------------------------------------------------------------------- */

static void put_curves(const struct ut_ace_page *p)
{
	const struct ut_ace_extra *x = p->report->x;
	struct ut_out *json = ut_out_open_memory();
	int64_t begin, end;
	bool any = ut_ace_power_span(x, &begin, &end);
	size_t shown = 0;

	ut_out_text(json, "{\"begin\":");
	ut_out_u64(json, any ? ut_ace_page_time(p, begin) : 0);
	ut_out_text(json, ",\"end\":");
	ut_out_u64(json, any ? ut_ace_page_time(p, end) : 0);
	ut_out_text(json, ",\"ranks\":[");
	for (size_t i = 0; any && i < x->rank_count && shown < CURVES_MOST; i++) {
		double watts[UT_ACE_POWER_COLUMNS];

		if (!x->ranks[i].sample_count)
			continue;
		ut_ace_power_curve(&x->ranks[i], begin, end, watts);
		ut_out_text(json, shown++ ? ",{\"rank\":" : "{\"rank\":");
		ut_out_i64(json, x->ranks[i].rank);
		ut_out_text(json, ",\"watts\":[");
		for (int n = 0; n < UT_ACE_POWER_COLUMNS; n++)
			ut_out_fmt(json, "%s%.3f", n ? "," : "", watts[n]);
		ut_out_text(json, "]}");
	}
	ut_out_text(json, "]}");
	ut_ace_page_attach(p, "power", json);
}

static void put_energy(const struct ut_ace_page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "rank", .title = "Rank", .type = "count" },
		{ .key = "energy", .title = "Energy", .type = "number", .unit = "J" },
		{ .key = "compute",
		  .title = "In kernels",
		  .type = "number",
		  .unit = "J",
		  .hint = "while a kernel runs" },
		{ .key = "step",
		  .title = "Per step",
		  .type = "number",
		  .unit = "J",
		  .hint = "mean over its steps" },
		{ .key = "mean", .title = "Mean power", .type = "number", .unit = "W" },
		{ .key = "min", .title = "Least", .type = "number", .unit = "W", .wide = true },
		{ .key = "max", .title = "Greatest", .type = "number", .unit = "W", .wide = true },
		{ .key = "samples", .title = "Readings", .type = "count", .wide = true },
	};
	const struct ut_ace_extra *x = p->report->x;
	struct ut_sheet s;

	if (!x->has_power)
		return;
	SHEET(&s, columns);
	for (size_t i = 0; i < x->rank_count; i++) {
		const struct ut_ace_extra_rank *k = &x->ranks[i];
		double least = INFINITY, most = -INFINITY, steps = 0;
		double span =
			k->sample_count ? (double)(k->power_end - k->samples[0].ts) * 1e-9 : 0;

		for (size_t n = 0; n < k->sample_count; n++) {
			least = fmin(least, k->samples[n].watts);
			most = fmax(most, k->samples[n].watts);
		}
		for (size_t n = 0; n < k->step_count; n++)
			steps += k->steps[n].energy;
		ut_sheet_i64(&s, k->rank);
		put_time(&s, k->sample_count, k->energy);
		put_time(&s, k->sample_count, k->active);
		ut_sheet_double(&s, k->sample_count && k->step_count ? steps / (double)k->step_count
								     : NAN);
		ut_sheet_double(&s, span > 0 ? k->energy / span : NAN);
		ut_sheet_double(&s, least);
		ut_sheet_double(&s, most);
		put_time(&s, k->sample_count, (double)k->sample_count);
	}
	page_sheets_finish(p, "energy", &s, 0);
	put_curves(p);
}

void ut_ace_page_sheets(const struct ut_ace_page *p)
{
	put_overview(p);
	if (p->report->x->rank_count)
		put_ranks(p);
	put_steps(p);
	put_overlap(p);
	put_stragglers(p);
	put_colls(p);
	page_sheets_put_kernels(p);
	put_categories(p);
	put_energy(p);
}
