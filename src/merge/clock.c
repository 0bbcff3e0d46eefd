/*
 * clock.c - brings the files of a merge onto one clock.
 *
 * Files say in different ways when their time 0 was: ours give the offset to wall-clock time,
 * PyTorch its base time, Intel's unitrace and older PyTorch count from 1970. Wall clocks of two
 * hosts agree as well as NTP makes them; processes of one host share CLOCK_MONOTONIC, which is
 * better than any wall clock, so they are never moved against each other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "merge/plan.h"

/* Times from here on, in ns, can only count from 1970: it is 2001, or 31 years after a boot. */
#define SINCE_1970 INT64_C(1000000000000000000)
#define EPOCH_MOST INT64_C(4102444800000000000) /* 2100 */
/* Wall clocks of one host are set, too, but not by that much unless it was started again. */
#define SAME_BOOT INT64_C(60000000000)

static const struct ut_facts_process *placed_process(const struct ut_facts *f)
{
	for (uint32_t i = 0; i < f->process_count; i++) {
		if (f->processes[i].placed)
			return &f->processes[i];
	}
	return NULL;
}

static void find_epoch(struct ut_merge_file *f)
{
	const struct ut_facts_process *p = placed_process(&f->facts);

	f->placed = true;
	if (f->facts.first >= SINCE_1970 && f->facts.first <= EPOCH_MOST)
		f->epoch = 0;
	else if (p)
		f->epoch = p->realtime;
	else if (f->facts.placed)
		f->epoch = f->facts.base;
	else
		f->placed = false;
	if (f->epoch < 0 || f->epoch > EPOCH_MOST || f->facts.first > f->facts.last)
		f->placed = false;
}

struct host {
	struct ut_str name;
	struct ut_merge_file *file;
};

static int by_host(const void *a, const void *b)
{
	const struct host *x = a, *y = b;
	int order = ut_str_cmp(x->name, y->name);

	if (order)
		return order;
	return x->file < y->file ? -1 : 1;
}

/* Files of one host and boot have one clock: the epoch that its first file gives. */
static void join_hosts(struct ut_merge_plan *p)
{
	struct host *hosts = ut_make((p->count + 1) * sizeof(*hosts));
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++) {
		struct ut_merge_file *f = &p->files[i];
		const struct ut_facts_process *process = placed_process(&f->facts);

		if (!f->left_out && f->placed && f->epoch && process && process->host.len)
			hosts[n++] = (struct host){ ut_facts_span(&f->facts, process->host), f };
	}
	if (n)
		qsort(hosts, n, sizeof(*hosts), by_host);
	for (size_t i = 1, first = 0; i < n; i++) {
		bool same = ut_str_eq(hosts[i].name, hosts[first].name);
		int64_t apart = same ? hosts[i].file->epoch - hosts[first].file->epoch : SAME_BOOT;

		if (apart > -SAME_BOOT && apart < SAME_BOOT)
			hosts[i].file->epoch = hosts[first].file->epoch;
		else
			first = i;
	}
	free(hosts);
}

/*
 * The file whose clock everybody gets: the one with the latest time 0, so that numbers stay small
 * and viewers, who read them as doubles, keep their nanoseconds; but no event may come to lie
 * before 0.
 */
static bool choose_reference(struct ut_merge_plan *p)
{
	int64_t earliest = INT64_MAX, best = -1, least = INT64_MAX;
	bool any = false;

	for (size_t i = 0; i < p->count; i++) {
		const struct ut_merge_file *f = &p->files[i];
		int64_t start;

		if (f->left_out || !f->placed)
			continue;
		any = true;
		least = f->epoch < least ? f->epoch : least;
		if (!__builtin_add_overflow(f->epoch, f->facts.first, &start) && start < earliest)
			earliest = start;
	}
	for (size_t i = 0; i < p->count; i++) {
		const struct ut_merge_file *f = &p->files[i];

		if (f->left_out || !f->placed || f->epoch <= best ||
		    (f->epoch > earliest && f->epoch > least))
			continue;
		best = f->epoch;
		p->reference = i;
	}
	p->epoch = best;
	return any;
}

void ut_merge_align(struct ut_merge_plan *p, bool no_align)
{
	for (size_t i = 0; i < p->count; i++) {
		if (!p->files[i].left_out)
			find_epoch(&p->files[i]);
	}
	if (no_align)
		return;
	join_hosts(p);
	p->placed = choose_reference(p);
	for (size_t i = 0; p->placed && i < p->count; i++) {
		struct ut_merge_file *f = &p->files[i];

		if (f->left_out)
			continue;
		if (f->placed)
			f->plan.shift = f->epoch - p->epoch;
		p->aligned += f->placed;
		p->unplaced += !f->placed;
	}
}
