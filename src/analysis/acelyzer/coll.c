/*
 * coll.c - -R: a collective operation as one event per rank, from the kernel before it to the
 * last step of it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/coll_flow.h"
#include "base/grow.h"
#include "base/str.h"

#define NEAR 10000.0 /* us between the ends of the first step and of the kernel before it */

/* The first and the last step of a rank. */
struct rank {
	uint32_t pid;         /* id */
	uint32_t first, last; /* event + 1 */
};

struct ranks {
	struct rank *items; /* in the order in which their first steps were found */
	size_t count, cap;
};

static struct rank *coll_rank_of(struct ranks *r, uint32_t pid)
{
	for (size_t i = 0; i < r->count; i++) {
		if (r->items[i].pid == pid)
			return &r->items[i];
	}
	r->items = ut_grow(r->items, r->count + 1, &r->cap, sizeof(*r->items));
	r->items[r->count].pid = pid;
	return &r->items[r->count++];
}

/* A chain multicasts its result from the last rank, a tree from rank 0. */
static bool is_chain(struct ut_ace_analysis *a, struct ut_ace_colls *c,
		     const struct ut_ace_flow_group *g)
{
	int64_t last = (int64_t)g->peer_count - 1;

	for (size_t i = 0; !c->chain && !c->off && i < g->count; i++) {
		int64_t pid = ut_ace_num(&a->table, a->table.events[g->members[i].event].pid);

		if (a->flows->steps[g->members[i].step].type != UT_ACE_STEP_MCAST ||
		    (pid && pid != last))
			continue;
		c->chain = pid == last && pid;
		c->off = !c->chain;
	}
	if (!c->chain) {
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   c->off ? "FLOW: To be finished, Only chain AllReduce is supported now"
				  : "FLOW: AllReduce algorithm type not supported (chain and tree "
				    "only)");
		c->off = true;
	}
	return c->chain;
}

static void earlier(struct ut_ace_analysis *a, uint32_t *at, uint32_t event)
{
	if (!*at || a->table.events[*at - 1].ts > a->table.events[event].ts)
		*at = event + 1;
}

static void later(struct ut_ace_analysis *a, uint32_t *at, uint32_t event)
{
	if (!*at || a->table.events[*at - 1].ts < a->table.events[event].ts)
		*at = event + 1;
}

/* In a chain rank 0 begins with a send, the others with a receive; the last rank ends with the
 * multicast, the others with a receive. */
static void coll_find_ends(struct ut_ace_analysis *a, const struct ut_ace_flow_group *g,
			   struct ranks *r, struct ranks *ends)
{
	int64_t last = (int64_t)g->peer_count - 1;

	for (size_t i = 0; i < g->count; i++) {
		uint32_t event = g->members[i].event, pid = a->table.events[event].pid;
		int64_t rank = ut_ace_num(&a->table, pid);
		uint8_t type = a->flows->steps[g->members[i].step].type;

		if ((type == UT_ACE_STEP_SEND && !rank) || (type == UT_ACE_STEP_DONE && rank > 0))
			earlier(a, &coll_rank_of(r, pid)->first, event);
		if ((type == UT_ACE_STEP_MCAST && rank == last) ||
		    (type == UT_ACE_STEP_DONE && rank < last))
			later(a, &coll_rank_of(ends, pid)->last, event);
	}
}

/* The second word of a name without its brackets: "[524288B]". */
static struct ut_str second_word(struct ut_str s)
{
	const char *at = memchr(s.ptr, ' ', s.len), *end;

	if (!at)
		return (struct ut_str){ "", 0 };
	s.len -= (size_t)(at + 1 - s.ptr);
	s.ptr = at + 1;
	end = memchr(s.ptr, ' ', s.len);
	s.len = end ? (size_t)(end - s.ptr) : s.len;
	while (s.len && (*s.ptr == '[' || *s.ptr == ']')) {
		s.ptr++;
		s.len--;
	}
	while (s.len && (s.ptr[s.len - 1] == '[' || s.ptr[s.len - 1] == ']'))
		s.len--;
	return s;
}

/* "524288B" of the first step, or of the last if that has none; the number behind it. */
static uint32_t size_text(struct ut_ace_analysis *a, const struct rank *r, double *bytes)
{
	struct ut_str w = second_word(ut_ace_str(&a->table, a->table.events[r->first - 1].name));
	char *end;

	if (!memchr(w.ptr, 'B', w.len) && r->last)
		w = second_word(ut_ace_str(&a->table, a->table.events[r->last - 1].name));
	*bytes = w.len && isdigit((unsigned char)*w.ptr) ? strtod(w.ptr, &end) : 0;
	return ut_strtab_intern(&a->table.strings, w.ptr, w.len);
}

static uint32_t peers_text(struct ut_ace_analysis *a, const struct ut_ace_flow_group *g)
{
	struct ut_buf b = { 0 };
	uint32_t id;

	ut_buf_char(&b, '{');
	for (size_t i = 0; i < g->peer_count; i++)
		ut_buf_fmt(&b, "%s%lld", i ? ", " : "", (long long)g->peers[i]);
	ut_buf_char(&b, '}');
	id = ut_strtab_intern(&a->table.strings, b.data, b.len);
	ut_buf_release(&b);
	return id;
}

/* The group's name, which ends with a number in any case. */
static uint32_t numbered_name(struct ut_ace_analysis *a, uint32_t group)
{
	struct ut_str s = ut_ace_str(&a->table, group);
	size_t i = s.len;
	struct ut_buf b = { 0 };

	while (i && isdigit((unsigned char)s.ptr[i - 1]))
		i--;
	if (i < s.len && i && s.ptr[i - 1] == '_')
		return group;
	ut_buf_add(&b, s.ptr, s.len);
	ut_buf_text(&b, "_0");
	group = ut_strtab_intern(&a->table.strings, b.data, b.len);
	ut_buf_release(&b);
	return group;
}

/* What the event of a rank needs. */
struct call {
	double ts, dur;
	uint32_t kernel; /* string id: the kernel before it */
	bool known;
};

/* Takes kernels of the rank until one fits; what is taken is not looked at again. */
static void find_kernel(struct ut_ace_analysis *a, struct ut_ace_kernels *k, const struct rank *r,
			struct call *call)
{
	const struct ut_ace_event *first = &a->table.events[r->first - 1];
	const struct ut_ace_event *last = &a->table.events[r->last - 1];

	while (k->next < k->count) {
		const struct ut_ace_event *e = &a->table.events[k->events[k->next++]];
		double d = ut_ace_end(e) - ut_ace_end(first);

		/* by now the reference has shortened the name of what came before */
		call->kernel = !a->full_names && !a->opts.keep_names
				       ? ut_ace_name_bare(&a->names, &a->table, e->name)
				       : e->name;
		if (e->ts > first->ts && d <= NEAR && d >= -NEAR) {
			call->ts = ut_ace_end(e);
			call->dur = ut_ace_end(last) - call->ts;
			call->known = true;
			return;
		}
	}
}

static void coll_add_call(struct ut_ace_analysis *a, const struct ut_ace_flow_group *g,
			  uint32_t group, const struct rank *r, const struct call *call)
{
	struct ut_ace_table *t = &a->table;
	char tid[32];
	double bytes;
	uint32_t size = size_text(a, r, &bytes), peers = peers_text(a, g);
	struct ut_arg args[] = {
		ut_ace_str_arg(UT_ACE_K_BYTES_LOW, size),
		ut_ace_str_arg(UT_ACE_K_COLL_TYPE, ut_strtab_intern_z(&t->strings, "chain")),
		ut_ace_str_arg(UT_ACE_K_COLL_PEERS, peers),
		ut_ace_str_arg(UT_ACE_K_COLL_GROUP, group),
		ut_ace_str_arg(UT_ACE_K_COLL_COMPUTE, call->kernel),
		ut_ace_int_arg(UT_ACE_K_COLL_SIZE,
			       2 * ((int64_t)g->peer_count - 1) * (int64_t)bytes),
	};
	struct ut_ace_event e = { .ph = 'X', .ts = call->ts, .dur = call->dur, .pid = r->pid };
	struct ut_ace_id id = { .kind = UT_ACE_ID_STR };

	snprintf(tid, sizeof(tid), "coll%lld", (long long)ut_ace_num(t, r->pid));
	id.str = ut_strtab_intern_z(&t->strings, tid);
	e.tid = ut_ace_id_add(t, &id);
	e.name = numbered_name(a, group);
	e.job = t->events[r->first - 1].job;
	e.args = ut_arglists_add(&t->lists, args, sizeof(args) / sizeof(args[0]));
	e.flags = UT_ACE_HAS_DUR | UT_ACE_HAS_ARGS | UT_ACE_HAS_JOB | UT_ACE_COLL | UT_ACE_NORMAL;
	*ut_ace_event_add(t) = e;
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
}

void ut_ace_coll_events(struct ut_ace_analysis *a, struct ut_ace_colls *c,
			const struct ut_ace_flow_group *g, uint32_t group)
{
	struct ranks firsts = { 0 }, ends = { 0 };
	struct call call = { 0 };

	if (c->off || !is_chain(a, c, g))
		return;
	coll_find_ends(a, g, &firsts, &ends);
	for (size_t i = 0; i < firsts.count; i++) {
		struct rank *r = &firsts.items[i];

		r->last = coll_rank_of(&ends, r->pid)->last;
		if (r->pid >= c->rank_cap || !c->ranks[r->pid].count || !r->last)
			continue;
		/* without a kernel of its own a rank takes the times of the one before */
		find_kernel(a, &c->ranks[r->pid], r, &call);
		if (call.known)
			coll_add_call(a, g, group, r, &call);
	}
	free(firsts.items);
	free(ends.items);
}
