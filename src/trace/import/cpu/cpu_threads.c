#include "import/cpu/cpu_threads.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "base/str.h"
#include "import/cpu/cpu_read.h"
#include "import/thread_roles.h"
#include "model/trace.h"

#define LEAST_BIN    UINT64_C(10000000)
#define LEAST_RATE   UINT64_C(1000000)
#define MOST_BINS    4096u
#define MOST_AT_ONCE 1024u
#define MOST_SMALL   16u
#define LEAST_LOOKS  3u

/* A thread began or stopped to run. */
struct edge {
	uint64_t time;
	int32_t by;
};

struct work {
	struct ut_cpu_sender *s;
	struct ut_cpu *c;
	uint64_t bin;  /* ns: of counters over time */
	uint64_t span; /* ns, of all bins; the last one may be shorter */
	size_t bins;
	uint64_t *on;             /* ns of a bin that recording was on */
	double *usage, *total;    /* of one thread; of all */
	double *switches, *moves; /* of all: how often threads were switched, and moved */
	struct edge *edges;
	size_t edge_count, edge_cap;
};

/* What a thread did, ns. */
struct sums {
	uint64_t ran, waited, ready;
	uint64_t switches, preemptions, migrations;
};

/* ---- when they ran ------------------------------------------------------------------------- */

static void add_edge(struct work *w, uint64_t time, int32_t by)
{
	w->edges = ut_grow_raw(w->edges, w->edge_count + 1, &w->edge_cap, sizeof(*w->edges));
	w->edges[w->edge_count++] = (struct edge){ time, by };
}

/* The thread ran from one time to the other, and recording was on. */
static void cpu_threads_add_part(struct work *w, uint64_t from, uint64_t to)
{
	add_edge(w, from, 1);
	add_edge(w, to, -1);
	from = from > w->c->first ? from - w->c->first : 0;
	to = to > w->c->first ? to - w->c->first : 0;
	while (from < to && from / w->bin < w->bins) {
		size_t bin = (size_t)(from / w->bin);
		uint64_t room = w->bin - from % w->bin;
		uint64_t end = to - from > room ? from + room : to; /* times may be anything */

		w->usage[bin] += (double)(end - from);
		w->total[bin] += (double)(end - from);
		from = end;
	}
}

/* The thread ran from one time to the other. How long of it recording was on. */
static uint64_t cpu_threads_add_run(struct work *w, uint64_t from, uint64_t to)
{
	uint64_t sum = 0, end;

	for (; ut_cpu_next_on(w->c, &from, to, &end); from = end) {
		cpu_threads_add_part(w, from, end);
		sum += end - from;
	}
	return sum;
}

/* Where a thread is between two turns. */
struct state {
	uint64_t since;
	uint32_t how;
	uint32_t cpu;
	bool known, ran_before;
};

static void add_one(const struct work *w, double *bins, uint64_t time)
{
	uint64_t bin = time > w->c->first ? (time - w->c->first) / w->bin : 0;

	if (bin < w->bins)
		bins[bin]++;
}

static void take_turn(struct work *w, struct state *st, const struct ut_cpu_turn *t,
		      struct sums *sums)
{
	uint32_t how = t->how & 0xff, cpu = t->how >> 8;
	bool on = !ut_cpu_is_paused(w->c, t->time);

	if (st->known && st->how == UT_CPU_RUNS)
		sums->ran += cpu_threads_add_run(w, st->since, t->time);
	else if (st->known && st->how == UT_CPU_WAITS)
		sums->waited += ut_cpu_on_time(w->c, st->since, t->time);
	else if (st->known)
		sums->ready += ut_cpu_on_time(w->c, st->since, t->time);
	if (on && how != UT_CPU_RUNS)
		add_one(w, w->switches, t->time);
	if (on && how == UT_CPU_RUNS && st->ran_before && st->cpu != cpu)
		add_one(w, w->moves, t->time);
	sums->switches += on && how == UT_CPU_WAITS;
	sums->preemptions += on && how == UT_CPU_PREEMPTED;
	if (how == UT_CPU_RUNS) {
		sums->migrations += on && st->ran_before && st->cpu != cpu;
		st->cpu = cpu;
		st->ran_before = true;
	}
	st->since = t->time;
	st->how = how;
	st->known = true;
}

static struct sums take_turns(struct work *w, const struct ut_cpu_life *life)
{
	/* one that ran when we began to look has no beginning */
	struct state st = { .since = life->born, .how = UT_CPU_RUNS };
	uint64_t end = life->gone ? life->gone : w->c->last;
	struct sums sums = { 0 };

	for (uint32_t i = life->first_turn; i < life->last_turn; i++) {
		const struct ut_cpu_turn *t = &w->c->turns[i];

		if (i == life->first_turn)
			st.known = life->born && (t->how & 0xff) != UT_CPU_RUNS;
		take_turn(w, &st, t, &sums);
	}
	/* one that was never switched, and has samples, ran all the time */
	if (life->first_turn == life->last_turn && life->first_sample < life->last_sample)
		st.known = life->born != 0;
	if (st.known && end > st.since && st.how != UT_CPU_WAITS)
		take_turn(w, &st, &(struct ut_cpu_turn){ end, life->tid, UT_CPU_WAITS }, &sums);
	else if (st.known && end > st.since)
		sums.waited += ut_cpu_on_time(w->c, st.since, end);
	return sums;
}

/* Where nobody told when threads run, samples say it roughly. */
static struct sums take_samples(struct work *w, const struct ut_cpu_life *life)
{
	struct sums sums = { 0 };

	for (uint32_t i = life->first_sample; i < life->last_sample; i++) {
		const struct ut_cpu_timestamp *m = &w->c->samples[i];

		cpu_threads_add_run(w, m->time > m->weight ? m->time - m->weight : 0, m->time);
		sums.ran += ut_cpu_is_paused(w->c, m->time) ? 0 : m->weight;
	}
	return sums;
}

/* /proc tells how long they ran and stood in line; the rest of their life they waited. */
static void take_times(const struct ut_cpu *c, const struct ut_cpu_life *life, struct sums *sums)
{
	uint64_t end = life->gone ? life->gone : c->last;
	uint64_t there = end > life->born ? end - life->born : 0;

	/* a process that is killed ran for a while after somebody last looked */
	sums->ran = life->ran > sums->ran ? life->ran : sums->ran;
	sums->ready = life->ready;
	sums->waited = there > sums->ran + life->ready ? there - sums->ran - life->ready : 0;
}

/* ---- what they are for --------------------------------------------------------------------- */

static const char *role_of_place(const struct ut_trace *t, uint32_t place)
{
	struct ut_place_in_code p = ut_stacks_get_place(&t->stacks, place);
	struct ut_str function = ut_strtab_get(&t->strings, p.function);
	struct ut_str module = ut_strtab_get(&t->strings, p.module);

	return ut_thread_role(module.ptr, function);
}

/* From the outside inwards: the C library starts a thread, then comes who wanted it. */
static const char *role_of_stack(const struct ut_trace *t, uint32_t stack)
{
	uint32_t outer[8] = { 0 };
	const char *role = NULL;
	size_t depth = 0;

	for (; stack; stack = ut_stacks_get(&t->stacks, stack).caller)
		outer[depth++ % 8] = ut_stacks_get(&t->stacks, stack).place;
	for (size_t i = 1; !role && i <= 4 && i <= depth; i++)
		role = role_of_place(t, outer[(depth - i) % 8]);
	return role;
}

/* Programs that name their threads know better; most leave them the name of the process. */
static void name_thread(struct work *w, const struct ut_cpu_life *life, uint32_t main_name)
{
	struct ut_trace *t = w->c->trace;
	struct ut_track *track = &t->tracks[life->track - 1];
	struct ut_str name = ut_strtab_get(&t->strings, track->name);
	const char *role = NULL;
	char text[320];

	if (life->tid == w->c->header.pid || (track->name && track->name != main_name))
		return;
	for (uint32_t i = life->first_sample;
	     !role && i < life->last_sample && i < 32u + life->first_sample; i++)
		role = role_of_stack(t, w->c->samples[i].stack);
	for (uint32_t i = life->first_wait;
	     !role && i < life->last_wait && i < 32u + life->first_wait; i++)
		role = role_of_stack(t, w->c->waits[i].stack);
	if (!role)
		return;
	snprintf(text, sizeof(text), "%.*s: %s", name.len < 256 ? (int)name.len : 256, name.ptr,
		 role);
	t->tracks[life->track - 1].name = ut_strtab_intern_z(&t->strings, text);
}

/* ---- what is sent -------------------------------------------------------------------------- */

/* Where nothing is measured, a counter has no value. */
static void send_hole(struct work *w, uint32_t track, uint64_t time, double *before)
{
	if (!isnan(*before))
		ut_cpu_value(w->s, track, time, NAN);
	*before = NAN;
}

/*
 * A counter keeps its value until the next one: only changes are sent. value() tells that of a bin
 * in which recording was on for so many ns. Of the pauses in a bin there is one hole as long as all
 * of them, in front if the bin began paused.
 */
static void send_bins(struct work *w, uint32_t track, const double *bins,
		      double value(double sum, uint64_t on))
{
	double before = NAN;

	for (size_t i = 0; i < w->bins; i++) {
		uint64_t begin = w->c->first + i * w->bin;
		uint64_t length = w->span - i * w->bin < w->bin ? w->span - i * w->bin : w->bin;
		uint64_t off = length - w->on[i];
		bool late = off && ut_cpu_is_paused(w->c, begin);
		double now = w->on[i] ? value(bins[i], w->on[i]) : NAN;

		if (late || !w->on[i])
			send_hole(w, track, begin, &before);
		if (now < before || now > before || (isnan(before) && !isnan(now)))
			ut_cpu_value(w->s, track, late ? begin + off : begin, now);
		before = now;
		if (off && !late)
			send_hole(w, track, begin + w->on[i], &before);
	}
	if (before > 0) /* it runs no more, which is known */
		ut_cpu_value(w->s, track, w->c->first + w->span, 0);
}

/* ns that it ran, as percent in steps that people can see. */
static double percent(double ran, uint64_t on)
{
	return (double)(int64_t)(ran * 1000 / (double)on + 0.5) / 10;
}

/* How often in a second; a moment does not tell. */
static double rate(double count, uint64_t on)
{
	return count * 1e9 / (double)(on > LEAST_RATE ? on : LEAST_RATE);
}

/* Facts about a track come behind those that it has. */
static void begin_facts(struct ut_trace *t, uint32_t track)
{
	uint32_t old = t->tracks[track].args, first = (uint32_t)t->arg_count;

	for (; old && t->args[old].type != UT_ARG_END; old++) {
		struct ut_arg copy = t->args[old];

		*ut_trace_add_arg(t, copy.key, (enum ut_arg_type)copy.type) = copy;
	}
	t->tracks[track].args = first;
}

static void cpu_threads_add_fact(struct ut_trace *t, const char *key, uint64_t value)
{
	ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, key), UT_ARG_U64)->value.u64 = value;
}

/* What the first thread was seen to wait for, if that was mostly one thing. */
static void add_wait(struct work *w)
{
	struct ut_trace *t = w->c->trace;
	size_t most = 0;

	for (size_t i = 1; i < UT_WAITS; i++)
		most = w->c->waits_at[i] > w->c->waits_at[most] ? i : most;
	if (w->c->looks < LEAST_LOOKS || most == UT_WAIT_OTHER ||
	    2 * w->c->waits_at[most] <= w->c->looks)
		return;
	ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, "waits_for"), UT_ARG_STR)->value.str =
		ut_strtab_intern_z(&t->strings, ut_wait_names[most]);
}

static void send_thread(struct work *w, const struct ut_cpu_life *life, uint32_t main_name)
{
	bool reported = (w->c->header.flags & UT_CPU_SWITCHES) != 0;
	bool timed = (w->c->header.flags & UT_CPU_TIMED) && !w->c->pause_count;
	struct ut_trace *t = w->c->trace;
	struct sums sums;
	char text[400];

	name_thread(w, life, main_name);
	memset(w->usage, 0, w->bins * sizeof(*w->usage));
	sums = reported ? take_turns(w, life) : take_samples(w, life);
	if (timed)
		take_times(w->c, life, &sums);
	begin_facts(t, life->track - 1);
	cpu_threads_add_fact(t, "cpu_ns", sums.ran);
	if (reported || timed) {
		cpu_threads_add_fact(t, "waiting_ns", sums.waited);
		cpu_threads_add_fact(t, "ready_ns", sums.ready);
	}
	if (reported) {
		cpu_threads_add_fact(t, "switches", sums.switches);
		cpu_threads_add_fact(t, "preemptions", sums.preemptions);
		cpu_threads_add_fact(t, "migrations", sums.migrations);
	}
	if (life->tid == w->c->header.pid)
		add_wait(w);
	ut_trace_close_args(t);
	if (sums.ran < LEAST_BIN && w->c->life_count > MOST_SMALL)
		return; /* a program may start thousands that do next to nothing */
	snprintf(text, sizeof(text), "CPU usage: %.320s (%" PRIu32 ")",
		 ut_strtab_get(&t->strings, t->tracks[life->track - 1].name).ptr, life->tid);
	send_bins(w, ut_cpu_counter(w->s, text, "%"), w->usage, percent);
}

static int cpu_threads_by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by); /* who stops, stops first */
}

/* How long so many threads ran at once: the histogram that effective parallelism comes from. */
static void add_histogram(struct work *w)
{
	uint64_t at_once[MOST_AT_ONCE + 1] = { 0 }, ran = 0, since = w->c->first;
	struct ut_trace *t = w->c->trace;
	uint32_t key = ut_strtab_intern_z(&t->strings, "running_ns");
	uint64_t on = ut_cpu_on_time(w->c, w->c->first, w->c->last);
	size_t now = 0, most = 0;

	ut_sort(w->edges, w->edge_count, sizeof(*w->edges), cpu_threads_by_time);
	for (size_t i = 0; i < w->edge_count; i++) {
		size_t bin = now < MOST_AT_ONCE ? now : MOST_AT_ONCE;
		uint64_t ns = ut_cpu_on_time(w->c, since, w->edges[i].time);

		at_once[bin] += ns;
		ran += ns * bin;
		most = bin > most ? bin : most;
		since = w->edges[i].time > since ? w->edges[i].time : since;
		now += (size_t)(int64_t)w->edges[i].by;
	}
	at_once[0] += ut_cpu_on_time(w->c, since, w->c->last);
	cpu_threads_add_fact(t, "cpu_ns", ran);
	cpu_threads_add_fact(t, "elapsed_ns", on);
	if (on < w->c->last - w->c->first)
		cpu_threads_add_fact(t, "paused_ns", w->c->last - w->c->first - on);
	for (size_t i = 0; i <= most; i++) {
		struct ut_arg *a = ut_trace_add_arg(t, key, UT_ARG_U64);

		a->value.u64 = at_once[i];
		a->flags = UT_ARG_ARRAY | (i < most ? UT_ARG_MORE : 0);
	}
}

static void cpu_threads_send_all(struct work *w)
{
	uint32_t track = ut_cpu_counter(w->s, "CPU usage: all threads", "%");

	begin_facts(w->c->trace, track);
	add_histogram(w);
	ut_trace_close_args(w->c->trace);
	send_bins(w, track, w->total, percent);
}

static void choose_bins(struct work *w)
{
	w->span = w->c->last > w->c->first ? w->c->last - w->c->first : 0;
	for (w->bin = LEAST_BIN; w->span / w->bin >= MOST_BINS; w->bin *= 2)
		;
	w->bins = (size_t)(w->span / w->bin) + 1;
	w->on = ut_make(w->bins * sizeof(*w->on));
	for (size_t i = 0; i < w->bins; i++) {
		uint64_t end = (i + 1) * w->bin < w->span ? (i + 1) * w->bin : w->span;

		w->on[i] = ut_cpu_on_time(w->c, w->c->first + i * w->bin, w->c->first + end);
	}
	w->usage = ut_make(w->bins * sizeof(*w->usage));
	w->total = ut_make(w->bins * sizeof(*w->total));
	w->switches = ut_make(w->bins * sizeof(*w->switches));
	w->moves = ut_make(w->bins * sizeof(*w->moves));
}

void ut_cpu_send_threads(struct ut_cpu_sender *s)
{
	struct work w = { .s = s, .c = s->c };
	uint32_t main_name = 0;

	choose_bins(&w);
	for (size_t i = 0; i < s->c->life_count; i++) {
		if (s->c->lives[i].tid == s->c->header.pid)
			main_name = s->c->lives[i].name;
	}
	for (size_t i = 0; i < s->c->life_count; i++)
		send_thread(&w, &s->c->lives[i], main_name);
	cpu_threads_send_all(&w);
	if (s->c->header.flags & UT_CPU_SWITCHES) {
		send_bins(&w, ut_cpu_counter(s, "context switches", "/s"), w.switches, rate);
		send_bins(&w, ut_cpu_counter(s, "CPU migrations", "/s"), w.moves, rate);
	}
	free(w.on);
	free(w.usage);
	free(w.total);
	free(w.switches);
	free(w.moves);
	free(w.edges);
}
