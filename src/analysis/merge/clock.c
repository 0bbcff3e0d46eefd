/*
 * clock.c - brings the files of a merge onto one clock.
 *
 * Files say in different ways when their time 0 was: ours give the offset to wall-clock time,
 * PyTorch its base time, Intel's unitrace and older PyTorch count from 1970.
 */
#include <stdlib.h>

#include "analyze/host_clocks.h"
#include "base/grow.h"
#include "merge/plan.h"

/* Times from here on, in ns, can only count from 1970: it is 2001, or 31 years after a boot. */
#define SINCE_1970 INT64_C(1000000000000000000)
#define EPOCH_MOST INT64_C(4102444800000000000) /* 2100 */

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

/* Files of one host and boot have one clock: the epoch that its first file gives. */
static uint32_t join_hosts(struct ut_merge_file *all, size_t count)
{
	struct ut_clock_of *clocks = ut_make((count + 1) * sizeof(*clocks));
	struct ut_merge_file **files = ut_make((count + 1) * sizeof(struct ut_merge_file *));
	uint32_t found;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		struct ut_merge_file *f = &all[i];
		const struct ut_facts_process *process = placed_process(&f->facts);

		f->clock = UINT32_MAX;
		if (f->left_out || !f->placed || !f->epoch || !process || !process->host.len)
			continue;
		files[n] = f;
		clocks[n++] = (struct ut_clock_of){ ut_facts_span(&f->facts, process->host),
						    f->epoch, 0 };
	}
	found = ut_clocks_share(clocks, n);
	for (size_t i = 0; i < n; i++) {
		files[i]->epoch = clocks[i].epoch;
		files[i]->clock = clocks[i].clock;
	}
	free(clocks);
	free(files);
	return found;
}

uint32_t ut_merge_place(struct ut_merge_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!files[i].left_out)
			find_epoch(&files[i]);
	}
	return join_hosts(files, count);
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

/* Of a file that was brought onto the root's clock: what is added to its first time. */
static int64_t first_added(const struct ut_merge_file *f)
{
	return ut_time_map_add(&f->map, f->facts.first);
}

/*
 * With evidence the clock is that of the root; time 0 may have to lie earlier, because no event may
 * come to lie before it.
 */
static void place_on_root(struct ut_merge_plan *p)
{
	int64_t epoch = p->clocks.epoch, start;

	p->reference = SIZE_MAX;
	for (size_t i = 0; i < p->count; i++) {
		const struct ut_merge_file *f = &p->files[i];

		if (f->left_out || !f->placed)
			continue;
		if (f->map.count) {
			start = f->facts.first + first_added(f);
			if (start < 0 && p->clocks.epoch + start < epoch)
				epoch = p->clocks.epoch + start;
			if (p->reference == SIZE_MAX && ut_time_map_is_shift(&f->map) &&
			    !first_added(f))
				p->reference = i;
		} else if (f->epoch + f->facts.first < epoch) {
			epoch = f->epoch + f->facts.first;
		}
	}
	p->reference = p->reference == SIZE_MAX ? 0 : p->reference;
	p->epoch = epoch;
}

static void set_shift(const struct ut_merge_plan *p, struct ut_merge_file *f)
{
	f->plan.shift = f->epoch - p->epoch;
	if (!f->map.count)
		return;
	ut_time_map_shift(&f->map, p->clocks.epoch - p->epoch);
	f->plan.shift = first_added(f);
	f->plan.map = ut_time_map_is_shift(&f->map) ? NULL : &f->map;
}

void ut_merge_align(struct ut_merge_plan *p, bool no_align)
{
	(void)ut_merge_place(p->files, p->count);
	if (no_align)
		return;
	p->placed = choose_reference(p);
	if (p->placed && p->clocks.hosts)
		place_on_root(p);
	for (size_t i = 0; p->placed && i < p->count; i++) {
		struct ut_merge_file *f = &p->files[i];

		if (f->left_out)
			continue;
		if (f->placed)
			set_shift(p, f);
		p->aligned += f->placed;
		p->unplaced += !f->placed;
	}
}
