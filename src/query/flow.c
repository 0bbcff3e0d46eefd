#include "query/flow.h"

#include <stdlib.h>

#include "base/grow.h"
#include "query/scan.h"

struct end {
	uint64_t number, ts, id;
	uint32_t trace;
	uint8_t kind;
};

struct ends {
	struct end *items;
	size_t count, cap;
};

/* Starts come first among what happens at the same time, ends last. */
static int kind_order(uint8_t kind)
{
	return kind == UT_KIND_FLOW_OUT ? 0 : kind == UT_KIND_FLOW_STEP ? 1 : 2;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int by_flow(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	int order = COMPARE(x->trace, y->trace);

	order = order ? order : COMPARE(x->number, y->number);
	order = order ? order : COMPARE(x->ts, y->ts);
	order = order ? order : COMPARE(kind_order(x->kind), kind_order(y->kind));
	return order ? order : COMPARE(x->id, y->id);
}

static int gather(struct ends *e, struct ut_traces *t)
{
	struct ut_scan scan;
	int rc;

	ut_scan_init(&scan, t,
		     1u << UT_KIND_FLOW_OUT | 1u << UT_KIND_FLOW_STEP | 1u << UT_KIND_FLOW_IN);
	ut_scan_start(&scan);
	while ((rc = ut_scan_next(&scan)) > 0) {
		const struct ut_place *p = &scan.at;

		e->items = ut_grow(e->items, e->count + 1, &e->cap, sizeof(*e->items));
		e->items[e->count++] = (struct end){ .number = p->block->val[p->i],
						     .ts = p->block->ts[p->i],
						     .id = ut_place_id(p),
						     .trace = p->track->trace,
						     .kind = ut_place_type(p)->kind };
	}
	ut_scan_release(&scan);
	return rc;
}

static int64_t slice_of(const struct ut_traces *t, uint64_t id)
{
	struct ut_place p;

	return ut_traces_find(t, id, &p) ? ut_field_of_row(t, &p, UT_FIELD_PARENT) : -1;
}

static void add_arrow(struct ut_flows *f, const struct ut_traces *t, const struct end *out,
		      const struct end *in)
{
	f->arrows = ut_grow(f->arrows, f->count + 1, &f->cap, sizeof(*f->arrows));
	f->arrows[f->count++] = (struct ut_arrow){ .out = out->id,
						   .in = in->id,
						   .number = out->number,
						   .slice_out = slice_of(t, out->id),
						   .slice_in = slice_of(t, in->id) };
}

/*
 * The ends of one number, in order of time. A number may be used again later; if it has a single
 * start, all else follows from it, even what another clock has put before it.
 */
static void connect(struct ut_flows *f, const struct ut_traces *t, const struct end *e,
		    size_t count)
{
	const struct end *from = NULL;
	size_t starts = 0;

	for (size_t i = 0; i < count; i++) {
		if (e[i].kind != UT_KIND_FLOW_OUT)
			continue;
		starts++;
		from = &e[i];
	}
	if (starts != 1)
		from = NULL;
	for (size_t i = 0; i < count; i++) {
		if (e[i].kind != UT_KIND_FLOW_OUT && from)
			add_arrow(f, t, from, &e[i]);
		if (e[i].kind != UT_KIND_FLOW_IN)
			from = &e[i];
	}
}

static int by_slice_out(const void *a, const void *b)
{
	const struct ut_arrow *x = a, *y = b;
	int order = COMPARE(x->slice_out, y->slice_out);

	order = order ? order : COMPARE(x->out, y->out);
	return order ? order : COMPARE(x->in, y->in);
}

static int by_slice_in(const void *a, const void *b, void *ctx)
{
	const struct ut_arrow *arrows = ctx;
	const uint32_t *x = a, *y = b;
	int order = COMPARE(arrows[*x].slice_in, arrows[*y].slice_in);

	return order ? order : COMPARE(*x, *y);
}

static void make_indices(struct ut_flows *f)
{
	if (f->count)
		qsort(f->arrows, f->count, sizeof(*f->arrows), by_slice_out);
	f->by_in = ut_make((f->count + 1) * sizeof(*f->by_in));
	for (size_t i = 0; i < f->count; i++)
		f->by_in[i] = (uint32_t)i;
	if (f->count)
		qsort_r(f->by_in, f->count, sizeof(*f->by_in), by_slice_in, f->arrows);
}

const struct ut_flows *ut_flows_get(struct ut_traces *t)
{
	struct ends e = { 0 };
	struct ut_flows *f;
	size_t n;

	if (t->flows)
		return t->flows;
	if (gather(&e, t) < 0) {
		free(e.items);
		return NULL;
	}
	f = ut_make(sizeof(*f));
	if (e.count)
		qsort(e.items, e.count, sizeof(*e.items), by_flow);
	for (size_t i = 0; i < e.count; i += n) {
		n = 1;
		while (i + n < e.count && e.items[i + n].number == e.items[i].number &&
		       e.items[i + n].trace == e.items[i].trace)
			n++;
		connect(f, t, e.items + i, n);
	}
	free(e.items);
	make_indices(f);
	t->flows = f;
	return f;
}

void ut_flows_free(struct ut_flows *f)
{
	if (!f)
		return;
	free(f->arrows);
	free(f->by_in);
	free(f);
}
