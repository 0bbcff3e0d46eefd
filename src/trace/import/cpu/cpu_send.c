/* cpu_send.c - what the CPUs did, as events: samples and counters on the tracks of threads. */
#include "import/cpu/cpu_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/cpu/cpu_threads.h"
#include "import/cpu/cpu_waits.h"
#include "model/event.h"
#include "model/trace.h"

/* ---- tracks -------------------------------------------------------------------------------- */

/* The threads that the recording has tracks for. */
static void find_tracks(struct ut_cpu *c)
{
	for (size_t i = 0; i < c->trace->track_count; i++) {
		const struct ut_track *t = &c->trace->tracks[i];
		uint32_t at;

		if (t->process != c->process || t->type != UT_TRACK_THREAD || t->id > UINT32_MAX)
			continue;
		at = ut_idmap_get(&c->life_of_tid, t->id);
		if (at)
			c->lives[at - 1].track = (uint32_t)i + 1;
	}
}

static uint32_t cpu_send_track_of(struct ut_cpu *c, struct ut_cpu_life *life)
{
	struct ut_track *t;

	if (!life->track) {
		life->track = 1 + ut_trace_add_track(c->trace, c->process, UT_TRACK_THREAD);
		t = &c->trace->tracks[life->track - 1];
		t->id = life->tid;
		t->sort_index = life->tid == c->header.pid ? 0 : (int32_t)(life - c->lives) + 1;
	}
	t = &c->trace->tracks[life->track - 1];
	if (!t->name)
		t->name = life->name;
	return life->track - 1;
}

uint32_t ut_cpu_counter(struct ut_cpu_sender *s, const char *name, const char *unit)
{
	struct ut_trace *t = s->trace;
	uint32_t track = ut_trace_add_track(t, s->c->process, UT_TRACK_COUNTER);

	t->tracks[track].id = track;
	t->tracks[track].name = ut_strtab_intern_z(&t->strings, name);
	t->tracks[track].unit = unit[0] ? ut_strtab_intern_z(&t->strings, unit) : 0;
	return track;
}

void ut_cpu_value(struct ut_cpu_sender *s, uint32_t track, uint64_t time, double value)
{
	struct ut_event e = { .ts = time,
			      .name = s->trace->tracks[track].name,
			      .track = track,
			      .kind = UT_KIND_COUNTER,
			      .flags = UT_EV_DOUBLE };

	memcpy(&e.val, &value, sizeof(value));
	ut_sink_event(s->to, s->trace, &e);
}

/* ---- samples ------------------------------------------------------------------------------- */

static void cpu_send_send_sample(struct ut_cpu_sender *s, const struct ut_cpu_timestamp *m,
				 uint32_t track)
{
	size_t mark = s->trace->arg_count;
	struct ut_event e = { .ts = m->time,
			      .val = ut_sample_val(m->stack, m->weight),
			      .name = s->name,
			      .track = track,
			      .kind = UT_KIND_SAMPLE };

	if (m->task) {
		ut_trace_add_arg(s->trace, s->task_key, UT_ARG_STR)->value.str = m->task;
		ut_trace_close_args(s->trace);
		e.args = (uint32_t)mark;
	}
	ut_sink_event(s->to, s->trace, &e);
	ut_trace_drop_args(s->trace, mark);
}

/* How much of what it ran its samples do not stand for. */
static uint64_t rest_of_times(const struct ut_cpu *c, const struct ut_cpu_life *life)
{
	uint64_t sampled = 0;

	for (uint32_t i = life->first_sample; i < life->last_sample; i++)
		sampled += c->samples[i].weight;
	return life->ran > sampled ? life->ran - sampled : 0;
}

/* Of the last sample that counts. */
static uint64_t time_of_last(const struct ut_cpu *c, const struct ut_cpu_life *life)
{
	for (uint32_t i = life->last_sample; i > life->first_sample; i--) {
		if (!ut_cpu_is_paused(c, c->samples[i - 1].time))
			return c->samples[i - 1].time;
	}
	return 0;
}

/* When a thread was last there; 0 = not known. */
static uint64_t cpu_send_end_of(const struct ut_cpu *c, const struct ut_cpu_life *life)
{
	return life->gone ? life->gone : c->header.end;
}

/* How long a thread ran behind its last sample. */
static uint64_t rest_of(const struct ut_cpu *c, const struct ut_cpu_life *life)
{
	uint64_t last = time_of_last(c, life), since = life->born, ran = 0;
	bool runs = true; /* until the first turn says otherwise */

	for (uint32_t i = life->first_turn; i < life->last_turn; i++) {
		const struct ut_cpu_turn *t = &c->turns[i];
		uint64_t from = since > last ? since : last;

		if (runs && (t->how & 0xff) != UT_CPU_RUNS && t->time > from && since)
			ran += ut_cpu_on_time(c, from, t->time);
		runs = (t->how & 0xff) == UT_CPU_RUNS;
		since = t->time;
	}
	since = since > last ? since : last;
	/* nobody tells of the turn at which a thread ends; one without any has run all the time */
	if ((life->first_turn < life->last_turn || life->first_sample < life->last_sample) &&
	    runs && since && cpu_send_end_of(c, life) > since && c->header.flags & UT_CPU_SWITCHES)
		ran += ut_cpu_on_time(c, since, cpu_send_end_of(c, life));
	return ran;
}

/* CPU time without a sample, as a sample that says so. */
static void send_none(struct ut_cpu_sender *s, uint32_t track, uint64_t time, uint64_t ns)
{
	struct ut_trace *t = s->trace;
	const struct ut_place_in_code nowhere = { .function = ut_strtab_intern_z(&t->strings,
										 UT_SAMPLE_NONE) };
	uint32_t place = ut_stacks_place(&t->stacks, &t->arena, &nowhere);
	uint32_t stack = ut_stacks_site(&t->stacks, &t->arena, 0, place);
	size_t mark = t->arg_count;
	struct ut_event e = { .ts = time,
			      .val = ut_sample_val(stack, ns),
			      .name = s->name,
			      .track = track,
			      .kind = UT_KIND_SAMPLE };

	if (ns >= UT_SAMPLE_WEIGHT_ARG) {
		ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, UT_SAMPLE_WEIGHT), UT_ARG_U64)
			->value.u64 = ns;
		ut_trace_close_args(t);
		e.args = (uint32_t)mark;
	}
	ut_sink_event(s->to, t, &e);
	ut_trace_drop_args(t, mark);
}

/*
 * Samples are a period apart, and the first comes after one: what a thread did after its last one,
 * or all that a short one did, has none. It counts, and the thread is seen, by a sample that says
 * so.
 */
static void send_rest(struct ut_cpu_sender *s, const struct ut_cpu_life *life, uint32_t track)
{
	bool timed = (s->c->header.flags & UT_CPU_TIMED) != 0;
	uint64_t rest;

	if (timed ? s->c->pause_count != 0 : !cpu_send_end_of(s->c, life))
		return;
	rest = timed ? rest_of_times(s->c, life) : rest_of(s->c, life);
	if (rest)
		send_none(s, track, life->gone ? life->gone : s->c->last, rest);
}

/* What is told of together has a row of its own. */
static void send_rests(struct ut_cpu_sender *s)
{
	struct ut_trace *t = s->trace;
	char text[96];

	for (uint32_t i = 0; i < UT_CPU_RESTS; i++) {
		uint64_t ran = s->c->rest[i].ran, programs = s->c->rest[i].count;
		uint32_t track, first = (uint32_t)t->arg_count;

		if (!ran)
			continue;
		if (i == UT_CPU_REST_PROGRAMS && !programs)
			snprintf(text, sizeof(text), "[before other programs were executed]");
		else if (i == UT_CPU_REST_PROGRAMS)
			snprintf(text, sizeof(text), "[%" PRIu64 " %s without samples]", programs,
				 programs == 1 ? "program" : "programs");
		else
			snprintf(text, sizeof(text), "[programs and threads not seen]");
		ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, "cpu_ns"), UT_ARG_U64)
			->value.u64 = ran;
		ut_trace_close_args(t);
		track = ut_trace_add_track(t, s->c->process, UT_TRACK_THREAD);
		t->tracks[track].name = ut_strtab_intern_z(&t->strings, text);
		t->tracks[track].args = first;
		t->tracks[track].sort_index = INT32_MAX;
		send_none(s, track, s->c->rest[i].time, ran);
	}
}

/* How long a thread ran between two times, by its turns from *at on. */
static uint64_t ran_between(const struct ut_cpu *c, const struct ut_cpu_life *life, uint64_t from,
			    uint64_t to, uint32_t *at)
{
	uint64_t ran = 0, first = c->turns[life->first_turn].time;

	/* whoever is first seen to stop had been running */
	if (from < first && (c->turns[life->first_turn].how & 0xff) != UT_CPU_RUNS)
		ran += ut_cpu_on_time(c, from, first < to ? first : to);
	/* the last turn before from is where the thread stood */
	while (*at + 1 < life->last_turn && c->turns[*at + 1].time <= from)
		++*at;
	for (uint32_t i = *at; i < life->last_turn && c->turns[i].time < to; i++) {
		uint64_t begin = c->turns[i].time > from ? c->turns[i].time : from;
		uint64_t end = i + 1 < life->last_turn && c->turns[i + 1].time < to
				       ? c->turns[i + 1].time
				       : to;

		if ((c->turns[i].how & 0xff) == UT_CPU_RUNS && begin < end)
			ran += ut_cpu_on_time(c, begin, end);
	}
	return ran;
}

/*
 * Each sample stands for what its thread ran since the last one, where turns tell: cycles say
 * nothing of time, and threads of which one follows the other on a CPU swap what is left of their
 * periods (the kernel swaps the inherited counters), so that a period is right for all of them
 * together only. The kernel's clock goes on where a process executes another program: there the
 * first sample stands for what came before, too, which is accounted for as the time of the other
 * program.
 */
static void weigh(struct ut_cpu *c, const struct ut_cpu_life *life)
{
	bool reported = (c->header.flags & UT_CPU_SWITCHES) != 0;
	bool turns = reported && life->first_turn < life->last_turn;
	bool exact = turns && !c->lost; /* among lost records may be turns */
	uint64_t before = life->born ? life->born : c->first;
	uint32_t at = life->first_turn;

	for (uint32_t i = life->first_sample; i < life->last_sample; i++) {
		struct ut_cpu_timestamp *m = &c->samples[i];
		uint64_t ns = c->header.period;

		bool first = reported && life->born && i == life->first_sample;

		if (exact || (turns && (first || !m->weight)))
			ns = ran_between(c, life, before, m->time, &at);
		else if (first)
			ns = ut_cpu_on_time(c, before, m->time);
		/* the clocks of samples and turns differ by little */
		if (exact || !m->weight || (first && ns + ns / 16 < m->weight))
			m->weight = (uint32_t)(ns < UINT32_MAX ? ns : UINT32_MAX);
		if (exact && !m->weight)
			m->weight = 1; /* 0 would be a sample without a weight */
		before = m->time;
	}
}

static void send_samples(struct ut_cpu_sender *s, struct ut_cpu_life *life)
{
	uint32_t track = cpu_send_track_of(s->c, life);

	weigh(s->c, life);

	for (uint32_t i = life->first_sample; i < life->last_sample; i++) {
		if (!ut_cpu_is_paused(s->c, s->c->samples[i].time))
			cpu_send_send_sample(s, &s->c->samples[i], track);
	}
	send_rest(s, life, track);
}

/* ---- counters ------------------------------------------------------------------------------ */

static void send_counters(struct ut_cpu_sender *s)
{
	static const struct {
		const char *name, *unit;
	} kinds[] = {
#define UT_CPU_COUNTER_ROW(counter, name, unit) { name, unit },
		UT_CPU_COUNTER_LIST(UT_CPU_COUNTER_ROW)
#undef UT_CPU_COUNTER_ROW
	};

	for (uint32_t which = 0; which < UT_CPU_COUNTERS; which++) {
		uint32_t track = UINT32_MAX;

		for (size_t i = 0; i < s->c->counter_count; i++) {
			const struct ut_cpu_counter_rec *r = &s->c->counters[i];

			if (r->which != which)
				continue;
			if (track == UINT32_MAX)
				track = ut_cpu_counter(s, kinds[which].name, kinds[which].unit);
			ut_cpu_value(s, track, r->time, (double)r->value);
		}
	}
}

static void note_lost(const struct ut_cpu *c)
{
	char text[160];

	if (!c->lost)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " samples were lost: nobody had time to read them; a lower rate loses "
		 "fewer (--sampling=HZ)",
		 c->lost);
	ut_trace_add_note(c->trace, ut_strtab_intern_z(&c->trace->strings, text));
}

/* ---- all ----------------------------------------------------------------------------------- */

void ut_cpu_send(struct ut_cpu *c, uint32_t process, struct ut_sink *to)
{
	struct ut_cpu_sender s = { .c = c, .trace = c->trace, .to = to };

	c->process = process;
	c->header.event[sizeof(c->header.event) - 1] = '\0';
	s.name = ut_strtab_intern_z(&c->trace->strings, c->header.event);
	s.task_key = ut_strtab_intern_z(&c->trace->strings, "task");
	ut_cpu_join_end(c);
	ut_cpu_finalize_pauses(c);
	find_tracks(c);
	for (size_t i = 0; i < c->life_count; i++)
		send_samples(&s, &c->lives[i]);
	send_rests(&s);
	ut_cpu_send_threads(&s);
	ut_cpu_send_waits(&s);
	ut_cpu_send_pauses(&s);
	send_counters(&s);
	note_lost(c);
	if (c->ended)
		ut_process_add_end(c->trace, process, c->ended, 0);
	if (c->last > c->trace->last)
		c->trace->last = c->last;
	if (!c->trace->first || c->first < c->trace->first)
		c->trace->first = c->first;
}

static uint32_t add_program(struct ut_trace *trace, const struct ut_cpu_header *h)
{
	return ut_trace_add_program(trace, &(struct ut_trace_program){
						   .pid = h->pid,
						   .rank = h->rank,
						   .name = UT_STR_FIELD(h->name),
						   .host = UT_STR_FIELD(h->host),
						   .cmdline = UT_STR_FIELD(h->cmdline),
					   });
}

int ut_import_cpu(const char *path, struct ut_trace *trace, struct ut_sink *sink,
		  struct ut_err *err)
{
	struct ut_cpu c;
	int rc = ut_cpu_open(&c, path, trace, NULL, err);

	if (!rc) {
		trace->realtime_offset = c.header.realtime;
		trace->boottime_offset = c.header.boottime;
		ut_cpu_send(&c, add_program(trace, &c.header), sink);
	}
	ut_cpu_close(&c);
	return rc;
}
