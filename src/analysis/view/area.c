/*
 * area.c - the tables of an area: slices by name, tracks, devices; counters.c has the fourth.
 */
#include "view/area.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/thread_pool.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/arguments.h"
#include "view/ask.h"
#include "view/sheet.h"
#include "view/visit.h"

#define NAMES_MOST   20000u
#define WORKERS_MOST 32u

#define NO_ARGUMENT '\1'

#define COLUMNS(list) (sizeof(list) / sizeof((list)[0]))

/* All slices of one name, or of one name and some arguments. */
struct sum {
	uint64_t count, total, lengths, self, min, max, longest;
	uint32_t type, name;
	bool works; /* has self time: not all of it is nobody's work */
	char *key;  /* texts of the arguments, each with a NUL behind it, "\1": it has none; NULL */
	size_t key_len;
};

struct interval {
	uint64_t from, to;
};

/* What the queues of a device did. */
struct device {
	struct interval *busy; /* in any order, until they are sorted */
	size_t count, cap;
	uint64_t sum; /* of all queues */
	uint32_t queues;
};

struct area {
	struct ut_view *view;
	const struct ut_ask_scope *scope;
	const struct ut_ask *ask;
	struct sum *sums; /* by name; with arguments, as they come */
	size_t sum_count, sum_cap;
	uint32_t *slots; /* with arguments: number plus 1, by hash */
	size_t mask;
	uint64_t *busy;         /* by track */
	uint64_t *slices;       /* by track */
	bool *works;            /* by track: a queue that had work */
	struct device *devices; /* by place */
};

/* ---- devices' intervals --------------------------------------------------------------------- */

static void add_interval(struct device *d, uint64_t from, uint64_t to)
{
	struct interval *last = d->count ? &d->busy[d->count - 1] : NULL;

	if (last && from >= last->from && from <= last->to) {
		last->to = to > last->to ? to : last->to;
		return;
	}
	d->busy = ut_grow(d->busy, d->count + 1, &d->cap, sizeof(*d->busy));
	d->busy[d->count++] = (struct interval){ from, to };
}

static void add_device(struct area *a, const struct ut_visit *visit, uint32_t track)
{
	const struct ut_view_row *row = visit->row;
	uint32_t place = row->track->place, device;

	if (a->view->places[place].kind != UT_PLACE_QUEUE)
		return;
	device = ut_view_device_of(a->view, place);
	if (device == UT_NO_PLACE || visit->quiet)
		return;
	a->devices[device].queues += !a->works[track];
	a->works[track] = true;
	a->devices[device].sum += visit->alone;
	if (visit->alone)
		add_interval(&a->devices[device], row->start, row->end);
}

/* ---- by arguments --------------------------------------------------------------------------- */

static void make_key(const struct area *a, const struct ut_view_row *row, struct ut_buf *key)
{
	for (size_t i = 0; i < a->ask->key_count; i++) {
		if (!ut_view_args_text(row, a->ask->keys[i], key))
			ut_buf_char(key, NO_ARGUMENT);
		ut_buf_char(key, '\0');
	}
}

static uint64_t hash_sum(uint32_t name, const char *key, size_t len)
{
	return ut_hash_bytes(key, len) * 31 + name;
}

static void grow_slots(struct area *a)
{
	free(a->slots);
	a->mask = a->mask ? a->mask * 2 + 1 : 4095;
	a->slots = ut_make((a->mask + 1) * sizeof(*a->slots));
	for (size_t i = 0; i < a->sum_count; i++) {
		const struct sum *s = &a->sums[i];
		size_t at = hash_sum(s->name, s->key, s->key_len) & a->mask;

		while (a->slots[at])
			at = (at + 1) & a->mask;
		a->slots[at] = (uint32_t)i + 1;
	}
}

static struct sum *sum_by_key(struct area *a, const struct ut_view_row *row)
{
	uint32_t name = a->view->name_of[row->type];
	struct ut_buf key = { 0 };
	struct sum *s = NULL;
	size_t at;

	make_key(a, row, &key);
	if (a->sum_count * 2 >= a->mask)
		grow_slots(a);
	for (at = hash_sum(name, key.data, key.len) & a->mask; a->slots[at];
	     at = (at + 1) & a->mask) {
		s = &a->sums[a->slots[at] - 1];
		if (s->name == name && s->key_len == key.len && !memcmp(s->key, key.data, key.len))
			break;
	}
	if (!a->slots[at]) {
		a->sums = ut_grow(a->sums, a->sum_count + 1, &a->sum_cap, sizeof(*a->sums));
		s = &a->sums[a->sum_count++];
		*s = (struct sum){ .name = name, .key = key.data, .key_len = key.len };
		a->slots[at] = (uint32_t)a->sum_count;
	} else {
		ut_buf_release(&key);
	}
	return s;
}

static void area_put_key(const struct sum *s, size_t columns, struct ut_sheet *sheet)
{
	const char *at = s->key;

	for (size_t i = 0; i < columns; i++, at += strlen(at) + 1) {
		if (at[0] == NO_ARGUMENT && !at[1])
			ut_sheet_null(sheet);
		else
			ut_sheet_text(sheet, ut_str_of(at));
	}
}

/* ---- the walk ------------------------------------------------------------------------------- */

static void add_visit(void *ctx, const struct ut_visit *visit)
{
	struct area *a = ctx;
	const struct ut_view_row *row = visit->row;
	uint32_t track = (uint32_t)(row->track - a->view->tracks);
	struct sum *s =
		a->ask->key_count ? sum_by_key(a, row) : &a->sums[a->view->name_of[row->type]];

	if (!s->count || visit->total < s->min)
		s->min = visit->total;
	if (!s->count || visit->total > s->max) {
		s->max = visit->total;
		s->longest = ut_view_id(a->view, row->track, row->row);
	}
	if (!s->count || row->type < s->type) /* of several types of a name, the first */
		s->type = row->type;
	s->count++;
	s->total += visit->fresh;
	s->lengths += visit->total;
	s->self += visit->self;
	s->works |= !visit->mark && !visit->aside;
	add_device(a, visit, track);
	a->slices[track]++;
	a->busy[track] += visit->alone;
}

/* ---- slices --------------------------------------------------------------------------------- */

static const struct ut_sheet_column slice_columns[] = {
	{ .key = "name", .title = "Name", .type = "name" },
	{ .key = "count", .title = "Count", .type = "count" },
	{ .key = "total", .title = "Total", .type = "time" },
	{ .key = "self", .title = "Self", .type = "time", .hint = "without what is nested in it" },
	{ .key = "share",
	  .title = "Share of self",
	  .type = "share",
	  .hint = "of the self time of all names together, as unitrace stats has it" },
	{ .key = "mean", .title = "Mean", .type = "time" },
	{ .key = "min", .title = "Min", .type = "time" },
	{ .key = "max", .title = "Max", .type = "time" },
	{ .key = "type", .title = "Type", .type = "number" },
	{ .key = "longest", .title = "Longest", .type = "event" },
};

static int area_by_total(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void area_put_share(struct ut_sheet *s, uint64_t part, uint64_t span)
{
	if (span)
		ut_sheet_double(s, (double)part / (double)span);
	else
		ut_sheet_null(s);
}

/* The columns of all tables, and one for each argument asked for. */
static struct ut_sheet_column *area_make_columns(const struct area *a, struct ut_arena *arena)
{
	size_t own = COLUMNS(slice_columns);
	struct ut_sheet_column *all =
		UT_NEW_N(arena, struct ut_sheet_column, own + a->ask->key_count);

	memcpy(all, slice_columns, sizeof(slice_columns));
	for (size_t i = 0; i < a->ask->key_count; i++) {
		const char *key = ut_arena_copy(arena, a->ask->keys[i].ptr, a->ask->keys[i].len);

		all[own + i] = (struct ut_sheet_column){ .key = ut_str_fmt(arena, "arg.%s", key),
							 .title = key,
							 .type = "text" };
	}
	return all;
}

/* Sums without a slice go; the others move together. */
static size_t pack_sums(struct area *a)
{
	size_t count = 0;

	if (a->ask->key_count)
		return a->sum_count;
	for (uint32_t i = 0; i < a->view->name_count; i++) {
		if (!a->sums[i].count)
			continue;
		a->sums[i].name = i;
		a->sums[count++] = a->sums[i];
	}
	return count;
}

/* What nobody worked on has none, and no share: that is not the same as 0. */
static void put_self(struct ut_sheet *s, const struct sum *n, uint64_t all)
{
	if (n->works) {
		ut_sheet_u64(s, n->self);
		area_put_share(s, n->self, all);
	} else {
		ut_sheet_null(s);
		ut_sheet_null(s);
	}
}

static void put_slices(struct area *a, struct ut_out *out)
{
	size_t count = pack_sums(a);
	struct ut_arena arena = { 0 };
	struct ut_sheet s;
	uint64_t self = 0;

	for (size_t i = 0; i < count; i++)
		self += a->sums[i].self;
	ut_sort(a->sums, count, sizeof(*a->sums), area_by_total);
	ut_sheet_init(&s, area_make_columns(a, &arena), COLUMNS(slice_columns) + a->ask->key_count);
	for (size_t i = 0; i < count && i < NAMES_MOST; i++) {
		const struct sum *n = &a->sums[i];

		ut_sheet_text(&s, ut_view_type_name(a->view, n->type));
		ut_sheet_u64(&s, n->count);
		ut_sheet_u64(&s, n->total);
		put_self(&s, n, self);
		ut_sheet_double(&s, (double)n->lengths / (double)n->count);
		ut_sheet_u64(&s, n->min);
		ut_sheet_u64(&s, n->max);
		ut_sheet_u64(&s, n->type);
		ut_sheet_u64(&s, n->longest);
		area_put_key(n, a->ask->key_count, &s);
	}
	ut_out_text(out, "{\"slices\":");
	ut_sheet_write(&s, count > NAMES_MOST ? count - NAMES_MOST : 0, out);
	ut_arena_release(&arena);
}

/* ---- tracks --------------------------------------------------------------------------------- */

static const struct ut_sheet_column track_columns[] = {
	{ .key = "name", .title = "Track", .type = "text" },
	{ .key = "slices", .title = "Slices", .type = "count" },
	{ .key = "busy",
	  .title = "Busy",
	  .type = "time",
	  .hint = "time in which at least one slice was open; of a device's queue: work" },
	{ .key = "idle", .title = "Idle", .type = "time", .wide = true },
	{ .key = "share", .title = "Busy share", .type = "share" },
	{ .key = "track", .title = "Track number", .type = "number" },
};

struct busy {
	uint64_t time;
	uint32_t track;
};

static int by_busy(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

static void put_tracks(struct area *a, uint64_t span, struct ut_out *out)
{
	struct busy *list = ut_make(((size_t)a->view->track_count + 1) * sizeof(*list));
	uint32_t count = 0;
	struct ut_sheet s;

	for (uint32_t i = 0; i < a->view->track_count; i++) {
		if (a->slices[i])
			list[count++] = (struct busy){ a->busy[i], i };
	}
	ut_sort(list, count, sizeof(*list), by_busy);
	ut_sheet_init(&s, track_columns, COLUMNS(track_columns));
	for (uint32_t i = 0; i < count; i++) {
		ut_area_put_path(&s, a->view, a->view->tracks[list[i].track].place);
		ut_sheet_u64(&s, a->slices[list[i].track]);
		ut_sheet_u64(&s, list[i].time);
		ut_sheet_u64(&s, span > list[i].time ? span - list[i].time : 0);
		area_put_share(&s, list[i].time, span);
		ut_sheet_u64(&s, list[i].track);
	}
	ut_out_text(out, ",\"threads\":");
	ut_sheet_write(&s, 0, out);
	free(list);
}

/* ---- devices -------------------------------------------------------------------------------- */

static const struct ut_sheet_column device_columns[] = {
	{ .key = "name", .title = "Device", .type = "text" },
	{ .key = "busy", .title = "Busy", .type = "time" },
	{ .key = "idle", .title = "Idle", .type = "time" },
	{ .key = "overlap",
	  .title = "Overlapped",
	  .type = "time",
	  .hint = "time that queues were busy beside others" },
	{ .key = "gap", .title = "Longest gap", .type = "time", .wide = true },
	{ .key = "share", .title = "Busy share", .type = "share" },
};

static int by_from(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void area_merge(struct device *d)
{
	size_t n = 0;

	ut_sort(d->busy, d->count, sizeof(*d->busy), by_from);
	for (size_t i = 0; i < d->count; i++) {
		struct interval *last = n ? &d->busy[n - 1] : NULL;

		if (last && d->busy[i].from <= last->to)
			last->to = d->busy[i].to > last->to ? d->busy[i].to : last->to;
		else
			d->busy[n++] = d->busy[i];
	}
	d->count = n;
}

static uint64_t longest_gap(const struct device *d, struct ut_ask_range r)
{
	uint64_t longest = 0, at = r.from;

	for (size_t i = 0; i < d->count; i++) {
		const struct interval *b = &d->busy[i];

		if (b->to <= r.from || b->from >= r.to)
			continue;
		if (b->from > at && b->from - at > longest)
			longest = b->from - at;
		at = b->to > at ? b->to : at;
	}
	return r.to > at && r.to - at > longest ? r.to - at : longest;
}

static uint64_t device_gap(const struct area *a, const struct device *d)
{
	uint64_t gap = 0;

	if (!a->scope->has_ranges)
		gap = longest_gap(d, (struct ut_ask_range){ 0, a->view->span });
	for (size_t i = 0; i < a->scope->range_count; i++) {
		uint64_t one = longest_gap(d, a->scope->ranges[i]);

		gap = one > gap ? one : gap;
	}
	return gap;
}

static uint64_t device_busy(const struct area *a, struct device *d)
{
	uint64_t busy = 0;

	area_merge(d);
	for (size_t i = 0; i < d->count; i++)
		busy += ut_scope_inside(a->scope, d->busy[i].from, d->busy[i].to);
	return busy;
}

/* A device is busy when one of its queues is; overlap: two or more of them at once. */
static void area_put_device(const struct area *a, uint32_t place, uint64_t span, struct ut_sheet *s)
{
	struct device *d = &a->devices[place];
	uint64_t busy = device_busy(a, d);

	ut_area_put_path(s, a->view, place);
	ut_sheet_u64(s, busy);
	ut_sheet_u64(s, span > busy ? span - busy : 0);
	if (d->queues > 1)
		ut_sheet_u64(s, d->sum > busy ? d->sum - busy : 0);
	else
		ut_sheet_null(s);
	ut_sheet_u64(s, device_gap(a, d));
	area_put_share(s, busy, span);
}

static void area_put_devices(const struct area *a, uint64_t span, struct ut_out *out)
{
	struct ut_sheet s;

	ut_sheet_init(&s, device_columns, COLUMNS(device_columns));
	for (uint32_t i = 0; i < a->view->place_count; i++) {
		if (a->devices[i].queues)
			area_put_device(a, i, span, &s);
	}
	ut_out_text(out, ",\"devices\":");
	ut_sheet_write(&s, 0, out);
}

/* ---- facts ---------------------------------------------------------------------------------- */

/* What a tool says about itself is nothing to look at, while there is anything else. */
static bool is_heavier(const struct area *a, const struct sum *s, const struct ut_area_facts *f)
{
	int own = a->view->traits[s->type] & UT_TRAIT_ITSELF;

	if (own != (a->view->traits[f->type] & UT_TRAIT_ITSELF))
		return !own;
	return s->self > f->self;
}

static void find_heaviest(const struct area *a, struct ut_area_facts *f)
{
	for (uint32_t i = 0; i < a->view->name_count; i++) {
		const struct sum *s = &a->sums[i];

		if (!s->count || (f->count && !is_heavier(a, s, f)))
			continue;
		f->count = s->count;
		f->self = s->self;
		f->max = s->max;
		f->mean = s->lengths / s->count;
		f->type = s->type;
		f->longest = s->longest;
	}
}

static void find_idlest(const struct area *a, struct ut_area_facts *f)
{
	for (uint32_t i = 0; i < a->view->place_count; i++) {
		uint64_t busy;

		if (!a->devices[i].queues)
			continue;
		busy = device_busy(a, &a->devices[i]);
		if (f->device != UT_NO_PLACE && busy >= f->busy)
			continue;
		f->device = i;
		f->busy = busy;
		f->gap = device_gap(a, &a->devices[i]);
	}
}

/* The busiest thread of each rank, and the rank whose is the busiest. */
static void find_uneven(const struct area *a, struct ut_area_facts *f)
{
	uint64_t best = 0, sum = 0;
	int32_t rank = -1;

	/* places of one rank follow each other */
	for (uint32_t i = 0; i <= a->view->place_count; i++) {
		const struct ut_view_place *p =
			i < a->view->place_count ? &a->view->places[i] : NULL;

		if (!p || p->rank != rank) {
			f->ranks += rank >= 0;
			sum += rank >= 0 ? best : 0;
			if (rank >= 0 && best > f->rank_busy) {
				f->rank_busy = best;
				f->rank = rank;
			}
			best = 0;
			rank = p ? p->rank : -1;
		}
		if (p && p->kind == UT_PLACE_THREAD && a->busy[p->track] > best)
			best = a->busy[p->track];
	}
	f->rank_mean = f->ranks ? sum / f->ranks : 0;
}

static void join_sum(struct sum *to, const struct sum *from)
{
	if (!from->count)
		return;
	if (!to->count) {
		*to = *from;
		return;
	}
	to->min = from->min < to->min ? from->min : to->min;
	/* of several that are as long, the first; a type of it as well */
	if (from->max > to->max || (from->max == to->max && from->longest < to->longest))
		to->longest = from->longest;
	to->max = from->max > to->max ? from->max : to->max;
	to->type = from->type < to->type ? from->type : to->type;
	to->count += from->count;
	to->total += from->total;
	to->lengths += from->lengths;
	to->self += from->self;
	to->works |= from->works;
}

static void join_device(struct device *to, struct device *from)
{
	for (size_t i = 0; i < from->count; i++)
		add_interval(to, from->busy[i].from, from->busy[i].to);
	to->sum += from->sum;
	to->queues += from->queues;
	free(from->busy);
}

/* What another worker has counted; it is used up. */
static void join_area(struct area *to, struct area *from)
{
	for (uint32_t i = 0; i < to->view->name_count; i++)
		join_sum(&to->sums[i], &from->sums[i]);
	for (uint32_t i = 0; i < to->view->place_count; i++)
		join_device(&to->devices[i], &from->devices[i]);
	free(from->sums);
	free(from->devices);
}

static void make_sums(struct area *a)
{
	if (!a->ask->key_count)
		a->sums = ut_make(((size_t)a->view->name_count + 1) * sizeof(*a->sums));
	a->devices = ut_make(((size_t)a->view->place_count + 1) * sizeof(*a->devices));
}

/* Tracks are shared among workers, who have sums of their own; those of a track are nobody else's.
 * With arguments the sums are too many to be joined again. */
static void walk_area(struct area *a, const struct ut_search_query *query)
{
	size_t workers =
		a->ask->key_count ? 1 : ut_thread_pool_size(a->view->threads, a->view->track_count);
	struct area all[WORKERS_MOST];
	void *ctxs[WORKERS_MOST];

	workers = workers < WORKERS_MOST ? workers : WORKERS_MOST;
	ctxs[0] = a;
	for (size_t i = 1; i < workers; i++) {
		all[i] = *a;
		make_sums(&all[i]);
		ctxs[i] = &all[i];
	}
	ut_view_walk_shared(a->view, a->scope, query, add_visit, ctxs, workers);
	for (size_t i = 1; i < workers; i++)
		join_area(a, &all[i]);
}

static int start_area(struct area *a, struct ut_search_query *query, struct ut_err *err)
{
	int rc = ut_search_query_init(query, a->view, (struct ut_str){ "", 0 }, a->scope, err);

	if (rc)
		return rc;
	a->busy = ut_make(((size_t)a->view->track_count + 1) * sizeof(*a->busy));
	a->slices = ut_make(((size_t)a->view->track_count + 1) * sizeof(*a->slices));
	a->works = ut_make((size_t)a->view->track_count + 1);
	make_sums(a);
	walk_area(a, query);
	return 0;
}

static void end_area(struct area *a, struct ut_search_query *query)
{
	for (uint32_t i = 0; i < a->view->place_count; i++)
		free(a->devices[i].busy);
	for (size_t i = 0; i < a->sum_count; i++)
		free(a->sums[i].key);
	free(a->devices);
	free(a->slices);
	free(a->works);
	free(a->busy);
	free(a->sums);
	free(a->slots);
	ut_search_query_release(query);
}

int ut_answer_aggregate(struct ut_view *v, const struct ut_ask *ask, struct ut_out *out,
			struct ut_err *err)
{
	struct area a = { .view = v, .ask = ask, .scope = &ask->scope };
	uint64_t span = ut_scope_span(v, &ask->scope);
	struct ut_search_query query;
	int rc = start_area(&a, &query, err);

	if (rc)
		return rc;
	put_slices(&a, out);
	put_tracks(&a, span, out);
	ut_area_counters(v, &ask->scope, &query, out);
	area_put_devices(&a, span, out);
	ut_out_fmt(out, ",\"span\":%" PRIu64 "}", span);
	end_area(&a, &query);
	return 0;
}

int ut_area_facts(struct ut_view *v, const struct ut_ask *ask, struct ut_area_facts *f,
		  struct ut_err *err)
{
	const struct ut_ask plain = { .scope = ask->scope };
	struct area a = { .view = v, .ask = &plain, .scope = &ask->scope };
	struct ut_search_query query;
	int rc = start_area(&a, &query, err);

	*f = (struct ut_area_facts){ .span = ut_scope_span(v, &ask->scope), .device = UT_NO_PLACE };
	if (rc)
		return rc;
	find_heaviest(&a, f);
	find_idlest(&a, f);
	find_uneven(&a, f);
	end_area(&a, &query);
	return 0;
}
