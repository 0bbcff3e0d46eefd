/*
 * devlog_findings.c - what a log says in sentences: the core that holds up the others, a chip that
 * waits for its next op, ops on few cores, markers that are missing.
 */
#include "tt/devlog_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/size.h"
#include "base/str.h"
#include "text/out.h"
#include "tt/kernels.h"
#include "view/view.h"

/* Shares of the time above which something is worth a look, and costs a lot. */
#define WORTH 0.05
#define MUCH  0.25

struct findings {
	const struct ut_tt_shown *s;
	const struct ut_tt_log *log;
	const struct ut_view *view;
	/* of all ops that are shown, in cycles */
	uint64_t ops, kernels, waits, gaps, few;
	uint64_t *waits_for; /* per core: that others waited for it */
	uint32_t *slowest;   /* per core: in how many ops it was */
	uint32_t worst;      /* core; UINT32_MAX = none */
	const struct ut_tt_kernel *longest_gap, *worst_op;
};

struct finding {
	uint64_t gain; /* cycles */
	double share;  /* of the time */
	const char *tone;
	struct ut_buf say, why, query;
	const struct ut_tt_kernel *at;
	uint64_t from, to; /* of the chip's own time, if at is set */
};

static uint64_t devlog_findings_ns(const struct findings *t, uint64_t cycles)
{
	return (uint64_t)((double)cycles * 1000 / (double)t->log->mhz);
}

static const char *tone_of(double share)
{
	return share >= MUCH ? "bad" : share >= WORTH ? "warn" : "";
}

/* Cycles that the mean core of an op waits for the slowest one. */
static uint64_t wait_in(const struct ut_tt_kernel *k)
{
	uint64_t mean = k->cores ? k->core_cycles / k->cores : 0;

	return k->slowest != UINT32_MAX && k->slowest_cycles > mean ? k->slowest_cycles - mean : 0;
}

static void add_op(struct findings *t, const struct ut_tt_kernel *k)
{
	uint64_t wait = wait_in(k);

	t->ops++;
	t->kernels += k->kernel;
	t->waits += wait;
	t->few += k->cores * 2 < t->log->chips[k->chip].core_count ? k->kernel : 0;
	if (k->gap > 0) {
		t->gaps += (uint64_t)k->gap;
		if (!t->longest_gap || k->gap > t->longest_gap->gap)
			t->longest_gap = k;
	}
	if (k->slowest == UINT32_MAX || k->cores < 2)
		return;
	t->slowest[k->slowest]++;
	t->waits_for[k->slowest] += wait;
	if (t->worst == UINT32_MAX || t->waits_for[k->slowest] > t->waits_for[t->worst])
		t->worst = k->slowest;
}

/* Where the worst core made the others wait longest. */
static void find_worst_op(struct findings *t, const struct ut_tt_kernels *k)
{
	for (size_t i = 0; i < k->count && t->worst != UINT32_MAX; i++) {
		if (k->items[i].slowest == t->worst &&
		    (!t->worst_op || wait_in(&k->items[i]) > wait_in(t->worst_op)))
			t->worst_op = &k->items[i];
	}
}

/* ---- sentences ------------------------------------------------------------------------------ */

static void say_core(const struct findings *t, struct finding *f)
{
	const struct ut_tt_core *core = &t->log->cores[t->worst];
	const struct ut_tt_kernel *k = t->worst_op;
	const char *op = t->log->zones ? "op" : "launch";
	char all[32], wait[32];
	double mean = (double)k->core_cycles / k->cores;

	ut_buf_fmt(&f->say,
		   "Core (%" PRId32 ", %" PRId32
		   ") holds up the others: it is the slowest in %" PRIu32 " of %" PRIu64 " %s%s.",
		   core->x, core->y, t->slowest[t->worst], t->ops, op,
		   t->ops == 1  ? ""
		   : *op == 'o' ? "s"
				: "es");
	ut_buf_fmt(&f->why,
		   "In %s %" PRIu64 " its kernel takes %.0f %% longer than that of the mean core. "
		   "Kernels take %s in all; for %s of that the mean core waits for the slowest. "
		   "Split the work more evenly, or over more cores.",
		   op, k->op, mean > 0 ? 100 * ((double)k->slowest_cycles / mean - 1) : 0,
		   ut_time_text(all, sizeof(all), devlog_findings_ns(t, t->kernels)),
		   ut_time_text(wait, sizeof(wait), devlog_findings_ns(t, t->waits)));
	ut_buf_fmt(&f->query, "track:/^\\(%" PRId32 ", %" PRId32 "\\) /", core->x, core->y);
	f->gain = t->waits;
	f->share = (double)t->waits / (double)(t->kernels + t->gaps);
	f->at = k;
	f->from = k->kernel_start;
	f->to = k->kernel_end;
}

static void say_gaps(const struct findings *t, struct finding *f)
{
	const struct ut_tt_kernel *k = t->longest_gap;
	const char *op = t->log->zones ? "op" : "launch";
	char gaps[32], all[32], longest[32];

	f->share = (double)t->gaps / (double)(t->kernels + t->gaps);
	ut_buf_fmt(&f->say, "%s idle between %s for %.0f %% of the time.",
		   t->log->chip_count > 1 && t->s->chip == UT_TT_ALL_CHIPS ? "The chips are"
									   : "The chip is",
		   *op == 'o' ? "ops" : "launches", 100 * f->share);
	ut_buf_fmt(&f->why,
		   "%s of %s lie between the end of kernels and the start of the next; the longest "
		   "gap, %s, is before %s %" PRIu64
		   ". Keep the device fed: dispatch ahead, capture a trace, or make ops larger.",
		   ut_time_text(gaps, sizeof(gaps), devlog_findings_ns(t, t->gaps)),
		   ut_time_text(all, sizeof(all), devlog_findings_ns(t, t->kernels + t->gaps)),
		   ut_time_text(longest, sizeof(longest), devlog_findings_ns(t, (uint64_t)k->gap)),
		   op, k->op);
	f->gain = t->gaps;
	f->at = k;
	f->from = k->kernel_start - (uint64_t)k->gap;
	f->to = k->kernel_start;
}

static void say_few(const struct findings *t, struct finding *f)
{
	f->share = (double)t->few / (double)(t->kernels + t->gaps);
	ut_buf_fmt(&f->say, "For %.0f %% of the time less than half of the cores take part.",
		   100 * f->share);
	ut_buf_text(&f->why, "The table of ops tells how many each one has; an op on more cores "
			     "may be shorter.");
}

static void say_even(const struct findings *t, struct finding *f)
{
	if (!t->ops) {
		ut_buf_fmt(&f->say, "No %s with a kernel in this log.",
			   t->log->zones ? "op" : "launch");
		ut_buf_text(&f->why, "There is nothing to compare cores by; the timeline and the "
				     "statistics have what was marked.");
		return;
	}
	ut_buf_text(&f->say, "The cores are evenly loaded, and the next op is there in time.");
	ut_buf_fmt(&f->why,
		   "For %.1f %% of the time the mean core waits for the slowest of its op, for "
		   "%.1f %% the chip waits for the next op.",
		   100 * (double)t->waits / (double)(t->kernels + t->gaps + 1),
		   100 * (double)t->gaps / (double)(t->kernels + t->gaps + 1));
}

static void say_doubts(const struct findings *t, struct finding *f)
{
	const struct ut_tt_doubts *d = &t->log->doubts;

	f->tone = "warn";
	ut_buf_text(&f->say, "Markers are missing: durations near them are not to be trusted.");
	ut_buf_fmt(&f->why,
		   "%" PRIu64 " starts without an end, %" PRIu64
		   " ends without a start, on %" PRIu32 " RISCs; the counter went back %" PRIu64
		   " times. A buffer on the device was full: profile fewer zones.",
		   d->no_end, d->no_start, d->lanes, d->wraps);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void devlog_findings_put_finding(const struct findings *t, struct finding *f,
					struct ut_out *json)
{
	ut_out_text(json, "{\"tone\":");
	ut_out_json_str(json, f->tone, strlen(f->tone));
	ut_out_text(json, ",\"say\":");
	ut_out_json_str(json, f->say.data, f->say.len);
	ut_out_text(json, ",\"why\":");
	ut_out_json_str(json, f->why.data, f->why.len);
	if (f->gain)
		ut_out_fmt(json, ",\"gain\":%" PRIu64, devlog_findings_ns(t, f->gain));
	if (f->at) {
		int64_t shift = t->s->align->shift[f->at->chip];

		ut_out_fmt(json, ",\"range\":[%" PRIu64 ",%" PRIu64 "]",
			   ut_view_since(t->view, 0, ut_tt_ns(t->log, shift, f->from)),
			   ut_view_since(t->view, 0, ut_tt_ns(t->log, shift, f->to)) + 1);
	}
	if (f->query.len) {
		ut_out_text(json, ",\"query\":");
		ut_out_json_str(json, f->query.data, f->query.len);
	}
	ut_out_text(json, "}");
	ut_buf_release(&f->say);
	ut_buf_release(&f->why);
	ut_buf_release(&f->query);
}

/* The most expensive first. */
static size_t devlog_findings_find(const struct findings *t, struct finding all[5])
{
	const struct ut_tt_doubts *d = &t->log->doubts;
	size_t n = 0;

	if (t->worst_op && t->kernels)
		say_core(t, &all[n++]);
	if (t->longest_gap)
		say_gaps(t, &all[n++]);
	if (n == 2 && all[1].gain > all[0].gain) {
		struct finding first = all[0];

		all[0] = all[1];
		all[1] = first;
	}
	if (t->few && (double)t->few >= WORTH * (double)(t->kernels + t->gaps))
		say_few(t, &all[n++]);
	for (size_t i = 0; i < n; i++)
		all[i].tone = tone_of(all[i].share);
	if (!n || !*all[0].tone) {
		memmove(&all[1], &all[0], n * sizeof(all[0]));
		all[0] = (struct finding){ .tone = "" };
		say_even(t, &all[0]);
		n++;
	}
	if (d->no_end || d->no_start || d->wraps) {
		all[n] = (struct finding){ .tone = "warn" };
		say_doubts(t, &all[n++]);
	}
	return n;
}

void ut_tt_attach_findings(const struct ut_tt_shown *s, const struct ut_tt_kernels *k,
			   struct ut_view *v)
{
	struct findings t = { .s = s, .log = s->a->log, .view = v, .worst = UINT32_MAX };
	struct ut_out *json = ut_out_open_memory();
	struct finding all[5] = { 0 };
	size_t count;

	t.waits_for = ut_make((t.log->core_count + 1) * sizeof(*t.waits_for));
	t.slowest = ut_make((t.log->core_count + 1) * sizeof(*t.slowest));
	for (size_t i = 0; i < k->count; i++) {
		if (k->items[i].kernel)
			add_op(&t, &k->items[i]);
	}
	find_worst_op(&t, k);
	count = devlog_findings_find(&t, all);
	ut_out_text(json, "[");
	for (size_t i = 0; i < count; i++) {
		ut_out_text(json, i ? "," : "");
		devlog_findings_put_finding(&t, &all[i], json);
	}
	ut_out_text(json, "]");
	ut_view_attach(v, UT_TT_TOOL, UT_TT_TITLE, "findings", json);
	free(t.waits_for);
	free(t.slowest);
}
