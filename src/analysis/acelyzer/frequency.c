#include "acelyzer/frequency.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "text/shortest.h"

#define TOLERANCE 0.1

static void frequency_add(struct ut_ace_speed *s, double mhz)
{
	s->min = s->count && s->min < mhz ? s->min : mhz;
	s->max = s->count && s->max > mhz ? s->max : mhz;
	s->count++;
	s->mean += (mhz - s->mean) / (double)s->count;
}

void ut_ace_frequency_init(struct ut_ace_frequency *f, double given)
{
	*f = (struct ut_ace_frequency){ .given = given };
}

void ut_ace_frequency_release(struct ut_ace_frequency *f)
{
	free(f->ranks);
	*f = (struct ut_ace_frequency){ 0 };
}

static struct ut_ace_rank_speed *frequency_rank_of(struct ut_ace_frequency *f, uint32_t pid)
{
	for (size_t i = 0; i < f->rank_count; i++) {
		if (f->ranks[i].pid == pid)
			return &f->ranks[i];
	}
	f->ranks = ut_grow(f->ranks, f->rank_count + 1, &f->rank_cap, sizeof(*f->ranks));
	f->ranks[f->rank_count].pid = pid;
	return &f->ranks[f->rank_count++];
}

/* Cycles between two kernels, if there should be about that many: the counter may have wrapped. */
static double cycles_in(int64_t difference, double about)
{
	const double wrap = 4294967296.0;

	return (double)difference + wrap * rint((about - (double)difference) / wrap);
}

void ut_ace_frequency_add(struct ut_ace_frequency *f, struct ut_ace_analysis *a,
			  const struct ut_ace_event *e)
{
	uint64_t n = ut_ace_flags_of(a, e);
	const struct ut_ace_dev *d = ut_ace_dev_of(a, e);
	struct ut_ace_rank_speed *r = frequency_rank_of(f, e->pid);
	int part = n & UT_ACE_NAME(ANY_IN) ? 0 : n & UT_ACE_NAME(PREP) ? 1 : 2;
	double gap = e->ts - r->ts, mhz, interval;

	if (e->dur <= 0) /* such an event cannot tell a speed */
		return;
	mhz = interval = (double)(d->ts[part + 1] - d->ts[part]) / e->dur;
	if (r->interval.count && gap > 0)
		interval = cycles_in(d->ts[part] - r->cycle, gap * f->given) / gap;
	else if (r->interval.count)
		f->zero_gaps++;
	frequency_add(&r->duration, mhz);
	frequency_add(&r->interval, interval);
	r->ts = e->ts;
	r->cycle = d->ts[part];
}

void ut_ace_frequency_job(struct ut_ace_frequency *f, double mhz, double drift)
{
	if (mhz == 0 || !isfinite(mhz))
		return;
	frequency_add(&f->jobs, mhz);
	if (fabs(drift) > fabs(f->drift))
		f->drift = drift;
}

static void say_report(const struct ut_ace_frequency *f, struct ut_ace_analysis *a, bool interval)
{
	struct ut_ace_speed all = { .min = 1e99 };
	char min[UT_SHORTEST_ROOM], mean[UT_SHORTEST_ROOM], max[UT_SHORTEST_ROOM];
	char range[UT_SHORTEST_ROOM], ratio[UT_SHORTEST_ROOM];
	double spread, against;

	for (size_t i = 0; i < f->rank_count; i++) {
		const struct ut_ace_speed *s =
			interval ? &f->ranks[i].interval : &f->ranks[i].duration;

		all.min = fmin(all.min, s->min);
		all.max = fmax(all.max, s->max);
		all.mean += (s->mean - all.mean) / (double)(i + 1);
	}
	if (ut_is_zero(all.mean))
		return;
	spread = ut_round((all.max - all.min) / all.mean, 3);
	against = ut_round(f->given / all.mean, 3);
	ut_ace_say(
		&a->messages,
		spread > TOLERANCE || fabs(1 - against) > TOLERANCE ? UT_ACE_WARN : UT_ACE_INFO,
		"FREQ: Detected Event-%s-based frequency (min/mean/max): %s %s %s ; rel_range=%s, "
		"input_soc_freq/detected=%s",
		interval ? "interval" : "duration", ut_shortest(min, ut_round(all.min, 2)),
		ut_shortest(mean, ut_round(all.mean, 2)), ut_shortest(max, ut_round(all.max, 2)),
		ut_shortest(range, spread), ut_shortest(ratio, against));
}

void ut_ace_frequency_say(const struct ut_ace_frequency *f, struct ut_ace_analysis *a)
{
	const struct ut_ace_speed *j = &f->jobs;
	char one[UT_SHORTEST_ROOM], two[UT_SHORTEST_ROOM];
	double max = j->max > 0 ? j->max : 0;

	if (!ut_is_zero(j->mean) && max - j->min > j->mean * 0.2)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "FREQ: Min/Max of detected correct frequency is >20%% of mean (%s,%s). "
			   "This "
			   "indicates some events might have been assigned to the wrong TSx epoch.",
			   ut_shortest(one, ut_round(j->min, 3)),
			   ut_shortest(two, ut_round(max, 3)));
	else if (!ut_is_zero(j->mean) && fabs(j->mean - f->given) > TOLERANCE)
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"FREQ: Recommendation: to minimize event time drift (max: %.0fus) between "
			"CPU and Accelerator, use: --freq=%s",
			f->drift, ut_shortest(one, ut_round(j->mean, 3)));
	say_report(f, a, false);
	say_report(f, a, true);
	if (f->zero_gaps)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "Detected %" PRIu64
			   " identical timestamps between consecutive events. This "
			   "suggests a timestamp issue in the trace and causes unreliable "
			   "interval-based frequency calculation.",
			   f->zero_gaps);
}
