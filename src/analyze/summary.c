#include "analyze/summary.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "base/str.h"
#include "model/event.h"
#include "model/idmap.h"
#include "model/trace.h"

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

/* One end of an async span that waits for the other: they may come in any order. */
struct half {
	uint64_t ts;
	uint32_t row;
	uint32_t next_free;
	uint8_t kind;
};

struct ut_summary_state {
	size_t row_cap;
	struct ut_idmap by_string; /* (cat, name) of the summary -> row + 1 */

	/* the trace of the day, in an arena of its own */
	struct ut_arena arena;
	struct ut_idmap by_id;    /* (cat, name) of the trace -> row + 1 */
	struct ut_idmap waiting;  /* async number -> index into halves */
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
	struct half *halves; /* [0] is not used */
	size_t half_count, half_cap;
	uint32_t free_half;
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

static void start_trace(struct ut_summary_state *st)
{
	ut_arena_release(&st->arena);
	ut_idmap_init(&st->by_id, &st->arena);
	ut_idmap_init(&st->waiting, &st->arena);
	ut_idmap_init(&st->going_of, &st->arena);
	ut_idmap_init(&st->libraries, &st->arena);
	st->file_key = 0;
	st->going = NULL;
	st->going_count = st->going_cap = 0;
	st->latest = NULL;
	st->latest_cap = 0;
	st->tracks = NULL;
	st->track_cap = 0;
	st->halves = NULL;
	st->half_count = st->half_cap = 0;
	st->free_half = 0;
}

static uint64_t pair(uint32_t cat, uint32_t name)
{
	return (uint64_t)cat << 32 | name;
}

static uint32_t own_string(struct ut_summary *s, const struct ut_trace *t, uint32_t id)
{
	struct ut_str str = ut_strtab_get(&t->strings, id);

	return ut_strtab_intern(&s->strings, str.ptr, str.len);
}

/* The first event of a name in this trace: find the row by its text, or make one. */
static uint32_t row_by_text(struct ut_summary *s, const struct ut_trace *t,
			    const struct ut_event *e)
{
	struct ut_summary_state *st = s->state;
	uint32_t cat = own_string(s, t, e->cat);
	uint32_t name = own_string(s, t, e->name);
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

static uint32_t row_of(struct ut_summary *s, const struct ut_trace *t, const struct ut_event *e)
{
	uint32_t row = ut_idmap_get(&s->state->by_id, pair(e->cat, e->name));

	return row ? row - 1 : row_by_text(s, t, e);
}

/* How short a span is that never ended, nobody knows. */
static void count_call(struct ut_summary_row *row, uint64_t length, bool finished)
{
	row->calls++;
	row->lengths += length;
	if (finished)
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

/* ".../lib/python3.11/json/decoder.py", ".../site-packages/torch/_ops.py", "<frozen os>" */
static bool is_library_file(const char *file)
{
	static const char *const parts[] = { "/lib/python3", "/lib64/python3", "/site-packages/",
					     "/dist-packages/" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (strstr(file, parts[i]))
			return true;
	}
	return ut_str_starts(file, "<frozen ");
}

/* Is it a function that Python brought along, or that was installed? It says its file first. */
static bool is_library(struct ut_summary_state *st, const struct ut_trace *t,
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
		known = 1 + is_library_file(ut_strtab_get(&t->strings, arg->value.str).ptr);
		ut_idmap_put(&st->libraries, arg->value.str, known);
	}
	return known == 2;
}

static struct stack *stack_of(struct ut_summary_state *st, uint32_t track)
{
	st->tracks = grown(&st->arena, st->tracks, (size_t)track + 1, &st->track_cap,
			   sizeof(*st->tracks));
	return &st->tracks[track];
}

static void add_span(struct ut_summary *s, const struct ut_trace *t, const struct ut_event *e)
{
	struct ut_summary_state *st = s->state;
	struct stack *k = stack_of(st, e->track);
	uint32_t row = row_of(s, t, e);
	uint64_t end = e->val < UINT64_MAX - e->ts ? e->ts + e->val : UINT64_MAX;

	if (k->whose == NOT_KNOWN)
		k->whose = ut_label_is_device(t, t->tracks[e->track].process) ? DEVICE : HOST;
	count_call(&s->rows[row], end - e->ts, !(e->flags & UT_EV_UNFINISHED));
	add_total(s, e->track, row, e->ts, end);
	s->rows[row].hosts |= k->whose == HOST;
	s->rows[row].own = s->rows[row].own || !is_library(st, t, e);
	if (e->flags & UT_EV_ASIDE)
		return;
	s->rows[row].work = true;
	start_span(s, k, (struct frame){ end, row }, e->ts);
}

static uint32_t new_half(struct ut_summary_state *st)
{
	uint32_t i = st->free_half;

	if (i) {
		st->free_half = st->halves[i].next_free;
		return i;
	}
	st->halves = grown(&st->arena, st->halves, st->half_count + 2, &st->half_cap,
			   sizeof(*st->halves));
	return (uint32_t)++st->half_count;
}

static void add_async(struct ut_summary *s, const struct ut_trace *t, const struct ut_event *e)
{
	struct ut_summary_state *st = s->state;
	uint32_t i = ut_idmap_get(&st->waiting, e->val);
	struct half *h;
	uint64_t begin, end, length;

	if (!i || st->halves[i].kind == e->kind) { /* the number is new, or used once more */
		if (!i)
			i = new_half(st);
		st->halves[i] = (struct half){ e->ts, row_of(s, t, e), 0, e->kind };
		ut_idmap_put(&st->waiting, e->val, i);
		return;
	}
	h = &st->halves[i];
	begin = e->kind == UT_KIND_ASYNC_BEGIN ? e->ts : h->ts;
	end = e->kind == UT_KIND_ASYNC_BEGIN ? h->ts : e->ts;
	length = end > begin ? end - begin : 0;
	count_call(&s->rows[h->row], length, !(e->flags & UT_EV_UNFINISHED));
	s->rows[h->row].total += length;
	s->rows[h->row].hosts = s->rows[h->row].own = true;
	h->next_free = st->free_half;
	st->free_half = i;
	ut_idmap_take(&st->waiting, e->val);
}

static void summary_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	struct ut_summary *s = (struct ut_summary *)sink;

	if (e->kind == UT_KIND_SPAN && e->flags & UT_EV_NOT_WORK)
		return;
	switch ((enum ut_kind)e->kind) {
	case UT_KIND_SPAN:
		add_span(s, t, e);
		break;
	case UT_KIND_ASYNC_BEGIN:
	case UT_KIND_ASYNC_END:
		add_async(s, t, e);
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
	case UT_KIND_COUNT:
		break;
	}
}

void ut_summary_init(struct ut_summary *s)
{
	*s = (struct ut_summary){ .sink = { summary_event } };
	ut_strtab_init(&s->strings, &s->arena);
	s->state = UT_NEW(&s->arena, struct ut_summary_state);
	ut_idmap_init(&s->state->by_string, &s->arena);
	start_trace(s->state);
}

void ut_summary_release(struct ut_summary *s)
{
	if (s->state)
		ut_arena_release(&s->state->arena);
	ut_arena_release(&s->arena);
	*s = (struct ut_summary){ 0 };
}

void ut_summary_end_trace(struct ut_summary *s)
{
	start_trace(s->state);
}

static int compare_strings(const struct ut_strtab *t, uint32_t a, uint32_t b)
{
	struct ut_str x = ut_strtab_get(t, a), y = ut_strtab_get(t, b);
	int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);

	return order ? order : (x.len > y.len) - (x.len < y.len);
}

static int compare_rows(const void *a, const void *b, void *strings)
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
		if (s->rows[i].min > s->rows[i].max)
			s->rows[i].min = s->rows[i].max; /* none of them ended */
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
		qsort_r(s->rows, s->count, sizeof(*s->rows), compare_rows, &s->strings);
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
