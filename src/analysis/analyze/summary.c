#include "analyze/summary.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "base/idmap.h"
#include "base/str.h"
#include "model/event.h"
#include "model/nesting.h"
#include "model/trace.h"
#include "model/user_code.h"

/* A span that is going on; ends grow smaller towards the top of the stack. */
struct frame {
	uint64_t end;
	uint32_t row;
};

struct stack {
	struct frame *frames;
	size_t depth, cap;
	enum {
		NOT_KNOWN,
		HOST,
		DEVICE
	} whose;
};

/* Until when a row goes on, on one track: what begins before that is in its total already. */
struct going {
	uint64_t until;
	uint32_t track;
};

struct ut_summary_state {
	size_t row_cap;
	struct ut_idmap by_string; /* (cat, name) of the summary -> row + 1 */

	/* the trace that is being read, in an arena of its own */
	struct ut_arena arena;
	struct ut_idmap by_id;    /* (cat, name) of the trace -> row + 1 */
	struct ut_idmap going_of; /* (track, row) -> index into going */
	struct going *going;      /* [0] is not used */
	size_t going_count, going_cap;
	struct ut_idmap
		libraries; /* string of a file -> 1 = it is the program's, 2 = a library's */
	uint32_t file_key; /* string id of "file"; 0 = not seen yet */
	uint32_t *latest;  /* row -> index of the one it was met with last; 0 = none */
	size_t latest_cap;
	struct stack *tracks;
	size_t track_cap;
	struct ut_nesting pairs; /* of async spans; what is their row */
};

/* Room for n items; the old array stays in the arena. */
static void *grown(struct ut_arena *a, void *items, size_t n, size_t *cap, size_t size)
{
	size_t old = *cap;
	void *bigger;

	if (n <= old)
		return items;
	*cap = n > old * 2 ? n : old * 2;
	bigger = ut_arena_alloc(a, *cap, size);
	if (old)
		memcpy(bigger, items, old * size);
	return bigger;
}

static void analyze_summary_start_trace(struct ut_summary_state *st)
{
	ut_arena_release(&st->arena);
	ut_idmap_init(&st->by_id, &st->arena);
	ut_idmap_init(&st->going_of, &st->arena);
	ut_idmap_init(&st->libraries, &st->arena);
	st->file_key = 0;
	st->going = NULL;
	st->going_count = st->going_cap = 0;
	st->latest = NULL;
	st->latest_cap = 0;
	st->tracks = NULL;
	st->track_cap = 0;
	ut_nesting_release(&st->pairs);
}

static uint64_t pair(uint32_t cat, uint32_t name)
{
	return (uint64_t)cat << 32 | name;
}

static uint32_t analyze_summary_own_string(struct ut_summary *s, const struct ut_trace *t,
					   uint32_t id)
{
	struct ut_str str = ut_strtab_get(&t->strings, id);

	return ut_strtab_intern(&s->strings, str.ptr, str.len);
}

/* The first event of a name in this trace: find the row by its text, or make one. */
static uint32_t row_by_text(struct ut_summary *s, const struct ut_trace *t,
			    const struct ut_event *e)
{
	struct ut_summary_state *st = s->state;
	uint32_t cat = analyze_summary_own_string(s, t, e->cat);
	uint32_t name = analyze_summary_own_string(s, t, e->name);
	uint32_t row = ut_idmap_get(&st->by_string, pair(cat, name));

	if (!row) {
		s->rows = grown(&s->arena, s->rows, s->count + 1, &st->row_cap, sizeof(*s->rows));
		s->rows[s->count] =
			(struct ut_summary_row){ .cat = cat, .name = name, .min = UINT64_MAX };
		row = (uint32_t)++s->count;
		ut_idmap_put(&st->by_string, pair(cat, name), row);
	}
	ut_idmap_put(&st->by_id, pair(e->cat, e->name), row);
	return row - 1;
}

static uint32_t analyze_summary_row_of(struct ut_summary *s, const struct ut_trace *t,
				       const struct ut_event *e)
{
	uint32_t row = ut_idmap_get(&s->state->by_id, pair(e->cat, e->name));

	return row ? row - 1 : row_by_text(s, t, e);
}

/* One that never ended counts as far as it came: an average must not be below the shortest. */
static void count_call(struct ut_summary_row *row, uint64_t length, bool unfinished)
{
	row->calls++;
	row->unfinished += unfinished;
	row->lengths += length;
	row->min = length < row->min ? length : row->min;
	row->max = length > row->max ? length : row->max;
}

/* Tracks are mostly told one after the other, so the last one is tried first. */
static struct going *going_on(struct ut_summary_state *st, uint32_t track, uint32_t row)
{
	uint32_t at;

	st->latest = grown(&st->arena, st->latest, (size_t)row + 1, &st->latest_cap,
			   sizeof(*st->latest));
	at = st->latest[row];
	if (at && st->going[at].track == track)
		return &st->going[at];
	at = ut_idmap_get(&st->going_of, pair(track, row));
	if (!at) {
		st->going = grown(&st->arena, st->going, st->going_count + 2, &st->going_cap,
				  sizeof(*st->going));
		at = (uint32_t)++st->going_count;
		st->going[at] = (struct going){ .track = track };
		ut_idmap_put(&st->going_of, pair(track, row), at);
	}
	st->latest[row] = at;
	return &st->going[at];
}

/* The time from ts to end is the row's, unless it is already. */
static void add_total(struct ut_summary *s, uint32_t track, uint32_t row, uint64_t ts, uint64_t end)
{
	struct going *g = going_on(s->state, track, row);
	uint64_t from = ts > g->until ? ts : g->until;

	if (end <= from)
		return;
	s->rows[row].total += end - from;
	g->until = end;
}

/*
 * A span starts: takes its time from those that are going on, as in stats_walk.c. The self time of
 * a row may be below 0 in between, which unsigned numbers do not mind.
 */
static void start_span(struct ut_summary *s, struct stack *k, struct frame new, uint64_t ts)
{
	struct ut_summary_row *rows = s->rows;
	uint64_t from = ts;

	while (k->depth && k->frames[k->depth - 1].end <= ts)
		k->depth--;
	while (k->depth && k->frames[k->depth - 1].end <= new.end) {
		const struct frame *f = &k->frames[--k->depth];

		rows[f->row].self -= f->end - from;
		from = f->end;
	}
	if (k->depth)
		rows[k->frames[k->depth - 1].row].self -= new.end - from;
	rows[new.row].self += new.end - ts;
	k->frames = grown(&s->state->arena, k->frames, k->depth + 1, &k->cap, sizeof(*k->frames));
	k->frames[k->depth++] = new;
}

/* Is it a function that Python brought along, or that was installed? It says its file first. */
static bool analyze_summary_is_library(struct ut_summary_state *st, const struct ut_trace *t,
				       const struct ut_event *e)
{
	const struct ut_arg *arg;
	uint32_t known;

	if (!e->args || e->args >= t->arg_count || t->args[e->args].type != UT_ARG_STR)
		return false;
	arg = &t->args[e->args];
	if (arg->key != st->file_key) {
		if (st->file_key || strcmp(ut_strtab_get(&t->strings, arg->key).ptr, "file") != 0)
			return false;
		st->file_key = arg->key;
	}
	known = ut_idmap_get(&st->libraries, arg->value.str);
	if (!known) {
		known = 1 + ut_is_library_file(ut_strtab_get(&t->strings, arg->value.str));
		ut_idmap_put(&st->libraries, arg->value.str, known);
	}
	return known == 2;
}

static struct stack *analyze_summary_stack_of(struct ut_summary_state *st, uint32_t track)
{
	st->tracks = grown(&st->arena, st->tracks, (size_t)track + 1, &st->track_cap,
			   sizeof(*st->tracks));
	return &st->tracks[track];
}

static void analyze_summary_add_span(struct ut_summary *s, const struct ut_trace *t,
				     const struct ut_event *e)
{
	struct ut_summary_state *st = s->state;
	struct stack *k = analyze_summary_stack_of(st, e->track);
	uint32_t row = analyze_summary_row_of(s, t, e);
	uint64_t end = e->val < UINT64_MAX - e->ts ? e->ts + e->val : UINT64_MAX;

	if (k->whose == NOT_KNOWN)
		k->whose = ut_is_device(t, t->tracks[e->track].process) ? DEVICE : HOST;
	count_call(&s->rows[row], end - e->ts, e->flags & UT_EV_UNFINISHED);
	add_total(s, e->track, row, e->ts, end);
	s->rows[row].hosts |= k->whose == HOST;
	s->rows[row].own = s->rows[row].own || !analyze_summary_is_library(st, t, e);
	if (e->flags & UT_EV_ASIDE)
		return;
	s->rows[row].work = true;
	start_span(s, k, (struct frame){ end, row }, e->ts);
}

static void begin_async(struct ut_summary *s, const struct ut_trace *t, const struct ut_event *e)
{
	uint32_t row = analyze_summary_row_of(s, t, e);

	ut_nesting_begin(&s->state->pairs, e->val,
			 (struct ut_begun){ .ts = e->ts, .what = row, .name = e->name });
}

static void analyze_summary_end_async(struct ut_summary *s, const struct ut_event *e)
{
	struct ut_nesting *pairs = &s->state->pairs;

	for (uint32_t left = ut_nesting_end(pairs, e->val, e->name); left; left--) {
		struct ut_begun b = ut_nesting_take(pairs, e->val);
		uint64_t length = e->ts > b.ts ? e->ts - b.ts : 0;

		count_call(&s->rows[b.what], length, e->flags & UT_EV_UNFINISHED);
		s->rows[b.what].total += ut_nesting_has(pairs, e->val, b.what) ? 0 : length;
		s->rows[b.what].hosts = s->rows[b.what].own = true;
	}
}

static void summary_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	struct ut_summary *s = (struct ut_summary *)sink;

	if (e->kind == UT_KIND_SPAN && e->flags & UT_EV_NOT_WORK)
		return;
	switch ((enum ut_kind)e->kind) {
	case UT_KIND_SPAN:
		analyze_summary_add_span(s, t, e);
		break;
	case UT_KIND_ASYNC_BEGIN:
		begin_async(s, t, e);
		break;
	case UT_KIND_ASYNC_END:
		analyze_summary_end_async(s, e);
		break;
	case UT_KIND_INSTANT:
	case UT_KIND_COUNTER:
	case UT_KIND_FLOW_OUT:
	case UT_KIND_FLOW_IN:
	case UT_KIND_FLOW_STEP:
	case UT_KIND_ASYNC_INSTANT:
	case UT_KIND_OBJECT_NEW:
	case UT_KIND_OBJECT_STATE:
	case UT_KIND_OBJECT_GONE:
	case UT_KIND_SAMPLE:
	case UT_KIND_COUNT:
		break;
	}
}

void ut_summary_init(struct ut_summary *s)
{
	*s = (struct ut_summary){ .sink.event = summary_event };
	ut_strtab_init(&s->strings, &s->arena);
	s->state = UT_NEW(&s->arena, struct ut_summary_state);
	ut_idmap_init(&s->state->by_string, &s->arena);
	analyze_summary_start_trace(s->state);
}

void ut_summary_release(struct ut_summary *s)
{
	if (s->state) {
		ut_nesting_release(&s->state->pairs);
		ut_arena_release(&s->state->arena);
	}
	ut_arena_release(&s->arena);
	*s = (struct ut_summary){ 0 };
}

void ut_summary_end_trace(struct ut_summary *s)
{
	analyze_summary_start_trace(s->state);
}

static int compare_strings(const struct ut_strtab *t, uint32_t a, uint32_t b)
{
	return ut_str_cmp(ut_strtab_get(t, a), ut_strtab_get(t, b));
}

static int analyze_summary_compare_rows(const void *a, const void *b, void *strings)
{
	const struct ut_summary_row *x = a, *y = b;
	int order = (x->own < y->own) - (x->own > y->own);

	if (!order)
		order = (x->total < y->total) - (x->total > y->total);
	if (!order)
		order = (x->calls < y->calls) - (x->calls > y->calls);
	if (!order)
		order = compare_strings(strings, x->name, y->name);
	return order ? order : compare_strings(strings, x->cat, y->cat);
}

/* A row whose only async spans never ended has no calls: there is nothing to show. */
static void drop_empty_rows(struct ut_summary *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (!s->rows[i].calls)
			continue;
		s->rows[kept++] = s->rows[i];
	}
	s->count = kept;
}

void ut_summary_finish(struct ut_summary *s)
{
	ut_summary_end_trace(s);
	drop_empty_rows(s);
	for (size_t i = 0; i < s->count; i++)
		s->self_total += s->rows[i].self;
	if (s->count)
		qsort_r(s->rows, s->count, sizeof(*s->rows), analyze_summary_compare_rows,
			&s->strings);
}

void ut_summary_hide_devices(struct ut_summary *s)
{
	struct ut_summary_row *devices = UT_NEW_N(&s->arena, struct ut_summary_row, s->count + 1);
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->rows[i].hosts)
			s->rows[kept++] = s->rows[i];
		else
			devices[s->hidden++] = s->rows[i];
	}
	s->count = kept;
	for (size_t i = 0; i < s->hidden; i++)
		s->rows[kept + i] = devices[i];
}
