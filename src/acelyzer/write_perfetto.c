/*
 * write_perfetto.c - -f protobuf: the result as a Perfetto trace.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/write_output.h"
#include "base/grow.h"
#include "export/exporter.h"
#include "model/event.h"
#include "text/out.h"

struct perfetto {
	const struct ut_ace_analysis *a;
	struct ut_sink *sink;
	struct ut_trace trace;
	struct ut_idmap processes; /* pid -> place + 1 */
	struct ut_idmap tracks;    /* pid and tid, or counter -> place + 1 */
	struct ut_idmap strings;   /* of the table -> of the trace */
};

static uint32_t string_of(struct perfetto *p, uint32_t id)
{
	uint32_t at = ut_idmap_get(&p->strings, id);
	struct ut_str s;

	if (!id)
		return 0;
	if (!at) {
		s = ut_ace_str(&p->a->table, id);
		at = ut_strtab_intern(&p->trace.strings, s.ptr, s.len);
		if (at)
			ut_idmap_put(&p->strings, id, at);
	}
	return at;
}

/* Numbers stay; names and negative numbers get one that no other has. */
static uint64_t number_of(const struct perfetto *p, uint32_t id)
{
	const struct ut_ace_id *v = &p->a->table.ids[id];

	if (v->kind == UT_ACE_ID_INT && v->num >= 0)
		return (uint64_t)v->num;
	return 1000000 + (uint64_t)id;
}

static uint32_t process_of(struct perfetto *p, uint32_t pid)
{
	const struct ut_ace_id *v = &p->a->table.ids[pid];
	uint32_t at = ut_idmap_get(&p->processes, pid);

	if (at)
		return at - 1;
	at = ut_trace_add_process(&p->trace, number_of(p, pid));
	if (v->kind == UT_ACE_ID_STR)
		p->trace.processes[at].name = string_of(p, v->str);
	ut_idmap_put(&p->processes, pid, at + 1);
	return at;
}

static uint32_t track_of(struct perfetto *p, const struct ut_ace_event *e)
{
	bool counter = e->ph == 'C';
	uint64_t key =
		(uint64_t)e->pid << 34 | (uint64_t)counter << 33 | (counter ? e->name : e->tid);
	uint32_t at = ut_idmap_get(&p->tracks, key);
	const struct ut_ace_id *tid = &p->a->table.ids[e->tid];

	if (at)
		return at - 1;
	at = ut_trace_add_track(&p->trace, process_of(p, e->pid),
				counter ? UT_TRACK_COUNTER : UT_TRACK_THREAD);
	p->trace.tracks[at].id = counter ? at + 1 : number_of(p, e->tid);
	if (counter)
		p->trace.tracks[at].name = string_of(p, e->name);
	else if (tid->kind == UT_ACE_ID_STR)
		p->trace.tracks[at].name = string_of(p, tid->str);
	ut_idmap_put(&p->tracks, key, at + 1);
	return at;
}

static uint64_t ns(double us)
{
	double v = rint(us * 1000);

	return v > 0 && v < 1.8e19 ? (uint64_t)v : 0;
}

static void add_arg(struct perfetto *p, const struct ut_arg *from)
{
	struct ut_arg *arg =
		ut_trace_add_arg(&p->trace, string_of(p, from->key), (enum ut_arg_type)from->type);

	arg->value = from->value;
	if (from->type == UT_ARG_STR || from->type == UT_ARG_JSON)
		arg->value.str = string_of(p, from->value.str);
}

/* Arguments of the input and the stamps; the first value of a counter. */
static void add_args(struct perfetto *p, const struct ut_ace_event *e, double *first)
{
	const struct ut_ace_table *t = &p->a->table;
	size_t n = ut_arglists_get(&t->lists, e->args, NULL, 0);
	struct ut_arg *args = ut_make((n + 1) * sizeof(*args)), stamp;

	ut_arglists_get(&t->lists, e->args, args, n);
	*first = 0;
	if (n)
		ut_ace_arg_num(t, &args[0], first);
	for (size_t i = 0; i < n && e->ph != 'C'; i++)
		add_arg(p, &args[i]);
	for (uint32_t i = 0; e->dev && e->ph == 'X' && i < UT_ACE_STAMPS; i++) {
		stamp = ut_ace_int_arg(UT_ACE_K_TS1 + i, t->devs[e->dev].ts[i]);
		add_arg(p, &stamp);
	}
	free(args);
}

static bool kind_of(char ph, uint8_t *kind)
{
	static const char phases[] = "XiCbesf";
	static const uint8_t kinds[] = { UT_KIND_SPAN,        UT_KIND_INSTANT,   UT_KIND_COUNTER,
					 UT_KIND_ASYNC_BEGIN, UT_KIND_ASYNC_END, UT_KIND_FLOW_OUT,
					 UT_KIND_FLOW_IN };
	const char *at = ph ? strchr(phases, ph) : NULL;

	if (at)
		*kind = kinds[at - phases];
	return at != NULL;
}

static void send(struct perfetto *p, const struct ut_ace_event *e)
{
	struct ut_event out = { 0 };
	size_t mark = p->trace.arg_count;
	struct ut_arg id;
	double value, number = 0;

	if (!kind_of(e->ph, &out.kind))
		return;
	out.track = track_of(p, e);
	out.ts = ns(e->ts);
	out.name = string_of(p, e->name);
	out.cat = string_of(p, e->cat);
	out.args = (uint32_t)mark;
	add_args(p, e, &value);
	ut_trace_close_args(&p->trace);
	if (e->ph == 'X') {
		out.val = ns(e->dur);
	} else if (e->ph == 'C') {
		memcpy(&out.val, &value, sizeof(out.val));
		out.flags = UT_EV_DOUBLE;
	} else if (ut_ace_arg(&p->a->table, e->extra, UT_ACE_K_ID, &id) &&
		   ut_ace_arg_num(&p->a->table, &id, &number)) {
		out.val = (uint64_t)(number < 0 ? 0 : number);
	}
	ut_sink_event(p->sink, &p->trace, &out);
	ut_trace_drop_args(&p->trace, mark);
}

/* What M events say about processes. */
static void name_process(struct perfetto *p, const struct ut_ace_event *e)
{
	struct ut_arg arg;
	uint32_t at;

	if (e->name != UT_ACE_K_PROCESS_NAME ||
	    !ut_ace_arg(&p->a->table, e->args, UT_ACE_K_NAME, &arg) || arg.type != UT_ARG_STR)
		return;
	at = process_of(p, e->pid);
	p->trace.processes[at].name = string_of(p, arg.value.str);
}

int ut_ace_write_perfetto(const struct ut_ace_analysis *a, const char *path, struct ut_err *err)
{
	struct ut_out *o = ut_out_open(path, UT_OUT_OVERWRITE);
	struct perfetto p = { .a = a, .sink = ut_export_perfetto.open(o) };
	const struct ut_ace_table *t = &a->table;

	ut_trace_init(&p.trace);
	ut_idmap_init(&p.processes, &p.trace.arena);
	ut_idmap_init(&p.tracks, &p.trace.arena);
	ut_idmap_init(&p.strings, &p.trace.arena);
	for (size_t i = 0; i < t->seq_count; i++) {
		if (t->events[t->seq[i]].ph == 'M')
			name_process(&p, ut_ace_at(t, i));
	}
	for (size_t i = 0; i < t->seq_count; i++)
		send(&p, ut_ace_at(t, i));
	ut_export_perfetto.end_trace(p.sink, &p.trace);
	ut_export_perfetto.close(p.sink);
	ut_trace_release(&p.trace);
	return ut_out_commit(o, err);
}
