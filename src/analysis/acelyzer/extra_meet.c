/*
 * extra_meet.c - collectives: which ranks took part in each, and when each came.
 *
 * Steps carry the name of their group, and a group happens again and again: a rank is in the next
 * one when a step comes that has the name of the first step of this one. The n-th time on one
 * rank meets the n-th time on the others.
 *
 * A rank has come when it begins to send. A receive may be posted long before, while a kernel is
 * still at work on what the rank will add; so a rank that begins with a receive has come when the
 * kernel that was running then, or the first after, has ended.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/extra_work.h"
#include "base/grow.h"

#define MOST_PEER 1000000 /* larger numbers are no ranks */

/* What one rank does in one collective. */
struct part {
	uint32_t coll, rank;
	int64_t begin, end;
	bool receives; /* first of all */
};

/* Where a rank is in a group. */
struct place {
	uint32_t first_name, times, part;
};

struct ut_ace_meets {
	struct ut_ace_extra *x;
	struct ut_ace_analysis *a;
	struct ut_arena arena;
	struct part *parts;
	size_t part_count, part_cap;
	struct place *places;
	size_t place_count, place_cap;
	struct ut_idmap place_of; /* rank and group -> place + 1 */
	struct ut_idmap coll_of;  /* group and how many times -> coll + 1 */
	struct ut_idmap ranks;    /* that take part + 1 */
	struct ut_idmap peers;    /* numbers + 1 that were spoken of */
	int64_t most_peer;        /* the largest of them */
	struct ut_idmap texts;    /* lists of peers that were read */
};

struct ut_ace_meets *ut_ace_meets_new(struct ut_ace_extra *x, struct ut_ace_analysis *a)
{
	struct ut_ace_meets *m = ut_make(sizeof(*m));

	m->x = x;
	m->a = a;
	ut_idmap_init(&m->place_of, &m->arena);
	ut_idmap_init(&m->coll_of, &m->arena);
	ut_idmap_init(&m->ranks, &m->arena);
	ut_idmap_init(&m->peers, &m->arena);
	ut_idmap_init(&m->texts, &m->arena);
	return m;
}

static void add_peer(struct ut_ace_meets *m, int64_t number)
{
	if (number < 0 || number >= MOST_PEER)
		return;
	ut_idmap_put(&m->peers, (uint64_t)number + 1, 1);
	m->most_peer = number > m->most_peer ? number : m->most_peer;
}

/* "0,1,2", "3", ["1","2"]: whatever numbers there are. */
static void read_peers(struct ut_ace_meets *m, const struct ut_arg *arg)
{
	struct ut_str s;

	if (arg->type == UT_ARG_I64 || arg->type == UT_ARG_U64) {
		add_peer(m, arg->value.i64);
		return;
	}
	if ((arg->type != UT_ARG_STR && arg->type != UT_ARG_JSON) ||
	    ut_idmap_get(&m->texts, arg->value.str))
		return;
	ut_idmap_put(&m->texts, arg->value.str, 1);
	s = ut_ace_str(&m->a->table, arg->value.str);
	for (size_t i = 0; i < s.len;) {
		int64_t n = 0;
		size_t from = i;

		for (; i < s.len && isdigit((unsigned char)s.ptr[i]); i++)
			n = n < MOST_PEER ? n * 10 + (s.ptr[i] - '0') : n;
		if (i > from)
			add_peer(m, n);
		else
			i++;
	}
}

/* The group that a step belongs to; 0 = none. */
static uint32_t extra_meet_group_of(struct ut_ace_meets *m, const struct ut_ace_event *e)
{
	struct ut_ace_table *t = &m->a->table;
	struct ut_arg arg;

	if (e->flags & UT_ACE_COLL) {
		if (ut_ace_arg(t, e->args, UT_ACE_K_PEER, &arg))
			read_peers(m, &arg);
		if (ut_ace_arg(t, e->args, UT_ACE_K_PEERS, &arg))
			read_peers(m, &arg);
		return ut_ace_arg(t, e->args, UT_ACE_K_COLL_GROUP, &arg) && arg.type == UT_ARG_STR
			       ? arg.value.str
			       : 0;
	}
	return e->dev ? 0 : ut_ace_name_numbered(&m->a->names, t, e->name);
}

static struct place *extra_meet_place_of(struct ut_ace_meets *m, uint32_t rank, uint32_t group)
{
	uint64_t key = (uint64_t)rank << 32 | group;
	uint32_t at = ut_idmap_get(&m->place_of, key);

	if (!at) {
		m->places =
			ut_grow(m->places, m->place_count + 1, &m->place_cap, sizeof(*m->places));
		at = (uint32_t)++m->place_count;
		ut_idmap_put(&m->place_of, key, at);
		ut_idmap_put(&m->ranks, (uint64_t)rank + 1, 1);
	}
	return &m->places[at - 1];
}

static uint32_t coll_of(struct ut_ace_meets *m, uint32_t group, uint32_t times)
{
	struct ut_ace_extra *x = m->x;
	uint64_t key = (uint64_t)group << 32 | times;
	uint32_t at = ut_idmap_get(&m->coll_of, key);

	if (!at) {
		x->colls = ut_grow(x->colls, x->coll_count + 1, &x->coll_cap, sizeof(*x->colls));
		x->colls[x->coll_count].name =
			ut_ace_name_numbered(&m->a->names, &m->a->table, group);
		at = (uint32_t)++x->coll_count;
		ut_idmap_put(&m->coll_of, key, at);
	}
	return at - 1;
}

void ut_ace_meets_add(struct ut_ace_meets *m, const struct ut_ace_event *e, uint32_t rank)
{
	uint32_t group = extra_meet_group_of(m, e), name = e->orig ? e->orig : e->name;
	int64_t begin = ut_ace_extra_ns(m->x, e->ts), end = ut_ace_extra_ns(m->x, ut_ace_end(e));
	struct place *p;
	struct part *q;

	if (!group)
		return;
	p = extra_meet_place_of(m, rank, group);
	if (!p->times || p->first_name == name) {
		uint64_t n = ut_ace_name_flags(&m->a->names, &m->a->table, name);

		p->first_name = name;
		p->part = (uint32_t)m->part_count;
		m->parts = ut_grow(m->parts, m->part_count + 1, &m->part_cap, sizeof(*m->parts));
		m->parts[m->part_count++] = (struct part){
			.coll = coll_of(m, group, p->times++),
			.rank = rank,
			.begin = begin,
			.end = end,
			.receives = n & UT_ACE_NAME(SEN_RECV),
		};
	}
	q = &m->parts[p->part];
	q->end = end > q->end ? end : q->end;
}

static int64_t arrival_of(const struct ut_ace_extra *x, const struct part *p)
{
	const struct ut_ace_intervals *v = &x->ranks[p->rank].work[UT_ACE_WORK_COMPUTE];
	size_t low = 0, high = v->count;

	if (!p->receives)
		return p->begin;
	while (low < high) { /* the first kernel that begins later */
		size_t mid = low + (high - low) / 2;

		if (v->items[mid].begin <= p->begin)
			low = mid + 1;
		else
			high = mid;
	}
	if (low && v->items[low - 1].end > p->begin && v->items[low - 1].end <= p->end)
		return v->items[low - 1].end;
	if (low < v->count && v->items[low].end <= p->end)
		return v->items[low].end;
	return p->begin;
}

/* Parts one after the other by collective, as members. */
static void make_members(struct ut_ace_meets *m)
{
	struct ut_ace_extra *x = m->x;
	uint32_t sum = 0;

	x->member_count = m->part_count;
	x->members = ut_grow(x->members, m->part_count + 1, &x->member_cap, sizeof(*x->members));
	for (size_t i = 0; i < m->part_count; i++)
		x->colls[m->parts[i].coll].ranks++;
	for (size_t i = 0; i < x->coll_count; i++) {
		x->colls[i].first_member = sum;
		sum += x->colls[i].ranks;
		x->colls[i].ranks = 0;
	}
	for (size_t i = 0; i < m->part_count; i++) {
		const struct part *p = &m->parts[i];
		struct ut_ace_coll *c = &x->colls[p->coll];

		x->members[c->first_member + c->ranks++] = (struct ut_ace_coll_member){
			.rank = p->rank,
			.begin = p->begin,
			.end = p->end,
			.arrival = arrival_of(x, p),
		};
	}
}

/* Who came last, and how late? */
static void extra_meet_evaluate(struct ut_ace_extra *x, struct ut_ace_coll *c, int64_t *room)
{
	const struct ut_ace_coll_member *m = &x->members[c->first_member];
	uint32_t last = 0;
	struct ut_ace_late *l;

	c->begin = m[0].begin;
	c->end = m[0].end;
	c->first = m[0].arrival;
	for (uint32_t i = 0; i < c->ranks; i++) {
		c->begin = m[i].begin < c->begin ? m[i].begin : c->begin;
		c->end = m[i].end > c->end ? m[i].end : c->end;
		c->first = m[i].arrival < c->first ? m[i].arrival : c->first;
		last = m[i].arrival > m[last].arrival ? i : last;
		x->ranks[m[i].rank].coll.seen++;
	}
	c->last = m[last].arrival;
	c->last_rank = m[last].rank;
	if (c->ranks < 2)
		return;
	for (uint32_t i = 0, n = 0; i < c->ranks; i++) {
		if (i != last)
			room[n++] = m[i].arrival;
	}
	c->late = c->last - ut_ace_median(room, c->ranks - 1);
	l = &x->ranks[c->last_rank].coll;
	l->last += c->late > 0;
	l->total += (double)c->late;
	l->most = c->late > l->most ? c->late : l->most;
}

static int extra_meet_by_begin(const void *p, const void *q)
{
	const struct ut_ace_coll *a = p, *b = q;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Ranks that steps name or that leave a hole in the numbers. */
static void find_missing(struct ut_ace_meets *m)
{
	struct ut_ace_extra *x = m->x;
	int64_t most = -1;
	bool named = false;

	for (size_t i = 0; i < x->rank_count; i++) {
		int64_t n = x->ranks[i].rank;

		/* process numbers may be something else than ranks: then they are larger */
		named |= m->peers.count && n >= 0 && n <= m->most_peer + 1;
		if (n > most && n < 2 * (int64_t)x->rank_count)
			most = n;
	}
	for (int64_t n = 0; n <= most || (named && n <= m->most_peer); n++) {
		if (ut_idmap_get(&x->rank_index, (uint64_t)n) ||
		    (n > most && !ut_idmap_get(&m->peers, (uint64_t)n + 1)))
			continue;
		x->missing = ut_grow(x->missing, x->missing_count + 1, &x->missing_cap,
				     sizeof(*x->missing));
		x->missing[x->missing_count++] = n;
	}
	m->a->issues[UT_ACE_ISSUE_MISSING_RANK] += x->missing_count;
}

void ut_ace_meets_finish(struct ut_ace_meets *m)
{
	struct ut_ace_extra *x = m->x;
	int64_t *room = ut_make((x->rank_count + 1) * sizeof(*room));

	make_members(m);
	for (size_t i = 0; i < x->coll_count; i++)
		extra_meet_evaluate(x, &x->colls[i], room);
	x->coll_ranks = m->ranks.count;
	for (size_t i = 0; i < x->coll_count; i++)
		m->a->issues[UT_ACE_ISSUE_COLL_LACKS] += x->colls[i].ranks < x->coll_ranks;
	if (x->coll_count)
		qsort(x->colls, x->coll_count, sizeof(*x->colls), extra_meet_by_begin);
	find_missing(m);
	free(room);
	free(m->parts);
	free(m->places);
	ut_arena_release(&m->arena);
	free(m);
}
