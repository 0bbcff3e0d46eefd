#include "acelyzer/extra.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/extra_work.h"
#include "base/grow.h"

#define FARTHEST 1e17 /* ns from zero: three years; what is farther away is put there */

void ut_ace_extra_init(struct ut_ace_extra *x, const struct ut_ace_analysis *a)
{
	*x = (struct ut_ace_extra){ .last_seq = a->table.seq_count,
				    .last_events = a->table.event_count };
	x->trust.events = a->table.seq_count;
	x->trust.files = a->table.job_count;
	ut_idmap_init(&x->rank_index, &x->arena);
}

void ut_ace_extra_release(struct ut_ace_extra *x)
{
	for (size_t i = 0; i < x->rank_count; i++) {
		for (int w = 0; w < UT_ACE_WORKS; w++)
			free(x->ranks[i].work[w].items);
		free(x->ranks[i].steps);
		free(x->ranks[i].samples);
	}
	free(x->ranks);
	free(x->kernels);
	free(x->colls);
	free(x->members);
	free(x->missing);
	free(x->stages);
	free(x->preps);
	free(x->marks);
	ut_arena_release(&x->arena);
	*x = (struct ut_ace_extra){ 0 };
}

uint32_t ut_ace_extra_rank(struct ut_ace_extra *x, int64_t number)
{
	uint64_t key = (uint64_t)number;
	uint32_t at = ut_idmap_get(&x->rank_index, key);

	if (!at) {
		x->ranks = ut_grow(x->ranks, x->rank_count + 1, &x->rank_cap, sizeof(*x->ranks));
		x->ranks[x->rank_count].rank = number;
		at = (uint32_t)++x->rank_count;
		ut_idmap_put(&x->rank_index, key, at);
	}
	return at - 1;
}

int64_t ut_ace_extra_ns(const struct ut_ace_extra *x, double us)
{
	double ns = (us - x->zero) * 1000;

	if (!(ns < FARTHEST)) /* also what is no number */
		return (int64_t)FARTHEST;
	return ns > -FARTHEST ? llrint(ns) : -(int64_t)FARTHEST;
}

/* Preparations are about to be dropped; their rows stay, and so do later corrections of them. */
static void remember_preps(struct ut_ace_extra *x, struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	x->prep_count = 0;
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);

		if (!ut_ace_has_stamps(e) || !(ut_ace_flags_of(a, e) & UT_ACE_NAME(END_PREP)))
			continue;
		x->preps = ut_grow(x->preps, x->prep_count + 1, &x->prep_cap, sizeof(*x->preps));
		x->preps[x->prep_count++] = t->seq[i];
	}
}

static void count_stage(struct ut_ace_extra *x, const struct ut_ace_analysis *a, const char *stage)
{
	uint64_t seq = a->table.seq_count, added = a->table.event_count - x->last_events;

	if (added || seq != x->last_seq) {
		x->stages =
			ut_grow(x->stages, x->stage_count + 1, &x->stage_cap, sizeof(*x->stages));
		x->stages[x->stage_count++] = (struct ut_ace_stage_count){
			.stage = stage,
			.before = x->last_seq,
			.added = added,
			.dropped = x->last_seq + added - seq,
		};
	}
	x->last_seq = seq;
	x->last_events = a->table.event_count;
}

void ut_ace_extra_after(struct ut_ace_extra *x, struct ut_ace_analysis *a, const char *stage)
{
	count_stage(x, a, stage);
	if (!strcmp(stage, "normalize_phase2"))
		ut_ace_extra_clocks(x, a);
	else if (!strcmp(stage, "tighten_hts_by_instr_type"))
		remember_preps(x, a);
}

static void unite_all(struct ut_ace_extra *x)
{
	for (size_t i = 0; i < x->rank_count; i++) {
		for (int w = 0; w < UT_ACE_WORKS; w++)
			ut_ace_intervals_unite(&x->ranks[i].work[w]);
	}
}

static int extra_by_number(const void *p, const void *q)
{
	const struct ut_ace_extra_rank *a = p, *b = q;

	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Ranks by their number; whoever knows a place learns the new one. */
static void sort_ranks(struct ut_ace_extra *x)
{
	uint32_t *now = ut_make((x->rank_count + 1) * sizeof(*now));
	int64_t *numbers = ut_make((x->rank_count + 1) * sizeof(*numbers));

	for (size_t i = 0; i < x->rank_count; i++)
		numbers[i] = x->ranks[i].rank;
	if (x->rank_count)
		qsort(x->ranks, x->rank_count, sizeof(*x->ranks), extra_by_number);
	for (size_t i = 0; i < x->rank_count; i++)
		ut_idmap_put(&x->rank_index, (uint64_t)x->ranks[i].rank, (uint32_t)i + 1);
	for (size_t i = 0; i < x->rank_count; i++)
		now[i] = ut_idmap_get(&x->rank_index, (uint64_t)numbers[i]) - 1;
	for (size_t i = 0; i < x->kernel_count; i++)
		x->kernels[i].rank = now[x->kernels[i].rank];
	for (size_t i = 0; i < x->coll_count; i++)
		x->colls[i].last_rank = now[x->colls[i].last_rank];
	for (size_t i = 0; i < x->member_count; i++)
		x->members[i].rank = now[x->members[i].rank];
	free(now);
	free(numbers);
}

static int extra_by_rank(const void *p, const void *q)
{
	const struct ut_ace_kernel *a = p, *b = q;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

void ut_ace_extra_finish(struct ut_ace_extra *x, struct ut_ace_analysis *a, const char *stopped)
{
	struct ut_ace_meets *meets = ut_ace_meets_new(x, a);

	ut_ace_extra_collect(x, a, meets);
	ut_ace_meets_finish(meets);
	unite_all(x);
	sort_ranks(x);
	ut_ace_extra_split(x);
	ut_ace_extra_stragglers(x);
	if (x->kernel_count)
		qsort(x->kernels, x->kernel_count, sizeof(*x->kernels), extra_by_rank);
	ut_ace_extra_trust(x, a, stopped);
}
