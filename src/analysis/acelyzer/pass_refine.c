/*
 * pass_refine.c - names, threads, categories and processes as viewers and TensorBoard want them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/stage.h"
#include "base/grow.h"
#include "base/str.h"

#define HOST_PIDS 1000 /* what the host does is shown as rank + 1000 */

/* Numbers of processes may be anything: what does not fit turns over. */
static int64_t scaled(int64_t n, int64_t by, int64_t plus)
{
	return (int64_t)((uint64_t)n * (uint64_t)by + (uint64_t)plus);
}

bool ut_ace_is_device(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_str s;

	if (e->ph == 'X' && a->table.jobs[e->job].dialect == UT_ACE_FLEX)
		return ut_ace_has_stamps(e);
	if (!(e->flags & UT_ACE_HAS_CAT) || !(e->flags & UT_ACE_HAS_ARGS))
		return false;
	if (a->opts.release < UT_ACE_1_2)
		return e->cat == UT_ACE_K_CAT_KERNEL;
	s = ut_ace_str(&a->table, e->cat);
	return memmem(s.ptr, s.len, "gpu", 3) || memmem(s.ptr, s.len, "kernel", 6);
}

bool ut_ace_is_kernel(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	struct ut_str s;

	if (a->table.jobs[e->job].dialect == UT_ACE_FLEX)
		return ut_ace_flags_of(a, e) & UT_ACE_NAME(END_EXEC);
	s = ut_ace_str(&a->table, e->cat);
	return e->flags & UT_ACE_HAS_CAT && memmem(s.ptr, s.len, "kernel", 6);
}

/* Threads of different ranks get different numbers (release 1.0). */
static void refine_tid(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	struct ut_ace_table *t = &a->table;
	int64_t num;

	if (a->opts.release >= UT_ACE_1_2 || !ut_ace_is_num(t, e->tid) ||
	    !ut_ace_is_num(t, e->pid) ||
	    __builtin_mul_overflow(ut_ace_num(t, e->pid), 100000, &num) ||
	    __builtin_add_overflow(num, ut_ace_num(t, e->tid), &num))
		return;
	e->tid = ut_ace_id_int(t, num);
}

/* A process for which names are told at the end. */
struct shown {
	uint32_t pid;  /* id of the rank */
	bool acc, cpu; /* seen as */
	double acc_ts, cpu_ts;
};

struct shows {
	struct shown *items;
	size_t count, cap;
	struct ut_idmap index; /* rank -> place in items + 1 */
};

static struct shown *shown_of(struct shows *s, uint32_t pid, bool *fresh)
{
	uint32_t at = ut_idmap_get(&s->index, pid);

	*fresh = !at;
	if (!at) {
		s->items = ut_grow(s->items, s->count + 1, &s->cap, sizeof(*s->items));
		s->items[s->count].pid = pid;
		at = (uint32_t)++s->count;
		ut_idmap_put(&s->index, pid, at);
	}
	return &s->items[at - 1];
}

static void add_device(struct ut_ace_analysis *a, uint32_t pid)
{
	struct ut_ace_found *f = &a->found;

	f->devices = ut_grow(f->devices, f->device_count + 1, &f->device_cap, sizeof(*f->devices));
	f->devices[f->device_count++] = pid;
}

/* Release 1.0 tells only what a rank was seen as first; 1.2 tells both. */
static void pass_refine_note(struct ut_ace_analysis *a, struct shows *s,
			     const struct ut_ace_event *e, bool acc)
{
	bool fresh;
	struct shown *p = shown_of(s, e->pid, &fresh);

	if (!fresh && a->opts.release < UT_ACE_1_2)
		return;
	if (acc && !p->acc) {
		p->acc = true;
		p->acc_ts = e->ts;
		add_device(a, e->pid);
	} else if (!acc && !p->cpu) {
		p->cpu = true;
		p->cpu_ts = e->ts;
	}
}

static uint32_t device_cat(uint64_t n)
{
	if (n & (UT_ACE_NAME(ANY_IN) | UT_ACE_NAME(ANY_OUT)))
		return n & UT_ACE_NAME(RDMA) ? UT_ACE_K_CAT_ANNOTATION : UT_ACE_K_CAT_MEMCPY;
	return n & UT_ACE_NAME(ALL_REDUCE) && n & UT_ACE_NAME(ANY_EXEC) ? UT_ACE_K_CAT_ANNOTATION
									: UT_ACE_K_CAT_KERNEL;
}

/* The first "_123" of a collective operation's name. */
static void set_external_id(struct ut_ace_analysis *a, struct ut_ace_event *e, uint32_t name)
{
	struct ut_str s = ut_ace_str(&a->table, name);
	struct ut_arg arg;

	for (size_t i = 0; i + 1 < s.len; i++) {
		size_t to = i + 1;

		while (s.ptr[i] == '_' && to < s.len && s.ptr[to] >= '0' && s.ptr[to] <= '9')
			to++;
		if (to == i + 1)
			continue;
		arg = ut_ace_str_arg(
			UT_ACE_K_EXTERNAL_ID_LOW,
			ut_strtab_intern(&a->table.strings, s.ptr + i + 1, to - i - 1));
		e->extra = ut_ace_arg_set(&a->table, e->extra, &arg);
		return;
	}
}

static void refine_host(struct ut_ace_analysis *a, struct ut_ace_event *e)
{
	struct ut_arg arg;
	bool coll = ut_ace_flags_of(a, e) & UT_ACE_NAME(ALL_REDUCE) &&
		    ut_ace_arg(&a->table, e->args, UT_ACE_K_COLL_SIZE, &arg);

	if (!(e->flags & UT_ACE_HAS_CAT))
		e->cat = coll ? UT_ACE_K_CAT_ANNOTATION : UT_ACE_K_CAT_CPU_OP;
	e->flags |= UT_ACE_HAS_CAT;
	if (coll) {
		e->orig = e->name;
		e->name = UT_ACE_K_GLOO;
		set_external_id(a, e, e->orig);
	}
	if (ut_ace_is_num(&a->table, e->pid))
		e->pid = ut_ace_id_int(&a->table,
				       scaled(ut_ace_num(&a->table, e->pid), 1, HOST_PIDS));
	if (e->flags & UT_ACE_TORCH_ID && ut_ace_is_num(&a->table, e->tid)) {
		int64_t tid = ut_ace_num(&a->table, e->tid);

		e->tid = ut_ace_id_int(&a->table, tid / 10 + tid % 10);
	}
}

/* name and value of a process: three events. */
static void pass_refine_add_meta(struct ut_ace_analysis *a, uint32_t pid, double ts,
				 const char *name, const struct ut_arg *label, int64_t index)
{
	struct ut_ace_table *t = &a->table;
	struct ut_arg args[] = {
		ut_ace_str_arg(UT_ACE_K_NAME, ut_strtab_intern_z(&t->strings, name)),
		*label,
		ut_ace_int_arg(UT_ACE_K_SORT_INDEX, index),
	};
	static const uint32_t names[] = { UT_ACE_K_PROCESS_NAME, UT_ACE_K_PROCESS_LABEL,
					  UT_ACE_K_PROCESS_SORT_INDEX };

	for (int i = 0; i < 3; i++) {
		struct ut_ace_event *e;

		if (!args[i].key)
			continue;
		e = ut_ace_event_add(t);
		e->ph = 'M';
		e->pid = pid;
		e->ts = ts;
		e->name = names[i];
		e->args = ut_arglists_add(&t->lists, &args[i], 1);
		e->flags = UT_ACE_HAS_ARGS;
		ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
	}
}

static void report_old(struct ut_ace_analysis *a, const struct shown *s)
{
	int64_t rank = ut_ace_num(&a->table, s->pid);
	struct ut_arg label =
		ut_ace_str_arg(UT_ACE_K_NAME, s->acc ? UT_ACE_K_LABEL_AIU : UT_ACE_K_LABEL_CPU);
	char name[64];

	snprintf(name, sizeof(name), s->acc ? "AIU Device%lld" : "Host%lld", (long long)rank);
	pass_refine_add_meta(a, s->pid, s->acc ? s->acc_ts : s->cpu_ts, name, &label,
			     scaled(rank, 2, s->acc + 10));
}

static void report_new(struct ut_ace_analysis *a, const struct shown *s)
{
	int64_t rank = ut_ace_num(&a->table, s->pid);
	uint32_t zero = ut_ace_id_int(&a->table, 0);
	struct ut_arg label;
	char name[64];

	/* what was not seen is told as well, as something of process 0 */
	snprintf(name, sizeof(name), s->cpu ? "Host%lld" : "cpu_default", (long long)rank);
	label = ut_ace_str_arg(UT_ACE_K_NAME, ut_strtab_intern_z(&a->table.strings, name));
	pass_refine_add_meta(a,
			     s->cpu ? ut_ace_id_int(&a->table, scaled(rank, 1, HOST_PIDS)) : zero,
			     s->cpu_ts, name, &label, s->cpu ? scaled(rank, 3, 0) : 0);
	snprintf(name, sizeof(name), s->acc ? "AIU Device%lld" : "acc_default", (long long)rank);
	label = ut_ace_str_arg(UT_ACE_K_NAME, ut_strtab_intern_z(&a->table.strings, name));
	pass_refine_add_meta(a, s->acc ? s->pid : zero, s->acc_ts, name, &label,
			     s->acc ? scaled(rank, 3, 1) : 0);
}

/*
 * Names for the processes, once: at the end of the first of the two stages, since the reference's
 * dumps show them there. Torch traces bring their own; release 1.2 leaves it at that.
 */
static void report_processes(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	const struct ut_arg none = { 0 };
	struct shows s = { 0 };
	bool torch = false, coll_bw = false;
	size_t n = t->seq_count;

	if (a->is_named)
		return;
	a->is_named = true;
	ut_idmap_init(&s.index, &t->arena);
	for (size_t i = 0; i < n; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);

		coll_bw |= e->ph == 'C' && e->name == UT_ACE_K_C_BW_REDUCE;
		if (e->ph != 'X')
			continue;
		if (t->jobs[e->job].dialect == UT_ACE_TORCH)
			torch = true;
		else
			pass_refine_note(a, &s, e, ut_ace_is_device(a, e));
	}
	for (size_t i = 0; i < s.count && !(torch && a->opts.release >= UT_ACE_1_2); i++) {
		if (a->opts.release >= UT_ACE_1_2)
			report_new(a, &s.items[i]);
		else
			report_old(a, &s.items[i]);
	}
	if (coll_bw)
		pass_refine_add_meta(a, ut_ace_id_int(t, -1), 0, "CollectiveBW", &none, 0);
	free(s.items);
}

int ut_ace_pass_refine(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph != 'X' || !ut_ace_is_device(a, e))
			continue;
		if (!a->opts.keep_names && ut_ace_flags_of(a, e) & UT_ACE_NAME(NUMBERED)) {
			e->orig = e->name;
			e->name = ut_ace_name_bare(&a->names, t, e->name);
		}
		refine_tid(a, e);
	}
	report_processes(a);
	return 0;
}

int ut_ace_pass_refine_light(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	size_t n;

	report_processes(a);
	n = t->seq_count;
	for (size_t i = 0; i < n; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph != 'X' || t->jobs[e->job].dialect == UT_ACE_TORCH)
			continue;
		if (ut_ace_is_device(a, e)) {
			e->cat = device_cat(ut_ace_flags_of(a, e));
			e->flags |= UT_ACE_HAS_CAT | UT_ACE_SHOW_DEV;
		} else {
			refine_host(a, e);
		}
	}
	return 0;
}
