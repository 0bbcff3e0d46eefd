#include "acelyzer/to_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/event.h"
#include "model/sink.h"

#define COARSE    ((UINT64_C(1) << 34) - 1) /* of a double: beyond the sixth digit */
#define JOB_SHIFT 40 /* numbers of arrows that are below this are told apart by their file */

struct report_state {
	const struct ut_ace_analysis *a;
	const struct ut_ace_to_trace_opts *how;
	struct ut_trace *trace;
	struct ut_sink *sink;
	struct ut_idmap processes; /* pid -> place + 1 */
	struct ut_idmap tracks;    /* pid and tid, or counter -> place + 1 */
	struct ut_idmap counters;  /* pid and name -> number from 1 on */
	struct ut_idmap values;    /* that number and the value's key -> place of its track + 1 */
	struct ut_idmap strings;   /* of the table -> of the trace */
	uint32_t counter_count;
	uint32_t jobname; /* string id of the trace: the key */
	uint32_t *files;  /* by job: string id of its file's name; 0 = not met yet */
};

static uint32_t to_trace_string_of(struct report_state *p, uint32_t id)
{
	uint32_t at = ut_idmap_get(&p->strings, id);
	struct ut_str s;

	if (!id)
		return 0;
	if (!at) {
		s = ut_ace_str(&p->a->table, id);
		at = ut_strtab_intern(&p->trace->strings, s.ptr, s.len);
		if (at)
			ut_idmap_put(&p->strings, id, at);
	}
	return at;
}

/* Numbers stay; names and negative numbers get one that no other has. */
static uint64_t to_trace_number_of(const struct report_state *p, uint32_t id)
{
	const struct ut_ace_id *v = &p->a->table.ids[id];

	if (v->kind == UT_ACE_ID_INT && v->num >= 0)
		return (uint64_t)v->num;
	return 1000000 + (uint64_t)id;
}

static uint32_t process_of(struct report_state *p, uint32_t pid)
{
	const struct ut_ace_id *v = &p->a->table.ids[pid];
	uint32_t at = ut_idmap_get(&p->processes, pid);

	if (at)
		return at - 1;
	at = ut_trace_add_process(p->trace, to_trace_number_of(p, pid));
	if (v->kind == UT_ACE_ID_STR)
		p->trace->processes[at].name = to_trace_string_of(p, v->str);
	ut_idmap_put(&p->processes, pid, at + 1);
	return at;
}

/* Is it of a torch file, which is of one rank and numbers its arrows for itself? */
static bool is_torch(const struct report_state *p, const struct ut_ace_event *e)
{
	return p->how->apart && e->flags & UT_ACE_HAS_JOB &&
	       p->a->table.jobs[e->job].dialect == UT_ACE_TORCH;
}

static void rank_process(struct report_state *p, const struct ut_ace_event *e, uint32_t process)
{
	int64_t rank = p->a->table.jobs[e->job].rank;

	if (is_torch(p, e) && rank >= 0 && rank <= INT32_MAX)
		p->trace->processes[process].rank = (int32_t)rank;
}

/* A thread of a device has no name, but its spans all do the same: the first one tells what. */
static void name_track(struct report_state *p, const struct ut_ace_event *e, struct ut_track *track)
{
	static const struct {
		const char *end, *what;
	} kinds[] = { { "Cmpt Exec", "kernels" },
		      { "Cmpt Prep", "preparation" },
		      { " DmaI", "DMA" },
		      { " DmaO", "DMA" } };
	struct ut_str name = ut_ace_str(&p->a->table, e->name);
	struct ut_buf b = { 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i].end);

		if (name.len < len || memcmp(name.ptr + name.len - len, kinds[i].end, len) != 0)
			continue;
		ut_buf_fmt(&b, "%s %" PRIu64, kinds[i].what, track->id);
		track->name = ut_strtab_intern(&p->trace->strings, b.data, b.len);
		ut_buf_release(&b);
		return;
	}
}

static uint32_t to_trace_track_of(struct report_state *p, const struct ut_ace_event *e)
{
	bool counter = e->ph == 'C';
	uint64_t key =
		(uint64_t)e->pid << 34 | (uint64_t)counter << 33 | (counter ? e->name : e->tid);
	uint32_t at = ut_idmap_get(&p->tracks, key);
	const struct ut_ace_id *tid = &p->a->table.ids[e->tid];

	if (at)
		return at - 1;
	at = ut_trace_add_track(p->trace, process_of(p, e->pid),
				counter ? UT_TRACK_COUNTER : UT_TRACK_THREAD);
	rank_process(p, e, p->trace->tracks[at].process);
	p->trace->tracks[at].id = counter ? at + 1 : to_trace_number_of(p, e->tid);
	if (counter)
		p->trace->tracks[at].name = to_trace_string_of(p, e->name);
	else if (tid->kind == UT_ACE_ID_STR)
		p->trace->tracks[at].name = to_trace_string_of(p, tid->str);
	else if (p->how->origin && e->dev && e->ph == 'X')
		name_track(p, e, &p->trace->tracks[at]);
	ut_idmap_put(&p->tracks, key, at + 1);
	return at;
}

/* A track for each value of a counter, whose unit is what the value is called. */
static uint32_t value_track(struct report_state *p, const struct ut_ace_event *e, uint32_t unit)
{
	uint64_t counter = (uint64_t)e->pid << 32 | e->name;
	uint32_t nth = ut_idmap_get(&p->counters, counter), at;

	if (!nth) {
		nth = ++p->counter_count;
		ut_idmap_put(&p->counters, counter, nth);
	}
	at = ut_idmap_get(&p->values, (uint64_t)nth << 32 | unit);
	if (at)
		return at - 1;
	at = ut_trace_add_track(p->trace, process_of(p, e->pid), UT_TRACK_COUNTER);
	p->trace->tracks[at].id = at + 1;
	p->trace->tracks[at].unit = to_trace_string_of(p, unit);
	ut_trace_name_counter(p->trace, at, to_trace_string_of(p, e->name));
	ut_idmap_put(&p->values, (uint64_t)nth << 32 | unit, at + 1);
	return at;
}

static uint64_t to_trace_ns(double us)
{
	double v = rint(us * 1000);

	return v > 0 && v < 1.8e19 ? (uint64_t)v : 0;
}

static void add_arg(struct report_state *p, const struct ut_arg *from)
{
	struct ut_arg *arg = ut_trace_add_arg(p->trace, to_trace_string_of(p, from->key),
					      (enum ut_arg_type)from->type);

	arg->value = from->value;
	if (from->type == UT_ARG_STR || from->type == UT_ARG_JSON)
		arg->value.str = to_trace_string_of(p, from->value.str);
}

/* What a span was before the passes shortened its name and joined the files. */
static void add_origin(struct report_state *p, const struct ut_ace_event *e)
{
	const struct ut_ace_job *job = &p->a->table.jobs[e->job];
	struct ut_arg orig = ut_ace_str_arg(UT_ACE_K_ORIG_NAME, e->orig);

	if (e->orig)
		add_arg(p, &orig);
	if (!(e->flags & UT_ACE_JOBNAME))
		return;
	if (!p->files[e->job])
		p->files[e->job] = ut_strtab_intern(&p->trace->strings, job->base, job->base_len);
	ut_trace_add_arg(p->trace, p->jobname, UT_ARG_STR)->value.str = p->files[e->job];
}

/* Arguments of the input and the stamps; the first value of a counter. */
static void add_args(struct report_state *p, const struct ut_ace_event *e, double *first)
{
	const struct ut_ace_table *t = &p->a->table;
	size_t n = ut_arglists_get(&t->lists, e->args, NULL, 0);
	struct ut_arg *args = ut_make((n + 1) * sizeof(*args)), stamp;
	bool stamps = e->dev && e->ph == 'X' && !p->how->no_stamps;

	ut_arglists_get(&t->lists, e->args, args, n);
	*first = 0;
	if (n)
		ut_ace_arg_num(t, &args[0], first);
	for (size_t i = 0; i < n && e->ph != 'C'; i++) {
		if (!p->how->no_stamps || args[i].key != UT_ACE_K_POWER)
			add_arg(p, &args[i]);
	}
	for (uint32_t i = 0; stamps && i < UT_ACE_STAMPS; i++) {
		stamp = ut_ace_int_arg(UT_ACE_K_TS1 + i, t->devs[e->dev].ts[i]);
		add_arg(p, &stamp);
	}
	if (p->how->origin && e->ph == 'X')
		add_origin(p, e);
	free(args);
}

static bool to_trace_kind_of(char ph, uint8_t *kind)
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

static uint64_t to_trace_bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Every value of a counter that is a number. */
static void send_values(struct report_state *p, const struct ut_ace_event *e)
{
	const struct ut_ace_table *t = &p->a->table;
	size_t n = ut_arglists_get(&t->lists, e->args, NULL, 0);
	struct ut_arg *args = ut_make((n + 1) * sizeof(*args));
	double value;

	ut_arglists_get(&t->lists, e->args, args, n);
	for (size_t i = 0; i < n; i++) {
		struct ut_event out = { .kind = UT_KIND_COUNTER, .flags = UT_EV_DOUBLE };

		if (!ut_ace_arg_num(t, &args[i], &value) || !isfinite(value))
			continue;
		out.track = value_track(p, e, args[i].key);
		out.ts = to_trace_ns(e->ts - p->how->zero);
		out.name = p->trace->tracks[out.track].name;
		out.cat = to_trace_string_of(p, e->cat);
		out.val = to_trace_bits_of(value);
		if (p->how->coarse)
			out.val &= ~COARSE;
		ut_sink_event(p->sink, p->trace, &out);
	}
	free(args);
}

/* Files number their arrows for themselves; those that a pass made have numbers of the whole. */
static uint64_t arrow_of(const struct report_state *p, const struct ut_ace_event *e)
{
	const struct ut_ace_table *t = &p->a->table;
	uint64_t number;
	struct ut_arg id;
	double value = 0;

	if (!ut_ace_arg(t, e->extra, UT_ACE_K_ID, &id) || !ut_ace_arg_num(t, &id, &value))
		return 0;
	number = (uint64_t)(value < 0 ? 0 : value);
	if (is_torch(p, e) && number < UINT64_C(1) << JOB_SHIFT)
		number |= ((uint64_t)e->job + 1) << JOB_SHIFT;
	return number;
}

static void to_trace_send(struct report_state *p, const struct ut_ace_event *e)
{
	struct ut_event out = { 0 };
	size_t mark = p->trace->arg_count;
	double value;

	if (!to_trace_kind_of(e->ph, &out.kind))
		return;
	if (e->ph == 'C' && p->how->all_values) {
		send_values(p, e);
		return;
	}
	out.track = to_trace_track_of(p, e);
	out.ts = to_trace_ns(e->ts - p->how->zero);
	out.name = to_trace_string_of(p, e->name);
	out.cat = to_trace_string_of(p, e->cat);
	out.args = (uint32_t)mark;
	add_args(p, e, &value);
	ut_trace_close_args(p->trace);
	if (e->ph == 'X') {
		out.val = to_trace_ns(e->dur);
	} else if (e->ph == 'C') {
		out.val = to_trace_bits_of(value);
		out.flags = UT_EV_DOUBLE;
	} else {
		out.val = arrow_of(p, e);
	}
	ut_sink_event(p->sink, p->trace, &out);
	ut_trace_drop_args(p->trace, mark);
}

/* What M events say about processes. */
static void name_process(struct report_state *p, const struct ut_ace_event *e)
{
	struct ut_arg arg;
	uint32_t at;

	if (e->name != UT_ACE_K_PROCESS_NAME ||
	    !ut_ace_arg(&p->a->table, e->args, UT_ACE_K_NAME, &arg) || arg.type != UT_ARG_STR)
		return;
	at = process_of(p, e->pid);
	p->trace->processes[at].name = to_trace_string_of(p, arg.value.str);
}

void ut_ace_to_trace(const struct ut_ace_analysis *a, const struct ut_ace_to_trace_opts *how,
		     struct ut_trace *trace, struct ut_sink *sink)
{
	struct report_state p = { .a = a, .how = how, .trace = trace, .sink = sink };
	const struct ut_ace_table *t = &a->table;

	p.files = ut_make((t->job_count + 1) * sizeof(*p.files));
	if (how->origin)
		p.jobname = ut_strtab_intern_z(&trace->strings, "jobname");
	for (size_t i = 0; i < t->seq_count; i++) {
		if (t->events[t->seq[i]].ph == 'M')
			name_process(&p, ut_ace_at(t, i));
	}
	for (size_t i = 0; i < t->seq_count; i++)
		to_trace_send(&p, ut_ace_at(t, i));
	ut_idmap_release(&p.processes);
	ut_idmap_release(&p.tracks);
	ut_idmap_release(&p.counters);
	ut_idmap_release(&p.values);
	ut_idmap_release(&p.strings);
	free(p.files);
}
