#include "view/view.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "model/classify.h"
#include "query/query.h"
#include "view/arrow_list.h"
#include "view/attached.h"
#include "view/kernel_code.h"
#include "view/view_kernels.h"
#include "view/view_parts.h"

/* Times from here on, in ns, can only count from 1970, as merge/clock.c has it. */
#define SINCE_1970 UINT64_C(1000000000000000000)
/* Wall clocks of one host are set, too, but not by that much unless it was started again. */
#define SAME_BOOT INT64_C(60000000000)

struct ut_view *ut_view_new(void)
{
	struct ut_view *v = ut_make(sizeof(*v));

	pthread_mutex_init(&v->lock, NULL);
	pthread_mutex_init(&v->sql_lock, NULL);
	pthread_mutex_init(&v->state_lock, NULL);
	pthread_mutex_init(&v->sheet_lock, NULL);
	v->codes = ut_view_codes_new();
	v->state.read = 1;
	return v;
}

/* ---- stores --------------------------------------------------------------------------------- */

struct ut_view_store {
	struct ut_store store; /* first */
	atomic_uint owners;
};

struct ut_view_store *ut_view_store_new(struct ut_store *store)
{
	struct ut_view_store *s = ut_make(sizeof(*s));

	ut_store_move(&s->store, store);
	s->owners = 1;
	return s;
}

const struct ut_store *ut_view_store_get(const struct ut_view_store *s)
{
	return &s->store;
}

void ut_view_store_drop(struct ut_view_store *s)
{
	if (!s || atomic_fetch_sub(&s->owners, 1) > 1)
		return;
	ut_store_release(&s->store);
	free(s);
}

static void free_state(struct ut_view_state *state)
{
	free((void *)(uintptr_t)state->ended);
	free((void *)(uintptr_t)state->trouble);
}

void ut_view_free(struct ut_view *v)
{
	if (!v)
		return;
	ut_view_free(v->before);
	ut_query_close(v->query);
	ut_view_arrows_free(v->arrows);
	for (uint32_t i = 0; i < v->track_count; i++)
		free(v->tracks[i].ends);
	for (size_t i = 0; i < v->trace_count; i++) {
		free(v->traces[i].groups);
		ut_view_kernels_free(v->traces[i].kernels);
		ut_view_store_drop(v->traces[i].shared);
	}
	ut_view_attached_release(&v->attached);
	free(v->traces);
	free(v->tracks);
	free(v->places);
	free(v->classes);
	free(v->traits);
	free(v->name_of);
	pthread_mutex_destroy(&v->lock);
	pthread_mutex_destroy(&v->sql_lock);
	pthread_mutex_destroy(&v->state_lock);
	pthread_mutex_destroy(&v->sheet_lock);
	ut_view_codes_free(v->codes);
	free_state(&v->state);
	ut_arena_release(&v->arena);
	free(v);
}

void ut_view_lend(struct ut_view *v, const char *path, struct ut_store *store)
{
	struct ut_view_trace *t;

	v->traces = ut_grow(v->traces, v->trace_count + 1, &v->trace_cap, sizeof(*v->traces));
	t = &v->traces[v->trace_count++];
	*t = (struct ut_view_trace){ .path = ut_arena_copy(&v->arena, path, strlen(path)),
				     .store = store };
}

void ut_view_paths_go(struct ut_view *v)
{
	v->paths_go = true;
}

void ut_view_share(struct ut_view *v, const char *path, struct ut_view_store *s)
{
	atomic_fetch_add(&s->owners, 1);
	ut_view_lend(v, path, &s->store);
	v->traces[v->trace_count - 1].shared = s;
}

void ut_view_add(struct ut_view *v, const char *path, struct ut_store *store)
{
	struct ut_view_store *s = ut_view_store_new(store);

	ut_view_share(v, path, s);
	ut_view_store_drop(s);
}

void ut_view_expect_more(struct ut_view *v)
{
	v->roomy = true;
}

/* ---- what is known beside ------------------------------------------------------------------- */

static char *view_copy_text(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	return text ? memcpy(ut_make(size), text, size) : NULL;
}

void ut_view_set_state(struct ut_view *v, const struct ut_view_state *state)
{
	struct ut_view_state now = *state, before;

	now.ended = view_copy_text(state->ended);
	now.trouble = view_copy_text(state->trouble);
	pthread_mutex_lock(&v->state_lock);
	before = v->state;
	v->state = now;
	pthread_mutex_unlock(&v->state_lock);
	free_state(&before);
}

void ut_view_compare(struct ut_view *v, struct ut_view *before)
{
	v->before = before;
}

void ut_view_keep_notes(struct ut_view *v, const char *path)
{
	v->notes = path ? ut_arena_copy(&v->arena, path, strlen(path)) : NULL;
}

/* ---- one clock ------------------------------------------------------------------------------ */

struct placed {
	int64_t epoch; /* ns since 1970 of its time 0 */
	struct ut_str host;
	bool is_placed;
};

static struct placed place_trace(const struct ut_trace *t)
{
	struct placed p = { .epoch = t->realtime_offset, .is_placed = true };

	if (t->process_count)
		p.host = ut_strtab_get(&t->strings, t->processes[0].host);
	if (t->first >= SINCE_1970)
		p.epoch = 0;
	else if (!t->realtime_offset)
		p.is_placed = false;
	return p;
}

/* Processes of one host share a clock that is better than any wall clock. */
static void join_hosts(struct placed *all, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		for (size_t k = 0; k < i; k++) {
			int64_t apart = all[i].epoch - all[k].epoch;

			if (all[i].host.len && all[i].host.len == all[k].host.len &&
			    !memcmp(all[i].host.ptr, all[k].host.ptr, all[i].host.len) &&
			    apart > -SAME_BOOT && apart < SAME_BOOT) {
				all[i].epoch = all[k].epoch;
				break;
			}
		}
	}
}

static int64_t view_first_of(const struct ut_trace *t)
{
	return t->first > INT64_MAX ? INT64_MAX : (int64_t)t->first;
}

/* One trace that does not say when it was leaves all of them on the clocks they have. */
static void set_clock(struct ut_view *v)
{
	struct placed *all = ut_make((v->trace_count + 1) * sizeof(*all));
	bool is_placed = v->trace_count != 0, any = false;
	int64_t start = INT64_MAX;

	for (size_t i = 0; i < v->trace_count; i++) {
		all[i] = place_trace(&v->traces[i].store->trace);
		is_placed &= all[i].is_placed;
	}
	if (is_placed)
		join_hosts(all, v->trace_count);
	for (size_t i = 0; i < v->trace_count; i++)
		any |= v->traces[i].store->row_count != 0;
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;
		int64_t at;

		if (!is_placed)
			all[i].epoch = 0;
		if (!v->traces[i].store->row_count && any)
			continue;
		if (__builtin_add_overflow(view_first_of(t), all[i].epoch, &at))
			at = INT64_MAX;
		start = at < start ? at : start;
	}
	v->start = is_placed ? start : 0;
	for (size_t i = 0; i < v->trace_count; i++) {
		struct ut_view_trace *t = &v->traces[i];
		struct ut_view_track clock = { .trace = t };
		uint64_t last;

		if (__builtin_sub_overflow(start, all[i].epoch, &t->origin))
			t->origin = 0;
		last = ut_view_time(&clock, t->store->trace.last);
		v->span = last > v->span ? last : v->span;
	}
	v->span += !v->span; /* nothing is shorter than 1 ns */
	free(all);
}

/* ---- types ---------------------------------------------------------------------------------- */

static enum ut_view_class class_of(const struct ut_type *type)
{
	switch ((enum ut_kind)type->kind) {
	case UT_KIND_SPAN:
		if (type->flags & UT_EV_NOT_WORK)
			return UT_CLASS_NOT_WORK;
		return type->flags & UT_EV_ASIDE ? UT_CLASS_ASIDE : UT_CLASS_WORK;
	case UT_KIND_ASYNC_BEGIN:
		return UT_CLASS_ASYNC;
	case UT_KIND_INSTANT:
	case UT_KIND_ASYNC_INSTANT:
	case UT_KIND_OBJECT_NEW:
	case UT_KIND_OBJECT_STATE:
	case UT_KIND_OBJECT_GONE:
		return UT_CLASS_MARK;
	case UT_KIND_SAMPLE:
		return UT_CLASS_SAMPLE;
	case UT_KIND_COUNTER:
	case UT_KIND_ASYNC_END:
	case UT_KIND_FLOW_OUT:
	case UT_KIND_FLOW_IN:
	case UT_KIND_FLOW_STEP:
	case UT_KIND_COUNT:
		break;
	}
	return UT_CLASS_NONE;
}

const struct ut_view_trace *ut_view_trace_of_type(const struct ut_view *v, uint32_t type)
{
	size_t low = 0, high = v->trace_count;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (v->traces[mid].first_type <= type)
			low = mid;
		else
			high = mid;
	}
	return &v->traces[low];
}

static const struct ut_type *type_at(const struct ut_view *v, uint32_t type,
				     const struct ut_strtab **strings)
{
	const struct ut_view_trace *t = ut_view_trace_of_type(v, type);

	*strings = &t->store->trace.strings;
	return ut_store_type(t->store, type - t->first_type);
}

struct ut_str ut_view_type_name(const struct ut_view *v, uint32_t type)
{
	const struct ut_strtab *strings;
	const struct ut_type *t = type_at(v, type, &strings);

	return ut_strtab_get(strings, t->name);
}

struct ut_str ut_view_type_cat(const struct ut_view *v, uint32_t type)
{
	const struct ut_strtab *strings;
	const struct ut_type *t = type_at(v, type, &strings);

	return ut_strtab_get(strings, t->cat);
}

uint8_t ut_view_type_flags(const struct ut_view *v, uint32_t type)
{
	const struct ut_strtab *strings;

	return type_at(v, type, &strings)->flags;
}

static bool same_text(struct ut_str a, struct ut_str b)
{
	return a.len == b.len && !memcmp(a.ptr, b.ptr, a.len);
}

/* Equal names get equal numbers, in the order in which they are met. */
static void number_names(struct ut_view *v)
{
	size_t size = 64;
	struct ut_view_name *slots;

	while (size < (size_t)v->type_count * 2)
		size *= 2;
	slots = ut_make(size * sizeof(*slots));
	for (uint32_t type = 0; type < v->type_count; type++) {
		struct ut_str name = ut_view_type_name(v, type);
		uint64_t hash = ut_hash_bytes(name.ptr, name.len);
		size_t i = hash & (size - 1);

		while (slots[i].number && (slots[i].hash != hash ||
					   !same_text(name, ut_view_type_name(v, slots[i].type))))
			i = (i + 1) & (size - 1);
		if (!slots[i].number)
			slots[i] = (struct ut_view_name){ hash, ++v->name_count, type };
		v->name_of[type] = slots[i].number - 1;
	}
	free(slots);
}

uint32_t ut_view_find_name(const struct ut_view *v, struct ut_str name)
{
	for (uint32_t type = 0; type < v->type_count; type++) {
		if (v->classes[type] != UT_CLASS_NONE &&
		    same_text(name, ut_view_type_name(v, type)))
			return type;
	}
	return UINT32_MAX;
}

static uint8_t traits_of(const struct ut_trace *t, const struct ut_type *type)
{
	struct ut_category c = ut_classify_category(t, type->cat);
	const char *name = ut_strtab_get(&t->strings, type->name).ptr;

	return (uint8_t)((ut_classify_is_busy(c, name) ? 0 : UT_TRAIT_QUIET) |
			 (c.itself ? UT_TRAIT_ITSELF : 0));
}

static void number_types(struct ut_view *v)
{
	v->classes = ut_make((size_t)v->type_count + 1);
	v->traits = ut_make((size_t)v->type_count + 1);
	v->name_of = ut_make(((size_t)v->type_count + 1) * sizeof(*v->name_of));
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_view_trace *t = &v->traces[i];

		for (uint32_t n = 0; n < t->store->types.count; n++) {
			const struct ut_type *type = ut_store_type(t->store, n);

			v->classes[t->first_type + n] = (uint8_t)class_of(type);
			v->traits[t->first_type + n] = traits_of(&t->store->trace, type);
		}
	}
	number_names(v);
}

/* ---- tracks --------------------------------------------------------------------------------- */

static void count_lanes(struct ut_view *v, const struct ut_lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++) {
		const struct ut_lane *l = &lanes->lanes[i];

		if (l->kind <= UT_LANE_ASYNC)
			v->slices += l->count;
		else if (l->kind == UT_LANE_COUNTER)
			v->samples += l->count;
	}
}

/* Numbers that are kept free belong to tracks without a row. */
static void number_tracks(struct ut_view *v)
{
	static const struct ut_rows no_rows;
	static const struct ut_lanes no_lanes;

	v->tracks = ut_make(((size_t)v->track_count + 1) * sizeof(*v->tracks));
	for (uint32_t i = 0; i < v->track_count; i++)
		v->tracks[i] = (struct ut_view_track){ .trace = v->traces,
						       .rows = &no_rows,
						       .lanes = &no_lanes,
						       .place = UT_NO_PLACE };
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_view_trace *t = &v->traces[i];

		for (uint32_t n = 0; n < t->store->trace.track_count; n++) {
			uint32_t at = t->first_track + n;

			v->tracks[at] = (struct ut_view_track){
				.trace = t,
				.local = n,
				.rows = &t->store->rows[n],
				.lanes = ut_pyramid_lanes(t->store, n),
				.place = UT_NO_PLACE,
			};
			count_lanes(v, v->tracks[at].lanes);
		}
	}
}

/* So many numbers for count things, at least for some: twice as many when they are used up. */
static uint32_t with_room(const struct ut_view *v, uint32_t count, uint32_t some)
{
	while (v->roomy && some < count)
		some *= 2;
	return v->roomy ? some : count;
}

void ut_view_ready(struct ut_view *v, unsigned int threads)
{
	v->threads = threads;
	for (size_t i = 0; i < v->trace_count; i++) {
		struct ut_view_trace *t = &v->traces[i];

		ut_pyramid_build(t->store, threads);
		t->first_track = v->track_count;
		t->first_type = v->type_count;
		v->track_count += with_room(v, (uint32_t)t->store->trace.track_count, 16);
		v->type_count += with_room(v, t->store->types.count, 256);
	}
	set_clock(v);
	number_types(v);
	number_tracks(v);
	ut_view_make_places(v);
	ut_view_attach_own(v);
}

/* ---- rows ----------------------------------------------------------------------------------- */

const struct ut_async_end *ut_view_ends(struct ut_view *v, const struct ut_view_track *t)
{
	struct ut_view_track *own = &v->tracks[t - v->tracks];

	pthread_mutex_lock(&v->lock);
	if (!own->ends) {
		struct ut_async_end *ends = ut_make((t->rows->count + 1) * sizeof(*ends));

		ut_nesting_of_track(t->trace->store, t->local, ends);
		for (uint64_t i = 0; i < t->rows->count; i++) {
			if (ends[i].ts)
				ends[i].ts = ut_async_until(t->rows, i, ends[i].ts);
		}
		own->ends = ends;
	}
	pthread_mutex_unlock(&v->lock);
	return own->ends;
}

bool ut_view_row(struct ut_view *v, const struct ut_view_track *t, uint64_t row,
		 struct ut_view_row *out)
{
	const struct ut_block *b;
	uint64_t ts, end;
	uint32_t i;

	if (row >= t->rows->count)
		return false;
	b = &t->rows->blocks[row / UT_BLOCK_ROWS];
	i = (uint32_t)(row % UT_BLOCK_ROWS);
	ts = end = b->ts[i];
	*out = (struct ut_view_row){ .track = t, .row = row, .args = b->args[i] };
	out->type = ut_view_type(t, b->type[i]);
	switch ((enum ut_view_class)v->classes[out->type]) {
	case UT_CLASS_WORK:
	case UT_CLASS_ASIDE:
	case UT_CLASS_NOT_WORK:
		end = ts + b->val[i] < ts ? UINT64_MAX : ts + b->val[i];
		break;
	case UT_CLASS_ASYNC:
		end = ut_view_ends(v, t)[row].ts;
		end = end < ts ? ts : end;
		break;
	case UT_CLASS_MARK:
	case UT_CLASS_SAMPLE:
		break;
	case UT_CLASS_NONE:
		return false;
	}
	out->start = ut_view_time(t, ts);
	out->end = ut_view_time(t, end);
	return true;
}

bool ut_view_find(struct ut_view *v, uint64_t id, struct ut_view_row *out)
{
	return id >> 32 < v->track_count &&
	       ut_view_row(v, &v->tracks[id >> 32], id & UINT32_MAX, out);
}

/* Rows of a lane are in order. */
static bool lane_has(const struct ut_lane *l, uint64_t row, uint64_t *entry)
{
	uint64_t low = 0, high = l->count;

	while (l->rows && low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (l->rows[mid] < row)
			low = mid + 1;
		else
			high = mid;
	}
	*entry = l->rows ? low : row;
	return *entry < l->count && (!l->rows || l->rows[*entry] == row);
}

uint32_t ut_view_lane(const struct ut_view_track *t, uint64_t row, uint64_t *entry)
{
	uint32_t i = 0;

	while (i < t->lanes->count && !lane_has(&t->lanes->lanes[i], row, entry))
		i++;
	return i;
}
