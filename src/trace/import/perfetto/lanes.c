/*
 * lanes.c - at the end: the rows that belong to no thread get their places.
 *
 * Tracks of the same process and the same full name are one lane of the model. On each track of
 * the file an end closes the latest begin, in order of time. If the spans of a lane nest, it is a
 * plain lane; if they overlap, each becomes an async begin and end on a lane for such. So what a
 * lane becomes depends on its spans alone, not on how a tool has spread them over tracks, and
 * what we export and read again stays what it is.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "import/perfetto/shared.h"

#define OPEN UINT64_MAX /* the end of a span that has none yet */
#define GONE UINT32_MAX /* the type of a row that has become part of another */

#define UNUSED_NUMBER (UINT64_C(1) << 62) /* no file counts that far, and hashes are higher */

struct lane {
	uint32_t process, name; /* index, string id */
	uint32_t thread;        /* what overlaps on a thread: the model's track + 1 */
	uint32_t model;         /* index of the model's track, once it is made */
	uint32_t first, last;   /* tracks of the file, linked by next: index + 1 */
	bool overlaps;          /* spans stay spans, even if they do not nest */
	uint64_t own;           /* which lane of ours it was; 0 = it is known by its name */
	bool async;             /* one of ours for async spans, even if they nest */
	uint32_t args;          /* what is said about it */
	int32_t rank;
	uint64_t ts; /* of the first event */
};

/*
 * Rows are joined where they are: a begin becomes a span whose val is its end, and its end is gone.
 * The val of an instant is the row of the span around it on its track, + 1; 0 = none.
 */
struct sorter {
	struct ut_pf *p;
	uint32_t *order;  /* rows by track, then by time */
	size_t *starts;   /* by track: where in order its rows start */
	uint32_t *joined; /* by track: its lane + 1 */
	struct lane *lanes;
	size_t lane_count, lane_cap;
	struct ut_idmap by_name; /* hash of process and name -> lane + 1 */

	/* of one lane */
	uint32_t *rows; /* in the store's order */
	size_t row_count, row_cap;
	uint32_t *open; /* spans on the track at hand */
	size_t depth, open_cap;
	uint64_t *ends; /* of open spans, while their nesting is checked */
	size_t end_cap;
	uint64_t last_ts;

	bool async;                  /* the lane says which of its spans are async, by a number */
	uint32_t last_number;        /* of async spans */
	uint32_t *as[UT_KIND_COUNT]; /* by kind and type: the type as that kind, + 1 */
	size_t as_cap[UT_KIND_COUNT];
};

static struct ut_pf_row *row_at(const struct sorter *s, size_t i)
{
	return ut_pf_row_at(s->p, s->order[i]);
}

static uint8_t perfetto_lanes_kind_of(const struct sorter *s, uint32_t type)
{
	return ut_types_get(&s->p->build.store.types, type)->kind;
}

/* The same type as another kind. */
static uint32_t as_kind(struct sorter *s, uint32_t type, enum ut_kind kind)
{
	struct ut_types *types = &s->p->build.store.types;
	struct ut_type t;

	s->as[kind] = ut_grow(s->as[kind], (size_t)type + 1, &s->as_cap[kind], sizeof(uint32_t));
	if (!s->as[kind][type]) {
		t = *ut_types_get(types, type);
		t.kind = (uint8_t)kind;
		s->as[kind][type] = ut_types_intern(types, &t) + 1;
	}
	return s->as[kind][type] - 1;
}

/* ---- rows by track and time ---------------------------------------------------------------- */

static int perfetto_lanes_by_time(const void *a, const void *b, void *ctx)
{
	const struct ut_pf *p = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t xs = ut_pf_row_at(p, x)->ts, ys = ut_pf_row_at(p, y)->ts;

	if (xs != ys)
		return xs < ys ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort_track(struct sorter *s, size_t first, size_t end)
{
	for (size_t i = first + 1; i < end; i++) {
		if (row_at(s, i)->ts < row_at(s, i - 1)->ts) {
			qsort_r(s->order + first, end - first, sizeof(*s->order),
				perfetto_lanes_by_time, s->p);
			return;
		}
	}
}

/* Counts, then deals: the order of arrival stays within each track. */
static void sort_rows(struct sorter *s)
{
	struct ut_pf *p = s->p;
	size_t tracks = p->tracks.count;

	s->order = ut_make((p->row_count + 1) * sizeof(*s->order));
	s->starts = ut_make((tracks + 2) * sizeof(*s->starts));
	s->joined = ut_make((tracks + 1) * sizeof(*s->joined));
	for (size_t i = 0; i < p->row_count; i++)
		s->starts[ut_pf_row_at(p, i)->track + 2]++;
	for (size_t i = 2; i < tracks + 2; i++)
		s->starts[i] += s->starts[i - 1];
	for (size_t i = 0; i < p->row_count; i++)
		s->order[s->starts[ut_pf_row_at(p, i)->track + 1]++] = (uint32_t)i;
	for (size_t i = 0; i < tracks; i++)
		sort_track(s, s->starts[i], s->starts[i + 1]);
}

/* ---- which lane ---------------------------------------------------------------------------- */

/* A track without a name is called as the first thing on it. */
static uint32_t first_name(const struct sorter *s, uint32_t track)
{
	for (size_t i = s->starts[track]; i < s->starts[track + 1]; i++) {
		uint32_t name = ut_types_get(&s->p->build.store.types, row_at(s, i)->type)->name;

		if (name)
			return name;
	}
	return 0;
}

static uint32_t own_name(const struct sorter *s, uint32_t track)
{
	const struct ut_pf_track *t = ut_pf_at(s->p, track);
	struct ut_strtab *strings = &ut_pf_trace(s->p)->strings;

	if (t->kind == UT_PF_PROCESS)
		return ut_strtab_intern_z(strings, "process");
	if (t->kind == UT_PF_UNKNOWN && !t->uuid)
		return ut_strtab_intern_z(strings, "global");
	return t->name ? t->name : first_name(s, track);
}

/*
 * Our exporter puts what overlaps on a thread or lane onto "NAME (overlap)" below it. The track
 * that such a one belongs to, + 1; 0 if it is none.
 */
static uint32_t overlap_of(const struct sorter *s, uint32_t track)
{
	const struct ut_pf_track *t = ut_pf_at(s->p, track);
	struct ut_str name = ut_strtab_get(&ut_pf_trace(s->p)->strings, t->name);
	uint32_t parent = t->parent ? ut_idmap_get(&s->p->tracks.by_uuid, t->parent) : 0;

	if (!parent || (ut_pf_at(s->p, parent - 1)->kind != UT_PF_THREAD &&
			ut_pf_at(s->p, parent - 1)->kind != UT_PF_LANE))
		return 0;
	return ut_str_has_end(name, UT_PF_OVERLAP) ? parent : 0;
}

/* What the lane of a track is called, and whose it is. */
static struct lane perfetto_lanes_describe(const struct sorter *s, uint32_t track)
{
	uint32_t enclosing = overlap_of(s, track), name;
	struct lane lane = { .overlaps = enclosing != 0, .ts = UINT64_MAX };

	name = first_name(s, track);
	if (enclosing)
		track = enclosing - 1;
	if (ut_pf_at(s->p, track)->kind == UT_PF_THREAD) {
		lane.thread = ut_pf_at(s->p, track)->model;
		return lane;
	}
	lane.process = ut_pf_process_of(s->p, track);
	lane.own = ut_pf_at(s->p, track)->lane;
	lane.async = ut_pf_at(s->p, track)->async;
	lane.overlaps |= lane.own && !lane.async;
	lane.args = ut_pf_at(s->p, track)->args;
	if (own_name(s, track) || lane.own)
		name = lane.own ? ut_pf_at(s->p, track)->name : own_name(s, track);
	lane.name = ut_pf_full_name(s->p, track, name);
	lane.rank = ut_pf_at(s->p, track)->rank;
	return lane;
}

/* The lane of a track whose first event is at ts. */
static void join_lane(struct sorter *s, uint32_t track, uint64_t ts)
{
	struct lane lane = perfetto_lanes_describe(s, track), *to;
	const uint64_t key[] = { lane.thread, lane.process, lane.own ? lane.own : lane.name,
				 lane.own != 0 };
	uint64_t hash = ut_hash_bytes(key, sizeof(key));
	uint32_t at = ut_idmap_get(&s->by_name, hash);

	if (!at) {
		s->lanes = ut_grow(s->lanes, s->lane_count + 1, &s->lane_cap, sizeof(*s->lanes));
		s->lanes[s->lane_count] = lane;
		at = (uint32_t)++s->lane_count;
		ut_idmap_put(&s->by_name, hash, at);
	}
	assert(s->lanes);
	to = &s->lanes[at - 1];
	to->overlaps |= lane.overlaps;
	to->ts = ts < to->ts ? ts : to->ts;
	if (to->last)
		ut_pf_at(s->p, to->last - 1)->next = track + 1;
	else
		to->first = track + 1;
	to->last = track + 1;
	s->joined[track] = at;
}

/* In the order in which they come to life: that depends on nothing but what they hold. */
static int perfetto_lanes_by_start(const void *a, const void *b, void *ctx)
{
	const struct ut_trace *t = ctx;
	const struct lane *x = a, *y = b;
	int order;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (t->processes[x->process].pid != t->processes[y->process].pid)
		return t->processes[x->process].pid < t->processes[y->process].pid ? -1 : 1;
	order = ut_str_cmp(ut_strtab_get(&t->strings, x->name),
			   ut_strtab_get(&t->strings, y->name));
	if (order)
		return order;
	return x->own < y->own ? -1 : x->own > y->own;
}

/* The model's tracks. */
static void make_tracks(struct sorter *s)
{
	struct ut_trace *t = ut_pf_trace(s->p);

	if (s->lane_count)
		qsort_r(s->lanes, s->lane_count, sizeof(*s->lanes), perfetto_lanes_by_start, t);
	for (size_t i = 0; i < s->lane_count; i++) {
		struct lane *lane = &s->lanes[i];

		lane->model = lane->thread ? lane->thread - 1
					   : ut_trace_add_track(t, lane->process, UT_TRACK_LANE);
		if (!lane->thread) {
			t->tracks[lane->model].name = lane->name;
			t->tracks[lane->model].id = lane->model;
			t->tracks[lane->model].sort_index = lane->rank;
			t->tracks[lane->model].args = lane->args;
		}
		for (uint32_t at = lane->first; at; at = ut_pf_at(s->p, at - 1)->next) {
			ut_pf_at(s->p, at - 1)->model = lane->model + 1;
			if (!lane->thread)
				ut_pf_give_role(ut_pf_at(s->p, at - 1), &t->tracks[lane->model]);
		}
	}
}

/* ---- threads and counters that were described late ----------------------------------------- */

static void perfetto_lanes_add_rows(struct sorter *s, uint32_t track, uint32_t model)
{
	for (size_t i = s->starts[track]; i < s->starts[track + 1]; i++) {
		const struct ut_pf_row *r = row_at(s, i);

		if (perfetto_lanes_kind_of(s, r->type) != UT_KIND_COUNTER)
			ut_build_add(&s->p->build, model, r->ts, r->val, r->type, r->args);
	}
}

/* Values of a counter that was not described as one, or late. */
static void add_counters(struct sorter *s, uint32_t track)
{
	for (size_t i = s->starts[track]; i < s->starts[track + 1]; i++) {
		const struct ut_pf_row *r = row_at(s, i);
		struct ut_type type = *ut_types_get(&s->p->build.store.types, r->type);
		uint32_t model;

		if (type.kind != UT_KIND_COUNTER)
			continue;
		model = ut_pf_counter_track(s->p, track);
		type.name = ut_pf_trace(s->p)->tracks[model].name;
		ut_build_add(&s->p->build, model, r->ts, r->val,
			     ut_types_intern(&s->p->build.store.types, &type), r->args);
	}
}

/* ---- begins and ends ----------------------------------------------------------------------- */

static void open_span(struct sorter *s, uint32_t index, struct ut_pf_row *r)
{
	r->val = OPEN;
	r->type = as_kind(s, r->type, UT_KIND_SPAN);
	s->open = ut_grow(s->open, s->depth + 1, &s->open_cap, sizeof(*s->open));
	s->open[s->depth++] = index;
}

static void perfetto_lanes_close_span(struct sorter *s, struct ut_pf_row *end)
{
	struct ut_arglists *l = &s->p->build.store.args;
	struct ut_pf_row *begin;

	end->type = GONE;
	if (!s->depth) {
		ut_pf_trace(s->p)->losses.stray_ends++;
		return;
	}
	begin = ut_pf_row_at(s->p, s->open[--s->depth]);
	begin->val = end->ts;
	if (begin->number)
		s->p->numbers.items[begin->number] = end->args;
	else if (end->args)
		begin->args = ut_arglists_both(l, l, begin->args, end->args);
}

static void join_row(struct sorter *s, uint32_t index)
{
	struct ut_pf_row *r = ut_pf_row_at(s->p, index);

	s->last_ts = r->ts > s->last_ts ? r->ts : s->last_ts;
	switch (perfetto_lanes_kind_of(s, r->type)) {
	case UT_RAW_BEGIN:
		open_span(s, index, r);
		break;
	case UT_RAW_END:
		perfetto_lanes_close_span(s, r);
		return;
	case UT_KIND_SPAN:
		r->val = r->ts + r->val < r->ts ? OPEN - 1 : r->ts + r->val;
		s->last_ts = r->val > s->last_ts ? r->val : s->last_ts;
		break;
	case UT_KIND_INSTANT:
		r->val = s->depth ? s->open[s->depth - 1] + 1 : 0;
		break;
	case UT_KIND_COUNTER:
		return;
	default:
		break;
	}
	s->rows = ut_grow(s->rows, s->row_count + 1, &s->row_cap, sizeof(*s->rows));
	s->rows[s->row_count++] = index;
}

/* Spans that never ended reach to the last sign of life on the lane. */
static void finish_spans(struct sorter *s)
{
	for (size_t i = 0; i < s->row_count; i++) {
		struct ut_pf_row *r = ut_pf_row_at(s->p, s->rows[i]);
		struct ut_type type = *ut_types_get(&s->p->build.store.types, r->type);

		if (type.kind != UT_KIND_SPAN || r->val != OPEN || (s->async && r->number))
			continue; /* an async span that never ended has no end */
		type.flags |= UT_EV_UNFINISHED;
		r->val = s->last_ts;
		r->type = ut_types_intern(&s->p->build.store.types, &type);
		ut_pf_trace(s->p)->losses.unfinished++;
	}
}

/* ---- the rows of a lane -------------------------------------------------------------------- */

/* The store's order. */
static int perfetto_lanes_by_place(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct ut_pf_row *x = ut_pf_row_at(s->p, i), *y = ut_pf_row_at(s->p, j);
	bool x_spans, y_spans;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	x_spans = perfetto_lanes_kind_of(s, x->type) == UT_KIND_SPAN;
	y_spans = perfetto_lanes_kind_of(s, y->type) == UT_KIND_SPAN;
	if (x_spans != y_spans)
		return x_spans ? -1 : 1;
	if (x_spans && x->val != y->val)
		return x->val > y->val ? -1 : 1;
	return i < j ? -1 : i > j;
}

static bool rows_nest(struct sorter *s)
{
	size_t depth = 0;

	for (size_t i = 0; i < s->row_count; i++) {
		const struct ut_pf_row *r = ut_pf_row_at(s->p, s->rows[i]);

		if (perfetto_lanes_kind_of(s, r->type) != UT_KIND_SPAN)
			continue;
		while (depth && s->ends[depth - 1] <= r->ts)
			depth--;
		if (depth && s->ends[depth - 1] < r->val)
			return false;
		s->ends = ut_grow(s->ends, depth + 1, &s->end_cap, sizeof(*s->ends));
		s->ends[depth++] = r->val;
	}
	return true;
}

static void add_nested(struct sorter *s, uint32_t model)
{
	for (size_t i = 0; i < s->row_count; i++) {
		const struct ut_pf_row *r = ut_pf_row_at(s->p, s->rows[i]);
		uint8_t kind = perfetto_lanes_kind_of(s, r->type);
		uint64_t val = kind == UT_KIND_SPAN      ? r->val - r->ts
			       : kind == UT_KIND_INSTANT ? 0
							 : r->val;

		ut_build_add(&s->p->build, model, r->ts, val, r->type, r->args);
	}
}

/* The number of an async span: as the file tells it, or one of our own. */
static uint64_t perfetto_lanes_number_of(const struct sorter *s, const struct ut_pf_row *span)
{
	return span->number ? s->p->numbers.items[span->number - 1] : span->track;
}

/* Arguments that tell an id, as the importer of Chrome's JSON keeps them; the end has it, too. */
static bool has_id(struct ut_pf *p, const struct ut_arg *a)
{
	return ut_pf_is(p, a->key, "id2") || ut_pf_is(p, a->key, "id_text") ||
	       ut_pf_is(p, a->key, "id_scope") || ut_pf_is(p, a->key, "tid");
}

static uint32_t id_args(struct ut_pf *p, uint32_t list)
{
	struct ut_arglists *lists = &p->build.store.args;
	size_t count = ut_arglists_get(lists, list, NULL, 0), n = 0;
	struct ut_arg *args = ut_make((count + 1) * sizeof(*args));

	ut_arglists_get(lists, list, args, count);
	for (size_t i = 0; i < count; i++) {
		if (has_id(p, &args[i]))
			args[n++] = args[i];
	}
	list = ut_arglists_add(lists, args, n);
	free(args);
	return list;
}

static uint32_t end_args(struct sorter *s, const struct ut_pf_row *span)
{
	if (!span->number)
		return 0;
	if (s->p->numbers.items[span->number])
		return (uint32_t)s->p->numbers.items[span->number];
	return span->args ? id_args(s->p, span->args) : 0;
}

/* A moment on an overlapping lane belongs to the span around it; number 0 = to none. */
static void add_instant_event(struct sorter *s, const struct ut_pf_row *r, uint32_t model)
{
	const struct ut_type *type = ut_types_get(&s->p->build.store.types, r->type);
	uint64_t number = 0;

	if (type->kind != UT_KIND_INSTANT) {
		ut_build_add(&s->p->build, model, r->ts, r->val, r->type, r->args);
		return;
	}
	if (type->flags || (s->async && !r->number)) {
		ut_build_add(&s->p->build, model, r->ts, 0, r->type, r->args);
		return;
	}
	if (r->number)
		number = s->p->numbers.items[r->number - 1];
	else if (r->val)
		number = perfetto_lanes_number_of(s, ut_pf_row_at(s->p, r->val - 1));
	ut_build_add(&s->p->build, model, r->ts, number, as_kind(s, r->type, UT_KIND_ASYNC_INSTANT),
		     r->args);
}

static bool is_async(const struct sorter *s, const struct ut_pf_row *r)
{
	return perfetto_lanes_kind_of(s, r->type) == UT_KIND_SPAN && (r->number || !s->async);
}

/*
 * Two spans of the same number that cross: the end of which of them comes first would not be known
 * any more. The later one gets a number that nobody has.
 */
static void part_crossing(struct sorter *s)
{
	struct ut_pf_list *numbers = &s->p->numbers;
	struct ut_idmap latest = { 0 }; /* row + 1 by number */

	for (size_t i = 0; i < s->row_count; i++) {
		struct ut_pf_row *r = ut_pf_row_at(s->p, s->rows[i]), *before;
		uint32_t at;

		if (perfetto_lanes_kind_of(s, r->type) != UT_KIND_SPAN || !r->number)
			continue;
		at = ut_idmap_get(&latest, numbers->items[r->number - 1]);
		before = at ? ut_pf_row_at(s->p, at - 1) : NULL;
		if (before && before->val >= r->ts && before->val < r->val)
			numbers->items[r->number - 1] = UNUSED_NUMBER + ++s->last_number;
		ut_idmap_put(&latest, numbers->items[r->number - 1], s->rows[i] + 1);
	}
	ut_idmap_release(&latest);
}

/* Ends come last, so that what happens at that very moment is still inside. */
static void add_overlapping(struct sorter *s, uint32_t model)
{
	ut_pf_trace(s->p)->tracks[model].type = UT_TRACK_ASYNC;
	if (s->async)
		part_crossing(s);
	for (size_t i = 0; i < s->row_count; i++) {
		struct ut_pf_row *r = ut_pf_row_at(s->p, s->rows[i]);

		if (perfetto_lanes_kind_of(s, r->type) == UT_KIND_SPAN)
			r->track = ++s->last_number; /* where it lies is known by now */
	}
	for (size_t i = 0; i < s->row_count; i++) {
		const struct ut_pf_row *r = ut_pf_row_at(s->p, s->rows[i]);

		if (is_async(s, r))
			ut_build_add(&s->p->build, model, r->ts, perfetto_lanes_number_of(s, r),
				     as_kind(s, r->type, UT_KIND_ASYNC_BEGIN), r->args);
		else if (perfetto_lanes_kind_of(s, r->type) == UT_KIND_SPAN)
			ut_build_add(&s->p->build, model, r->ts, r->val - r->ts, r->type, r->args);
		else
			add_instant_event(s, r, model);
	}
	for (size_t i = 0; i < s->row_count; i++) {
		const struct ut_pf_row *r = ut_pf_row_at(s->p, s->rows[i]);

		if (is_async(s, r) && r->val != OPEN)
			ut_build_add(&s->p->build, model, r->val, perfetto_lanes_number_of(s, r),
				     as_kind(s, r->type, UT_KIND_ASYNC_END), end_args(s, r));
	}
}

static void fill_lane(struct sorter *s, const struct lane *lane)
{
	s->row_count = 0;
	s->last_ts = 0;
	for (uint32_t track = lane->first; track; track = ut_pf_at(s->p, track - 1)->next) {
		s->depth = 0;
		for (size_t i = s->starts[track - 1]; i < s->starts[track]; i++)
			join_row(s, s->order[i]);
	}
	s->async = lane->async;
	finish_spans(s);
	if (lane->first != lane->last && s->row_count)
		qsort_r(s->rows, s->row_count, sizeof(*s->rows), perfetto_lanes_by_place, s);
	if (lane->async)
		add_overlapping(s, lane->model);
	else if (lane->overlaps || lane->first == lane->last || rows_nest(s))
		add_nested(s, lane->model);
	else
		add_overlapping(s, lane->model);
}

/* A counter that has its name, unit and process in common with an earlier one gets a number. */
static void part_counter(struct ut_pf *p, struct ut_idmap *alike, uint32_t index)
{
	struct ut_trace *t = ut_pf_trace(p);
	struct ut_track *k = &t->tracks[index];
	const uint64_t key[] = { k->process, k->name, k->unit, k->id_text };
	uint64_t hash = ut_hash_bytes(key, sizeof(key));
	uint32_t before = ut_idmap_get(alike, hash);
	char number[16];

	ut_idmap_put(alike, hash, before + 1);
	if (!before)
		return;
	snprintf(number, sizeof(number), "%" PRIu32, before + 1);
	k->id_text = ut_strtab_intern_z(&t->strings, number);
	ut_trace_name_counter(t, index, k->base ? k->base : k->name);
}

/* What a counter belongs to is known only now. */
static void place_counters(struct ut_pf *p)
{
	struct ut_idmap alike = { 0 };

	for (uint32_t i = 0; i < p->tracks.count; i++) {
		uint32_t counter = ut_pf_at(p, i)->counter, process;

		if (!counter)
			continue;
		process = ut_pf_process_of(p, i);
		ut_pf_trace(p)->tracks[counter - 1].process = process;
		part_counter(p, &alike, counter - 1);
	}
	ut_idmap_release(&alike);
}

enum placed {
	PLACED_COUNTER = 1,
	PLACED_ROWS = 2,
};

/* The first event that is more than an end; NULL, and the ends are counted, if there is none. */
static const struct ut_pf_row *first_event(struct sorter *s, uint32_t track)
{
	uint64_t ends = 0;

	for (size_t i = s->starts[track]; i < s->starts[track + 1]; i++) {
		const struct ut_pf_row *r = row_at(s, i);
		uint8_t kind = perfetto_lanes_kind_of(s, r->type);

		if (kind != UT_RAW_END && kind != UT_KIND_COUNTER)
			return r;
		ends += kind == UT_RAW_END;
	}
	ut_pf_trace(s->p)->losses.stray_ends += ends;
	return NULL;
}

static void place_rows(struct sorter *s, uint32_t track)
{
	const struct ut_pf_row *first;

	if (ut_pf_at(s->p, track)->kind == UT_PF_THREAD) {
		perfetto_lanes_add_rows(s, track, ut_pf_at(s->p, track)->model - 1);
		return;
	}
	first = first_event(s, track);
	if (first)
		join_lane(s, track, first->ts);
}

static void place_tracks(struct sorter *s)
{
	struct ut_pf *p = s->p;
	unsigned char *placed = ut_make(p->tracks.count + 1);

	for (size_t i = 0; i < p->row_count; i++) {
		const struct ut_pf_row *r = ut_pf_row_at(p, i);
		uint32_t track = r->track;

		if (perfetto_lanes_kind_of(s, r->type) == UT_KIND_COUNTER) {
			if (!(placed[track] & PLACED_COUNTER))
				add_counters(s, track);
			placed[track] |= PLACED_COUNTER;
		} else {
			if (!(placed[track] & PLACED_ROWS))
				place_rows(s, track);
			placed[track] |= PLACED_ROWS;
		}
	}
	free(placed);
	for (size_t i = 0; i < p->flow_count; i++) { /* also where nothing else is */
		uint32_t track = p->flows[i].track, at = s->joined[track];

		if (s->lanes && at && p->flows[i].ts < s->lanes[at - 1].ts)
			s->lanes[at - 1].ts = p->flows[i].ts;
		else if (!at && !ut_pf_at(p, track)->model)
			join_lane(s, track, p->flows[i].ts);
	}
}

static void perfetto_lanes_release(struct sorter *s)
{
	free(s->order);
	free(s->starts);
	free(s->joined);
	free(s->lanes);
	free(s->rows);
	free(s->open);
	free(s->ends);
	for (int kind = 0; kind < UT_KIND_COUNT; kind++)
		free(s->as[kind]);
	ut_idmap_release(&s->by_name);
}

void ut_pf_make_lanes(struct ut_pf *p)
{
	struct sorter s = { .p = p };

	sort_rows(&s);
	place_tracks(&s);
	make_tracks(&s);
	for (size_t i = 0; i < s.lane_count; i++)
		fill_lane(&s, &s.lanes[i]);
	place_counters(p);
	perfetto_lanes_release(&s);
}
