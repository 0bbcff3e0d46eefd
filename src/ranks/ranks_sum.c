/* ranks_sum.c - see ranks_sum.h. */
#include "ranks/ranks_sum.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "ranks/ranks_parts.h"

struct summing {
	const struct ut_ranks *ranks;
	struct ut_rank_sums *sums;
	uint32_t rank; /* that is looked at: index */
	struct ut_rank_keys call_names, tasks;
	struct ut_rank_keys call_of_rank; /* name, rank */
	uint64_t *call_times;             /* of them */
	size_t call_times_cap;
	struct ut_rank_keys task_of_rank; /* task, rank */
	uint64_t *task_times;
	size_t task_times_cap;
	struct ut_rank_keys waits;   /* rank, task, why, call */
	struct ut_rank_keys waiters; /* row of waits, rank */
	struct ut_rank_keys pairs;   /* from, to */
	struct ut_rank_keys blamed;  /* rank, task */
	uint64_t *blamed_times;
	size_t blamed_cap;
	const struct ut_rank_call *waiting; /* the call whose wait is blamed */
	size_t call_cap, task_cap, wait_cap, pair_cap;
};

/* ---- rows ---------------------------------------------------------------------------------- */

static struct ut_rank_by_call *call_row(struct summing *s, uint32_t name)
{
	size_t row = ut_rank_keys_row(&s->call_names, name, 0, 0, 0);
	struct ut_rank_sums *sums = s->sums;

	sums->calls = ut_grow(sums->calls, row + 1, &s->call_cap, sizeof(*sums->calls));
	sums->call_count = s->call_names.count;
	sums->calls[row].name = name;
	return &sums->calls[row];
}

static struct ut_rank_by_task *task_row(struct summing *s, uint32_t task)
{
	size_t row = ut_rank_keys_row(&s->tasks, task, 0, 0, 0);
	struct ut_rank_sums *sums = s->sums;

	sums->tasks = ut_grow(sums->tasks, row + 1, &s->task_cap, sizeof(*sums->tasks));
	sums->task_count = s->tasks.count;
	sums->tasks[row].task = task;
	return &sums->tasks[row];
}

static struct ut_rank_wait *wait_row(struct summing *s, uint32_t rank, uint32_t task)
{
	uint32_t why = s->waiting->why, call = s->waiting->name;
	size_t row = ut_rank_keys_row(&s->waits, rank, task, why, call), known;
	struct ut_rank_sums *sums = s->sums;

	sums->waits = ut_grow(sums->waits, row + 1, &s->wait_cap, sizeof(*sums->waits));
	sums->wait_count = s->waits.count;
	sums->waits[row].rank = rank;
	sums->waits[row].task = task;
	sums->waits[row].why = why;
	sums->waits[row].call = call;
	known = s->waiters.count;
	ut_rank_keys_row(&s->waiters, (uint32_t)row, s->rank, 0, 0);
	sums->waits[row].waiters += s->waiters.count > known;
	return &sums->waits[row];
}

static struct ut_rank_pair *pair_row(struct summing *s, int32_t from, int32_t to)
{
	size_t row = ut_rank_keys_row(&s->pairs, (uint32_t)from, (uint32_t)to, 0, 0);
	struct ut_rank_sums *sums = s->sums;

	sums->pairs = ut_grow(sums->pairs, row + 1, &s->pair_cap, sizeof(*sums->pairs));
	sums->pair_count = s->pairs.count;
	sums->pairs[row].from = from;
	sums->pairs[row].to = to;
	return &sums->pairs[row];
}

static uint64_t *time_of(struct ut_rank_keys *keys, uint64_t **times, size_t *cap, uint32_t a,
			 uint32_t b)
{
	size_t row = ut_rank_keys_row(keys, a, b, 0, 0);

	*times = ut_grow(*times, row + 1, cap, sizeof(**times));
	return &(*times)[row];
}

/* ---- one call ------------------------------------------------------------------------------ */

/* What the rank that was waited for did meanwhile. */
static void blame(void *ctx, const struct ut_rank_piece *p)
{
	struct summing *s = ctx;
	uint32_t rank = s->waiting->waited_for, task = p->call ? UT_RANK_IN_CALL : p->task;
	uint64_t time = p->end - p->begin;
	struct ut_rank_wait *w = wait_row(s, rank, task);

	w->time += time;
	w->times++;
	if (time > w->longest) {
		w->longest = time;
		w->longest_rank = s->rank;
		w->begin = s->waiting->begin;
		w->end = s->waiting->end;
	}
	*time_of(&s->blamed, &s->blamed_times, &s->blamed_cap, rank, task) += time;
	if (task != UT_RANK_IN_CALL)
		task_row(s, task)->caused += time;
}

static void sum_wait(struct summing *s, const struct ut_rank_call *c)
{
	struct ut_rank_sum *mine = &s->sums->ranks[s->rank];
	struct ut_rank_sum *theirs = &s->sums->ranks[c->waited_for];

	if (!c->wait)
		return;
	mine->wait[0] += c->wait;
	mine->wait[c->why] += c->wait;
	theirs->caused += c->wait;
	s->waiting = c;
	ut_rank_walk(&s->ranks->items[c->waited_for], c->begin, c->begin + c->wait, blame, s);
}

static void sum_call(struct summing *s, const struct ut_rank_call *c)
{
	struct ut_rank_sum *mine = &s->sums->ranks[s->rank];
	uint64_t time = ut_rank_time(c);
	struct ut_rank_by_call *row = call_row(s, c->name);

	mine->calls++;
	mine->sent += c->sent;
	mine->received += c->received;
	row->count++;
	row->sent += c->sent;
	row->received += c->received;
	if (c->to >= 0 && c->use != UT_RANK_OTHER) {
		struct ut_rank_pair *pair = pair_row(s, s->ranks->items[s->rank].rank, c->to);

		mine->messages++;
		pair->messages++;
		pair->bytes += c->sent;
	}
	if (c->side)
		return;
	row->time += time;
	row->wait += c->wait;
	*time_of(&s->call_of_rank, &s->call_times, &s->call_times_cap, c->name, s->rank) += time;
	if (ut_rank_communicates(c->use)) {
		row->transfer += time - c->wait;
		mine->transfer += time - c->wait;
	}
	sum_wait(s, c);
}

/* The time that messages took, and that was waited for them. */
static void sum_messages(struct summing *s)
{
	const struct ut_rank *one = &s->ranks->items[s->rank];

	for (size_t i = 0; i < one->end_count; i++) {
		const struct ut_rank_end *e = &one->ends[i];
		const struct ut_rank_call *in = &one->calls[e->call], *out;
		struct ut_rank_pair *pair;
		uint64_t both;

		if (!e->received || e->partner == UT_RANK_NOBODY)
			continue;
		out = &s->ranks->items[e->partner].calls[e->partner_call];
		pair = pair_row(s, s->ranks->items[e->partner].rank, one->rank);
		both = out->begin > in->begin ? out->begin : in->begin;
		pair->time += in->end > both ? in->end - both : 0;
		if (in->why == UT_RANK_LATE_SENDER && in->waited_for == e->partner)
			pair->wait += in->wait;
	}
}

/* ---- one rank ------------------------------------------------------------------------------ */

static void sum_piece(void *ctx, const struct ut_rank_piece *p)
{
	struct summing *s = ctx;
	struct ut_rank_sum *mine = &s->sums->ranks[s->rank];
	uint64_t time = p->end - p->begin;

	if (p->call) {
		mine->in_calls += time;
		task_row(s, p->task)->in_calls += time;
		return;
	}
	mine->useful += time;
	*time_of(&s->task_of_rank, &s->task_times, &s->task_times_cap, p->task, s->rank) += time;
}

static void sum_rank(struct summing *s)
{
	const struct ut_rank *one = &s->ranks->items[s->rank];
	struct ut_rank_sum *mine = &s->sums->ranks[s->rank];

	mine->total = one->stop > one->start ? one->stop - one->start : 0;
	ut_rank_walk(one, one->start, one->stop, sum_piece, s);
	for (size_t i = 0; i < one->call_count; i++) {
		const struct ut_rank_call *c = &one->calls[i];

		sum_call(s, c);
		if (!c->side && c->wait)
			task_row(s, c->task)->wait += c->wait;
	}
	sum_messages(s);
}

/* ---- all of them --------------------------------------------------------------------------- */

static void find_most(struct summing *s)
{
	for (size_t i = 0; i < s->call_of_rank.count; i++) {
		struct ut_rank_by_call *row = call_row(s, s->call_of_rank.items[i][0]);

		if (s->call_times[i] > row->most) {
			row->most = s->call_times[i];
			row->most_rank = s->call_of_rank.items[i][1];
		}
	}
	for (size_t i = 0; i < s->task_of_rank.count; i++) {
		struct ut_rank_by_task *row = task_row(s, s->task_of_rank.items[i][0]);

		row->useful += s->task_times[i];
		row->ranks++;
		if (s->task_times[i] > row->most) {
			row->most = s->task_times[i];
			row->most_rank = s->task_of_rank.items[i][1];
		}
	}
	for (size_t i = 0; i < s->blamed.count; i++) {
		struct ut_rank_sum *one = &s->sums->ranks[s->blamed.items[i][0]];

		if (s->blamed_times[i] > one->blamed) {
			one->blamed = s->blamed_times[i];
			one->blamed_task = s->blamed.items[i][1];
		}
	}
}

static void add_up(const struct ut_ranks *r, struct ut_rank_sums *s)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank_sum *one = &s->ranks[i];

		s->all.total += one->total;
		s->all.useful += one->useful;
		s->all.in_calls += one->in_calls;
		for (int why = 0; why < UT_RANK_WHYS; why++)
			s->all.wait[why] += one->wait[why];
		s->all.transfer += one->transfer;
		s->all.caused += one->caused;
		s->all.calls += one->calls;
		s->all.messages += one->messages;
		s->all.sent += one->sent;
		s->all.received += one->received;
	}
}

static int by_wait(const void *a, const void *b)
{
	const struct ut_rank_wait *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->why != y->why)
		return x->why < y->why ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

static int by_pair(const void *a, const void *b)
{
	const struct ut_rank_pair *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int by_call_time(const void *a, const void *b)
{
	const struct ut_rank_by_call *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static int by_task_time(const void *a, const void *b)
{
	const struct ut_rank_by_task *x = a, *y = b;

	if (x->useful != y->useful)
		return x->useful > y->useful ? -1 : 1;
	return (x->task > y->task) - (x->task < y->task);
}

void ut_ranks_sum(const struct ut_ranks *r, struct ut_rank_sums *sums)
{
	struct summing s = { .ranks = r, .sums = sums };

	*sums = (struct ut_rank_sums){ 0 };
	sums->ranks = ut_make((r->count + 1) * sizeof(*sums->ranks));
	for (s.rank = 0; s.rank < r->count; s.rank++)
		sum_rank(&s);
	find_most(&s);
	add_up(r, sums);
	ut_sort(sums->waits, sums->wait_count, sizeof(*sums->waits), by_wait);
	ut_sort(sums->pairs, sums->pair_count, sizeof(*sums->pairs), by_pair);
	ut_sort(sums->calls, sums->call_count, sizeof(*sums->calls), by_call_time);
	ut_sort(sums->tasks, sums->task_count, sizeof(*sums->tasks), by_task_time);
	ut_rank_keys_release(&s.call_names);
	ut_rank_keys_release(&s.tasks);
	ut_rank_keys_release(&s.call_of_rank);
	ut_rank_keys_release(&s.task_of_rank);
	ut_rank_keys_release(&s.waits);
	ut_rank_keys_release(&s.waiters);
	ut_rank_keys_release(&s.pairs);
	ut_rank_keys_release(&s.blamed);
	free(s.call_times);
	free(s.task_times);
	free(s.blamed_times);
}

void ut_rank_sums_release(struct ut_rank_sums *s)
{
	free(s->ranks);
	free(s->calls);
	free(s->tasks);
	free(s->waits);
	free(s->pairs);
	*s = (struct ut_rank_sums){ 0 };
}
