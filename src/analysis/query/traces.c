#include "query/traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "base/utf8.h"
#include "query/flow.h"
#include "text/arg_json.h"

void ut_traces_init(struct ut_traces *t)
{
	*t = (struct ut_traces){ 0 };
}

void ut_traces_release(struct ut_traces *t)
{
	for (size_t i = 0; i < t->track_count; i++) {
		free(t->tracks[i].ends);
		free(t->tracks[i].joined);
		ut_nest_release(&t->tracks[i].nest);
	}
	for (size_t i = 0; i < t->count; i++)
		ut_arglists_release(&t->traces[i].joined);
	free(t->traces);
	free(t->tracks);
	free(t->processes);
	free(t->by_process);
	free(t->meta);
	free(t->owners);
	ut_flows_free(t->flows);
	ut_stats_answer_free(t->stats);
	ut_arena_release(&t->arena);
	*t = (struct ut_traces){ 0 };
}

/* A process or thread id: a number, or the JSON that the trace has instead ("gpu 0", -1). */
static struct ut_datum id_cell(struct ut_traces *t, const struct ut_trace *trace, uint64_t number,
			       uint32_t text)
{
	struct ut_str json = ut_strtab_get(&trace->strings, text);
	char *end, *digits;
	long long value;

	if (!text && number > INT64_MAX) { /* SQLite has no such integer */
		digits = ut_str_fmt(&t->arena, "%" PRIu64, number);
		return ut_datum_text((struct ut_str){ digits, strlen(digits) });
	}
	if (!text)
		return ut_datum_int((int64_t)number);
	if (json.len && json.ptr[0] == '"')
		return ut_datum_text(ut_arg_json_unquote(&t->arena, json));
	value = strtoll(json.ptr, &end, 10);
	if (end != json.ptr && !*end)
		return ut_datum_int(value);
	return ut_datum_text(json);
}

/* What SQLite is given, and what conditions are compared with, is UTF-8. */
static struct ut_str readable(struct ut_traces *t, struct ut_str s)
{
	char *copy;

	if (ut_utf8_valid(s.ptr, s.len))
		return s;
	copy = UT_NEW_N(&t->arena, char, 3 * s.len);
	return (struct ut_str){ copy, ut_utf8_copy(copy, s.ptr, s.len) };
}

static void name_types(struct ut_traces *t, struct ut_qtrace *q)
{
	const struct ut_store *s = q->store;
	struct ut_str *names = UT_NEW_N(&t->arena, struct ut_str, s->types.count + 1);
	struct ut_str *cats = UT_NEW_N(&t->arena, struct ut_str, s->types.count + 1);

	for (uint32_t i = 0; i < s->types.count; i++) {
		const struct ut_type *type = ut_store_type(s, i);

		names[i] = readable(t, ut_strtab_get(&s->trace.strings, type->name));
		cats[i] = readable(t, ut_strtab_get(&s->trace.strings, type->cat));
	}
	q->names = names;
	q->cats = cats;
}

static void add_process(struct ut_traces *t, uint32_t trace, const struct ut_process *p)
{
	const struct ut_trace *from = &t->traces[trace].store->trace;

	t->processes =
		ut_grow(t->processes, t->process_count + 1, &t->process_cap, sizeof(*t->processes));
	t->processes[t->process_count++] = (struct ut_qprocess){
		.trace = trace, .process = p, .pid = id_cell(t, from, p->pid, p->pid_text)
	};
}

static void traces_add_track(struct ut_traces *t, uint32_t trace, uint32_t local)
{
	const struct ut_qtrace *q = &t->traces[trace];
	const struct ut_track *k = &q->store->trace.tracks[local];
	size_t processes = q->store->trace.process_count;

	t->tracks = ut_grow(t->tracks, t->track_count + 1, &t->track_cap, sizeof(*t->tracks));
	t->tracks[t->track_count++] =
		(struct ut_qtrack){ .trace = trace,
				    .local = local,
				    .process = q->first_process + (k->process < processes
									   ? k->process
									   : (uint32_t)processes),
				    .first_id = t->row_count,
				    .rows = &q->store->rows[local],
				    .track = k,
				    .tid = id_cell(t, &q->store->trace, k->id, k->id_text) };
	t->row_count += q->store->rows[local].count;
}

static void traces_add_meta(struct ut_traces *t, uint32_t trace, enum ut_meta_source source,
			    size_t at, size_t count)
{
	t->meta = ut_grow(t->meta, t->meta_count + 1, &t->meta_cap, sizeof(*t->meta));
	t->meta[t->meta_count++] = (struct ut_meta){ trace, source, at, count };
}

static void add_meta_list(struct ut_traces *t, uint32_t trace, enum ut_meta_source source,
			  uint32_t list)
{
	const struct ut_trace *from = &t->traces[trace].store->trace;
	size_t end = list, n;

	while (list && end < from->arg_count && from->args[end].type != UT_ARG_END)
		end++;
	for (size_t i = list; i < end; i += n) {
		n = ut_arg_json_span(from->args + i, end - i);
		traces_add_meta(t, trace, source, i, n);
	}
}

/* For tracks of a process that a damaged file does not have. */
static const struct ut_process nobody = { .rank = -1 };

static bool all_have_processes(const struct ut_trace *trace)
{
	for (size_t i = 0; i < trace->track_count; i++) {
		if (trace->tracks[i].process >= trace->process_count)
			return false;
	}
	return true;
}

void ut_traces_add(struct ut_traces *t, const char *path, struct ut_store *store)
{
	const struct ut_trace *trace = &store->trace;
	uint32_t number = (uint32_t)t->count;

	t->traces = ut_grow(t->traces, t->count + 1, &t->cap, sizeof(*t->traces));
	t->traces[t->count++] =
		(struct ut_qtrace){ .path = ut_arena_copy(&t->arena, path, strlen(path)),
				    .store = store,
				    .first_track = (uint32_t)t->track_count,
				    .first_process = (uint32_t)t->process_count,
				    .first_id = t->row_count };
	name_types(t, &t->traces[number]);
	for (size_t i = 0; i < trace->process_count; i++)
		add_process(t, number, &trace->processes[i]);
	if (!all_have_processes(trace))
		add_process(t, number, &nobody);
	for (uint32_t i = 0; i < trace->track_count; i++)
		traces_add_track(t, number, i);
	add_meta_list(t, number, UT_META_FILE, trace->file_args);
	add_meta_list(t, number, UT_META_RECORDING, trace->global_args);
	for (size_t i = 0; i < trace->note_count; i++)
		traces_add_meta(t, number, UT_META_NOTE, i, 1);
}

/* Counts, adds up, fills in: tracks by process. */
void ut_traces_ready(struct ut_traces *t)
{
	uint32_t sum = 0;

	free(t->by_process);
	t->by_process = ut_make((t->track_count + 1) * sizeof(*t->by_process));
	for (size_t i = 0; i < t->process_count; i++)
		t->processes[i].count = 0;
	for (size_t i = 0; i < t->track_count; i++)
		t->processes[t->tracks[i].process].count++;
	for (size_t i = 0; i < t->process_count; i++) {
		t->processes[i].first = sum;
		sum += t->processes[i].count;
		t->processes[i].count = 0;
	}
	for (uint32_t i = 0; i < t->track_count; i++) {
		struct ut_qprocess *p = &t->processes[t->tracks[i].process];

		t->by_process[p->first + p->count++] = i;
	}
}

void ut_traces_place(const struct ut_traces *t, uint32_t track, uint64_t row,
		     struct ut_place *place)
{
	struct ut_qtrack *k = &t->tracks[track];

	*place = (struct ut_place){ .track = k,
				    .trace = &t->traces[k->trace],
				    .block = &k->rows->blocks[row / UT_BLOCK_ROWS],
				    .i = (uint32_t)(row % UT_BLOCK_ROWS),
				    .row = row };
}

bool ut_traces_find(const struct ut_traces *t, uint64_t id, struct ut_place *place)
{
	size_t low = 0, high = t->track_count; /* the last track that begins at or before id */

	if (id >= t->row_count)
		return false;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t->tracks[middle].first_id <= id)
			low = middle;
		else
			high = middle;
	}
	ut_traces_place(t, (uint32_t)low, id - t->tracks[low].first_id, place);
	return true;
}

static uint64_t ts_at(const struct ut_rows *rows, uint64_t row)
{
	return rows->blocks[row / UT_BLOCK_ROWS].ts[row % UT_BLOCK_ROWS];
}

uint64_t ut_traces_lower(const struct ut_qtrack *track, uint64_t ts)
{
	uint64_t low = 0, high = track->rows->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (ts_at(track->rows, middle) < ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ut_async_end *ut_traces_ends(const struct ut_traces *t, struct ut_qtrack *track)
{
	if (!track->ends) {
		track->ends = ut_make((track->rows->count + 1) * sizeof(*track->ends));
		ut_nesting_of_track(t->traces[track->trace].store, track->local, track->ends);
	}
	return track->ends;
}

const struct ut_nest *ut_traces_nest(const struct ut_traces *t, struct ut_qtrack *track, bool self)
{
	if (!track->nest.parent || (self && !track->nest.self)) {
		ut_nest_release(&track->nest);
		ut_nest_make(&track->nest, t->traces[track->trace].store, track->rows, self);
	}
	return &track->nest;
}

uint64_t ut_place_end(const struct ut_traces *t, const struct ut_place *p)
{
	uint64_t ts = p->block->ts[p->i], end;
	const struct ut_type *type = ut_place_type(p);

	if (type->kind == UT_KIND_SPAN) {
		end = ts + p->block->val[p->i];
		return end < ts ? UINT64_MAX : end;
	}
	if (type->kind != UT_KIND_ASYNC_BEGIN)
		return ts;
	return ut_async_until(p->track->rows, ts, ut_traces_ends(t, p->track)[p->row].ts);
}
