/*
 * pass_collbw.c - the bandwidth of collective operations, as counters of a process -1.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/order.h"
#include "acelyzer/stage.h"
#include "base/grow.h"
#include "text/shortest.h"

static void pass_collbw_add_pair(struct ut_ace_analysis *a, uint32_t name, double from, double to,
				 double value)
{
	struct ut_arg arg = ut_ace_num_arg(UT_ACE_K_UNIT_GBPS, value);
	uint32_t pid = ut_ace_id_int(&a->table, -1);

	ut_ace_add_counter(a, pid, from, name, &arg)->flags |= UT_ACE_HAS_CAT;
	arg.value.f64 = 0;
	ut_ace_add_counter(a, pid, to, name, &arg)->flags |= UT_ACE_HAS_CAT;
}

static size_t count_pids(const struct ut_ace_table *t)
{
	bool *seen = ut_make(t->id_count * sizeof(*seen));
	size_t n = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		uint32_t pid = t->events[t->seq[i]].pid;

		n += !seen[pid];
		seen[pid] = true;
	}
	free(seen);
	return n;
}

/* What has been seen since a collective operation began. */
struct run {
	bool inside, has_bytes;
	double begin, bytes;
	size_t receives;
};

enum kind {
	REDUCE, /* part of an AllReduce */
	GATHER,
	KERNEL, /* a kernel outside of collective operations */
	OTHER,
};

static enum kind pass_collbw_kind_of(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_arg arg;
	struct ut_str s;

	if (!(e->flags & UT_ACE_COLL))
		return ut_ace_flags_of(a, e) & UT_ACE_NAME(EXEC) ? KERNEL : OTHER;
	if (!ut_ace_arg(&a->table, e->args, UT_ACE_K_COLL_GROUP, &arg) || arg.type != UT_ARG_STR)
		return OTHER;
	s = ut_ace_str(&a->table, arg.value.str);
	if (memmem(s.ptr, s.len, "AllReduce_all_reduce_", 21))
		return REDUCE;
	return memmem(s.ptr, s.len, "AllGather", 9) ? GATHER : OTHER;
}

static void add_step(struct ut_ace_analysis *a, struct run *r, const struct ut_ace_event *e)
{
	uint64_t n = ut_ace_flags_of(a, e);
	struct ut_arg arg;

	if (!r->has_bytes && n & UT_ACE_NAME(SEN_SEND) &&
	    (ut_ace_arg(&a->table, e->args, UT_ACE_K_BYTES, &arg) ||
	     ut_ace_arg(&a->table, e->args, UT_ACE_K_BYTES_LOW, &arg)))
		r->has_bytes = ut_ace_arg_num(&a->table, &arg, &r->bytes);
	r->receives += !!(n & UT_ACE_NAME(SEN_RECV));
}

/*
 * Over spans in the order of their ends: a run of AllReduce steps begins with the end of what
 * was before it and ends before the next kernel, once every rank has received.
 */
static void find_runs(struct ut_ace_analysis *a, const uint32_t *order, size_t n, size_t ranks)
{
	struct ut_ace_table *t = &a->table;
	struct run r = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct ut_ace_event *e = &t->events[order[i]];
		double before = ut_ace_end(&t->events[order[i ? i - 1 : n - 1]]), rate;
		enum kind kind = pass_collbw_kind_of(a, e);

		if (kind == REDUCE) {
			if (!r.inside)
				r.begin = before;
			r.inside = true;
			add_step(a, &r, e);
		} else if (r.inside && r.has_bytes && kind == KERNEL && r.receives > ranks - 1) {
			/* less than 0 if the run began with the very first span */
			rate = before != r.begin ? ut_round(r.bytes / (before - r.begin) / 1000, 3)
						 : 0;
			pass_collbw_add_pair(a, UT_ACE_K_C_BW_REDUCE, r.begin, before, rate);
			pass_collbw_add_pair(a, UT_ACE_K_C_BW_PCIE, r.begin, before,
					     2 * (double)(ranks - 1) * rate);
			r = (struct run){ 0 };
		} else if (r.inside && r.has_bytes && kind == GATHER) {
			break;
		}
	}
}

/* All spans in the order of their ends; the caller frees them. */
static uint32_t *spans_by_end(struct ut_ace_table *t, size_t *count)
{
	size_t before = t->seq_count;
	uint32_t *order;

	for (size_t i = 0; i < before; i++) {
		char ph = ut_ace_at(t, i)->ph;

		if (ph == 'X' || ph == 'b')
			ut_ace_seq_add(t, t->seq[i]);
	}
	ut_ace_order_by_end(t, before, t->seq_count);
	*count = t->seq_count - before;
	order = ut_make((*count + 1) * sizeof(*order));
	memcpy(order, t->seq + before, *count * sizeof(*order));
	t->seq_count = before;
	return order;
}

int ut_ace_pass_coll_bw(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	if (t->any_flags & UT_ACE_COLL && !a->opts.no_coll_bw) {
		size_t ranks = count_pids(t), count;
		uint32_t *order = spans_by_end(t, &count);

		find_runs(a, order, count, ranks);
		free(order);
	}
	if (a->opts.release >= UT_ACE_1_2)
		ut_ace_order_reverse(t);
	else
		ut_ace_order_late_first(t);
	return 0;
}

/* A collective operation of which not all ranks have been seen. */
struct open {
	uint32_t name;
	double begin, end, size;
	size_t ranks;
};

struct coll {
	struct open *open;
	size_t count, cap;
	double last_begin, last_end; /* of the counters so far */
	uint32_t *names;             /* of operations since the counter was last 0 */
	size_t name_count, name_cap;
	size_t ranks; /* in an operation */
	uint64_t concurrent, odd;
};

static size_t peers_of(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_arg arg;
	struct ut_str s;
	size_t n = 1;

	if (!ut_ace_arg(&a->table, e->args, UT_ACE_K_COLL_PEERS, &arg) || arg.type != UT_ARG_STR)
		return 1;
	s = ut_ace_str(&a->table, arg.value.str);
	for (size_t i = 0; i < s.len; i++)
		n += s.ptr[i] == ',';
	return n;
}

static void add_level(struct ut_ace_analysis *a, double ts, double gbps)
{
	struct ut_arg arg = ut_ace_num_arg(UT_ACE_K_GBPS, gbps);
	struct ut_ace_event *e =
		ut_ace_add_counter(a, ut_ace_id_int(&a->table, -1), ts, UT_ACE_K_C_COLL_BW, &arg);

	e->flags |= UT_ACE_HAS_CAT;
}

static void pass_collbw_finish(struct ut_ace_analysis *a, struct coll *c, struct open *o)
{
	if (o->begin > c->last_end && c->last_end > 0) {
		add_level(a, c->last_end, 0);
		c->name_count = 0;
		c->last_begin = o->begin;
		c->ranks = 0;
	}
	add_level(a, o->begin,
		  o->end > o->begin ? ut_round(o->size / (o->end - o->begin) / 1000, 3) : 0);
	c->names = ut_grow(c->names, c->name_count + 1, &c->name_cap, sizeof(*c->names));
	c->names[c->name_count++] = o->name;
	c->last_end = o->end;
	*o = c->open[--c->count];
}

static bool pass_collbw_listed(const struct coll *c, uint32_t name)
{
	for (size_t i = 0; i < c->name_count; i++) {
		if (c->names[i] == name)
			return true;
	}
	return false;
}

static void pass_collbw_add_rank(struct ut_ace_analysis *a, struct coll *c,
				 const struct ut_ace_event *e, double size)
{
	size_t ranks = peers_of(a, e), i;
	double end = ut_ace_end(e);
	struct ut_arg arg;
	struct open *o;

	if (!ut_ace_arg(&a->table, e->args, UT_ACE_K_COLL_GROUP, &arg) || arg.type != UT_ARG_STR ||
	    e->ts < c->last_begin ||
	    (e->ts < c->last_end && pass_collbw_listed(c, arg.value.str)) ||
	    (c->ranks && c->ranks != ranks)) {
		c->odd++; /* such an operation cannot be told from the one before */
		return;
	}
	c->concurrent += e->ts < c->last_end;
	for (i = 0; i < c->count && c->open[i].name != arg.value.str; i++)
		;
	if (i == c->count) {
		c->open = ut_grow(c->open, c->count + 1, &c->cap, sizeof(*c->open));
		c->open[c->count++] = (struct open){ arg.value.str, e->ts, end, size, 1 };
		c->ranks = ranks;
		return;
	}
	o = &c->open[i];
	if (o->ranks >= c->ranks)
		return;
	o->begin = e->ts < o->begin ? e->ts : o->begin;
	o->end = end > o->end ? end : o->end;
	if (++o->ranks == c->ranks)
		pass_collbw_finish(a, c, o);
}

int ut_ace_pass_coll_bw_v2(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct coll c = { 0 };
	size_t n = t->seq_count;

	for (size_t i = 0; i < n; i++) {
		struct ut_ace_event e = t->events[t->seq[i]];
		struct ut_arg arg;
		double size;

		if (e.ph == 'X' && !e.dev && ut_ace_flags_of(a, &e) & UT_ACE_NAME(ALL_REDUCE) &&
		    ut_ace_arg(t, e.args, UT_ACE_K_COLL_SIZE, &arg) &&
		    ut_ace_arg_num(t, &arg, &size))
			pass_collbw_add_rank(a, &c, &e, size);
	}
	if (c.name_count)
		add_level(a, c.last_end, 0);
	if (c.concurrent)
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"CBW: Concurrent collective ops detected. BW counters will be wrong (BW of "
			"latest collective is shown).");
	if (c.odd)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "CBW: %" PRIu64
			   " collective events do not fit to those before and have no "
			   "bandwidth",
			   c.odd);
	free(c.open);
	free(c.names);
	return 0;
}
