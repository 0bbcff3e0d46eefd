/* ranks_timeline.c - see ranks_timeline.h. */
#include "ranks/ranks_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "model/event.h"
#include "model/sink.h"
#include "model/trace.h"

#define JOB_PID 1u /* ranks follow */

/* From this time on one more rank, or one less, is in a state. */
struct change {
	uint64_t at;
	int8_t waits, moves;
};

struct drawing {
	const struct ut_ranks *ranks;
	struct ut_trace *trace;
	struct ut_sink *sink;
	uint32_t *strings; /* of the trace, plus 1; by number of the ranks' */
	struct change *changes;
	size_t change_count, change_cap;
	uint32_t mpi, collective, task, wait; /* categories */
	uint32_t key_wait, key_transfer, key_for, key_why, key_bytes, key_received, key_comm;
};

/* ---- words --------------------------------------------------------------------------------- */

static uint32_t ranks_timeline_word(struct drawing *d, const char *text)
{
	return ut_strtab_intern_z(&d->trace->strings, text);
}

static uint32_t ranks_timeline_string(struct drawing *d, uint32_t number)
{
	if (!number)
		return 0;
	if (!d->strings[number]) {
		struct ut_str s = ut_strtab_get(&d->ranks->strings, number);

		d->strings[number] = ut_strtab_intern(&d->trace->strings, s.ptr, s.len) + 1;
	}
	return d->strings[number] - 1;
}

static void ranks_timeline_put_number(struct drawing *d, uint32_t key, uint64_t value)
{
	ut_trace_add_arg(d->trace, key, UT_ARG_U64)->value.u64 = value;
}

static void ranks_timeline_put_text(struct drawing *d, uint32_t key, uint32_t text)
{
	if (text)
		ut_trace_add_arg(d->trace, key, UT_ARG_STR)->value.str = text;
}

static void ranks_timeline_send(struct drawing *d, const struct ut_event *e)
{
	ut_sink_event(d->sink, d->trace, e);
}

/* ---- a rank -------------------------------------------------------------------------------- */

static uint32_t ranks_timeline_add_track(struct drawing *d, uint32_t process, const char *name,
					 int32_t place)
{
	uint32_t track = ut_trace_add_track(d->trace, process, UT_TRACK_THREAD);

	d->trace->tracks[track].name = ranks_timeline_word(d, name);
	d->trace->tracks[track].id = (uint64_t)place;
	d->trace->tracks[track].sort_index = place;
	return track;
}

/* What the program was in, innermost, from one change of it to the next. */
static void draw_tasks(struct drawing *d, const struct ut_rank *one, uint32_t track)
{
	for (size_t i = 0; i < one->shift_count; i++) {
		uint64_t begin = one->shifts[i].at;
		uint64_t end = i + 1 < one->shift_count ? one->shifts[i + 1].at : one->stop;

		if (one->shifts[i].task && end > begin)
			ranks_timeline_send(d, &(struct ut_event){ .ts = begin,
								   .val = end - begin,
								   .name = ranks_timeline_string(
									   d, one->shifts[i].task),
								   .cat = d->task,
								   .track = track,
								   .kind = UT_KIND_SPAN });
	}
}

static void note_change(struct drawing *d, uint64_t at, int waits, int moves)
{
	d->changes = ut_grow(d->changes, d->change_count + 1, &d->change_cap, sizeof(*d->changes));
	d->changes[d->change_count++] = (struct change){ at, (int8_t)waits, (int8_t)moves };
}

static void ranks_timeline_put_facts(struct drawing *d, const struct ut_rank *one,
				     const struct ut_rank_call *c)
{
	const struct ut_rank_shape *is = ut_rank_shape(one, c);
	const struct ut_rank_more *w = ut_rank_more(one, c);

	ranks_timeline_put_number(d, d->key_wait, w->wait);
	ranks_timeline_put_number(d, d->key_transfer,
				  ut_rank_communicates(is->use) ? ut_rank_time(c) - w->wait : 0);
	if (w->wait) {
		if (w->waited_for != UT_RANK_ABSENT)
			ut_trace_add_arg(d->trace, d->key_for, UT_ARG_I64)->value.i64 =
				d->ranks->items[w->waited_for].rank;
		ranks_timeline_put_text(d, d->key_why,
					ranks_timeline_word(d, ut_rank_why_words[w->why]));
	}
	if (is->sent)
		ranks_timeline_put_number(d, d->key_bytes, is->sent);
	if (is->received)
		ranks_timeline_put_number(d, d->key_received, is->received);
	if (is->use != UT_RANK_FINALIZE) /* it has no group but the job */
		ranks_timeline_put_text(d, d->key_comm, ranks_timeline_string(d, is->group));
	ut_trace_close_args(d->trace);
}

/* The part of a call in which it waits lies inside of it. */
static void draw_call(struct drawing *d, const struct ut_rank *one, const struct ut_rank_call *c,
		      uint32_t track)
{
	const struct ut_rank_more *w = ut_rank_more(one, c);
	uint32_t name = ut_rank_shape(one, c)->name;
	bool is_mpi = ut_str_has_start(ut_strtab_get(&d->ranks->strings, name), "MPI_");
	size_t mark = d->trace->arg_count;
	char text[64];

	ranks_timeline_put_facts(d, one, c);
	ranks_timeline_send(d, &(struct ut_event){ .ts = c->begin,
						   .val = ut_rank_time(c),
						   .name = ranks_timeline_string(d, name),
						   .cat = is_mpi ? d->mpi : d->collective,
						   .track = track,
						   .args = (uint32_t)mark,
						   .kind = UT_KIND_SPAN });
	ut_trace_drop_args(d->trace, mark);
	if (!w->wait)
		return;
	if (w->waited_for == UT_RANK_ABSENT)
		snprintf(text, sizeof(text), "waits for a rank that is not here");
	else
		snprintf(text, sizeof(text), "waits for rank %" PRId32,
			 d->ranks->items[w->waited_for].rank);
	ranks_timeline_send(d, &(struct ut_event){ .ts = c->begin,
						   .val = w->wait,
						   .name = ranks_timeline_word(d, text),
						   .cat = d->wait,
						   .track = track,
						   .kind = UT_KIND_SPAN });
}

static void draw_calls(struct drawing *d, const struct ut_rank *one, uint32_t track)
{
	uint64_t until = 0;

	for (size_t i = 0; i < one->call_count; i++) {
		const struct ut_rank_call *c = &one->calls[i];
		const struct ut_rank_shape *is = ut_rank_shape(one, c);
		uint64_t wait = ut_rank_more(one, c)->wait;

		/* Clocks that were moved may have pushed two into each other. */
		if (is->side || c->begin < until)
			continue;
		until = c->end;
		draw_call(d, one, c, track);
		if (!ut_rank_communicates(is->use))
			continue;
		note_change(d, c->begin, wait > 0, !wait);
		if (wait)
			note_change(d, c->begin + wait, -1, 1);
		note_change(d, c->end, 0, -1);
	}
}

static void draw_rank(struct drawing *d, uint32_t index)
{
	const struct ut_rank *one = &d->ranks->items[index];
	struct ut_str name = ut_strtab_get(&d->ranks->strings, one->program);
	struct ut_str host = ut_strtab_get(&d->ranks->strings, one->host);
	const struct ut_trace_program program = {
		.pid = JOB_PID + 1 + index, .rank = one->rank, .name = name, .host = host
	};
	uint32_t process = ut_trace_add_program(d->trace, &program);

	d->trace->processes[process].sort_index = (int32_t)index + 1;
	draw_tasks(d, one, ranks_timeline_add_track(d, process, "tasks", 1));
	draw_calls(d, one, ranks_timeline_add_track(d, process, "calls", 2));
}

/* ---- the job ------------------------------------------------------------------------------- */

static int ranks_timeline_by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static uint32_t ranks_timeline_add_counter(struct drawing *d, uint32_t process, const char *name)
{
	uint32_t track = ut_trace_add_track(d->trace, process, UT_TRACK_COUNTER);

	d->trace->tracks[track].name = ranks_timeline_word(d, name);
	return track;
}

static void ranks_timeline_count(struct drawing *d, uint32_t track, uint64_t at, uint64_t value)
{
	ranks_timeline_send(d, &(struct ut_event){ .ts = at,
						   .val = value,
						   .name = d->trace->tracks[track].name,
						   .track = track,
						   .kind = UT_KIND_COUNTER });
}

/* How many ranks do what: imbalance over time. */
static void draw_job(struct drawing *d)
{
	const struct ut_trace_program job = { .pid = JOB_PID,
					      .rank = -1,
					      .name = ut_str_of("job") };
	uint32_t process = ut_trace_add_program(d->trace, &job);
	uint32_t waiting = ranks_timeline_add_counter(d, process, "ranks that wait");
	uint32_t moving = ranks_timeline_add_counter(d, process, "ranks that move data");
	uint64_t waits = 0, moves = 0;

	ut_sort(d->changes, d->change_count, sizeof(*d->changes), ranks_timeline_by_time);
	ranks_timeline_count(d, waiting, d->ranks->start, 0);
	ranks_timeline_count(d, moving, d->ranks->start, 0);
	for (size_t i = 0; i < d->change_count;) {
		uint64_t at = d->changes[i].at, old_waits = waits, old_moves = moves;

		for (; i < d->change_count && d->changes[i].at == at; i++) {
			waits += (uint64_t)d->changes[i].waits;
			moves += (uint64_t)d->changes[i].moves;
		}
		if (waits != old_waits)
			ranks_timeline_count(d, waiting, at, waits);
		if (moves != old_moves)
			ranks_timeline_count(d, moving, at, moves);
	}
}

static void name_words(struct drawing *d)
{
	d->mpi = ranks_timeline_word(d, "MPI");
	d->collective = ranks_timeline_word(d, "collective");
	d->task = ranks_timeline_word(d, "task");
	d->wait = ranks_timeline_word(d, "wait");
	d->key_wait = ranks_timeline_word(d, "wait_ns");
	d->key_transfer = ranks_timeline_word(d, "transfer_ns");
	d->key_for = ranks_timeline_word(d, "waited_for");
	d->key_why = ranks_timeline_word(d, "why");
	d->key_bytes = ranks_timeline_word(d, "bytes");
	d->key_received = ranks_timeline_word(d, "received");
	d->key_comm = ranks_timeline_word(d, "comm");
}

void ut_ranks_timeline(const struct ut_ranks *r, struct ut_trace *trace, struct ut_sink *sink)
{
	struct drawing d = { .ranks = r, .trace = trace, .sink = sink };

	d.strings = ut_make(((size_t)r->strings.count + 1) * sizeof(*d.strings));
	trace->first = r->start;
	trace->last = r->stop;
	trace->realtime_offset = r->count ? r->items[0].realtime : 0;
	name_words(&d);
	for (uint32_t i = 0; i < r->count; i++)
		draw_rank(&d, i);
	draw_job(&d);
	free(d.changes);
	free(d.strings);
}
