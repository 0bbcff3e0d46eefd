#include "query/tree.h"

#include "query/field.h"

bool ut_tree_nests(const struct ut_place *p)
{
	uint8_t kind = ut_place_type(p)->kind;

	return kind == UT_KIND_SPAN || kind == UT_KIND_INSTANT;
}

bool ut_tree_is_slice(const struct ut_place *p)
{
	uint8_t kind = ut_place_type(p)->kind;

	return ut_tree_nests(p) || kind == UT_KIND_ASYNC_BEGIN || kind == UT_KIND_ASYNC_INSTANT;
}

uint64_t ut_tree_end(const struct ut_traces *t, const struct ut_place *p)
{
	const struct ut_nest *nest;
	uint64_t row = p->row + 1;

	if (ut_place_type(p)->kind == UT_KIND_ASYNC_BEGIN) {
		uint64_t end = ut_traces_ends(t, p->track)[p->row].row;

		return end ? end : p->track->rows->count;
	}
	if (ut_place_type(p)->kind != UT_KIND_SPAN)
		return row;
	/* As long as it is open, all that comes is deeper. */
	nest = ut_traces_nest(t, p->track, false);
	while (row < p->track->rows->count && nest->depth[row] > nest->depth[p->row])
		row++;
	return row;
}

bool ut_tree_parent(const struct ut_traces *t, const struct ut_place *p, struct ut_place *parent)
{
	int64_t id = ut_field_of_row(t, p, UT_FIELD_PARENT);

	return id >= 0 && ut_traces_find(t, (uint64_t)id, parent);
}

bool ut_tree_inside(const struct ut_traces *t, uint64_t ancestor, uint64_t descendant)
{
	struct ut_place p;

	if (!ut_traces_find(t, descendant, &p))
		return false;
	while (descendant > ancestor && ut_tree_parent(t, &p, &p))
		descendant = ut_place_id(&p);
	return descendant == ancestor;
}
