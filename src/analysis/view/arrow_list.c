#include "view/arrow_list.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "model/arrows.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/view_parts.h"

#define BLOCK      64u
#define FLOWS_MOST 100000u

struct ut_view_arrow_block {
	double first, last; /* the earliest and latest end of its arrows */
};

static int by_from(const void *a, const void *b)
{
	const struct ut_view_arrow *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_to(const void *a, const void *b, void *ctx)
{
	const struct ut_view_arrow *list = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (list[x].to != list[y].to)
		return list[x].to < list[y].to ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* ---- making --------------------------------------------------------------------------------- */

struct two_ends {
	const struct ut_view_trace *from_trace;
	const struct ut_arrow_end *from;
	const struct ut_view_trace *to_trace;
	const struct ut_arrow_end *to;
};

static void arrow_list_add_arrow(struct ut_view_arrows *a, const struct ut_view *v,
				 const struct two_ends *e)
{
	const struct ut_view_track *f = &v->tracks[e->from_trace->first_track + e->from->track];
	const struct ut_view_track *g = &v->tracks[e->to_trace->first_track + e->to->track];
	uint64_t start = ut_view_time(f, e->from->slice_ts);
	uint64_t end = ut_view_time(f, e->from->slice_end);

	if (e->from->slice == UT_NO_SLICE || e->to->slice == UT_NO_SLICE)
		return;
	a->list = ut_grow_raw(a->list, a->count + 1, &a->cap, sizeof(*a->list));
	a->list[a->count++] = (struct ut_view_arrow){
		.from = ut_view_id(v, f, e->from->slice),
		.to = ut_view_id(v, g, e->to->slice),
		.from_t = (double)start + (double)(end - start) / 2,
		.to_t = (double)ut_view_time(g, e->to->slice_ts),
	};
}

/* ---- between traces ------------------------------------------------------------------------- */

/* An end whose other end may lie in another file: a message between ranks. */
struct far {
	const struct ut_view_trace *trace;
	struct ut_arrow_end end;
};

struct fars {
	struct far *list;
	size_t count, cap;
};

static void keep_far(struct fars *f, const struct ut_view_trace *t, const struct ut_arrows *arrows)
{
	for (size_t i = 0; i < arrows->end_count; i++) {
		const struct ut_arrow_end *e = &arrows->ends[i];

		if (!e->global || e->slice == UT_NO_SLICE || e->kind == UT_KIND_FLOW_STEP)
			continue;
		f->list = ut_grow(f->list, f->count + 1, &f->cap, sizeof(*f->list));
		f->list[f->count++] = (struct far){ t, *e };
	}
}

/* By number; where one leaves before where it arrives. */
static int arrow_list_by_number(const void *a, const void *b)
{
	const struct far *x = a, *y = b;

	if (x->end.number != y->end.number)
		return x->end.number < y->end.number ? -1 : 1;
	if (x->end.kind != y->end.kind)
		return x->end.kind == UT_KIND_FLOW_OUT ? -1 : 1;
	return x->trace < y->trace ? -1 : x->trace > y->trace;
}

/* Of each number, from where it leaves to wherever it arrives in another trace. */
static void join_far(struct ut_view_arrows *a, const struct ut_view *v, struct fars *f)
{
	const struct far *from = NULL;

	ut_sort(f->list, f->count, sizeof(*f->list), arrow_list_by_number);
	for (size_t i = 0; i < f->count; i++) {
		const struct far *e = &f->list[i];
		bool leaves = e->end.kind == UT_KIND_FLOW_OUT;

		if (from && from->end.number != e->end.number)
			from = NULL;
		if (leaves && !from)
			from = e;
		else if (!leaves && from && from->trace != e->trace)
			arrow_list_add_arrow(
				a, v,
				&(struct two_ends){ from->trace, &from->end, e->trace, &e->end });
	}
	free(f->list);
}

static void make_blocks(struct ut_view_arrows *a)
{
	a->blocks = ut_make((a->count / BLOCK + 1) * sizeof(*a->blocks));
	for (size_t i = 0; i < a->count; i++) {
		const struct ut_view_arrow *r = &a->list[i];
		struct ut_view_arrow_block *b = &a->blocks[i / BLOCK];
		double first = r->from_t < r->to_t ? r->from_t : r->to_t;
		double last = r->from_t < r->to_t ? r->to_t : r->from_t;

		b->first = i % BLOCK && b->first < first ? b->first : first;
		b->last = i % BLOCK && b->last > last ? b->last : last;
	}
}

static struct ut_view_arrows *make_arrows(const struct ut_view *v)
{
	struct ut_view_arrows *a = ut_make(sizeof(*a));
	struct fars far = { 0 };
	bool sorted = true;

	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_view_trace *t = &v->traces[i];
		struct ut_arrows arrows = { 0 };

		if (!ut_arrows_any(t->store))
			continue;
		ut_arrows_make(&arrows, t->store, NULL);
		for (size_t n = 0; n < arrows.count; n++)
			arrow_list_add_arrow(
				a, v,
				&(struct two_ends){ t, &arrows.ends[arrows.list[n].from], t,
						    &arrows.ends[arrows.list[n].to] });
		if (v->trace_count > 1)
			keep_far(&far, t, &arrows);
		ut_arrows_release(&arrows);
	}
	join_far(a, v, &far);
	ut_sort(a->list, a->count, sizeof(*a->list), by_from);
	a->by_to = ut_make((a->count + 1) * sizeof(*a->by_to));
	for (size_t i = 0; i < a->count; i++) {
		a->by_to[i] = (uint32_t)i;
		sorted &= !i || a->list[i - 1].to <= a->list[i].to;
	}
	if (!sorted)
		qsort_r(a->by_to, a->count, sizeof(*a->by_to), by_to, a->list);
	make_blocks(a);
	return a;
}

const struct ut_view_arrows *ut_view_arrows_get(struct ut_view *v)
{
	pthread_mutex_lock(&v->lock);
	if (!v->arrows)
		v->arrows = make_arrows(v);
	pthread_mutex_unlock(&v->lock);
	return v->arrows;
}

void ut_view_arrows_free(struct ut_view_arrows *a)
{
	if (!a)
		return;
	free(a->list);
	free(a->by_to);
	free(a->blocks);
	free(a);
}

/* ---- asking --------------------------------------------------------------------------------- */

size_t ut_view_arrows_of(struct ut_view *v, uint64_t id, bool leaving, uint64_t *out, size_t most)
{
	const struct ut_view_arrows *a = ut_view_arrows_get(v);
	size_t low = 0, high = a->count, n = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint64_t key = leaving ? a->list[mid].from : a->list[a->by_to[mid]].to;

		if (key < id)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < a->count && n < most; low++) {
		const struct ut_view_arrow *r = leaving ? &a->list[low] : &a->list[a->by_to[low]];

		if ((leaving ? r->from : r->to) != id)
			break;
		out[n++] = leaving ? r->to : r->from;
	}
	return n;
}

struct drawn {
	const struct ut_view_arrow *arrows;
	size_t *list; /* numbers of those that are drawn */
	size_t count, cap;
	uint64_t more;
};

static bool arrow_list_is_shown(const uint8_t *only, const struct ut_view_arrow *r)
{
	return !only || only[r->from >> 32] || only[r->to >> 32];
}

static void pick_arrows(const struct ut_view_arrows *a, const struct ut_ask *ask,
			const uint8_t *only, struct drawn *d)
{
	size_t limit = ask->limit < FLOWS_MOST ? (size_t)ask->limit : FLOWS_MOST;

	d->arrows = a->list;
	for (size_t i = 0; i < a->count; i++) {
		const struct ut_view_arrow *r = &a->list[i];
		const struct ut_view_arrow_block *b = &a->blocks[i / BLOCK];

		if (i % BLOCK == 0 && (b->last < ask->t0 || b->first > ask->t1)) {
			i += BLOCK - 1;
			continue;
		}
		if ((r->from_t < ask->t0 && r->to_t < ask->t0) ||
		    (r->from_t > ask->t1 && r->to_t > ask->t1) || !arrow_list_is_shown(only, r))
			continue;
		if (d->count >= limit) {
			d->more++;
			continue;
		}
		d->list = ut_grow(d->list, d->count + 1, &d->cap, sizeof(*d->list));
		d->list[d->count++] = i;
	}
}

enum column {
	TRACK,
	LANE,
	ROW,
	TIME,
	COLUMNS
};

static void put_end(const struct ut_view *v, const struct ut_view_arrow *r, bool from,
		    enum column c, struct ut_out *out)
{
	uint64_t id = from ? r->from : r->to, entry;

	if (c == TRACK)
		ut_out_u64(out, id >> 32);
	else if (c == LANE)
		ut_out_u64(out, ut_view_lane(&v->tracks[id >> 32], id & UINT32_MAX, &entry));
	else if (c == ROW)
		ut_out_u64(out, id & UINT32_MAX);
	else
		ut_out_json_double(out, from ? r->from_t : r->to_t);
}

static void put_ends(const struct ut_view *v, const struct drawn *d, bool from, struct ut_out *out)
{
	static const char *const heads[COLUMNS] = { "{\"track\":[", "],\"lane\":[", "],\"row\":[",
						    "],\"t\":[" };

	for (int c = 0; c < COLUMNS; c++) {
		ut_out_text(out, heads[c]);
		for (size_t i = 0; i < d->count; i++) {
			ut_out_text(out, i ? "," : "");
			put_end(v, &d->arrows[d->list[i]], from, (enum column)c, out);
		}
	}
	ut_out_text(out, "]}");
}

int ut_answer_flows(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err)
{
	uint8_t *only = NULL;
	struct drawn d = { 0 };

	(void)err;
	if (a->scope.has_tracks) {
		only = ut_make((size_t)v->track_count + 1);
		for (size_t i = 0; i < a->scope.track_count; i++) {
			if (a->scope.tracks[i] < v->track_count)
				only[a->scope.tracks[i]] = 1;
		}
	}
	pick_arrows(ut_view_arrows_get(v), a, only, &d);
	ut_out_text(out, "{\"from\":");
	put_ends(v, &d, true, out);
	ut_out_text(out, ",\"to\":");
	put_ends(v, &d, false, out);
	ut_out_text(out, ",\"more\":");
	ut_out_u64(out, d.more);
	ut_out_text(out, "}");
	free(d.list);
	free(only);
	return 0;
}
