/*
 * pass_normal.c - names and stamps in one spelling, and wraps of the 32-bit cycle counter undone.
 *
 * A counter of f MHz wraps every 2^32/f us. Inside an event, a stamp that is smaller than the one
 * before has wrapped (phase 1). Between events, the time since the counter of the rank was 0 tells
 * how often it has wrapped (phase 2); that moment is taken from the rank's first event, or, in
 * release 1.2, from the one that puts it earliest.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "acelyzer/event_filter.h"
#include "acelyzer/frequency.h"
#include "acelyzer/stage.h"
#include "base/grow.h"
#include "text/shortest.h"

#define WRAP (INT64_C(1) << 32)

/* When the counter of a rank was 0, and the event that says so. */
struct epoch {
	bool known;
	uint32_t moves;   /* how often an earlier one was found */
	uint32_t job;     /* whose event it is */
	double start, ts; /* us */
	int64_t cycle;
};

struct ut_ace_normal {
	struct epoch *epochs; /* by id of the process */
	size_t epoch_cap;
	struct ut_idmap jobs; /* process and file -> moves of its epoch at its first event + 1 */
	struct ut_ace_frequency freq;
	uint64_t moves, long_spans, bad_order, limited;
};

static struct ut_ace_normal *pass_normal_state_of(struct ut_ace_analysis *a)
{
	if (!a->normal) {
		a->normal = UT_NEW(&a->table.arena, struct ut_ace_normal);
		ut_idmap_init(&a->normal->jobs, &a->table.arena);
		ut_ace_frequency_init(&a->normal->freq, a->opts.soc);
	}
	return a->normal;
}

static struct epoch *epoch_of(struct ut_ace_analysis *a, const struct ut_ace_event *e,
			      int64_t cycle, double *start)
{
	struct ut_ace_normal *n = pass_normal_state_of(a);
	char since[UT_SHORTEST_ROOM], at[UT_SHORTEST_ROOM];
	struct epoch *ep;

	n->epochs = ut_grow(n->epochs, (size_t)e->pid + 1, &n->epoch_cap, sizeof(*n->epochs));
	ep = &n->epochs[e->pid];
	*start = e->ts - (double)cycle / a->opts.soc;
	if (ep->known)
		return ep;
	*ep = (struct epoch){
		.known = true, .job = e->job, .start = *start, .ts = e->ts, .cycle = cycle
	};
	ut_ace_say(&a->messages, UT_ACE_INFO,
		   "OVC: Reference Epoch for %" PRId64 " %" PRIu32 " %s %s",
		   ut_ace_num(&a->table, e->pid), e->job + 1, ut_shortest(since, e->ts - *start),
		   ut_shortest(at, *start));
	return ep;
}

/* Release 1.2: counted from the stamp that belongs to the event's begin; the earliest wins. */
static void find_epoch(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	uint64_t n = ut_ace_flags_of(a, e);
	int ref = n & UT_ACE_NAME(END_SPACE_PREP)   ? 1
		  : n & UT_ACE_NAME(END_SPACE_EXEC) ? 2
		  : n & UT_ACE_NAME(END_OUT)        ? 3
						    : 0;
	int64_t cycle = ut_ace_dev_of(a, e)->ts[ref];
	double start;
	struct epoch *ep = epoch_of(a, e, cycle, &start);

	if (ep->start <= start)
		return;
	ep->start = start;
	ep->ts = e->ts;
	ep->cycle = cycle;
	ep->job = e->job;
	ep->moves++;
	pass_normal_state_of(a)->moves++;
}

static void local_wraps(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	struct ut_ace_dev *d = ut_ace_dev_of(a, e);

	for (int i = 1; i < UT_ACE_STAMPS; i++) {
		if (d->ts[i] >= d->ts[i - 1])
			continue;
		if (!d->wrapped)
			d->wrapped = (uint8_t)(i + 1);
		d->ts[i] += WRAP;
	}
	if (e->dur > (double)WRAP / a->opts.soc)
		pass_normal_state_of(a)->long_spans++;
}

/* Arguments that release 1.2 spells in lower case. */
static void lower_bytes(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	struct ut_arg arg;

	if (!ut_ace_arg(&a->table, e->args, UT_ACE_K_BYTES, &arg))
		return;
	e->args = ut_ace_arg_drop(&a->table, e->args, UT_ACE_K_BYTES);
	arg.key = UT_ACE_K_BYTES_LOW;
	e->args = ut_ace_arg_set(&a->table, e->args, &arg);
}

static void normalize(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	e->flags &= ~(uint32_t)UT_ACE_IN_ATTR;
	e->flags |= UT_ACE_NORMAL;
	e->name = ut_ace_name_unified(&a->names, &a->table, e->name);
	if (a->opts.release >= UT_ACE_1_2)
		lower_bytes(a, e);
	if (a->opts.filter_count && ut_ace_filter_matches(a, e)) {
		e->flags |= UT_ACE_DROP;
		return;
	}
	e->flags |= UT_ACE_JOBNAME;
	if (!e->dev)
		return;
	local_wraps(a, e);
	if (a->opts.release < UT_ACE_1_2)
		return;
	if (!a->epochs_late)
		find_epoch(a, e);
	if (ut_ace_flags_of(a, e) & UT_ACE_NAME(ANY_EXEC))
		ut_ace_frequency_add(&pass_normal_state_of(a)->freq, a, e);
}

int ut_ace_pass_normal1(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	int64_t counted = 0;
	uint32_t any = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at_dev(t, i);

		if (a->opts.release >= UT_ACE_1_2 &&
		    !ut_ace_limit_passes(&a->opts.limit, e, &counted))
			e->flags |= UT_ACE_DROP;
		else if (e->ph == 'X')
			normalize(a, e);
		any |= e->flags;
	}
	if (any & UT_ACE_DROP)
		ut_ace_seq_sweep(t);
	return 0;
}

/* The first event of a file on a rank shows how far its clock has drifted from the rank's. */
static void first_of_job(struct ut_ace_analysis *a, const struct ut_ace_event *e,
			 const struct epoch *ep, double start, int64_t wraps)
{
	struct ut_ace_normal *n = pass_normal_state_of(a);
	uint64_t key = (uint64_t)e->pid << 32 | e->job;
	double span = (double)WRAP / a->opts.soc, since = e->ts - ep->ts;
	double cycles = (double)(ut_ace_dev_of(a, e)->ts[0] + wraps * WRAP - ep->cycle);
	/* the job that the epoch comes from cannot have drifted from it */
	bool same = a->opts.release >= UT_ACE_1_2 ? ut_is_close(e->ts, ep->ts) || e->job == ep->job
						  : since == 0;

	if (ut_idmap_get(&n->jobs, key) == ep->moves + 1)
		return;
	ut_idmap_put(&n->jobs, key, ep->moves + 1);
	ut_ace_frequency_job(&n->freq, same ? 0 : cycles / since,
			     trunc(start - (ep->start + (double)wraps * span)));
}

static void global_wraps(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	struct ut_ace_dev *d = ut_ace_dev_of(a, e);
	double span = (double)WRAP / a->opts.soc, start, wraps;
	const struct epoch *ep;

	if (a->opts.release >= UT_ACE_1_2 && a->epochs_late)
		find_epoch(a, e);
	ep = epoch_of(a, e, d->ts[0], &start);
	wraps = floor((e->ts - ep->start) / span);
	if (!(fabs(wraps) < 1e9)) /* 2^32 wraps and more: no clock runs that long */
		wraps = 0;
	first_of_job(a, e, ep, start, (int64_t)wraps);
	d->ovc = (int32_t)wraps;
	d->flags |= UT_ACE_DEV_OVC;
	for (int i = 0; i < UT_ACE_STAMPS; i++)
		d->ts[i] += (int64_t)wraps * WRAP;
	for (int i = 1; i < UT_ACE_STAMPS; i++) {
		if (d->ts[i] < d->ts[i - 1]) {
			pass_normal_state_of(a)->bad_order++;
			break;
		}
	}
}

static void say_counts(struct ut_ace_analysis *a, const struct ut_ace_normal *n)
{
	a->issues[UT_ACE_ISSUE_BAD_ORDER] += n->bad_order;
	a->issues[UT_ACE_ISSUE_LONG_SPAN] += n->long_spans;
	a->issues[UT_ACE_ISSUE_EPOCH_MOVE] += n->moves;
	if (n->bad_order)
		ut_ace_say(&a->messages, UT_ACE_ERROR,
			   "OVC: local_correction fix has missed a spot in TS-sequence of %" PRIu64
			   " event(s).",
			   n->bad_order);
	if (n->long_spans)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "OVC: Detected %" PRIu64
			   " event(s) with long duration and thus potential "
			   "undetected overflow in TSx counter.",
			   n->long_spans);
	if (n->moves)
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"OVC: reference epoch had to be updated %" PRIu64 " times with newly "
			"detected earlier timestamps. This indicates events with 0.0-timestamps or "
			"out-of-order input events.",
			n->moves);
}

void ut_ace_end_normal(struct ut_ace_analysis *a)
{
	if (!a->normal)
		return;
	free(a->normal->epochs);
	ut_ace_frequency_release(&a->normal->freq);
	a->normal = NULL;
}

int ut_ace_pass_normal2(struct ut_ace_analysis *a)
{
	struct ut_ace_normal *n = pass_normal_state_of(a);
	struct ut_ace_table *t = &a->table;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at_dev(t, i);

		if (ut_ace_has_stamps(e))
			global_wraps(a, e);
	}
	ut_ace_frequency_say(&n->freq, a);
	say_counts(a, n);
	ut_ace_end_normal(a); /* what it has counted stays in the arena */
	if (n->bad_order && !a->opts.ignore_crit)
		return ut_err_set(&a->err, -EPROTO,
				  "stamps TS1 to TS5 of %" PRIu64
				  " events go backwards; --ignore_crit goes on regardless",
				  n->bad_order);
	return 0;
}
