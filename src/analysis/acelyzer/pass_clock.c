/*
 * pass_clock.c - device events on the host's clock: the host tells when an event ended, the
 * cycles tell how long it took.
 */
#include <stdlib.h>
#include <string.h>

#include "acelyzer/each.h"
#include "acelyzer/stage.h"
#include "base/str.h"
#include "text/shortest.h"

#define FIRST_TID 1000
#define TID_STEP  100

/*
 * Thread numbers of flex are addresses: 1000, 1100, ... read better and leave room for overlaps.
 * Any number of them; the reference stops at 30.
 */
int ut_ace_pass_map_tid(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_idmap seen;
	int64_t next = FIRST_TID;

	ut_idmap_init(&seen, &t->arena);
	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);
		uint32_t tid;

		if (e->ph != 'X' || !e->tid || t->jobs[e->job].dialect != UT_ACE_FLEX)
			continue;
		tid = ut_idmap_get(&seen, e->tid);
		if (!tid) {
			tid = ut_ace_id_int(t, next);
			next += TID_STEP;
			ut_idmap_put(&seen, e->tid, tid);
		}
		t->events[t->seq[i]].tid = tid;
	}
	return 0;
}

/* The stamp that the end of the event stands for. */
static int end_stamp(const struct ut_ace_analysis *a, uint64_t n)
{
	if (a->opts.release < UT_ACE_1_2)
		return 4;
	if (n & UT_ACE_NAME(END_EXEC))
		return 3;
	if (n & UT_ACE_NAME(END_IN))
		return 1;
	return n & UT_ACE_NAME(END_PREP) ? 2 : 4;
}

static void wallclock(void *ctx, size_t from, size_t to)
{
	struct ut_ace_analysis *a = ctx;
	double f = a->opts.soc;

	for (size_t i = from; i < to; i++) {
		struct ut_ace_event *e = ut_ace_at_dev(&a->table, i);
		struct ut_ace_dev *d = ut_ace_dev_of(a, e);
		double end, ts, dur;
		int ref;

		if (!ut_ace_has_stamps(e))
			continue;
		ref = end_stamp(a, ut_ace_flags_of(a, e));
		end = ut_ace_end(e);
		for (int k = 0; k < UT_ACE_STAMPS; k++)
			d->all[k] = end + ((double)d->ts[k] / f - (double)d->ts[ref] / f);
		dur = d->all[ref] - d->all[0];
		ts = end - dur;
		if (a->opts.release >= UT_ACE_1_2 && (ts != e->ts || dur != e->dur)) {
			d->adjust_ts = ts - e->ts;
			d->adjust_dur = dur - e->dur;
			d->flags |= UT_ACE_DEV_ADJUST;
		}
		e->ts = ts;
		e->dur = dur;
		d->flags |= UT_ACE_DEV_ALL | UT_ACE_DEV_US;
	}
}

int ut_ace_pass_wallclock(struct ut_ace_analysis *a)
{
	ut_ace_names_reserve(&a->names, &a->table);
	ut_ace_each(a->opts.threads, a->table.seq_count, wallclock, a);
	return 0;
}

static void tighten(void *ctx, size_t from, size_t to)
{
	struct ut_ace_analysis *a = ctx;
	double f = a->opts.soc, since[UT_ACE_STAMPS];

	for (size_t i = from; i < to; i++) {
		struct ut_ace_event *e = ut_ace_at_dev(&a->table, i);
		struct ut_ace_dev *d = ut_ace_dev_of(a, e);
		double end = ut_ace_end(e);
		int part;

		if (!ut_ace_has_stamps(e))
			continue;
		for (int k = 0; k < UT_ACE_STAMPS; k++)
			since[k] = (double)d->ts[k] / f - (double)d->ts[0] / f;
		part = ut_ace_name_part(ut_ace_flags_of(a, e));
		if (part < 0) {
			for (int k = 0; k < UT_ACE_STAMPS; k++)
				d->all[k] = e->ts + since[k];
			e->dur = d->all[4] - d->all[0];
		} else {
			e->dur = since[part + 1] - since[part];
			e->ts = end - e->dur;
			for (int k = 0; k < UT_ACE_STAMPS; k++)
				d->all[k] = since[k] - since[part + 1] + end;
		}
		d->flags |= UT_ACE_DEV_ALL | UT_ACE_DEV_US;
	}
}

int ut_ace_pass_tighten(struct ut_ace_analysis *a)
{
	ut_ace_names_reserve(&a->names, &a->table);
	ut_ace_each(a->opts.threads, a->table.seq_count, tighten, a);
	return 0;
}

/* One part of a split event: [all[from], all[from + 1]] under a name of its own. */
static void pass_clock_add_part(struct ut_ace_analysis *a, uint32_t event, int from,
				const char *suffix, uint64_t has, bool only)
{
	const double gap = 1.0 / 560.0; /* shorter parts are left out; parts must not touch */
	struct ut_ace_table *t = &a->table;
	struct ut_ace_event e = t->events[event];
	const struct ut_ace_dev *d = &t->devs[e.dev];
	double begin = d->all[from], end = d->all[from + 1];
	struct ut_str s = ut_ace_str(t, e.name);
	struct ut_buf b = { 0 };
	uint32_t row;

	if (begin + gap > end)
		return;
	if (!(ut_ace_flags_of(a, &e) & has)) {
		ut_buf_add(&b, s.ptr, s.len);
		ut_buf_text(&b, suffix);
		e.name = ut_strtab_intern(&t->strings, b.data, b.len);
		ut_buf_release(&b);
	}
	e.ts = begin;
	e.dur = ut_round(end - begin - gap / 2, 3);
	row = ut_ace_dev_add(t);
	t->devs[row] = t->devs[e.dev];
	t->devs[row].part = only ? (uint8_t)(from ? from : 1) : 0;
	e.dev = row;
	*ut_ace_event_add(t) = e;
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
}

/* -s: a device event as its copy in, its computation and its copy out. */
int ut_ace_pass_split(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t count;
	uint32_t *old = ut_ace_seq_take(t, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t at = old[i];
		uint64_t n = ut_ace_flags_of(a, &t->events[at]);
		bool in = n & UT_ACE_NAME(IN), cmpt = !in && n & UT_ACE_NAME(CMPT_EX);
		bool out = !in && !cmpt && n & UT_ACE_NAME(OUT);
		bool all = !in && !cmpt && !out;

		if (!ut_ace_has_stamps(&t->events[at])) {
			ut_ace_seq_add(t, at);
			continue;
		}
		if (n & UT_ACE_NAME(ANY_PREP))
			continue;
		if (in || all)
			pass_clock_add_part(a, at, 0, "_DmaI", UT_ACE_NAME(ANY_IN), in);
		if (cmpt || all)
			pass_clock_add_part(a, at, 2, "_Cmpt", UT_ACE_NAME(ANY_CMPT), cmpt);
		if (out || all)
			pass_clock_add_part(a, at, 3, "_DmaO", UT_ACE_NAME(ANY_OUT), out);
	}
	free(old);
	return 0;
}

/* -O async: the number of a request moves from the name to an argument. */
static void remove_id(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	struct ut_str s = ut_ace_str(&a->table, e->name);
	struct ut_buf b = { 0 };
	struct ut_arg arg = { 0 };

	for (size_t i = 0; i < s.len;) {
		size_t to = i + 1;

		while (s.ptr[i] == '_' && to < s.len && s.ptr[to] >= '0' && s.ptr[to] <= '9')
			to++;
		if (to == i + 1 || to == s.len || !strchr("_ -", s.ptr[to])) {
			ut_buf_char(&b, s.ptr[i++]);
			continue;
		}
		if (!arg.key)
			arg = ut_ace_str_arg(
				UT_ACE_K_REQ_ID,
				ut_strtab_intern(&a->table.strings, s.ptr + i + 1, to - i - 1));
		ut_buf_char(&b, ' ');
		i = to + 1;
	}
	if (arg.key) {
		e->name = ut_strtab_intern(&a->table.strings, b.data, b.len);
		e->args = ut_ace_arg_set(&a->table, e->args, &arg);
		e->flags |= UT_ACE_HAS_ARGS;
	}
	ut_buf_release(&b);
}

int ut_ace_pass_remove_ids(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (!(ut_ace_flags_of(a, e) & UT_ACE_NAME(RECV)))
			remove_id(a, e);
	}
	return 0;
}
