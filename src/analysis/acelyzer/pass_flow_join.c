/*
 * pass_flow_join.c - --flow, second half: complete groups of steps become arrows.
 *
 * Steps come in the order of time. A group is looked at when a step comes that starts after its
 * last end, and given up when nothing has come for four times its length. Groups that wait for
 * one of the two lie in a heap by the time when that is due, so that a step does not have to look
 * at all of them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "acelyzer/coll_flow.h"
#include "acelyzer/order.h"
#include "acelyzer/stage.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/shortest.h"

#define PATIENCE   5e6 /* us, at least */
#define FIRST_FLOW 1000001
#define ARROW_END  0.001 /* us before the end of the receiving event */

/* The steps of one sync string. */
struct sync {
	int64_t *ranks; /* who takes part */
	size_t rank_count, rank_cap;
	bool multicast, closed;
	size_t opens, closes;
};

struct group {
	uint32_t name;
	struct ut_ace_flow_group g;
	struct sync *syncs;
	size_t sync_count, sync_cap, closed;
	struct ut_idmap index; /* sync -> place in syncs + 1 */
	double first, last;    /* us */
	uint32_t version;      /* steps so far */
	bool gone;
};

/* When a group has to be looked at; forgotten if steps have come since. */
struct due {
	double ts;
	uint32_t group, version;
	bool stale; /* then it is given up, else checked */
};

struct flows {
	struct group *groups;
	size_t count, cap;
	struct ut_idmap index; /* CollGroup + 1 -> the group that is open + 1 */
	struct due *heap;
	size_t heap_count, heap_cap;
	uint32_t *ready; /* complete groups, by number: a heap, too */
	size_t ready_count, ready_cap;
	struct ut_ace_colls colls;
	int64_t next_flow;
	uint64_t problems, dropped;
	struct ut_idmap pairs; /* two ranks -> place in worst + 1 */
	struct worst {
		int64_t from, to;
		double by; /* us */
	} * worst;
	size_t worst_count, worst_cap;
};

static void push_due(struct flows *f, struct due d)
{
	size_t i = f->heap_count++;

	f->heap = ut_grow(f->heap, f->heap_count, &f->heap_cap, sizeof(*f->heap));
	while (i && f->heap[(i - 1) / 2].ts > d.ts) {
		f->heap[i] = f->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	f->heap[i] = d;
}

static struct due pop_due(struct flows *f)
{
	struct due top = f->heap[0], d = f->heap[--f->heap_count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < f->heap_count) {
		if (child + 1 < f->heap_count && f->heap[child + 1].ts < f->heap[child].ts)
			child++;
		if (f->heap[child].ts >= d.ts)
			break;
		f->heap[i] = f->heap[child];
		i = child;
	}
	f->heap[i] = d;
	return top;
}

static void push_ready(struct flows *f, uint32_t group)
{
	size_t i = f->ready_count++;

	f->ready = ut_grow(f->ready, f->ready_count, &f->ready_cap, sizeof(*f->ready));
	while (i && f->ready[i - 1] < group) { /* the first group stands last; there are few */
		f->ready[i] = f->ready[i - 1];
		i--;
	}
	f->ready[i] = group;
}

static struct group *pass_flow_join_group_of(struct ut_ace_analysis *a, struct flows *f,
					     uint32_t name)
{
	uint32_t at = ut_idmap_get(&f->index, (uint64_t)name + 1);

	if (!at) {
		f->groups = ut_grow(f->groups, f->count + 1, &f->cap, sizeof(*f->groups));
		f->groups[f->count].name = name;
		ut_idmap_init(&f->groups[f->count].index, &a->table.arena);
		at = (uint32_t)++f->count;
		ut_idmap_put(&f->index, (uint64_t)name + 1, at);
	}
	return &f->groups[at - 1];
}

static void update_sync(struct ut_ace_analysis *a, struct group *g,
			const struct ut_ace_coll_step *s, int64_t pid)
{
	uint32_t at = ut_idmap_get(&g->index, s->sync);
	struct sync *y;
	bool was;

	if (!at) {
		g->syncs = ut_grow(g->syncs, g->sync_count + 1, &g->sync_cap, sizeof(*g->syncs));
		at = (uint32_t)++g->sync_count;
		ut_idmap_put(&g->index, s->sync, at);
	}
	y = &g->syncs[at - 1];
	was = y->closed;
	ut_ace_set_add(&y->ranks, &y->rank_count, &y->rank_cap, pid);
	for (uint32_t i = 0; i < s->peer_count; i++)
		ut_ace_set_add(&y->ranks, &y->rank_count, &y->rank_cap,
			       a->flows->peers[s->peers + i]);
	y->multicast |=
		y->rank_count > 2 || s->type == UT_ACE_STEP_BCLIST || s->type == UT_ACE_STEP_MCAST;
	if (s->type == UT_ACE_STEP_BCLIST)
		y->opens += s->peer_count;
	y->opens += s->type == UT_ACE_STEP_SEND || s->type == UT_ACE_STEP_MCAST;
	y->closes += s->type == UT_ACE_STEP_DONE;
	y->closed = y->rank_count > 1 && y->closes && y->closes == y->rank_count - 1 &&
		    (y->multicast ? y->opens == 2 * y->rank_count - 1 : y->opens > 0);
	g->closed += (size_t)y->closed - (size_t)was;
}

static void add_step(struct ut_ace_analysis *a, struct flows *f, uint32_t event)
{
	const struct ut_ace_event *e = &a->table.events[event];
	const struct ut_ace_coll_step *s = &a->flows->steps[e->link];
	struct group *g = pass_flow_join_group_of(a, f, s->group);
	double end = ut_ace_end(e);

	g->g.members = ut_grow(g->g.members, g->g.count + 1, &g->g.cap, sizeof(*g->g.members));
	g->g.members[g->g.count++] = (struct ut_ace_member){ event, e->link };
	g->last = end > g->last ? end : g->last;
	if (ut_is_zero(g->first) || (s->type == UT_ACE_STEP_SEND && e->ts < g->first))
		g->first = e->ts;
	for (uint32_t i = 0; i < s->peer_count; i++)
		ut_ace_set_add(&g->g.peers, &g->g.peer_count, &g->g.peer_cap,
			       a->flows->peers[s->peers + i]);
	update_sync(a, g, s, ut_ace_num(&a->table, e->pid));
	g->version++;
	push_due(f, (struct due){ g->last, (uint32_t)(g - f->groups), g->version, false });
}

/* An arrow that ends before it begins: the clocks of two ranks disagree. */
static void note_problem(struct ut_ace_analysis *a, struct flows *f, uint32_t from, uint32_t to,
			 double by)
{
	uint64_t key = (uint64_t)from << 32 | to;
	uint32_t at = ut_idmap_get(&f->pairs, key);
	struct worst *w;

	f->problems++;
	if (!at) {
		f->worst = ut_grow(f->worst, f->worst_count + 1, &f->worst_cap, sizeof(*f->worst));
		at = (uint32_t)++f->worst_count;
		ut_idmap_put(&f->pairs, key, at);
		f->worst[at - 1].from = ut_ace_num(&a->table, from);
		f->worst[at - 1].to = ut_ace_num(&a->table, to);
	}
	w = &f->worst[at - 1];
	w->by = by > w->by ? by : w->by;
}

static void pass_flow_join_add_arrow(struct ut_ace_analysis *a, struct flows *f,
				     const struct ut_ace_member *from,
				     const struct ut_ace_member *to)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_event s = t->events[from->event], d = t->events[to->event];
	struct ut_arg id = ut_ace_int_arg(UT_ACE_K_ID, f->next_flow++);
	struct ut_arg bp = ut_ace_str_arg(UT_ACE_K_BP, UT_ACE_K_E);

	s.ph = 's';
	d.ph = 'f';
	s.name = d.name = a->flows->steps[from->step].sync;
	d.ts = ut_ace_end(&d) - ARROW_END;
	s.flags &= ~(uint32_t)(UT_ACE_HAS_DUR | UT_ACE_HAS_ARGS);
	d.flags &= ~(uint32_t)UT_ACE_HAS_ARGS;
	s.args = d.args = s.dev = d.dev = 0;
	s.extra = ut_ace_arg_set(t, s.extra, &id);
	d.extra = ut_ace_arg_set(t, ut_ace_arg_set(t, d.extra, &id), &bp);
	if (s.ts > d.ts)
		note_problem(a, f, s.pid, d.pid, s.ts - d.ts);
	*ut_ace_event_add(t) = s;
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
	*ut_ace_event_add(t) = d;
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
}

/* The receives of a group: rank and sync -> member + 1, the first of each. */
static void index_receives(struct ut_ace_analysis *a, const struct group *g, struct ut_idmap *map)
{
	for (size_t i = g->g.count; i--;) {
		const struct ut_ace_member *m = &g->g.members[i];
		const struct ut_ace_coll_step *s = &a->flows->steps[m->step];

		if (s->type == UT_ACE_STEP_DONE)
			ut_idmap_put(map, (uint64_t)a->table.events[m->event].pid << 32 | s->sync,
				     (uint32_t)i + 1);
	}
}

static void release_group(struct group *g)
{
	for (size_t i = 0; i < g->sync_count; i++)
		free(g->syncs[i].ranks);
	free(g->syncs);
	free(g->g.members);
	free(g->g.peers);
	g->syncs = NULL;
	g->sync_count = g->g.count = g->g.peer_count = 0;
	g->g.members = NULL;
	g->g.peers = NULL;
	g->gone = true;
}

static void close_group(struct flows *f, struct group *g)
{
	ut_idmap_take(&f->index, (uint64_t)g->name + 1);
	release_group(g);
}

/* Arrows from every send to the receive that it led to; sorted by time if sort says so. */
static void build(struct ut_ace_analysis *a, struct flows *f, struct group *g, bool sort)
{
	struct ut_ace_table *t = &a->table;
	struct ut_arena arena = { 0 };
	struct ut_idmap receives;
	size_t before = t->seq_count;

	ut_idmap_init(&receives, &arena);
	index_receives(a, g, &receives);
	for (size_t i = 0; i < g->g.count; i++) {
		const struct ut_ace_coll_step *s = &a->flows->steps[g->g.members[i].step];
		uint32_t pid, to;

		if (s->type != UT_ACE_STEP_SEND || !s->peer_count)
			continue;
		pid = ut_ace_id_int(t, a->flows->peers[s->peers]);
		to = ut_idmap_get(&receives, (uint64_t)pid << 32 | s->sync);
		if (to)
			pass_flow_join_add_arrow(a, f, &g->g.members[i], &g->g.members[to - 1]);
	}
	ut_arena_release(&arena);
	if (a->opts.coll_events && t->seq_count > before)
		ut_ace_coll_events(a, &f->colls, &g->g, g->name);
	if (sort)
		ut_ace_order_by_ts(t, before, t->seq_count);
	close_group(f, g);
}

static bool complete(const struct group *g)
{
	return g->sync_count > 1 && g->closed == g->sync_count;
}

/* Looks at what is due; then the first group that is ready, if any, is built. */
static void pass_flow_join_look(struct ut_ace_analysis *a, struct flows *f, double now)
{
	while (f->heap_count && f->heap[0].ts < now) {
		struct due d = pop_due(f);
		struct group *g = &f->groups[d.group];
		double length = g->last - g->first;

		if (g->gone || g->version != d.version)
			continue;
		if (d.stale) {
			f->dropped++;
			close_group(f, g);
		} else if (complete(g)) {
			push_ready(f, d.group);
		} else {
			d.stale = true;
			d.ts = g->last + 4 * (length > PATIENCE ? length : PATIENCE);
			push_due(f, d);
		}
	}
	while (f->ready_count) {
		struct group *g = &f->groups[f->ready[--f->ready_count]];

		if (g->gone || g->last >= now || !complete(g))
			continue; /* a step has come since; it will be due again */
		build(a, f, g, true);
		return;
	}
}

static void note_kernel(struct ut_ace_analysis *a, struct flows *f, uint32_t at)
{
	const struct ut_ace_event *e = &a->table.events[at];
	uint64_t n = ut_ace_flags_of(a, e);
	struct ut_ace_kernels *k;

	if (!a->opts.coll_events || !(n & UT_ACE_NAME(END_SPACE_EXEC)) ||
	    n & UT_ACE_NAME(BEGIN_REDUCE))
		return;
	f->colls.ranks = ut_grow(f->colls.ranks, (size_t)e->pid + 1, &f->colls.rank_cap,
				 sizeof(*f->colls.ranks));
	k = &f->colls.ranks[e->pid];
	k->events = ut_grow(k->events, k->count + 1, &k->cap, sizeof(*k->events));
	k->events[k->count++] = at;
}

static void pass_flow_join_say(struct ut_ace_analysis *a, const struct flows *f)
{
	struct ut_buf b = { 0 };
	char text[UT_SHORTEST_ROOM];

	for (size_t i = 0; i < f->worst_count; i++)
		ut_buf_fmt(&b, "\n%" PRId64 "\t%" PRId64 "\t%s", f->worst[i].from, f->worst[i].to,
			   ut_shortest(text, f->worst[i].by));
	a->issues[UT_ACE_ISSUE_FLOW_BACK] += f->problems;
	a->issues[UT_ACE_ISSUE_FLOW_LOST] += f->dropped;
	if (f->problems)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "FLOW: Number of potential problems detected = %" PRIu64
			   " \nsrc\tdst\trecv_before_send%s",
			   f->problems, b.data);
	if (f->dropped)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "FLOW: Incomplete flow groups dropped = %" PRIu64
			   "  This can be caused by time-synchronization issues. You might try "
			   "cmdline "
			   "arg '-S'",
			   f->dropped);
	ut_buf_release(&b);
}

static void pass_flow_join_release(struct flows *f)
{
	for (size_t i = 0; i < f->count; i++)
		release_group(&f->groups[i]);
	for (size_t i = 0; i < f->colls.rank_cap; i++)
		free(f->colls.ranks[i].events);
	free(f->colls.ranks);
	free(f->groups);
	free(f->heap);
	free(f->ready);
	free(f->worst);
}

int ut_ace_pass_flow_extract(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct flows f = { .next_flow = FIRST_FLOW };
	uint32_t *old;
	size_t count;

	if (!a->flows)
		return 0;
	old = ut_ace_seq_take(t, &count);
	ut_idmap_init(&f.index, &t->arena);
	ut_idmap_init(&f.pairs, &t->arena);
	for (size_t i = 0; i < count; i++) {
		if (t->events[old[i]].ph == 'F') {
			add_step(a, &f, old[i]);
			pass_flow_join_look(a, &f, t->events[old[i]].ts);
		} else {
			note_kernel(a, &f, old[i]);
			ut_ace_seq_add(t, old[i]);
		}
	}
	for (size_t i = 0; i < f.count; i++) {
		if (f.groups[i].gone)
			continue;
		if (complete(&f.groups[i])) {
			build(a, &f, &f.groups[i], false);
		} else {
			f.dropped++;
			close_group(&f, &f.groups[i]);
		}
	}
	free(old);
	pass_flow_join_say(a, &f);
	pass_flow_join_release(&f);
	return 0;
}
