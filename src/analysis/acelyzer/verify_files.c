#include "acelyzer/verify_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/order.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/shortest.h"

/* ---- spans of one stream ------------------------------------------------------------------- */

static void verify_files_add(struct ut_ace_verification *v, enum ut_ace_finding f, uint32_t event,
			     uint32_t corr)
{
	struct ut_ace_instances *l = &v->found[f];

	l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
	l->items[l->count++] = (struct ut_ace_instance){ event, corr };
}

static bool verify_files_is_whole(const struct ut_ace_event *e)
{
	return e->ph == 'X' && !(e->flags & (UT_ACE_NO_TS | UT_ACE_NO_NAME | UT_ACE_IN_ATTR));
}

/* Work of the device, before any stage has run; an event without arguments is none. */
static bool is_work(const struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_arg arg;
	struct ut_str s;

	if (!verify_files_is_whole(e))
		return false;
	if (a->table.jobs[e->job].dialect == UT_ACE_FLEX)
		return e->dev || ut_ace_arg(&a->table, e->args, UT_ACE_K_TS1, &arg);
	if (!(e->flags & UT_ACE_HAS_CAT) || (!e->args && !e->dev))
		return false;
	s = ut_ace_str(&a->table, e->cat);
	return memmem(s.ptr, s.len, "gpu", 3) || memmem(s.ptr, s.len, "kernel", 6);
}

/* A number for what an event has as its stream; that of an event without one is the number 0. */
static uint32_t verify_files_stream_of(struct ut_ace_table *t, const struct ut_ace_event *e,
				       uint32_t key)
{
	struct ut_arg arg;
	double v = 0;
	char text[UT_SHORTEST_ROOM];

	if (ut_ace_arg(t, e->args, key, &arg) && arg.type == UT_ARG_STR)
		return arg.value.str;
	if (ut_ace_arg(t, e->args, key, &arg))
		ut_ace_arg_num(t, &arg, &v);
	/* with a blank, so that it is no text that a file has */
	snprintf(text, sizeof(text), " %.17g", v);
	return ut_strtab_intern(&t->strings, text, strlen(text));
}

/* Streams are told apart in torch traces only: so says the first file that has work. */
static void check_streams(struct ut_ace_verification *v, struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_idmap index;
	double *ends = NULL;
	size_t count = 0, cap = 0;
	bool first = true, streams = false;

	v->stream = ut_strtab_intern(&t->strings, "stream", 6);
	ut_idmap_init(&index, &t->arena);
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		uint64_t id;
		uint32_t at;

		if (!is_work(a, e))
			continue;
		if (first)
			streams = t->jobs[e->job].dialect == UT_ACE_TORCH;
		first = false;
		id = (uint64_t)e->pid << 32 |
		     (streams ? verify_files_stream_of(t, e, v->stream) : 0);
		at = ut_idmap_get(&index, id);
		if (!at) {
			ends = ut_grow(ends, count + 1, &cap, sizeof(*ends));
			ends[count++] = -INFINITY;
			at = (uint32_t)count;
			ut_idmap_put(&index, id, at);
		}
		if (ends[at - 1] > e->ts)
			verify_files_add(v, UT_ACE_FOUND_OVERLAP, t->seq[i], 0);
		else
			ends[at - 1] = ut_round(ut_ace_end(e), 4);
	}
	v->count[UT_ACE_FOUND_OVERLAP] = v->found[UT_ACE_FOUND_OVERLAP].count;
	free(ends);
}

/* ---- kernels and their calls --------------------------------------------------------------- */

/* False: it has none, or 0, which stands for none. */
static bool corr_id(const struct ut_ace_analysis *a, const struct ut_ace_event *e, int64_t *id)
{
	struct ut_arg arg;
	double v;

	if (!verify_files_is_whole(e) ||
	    !ut_ace_arg(&a->table, e->args, UT_ACE_K_CORRELATION, &arg) ||
	    !ut_ace_arg_num(&a->table, &arg, &v) || !(v < 9e15 && v > -9e15))
		return false;
	*id = (int64_t)v;
	return *id;
}

static bool verify_files_is_call(const struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_str s = ut_ace_str(&a->table, e->name);

	return memmem(s.ptr, s.len, "ScheduleCompute", 15) ||
	       memmem(s.ptr, s.len, "ScheduleWait", 12);
}

static bool is_kernel(const struct ut_ace_event *e)
{
	return e->flags & UT_ACE_HAS_CAT && e->cat == UT_ACE_K_CAT_KERNEL;
}

static struct ut_ace_corr *corr_of(struct ut_ace_verification *v, struct ut_idmap *index,
				   int64_t id)
{
	uint32_t at = ut_idmap_get(index, (uint64_t)id);

	if (!at) {
		v->corrs = ut_grow(v->corrs, v->corr_count + 1, &v->corr_cap, sizeof(*v->corrs));
		v->corrs[v->corr_count++] =
			(struct ut_ace_corr){ .id = id, .begin = INFINITY, .end = -INFINITY };
		at = (uint32_t)v->corr_count;
		ut_idmap_put(index, (uint64_t)id, at);
	}
	return &v->corrs[at - 1];
}

static void collect_calls(struct ut_ace_verification *v, struct ut_ace_analysis *a,
			  struct ut_idmap *index)
{
	for (size_t i = 0; i < a->table.seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(&a->table, i);
		bool call;
		int64_t id;

		if (!corr_id(a, e, &id))
			continue;
		call = verify_files_is_call(a, e);
		if (call) {
			struct ut_ace_corr *c = corr_of(v, index, id);

			c->called = true;
			c->begin = fmin(c->begin, e->ts);
			c->end = fmax(c->end, ut_ace_end(e));
		} else if (is_kernel(e)) {
			corr_of(v, index, id)->kernels++;
		}
	}
}

static void check_calls(struct ut_ace_verification *v, struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_idmap index;

	ut_idmap_init(&index, &t->arena);
	collect_calls(v, a, &index);
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		const struct ut_ace_corr *c;
		uint32_t at;
		int64_t id;

		if (!is_kernel(e) || !corr_id(a, e, &id))
			continue;
		at = ut_idmap_get(&index, (uint64_t)id);
		c = at ? &v->corrs[at - 1] : NULL;
		if (c && c->called && (e->ts < c->begin || ut_ace_end(e) > c->end))
			verify_files_add(v, UT_ACE_FOUND_OUTSIDE, t->seq[i], at - 1);
	}
	v->count[UT_ACE_FOUND_OUTSIDE] = v->found[UT_ACE_FOUND_OUTSIDE].count;
	for (uint32_t i = 0; i < v->corr_count; i++) {
		if (v->corrs[i].called && !v->corrs[i].kernels) {
			verify_files_add(v, UT_ACE_FOUND_ORPHAN_PARENTS, 0, i);
			v->count[UT_ACE_FOUND_ORPHAN_PARENTS]++;
		} else if (!v->corrs[i].called) {
			verify_files_add(v, UT_ACE_FOUND_ORPHAN_KERNELS, 0, i);
			v->count[UT_ACE_FOUND_ORPHAN_KERNELS] += v->corrs[i].kernels;
		}
	}
}

void ut_ace_verification_make(struct ut_ace_verification *v, struct ut_ace_analysis *a)
{
	*v = (struct ut_ace_verification){ 0 };
	ut_ace_order_by_ts_dur(&a->table, 0, a->table.seq_count);
	check_streams(v, a);
	check_calls(v, a);
}

void ut_ace_verification_release(struct ut_ace_verification *v)
{
	for (int i = 0; i < UT_ACE_FINDINGS; i++)
		free(v->found[i].items);
	free(v->corrs);
	*v = (struct ut_ace_verification){ 0 };
}

bool ut_ace_verification_fails(const struct ut_ace_verification *v)
{
	return v->count[UT_ACE_FOUND_OVERLAP] || v->count[UT_ACE_FOUND_OUTSIDE];
}
