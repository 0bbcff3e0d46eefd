/*
 * flow.c - at the end: which end of an arrow is which.
 *
 * Perfetto says only that an event belongs to a flow. In order of time the first event is where
 * the arrow starts, the last one where it ends, and those between are steps; an event that ends
 * the flow explicitly frees its number for another flow. Flows are numbered from 1 in the order
 * in which they start.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "import/perfetto/shared.h"

/* One flow: places [first, first + count) of the sorted array. */
struct chain {
	uint64_t ts;
	uint32_t track;
	size_t first, count;
};

static int perfetto_flow_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_id_and_time(const void *a, const void *b)
{
	const struct ut_pf_flow *x = a, *y = b;

	if (x->id != y->id)
		return perfetto_flow_compare(x->id, y->id);
	if (x->ts != y->ts)
		return perfetto_flow_compare(x->ts, y->ts);
	if ((x->end == UT_PF_FLOW_LAST) != (y->end == UT_PF_FLOW_LAST))
		return x->end == UT_PF_FLOW_LAST ? 1 : -1;
	return perfetto_flow_compare(x->track, y->track);
}

static int perfetto_flow_by_start(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;

	if (x->ts != y->ts)
		return perfetto_flow_compare(x->ts, y->ts);
	if (x->track != y->track)
		return perfetto_flow_compare(x->track, y->track);
	return perfetto_flow_compare(x->first, y->first);
}

static bool ends_flow(const struct ut_pf_flow *f)
{
	return f->end == UT_PF_FLOW_LAST || f->end == UT_PF_FLOW_IN;
}

static uint8_t perfetto_flow_kind_of(const struct ut_pf_flow *f, size_t i, size_t count)
{
	switch ((enum ut_pf_flow_end)f->end) {
	case UT_PF_FLOW_OUT:
		return UT_KIND_FLOW_OUT;
	case UT_PF_FLOW_STEP:
		return UT_KIND_FLOW_STEP;
	case UT_PF_FLOW_IN:
	case UT_PF_FLOW_LAST:
		return UT_KIND_FLOW_IN;
	case UT_PF_FLOW_ANY:
		break;
	}
	if (!i)
		return UT_KIND_FLOW_OUT;
	return i + 1 == count ? UT_KIND_FLOW_IN : UT_KIND_FLOW_STEP;
}

/* From here on the tracks are those of the model. */
static void find_tracks(struct ut_pf *p)
{
	for (size_t i = 0; i < p->flow_count; i++)
		p->flows[i].track = ut_pf_at(p, p->flows[i].track)->model - 1;
}

static size_t chain_length(const struct ut_pf *p, size_t first)
{
	size_t i = first;

	while (i + 1 < p->flow_count && p->flows[i + 1].id == p->flows[first].id &&
	       !ends_flow(&p->flows[i]))
		i++;
	return i + 1 - first;
}

static void add_chain(struct ut_pf *p, const struct chain *c, uint64_t number)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct ut_pf_flow *f = &p->flows[c->first + i];
		bool global = ut_idmap_get(&p->globals, f->id);
		struct ut_type type = { .kind = perfetto_flow_kind_of(f, i, c->count),
					.flags = global ? UT_EV_GLOBAL_ID : 0 };

		ut_build_add(&p->build, f->track, f->ts, global ? f->id : number,
			     ut_types_intern(&p->build.store.types, &type), 0);
	}
}

void ut_pf_make_flows(struct ut_pf *p)
{
	struct chain *chains = NULL;
	size_t count = 0, cap = 0;

	find_tracks(p);
	if (!p->flow_count)
		return;
	qsort(p->flows, p->flow_count, sizeof(*p->flows), by_id_and_time);
	for (size_t i = 0; i < p->flow_count; i += chains[count++].count) {
		chains = ut_grow(chains, count + 1, &cap, sizeof(*chains));
		chains[count] = (struct chain){ .ts = p->flows[i].ts,
						.track = p->flows[i].track,
						.first = i,
						.count = chain_length(p, i) };
	}
	qsort(chains, count, sizeof(*chains), perfetto_flow_by_start);
	for (size_t i = 0; i < count; i++)
		add_chain(p, &chains[i], i + 1);
	free(chains);
}
