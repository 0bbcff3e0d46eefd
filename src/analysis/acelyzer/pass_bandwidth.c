/*
 * pass_bandwidth.c - counter "bandwidth": what the copies to and from the device moved per time.
 *
 * Copies are told one late: the first of two tells its rate, the last one is never shown. That is
 * what the reference does, and users compare.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "acelyzer/stage.h"
#include "base/grow.h"
#include "text/shortest.h"

#define IN  0 /* from TS1 to TS2 */
#define OUT 3 /* from TS4 to TS5 */

static int pass_bandwidth_part_of(struct ut_ace_analysis *a, uint32_t name)
{
	uint64_t n = ut_ace_name_flags(&a->names, &a->table, name);

	return n & UT_ACE_NAME(IN) ? IN : n & UT_ACE_NAME(OUT) ? OUT : -1;
}

int ut_ace_pass_transfers(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t n = t->seq_count;

	for (size_t i = 0; i < n; i++) {
		struct ut_ace_event from = t->events[t->seq[i]], *e;
		int part = pass_bandwidth_part_of(a, from.name);
		struct ut_arg bytes;

		if (!ut_ace_has_stamps(&from) || part < 0 ||
		    !(t->devs[from.dev].flags & UT_ACE_DEV_ALL) ||
		    !(ut_ace_arg(t, from.args, UT_ACE_K_BYTES, &bytes) ||
		      ut_ace_arg(t, from.args, UT_ACE_K_BYTES_LOW, &bytes)))
			continue;
		bytes.key = UT_ACE_K_BYTES;
		e = ut_ace_add_counter(a, from.pid, trunc(t->devs[from.dev].all[part]),
				       UT_ACE_K_C_BW, &bytes);
		e->cat = from.name;
		e->dev = from.dev;
		e->flags |= UT_ACE_HAS_CAT | UT_ACE_ENDS;
	}
	return 0;
}

/* Bytes per us from the waiting sample, 0 = none that counts; *end is when the copy ended. */
static double rate_of(struct ut_ace_analysis *a, const struct ut_ace_event *e, double *end)
{
	const struct ut_ace_dev *d = &a->table.devs[e->dev];
	int part = pass_bandwidth_part_of(a, e->cat);
	struct ut_arg arg;
	double bytes, time = d->all[part + 1] - d->all[part];

	*end = d->all[part + 1];
	if (!ut_ace_arg(&a->table, e->args, UT_ACE_K_BYTES, &arg) ||
	    !ut_ace_arg_num(&a->table, &arg, &bytes) || time <= 0)
		return 0;
	return ut_round(trunc(bytes) / time, 3);
}

static void pass_bandwidth_show(struct ut_ace_analysis *a, uint32_t at, double rate, double end)
{
	struct ut_ace_table *t = &a->table;
	struct ut_arg arg = ut_ace_num_arg(UT_ACE_K_BYTES, rate);
	struct ut_ace_event *e = &t->events[at], zero;

	e->args = ut_arglists_add(&t->lists, &arg, 1);
	e->name = pass_bandwidth_part_of(a, e->cat) == IN ? UT_ACE_K_C_BW_IN : UT_ACE_K_C_BW_OUT;
	e->cat = e->dev = 0;
	e->flags &= ~(uint32_t)(UT_ACE_HAS_CAT | UT_ACE_ENDS);
	ut_ace_seq_add(t, at);
	zero = t->events[at];
	zero.ts = end;
	arg.value.f64 = 0;
	zero.args = ut_arglists_add(&t->lists, &arg, 1);
	*ut_ace_event_add(t) = zero;
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
}

int ut_ace_pass_bandwidth(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	uint32_t *last = ut_make(t->id_count * sizeof(*last)), *samples = NULL;
	size_t count = 0, cap = 0, kept = 0;
	uint64_t in = 0, out = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		if (ut_ace_at(t, i)->flags & UT_ACE_ENDS) {
			samples = ut_grow(samples, count + 1, &cap, sizeof(*samples));
			samples[count++] = t->seq[i];
		} else {
			t->seq[kept++] = t->seq[i];
		}
	}
	t->seq_count = kept;
	for (size_t i = 0; i < count; i++, in++) {
		uint32_t *before = &last[t->events[samples[i]].pid];
		double end, rate = *before ? rate_of(a, &t->events[*before - 1], &end) : 0;

		if (*before && rate == 0)
			continue;
		if (*before) {
			pass_bandwidth_show(a, *before - 1, rate, end);
			out++;
		}
		*before = samples[i] + 1;
	}
	ut_ace_say(&a->messages, UT_ACE_INFO, "DTC event stats o/i: %" PRIu64 " / %" PRIu64, out,
		   in);
	free(last);
	free(samples);
	return 0;
}
