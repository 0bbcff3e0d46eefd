/*
 * bars.h - what a lane did, as bars on a line of time.
 *
 * Two ways to see it. Gaps: one bar from each marker to the next, from T0 on, as the original draws
 * logs of timer numbers. Spans: one bar from a zone's start to its end, nested; in logs of timer
 * numbers firmware and kernels. Both in order of their start, an outer one before the inner ones.
 */
#ifndef UT_TT_BARS_H
#define UT_TT_BARS_H

#include "base/str.h"
#include "tt/devlog.h"

enum ut_tt_bar_kind {
	UT_TT_BAR_IDLE, /* between launches: not drawn */
	UT_TT_BAR_FIRMWARE,
	UT_TT_BAR_KERNEL,
	UT_TT_BAR_USER,
	UT_TT_BAR_KINDS
};

struct ut_tt_bar {
	uint64_t start, cycles;
	uint32_t row;      /* that it begins with */
	uint32_t end_row;  /* that it ends with; UINT32_MAX: none, the end of the lane */
	uint32_t depth;    /* bars around it */
	uint8_t kind;      /* enum ut_tt_bar_kind */
	bool implicit_end; /* ended because an outer one did */
};

struct ut_tt_bars {
	struct ut_tt_bar *items;
	size_t count, cap;
	uint32_t *open; /* the stack while spans are found */
	size_t open_cap;
	uint32_t *pairs; /* how many of each pair are open */
	size_t pair_cap;
};

/* {0} to begin with; items are those of one lane and are used again for the next. */
void ut_tt_bars_gaps(struct ut_tt_bars *b, const struct ut_tt_log *log, const struct ut_tt_lane *l);
void ut_tt_bars_spans(struct ut_tt_bars *b, const struct ut_tt_log *log,
		      const struct ut_tt_lane *l);
void ut_tt_bars_release(struct ut_tt_bars *b);

/* Whether a mark is one of the firmware's or a kernel's; otherwise the user's. */
uint8_t ut_tt_mark_kind(const struct ut_tt_log *log, const struct ut_tt_mark *m);

/* "Firmware Start->Kernel start"; "BRISC-FW". Appends. */
void ut_tt_bar_label(const struct ut_tt_log *log, const struct ut_tt_bar *bar, bool gap,
		     struct ut_buf *to);

#endif
