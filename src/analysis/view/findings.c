/*
 * findings.c - what is worth a look, in sentences with their evidence. Nothing is judged without a
 * reason, and every number in a sentence is one of the tables. The first one is the verdict.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/size.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "text/cells.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/area.h"
#include "view/ask.h"
#include "view/view_header.h"
#include "view/view_parts.h"

#define IDLE_BAD                                                                                   \
	0.5           /* share of time that a device is idle before it costs more than all kernels \
		       */
#define UNEVEN    0.1 /* share by which the slowest rank is above the mean */
#define NAME_MOST 120u
#define MOST      8u

enum tone {
	FAILED,
	BAD,
	WARN,
	PLAIN
};

struct finding {
	enum tone tone;
	struct ut_buf say, why;
	uint64_t gain, event;
	bool has_event;
	int32_t rank; /* to look at; -1 = none */
	const char *about;
	size_t order;
};

struct findings {
	struct ut_view *view;
	struct finding list[MOST];
	size_t count;
};

static struct finding *findings_add(struct findings *f, enum tone tone)
{
	struct finding *n = &f->list[f->count];

	*n = (struct finding){ .tone = tone, .rank = -1, .order = f->count };
	f->count++;
	return n;
}

static void put_time(struct ut_buf *b, uint64_t ns)
{
	char text[32];

	ut_buf_text(b, ut_time_text(text, sizeof(text), ns));
}

/* ---- what is found -------------------------------------------------------------------------- */

static void find_idle(struct findings *f, const struct ut_area_facts *a)
{
	double idle = a->span ? 1 - (double)a->busy / (double)a->span : 0;
	struct finding *n;

	if (a->device == UT_NO_PLACE || idle < IDLE_BAD)
		return;
	n = findings_add(f, BAD);
	n->gain = a->span - a->busy;
	n->about = "idle";
	ut_view_path_name(f->view, a->device, &n->say);
	ut_buf_fmt(&n->say, " is idle %.1f %% of the time.", idle * 100);
	ut_buf_text(&n->why, "It is busy for ");
	put_time(&n->why, a->busy);
	ut_buf_text(&n->why, " of ");
	put_time(&n->why, a->span);
	ut_buf_text(&n->why, "; the longest gap is ");
	put_time(&n->why, a->gap);
	ut_buf_text(&n->why, ".");
}

/* Where ranks call each other, who is busy may be waiting: that is for advice.c to say. */
static void find_uneven(struct findings *f, const struct ut_area_facts *a)
{
	struct finding *n;

	for (size_t i = 0; a->ranks > 1 && i < f->view->trace_count; i++) {
		if (ut_ranks_any(f->view->traces[i].store))
			return;
	}
	if (a->ranks < 2 || !a->rank_mean ||
	    (double)a->rank_busy < (double)a->rank_mean * (1 + UNEVEN))
		return;
	n = findings_add(f, WARN);
	n->gain = a->rank_busy - a->rank_mean;
	n->rank = a->rank;
	n->about = "ranks";
	ut_buf_fmt(&n->say, "Rank %" PRId32 " works %.1f %% longer than the mean of %" PRIu32 ".",
		   a->rank, 100 * ((double)a->rank_busy / (double)a->rank_mean - 1), a->ranks);
	ut_buf_text(&n->why, "Its busiest thread is busy for ");
	put_time(&n->why, a->rank_busy);
	ut_buf_text(&n->why, ", on average it is ");
	put_time(&n->why, a->rank_mean);
	ut_buf_text(&n->why, ".");
}

static void find_failed(struct findings *f)
{
	struct ut_buf say = { 0 };
	struct finding *n;

	if (!ut_view_header_failures(f->view, &say)) {
		ut_buf_release(&say);
		return;
	}
	n = findings_add(f, FAILED);
	n->say = say;
	ut_buf_text(&n->why, UT_FAILED_RUN);
}

static void find_lost(struct findings *f)
{
	struct ut_losses all = { 0 };
	uint64_t gone;
	struct finding *n;

	for (size_t i = 0; i < f->view->trace_count; i++)
		ut_losses_add(&all, &f->view->traces[i].store->trace.losses);
	gone = all.dropped + all.overwritten + all.torn + all.unread;
	if (gone) {
		n = findings_add(f, WARN);
		ut_buf_fmt(&n->say, "%" PRIu64 " records are missing.", gone);
		ut_buf_fmt(&n->why,
			   "%" PRIu64 " dropped, %" PRIu64 " chunks overwritten, %" PRIu64
			   " torn, %" PRIu64 " not readable.",
			   all.dropped, all.overwritten, all.torn, all.unread);
	}
	if (all.unfinished) {
		n = findings_add(f, WARN);
		ut_buf_fmt(&n->say, "%" PRIu64 " slice%s never ended.", all.unfinished,
			   all.unfinished == 1 ? "" : "s");
		ut_buf_fmt(&n->why, "They are drawn up to %s, with a frayed end.",
			   all.seen_ends >= all.unfinished ? "the end of their process"
			   : all.seen_ends ? "the end of their process, or the last sign of life"
					   : "the last sign of life");
	}
}

static void find_heaviest(struct findings *f, const struct ut_area_facts *a)
{
	struct finding *n = findings_add(f, PLAIN);
	struct ut_str name;

	if (!a->count) {
		ut_buf_text(&n->say, "No task or call is in this range.");
		ut_buf_text(&n->why, "None was recorded, or a filter leaves none; samples and "
				     "counters are not looked at here.");
		return;
	}
	name = ut_view_type_name(f->view, a->type);
	n->event = a->longest;
	n->has_event = true;
	ut_cell_name(&n->say, name.ptr, name.len, NAME_MOST);
	ut_buf_text(&n->say, " has the most self time: ");
	put_time(&n->say, a->self);
	ut_buf_text(&n->say, ".");
	if (a->count == 1)
		ut_buf_text(&n->why, "Once, ");
	else
		ut_buf_fmt(&n->why, "%" PRIu64 " times, ", a->count);
	put_time(&n->why, a->mean);
	ut_buf_text(&n->why, " on average, ");
	put_time(&n->why, a->max);
	ut_buf_text(&n->why, " at most.");
}

/* ---- the answer ----------------------------------------------------------------------------- */

static int by_weight(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->tone != y->tone)
		return x->tone < y->tone ? -1 : 1;
	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void findings_put_finding(const struct finding *n, struct ut_out *out)
{
	static const char *const tones[] = { "bad", "bad", "warn", "" };

	ut_out_fmt(out, "{\"tone\":\"%s\",\"say\":", tones[n->tone]);
	ut_out_json_str(out, n->say.data, n->say.len);
	ut_out_text(out, ",\"why\":");
	ut_out_json_str(out, n->why.data, n->why.len);
	if (n->gain)
		ut_out_fmt(out, ",\"gain\":%" PRIu64, n->gain);
	if (n->about)
		ut_out_fmt(out, ",\"about\":\"%s\"", n->about);
	if (n->has_event)
		ut_out_fmt(out, ",\"event\":%" PRIu64, n->event);
	if (n->rank >= 0)
		ut_out_fmt(out, ",\"query\":\"rank:%" PRId32 "\"", n->rank);
	ut_out_text(out, "}");
}

int ut_answer_findings(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		       struct ut_err *err)
{
	struct findings f = { .view = v };
	struct ut_area_facts facts;
	int rc = ut_area_facts(v, a, &facts, err);

	if (rc)
		return rc;
	find_failed(&f);
	find_idle(&f, &facts);
	find_uneven(&f, &facts);
	find_lost(&f);
	find_heaviest(&f, &facts);
	ut_sort(f.list, f.count, sizeof(f.list[0]), by_weight);
	ut_out_text(out, "[");
	for (size_t i = 0; i < f.count; i++) {
		ut_out_text(out, i ? "," : "");
		findings_put_finding(&f.list[i], out);
		ut_buf_release(&f.list[i].say);
		ut_buf_release(&f.list[i].why);
	}
	ut_out_text(out, "]");
	return 0;
}
