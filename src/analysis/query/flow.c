#include "query/flow.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/arrows.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int64_t slice_of(const struct ut_traces *t, uint32_t trace, const struct ut_arrow_end *e)
{
	const struct ut_qtrack *track = &t->tracks[t->traces[trace].first_track + e->track];

	return e->slice == UT_NO_SLICE ? -1 : ut_datum_clamp(track->first_id + e->slice);
}

static uint64_t query_flow_event_of(const struct ut_traces *t, uint32_t trace,
				    const struct ut_arrow_end *e)
{
	return t->tracks[t->traces[trace].first_track + e->track].first_id + e->row;
}

static void add_trace(struct ut_flows *f, const struct ut_traces *t, uint32_t trace)
{
	struct ut_arrows a;

	ut_arrows_make(&a, t->traces[trace].store, NULL);
	for (size_t i = 0; i < a.count; i++) {
		const struct ut_arrow_end *from = &a.ends[a.list[i].from];
		const struct ut_arrow_end *to = &a.ends[a.list[i].to];

		f->arrows = ut_grow(f->arrows, f->count + 1, &f->cap, sizeof(*f->arrows));
		f->arrows[f->count++] =
			(struct ut_qarrow){ .out = query_flow_event_of(t, trace, from),
					    .in = query_flow_event_of(t, trace, to),
					    .number = from->number,
					    .slice_out = slice_of(t, trace, from),
					    .slice_in = slice_of(t, trace, to) };
	}
	ut_arrows_release(&a);
}

static int by_slice_out(const void *a, const void *b)
{
	const struct ut_qarrow *x = a, *y = b;
	int order = COMPARE(x->slice_out, y->slice_out);

	order = order ? order : COMPARE(x->out, y->out);
	return order ? order : COMPARE(x->in, y->in);
}

static int by_slice_in(const void *a, const void *b, void *ctx)
{
	const struct ut_qarrow *arrows = ctx;
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
	struct ut_flows *f;

	if (t->flows)
		return t->flows;
	f = ut_make(sizeof(*f));
	for (uint32_t i = 0; i < t->count && !t->stop; i++)
		add_trace(f, t, i);
	if (t->stop) {
		ut_flows_free(f);
		return NULL;
	}
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
