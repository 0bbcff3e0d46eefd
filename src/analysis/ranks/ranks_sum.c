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
	struct ut_rank_keys victims; /* rank, who waited because of it */
	struct ut_rank_keys blamed;  /* rank, task */
	uint64_t *blamed_times;
	size_t blamed_cap;
	struct ut_rank_blamer blamer;
	const struct ut_rank_call *waiting; /* the call whose wait is blamed */
	const struct ut_rank_more *wait;    /* what it has of it */
	uint32_t waiting_name;
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
	sums->calls[row].found = (uint32_t)row;
	return &sums->calls[row];
}

static struct ut_rank_by_task *task_row(struct summing *s, uint32_t task)
{
	size_t row = ut_rank_keys_row(&s->tasks, task, 0, 0, 0);
	struct ut_rank_sums *sums = s->sums;

	sums->tasks = ut_grow(sums->tasks, row + 1, &s->task_cap, sizeof(*sums->tasks));
	sums->task_count = s->tasks.count;
	sums->tasks[row].task = task;
	sums->tasks[row].found = (uint32_t)row;
	return &sums->tasks[row];
}

static struct ut_rank_wait *wait_row(struct summing *s, uint32_t rank, uint32_t task)
{
	uint32_t why = s->wait->why, call = s->waiting_name;
	size_t row = ut_rank_keys_row(&s->waits, rank, task, why, call), known;
	struct ut_rank_sums *sums = s->sums;

	sums->waits = ut_grow(sums->waits, row + 1, &s->wait_cap, sizeof(*sums->waits));
	sums->wait_count = s->waits.count;
	sums->waits[row].rank = rank;
	sums->waits[row].task = task;
	sums->waits[row].why = why;
	sums->waits[row].call = call;
	sums->waits[row].found = (uint32_t)row;
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

static uint64_t *ranks_sum_time_of(struct ut_rank_keys *keys, uint64_t **times, size_t *cap,
				   uint32_t a, uint32_t b)
{
	size_t row = ut_rank_keys_row(keys, a, b, 0, 0);

	*times = ut_grow(*times, row + 1, cap, sizeof(**times));
	return &(*times)[row];
}

/* ---- calls --------------------------------------------------------------------------------- */

static void charge(void *ctx, const struct ut_rank_blame *b)
{
	struct summing *s = ctx;
	struct ut_rank_sum *sum = &s->sums->ranks[b->rank];
	struct ut_rank_wait *w = wait_row(s, b->rank, b->task);
	size_t known = s->victims.count;

	ut_rank_keys_row(&s->victims, b->rank, s->rank, 0, 0);
	sum->waiters += s->victims.count > known;
	sum->caused += b->time;
	sum->indirect += b->between ? b->time : 0;
	w->time += b->time;
	w->indirect += b->between ? b->time : 0;
	w->times++;
	if (b->time > w->longest) {
		w->longest = b->time;
		w->longest_rank = s->rank;
		w->begin = s->waiting->begin;
		w->end = s->waiting->end;
	}
	*ranks_sum_time_of(&s->blamed, &s->blamed_times, &s->blamed_cap, b->rank, b->task) +=
		b->time;
	if (b->task != UT_RANK_IN_CALL)
		task_row(s, b->task)->caused += b->time;
}

static void sum_wait(struct summing *s, const struct ut_rank_call *c)
{
	const struct ut_rank *one = &s->ranks->items[s->rank];
	const struct ut_rank_more *w = ut_rank_more(one, c);
	struct ut_rank_sum *mine = &s->sums->ranks[s->rank];

	mine->wait[0] += w->wait;
	mine->wait[w->why] += w->wait;
	s->waiting = c;
	s->wait = w;
	s->waiting_name = ut_rank_shape(one, c)->name;
	ut_rank_blame(&s->blamer, s->rank, c);
}

/* What calls of one shape come to. */
struct tally {
	uint64_t count, time, wait;
};

/* A Get moves data towards us; what locks or waits moves none. */
static void sum_transfers(struct summing *s, const struct ut_rank_shape *is, uint64_t count)
{
	int32_t me = s->ranks->items[s->rank].rank;
	bool one_sided = is->use == UT_RANK_ONE_SIDED;
	struct ut_rank_pair *pair;

	if (is->to < 0 || is->use == UT_RANK_OTHER || ut_rank_completes(is->use) ||
	    (one_sided && !is->sent && !is->received))
		return;
	s->sums->ranks[s->rank].messages += count;
	if (!one_sided || is->sent) {
		pair = pair_row(s, me, is->to);
		pair->messages += count;
		pair->bytes += count * is->sent;
	}
	if (one_sided && is->received) {
		pair = pair_row(s, is->to, me);
		pair->messages += count;
		pair->bytes += count * is->received;
	}
}

/* Bytes of files are no bytes of messages: what is read is what the call has got. */
static void sum_bytes(struct summing *s, const struct ut_rank_shape *is,
		      struct ut_rank_by_call *row, uint64_t count)
{
	struct ut_rank_sum *mine = &s->sums->ranks[s->rank];

	if (ut_rank_is_file(is->use)) {
		mine->written += count * is->sent;
		mine->read += count * is->received;
		row->written += count * is->sent;
		row->read += count * is->received;
		return;
	}
	mine->sent += count * is->sent;
	mine->received += count * is->received;
	row->sent += count * is->sent;
	row->received += count * is->received;
	sum_transfers(s, is, count);
}

static void sum_shape(struct summing *s, const struct ut_rank_shape *is, const struct tally *t)
{
	struct ut_rank_sum *mine = &s->sums->ranks[s->rank];
	struct ut_rank_by_call *row = call_row(s, is->name);

	row->count += t->count;
	if (is->use == UT_RANK_IDLE) { /* inside of calls that are counted anyway */
		mine->idle += t->time;
		row->time += t->time;
		return;
	}
	mine->calls += t->count;
	sum_bytes(s, is, row, t->count);
	if (is->side)
		return;
	row->time += t->time;
	row->wait += t->wait;
	*ranks_sum_time_of(&s->call_of_rank, &s->call_times, &s->call_times_cap, is->name,
			   s->rank) += t->time;
	if (ut_rank_communicates(is->use)) {
		row->transfer += t->time - t->wait;
		mine->transfer += t->time - t->wait;
	}
	if (ut_rank_is_file(is->use)) {
		row->file += t->time - t->wait;
		mine->file += t->time - t->wait;
	}
	if (t->wait)
		task_row(s, is->task)->wait += t->wait;
}

/* Shapes are few where calls are millions: what calls are like is looked at once for each. */
static void sum_calls(struct summing *s)
{
	const struct ut_rank *one = &s->ranks->items[s->rank];
	struct tally *tallies = ut_make((one->shape_count + 1) * sizeof(*tallies));

	for (size_t i = 0; i < one->call_count; i++) {
		const struct ut_rank_call *c = &one->calls[i];
		struct tally *t = &tallies[c->shape];
		uint64_t wait = ut_rank_more(one, c)->wait;

		if (ut_rank_shape(one, c)->use == UT_RANK_IDLE &&
		    (c->begin < one->start || c->end > one->stop))
			continue;
		t->count++;
		t->time += ut_rank_time(c);
		t->wait += wait;
		if (wait && !ut_rank_shape(one, c)->side)
			sum_wait(s, c);
	}
	for (size_t i = 0; i < one->shape_count; i++) {
		if (tallies[i].count)
			sum_shape(s, &one->shapes[i], &tallies[i]);
	}
	free(tallies);
}

/*
 * The time that messages took, from when both ends were there: a receive that waits for somebody
 * else as well says nothing about that time. And how long each end waited for the other, where
 * several messages of one call are one wait.
 */
static void sum_messages(struct summing *s)
{
	const struct ut_rank *one = &s->ranks->items[s->rank];
	uint32_t counted = UINT32_MAX; /* the last call whose wait is known already */

	for (size_t i = 0; i < one->end_count; i++) {
		const struct ut_rank_end *e = &one->ends[i];
		const struct ut_rank_call *c = &one->calls[e->call];
		const struct ut_rank_more *w = ut_rank_more(one, c);
		enum ut_rank_why why = e->received ? UT_RANK_LATE_SENDER : UT_RANK_LATE_RECEIVER;
		struct ut_rank_pair *pair;
		int32_t other;

		if (e->partner == UT_RANK_NOBODY || e->soft)
			continue;
		other = s->ranks->items[e->partner].rank;
		pair = pair_row(s, e->received ? other : one->rank,
				e->received ? one->rank : other);
		if (e->received) {
			uint64_t both = s->ranks->items[e->partner].calls[e->partner_call].begin;

			both = both > c->begin + w->wait ? both : c->begin + w->wait;
			pair->time += c->end > both ? c->end - both : 0;
		}
		if (w->why == why && w->waited_for == e->partner && counted != e->call) {
			pair->wait += w->wait;
			counted = e->call;
		}
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
	*ranks_sum_time_of(&s->task_of_rank, &s->task_times, &s->task_times_cap, p->task,
			   s->rank) += time;
}

static void sum_rank(struct summing *s)
{
	const struct ut_rank *one = &s->ranks->items[s->rank];
	struct ut_rank_sum *mine = &s->sums->ranks[s->rank];

	mine->total = one->stop > one->start ? one->stop - one->start : 0;
	ut_rank_walk(one, one->start, one->stop, sum_piece, s);
	sum_calls(s);
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
		s->all.file += one->file;
		s->all.idle += one->idle;
		s->all.written += one->written;
		s->all.read += one->read;
		s->all.caused += one->caused;
		s->all.indirect += one->indirect;
		s->all.calls += one->calls;
		s->all.messages += one->messages;
		s->all.sent += one->sent;
		s->all.received += one->received;
	}
}

/* Of equals the first that was found: numbers of strings depend on who has read the traces. */
static int by_wait(const void *a, const void *b)
{
	const struct ut_rank_wait *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->found > y->found) - (x->found < y->found);
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
	return (x->found > y->found) - (x->found < y->found);
}

static int by_task_time(const void *a, const void *b)
{
	const struct ut_rank_by_task *x = a, *y = b;

	if (x->useful != y->useful)
		return x->useful > y->useful ? -1 : 1;
	return (x->found > y->found) - (x->found < y->found);
}

void ut_ranks_sum(const struct ut_ranks *r, struct ut_rank_sums *sums)
{
	struct summing s = { .ranks = r, .sums = sums };

	*sums = (struct ut_rank_sums){ 0 };
	sums->ranks = ut_make((r->count + 1) * sizeof(*sums->ranks));
	ut_rank_blamer_init(&s.blamer, r, charge, &s);
	for (s.rank = 0; s.rank < r->count; s.rank++)
		sum_rank(&s);
	ut_rank_blamer_release(&s.blamer);
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
	ut_rank_keys_release(&s.victims);
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
