#include "model/arrows.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/nesting.h"
#include "model/store.h"

bool ut_is_flow(uint8_t kind)
{
	return kind == UT_KIND_FLOW_OUT || kind == UT_KIND_FLOW_IN || kind == UT_KIND_FLOW_STEP;
}

bool ut_arrows_any(const struct ut_store *s)
{
	for (uint32_t i = 0; i < s->types.count; i++) {
		if (ut_is_flow(s->types.items[i].kind))
			return true;
	}
	return false;
}

void ut_arrows_release(struct ut_arrows *a)
{
	free(a->ends);
	free(a->list);
	free(a->attached);
	*a = (struct ut_arrows){ 0 };
}

/* ---- which span ---------------------------------------------------------------------------- */

struct span {
	uint64_t ts, end, row;
};

/* One track. */
struct binder {
	struct ut_arrows *arrows;
	const uint64_t *keep; /* NULL = everything is kept */
	uint64_t *until;      /* where async spans end, by row; NULL = there are none */
	struct span *open;    /* ends never grow towards the top */
	size_t depth, cap;
	struct span first; /* the first one that began at its ts */
	bool any;
	size_t *waiting; /* ends that lead to the next span */
	size_t waiting_count, waiting_cap;
};

static void bind(struct ut_arrow_end *end, const struct span *to)
{
	end->slice = to->row;
	end->slice_ts = to->ts;
	end->slice_end = to->end;
}

static void bind_span(struct binder *b, struct span span)
{
	while (b->depth && b->open[b->depth - 1].end <= span.ts)
		b->depth--;
	while (b->depth && b->open[b->depth - 1].end < span.end)
		b->depth--; /* it goes on longer, and has begun later */
	b->open = ut_grow(b->open, b->depth + 1, &b->cap, sizeof(*b->open));
	b->open[b->depth++] = span;
	if (!b->any || b->first.ts != span.ts)
		b->first = span;
	b->any = true;
	for (size_t i = 0; i < b->waiting_count; i++)
		bind(&b->arrows->ends[b->waiting[i]], &span);
	b->waiting_count = 0;
}

static void bind_flow(struct binder *b, const struct ut_event *e, uint32_t type, uint64_t row)
{
	struct ut_arrows *a = b->arrows;
	struct ut_arrow_end *end;

	if (b->keep && !(b->keep[row / 64] >> row % 64 & 1))
		return;
	a->ends = ut_grow_raw(a->ends, a->end_count + 1, &a->end_cap, sizeof(*a->ends));
	end = &a->ends[a->end_count++];
	*end = (struct ut_arrow_end){ .number = e->val,
				      .ts = e->ts,
				      .row = row,
				      .slice = UT_NO_SLICE,
				      .track = e->track,
				      .name = e->name,
				      .type = type,
				      .kind = e->kind,
				      .global = e->flags & UT_EV_GLOBAL_ID };
	while (b->depth && b->open[b->depth - 1].end < e->ts)
		b->depth--;
	if (e->kind != UT_KIND_FLOW_IN || !(e->flags & UT_EV_BIND_NEXT)) {
		if (b->depth)
			bind(end, &b->open[b->depth - 1]);
	} else if (b->any && b->first.ts == e->ts) {
		bind(end, &b->first);
	} else {
		b->waiting = ut_grow(b->waiting, b->waiting_count + 1, &b->waiting_cap,
				     sizeof(*b->waiting));
		b->waiting[b->waiting_count++] = a->end_count - 1;
	}
}

static bool has_flows(const struct ut_store *s, const struct ut_rows *rows)
{
	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		const struct ut_block *block = &rows->blocks[n];

		for (uint32_t i = 0; i < block->count; i++) {
			if (ut_is_flow(ut_store_type(s, block->type[i])->kind))
				return true;
		}
	}
	return false;
}

static void bind_row(struct binder *b, const struct ut_event *e, uint32_t type, uint64_t row)
{
	if (e->kind == UT_KIND_SPAN)
		bind_span(b, (struct span){ e->ts, ut_event_end(e), row });
	else if (e->kind == UT_KIND_ASYNC_BEGIN && b->until)
		bind_span(b, (struct span){ e->ts, b->until[row] < e->ts ? e->ts : b->until[row],
					    row });
	else if (ut_is_flow(e->kind))
		bind_flow(b, e, type, row);
}

static void bind_track(struct binder *b, const struct ut_store *s, uint32_t track)
{
	const struct ut_rows *rows = &s->rows[track];
	uint64_t row = 0;

	if (!has_flows(s, rows))
		return;
	b->depth = b->waiting_count = 0;
	b->any = false;
	if (s->trace.tracks[track].type == UT_TRACK_ASYNC) {
		b->until = ut_make((rows->count + 1) * sizeof(*b->until));
		ut_nesting_until(s, track, b->until);
	}
	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		const struct ut_block *block = &rows->blocks[n];

		for (uint32_t i = 0; i < block->count; i++, row++) {
			struct ut_event e = ut_block_event(s, track, block, i);

			bind_row(b, &e, block->type[i], row);
		}
	}
	free(b->until);
	b->until = NULL;
}

/* ---- who leads to whom --------------------------------------------------------------------- */

/* Starts come first among what happens at the same time, ends last. */
static int kind_order(uint8_t kind)
{
	return kind == UT_KIND_FLOW_OUT ? 0 : kind == UT_KIND_FLOW_STEP ? 1 : 2;
}

static int arrows_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_flow(const void *a, const void *b)
{
	const struct ut_arrow_end *x = a, *y = b;
	int order = arrows_compare(x->number, y->number);

	order = order ? order : arrows_compare(x->ts, y->ts);
	order = order ? order : kind_order(x->kind) - kind_order(y->kind);
	order = order ? order : arrows_compare(x->track, y->track);
	return order ? order : arrows_compare(x->row, y->row);
}

static void arrows_add_arrow(struct ut_arrows *a, size_t from, size_t to)
{
	a->list = ut_grow_raw(a->list, a->count + 1, &a->cap, sizeof(*a->list));
	a->list[a->count++] = (struct ut_arrow){ from, to };
}

/* The only start of ends [first, end), or end. */
static size_t only_start(const struct ut_arrows *a, size_t first, size_t end)
{
	size_t found = end;

	for (size_t i = first; i < end; i++) {
		if (a->ends[i].kind != UT_KIND_FLOW_OUT)
			continue;
		if (found != end)
			return end;
		found = i;
	}
	return found;
}

static void connect(struct ut_arrows *a, size_t first, size_t end)
{
	size_t from = only_start(a, first, end);
	bool under_way = false;

	for (size_t i = first; i < end; i++) {
		struct ut_arrow_end *e = &a->ends[i];

		if (e->kind == UT_KIND_FLOW_OUT) {
			e->repeated = under_way;
			from = under_way ? from : i;
			under_way = true;
			continue;
		}
		if (from == end || (e->kind == UT_KIND_FLOW_STEP && e->slice == UT_NO_SLICE))
			continue;
		arrows_add_arrow(a, from, i);
		if (e->kind == UT_KIND_FLOW_STEP)
			from = i;
		else
			under_way = false;
	}
}

void ut_arrows_make(struct ut_arrows *a, const struct ut_store *s, uint64_t *const *keep)
{
	struct binder b = { .arrows = a };
	size_t end;

	*a = (struct ut_arrows){ 0 };
	if (!ut_arrows_any(s))
		return;
	for (uint32_t i = 0; i < s->trace.track_count; i++) {
		b.keep = keep ? keep[i] : NULL;
		bind_track(&b, s, i);
	}
	free(b.open);
	free(b.waiting);
	if (a->end_count)
		qsort(a->ends, a->end_count, sizeof(*a->ends), by_flow);
	for (size_t i = 0; i < a->end_count; i = end) {
		for (end = i + 1; end < a->end_count && a->ends[end].number == a->ends[i].number;)
			end++;
		connect(a, i, end);
	}
}

/* ---- at the spans -------------------------------------------------------------------------- */

static int arrows_by_place(const void *a, const void *b)
{
	const struct ut_attached *x = a, *y = b;
	int order = arrows_compare(x->track, y->track);

	order = order ? order : arrows_compare(x->row, y->row);
	order = order ? order : arrows_compare(x->id, y->id);
	return order ? order : (int)x->how - (int)y->how;
}

/* A moment in the order in which readers meet it. */
struct timestamp {
	uint64_t ts, row;
	uint32_t track;
};

static struct timestamp timestamp_of(const struct ut_arrow_end *e, bool at_end)
{
	if (e->slice == UT_NO_SLICE)
		return (struct timestamp){ e->ts, e->row, e->track };
	return (struct timestamp){ at_end ? e->slice_end : e->slice_ts, e->slice, e->track };
}

static bool is_later(struct timestamp a, struct timestamp b)
{
	if (a.ts != b.ts)
		return a.ts > b.ts;
	return a.track != b.track ? a.track > b.track : a.row >= b.row;
}

struct attacher {
	struct ut_arrows *arrows;
	size_t *at; /* by end: where it has been attached as a target, plus one */
	bool *seen; /* by end */
	uint64_t ids;
};

static void arrows_put(struct attacher *t, size_t end, struct ut_attached how)
{
	const struct ut_arrow_end *e = &t->arrows->ends[end];

	how.row = e->slice == UT_NO_SLICE ? e->row : e->slice;
	how.track = e->track;
	t->seen[end] = true;
	t->arrows->attached[t->arrows->attached_count++] = how;
	if (how.how == UT_FLOW_ARRIVES)
		t->at[end] = t->arrows->attached_count;
}

/* From where it can go on with the id that it came with; NULL = it needs another. */
static struct ut_attached *goes_on(struct attacher *t, const struct ut_arrow *arrow)
{
	const struct ut_arrow_end *from = &t->arrows->ends[arrow->from];
	struct ut_attached *a = NULL;

	if (from->kind == UT_KIND_FLOW_STEP && t->at[arrow->from])
		a = &t->arrows->attached[t->at[arrow->from] - 1];
	if (!a || a->how != UT_FLOW_ARRIVES ||
	    !is_later(timestamp_of(&t->arrows->ends[arrow->to], true),
		      timestamp_of(from, a->at_end)))
		return NULL;
	return a;
}

static void arrows_attach(struct attacher *t, const struct ut_arrow *arrow)
{
	const struct ut_arrow_end *to = &t->arrows->ends[arrow->to];
	struct timestamp left = timestamp_of(&t->arrows->ends[arrow->from], false);
	struct ut_attached *before = goes_on(t, arrow);
	const struct ut_arrow_end *from = &t->arrows->ends[arrow->from];
	bool global = false;
	uint64_t id;

	if (before) {
		left = timestamp_of(&t->arrows->ends[arrow->from], before->at_end);
		before->how = UT_FLOW_PASSES;
		id = before->id;
		global = before->global;
	} else if (is_later(timestamp_of(to, true), left)) {
		global = from->global && !t->seen[arrow->from];
		id = global ? from->number : ++t->ids;
		arrows_put(
			t, arrow->from,
			(struct ut_attached){ .id = id, .global = global, .how = UT_FLOW_LEAVES });
	} else {
		return;
	}
	arrows_put(t, arrow->to,
		   (struct ut_attached){ .id = id,
					 .global = global,
					 .how = UT_FLOW_ARRIVES,
					 .at_end = !is_later(timestamp_of(to, false), left) });
}

void ut_arrows_attach(struct ut_arrows *a)
{
	struct attacher t = { .arrows = a };

	free(a->attached);
	a->attached_count = 0;
	a->attached = ut_make((2 * a->count + a->end_count + 1) * sizeof(*a->attached));
	t.at = ut_make((a->end_count + 1) * sizeof(*t.at));
	t.seen = ut_make((a->end_count + 1) * sizeof(*t.seen));
	for (size_t i = 0; i < a->count; i++)
		arrows_attach(&t, &a->list[i]);
	for (size_t i = 0; i < a->end_count; i++) {
		bool ends = a->ends[i].kind == UT_KIND_FLOW_IN;

		if (!t.seen[i] && !a->ends[i].repeated)
			arrows_put(&t, i,
				   (struct ut_attached){
					   .id = a->ends[i].global ? a->ends[i].number : ++t.ids,
					   .global = a->ends[i].global,
					   .how = ends ? UT_FLOW_ARRIVES : UT_FLOW_LEAVES });
	}
	if (a->attached_count)
		qsort(a->attached, a->attached_count, sizeof(*a->attached), arrows_by_place);
	free(t.at);
	free(t.seen);
}
