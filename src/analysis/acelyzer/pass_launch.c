/*
 * pass_launch.c - arrows from the call that launched kernels to each of them, and from the last
 * of them to the call that waited (release 1.2, torch traces).
 *
 * All of them share a correlation number. The profiler draws only the arrow to the first kernel.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "acelyzer/stage.h"
#include "base/grow.h"

#define ARROW_START 0.001 /* us before the end of the kernel */

struct launch {
	bool has_source, has_wait, broken;
	uint32_t source_pid, source_tid, source_name, source_cat;
	double source_ts;
	uint32_t wait_pid, wait_tid;
	double wait_end;
	uint32_t last_pid, last_tid;
	double last_ts;
};

struct ut_ace_launches {
	struct launch *items; /* in order of appearance */
	size_t count, cap;
	struct ut_idmap index; /* correlation -> place in items + 1 */
	int64_t next;          /* the highest number so far */
	uint64_t late;
};

static struct launch *launch_of(struct ut_ace_launches *l, int64_t id, const struct ut_ace_event *e)
{
	uint32_t at = ut_idmap_get(&l->index, (uint64_t)id);
	struct launch *n;

	if (!at) {
		l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
		n = &l->items[l->count];
		n->last_ts = e->ts;
		n->last_pid = e->pid;
		n->last_tid = e->tid;
		at = (uint32_t)++l->count;
		ut_idmap_put(&l->index, (uint64_t)id, at);
	}
	return &l->items[at - 1];
}

static bool pass_launch_number(struct ut_ace_analysis *a, uint32_t list, uint32_t key, int64_t *out)
{
	struct ut_arg arg;
	double v;

	if (!ut_ace_arg(&a->table, list, key, &arg) || !ut_ace_arg_num(&a->table, &arg, &v) ||
	    !(v < 9e15 && v > -9e15))
		return false;
	*out = (int64_t)v;
	return true;
}

static void pass_launch_add_kernel(struct ut_ace_launches *l, struct launch *n,
				   const struct ut_ace_event *e)
{
	double end = ut_ace_end(e) - ARROW_START;
	double limit = n->has_wait ? n->wait_end : end;

	if (end <= limit && end > n->last_ts) {
		n->last_ts = end;
		n->last_pid = e->pid;
		n->last_tid = e->tid;
	} else {
		l->late++;
	}
	n->broken |= n->last_ts > limit;
}

static void add_source(struct ut_ace_analysis *a, struct ut_ace_launches *l,
		       const struct ut_ace_event *e)
{
	struct launch *n;
	int64_t id;

	if (!pass_launch_number(a, e->extra, UT_ACE_K_ID, &id))
		return;
	n = launch_of(l, id, e);
	n->has_source = true;
	n->source_pid = e->pid;
	n->source_tid = e->tid;
	n->source_name = e->name;
	n->source_cat = e->cat;
	n->source_ts = e->ts;
}

static void pass_launch_add_span(struct ut_ace_analysis *a, struct ut_ace_launches *l,
				 const struct ut_ace_event *e)
{
	uint64_t flags = ut_ace_flags_of(a, e);
	bool launch = flags & UT_ACE_NAME(LAUNCH), wait = flags & UT_ACE_NAME(SCHEDULE_WAIT);
	struct launch *n;
	int64_t id;

	if (!(e->flags & UT_ACE_CORR) || !pass_launch_number(a, e->args, UT_ACE_K_CORRELATION, &id))
		return;
	if (!launch && !wait && (!id || e->cat != UT_ACE_K_CAT_KERNEL))
		return;
	n = launch_of(l, id, e);
	if (!id)
		return;
	l->next = id > l->next ? id : l->next;
	if (wait && !launch) {
		n->has_wait = true;
		n->wait_pid = e->pid;
		n->wait_tid = e->tid;
		n->wait_end = ut_ace_end(e);
	} else if (!launch) {
		pass_launch_add_kernel(l, n, e);
	}
}

int ut_ace_pass_launch_collect(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_launches *l = UT_NEW(&t->arena, struct ut_ace_launches);

	ut_idmap_init(&l->index, &t->arena);
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph == 's')
			add_source(a, l, e);
		else if (e->ph == 'X')
			pass_launch_add_span(a, l, e);
	}
	a->launches = l;
	return 0;
}

static void pass_launch_add_end(struct ut_ace_analysis *a, const struct launch *n, char ph,
				uint32_t pid, uint32_t tid, double ts)
{
	struct ut_ace_table *t = &a->table;
	struct ut_arg args[] = { ut_ace_int_arg(UT_ACE_K_ID, a->launches->next),
				 ut_ace_str_arg(UT_ACE_K_BP, UT_ACE_K_E) };
	struct ut_ace_event *e = ut_ace_event_add(t);

	e->ph = ph;
	e->pid = pid;
	e->tid = tid;
	e->ts = ts;
	e->name = n->source_name;
	e->cat = n->source_cat;
	e->flags = UT_ACE_HAS_CAT;
	e->extra = ut_arglists_add(&t->lists, args, ph == 'f' ? 2 : 1);
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
}

static void arrow_to(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_ace_launches *l = a->launches;
	uint32_t pid = e->pid, tid = e->tid, at;
	double ts = e->ts;
	int64_t id;

	if (e->cat != UT_ACE_K_CAT_KERNEL || !(e->flags & UT_ACE_CORR) ||
	    !pass_launch_number(a, e->args, UT_ACE_K_CORRELATION, &id))
		return;
	at = ut_idmap_get(&l->index, (uint64_t)id);
	if (!at || !l->items[at - 1].has_source || l->items[at - 1].broken)
		return;
	l->next++;
	pass_launch_add_end(a, &l->items[at - 1], 's', l->items[at - 1].source_pid,
			    l->items[at - 1].source_tid, l->items[at - 1].source_ts);
	pass_launch_add_end(a, &l->items[at - 1], 'f', pid, tid, ts);
}

void ut_ace_end_launches(struct ut_ace_analysis *a)
{
	if (a->launches)
		free(a->launches->items);
	a->launches = NULL;
}

int ut_ace_pass_launch_create(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_launches *l = a->launches;
	size_t count = t->seq_count;

	if (!l)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (t->events[t->seq[i]].ph == 'X')
			arrow_to(a, ut_ace_at(t, i));
	}
	/* release 1.3 forgets what it needs for the arrows to the calls that waited */
	for (size_t i = 0; a->opts.release < UT_ACE_1_3 && i < l->count; i++) {
		const struct launch *n = &l->items[i];

		if (!n->has_source || !n->has_wait || n->broken)
			continue;
		l->next++;
		pass_launch_add_end(a, n, 's', n->last_pid, n->last_tid, n->last_ts);
		pass_launch_add_end(a, n, 'f', n->wait_pid, n->wait_tid, n->wait_end);
	}
	if (l->late)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "FLOWS: Ignored %" PRIu64 " events with timestamp after schedule wait",
			   l->late);
	ut_ace_end_launches(a);
	return 0;
}
