/*
 * pass_power.c - watts from the charge that the device has counted.
 *
 * Each device event carries the counter's value at the end of its computation. Two readings and
 * the time between them give a power, shown from the first of them on. power_ts4 uses the host's
 * clock, power_ts3 the cycles of the stamp TS3.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "acelyzer/stage.h"
#include "base/grow.h"
#include "text/shortest.h"

#define TS3       2
#define TS4       3
#define VOLTS     12.0
#define SHORTEST  0.1 /* us */
#define WRAP      4294967296.0
#define ZERO_STEP 0.001 /* us before the next sample */

/* A reading: a counter whose dur is its clock and whose cat is the event that it comes from. */
static void pass_power_add_sample(struct ut_ace_analysis *a, const struct ut_ace_event *from,
				  double ts, double clock, double value)
{
	struct ut_arg arg = ut_ace_num_arg(UT_ACE_K_WATTS, value);
	uint32_t name = from->name;
	struct ut_ace_event *e = ut_ace_add_counter(a, from->pid, ts, UT_ACE_K_POWER, &arg);

	e->dur = clock;
	e->cat = name;
	e->flags |= UT_ACE_CLOCK | UT_ACE_HAS_CAT;
}

int ut_ace_pass_power_samples(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	bool ts4 = a->opts.counters & UT_ACE_POWER_TS4;
	bool *seen = ut_make(t->id_count * sizeof(*seen));
	size_t n = t->seq_count;

	for (size_t i = 0; i < n; i++) {
		const struct ut_ace_event *e = ut_ace_at_dev(t, i);
		const struct ut_ace_dev *d = &t->devs[e->dev];

		if ((e->ph != 'X' && e->ph != 'b') || !e->dev ||
		    ut_ace_flags_of(a, e) & UT_ACE_NAME(ANY_PREP) ||
		    !(d->flags & UT_ACE_DEV_POWER) || !(d->flags & UT_ACE_DEV_ALL))
			continue;
		if (!ts4) {
			pass_power_add_sample(a, e, d->all[TS3], (double)d->ts[TS3], d->power);
			continue;
		}
		if (e->dur <= SHORTEST)
			continue;
		if (!seen[e->pid]) {
			seen[e->pid] = true;
			pass_power_add_sample(a, e, d->all[TS3], d->all[TS3], 0);
			e = &t->events[t->seq[i]];
		}
		pass_power_add_sample(a, e, d->all[TS4], d->all[TS4], d->power);
	}
	free(seen);
	return 0;
}

struct power {
	uint32_t *last; /* by process: the sample that waits for the next + 1 */
	uint64_t in, out, bad;
};

static double pass_power_value_of(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_arg arg;

	return ut_ace_arg(&a->table, e->args, UT_ACE_K_WATTS, &arg) ? trunc(arg.value.f64) : 0;
}

/* -k: pairs of which one says nothing about the other. */
static bool skipped(struct ut_ace_analysis *a, const struct ut_ace_event *x,
		    const struct ut_ace_event *y)
{
	uint64_t first = ut_ace_name_flags(&a->names, &a->table, x->cat);
	uint64_t second = ut_ace_name_flags(&a->names, &a->table, y->cat);

	if (first & UT_ACE_NAME(ANY_EXEC) && second & (UT_ACE_NAME(ANY_EXEC) | UT_ACE_NAME(IN)))
		return true;
	return first & UT_ACE_NAME(OUT) && second & UT_ACE_NAME(IN);
}

double ut_ace_watts(const struct ut_ace_analysis *a, double charge, double us)
{
	if (a->opts.release >= UT_ACE_1_2)
		return VOLTS * charge * (1.0 / 512) / us;
	return VOLTS * charge * (5.37 / 512) / (us * 1000);
}

/* Of charge between two samples; equal readings count as a full turn of the counter. */
static double watts(struct ut_ace_analysis *a, struct power *p, double charge, double time)
{
	double w;

	if (charge <= 0)
		charge += WRAP;
	if (a->opts.counters & UT_ACE_POWER_TS3)
		return ut_round(charge / time, 3);
	w = ut_ace_watts(a, charge, time);
	if (w > UT_ACE_MOST_WATTS) {
		p->bad++;
		w = 0;
	}
	return w;
}

static uint32_t kind_name(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	uint64_t n = ut_ace_name_flags(&a->names, &a->table, e->cat);

	if (a->opts.counters & UT_ACE_POWER_TS4)
		return UT_ACE_K_POWER;
	return ut_strtab_intern_z(&a->table.strings,
				  n & UT_ACE_NAME(ANY_IN)       ? "Power DmaI"
				  : n & UT_ACE_NAME(ANY_OUT)    ? "Power DmaO"
				  : n & UT_ACE_NAME(ANY_GATHER) ? "Power AllGather"
				  : n & UT_ACE_NAME(ANY_REDUCE) ? "Power AllReduce"
				  : n & UT_ACE_NAME(ANY_EXEC)   ? "Power Cmpt Exec"
								: "Power Other");
}

/* The waiting sample becomes a counter that is shown. */
static void finish_sample(struct ut_ace_analysis *a, uint32_t at, double power, double next_ts)
{
	struct ut_ace_table *t = &a->table;
	struct ut_arg arg = ut_ace_num_arg(UT_ACE_K_WATTS, power);
	struct ut_ace_event *e = &t->events[at], zero;

	e->args = ut_arglists_add(&t->lists, &arg, 1);
	e->name = kind_name(a, e);
	e->cat = a->opts.counters & UT_ACE_POWER_TS4 ? UT_ACE_K_CAT_POWER4 : UT_ACE_K_CAT_POWER3;
	e->dur = 0;
	e->flags &= ~(uint32_t)UT_ACE_CLOCK;
	ut_ace_seq_add(t, at);
	if (a->opts.counters & UT_ACE_POWER_TS4)
		return;
	zero = t->events[at];
	zero.ts = next_ts - ZERO_STEP;
	arg.value.f64 = 0;
	zero.args = ut_arglists_add(&t->lists, &arg, 1);
	*ut_ace_event_add(t) = zero;
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
}

static void pass_power_take_sample(struct ut_ace_analysis *a, struct power *p, uint32_t at)
{
	struct ut_ace_table *t = &a->table;
	const struct ut_ace_event *now = &t->events[at];
	uint32_t *last = &p->last[now->pid];
	const struct ut_ace_event *before = *last ? &t->events[*last - 1] : NULL;
	double power;

	p->in++;
	if (!before || pass_power_value_of(a, before) == 0) {
		*last = at + 1;
		return;
	}
	if (pass_power_value_of(a, now) == 0)
		return;
	if (before->dur == now->dur) {
		/* preparations have been left out already, so the first one stays */
		if (ut_ace_name_flags(&a->names, t, before->cat) & UT_ACE_NAME(ANY_PREP))
			*last = at + 1;
		return;
	}
	if (a->opts.skip_events && skipped(a, before, now))
		return;
	power = watts(a, p, pass_power_value_of(a, now) - pass_power_value_of(a, before),
		      now->dur - before->dur);
	finish_sample(a, *last - 1, power, now->ts);
	p->last[t->events[at].pid] = at + 1;
	p->out++;
}

int ut_ace_pass_power(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct power p = { .last = ut_make(t->id_count * sizeof(*p.last)) };
	uint32_t *samples = NULL;
	size_t count = 0, cap = 0, kept = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		if (ut_ace_at(t, i)->flags & UT_ACE_CLOCK) {
			samples = ut_grow(samples, count + 1, &cap, sizeof(*samples));
			samples[count++] = t->seq[i];
		} else {
			t->seq[kept++] = t->seq[i];
		}
	}
	t->seq_count = kept;
	for (size_t i = 0; i < count; i++)
		pass_power_take_sample(a, &p, samples[i]);
	a->issues[UT_ACE_ISSUE_BAD_POWER] += p.bad;
	if (p.bad)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "PEC encountered %" PRIu64
			   " bad power events set to 0.0W. Enable DEBUG (-D 3) to display.",
			   p.bad);
	ut_ace_say(&a->messages, UT_ACE_INFO, "PEC event stats o/i: %" PRIu64 " / %" PRIu64, p.out,
		   p.in);
	free(samples);
	free(p.last);
	return 0;
}
