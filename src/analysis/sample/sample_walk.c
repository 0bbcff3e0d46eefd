#include "sample/sample_walk.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "base/grow.h"
#include "model/store.h"

#define ARGS 16u /* of a sample: those that we look at */

/* A span that is open at the sample under way. */
struct open_span {
	uint64_t end;
	uint32_t name;
};

struct walking {
	struct ut_sample_walk *w;
	const struct ut_store *store;
	const struct ut_trace *trace;
	struct ut_filter_view view;
	struct open_span *open; /* of the track under way */
	size_t depth, cap;
	uint32_t *tasks; /* names of the spans that are open at the sample under way */
	size_t task_cap;
};

static bool is_thread(const struct ut_trace *t, uint32_t track)
{
	return t->tracks[track].type == UT_TRACK_THREAD &&
	       ut_track_role(&t->tracks[track]) != UT_ROLE_WAITS &&
	       !ut_is_device(t, t->tracks[track].process);
}

/* ---- what is sampled ------------------------------------------------------------------------- */

/* How many rows each type has on the tracks of threads. */
static void count_types(const struct ut_store *s, uint64_t *rows)
{
	for (uint32_t t = 0; t < s->trace.track_count; t++) {
		for (size_t b = 0; is_thread(&s->trace, t) && b < ut_rows_blocks(&s->rows[t]);
		     b++) {
			const struct ut_block *block = &s->rows[t].blocks[b];

			for (uint32_t i = 0; i < block->count; i++) {
				if (block->type[i] < s->types.count)
					rows[block->type[i]]++;
			}
		}
	}
}

uint32_t ut_sample_event(const struct ut_store *s, const char *wanted)
{
	uint64_t *rows = ut_make((s->types.count + 1) * sizeof(*rows)), most = 0;
	uint32_t chosen = 0;

	count_types(s, rows);
	for (uint32_t i = 0; i < s->types.count; i++) {
		const struct ut_type *type = ut_store_type(s, i);
		struct ut_str name = ut_strtab_get(&s->trace.strings, type->name);
		uint64_t count = rows[i];

		if (type->kind != UT_KIND_SAMPLE || !count || (wanted && !ut_str_is(name, wanted)))
			continue;
		if (ut_sample_is_cpu_time(name))
			count |= UINT64_C(1) << 62;
		if (count > most) {
			most = count;
			chosen = type->name;
		}
	}
	free(rows);
	return chosen;
}

void ut_sample_events(const struct ut_store *s, void (*each)(void *ctx, uint32_t event), void *ctx)
{
	uint64_t *rows = ut_make((s->types.count + 1) * sizeof(*rows));

	count_types(s, rows);
	for (uint32_t i = 0; i < s->types.count; i++) {
		const struct ut_type *type = ut_store_type(s, i);
		bool reported = type->kind != UT_KIND_SAMPLE || !rows[i];

		/* types differ by category as well */
		for (uint32_t j = 0; j < i && !reported; j++)
			reported = rows[j] && ut_store_type(s, j)->kind == UT_KIND_SAMPLE &&
				   ut_store_type(s, j)->name == type->name;
		if (!reported)
			each(ctx, type->name);
	}
	free(rows);
}

/* ---- samples --------------------------------------------------------------------------------- */

static const struct ut_arg *arg_called(const struct walking *w, const struct ut_arg *list,
				       size_t count, const char *key)
{
	for (size_t i = 0; i < count && i < ARGS; i++) {
		if (ut_str_is(ut_strtab_get(&w->trace->strings, list[i].key), key))
			return &list[i];
	}
	return NULL;
}

static uint64_t weight_of(const struct walking *w, const struct ut_event *e,
			  const struct ut_arg *list, size_t count)
{
	uint64_t weight = ut_sample_weight(e->val);
	const struct ut_arg *arg = NULL;

	if (weight == UT_SAMPLE_WEIGHT_ARG)
		arg = arg_called(w, list, count, UT_SAMPLE_WEIGHT);
	return arg && arg->type == UT_ARG_U64 ? arg->value.u64 : weight;
}

/* Spans may overlap: what has ended below one that goes on is not open. */
static void find_tasks(struct walking *w, struct ut_sample_seen *seen, uint32_t said)
{
	size_t count = 0;

	while (w->depth && w->open[w->depth - 1].end <= seen->ts)
		w->depth--;
	w->tasks = ut_grow_raw(w->tasks, w->depth + 1, &w->task_cap, sizeof(*w->tasks));
	for (size_t i = 0; i < w->depth; i++) {
		if (w->open[i].end > seen->ts)
			w->tasks[count++] = w->open[i].name;
	}
	if (said && (!count || w->tasks[count - 1] != said))
		w->tasks[count++] = said;
	seen->tasks = w->tasks;
	seen->task_count = count;
	seen->task = count ? w->tasks[count - 1] : 0;
}

/* The task that a sample says it fell into is the innermost one. */
static void sample_walk_send_sample(struct walking *w, const struct ut_event *e)
{
	struct ut_sample_seen seen = { .track = e->track,
				       .ts = e->ts,
				       .stack = ut_sample_stack(e->val) };
	struct ut_arg list[ARGS];
	size_t count = e->args ? ut_arglists_get(&w->store->args, e->args, list, ARGS) : 0;
	const struct ut_arg *task = arg_called(w, list, count, "task");

	find_tasks(w, &seen, task && task->type == UT_ARG_STR ? task->value.str : 0);
	seen.weight = weight_of(w, e, list, count);
	if (seen.stack > w->trace->stacks.site_count)
		seen.stack = 0;
	w->w->each(w->w->ctx, &seen);
}

static void open_span(struct walking *w, const struct ut_event *e)
{
	while (w->depth && w->open[w->depth - 1].end <= e->ts)
		w->depth--;
	w->open = ut_grow_raw(w->open, w->depth + 1, &w->cap, sizeof(*w->open));
	w->open[w->depth++] = (struct open_span){ ut_event_end(e), e->name };
}

static void walk_track(struct walking *w, uint32_t track)
{
	const struct ut_rows *rows = &w->store->rows[track];

	w->depth = 0;
	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			struct ut_event e = ut_block_event(w->store, track, block, i);

			if (e.kind == UT_KIND_SPAN && !(e.flags & (UT_EV_NOT_WORK | UT_EV_ASIDE)))
				open_span(w, &e);
			else if (e.kind == UT_KIND_SAMPLE && e.name != w->w->event)
				w->w->other++;
			else if (e.kind == UT_KIND_SAMPLE &&
				 ut_filter_wants_timestamp(&w->view, e.ts))
				sample_walk_send_sample(w, &e);
		}
	}
}

void ut_sample_walk(struct ut_sample_walk *w)
{
	struct walking walking = { .w = w, .store = w->store, .trace = &w->store->trace };
	const uint8_t *tracks;

	ut_filter_view_init(&walking.view, w->filter, w->store);
	tracks = walking.view.tracks;
	for (uint32_t i = 0; i < walking.trace->track_count; i++) {
		if (is_thread(walking.trace, i) && (!tracks || tracks[i] & UT_FILTER_TRACK))
			walk_track(&walking, i);
	}
	ut_filter_view_release(&walking.view);
	free(walking.open);
	free(walking.tasks);
}

void ut_sample_walk_waits(const struct ut_store *store,
			  void (*each)(void *ctx, uint32_t kind, uint64_t ns), void *ctx)
{
	const struct walking w = { .store = store, .trace = &store->trace };

	for (uint32_t track = 0; track < store->trace.track_count; track++) {
		const struct ut_rows *rows = &store->rows[track];

		if (ut_track_role(&store->trace.tracks[track]) != UT_ROLE_WAITS)
			continue;
		for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
			const struct ut_block *block = &rows->blocks[b];

			for (uint32_t i = 0; i < block->count; i++) {
				struct ut_event e = ut_block_event(store, track, block, i);
				struct ut_arg list[ARGS];
				size_t count =
					e.args ? ut_arglists_get(&store->args, e.args, list, ARGS)
					       : 0;

				if (e.kind == UT_KIND_SAMPLE)
					each(ctx, e.name, weight_of(&w, &e, list, count));
			}
		}
	}
}
