#include "import/spool/rows.h"

#include <stdlib.h>

#include "import/spool/live_state.h"

struct ut_spool_rows *ut_spool_rows_begin(struct ut_spool_import *im, enum ut_spool_rows_of of,
					  uint64_t number)
{
	uint64_t key = (number << 3 | of) + 1;
	uint32_t at = im->live ? ut_idmap_get(&im->live->rows_of, key) : 0;
	struct ut_spool_rows *r;

	if (at)
		return im->live->rows.items[at - 1];
	r = ut_make(sizeof(*r));
	if (im->live) {
		/* a list of pointers, NOLINTNEXTLINE(bugprone-sizeof-expression) */
		*UT_VEC_PUSH(&im->live->rows) = r;
		ut_idmap_put(&im->live->rows_of, key, (uint32_t)im->live->rows.count);
	}
	return r;
}

void ut_spool_rows_free(struct ut_spool_rows *r)
{
	for (size_t i = 0; i < r->rows.count; i++)
		free(r->rows.items[i].ends.items);
	free(r->rows.items);
	free(r);
}

void ut_spool_rows_end(struct ut_spool_import *im, struct ut_spool_rows *r)
{
	if (!im->live)
		ut_spool_rows_free(r);
}

static bool rows_fits(struct ut_spool_row *row, uint64_t begin, uint64_t end, bool nests)
{
	while (row->ends.count && row->ends.items[row->ends.count - 1] <= begin)
		row->ends.count--;
	return !row->ends.count || (nests && end <= row->ends.items[row->ends.count - 1]);
}

size_t ut_spool_rows_find(struct ut_spool_rows *r, uint64_t begin, uint64_t end, bool nests)
{
	size_t at = 0;

	while (at < r->rows.count && !rows_fits(&r->rows.items[at], begin, end, nests))
		at++;
	return at;
}

void ut_spool_rows_put(struct ut_spool_rows *r, size_t at, uint64_t end, uint32_t track)
{
	if (at == r->rows.count)
		*UT_VEC_PUSH(&r->rows) = (struct ut_spool_row){ .track = track };
	*UT_VEC_PUSH(&r->rows.items[at].ends) = end;
}
