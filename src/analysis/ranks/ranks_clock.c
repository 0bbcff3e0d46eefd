/*
 * ranks_clock.c - brings the ranks of several hosts onto one clock, by what was measured while they
 * ran and by what their messages and collective calls prove: nothing is received before it is sent,
 * and nobody leaves a barrier before everybody has come.
 */
#include <stdlib.h>

#include "analyze/host_clocks.h"
#include "base/grow.h"
#include "clocks/host_net.h"
#include "ranks/ranks.h"
#include "ranks/ranks_parts.h"
#include "ranks/ranks_sum.h"

#define MOST_EVIDENCE (1u << 21) /* messages and calls that are looked at: more say no more */

/* ---- which clocks there are ---------------------------------------------------------------- */

/* Ranks of one file have one clock already. */
static bool is_one_file(const struct ut_ranks *r)
{
	for (size_t i = 1; i < r->count; i++) {
		if (r->items[i].origin != r->items[0].origin)
			return false;
	}
	return true;
}

/* Files in which several hosts are together: whose ranks may not be moved against each other. */
static bool *mixed_files(const struct ut_ranks *r)
{
	uint32_t *hosts = ut_make(((size_t)r->origins + 1) * sizeof(*hosts));
	bool *mixed = ut_make(((size_t)r->origins + 1) * sizeof(*mixed));

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		if (hosts[one->origin] && hosts[one->origin] != one->host + 1)
			mixed[one->origin] = true;
		hosts[one->origin] = one->host + 1;
	}
	free(hosts);
	return mixed;
}

static uint32_t list_clocks(struct ut_ranks *r)
{
	struct ut_clock_of *clocks = ut_make((r->count + 1) * sizeof(*clocks));
	bool *mixed = mixed_files(r);
	uint32_t count;

	for (size_t i = 0; i < r->count; i++) {
		struct ut_rank *one = &r->items[i];
		struct ut_str host = ut_strtab_get(&r->strings, one->host);

		/* No host is called so: the file itself is what they have in common. */
		if (mixed[one->origin]) {
			struct ut_buf name = { 0 };

			ut_buf_fmt(&name, "\n%u", (unsigned int)one->origin);
			host = ut_strtab_get(&r->strings,
					     ut_strtab_intern(&r->strings, name.data, name.len));
			ut_buf_release(&name);
		}
		clocks[i] = (struct ut_clock_of){ host, one->realtime, 0 };
	}
	count = ut_clocks_share(clocks, r->count);
	r->clocks = ut_make(((size_t)count + 1) * sizeof(*r->clocks));
	r->clock_count = count;
	for (size_t i = 0; i < r->count; i++) {
		struct ut_rank *one = &r->items[i];
		struct ut_rank_clock *c = &r->clocks[clocks[i].clock];

		one->clock = clocks[i].clock;
		one->realtime = clocks[i].epoch;
		c->host = mixed[one->origin] ? 0 : one->host;
		c->ranks++;
		c->measured += one->measured_count;
	}
	free(mixed);
	free(clocks);
	return count;
}

/* ---- evidence ------------------------------------------------------------------------------ */

struct gathering {
	struct ut_ranks *ranks;
	struct ut_host_net *net;
	/* of the collective call that is looked at, of each clock */
	int64_t *came, *left; /* when the last one came, the first one left */
	bool *has_came, *has_left;
	uint32_t *here; /* clocks that take part */
	size_t here_count;
};

static const struct ut_rank_call *call_of(const struct gathering *g, const struct ut_rank_mark *m)
{
	return ut_rank_mark_call(g->ranks, m);
}

static const struct ut_rank_shape *ranks_clock_shape_of(const struct gathering *g,
							const struct ut_rank_mark *m)
{
	return ut_rank_shape(&g->ranks->items[m->rank], call_of(g, m));
}

static uint32_t clock_of(const struct gathering *g, const struct ut_rank_mark *m)
{
	return g->ranks->items[m->rank].clock;
}

static void message(struct gathering *g, const struct ut_rank_mark *marks, size_t count)
{
	if (ut_rank_marks_are_message(marks, count))
		ut_host_net_before(g->net, clock_of(g, &marks[0]),
				   (int64_t)call_of(g, &marks[0])->begin, clock_of(g, &marks[1]),
				   (int64_t)call_of(g, &marks[1])->end);
}

static void come(struct gathering *g, uint32_t clock, int64_t at)
{
	if (!g->has_came[clock] || at > g->came[clock])
		g->came[clock] = at;
	g->has_came[clock] = true;
}

static void ranks_clock_leave(struct gathering *g, uint32_t clock, int64_t at)
{
	if (!g->has_left[clock] || at < g->left[clock])
		g->left[clock] = at;
	g->has_left[clock] = true;
}

static bool ranks_clock_is_open(const struct gathering *g, const struct ut_rank_mark *m)
{
	const struct ut_rank *one = &g->ranks->items[m->rank];

	return one->open_count && ut_rank_open(one, m->index);
}

/* Who of a collective call is needed by the others, and who needs them. */
static void take_member(struct gathering *g, const struct ut_rank_mark *m)
{
	const struct ut_rank_shape *c = ranks_clock_shape_of(g, m);
	bool is_root = c->root >= 0 && c->root == g->ranks->items[m->rank].rank;
	bool gives = c->meets == UT_RANK_ALL || (c->meets == UT_RANK_FROM_ROOT) == is_root;
	bool needs = c->meets == UT_RANK_ALL || (c->meets == UT_RANK_TO_ROOT) == is_root;
	uint32_t clock = clock_of(g, m);

	if (!g->has_came[clock] && !g->has_left[clock])
		g->here[g->here_count++] = clock;
	if (gives && m->kind == UT_RANK_MARK_MEMBER)
		come(g, clock, (int64_t)ut_rank_came(&g->ranks->items[m->rank], m->index));
	/* One that was only begun here is left where it is waited for, or never. */
	if (needs && c->use != UT_RANK_POST && !ranks_clock_is_open(g, m))
		ranks_clock_leave(g, clock, (int64_t)call_of(g, m)->end);
}

static void one_before(struct gathering *g, uint32_t a, uint32_t b)
{
	if (g->has_came[a] && g->has_left[b])
		ut_host_net_before(g->net, a, g->came[a], b, g->left[b]);
}

/* With rooted calls the hub is the root's clock, which the others are bound to. */
static size_t hub_of(const struct gathering *g, const struct ut_rank_mark *marks)
{
	const struct ut_rank_shape *c = ranks_clock_shape_of(g, &marks[0]);
	uint32_t root = c->root >= 0 ? ut_ranks_find(g->ranks, c->root) : UT_RANK_NOBODY;

	for (size_t i = 0; root != UT_RANK_NOBODY && i < g->here_count; i++) {
		if (g->here[i] == g->ranks->items[root].clock)
			return i;
	}
	return 0;
}

static bool is_firm(const struct gathering *g, const struct ut_rank_mark *marks, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const struct ut_rank_shape *c = ranks_clock_shape_of(g, &marks[i]);

		if (!c->firm || c->meets == UT_RANK_SCAN)
			return false;
		any = any || marks[i].kind == UT_RANK_MARK_MEMBER;
	}
	return any;
}

static void meeting(struct gathering *g, const struct ut_rank_mark *marks, size_t count)
{
	size_t hub;

	if (!is_firm(g, marks, count))
		return;
	g->here_count = 0;
	for (size_t i = 0; i < count; i++)
		take_member(g, &marks[i]);
	hub = hub_of(g, marks);
	for (size_t i = 0; i < g->here_count; i++) {
		if (i == hub)
			continue;
		one_before(g, g->here[hub], g->here[i]);
		one_before(g, g->here[i], g->here[hub]);
	}
	for (size_t i = 0; i < g->here_count; i++)
		g->has_came[g->here[i]] = g->has_left[g->here[i]] = false;
}

static void ranks_clock_gather(struct gathering *g, const struct ut_rank_marks *m)
{
	for (size_t i = 0, n; i < m->count; i += n) {
		n = ut_rank_marks_alike(m, i);
		if (m->items[i].kind >= UT_RANK_MARK_MEMBER)
			meeting(g, &m->items[i], n);
		else
			message(g, &m->items[i], n);
	}
}

/* ---- what was measured --------------------------------------------------------------------- */

/* The clock of this name among those of ranks; count if nobody has it. */
static uint32_t clock_called(const struct ut_ranks *r, uint32_t name, uint32_t count)
{
	for (size_t i = 0; name && i < r->count; i++) {
		if (r->items[i].clock_id == name)
			return r->items[i].clock;
	}
	return count;
}

/* The reference of a measurement may be no rank that is here: then it is a clock of its own. */
struct references {
	uint32_t *names;
	size_t count, cap;
};

static uint32_t reference_clock(const struct ut_ranks *r, struct references *refs, uint32_t name)
{
	uint32_t clocks = (uint32_t)r->clock_count, found = clock_called(r, name, clocks);
	size_t i = 0;

	if (found < clocks)
		return found;
	while (i < refs->count && refs->names[i] != name)
		i++;
	if (i == refs->count) {
		refs->names = ut_grow(refs->names, i + 1, &refs->cap, sizeof(*refs->names));
		refs->names[refs->count++] = name;
	}
	return clocks + (uint32_t)i;
}

static void add_measured(const struct ut_ranks *r, struct references *refs, struct ut_host_net *net)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		uint32_t there;

		if (!one->reference)
			continue;
		there = reference_clock(r, refs, one->reference);
		for (size_t k = 0; k < one->measured_count && net; k++)
			ut_host_net_measured(net, one->clock, there, one->measured[k].at,
					     one->measured[k].add, one->measured[k].error);
	}
}

/* ---- what is counted ----------------------------------------------------------------------- */

/* How many operations ranks have of one group and kind. */
struct tally {
	uint64_t count, here; /* of the first rank, of the one that is looked at */
	uint32_t ranks;
	bool differs;
};

/*
 * Traces of torch.profiler seldom number their operations, so they are counted. Where all ranks
 * have equally many of a group and kind, the first is the first of all, and nobody leaves it before
 * all have come: it proves as much as a call of MPI.
 */
static void trust_counts(struct ut_ranks *r)
{
	struct ut_rank_keys groups = { 0 };
	struct tally *tallies = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		for (size_t k = 0; k < one->coll_count; k++) {
			const struct ut_rank_call *c = &one->calls[one->colls[k].call];
			const struct ut_rank_shape *is = ut_rank_shape(one, c);
			size_t row;

			if (is->meets != UT_RANK_ALL || is->firm)
				continue;
			row = ut_rank_keys_row(&groups, is->group, 0, 0, 0);
			tallies = ut_grow(tallies, row + 1, &cap, sizeof(*tallies));
			tallies[row].here++;
		}
		for (size_t k = 0; k < groups.count; k++) {
			struct tally *t = &tallies[k];

			t->differs = t->differs || (t->here && t->ranks && t->here != t->count);
			t->count = t->here ? t->here : t->count;
			t->ranks += t->here > 0;
			t->here = 0;
		}
	}
	for (size_t i = 0; groups.count && i < r->count; i++) {
		for (size_t k = 0; k < r->items[i].shape_count; k++) {
			struct ut_rank_shape *is = &r->items[i].shapes[k];
			size_t row = ut_rank_keys_find(&groups, is->group, 0, 0, 0);

			if (row != SIZE_MAX && is->meets == UT_RANK_ALL && tallies[row].ranks > 1)
				is->firm = is->firm || !tallies[row].differs;
		}
	}
	ut_rank_keys_release(&groups);
	free(tallies);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void ranks_clock_reach(struct ut_net_clock *c, int64_t from, int64_t to)
{
	c->first = from < c->first ? from : c->first;
	c->last = to > c->last ? to : c->last;
}

static struct ut_host_net *make_net(const struct ut_ranks *r, struct references *refs)
{
	size_t count = r->clock_count + refs->count;
	struct ut_net_clock *clocks = ut_make((count + 1) * sizeof(*clocks));
	struct ut_host_net *net;

	for (size_t i = 0; i < count; i++)
		clocks[i] = (struct ut_net_clock){ INT64_MAX, INT64_MIN, 0 };
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		const struct ut_time_knot *k = one->measured;
		uint32_t there = one->reference ? reference_clock(r, refs, one->reference) : 0;

		ranks_clock_reach(&clocks[one->clock],
				  (int64_t)(one->first < one->start ? one->first : one->start),
				  (int64_t)(one->last > one->stop ? one->last : one->stop));
		clocks[one->clock].epoch = one->realtime;
		for (size_t n = 0; there >= r->clock_count && n < one->measured_count; n++)
			ranks_clock_reach(&clocks[there], k[n].at + k[n].add, k[n].at + k[n].add);
	}
	net = ut_host_net_new(clocks, count);
	free(clocks);
	return net;
}

static void gather_all(struct ut_ranks *r, struct ut_host_net *net, const struct ut_rank_marks *m)
{
	struct gathering g = { .ranks = r, .net = net };
	size_t n = r->clock_count;

	g.came = ut_make(n * sizeof(*g.came));
	g.left = ut_make(n * sizeof(*g.left));
	g.has_came = ut_make(n * sizeof(*g.has_came));
	g.has_left = ut_make(n * sizeof(*g.has_left));
	g.here = ut_make(n * sizeof(*g.here));
	ranks_clock_gather(&g, m);
	free(g.came);
	free(g.left);
	free(g.has_came);
	free(g.has_left);
	free(g.here);
}

/*
 * The root may be a clock of no rank: its times are nobody's business, so all maps are turned onto
 * the clock of the first rank.
 */
static void ranks_clock_keep(struct ut_ranks *r, struct ut_net_result *found)
{
	uint32_t root = found->root < r->clock_count ? found->root : 0;
	int64_t epoch = 0, by = 0;

	if (root != found->root)
		by = -ut_time_map_add(&found->clocks[root].map, (int64_t)r->items[0].start);
	for (size_t i = 0; i < r->count; i++) {
		if (r->items[i].clock == root)
			epoch = r->items[i].realtime;
	}
	for (size_t i = 0; i < r->clock_count; i++) {
		struct ut_rank_clock *c = &r->clocks[i];

		c->map = found->clocks[i].map;
		found->clocks[i].map = (struct ut_time_map){ 0 };
		ut_time_map_shift(&c->map, by);
		c->evidence = found->clocks[i].evidence;
		c->proven = found->clocks[i].proven;
		c->contrary = found->clocks[i].contrary;
		c->root = i == root;
	}
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		struct ut_rank_clock *c = &r->clocks[one->clock];

		if (one->realtime && epoch)
			c->apart = one->realtime - epoch -
				   ut_time_map_add(&c->map, (int64_t)one->start);
	}
}

/* Is there more than one? */
static bool has_clocks(struct ut_ranks *r)
{
	if (is_one_file(r))
		return false;
	if (list_clocks(r) < 2)
		r->clock_count = 0;
	return r->clock_count;
}

static void find_clocks(struct ut_ranks *r, const struct ut_rank_marks *m)
{
	struct references refs = { 0 };
	struct ut_net_result found;
	struct ut_host_net *net;

	add_measured(r, &refs, NULL); /* counts references */
	net = make_net(r, &refs);
	gather_all(r, net, m);
	add_measured(r, &refs, net);
	ut_host_net_solve(net, &found);
	ranks_clock_keep(r, &found);
	ut_net_result_release(&found);
	ut_host_net_free(net);
	free(refs.names);
}

/* ---- moving -------------------------------------------------------------------------------- */

static void move(struct ut_rank *r, const struct ut_time_map *map, int64_t by)
{
#define TO(time) (uint64_t)(ut_time_map_to(map, (int64_t)(time)) + by)
	r->start = TO(r->start);
	r->stop = TO(r->stop);
	r->end = TO(r->end);
	r->in_since = TO(r->in_since);
	for (size_t i = 0; i < r->call_count; i++) {
		r->calls[i].begin = TO(r->calls[i].begin);
		r->calls[i].end = TO(r->calls[i].end);
	}
	for (size_t i = 0; i < r->coll_count; i++)
		r->colls[i].came = TO(r->colls[i].came);
	for (size_t i = 0; i < r->shift_count; i++)
		r->shifts[i].at = TO(r->shifts[i].at);
	for (size_t i = 0; i < r->top_count; i++) {
		r->tops[i].begin = TO(r->tops[i].begin);
		r->tops[i].end = TO(r->tops[i].end);
	}
#undef TO
}

void ut_ranks_align(struct ut_ranks *r, size_t threads)
{
	struct ut_rank_marks m;
	int64_t least = INT64_MAX;

	if (!has_clocks(r))
		return;
	trust_counts(r);
	ut_ranks_mark(r, threads, r->thin ? 0 : MOST_EVIDENCE, &m);
	find_clocks(r, &m);
	free(m.items);
	/* No time may come to lie before 0. */
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_time_map *map = &r->clocks[r->items[i].clock].map;
		int64_t first = ut_time_map_to(map, 0);

		least = first < least ? first : least;
	}
	for (size_t i = 0; i < r->count; i++)
		move(&r->items[i], &r->clocks[r->items[i].clock].map, least < 0 ? -least : 0);
}

/* ---- without moving ------------------------------------------------------------------------ */

static int64_t moved(const struct ut_ranks *r, const struct ut_rank_mark *m, bool end)
{
	const struct ut_rank *one = &r->items[m->rank];
	const struct ut_rank_call *c = ut_rank_mark_call(r, m);

	return ut_time_map_to(&r->clocks[one->clock].map, (int64_t)(end ? c->end : c->begin));
}

static void count_backwards(struct ut_ranks *r, const struct ut_rank_marks *m)
{
	for (size_t i = 0, n; i < m->count; i += n) {
		const struct ut_rank_mark *a = &m->items[i];
		int64_t sent, received;

		n = ut_rank_marks_alike(m, i);
		if (!ut_rank_marks_are_message(a, n))
			continue;
		r->messages++;
		sent = moved(r, &a[0], false);
		received = moved(r, &a[1], true);
		if (sent <= received)
			continue;
		r->backwards++;
		if ((uint64_t)(sent - received) > r->most_backwards)
			r->most_backwards = (uint64_t)(sent - received);
	}
}

void ut_ranks_find_clocks(struct ut_ranks *r, size_t threads)
{
	struct ut_rank_marks m;

	if (!r->count)
		return;
	ut_ranks_sort(r);
	if (!has_clocks(r))
		return;
	ut_ranks_mark(r, threads, r->thin ? 0 : MOST_EVIDENCE, &m);
	find_clocks(r, &m);
	count_backwards(r, &m);
	free(m.items);
}
