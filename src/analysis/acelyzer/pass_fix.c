/*
 * pass_fix.c - --flex_ts_fix: moves the device events of a file into its AIU Roundtrip.
 *
 * The host's clock is taken for the truth. A file whose device events do not lie inside its round
 * trip is shifted so that both begin together, unless the device was busy for longer than the
 * round trip took: then no shift can help.
 */
#include <stdlib.h>

#include "acelyzer/stage.h"
#include "base/grow.h"
#include "text/shortest.h"

struct range {
	double from, to;
};

struct job {
	size_t index; /* of the file */
	bool any;
	struct range cpu, aiu;
	double first, last; /* device events: earliest begin, latest end */
};

static void pass_fix_collect(struct ut_ace_analysis *a, struct job *jobs)
{
	struct ut_ace_table *t = &a->table;

	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		struct job *j = &jobs[e->job];
		double end = ut_ace_end(e);

		if (e->ph != 'X')
			continue;
		j->any = true;
		if (ut_ace_has_stamps(e)) {
			/* the end is that of the last device event, but not before the host's */
			j->aiu.from = e->ts < j->aiu.from ? e->ts : j->aiu.from;
			j->aiu.to = j->cpu.to > end ? j->cpu.to : end;
			j->first = e->ts < j->first ? e->ts : j->first;
			j->last = end > j->last ? end : j->last;
		} else if (ut_ace_flags_of(a, e) & UT_ACE_NAME(IS_ROUNDTRIP)) {
			j->cpu.from = e->ts < j->cpu.from ? e->ts : j->cpu.from;
			j->cpu.to = end > j->cpu.to ? end : j->cpu.to;
		}
	}
}

/* Sets the offset of a file that needs one; false if it does not. */
static bool pass_fix_evaluate(struct ut_ace_analysis *a, struct ut_ace_job *job,
			      const struct job *j)
{
	if (j->cpu.from <= j->aiu.from && j->cpu.to >= j->aiu.to)
		return false;
	job->offset = j->cpu.from - j->aiu.from;
	job->has_offset = true;
	if (j->cpu.to - j->cpu.from < j->aiu.to - j->aiu.from) {
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"FREQ: aiu event range of %s is wider than cpu range. Will not attempt to "
			"adjust timestamps.",
			job->base);
		job->has_offset = false;
	}
	return true;
}

static int pass_fix_by_start(const void *x, const void *y)
{
	const struct job *a = x, *b = y;

	return (a->cpu.from > b->cpu.from) - (a->cpu.from < b->cpu.from);
}

/*
 * Files in the order of their round trips must not overlap, neither on the host nor on the
 * device. In that order it is enough to compare with the latest end so far.
 */
static bool find_overlap(struct job *jobs, size_t n, size_t *one, size_t *two)
{
	const struct job *cpu = NULL, *aiu = NULL;

	qsort(jobs, n, sizeof(*jobs), pass_fix_by_start);
	for (size_t i = 0; i < n; i++) {
		const struct job *j = &jobs[i];

		if (!j->any)
			continue;
		if (cpu && aiu && cpu->cpu.from < j->cpu.from &&
		    (cpu->cpu.to >= j->cpu.from || aiu->last >= j->first)) {
			*one = cpu->cpu.to >= j->cpu.from ? cpu->index : aiu->index;
			*two = j->index;
			return true;
		}
		cpu = !cpu || j->cpu.to > cpu->cpu.to ? j : cpu;
		aiu = !aiu || j->last > aiu->last ? j : aiu;
	}
	return false;
}

int ut_ace_pass_fix_collect(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct job *jobs = ut_make((t->job_count + 1) * sizeof(*jobs));
	char offset[UT_SHORTEST_ROOM];
	const struct ut_ace_job *first = NULL;
	size_t one = 0, two = 0;

	for (size_t i = 0; i < t->job_count; i++) {
		jobs[i].index = i;
		jobs[i].cpu.from = jobs[i].aiu.from = jobs[i].first = 1e99;
	}
	pass_fix_collect(a, jobs);
	for (size_t i = 0; i < t->job_count; i++) {
		if (jobs[i].any && pass_fix_evaluate(a, &t->jobs[i], &jobs[i]) && !first)
			first = &t->jobs[i];
	}
	if (first)
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"FREQ: job: ('%s', %s) has AIU events outside of corresponding CPU range. "
			"Attempting to fix might cause unreliable data.",
			first->base,
			first->has_offset ? ut_shortest(offset, first->offset) : "None");
	if (find_overlap(jobs, t->job_count, &one, &two))
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "FREQ: Detected a job timestamp overlap in the input data: ('%s', '%s') "
			   "Possible cause is a frequency mismatch or input data misalignment.",
			   t->jobs[one].base, t->jobs[two].base);
	free(jobs);
	return 0;
}

int ut_ace_pass_fix_apply(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);
		const struct ut_ace_job *job = &t->jobs[e->job];

		if (!ut_ace_has_stamps(e) || !job->has_offset || ut_is_zero(job->offset))
			continue;
		e->ts += job->offset;
		e->flags |= UT_ACE_TS_ADJ;
	}
	return 0;
}
