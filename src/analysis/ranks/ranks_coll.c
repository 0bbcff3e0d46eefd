/* ranks_coll.c - see ranks_coll.h. */
#include "ranks/ranks_coll.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "ranks/ranks_parts.h"
#include "ranks/ranks_sum.h"

/* One operation of all its members. */
struct operation {
	uint64_t shortest, spent, exposed, wait;
	uint64_t in, out; /* the most that a member sent, and received */
	uint32_t library, comm, size;
	uint8_t kind;
	bool known; /* somebody was there */
};

struct summing {
	const struct ut_ranks *ranks;
	struct ut_rank_colls *colls;
	struct operation *operations; /* one for each meeting */
	uint64_t *posted, *posting;   /* when the rank began each, and how long that took */
	uint32_t *poster;             /* index of the rank that did, plus 1 */
	uint32_t rank;                /* that is looked at: index */
	struct ut_rank_keys rows;     /* library, comm, kind, size */
	struct ut_rank_keys late;     /* row, rank */
	uint64_t *late_waits, *late_times;
	size_t waits_cap, times_cap;
	uint32_t mpi; /* string */
};

/* ---- rows ---------------------------------------------------------------------------------- */

/* What nccl-tests call size. */
static uint64_t ranks_coll_size_of(const struct operation *o, uint32_t ranks)
{
	uint64_t most = o->in > o->out ? o->in : o->out;

	/* What all have gathered is mostly said; what one has brought, always. */
	if (o->kind == UT_COLL_ALLGATHER && o->out <= o->in)
		return o->in * (ranks ? ranks : 1);
	return most;
}

static struct ut_rank_by_coll *ranks_coll_row_of(struct summing *s, const struct operation *o,
						 uint64_t bytes)
{
	uint32_t power = bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;
	size_t row = ut_rank_keys_row(&s->rows, o->library, o->comm, o->kind, power);
	struct ut_rank_colls *c = s->colls;

	c->rows = ut_grow(c->rows, row + 1, &c->cap, sizeof(*c->rows));
	if (row == c->count) {
		c->count++;
		c->rows[row] = (struct ut_rank_by_coll){ .library = o->library,
							 .comm = o->comm,
							 .kind = o->kind,
							 .late = UT_RANK_NOBODY };
	}
	return &c->rows[row];
}

static void blame(struct summing *s, size_t row, uint32_t rank, uint64_t wait)
{
	size_t at = ut_rank_keys_row(&s->late, (uint32_t)row, rank, 0, 0);

	s->late_waits = ut_grow(s->late_waits, at + 1, &s->waits_cap, sizeof(*s->late_waits));
	s->late_times = ut_grow(s->late_times, at + 1, &s->times_cap, sizeof(*s->late_times));
	s->late_waits[at] += wait;
	s->late_times[at]++;
}

static uint32_t late_of(const struct ut_rank_meeting *m)
{
	return m->open && m->absent != UT_RANK_NOBODY ? m->absent : m->last_rank;
}

static void add_operation(struct summing *s, const struct operation *o, uint32_t members,
			  const struct ut_rank_meeting *m)
{
	uint32_t ranks = o->size ? o->size : members;
	uint64_t bytes = ranks_coll_size_of(o, ranks), time = o->shortest;
	struct ut_rank_by_coll *row = ranks_coll_row_of(s, o, bytes);

	if (m && ut_coll_uses[o->kind] != UT_RANK_ALL && m->end > m->last)
		time = m->end - m->last;
	row->ranks = ranks > row->ranks ? ranks : row->ranks;
	/* How long one takes that never ended, nobody knows. */
	if (m && m->open) {
		row->unfinished++;
	} else {
		row->count++;
		row->bytes += bytes;
		row->time += time;
		row->sized += bytes ? time : 0;
	}
	row->spent += o->spent;
	row->exposed += o->exposed;
	row->wait += o->wait;
	if (m && o->wait)
		blame(s, (size_t)(row - s->colls->rows), late_of(m), o->wait);
}

/* ---- what a rank did ----------------------------------------------------------------------- */

static uint64_t since(const struct ut_rank_call *c, uint64_t came)
{
	return c->end > came ? c->end - came : 0;
}

static void add_member(struct operation *o, const struct ut_rank_shape *is, uint64_t time,
		       uint64_t shown)
{

	o->shortest = !o->known || time < o->shortest ? time : o->shortest;
	o->known = true;
	o->spent += time;
	o->exposed += shown < time ? shown : time;
	o->in = is->sent > o->in ? is->sent : o->in;
	o->out = is->received > o->out ? is->received : o->out;
}

static void add_wait(struct operation *o, const struct ut_rank_meeting *m,
		     const struct ut_rank *one, const struct ut_rank_call *c, uint64_t came)
{
	bool open = m->open && ut_rank_open(one, (uint32_t)(c - one->calls));
	uint64_t until = m->last < c->end && !open ? m->last : c->end;

	o->wait += until > came ? until - came : 0;
}

/* A call of MPI: at once, or begun by one and waited for in another. */
static void add_mpi(struct summing *s, const struct ut_rank *one, const struct ut_rank_call *c)
{
	const struct ut_rank_shape *is = ut_rank_shape(one, c);
	const struct ut_rank_meeting *m;
	struct operation *o;
	uint64_t came = c->begin, shown = ut_rank_time(c);
	uint32_t link = ut_rank_more(one, c)->link;

	if (!link)
		return;
	m = &s->ranks->meetings[link - 1];
	o = &s->operations[link - 1];
	o->kind = (uint8_t)ut_coll_called(ut_strtab_get(&s->ranks->strings, m->name));
	if (!o->kind)
		return;
	o->library = s->mpi;
	o->comm = is->group;
	o->in = is->sent > o->in ? is->sent : o->in;
	o->out = is->received > o->out ? is->received : o->out;
	if (is->use == UT_RANK_POST) {
		s->poster[link - 1] = s->rank + 1;
		s->posted[link - 1] = came;
		s->posting[link - 1] = shown;
		return;
	}
	if (is->use == UT_RANK_WAIT) {
		if (s->poster[link - 1] != s->rank + 1)
			return;
		came = s->posted[link - 1];
		shown += s->posting[link - 1];
		s->poster[link - 1] = 0;
	}
	add_member(o, is, since(c, came), shown);
	add_wait(o, m, one, c, came);
}

static void add_other(struct summing *s, const struct ut_rank *one, const struct ut_rank_coll *coll)
{
	const struct ut_rank_call *c = &one->calls[coll->call];
	const struct ut_rank_shape *is = ut_rank_shape(one, c);
	struct ut_str name = ut_strtab_get(&s->ranks->strings, is->name);
	struct ut_str library = ut_strtab_get(&s->ranks->strings, coll->library);
	uint32_t link = ut_rank_more(one, c)->link;
	struct operation alone = { 0 }, *o = link ? &s->operations[link - 1] : &alone;

	/* "NCCL allreduce" */
	name = ut_str_from(name, name.ptr + (library.len < name.len ? library.len : 0));
	o->kind = (uint8_t)ut_coll_called(name);
	o->library = coll->library;
	o->comm = coll->comm;
	o->size = coll->size > o->size ? coll->size : o->size;
	add_member(o, is, since(c, coll->came), coll->exposed);
	if (link)
		add_wait(o, &s->ranks->meetings[link - 1], one, c, coll->came);
	else
		add_operation(s, o, 0, NULL);
	s->colls->others = true;
}

static void ranks_coll_add_rank(struct summing *s)
{
	const struct ut_rank *one = &s->ranks->items[s->rank];
	size_t next = 0;

	for (uint32_t i = 0; i < one->call_count; i++) {
		if (next < one->coll_count && one->colls[next].call == i)
			add_other(s, one, &one->colls[next++]);
		else
			add_mpi(s, one, &one->calls[i]);
	}
}

/* ---- all of them --------------------------------------------------------------------------- */

static void find_late(struct summing *s)
{
	for (size_t i = 0; i < s->late.count; i++) {
		struct ut_rank_by_coll *row = &s->colls->rows[s->late.items[i][0]];

		if (s->late_waits[i] <= row->late_wait && row->late != UT_RANK_NOBODY)
			continue;
		row->late = s->late.items[i][1];
		row->late_wait = s->late_waits[i];
		row->late_times = s->late_times[i];
	}
}

static int by_spent(const void *a, const void *b)
{
	const struct ut_rank_by_coll *x = a, *y = b;

	if (x->spent != y->spent)
		return x->spent > y->spent ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

void ut_ranks_colls(struct ut_ranks *r, struct ut_rank_colls *colls)
{
	struct summing s = { .ranks = r, .colls = colls };
	size_t n = r->meeting_count + 1;

	*colls = (struct ut_rank_colls){ 0 };
	s.mpi = ut_strtab_intern_z(&r->strings, "MPI");
	s.operations = ut_make(n * sizeof(*s.operations));
	s.posted = ut_make(n * sizeof(*s.posted));
	s.posting = ut_make(n * sizeof(*s.posting));
	s.poster = ut_make(n * sizeof(*s.poster));
	for (s.rank = 0; s.rank < r->count; s.rank++)
		ranks_coll_add_rank(&s);
	for (size_t i = 0; i < r->meeting_count; i++) {
		if (s.operations[i].known)
			add_operation(&s, &s.operations[i], r->meetings[i].members,
				      &r->meetings[i]);
	}
	find_late(&s);
	ut_sort(colls->rows, colls->count, sizeof(*colls->rows), by_spent);
	ut_rank_keys_release(&s.rows);
	ut_rank_keys_release(&s.late);
	free(s.operations);
	free(s.posted);
	free(s.posting);
	free(s.poster);
	free(s.late_waits);
	free(s.late_times);
}

void ut_rank_colls_release(struct ut_rank_colls *colls)
{
	free(colls->rows);
	*colls = (struct ut_rank_colls){ 0 };
}

double ut_rank_coll_algorithm(const struct ut_rank_by_coll *row)
{
	return row->sized ? (double)row->bytes / (double)row->sized : 0;
}

double ut_rank_coll_bus(const struct ut_rank_by_coll *row)
{
	return ut_rank_coll_algorithm(row) *
	       ut_coll_bus_factor((enum ut_coll_kind)row->kind, row->ranks);
}
