/*
 * extra_trust.c - how much of the output can be trusted: the device time about which host and
 * device agree and which is still there, and what was found on the way.
 */
#include <stdio.h>

#include "acelyzer/extra_work.h"

/* What was done about overlapping spans, which the pass counts as resolved in any case. */
static void sort_overlaps(struct ut_ace_analysis *a)
{
	uint64_t *n = &a->issues[UT_ACE_ISSUE_OVERLAP];
	enum ut_ace_issue as = a->opts.overlap == UT_ACE_OVERLAP_DROP   ? UT_ACE_ISSUE_OVERLAP_LOST
			       : a->opts.overlap == UT_ACE_OVERLAP_WARN ? UT_ACE_ISSUE_OVERLAP_LEFT
									: UT_ACE_ISSUE_OVERLAP;

	if (as == UT_ACE_ISSUE_OVERLAP)
		return;
	a->issues[as] += *n;
	*n = 0;
}

/* Spans with stamps as the watch has seen them; what was dropped since then is lost. */
static void weigh_marked(struct ut_ace_extra *x, const struct ut_ace_analysis *a)
{
	struct ut_ace_trust *t = &x->trust;

	for (size_t i = 0; i < x->mark_count; i++) {
		const struct ut_ace_event *e = &a->table.events[i];

		if (!(x->marks[i] & UT_ACE_MARK_DEVICE) || !(e->dur > 0 && e->dur < 1e300))
			continue;
		t->device += e->dur;
		if (e->flags & UT_ACE_DROP && a->opts.overlap == UT_ACE_OVERLAP_DROP)
			t->lost += e->dur;
		else if (x->marks[i] & UT_ACE_MARK_DOUBT)
			t->doubted += e->dur;
	}
}

/* Without stamps there is only what each rank was seen doing. */
static void weigh_work(struct ut_ace_extra *x)
{
	for (size_t i = 0; i < x->rank_count; i++) {
		for (int w = 0; w < UT_ACE_WORKS; w++)
			x->trust.device += (double)x->ranks[i].all.whole[w] / 1000;
	}
}

void ut_ace_extra_trust(struct ut_ace_extra *x, struct ut_ace_analysis *a, const char *stopped)
{
	struct ut_ace_trust *t = &x->trust;

	sort_overlaps(a);
	a->issues[UT_ACE_ISSUE_BROKEN] += a->bad_events;
	a->issues[UT_ACE_ISSUE_STOPPED] += stopped != NULL;
	if (stopped)
		snprintf(t->stopped, sizeof(t->stopped), "%s", stopped);
	if (t->spans)
		weigh_marked(x, a);
	else
		weigh_work(x);
	a->issues[UT_ACE_ISSUE_NO_STAMPS] += !t->spans;
	t->percent = t->device > 0 ? (t->device - t->doubted - t->lost) / t->device * 100 : 0;
	if (stopped)
		t->percent = 0;
	for (int i = 0; i < UT_ACE_ISSUES; i++)
		t->count[ut_ace_issue_kinds[i].severity] += a->issues[i] > 0;
}
