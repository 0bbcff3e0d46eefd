#include "tt/bars.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void ut_tt_bars_release(struct ut_tt_bars *b)
{
	free(b->items);
	free(b->open);
	free(b->pairs);
	*b = (struct ut_tt_bars){ 0 };
}

static struct ut_tt_bar *bars_add(struct ut_tt_bars *b)
{
	b->items = ut_grow(b->items, b->count + 1, &b->cap, sizeof(*b->items));
	b->items[b->count] = (struct ut_tt_bar){ 0 };
	return &b->items[b->count++];
}

/* ---- gaps ---------------------------------------------------------------------------------- */

static uint8_t gap_kind(int64_t from, int64_t to)
{
	if (to == 1 && (from == 0 || from == 4))
		return UT_TT_BAR_IDLE;
	if ((from == 1 && to == 2) || (from == 3 && to == 4))
		return UT_TT_BAR_FIRMWARE;
	return from == 2 && to == 3 ? UT_TT_BAR_KERNEL : UT_TT_BAR_USER;
}

void ut_tt_bars_gaps(struct ut_tt_bars *b, const struct ut_tt_log *log, const struct ut_tt_lane *l)
{
	b->count = 0;
	for (uint32_t i = l->first; i + 1 < l->first + l->count; i++) {
		const struct ut_tt_row *from = &log->rows[i], *to = &log->rows[i + 1];
		struct ut_tt_bar *bar = bars_add(b);

		bar->start = from->ts;
		bar->cycles = to->ts - from->ts;
		bar->row = i;
		bar->end_row = i + 1;
		bar->kind = gap_kind(log->marks[from->mark].id, log->marks[to->mark].id);
	}
}

/* ---- spans --------------------------------------------------------------------------------- */

static bool zone_ends(const struct ut_tt_log *log, uint32_t zone, const char *suffix)
{
	return ut_str_has_end(ut_tt_str(log, zone), suffix);
}

uint8_t ut_tt_mark_kind(const struct ut_tt_log *log, const struct ut_tt_mark *m)
{
	bool start;

	if (!log->zones) {
		uint32_t pair = ut_tt_pair(m, &start);

		return pair == 1 ? UT_TT_BAR_FIRMWARE : pair ? UT_TT_BAR_KERNEL : UT_TT_BAR_USER;
	}
	if (zone_ends(log, m->zone, "-FW"))
		return UT_TT_BAR_FIRMWARE;
	return zone_ends(log, m->zone, "-KERNEL") ? UT_TT_BAR_KERNEL : UT_TT_BAR_USER;
}

static void close_bar(struct ut_tt_bars *b, uint32_t bar, uint32_t row, uint64_t ts)
{
	b->items[bar].end_row = row;
	b->items[bar].cycles = ts - b->items[bar].start;
}

/* Ends the innermost open bar of this pair, and with it those inside. */
static void end_pair(struct ut_tt_bars *b, const struct ut_tt_log *log, uint32_t pair, uint32_t row,
		     size_t *depth)
{
	if (!b->pairs[pair])
		return;
	for (;;) {
		uint32_t bar = b->open[--*depth];
		uint32_t its;
		bool start;

		its = ut_tt_pair(&log->marks[log->rows[b->items[bar].row].mark], &start);
		close_bar(b, bar, row, log->rows[row].ts);
		b->pairs[its]--;
		if (its == pair)
			return;
		b->items[bar].implicit_end = true;
	}
}

void ut_tt_bars_spans(struct ut_tt_bars *b, const struct ut_tt_log *log, const struct ut_tt_lane *l)
{
	size_t depth = 0;
	uint32_t last = l->first + l->count - 1;

	b->count = 0;
	b->pairs =
		ut_grow(b->pairs, (size_t)log->strings.count + 3, &b->pair_cap, sizeof(*b->pairs));
	for (uint32_t i = l->first; i <= last; i++) {
		const struct ut_tt_mark *m = &log->marks[log->rows[i].mark];
		bool start;
		uint32_t pair = ut_tt_pair(m, &start);
		struct ut_tt_bar *bar;

		if (!pair)
			continue;
		if (!start) {
			end_pair(b, log, pair, i, &depth);
			continue;
		}
		b->open = ut_grow(b->open, depth + 1, &b->open_cap, sizeof(*b->open));
		b->open[depth] = (uint32_t)b->count;
		b->pairs[pair]++;
		bar = bars_add(b);
		bar->start = log->rows[i].ts;
		bar->row = i;
		bar->depth = (uint32_t)depth++;
		bar->kind = ut_tt_mark_kind(log, m);
	}
	/* what is still open reaches to the last sign of life */
	while (depth) {
		uint32_t bar = b->open[--depth];
		bool start;

		close_bar(b, bar, UINT32_MAX, log->rows[last].ts);
		b->pairs[ut_tt_pair(&log->marks[log->rows[b->items[bar].row].mark], &start)] = 0;
	}
}

/* ---- labels -------------------------------------------------------------------------------- */

static void add_marker(const struct ut_tt_mark *m, struct ut_buf *to)
{
	static const char *const names[] = { "Start", "Firmware Start", "Kernel start",
					     "Kernel End", "Firmware End" };

	if (m->id >= 0 && m->id <= 4)
		ut_buf_text(to, names[m->id]);
	else
		ut_buf_fmt(to, "%" PRId64, m->id);
}

void ut_tt_bar_label(const struct ut_tt_log *log, const struct ut_tt_bar *bar, bool gap,
		     struct ut_buf *to)
{
	const struct ut_tt_mark *m = &log->marks[log->rows[bar->row].mark];
	struct ut_str zone = ut_tt_str(log, m->zone);

	if (gap) {
		add_marker(m, to);
		ut_buf_text(to, "->");
		add_marker(&log->marks[log->rows[bar->end_row].mark], to);
	} else if (log->zones) {
		ut_buf_add(to, zone.ptr, zone.len);
	} else {
		ut_buf_text(to, m->id == 1 ? "FW" : "KERNEL");
	}
}
