/*
 * ranks_coll_calls.c - collective operations become calls of their rank.
 *
 * Such an operation runs beside the program, so what else was going on decides how much of it
 * counts: the call begins where nothing is computed any more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "base/str.h"
#include "ranks/coll_kind.h"
#include "ranks/ranks_coll_parts.h"
#include "ranks/ranks_sum.h"

/* ---- when the rank computed ---------------------------------------------------------------- */

static int by_piece(const void *a, const void *b)
{
	const struct ut_coll_piece *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void add_busy(struct ut_coll_reader *rd, uint64_t begin, uint64_t end)
{
	rd->busy = ut_grow(rd->busy, rd->busy_count + 1, &rd->busy_cap, sizeof(*rd->busy));
	rd->busy[rd->busy_count++] = (struct ut_coll_piece){ begin, end };
}

static void join_busy(struct ut_coll_reader *rd)
{
	size_t kept = 0;

	ut_sort(rd->busy, rd->busy_count, sizeof(*rd->busy), by_piece);
	for (size_t i = 0; i < rd->busy_count; i++) {
		struct ut_coll_piece p = rd->busy[i];

		if (kept && rd->busy[kept - 1].end >= p.begin) {
			if (p.end > rd->busy[kept - 1].end)
				rd->busy[kept - 1].end = p.end;
		} else {
			rd->busy[kept++] = p;
		}
	}
	rd->busy_count = kept;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int ranks_coll_calls_by_begin(const void *a, const void *b)
{
	const struct ut_coll_found *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int by_external(const void *a, const void *b)
{
	const struct ut_coll_found *x = a, *y = b;

	return (x->external > y->external) - (x->external < y->external);
}

/* Kernels in older files of torch.profiler say nothing: what began them does. */
static void take_params(struct ut_coll_reader *rd, struct ut_coll_found *f)
{
	const struct ut_coll_found *p;

	if (!f->external || f->in || f->out || !rd->params_count)
		return;
	p = bsearch(f, rd->params, rd->params_count, sizeof(*rd->params), by_external);
	if (!p)
		return;
	f->in = p->in;
	f->out = p->out;
	f->size = f->size ? f->size : p->size;
	f->group = f->group ? f->group : p->group;
	f->group_text = f->group_text ? f->group_text : p->group_text;
	f->seq = f->seq ? f->seq : p->seq;
	f->coll = p->coll ? p->coll : f->coll;
}

/* How much of it nothing was computed in, and since when that was so until its end. */
static uint64_t exposed(const struct ut_coll_reader *rd, const struct ut_coll_found *f,
			uint64_t *since)
{
	uint64_t hidden = 0;
	size_t lo = 0, hi = rd->busy_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (rd->busy[mid].end <= f->begin)
			lo = mid + 1;
		else
			hi = mid;
	}
	*since = f->begin;
	for (; lo < rd->busy_count && rd->busy[lo].begin < f->end; lo++) {
		uint64_t begin = rd->busy[lo].begin > f->begin ? rd->busy[lo].begin : f->begin;
		uint64_t end = rd->busy[lo].end < f->end ? rd->busy[lo].end : f->end;

		hidden += end - begin;
		*since = end;
	}
	return f->end - f->begin - hidden;
}

/*
 * Operations of one group come in one order in all ranks. Where no number is said, those of a kind
 * are counted; another kind, or a group that nobody tells apart, cannot disturb that.
 */
static void give_number(struct ut_coll_reader *rd, struct ut_coll_found *f, struct ut_rank_found *c,
			struct ut_rank_keys *seen, uint64_t **counts, size_t *cap)
{
	struct ut_strtab *strings = &rd->ranks->strings;
	struct ut_str group = ut_strtab_get(strings, f->group);
	struct ut_buf key = { 0 };
	size_t row;

	ut_buf_fmt(&key, "%s %.*s %s", f->library, (int)group.len, group.ptr,
		   f->seq ? "" : ut_coll_names[f->coll]);
	/* NCCL counts the operations of each kind for itself. */
	if (f->seq && rd->plugin)
		ut_buf_text(&key, ut_coll_names[f->coll]);
	c->shape.group = ut_strtab_intern(strings, key.data, key.len);
	ut_buf_release(&key);
	c->shape.firm = f->seq && ut_coll_uses[f->coll] == UT_RANK_ALL;
	row = ut_rank_keys_row(seen, c->shape.group, 0, 0, 0);
	*counts = ut_grow(*counts, row + 1, cap, sizeof(**counts));
	c->seq = f->seq ? f->seq : ++(*counts)[row];
}

/* The operation's call; it is put away when it has a number. */
static struct ut_rank_found make_call(struct ut_coll_reader *rd, struct ut_rank *one,
				      const struct ut_coll_found *f, uint64_t *free_from)
{
	struct ut_strtab *strings = &rd->ranks->strings;
	struct ut_rank_coll *coll;
	struct ut_rank_found c;
	uint64_t since, shown = exposed(rd, f, &since);
	uint32_t comm = f->group_text ? f->group_text : f->group;
	char name[64];

	one->colls = ut_grow(one->colls, one->coll_count + 1, &one->coll_cap, sizeof(*one->colls));
	coll = &one->colls[one->coll_count++];
	*coll = (struct ut_rank_coll){ f->begin,
				       shown,
				       (uint32_t)one->call_count,
				       ut_strtab_intern_z(strings, f->library),
				       comm,
				       f->size };
	snprintf(name, sizeof(name), "%s %s", f->library, ut_coll_names[f->coll]);
	since = since > *free_from ? since : *free_from;
	c = (struct ut_rank_found){ .begin = f->begin,
				    .end = f->end,
				    .shape = { .sent = f->in,
					       .received = f->out,
					       .name = ut_strtab_intern_z(strings, name),
					       .to = -1,
					       .root = f->root,
					       .use = ut_coll_uses[f->coll],
					       .meets = ut_coll_uses[f->coll],
					       .side = since >= f->end } };
	if (c.shape.side)
		return c;
	c.begin = since;
	*free_from = f->end;
	return c;
}

/*
 * Calls of MPI by the main thread: what lies in an operation of that thread is how the library does
 * it, and counts once, as the operation. Both are in order.
 */
static void take_mpi(struct ut_coll_reader *rd, struct ut_rank *one, struct ut_rank_shaper *shaper)
{
	size_t next = 0;

	for (uint32_t i = 0; i < one->call_count; i++) {
		const struct ut_rank_call *c = &one->calls[i];

		if (ut_rank_shape(one, c)->side)
			continue;
		while (next < rd->found_count &&
		       (rd->found[next].track != one->main_track || rd->found[next].end < c->end))
			next++;
		if (next < rd->found_count && rd->found[next].begin <= c->begin)
			ut_rank_make_side(one, shaper, i);
		else
			add_busy(rd, c->begin, c->end);
	}
}

void ut_coll_add_calls(struct ut_coll_reader *rd, struct ut_rank *one)
{
	struct ut_rank_shaper shaper = { 0 };
	struct ut_rank_keys seen = { 0 };
	uint64_t *counts = NULL, free_from = 0;
	size_t cap = 0;

	ut_sort(rd->params, rd->params_count, sizeof(*rd->params), by_external);
	ut_sort(rd->found, rd->found_count, sizeof(*rd->found), ranks_coll_calls_by_begin);
	take_mpi(rd, one, &shaper);
	join_busy(rd);
	for (size_t i = 0; i < rd->found_count; i++) {
		struct ut_coll_found *f = &rd->found[i];
		struct ut_rank_found call;

		take_params(rd, f);
		if (f->size > 1 && ut_coll_uses[f->coll] != UT_RANK_OTHER &&
		    (int64_t)f->size > rd->ranks->world)
			rd->ranks->world = f->size;
		call = make_call(rd, one, f, &free_from);
		give_number(rd, f, &call, &seen, &counts, &cap);
		if (f->open)
			ut_rank_put_open(one, -1, 0);
		one->end = f->end > one->end ? f->end : one->end;
		ut_rank_put_call(one, &shaper, &call);
	}
	ut_rank_keys_release(&seen);
	ut_rank_shaper_release(&shaper);
	free(counts);
	ut_rank_order_calls(one);
}
