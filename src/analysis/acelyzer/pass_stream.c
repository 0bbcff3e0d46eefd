/*
 * pass_stream.c - passes that sort, check the order, merge threads and drop events by name.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/each.h"
#include "acelyzer/order.h"
#include "acelyzer/stage.h"
#include "base/grow.h"

#define HOST_TID 1000

int ut_ace_pass_nothing(struct ut_ace_analysis *a)
{
	(void)a;
	return 0;
}

int ut_ace_pass_drop_globals(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (ut_ace_flags_of(a, e) & UT_ACE_NAME(GLOBAL))
			e->flags |= UT_ACE_DROP;
	}
	ut_ace_seq_sweep(t);
	return 0;
}

/* What the host did, but for its round trips, becomes one thread. */
struct host {
	struct ut_ace_analysis *a;
	uint32_t tid;
};

static void recombine(void *ctx, size_t from, size_t to)
{
	const struct host *h = ctx;
	const struct ut_ace_table *t = &h->a->table;

	for (size_t i = from; i < to; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph == 'X' && t->jobs[e->job].dialect == UT_ACE_FLEX &&
		    !ut_ace_has_stamps(e) && !(ut_ace_flags_of(h->a, e) & UT_ACE_NAME(ROUNDTRIP)))
			e->tid = h->tid;
	}
}

int ut_ace_pass_recombine(struct ut_ace_analysis *a)
{
	struct host host = { a, ut_ace_id_int(&a->table, HOST_TID) };

	ut_ace_names_reserve(&a->names, &a->table);
	ut_ace_each(a->opts.threads, a->table.seq_count, recombine, &host);
	return 0;
}

static bool is_span(void *ctx, const struct ut_ace_event *e)
{
	(void)ctx;
	return e->ph == 'X';
}

static bool any_event(void *ctx, const struct ut_ace_event *e)
{
	(void)ctx;
	(void)e;
	return true;
}

int ut_ace_pass_sort_streams(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t from =
		ut_ace_order_split(t, a->opts.release >= UT_ACE_1_2 ? any_event : is_span, NULL);
	size_t *ends, groups = ut_ace_order_group(t, from, t->seq_count, true, &ends);

	for (size_t g = 0; g < groups; from = ends[g++]) {
		if (a->opts.release >= UT_ACE_1_2)
			ut_ace_order_by_ts_dur(t, from, ends[g]);
		else
			ut_ace_order_by_ts(t, from, ends[g]);
	}
	free(ends);
	return 0;
}

int ut_ace_pass_sort_all(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	if (a->opts.release >= UT_ACE_1_2)
		ut_ace_order_by_ts_dur(t, 0, t->seq_count);
	else
		ut_ace_order_by_ts(t, ut_ace_order_split(t, is_span, NULL), t->seq_count);
	return 0;
}

int ut_ace_pass_sort_final(struct ut_ace_analysis *a)
{
	ut_ace_order_by_ts_dur(&a->table, 0, a->table.seq_count);
	return 0;
}

static bool is_sample(void *ctx, const struct ut_ace_event *e)
{
	(void)ctx;
	return e->ph == 'C' && e->flags & UT_ACE_CLOCK;
}

int ut_ace_pass_sort_samples(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t from = ut_ace_order_split(t, is_sample, NULL), *ends, groups;

	groups = ut_ace_order_group(t, from, t->seq_count, false, &ends);
	for (size_t g = 0; g < groups; from = ends[g++])
		ut_ace_order_by_clock(t, from, ends[g]);
	free(ends);
	return 0;
}

/* The last kernel of a rank. */
struct last {
	double ts;
	int64_t ts4;
	bool known;
};

/*
 * Kernels of one device cannot overlap: if the cycles say so, the clock's frequency is wrong. The
 * order of spans does not change until the last of these checks, so one is enough.
 */
int ut_ace_pass_check_order(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct last *last;
	uint64_t total = 0, bad = 0;
	int64_t most = 0;

	if (a->checked)
		return 0;
	a->checked = true;
	last = ut_make(t->id_count * sizeof(*last));

	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		const struct ut_ace_dev *d = ut_ace_dev_of(a, e);
		struct last *l = &last[e->pid];

		if (e->ph != 'X' || !(ut_ace_flags_of(a, e) & UT_ACE_NAME(ANY_EXEC)))
			continue;
		total++;
		if (!ut_ace_has_stamps(e))
			continue;
		if (l->known && l->ts < e->ts && d->ts[2] < l->ts4) {
			bad++;
			most = l->ts4 - d->ts[2] > most ? l->ts4 - d->ts[2] : most;
		}
		*l = (struct last){ e->ts, d->ts[3], true };
	}
	a->issues[UT_ACE_ISSUE_CYCLE_OVERLAP] += bad;
	if (bad)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "TS_SEQUENCE: detected cycles overlapping (TS3[n] < TS4[n-1]) between "
			   "cmpt_exec events within the same PID  %" PRIu64 " / %" PRIu64
			   " max overlap cycles:  %" PRId64,
			   bad, total, most);
	free(last);
	return 0;
}

int ut_ace_pass_check_global(struct ut_ace_analysis *a)
{
	const struct ut_ace_table *t = &a->table;
	double last = 0;
	uint64_t bad = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph != 'X')
			continue;
		bad += e->ts < last;
		last = e->ts;
	}
	if (bad)
		ut_ace_say(&a->messages, UT_ACE_ERROR, "Events out of order: %" PRIu64, bad);
	return 0;
}

int ut_ace_pass_keep_phases(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (!strchr(a->opts.keep_phases, e->ph))
			e->flags |= UT_ACE_DROP;
	}
	ut_ace_seq_sweep(t);
	return 0;
}

int ut_ace_pass_forget_dev_us(struct ut_ace_analysis *a)
{
	a->forgot_dev_us = true;
	return 0;
}

int ut_ace_pass_forget_all(struct ut_ace_analysis *a)
{
	a->forgot_all = true;
	return 0;
}
