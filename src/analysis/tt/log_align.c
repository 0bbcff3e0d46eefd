/* log_align.c - the clocks of several chips: each counts from its own reset. */
#include "tt/log_trace.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/idmap.h"

/* The host's number of an op says in its low bits which chip it is for. */
#define CHIP_BITS 10

/* First times of the ops of a chip, by their number. */
static void note_ops(const struct ut_tt_analysis *a, size_t chip, struct ut_idmap *map)
{
	const struct ut_tt_ops *ops = &a->chips[chip].ops;

	for (size_t i = 0; i < ops->count; i++) {
		uint32_t row = ops->rows[ops->first[i]];
		uint64_t op = a->log->marks[a->log->rows[row].mark].host >> CHIP_BITS;

		if (op && !ut_idmap_get(map, op))
			ut_idmap_put(map, op, row + 1);
	}
}

static int log_align_by_value(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

/* How much earlier the first chip did the same; sorted. */
static size_t find_shifts(const struct ut_tt_analysis *a, const struct ut_idmap *first, size_t chip,
			  int64_t **shifts)
{
	const struct ut_tt_ops *ops = &a->chips[chip].ops;
	struct ut_arena arena = { 0 };
	struct ut_idmap own;
	size_t n = 0;

	ut_idmap_init(&own, &arena);
	note_ops(a, chip, &own);
	*shifts = ut_make((ops->count + 1) * sizeof(**shifts));
	for (size_t i = 0; i < ops->count; i++) {
		uint32_t row = ops->rows[ops->first[i]];
		uint64_t op = a->log->marks[a->log->rows[row].mark].host >> CHIP_BITS;
		uint32_t other = ut_idmap_get(first, op);

		if (other && ut_idmap_get(&own, op) == row + 1)
			(*shifts)[n++] =
				(int64_t)(a->log->rows[other - 1].ts - a->log->rows[row].ts);
	}
	qsort(*shifts, n, sizeof(**shifts), log_align_by_value);
	ut_arena_release(&arena);
	return n;
}

static uint64_t first_time(const struct ut_tt_log *log, size_t chip)
{
	return log->rows[log->by_chip[log->chips[chip].first]].ts;
}

/* A log of timer numbers has a row for T0 in front, which may be another chip's. */
uint64_t ut_tt_first_own_time(const struct ut_tt_log *log, size_t chip)
{
	uint32_t n = log->chips[chip].count;

	for (uint32_t i = 0; i < n; i++) {
		const struct ut_tt_row *row = &log->rows[log->by_chip[log->chips[chip].first + i]];

		if (log->zones || log->marks[row->mark].id)
			return row->ts;
	}
	return first_time(log, chip);
}

static void align_start(const struct ut_tt_log *log, struct ut_tt_alignment *to)
{
	to->used = UT_TT_ALIGN_START;
	for (size_t i = 0; i < log->chip_count; i++)
		to->shift[i] =
			(int64_t)(ut_tt_first_own_time(log, 0) - ut_tt_first_own_time(log, i));
}

/* False: a chip has no op in common with the first. */
static bool align_ops(const struct ut_tt_analysis *a, struct ut_tt_alignment *to)
{
	struct ut_arena arena = { 0 };
	struct ut_idmap first;
	bool all = true;

	to->used = UT_TT_ALIGN_OPS;
	to->ops = UINT64_MAX;
	ut_idmap_init(&first, &arena);
	note_ops(a, 0, &first);
	for (size_t i = 1; all && i < a->log->chip_count; i++) {
		int64_t *shifts;
		size_t n = find_shifts(a, &first, i, &shifts);
		uint64_t spread = n ? (uint64_t)(shifts[n - 1 - n / 4] - shifts[n / 4]) : 0;

		to->shift[i] = n ? shifts[n / 2] : 0;
		to->ops = n < to->ops ? n : to->ops;
		to->spread = spread > to->spread ? spread : to->spread;
		all = n > 0;
		free(shifts);
	}
	ut_arena_release(&arena);
	return all;
}

void ut_tt_align(const struct ut_tt_analysis *a, enum ut_tt_align how, struct ut_tt_alignment *to)
{
	const struct ut_tt_log *log = a->log;

	*to = (struct ut_tt_alignment){ .used = UT_TT_ALIGN_NONE };
	to->shift = ut_make((log->chip_count + 1) * sizeof(*to->shift));
	if (how == UT_TT_ALIGN_NONE || log->chip_count < 2)
		return;
	if (how == UT_TT_ALIGN_START || !align_ops(a, to)) {
		to->ops = to->spread = 0;
		align_start(log, to);
	}
}

void ut_tt_alignment_release(struct ut_tt_alignment *to)
{
	free(to->shift);
	*to = (struct ut_tt_alignment){ 0 };
}
