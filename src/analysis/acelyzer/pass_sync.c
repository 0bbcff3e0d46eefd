/*
 * pass_sync.c - the devices of several ranks on one clock, by what they did together.
 *
 * Every device counts from its own start. In a collective operation the last receive of a rank
 * ends when the last send of its partner does, which gives the distance between two counters.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/order.h"
#include "acelyzer/stage.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/shortest.h"

#define TS2 1
#define TS5 4

/* The events of one rank in one collective operation: the last ends, us of the device. */
struct group {
	double ts2, ts5;
	double host;       /* the end of the event with the last TS5 on the host's clock */
	uint32_t at2, at5; /* the events */
	bool reduces;      /* one of them is called AllReduce_all_reduce */
	bool any;
};

struct sync {
	uint32_t *pids; /* ids of the ranks, in order of appearance */
	size_t pid_count, pid_cap;
	uint32_t *names; /* of rank 0's groups, in order */
	size_t name_count, name_cap;
	struct group *groups;
	size_t group_count, group_cap;
	struct ut_idmap index; /* rank and name -> place in groups + 1 */
	struct ut_idmap seen;  /* ranks and names that are listed already */
};

static void pass_sync_list(uint32_t **items, size_t *count, size_t *cap, uint32_t item)
{
	*items = ut_grow(*items, *count + 1, cap, sizeof(**items));
	(*items)[(*count)++] = item;
}

static const struct group *pass_sync_group_of(const struct sync *s, uint32_t pid, uint32_t name)
{
	uint32_t at = ut_idmap_get(&s->index, (uint64_t)pid << 32 | name);

	return at && s->groups[at - 1].any ? &s->groups[at - 1] : NULL;
}

static void pass_sync_add_event(struct ut_ace_analysis *a, struct sync *s, uint32_t at,
				uint32_t name)
{
	const struct ut_ace_event *e = &a->table.events[at];
	uint64_t key = (uint64_t)e->pid << 32 | name;
	uint32_t place = ut_idmap_get(&s->index, key);
	struct group *g;
	double us;

	if (!place) {
		s->groups =
			ut_grow(s->groups, s->group_count + 1, &s->group_cap, sizeof(*s->groups));
		place = (uint32_t)++s->group_count;
		ut_idmap_put(&s->index, key, place);
	}
	g = &s->groups[place - 1];
	g->reduces |= !!(ut_ace_flags_of(a, e) & UT_ACE_NAME(ALL_REDUCE));
	if (!ut_ace_has_stamps(e))
		return;
	us = ut_ace_dev_us(a, e, TS2);
	if (!g->any || us >= g->ts2) {
		g->ts2 = us;
		g->at2 = at;
	}
	us = ut_ace_dev_us(a, e, TS5);
	if (!g->any || us >= g->ts5) {
		g->ts5 = us;
		g->at5 = at;
		g->host = ut_ace_end(e);
	}
	g->any = true;
}

static bool is_reduce(const struct ut_ace_analysis *a, uint32_t name)
{
	struct ut_str s = ut_ace_str(&a->table, name);

	return memmem(s.ptr, s.len, "AllReduce", 9) != NULL;
}

static void pass_sync_gather(struct ut_ace_analysis *a, struct sync *s, bool only_reduce)
{
	struct ut_ace_table *t = &a->table;
	uint32_t rank0 = ut_ace_id_int(t, 0);
	struct ut_arg arg;

	ut_idmap_init(&s->index, &t->arena);
	ut_idmap_init(&s->seen, &t->arena);
	for (size_t i = 0; t->any_flags & UT_ACE_COLL && i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		uint64_t rank = UINT64_C(1) << 40 | e->pid;

		if ((e->flags & (UT_ACE_COLL | UT_ACE_IN_ATTR)) != UT_ACE_COLL ||
		    (e->ph != 'X' && e->ph != 'b') ||
		    !ut_ace_arg(t, e->args, UT_ACE_K_COLL_GROUP, &arg) || arg.type != UT_ARG_STR)
			continue;
		if (only_reduce && !is_reduce(a, arg.value.str))
			continue;
		if (!ut_idmap_get(&s->seen, rank)) {
			ut_idmap_put(&s->seen, rank, 1);
			pass_sync_list(&s->pids, &s->pid_count, &s->pid_cap, e->pid);
		}
		if (e->pid == rank0 && !ut_idmap_get(&s->seen, arg.value.str)) {
			ut_idmap_put(&s->seen, arg.value.str, 1);
			pass_sync_list(&s->names, &s->name_count, &s->name_cap, arg.value.str);
		}
		pass_sync_add_event(a, s, t->seq[i], arg.value.str);
	}
}

static void pass_sync_release(struct sync *s)
{
	free(s->pids);
	free(s->names);
	free(s->groups);
}

/* Other operations count only if there is no AllReduce: they start out of step. */
static void keep_reduces(struct ut_ace_analysis *a, struct sync *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->name_count; i++)
		kept += is_reduce(a, s->names[i]);
	if (!kept)
		return;
	kept = 0;
	for (size_t i = 0; i < s->name_count; i++) {
		if (is_reduce(a, s->names[i]))
			s->names[kept++] = s->names[i];
	}
	s->name_count = kept;
}

static int missing(struct ut_ace_analysis *a)
{
	ut_ace_say(&a->messages, UT_ACE_ERROR,
		   "Detected an event/process that has no contribution to collective op. Unable to "
		   "sync based on collectives. Use -M option to skip alignment.");
	return ut_err_set(&a->err, -ENODATA,
			  "the ranks cannot be aligned: not every rank takes part in every "
			  "collective operation (-M skips the alignment)");
}

/* Every rank 0..N-1 must have every group. */
static bool complete(struct ut_ace_analysis *a, const struct sync *s)
{
	for (size_t p = 0; p < s->pid_count; p++) {
		uint32_t pid = ut_ace_id_int(&a->table, (int64_t)p);

		for (size_t g = 0; g < s->name_count; g++) {
			if (!pass_sync_group_of(s, pid, s->names[g]))
				return false;
		}
	}
	return true;
}

static void say_list(struct ut_ace_analysis *a, const char *what, const double *values, size_t n,
		     double add)
{
	struct ut_buf b = { 0 };
	char text[UT_SHORTEST_ROOM];

	for (size_t i = 0; i < n; i++)
		ut_buf_fmt(&b, "%s%s", i ? ", " : "",
			   values[i] + add == 0 ? "0" : ut_shortest(text, values[i] + add));
	ut_ace_say(&a->messages, UT_ACE_INFO, "MP_SYNC_V2 delta_t5, %s [%s]", what,
		   b.data ? b.data : "");
	ut_buf_release(&b);
}

static void say_sync(struct ut_ace_analysis *a, uint32_t ref, double offset, const double *shift,
		     size_t n)
{
	char *event = ut_ace_describe(a, &a->table.events[ref]), text[UT_SHORTEST_ROOM];

	ut_ace_say(&a->messages, UT_ACE_INFO, "MP_SYNC_V2 delta_t5, dts_2_hts_ref_event:   %s",
		   event);
	ut_ace_say(&a->messages, UT_ACE_INFO, "MP_SYNC_V2 delta_t5, dts_2_hts_ref_offset:  %s",
		   ut_shortest(text, offset));
	say_list(a, "dts_shifts:           ", shift, n, 0);
	say_list(a, "dts_2_hts:            ", shift, n, offset);
	free(event);
}

/* All device events by the clock of rank 0's device. */
static void shift_events(struct ut_ace_analysis *a, const double *shift, size_t n, double offset)
{
	struct ut_ace_table *t = &a->table;

	a->shift_count = t->id_count;
	a->shifts = UT_NEW_N(&t->arena, double, t->id_count);
	for (size_t id = 1; id < t->id_count; id++) {
		int64_t p = ut_ace_is_num(t, (uint32_t)id) ? t->ids[id].num : -1;

		if (p >= 0 && (size_t)p < n)
			a->shifts[id] = shift[p];
	}
	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);
		int part;

		if (!ut_ace_has_stamps(e))
			continue;
		for (int k = 0; k < UT_ACE_STAMPS; k++)
			ut_ace_dev_of(a, e)->all[k] = ut_ace_dev_us(a, e, k) + offset;
		part = ut_ace_name_part(ut_ace_flags_of(a, e));
		e->ts = ut_ace_dev_of(a, e)->all[part > 0 ? part : 0];
	}
}

/*
 * The first rank of the order sends last, the others receive: ranks upwards for a tree, whose
 * rank 0 multicasts, downwards for a chain. All receivers of the first group end together; then
 * the group with the smallest distance between the last send and the last receive counts.
 */
static void align(struct ut_ace_analysis *a, const struct sync *s)
{
	size_t n = s->pid_count, best = 0;
	double *shift = ut_make(n * sizeof(*shift)), least = 0, offset;
	uint32_t *rank = ut_make(n * sizeof(*rank)), rank0 = ut_ace_id_int(&a->table, 0), ref;
	bool tree = pass_sync_group_of(s, rank0, s->names[0])->reduces;
	const struct group *g;

	for (size_t p = 0; p < n; p++)
		rank[p] = ut_ace_id_int(&a->table, (int64_t)(tree ? p : n - 1 - p));
#define SHIFT(p) shift[tree ? (p) : n - 1 - (p)]
	for (size_t p = 2; p < n; p++)
		SHIFT(p) -= pass_sync_group_of(s, rank[p], s->names[0])->ts2 -
			    pass_sync_group_of(s, rank[1], s->names[0])->ts2;
	for (size_t i = 0; i < s->name_count; i++) {
		double d = pass_sync_group_of(s, rank[1], s->names[i])->ts2 -
			   pass_sync_group_of(s, rank[0], s->names[i])->ts5;

		if (!i || d < least) {
			least = d;
			best = i;
		}
	}
	for (size_t p = 1; tree && p < n; p++)
		SHIFT(p) -= least;
	if (!tree)
		SHIFT(0) += least;
#undef SHIFT
	g = pass_sync_group_of(s, rank0, s->names[best]);
	ref = tree ? g->at5 : g->at2;
	offset = ut_ace_end(&a->table.events[ref]) - (tree ? g->ts5 : g->ts2);
	say_sync(a, ref, offset, shift, n);
	shift_events(a, shift, n, offset);
	free(shift);
	free(rank);
}

int ut_ace_pass_sync(struct ut_ace_analysis *a)
{
	struct sync s = { 0 };
	int rc = 0;

	pass_sync_gather(a, &s, false);
	if (!s.name_count || s.pid_count < 2) {
		ut_ace_say(&a->messages, UT_ACE_INFO,
			   "MP SYNC: no collective group detected or single process, no action");
	} else {
		keep_reduces(a, &s);
		if (complete(a, &s))
			align(a, &s);
		else
			rc = missing(a);
	}
	pass_sync_release(&s);
	ut_ace_order_late_first(&a->table);
	return rc;
}

/* Per rank, what the second kind of alignment needs. */
struct dilation {
	uint32_t pid;
	double ref, range, factor; /* us */
};

/* Where the groups of a rank end: the first and the last of them. */
static double range_of(const struct sync *s, uint32_t pid)
{
	double min = 0, max = 0;

	for (size_t i = 0; i < s->name_count; i++) {
		double v = pass_sync_group_of(s, pid, s->names[i])->ts5;

		min = !i || v < min ? v : min;
		max = !i || v > max ? v : max;
	}
	return max - min;
}

/* The group whose ends lie nearest to those of rank 0, on average. */
static size_t nearest_group(const struct sync *s, uint32_t rank0)
{
	size_t best = 0;
	double least = 0;

	for (size_t i = 0; i < s->name_count; i++) {
		double sum = 0;

		for (size_t p = 0; p < s->pid_count; p++)
			sum += pass_sync_group_of(s, s->pids[p], s->names[i])->ts5 -
			       pass_sync_group_of(s, rank0, s->names[i])->ts5;
		sum /= (double)s->pid_count;
		if (!i || sum < least) {
			least = sum;
			best = i;
		}
	}
	return best;
}

static void dilate_events(struct ut_ace_analysis *a, const struct dilation *ranks, size_t n,
			  double ref0, double offset)
{
	struct ut_ace_table *t = &a->table;
	uint32_t *place = ut_make(t->id_count * sizeof(*place));

	for (size_t p = 0; p < n; p++)
		place[ranks[p].pid] = (uint32_t)p + 1;
	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);
		const struct dilation *r;

		if (!ut_ace_has_stamps(e) || !place[e->pid])
			continue;
		r = &ranks[place[e->pid] - 1];
		e->ts = (ut_ace_dev_us(a, e, TS5) - r->ref) / r->factor + ref0 + offset - e->dur;
	}
	free(place);
}

/* What was found for each rank, in the words of the reference: "{1: 0.5, 0: 1.0}". */
static void say_dilations(struct ut_ace_analysis *a, const struct sync *s,
			  const struct dilation *ranks)
{
	struct ut_buf factors = { 0 }, refs = { 0 }, ends = { 0 };
	char text[UT_SHORTEST_ROOM];

	for (size_t p = 0; p < s->pid_count; p++) {
		const struct dilation *r = &ranks[p];
		const char *comma = p ? ", " : "";
		int64_t pid = ut_ace_num(&a->table, r->pid);

		ut_buf_fmt(&factors, "%s%" PRId64 ": %s", comma, pid, ut_shortest(text, r->factor));
		ut_buf_fmt(&refs, "%s%" PRId64 ": %s", comma, pid, ut_shortest(text, r->ref));
		ends.len = 0;
		for (size_t g = 0; g < s->name_count; g++)
			ut_buf_fmt(
				&ends, "%s%s", g ? ", " : "",
				ut_shortest(text, pass_sync_group_of(s, r->pid, s->names[g])->ts5));
		ut_ace_say(&a->messages, UT_ACE_INFO, "mp_gather_events delta_t5:  [%s]",
			   ends.data);
	}
	ut_ace_say(&a->messages, UT_ACE_INFO, "MP_SYNC_V2 delta_t5, dilation factor:    {%s}",
		   factors.data);
	ut_ace_say(&a->messages, UT_ACE_INFO, "MP_SYNC_V2 delta_t5, ref_dts_per_pid:    {%s}",
		   refs.data);
	ut_buf_release(&factors);
	ut_buf_release(&refs);
	ut_buf_release(&ends);
}

static void dilate(struct ut_ace_analysis *a, const struct sync *s)
{
	struct dilation *ranks = ut_make(s->pid_count * sizeof(*ranks));
	uint32_t rank0 = ut_ace_id_int(&a->table, 0);
	size_t best = nearest_group(s, rank0);
	const struct group *g0 = pass_sync_group_of(s, rank0, s->names[best]);
	double range0 = range_of(s, rank0), offset = g0->host - g0->ts5;
	char text[UT_SHORTEST_ROOM];

	for (size_t p = 0; p < s->pid_count; p++) {
		struct dilation *r = &ranks[p];

		r->pid = s->pids[p];
		r->ref = pass_sync_group_of(s, r->pid, s->names[best])->ts5;
		r->range = range_of(s, r->pid);
		/* With one group there is no range, so no clock can be seen to run faster. */
		r->factor = range0 > 0 && r->range > 0 ? r->range / range0 : 1;
	}
	say_dilations(a, s, ranks);
	ut_ace_say(&a->messages, UT_ACE_INFO, "MP_SYNC_V2 delta_t5, ref_dts_cg:         %s",
		   ut_ace_str(&a->table, s->names[best]).ptr);
	ut_ace_say(&a->messages, UT_ACE_INFO, "MP_SYNC_V2 delta_t5, ref_hts_p0:         %s",
		   ut_shortest(text, g0->host));
	ut_ace_say(&a->messages, UT_ACE_INFO, "MP_SYNC_V2 delta_t5, dts_hts_calib_ref:  %s",
		   ut_shortest(text, offset));
	dilate_events(a, ranks, s->pid_count, g0->ts5, offset);
	free(ranks);
}

/* Like complete(), for whatever numbers the ranks have. */
static bool complete_any(const struct sync *s)
{
	for (size_t p = 0; p < s->pid_count; p++) {
		for (size_t g = 0; g < s->name_count; g++) {
			if (!pass_sync_group_of(s, s->pids[p], s->names[g]))
				return false;
		}
	}
	return true;
}

int ut_ace_pass_sync_v2(struct ut_ace_analysis *a)
{
	struct sync s = { 0 };
	int rc = 0;

	pass_sync_gather(a, &s, true);
	if (!s.name_count || s.pid_count < 2)
		ut_ace_say(&a->messages, UT_ACE_INFO,
			   "MP SYNC: no collective group detected or single process, no action");
	else if (complete_any(&s))
		dilate(a, &s);
	else
		rc = missing(a);
	pass_sync_release(&s);
	ut_ace_order_reverse(&a->table);
	return rc;
}
