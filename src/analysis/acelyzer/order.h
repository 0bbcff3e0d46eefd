/*
 * order.h - sorting seq. All sorts are stable and take time in proportion to the events.
 */
#ifndef UT_ACELYZER_ORDER_H
#define UT_ACELYZER_ORDER_H

#include "acelyzer/event_table.h"

void ut_ace_order_reverse(struct ut_ace_table *t);

/* All of seq by ts; of equal ones what came later is first, as if it had been reversed before. */
void ut_ace_order_late_first(struct ut_ace_table *t);

/* seq[from..to) by ts. */
void ut_ace_order_by_ts(struct ut_ace_table *t, size_t from, size_t to);

/* By ts; of equal ones the longer first, events without a length last. */
void ut_ace_order_by_ts_dur(struct ut_ace_table *t, size_t from, size_t to);

/* By end. */
void ut_ace_order_by_end(struct ut_ace_table *t, size_t from, size_t to);

/* By dur, which holds the clock of a power sample. */
void ut_ace_order_by_clock(struct ut_ace_table *t, size_t from, size_t to);

/*
 * Groups seq[from..to) by process and thread, in the order in which these first appear; ends[i]
 * is where group i ends. Without threads: by process only. Returns the groups; the caller frees
 * ends.
 */
size_t ut_ace_order_group(struct ut_ace_table *t, size_t from, size_t to, bool threads,
			  size_t **ends);

/* Moves the events for which last(ctx, event) says so behind the others; where they begin. */
size_t ut_ace_order_split(struct ut_ace_table *t,
			  bool (*last)(void *ctx, const struct ut_ace_event *e), void *ctx);

#endif
