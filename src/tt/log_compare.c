#include "tt/log_compare.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "text/grid.h"
#include "text/out.h"

static const struct ut_tt_stats none[UT_TT_MAX_RULES];

struct numbered {
	int32_t id;
	const struct ut_tt_stats *before, *after;
};

static int by_id(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (b->before != none) - (a->before != none);
}

static size_t add_chips(struct numbered *list, size_t n, const struct ut_tt_analysis *a, bool after)
{
	for (size_t i = 0; i < a->log->chip_count; i++) {
		list[n].id = a->log->chips[i].id;
		list[n].before = after ? none : a->chips[i].summary;
		list[n].after = after ? a->chips[i].summary : none;
		n++;
	}
	return n;
}

/* Chips of both by number; a chip of both becomes one. Returns how many are left. */
static size_t join_chips(struct numbered *list, size_t n)
{
	size_t kept = 0;

	qsort(list, n, sizeof(*list), by_id);
	for (size_t i = 0; i < n; i++) {
		if (kept && list[kept - 1].id == list[i].id && list[kept - 1].after == none)
			list[kept - 1].after = list[i].after;
		else
			list[kept++] = list[i];
	}
	return kept;
}

static void put_average(struct ut_grid *g, const struct ut_tt_stats *st)
{
	if (st->count)
		ut_grid_fmt(g, "%.1f", st->average);
	else
		ut_grid_text(g, "-");
}

static void put_change(struct ut_grid *g, double before, double after, bool both)
{
	if (!both || before == 0)
		ut_grid_text(g, "-");
	else
		ut_grid_fmt(g, "%+.1f %%", 100 * (after - before) / before);
}

static void put_row(struct ut_grid *g, int32_t chip, const char *name, const struct ut_tt_stats *a,
		    const struct ut_tt_stats *b)
{
	bool both = a->count && b->count;

	ut_grid_fmt(g, "%" PRId32, chip);
	ut_grid_text(g, name);
	ut_grid_fmt(g, "%" PRIu64, a->count);
	ut_grid_fmt(g, "%" PRIu64, b->count);
	put_average(g, a);
	put_average(g, b);
	put_change(g, a->average, b->average, both);
	put_change(g, a->median, b->median, both);
	put_change(g, (double)a->max, (double)b->max, both);
}

void ut_tt_compare(const struct ut_tt_analysis *before, const struct ut_tt_analysis *after,
		   struct ut_out *out)
{
	size_t n = before->log->chip_count + after->log->chip_count;
	struct numbered *chips = ut_make((n + 1) * sizeof(*chips));
	struct ut_grid g = { 0 };

	n = add_chips(chips, 0, before, false);
	n = add_chips(chips, n, after, true);
	n = join_chips(chips, n);
	ut_grid_column(&g, "chip", UT_GRID_RIGHT);
	ut_grid_column(&g, "duration [cycles]", UT_GRID_LEFT);
	ut_grid_column(&g, "count", UT_GRID_RIGHT);
	ut_grid_column(&g, "then", UT_GRID_RIGHT);
	ut_grid_column(&g, "average", UT_GRID_RIGHT);
	ut_grid_column(&g, "then", UT_GRID_RIGHT);
	ut_grid_column(&g, "average", UT_GRID_RIGHT);
	ut_grid_column(&g, "median", UT_GRID_RIGHT);
	ut_grid_column(&g, "max", UT_GRID_RIGHT);
	for (size_t i = 0; i < n; i++) {
		for (size_t r = 0; r < before->setup.count; r++) {
			const struct ut_tt_stats *a = &chips[i].before[r], *b = &chips[i].after[r];

			if (a->count || b->count)
				put_row(&g, chips[i].id, before->setup.rules[r]->name, a, b);
		}
	}
	ut_grid_print(&g, out);
	if (before->log->mhz != after->log->mhz)
		ut_out_fmt(out, "The clocks differ: %" PRIu64 " and %" PRIu64 " MHz.\n",
			   before->log->mhz, after->log->mhz);
	ut_grid_release(&g);
	free(chips);
}
