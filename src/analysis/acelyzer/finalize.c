/*
 * finalize.c - what can be said about a file's events only when all of the file has been read.
 */
#include <stdlib.h>
#include <string.h>

#include "acelyzer/event_arg.h"
#include "acelyzer/file_merge.h"
#include "base/str.h"

static bool is_span(char ph)
{
	return ph == 'X' || ph == 'B';
}

/* Release 1.0: a flex file that knows its rank; the profiler's own spans are no work. */
static void finalize_old(struct ut_ace_part *p)
{
	struct ut_ace_table *t = &p->table;
	uint32_t pid = p->rank >= 0 ? ut_ace_id_int(t, p->rank) : 0;

	for (size_t i = 0; i < t->event_count; i++) {
		struct ut_ace_event *e = &t->events[i];
		struct ut_str name = ut_ace_str(t, e->name);

		if (pid && p->dialect == UT_ACE_FLEX && is_span(e->ph)) {
			e->pid = pid;
			e->flags &= ~(uint32_t)UT_ACE_NO_PID;
		}
		if (!(e->flags & UT_ACE_WAS_BE) && e->ph != 'M' &&
		    memmem(name.ptr, name.len, "PyTorch Profiler", 16))
			e->flags |= UT_ACE_DROP;
	}
}

/* process_labels "AIU 0": the last digit becomes the rank. */
static void finalize_label(struct ut_ace_table *t, struct ut_ace_event *e, int64_t rank)
{
	struct ut_buf b = { 0 };
	struct ut_arg arg;
	struct ut_str s;

	if (!ut_ace_arg(t, e->args, UT_ACE_K_LABELS, &arg) || arg.type != UT_ARG_STR)
		return;
	s = ut_ace_str(t, arg.value.str);
	if (!s.len || s.ptr[s.len - 1] < '0' || s.ptr[s.len - 1] > '9')
		return;
	ut_buf_add(&b, s.ptr, s.len - 1);
	ut_buf_fmt(&b, "%lld", (long long)rank);
	arg.value.str = ut_strtab_intern(&t->strings, b.data, b.len);
	e->args = ut_ace_arg_set(t, e->args, &arg);
	ut_buf_release(&b);
}

static void finalize_torch_meta(struct ut_ace_table *t, struct ut_ace_event *e, int64_t rank)
{
	struct ut_str name = ut_ace_str(t, e->name);
	struct ut_arg arg;

	if (!ut_ace_is_num(t, e->pid) || !ut_str_has_start(name, "process"))
		return;
	if (ut_str_has_end(name, "sort_index")) {
		arg = ut_ace_int_arg(UT_ACE_K_SORT_INDEX,
				     rank * 123000 + (ut_ace_num(t, e->pid) > rank ? 0 : 15));
		e->args = ut_ace_arg_set(t, e->args, &arg);
		e->flags |= UT_ACE_HAS_ARGS;
	} else if (ut_str_has_end(name, "_labels")) {
		finalize_label(t, e, rank);
	}
}

static void finalize_torch(struct ut_ace_part *p, struct ut_ace_event *e)
{
	struct ut_ace_table *t = &p->table;
	struct ut_arg arg;

	if (ut_ace_is_num(t, e->pid) && !ut_ace_num(t, e->pid))
		e->pid = ut_ace_id_int(t, p->rank);
	if (e->ph == 'M') {
		finalize_torch_meta(t, e, p->rank);
		return;
	}
	if (!(e->flags & UT_ACE_HAS_ARGS))
		return;
	e->flags |= UT_ACE_SHOW_RANK;
	if (ut_ace_arg(t, e->args, UT_ACE_K_DEVICE, &arg)) {
		arg = ut_ace_int_arg(UT_ACE_K_DEVICE, p->rank);
		e->args = ut_ace_arg_set(t, e->args, &arg);
	}
}

static void finalize_flex(struct ut_ace_part *p, struct ut_ace_event *e)
{
	if (p->rank < 0 && ut_ace_is_num(&p->table, e->pid))
		p->rank = ut_ace_num(&p->table, e->pid);
	if (e->flags & UT_ACE_HAS_ARGS)
		e->flags |= UT_ACE_SHOW_RANK;
	if (p->rank >= 0) {
		e->pid = ut_ace_id_int(&p->table, p->rank);
		e->flags &= ~(uint32_t)UT_ACE_NO_PID;
	}
}

static void finalize_new(struct ut_ace_part *p)
{
	struct ut_ace_table *t = &p->table;

	if (p->dialect == UT_ACE_TORCH && p->rank < 0)
		p->rank = 0;
	for (size_t i = 0; i < t->event_count; i++) {
		struct ut_ace_event *e = &t->events[i];

		if (!is_span(e->ph) && !strchr("Mbei", e->ph))
			continue;
		if (p->dialect == UT_ACE_TORCH)
			finalize_torch(p, e);
		else
			finalize_flex(p, e);
	}
}

/* Processes with names get numbers in flex traces, since ranks are counted with. */
static void number_ids(struct ut_ace_part *p)
{
	struct ut_ace_table *t = &p->table;
	struct ut_arg arg;

	if (p->dialect == UT_ACE_TORCH)
		return;
	for (size_t i = 0; i < t->event_count; i++) {
		struct ut_ace_event *e = &t->events[i];

		if (!is_span(e->ph))
			continue;
		if (t->ids[e->pid].kind == UT_ACE_ID_STR) {
			arg = ut_ace_str_arg(UT_ACE_K_OPID, t->ids[e->pid].str);
			e->args = ut_ace_arg_set(t, e->args, &arg);
		}
		if (t->ids[e->tid].kind == UT_ACE_ID_STR) {
			arg = ut_ace_str_arg(UT_ACE_K_OTID, t->ids[e->tid].str);
			e->args = ut_ace_arg_set(t, e->args, &arg);
		}
	}
}

void ut_ace_finalize(struct ut_ace_part *part, enum ut_ace_release release)
{
	if (release >= UT_ACE_1_2)
		finalize_new(part);
	else
		finalize_old(part);
	number_ids(part);
}
