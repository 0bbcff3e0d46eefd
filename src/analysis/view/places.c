/*
 * places.c - the tree of places: rank, process or device, then threads, queues, counters.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "view/view_parts.h"

/* A process of one of the traces, with what it is sorted by. */
struct owner {
	const struct ut_view_trace *trace;
	uint32_t process;
	int32_t rank, sort_index;
	bool stray; /* neither a name nor a wish where to stand: odds and ends of other tools */
	uint32_t order;
};

/* The tracks of each process, as lists: number plus 1, 0 = the end. */
struct lists {
	uint32_t *head; /* by owner.order */
	uint32_t *next; /* by track */
};

static int by_order(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	/* what has no rank comes behind what has one */
	uint32_t rank_x = (uint32_t)x->rank, rank_y = (uint32_t)y->rank;

	if (rank_x != rank_y)
		return rank_x < rank_y ? -1 : 1;
	if (x->stray != y->stray)
		return x->stray ? 1 : -1;
	if (x->sort_index != y->sort_index)
		return x->sort_index < y->sort_index ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct ut_str places_keep(struct ut_view *v, struct ut_buf *b)
{
	struct ut_str s = { NULL, b->len };

	s.ptr = ut_buf_take(b, &v->arena);
	return s;
}

static uint32_t places_add_place(struct ut_view *v, struct ut_view_place place)
{
	v->places =
		ut_grow(v->places, (size_t)v->place_count + 1, &v->place_cap, sizeof(*v->places));
	v->places[v->place_count] = place;
	return v->place_count++;
}

/* ---- tracks --------------------------------------------------------------------------------- */

static enum ut_place_kind places_kind_of(const struct ut_track *t, bool of_device)
{
	switch (ut_track_role(t)) {
	case UT_ROLE_THREAD:
		return of_device ? UT_PLACE_QUEUE : UT_PLACE_THREAD;
	case UT_ROLE_QUEUE:
		return UT_PLACE_QUEUE;
	case UT_ROLE_ASYNC:
		return UT_PLACE_ASYNC;
	case UT_ROLE_COUNTER:
		return UT_PLACE_COUNTER;
	case UT_ROLE_UNKNOWN:
	case UT_ROLE_SIDE:
	case UT_ROLE_CALLS:
	case UT_ROLE_LANE:
	case UT_ROLE_FRAMES:
	case UT_ROLE_CONTROL:
	case UT_ROLE_WAITS:
	case UT_ROLES:
		break;
	}
	return UT_PLACE_LANE;
}

/* A number that was told about a track as a whole; 0 = nobody did. */
static uint64_t places_fact(const struct ut_trace *t, const struct ut_track *track, const char *key)
{
	for (uint32_t a = track->args; a && t->args[a].type != UT_ARG_END; a++) {
		const struct ut_arg *arg = &t->args[a];

		if (!ut_str_is(ut_strtab_get(&t->strings, arg->key), key))
			continue;
		if (arg->type == UT_ARG_I64)
			return arg->value.i64 > 0 ? (uint64_t)arg->value.i64 : 0;
		return arg->type == UT_ARG_U64 ? arg->value.u64 : 0;
	}
	return 0;
}

/* The share of a CPU that a thread used while it lived, or all of the time; below 0: not told. */
static double cpu_share(const struct ut_view *v, const struct ut_trace *t,
			const struct ut_track *track)
{
	uint64_t ran = places_fact(t, track, "cpu_ns");
	uint64_t rest = places_fact(t, track, "waiting_ns") + places_fact(t, track, "ready_ns");

	return ran ? (double)ran / (double)(rest ? ran + rest : v->span) : -1;
}

static void places_add_track(struct ut_view *v, uint32_t number, uint32_t parent)
{
	struct ut_view_track *t = &v->tracks[number];
	const struct ut_trace *trace = &t->trace->store->trace;
	const struct ut_track *k = &trace->tracks[t->local];
	struct ut_view_place p = { .parent = parent, .track = number, .cpu = -1 };
	struct ut_buf b = { 0 };

	p.kind = places_kind_of(k, ut_view_device_of(v, parent) != UT_NO_PLACE);
	p.rank = trace->processes[k->process].rank;
	p.name = ut_strtab_get(&trace->strings, k->name);
	if (!p.name.len) {
		ut_label_track(&b, trace, t->local);
		p.name = places_keep(v, &b);
	} else if (ut_track_role(k) == UT_ROLE_THREAD) {
		ut_label_id(&b, trace, k->id, k->id_text);
		p.sub = places_keep(v, &b);
	}
	p.unit = ut_strtab_get(&trace->strings, k->unit);
	if (ut_track_role(k) == UT_ROLE_THREAD) {
		p.tid = k->id_text ? 0 : k->id;
		p.cpu = cpu_share(v, trace, k);
	}
	if (ut_track_role(k) == UT_ROLE_CALLS)
		p.calls = k->thread;
	t->place = places_add_place(v, p);
}

struct shown {
	uint32_t number;
	uint32_t kind;
	int32_t sort_index;
	uint32_t order; /* among its like: as they came */
	bool is_below;  /* it stands below the thread that it tells of, whose order it has */
};

/* Threads and queues first, counters last; otherwise as they ask for, or as they came. */
static int by_kind(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->sort_index != y->sort_index)
		return x->sort_index < y->sort_index ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	if (x->is_below != y->is_below)
		return x->is_below ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* The thread that a counter "CPU usage: NAME (TID)" tells of; 0 = it is none. */
static uint64_t usage_of(const struct ut_trace *t, const struct ut_track *k)
{
	static const char sign[] = "CPU usage: ";
	const char *name = ut_strtab_get(&t->strings, k->name).ptr, *open = strrchr(name, '(');
	char *end;
	uint64_t tid;

	if (ut_track_role(k) != UT_ROLE_COUNTER || !ut_str_starts(name, sign) || !open)
		return 0;
	tid = strtoull(open + 1, &end, 10);
	return strcmp(end, ")") == 0 ? tid : 0;
}

/* How much a thread ran stands below the thread. */
static void pair_usage(const struct owner *o, struct shown *list, size_t count)
{
	const struct ut_trace *trace = &o->trace->store->trace;
	struct ut_idmap threads = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct ut_track *k = &trace->tracks[list[i].number - o->trace->first_track];

		if (ut_track_role(k) == UT_ROLE_THREAD && !k->id_text && k->id)
			ut_idmap_put(&threads, k->id, (uint32_t)i + 1);
	}
	for (size_t i = 0; i < count; i++) {
		const struct ut_track *k = &trace->tracks[list[i].number - o->trace->first_track];
		uint64_t tid = usage_of(trace, k);
		uint32_t thread = tid ? ut_idmap_get(&threads, tid) : 0;

		if (!thread)
			continue;
		list[i].kind = list[thread - 1].kind;
		list[i].sort_index = list[thread - 1].sort_index;
		list[i].order = list[thread - 1].order;
		list[i].is_below = true;
	}
	ut_idmap_release(&threads);
}

/* Its tracks that have anything to show. */
static struct shown *list_tracks(const struct ut_view *v, const struct lists *l,
				 const struct owner *o, size_t *count)
{
	const struct ut_trace *trace = &o->trace->store->trace;
	struct shown *list = NULL;
	size_t cap = 0;

	*count = 0;
	for (uint32_t n = l->head[o->order]; n; n = l->next[n - 1]) {
		const struct ut_track *k = &trace->tracks[n - 1 - o->trace->first_track];

		if (!v->tracks[n - 1].lanes->count)
			continue;
		list = ut_grow(list, *count + 1, &cap, sizeof(*list));
		list[(*count)++] = (struct shown){ .number = n - 1,
						   .kind = k->type,
						   .sort_index = k->sort_index,
						   .order = n - 1 };
	}
	pair_usage(o, list, *count);
	ut_sort(list, *count, sizeof(*list), by_kind);
	return list;
}

/* Processes are numbered as list_owners() meets them. */
static void make_lists(const struct ut_view *v, struct lists *l, size_t owners)
{
	uint32_t first = 0;

	l->head = ut_make((owners + 1) * sizeof(*l->head));
	l->next = ut_make(((size_t)v->track_count + 1) * sizeof(*l->next));
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (uint32_t n = 0; n < t->track_count; n++) {
			uint32_t number = v->traces[i].first_track + n,
				 owner = t->tracks[n].process;

			if (owner >= t->process_count)
				continue;
			l->next[number] = l->head[first + owner];
			l->head[first + owner] = number + 1;
		}
		first += (uint32_t)t->process_count;
	}
}

/* ---- processes and ranks -------------------------------------------------------------------- */

static uint32_t add_process(struct ut_view *v, const struct owner *o, uint32_t parent)
{
	const struct ut_trace *trace = &o->trace->store->trace;
	const struct ut_process *process = &trace->processes[o->process];
	struct ut_view_place p = {
		.parent = parent, .track = UT_NO_TRACK, .rank = o->rank, .cpu = -1
	};
	struct ut_str host = ut_strtab_get(&trace->strings, process->host);
	struct ut_buf b = { 0 };
	bool of_device = ut_is_device(trace, o->process);

	p.kind = of_device ? UT_PLACE_DEVICE : UT_PLACE_PROCESS;
	p.name = ut_strtab_get(&trace->strings, ut_process_shown_name(process));
	if (!of_device || !p.name.len) {
		ut_buf_text(&b, p.name.len ? "" : "pid ");
		ut_label_id(&b, trace, process->pid, process->pid_text);
	}
	if (!p.name.len) {
		p.name = places_keep(v, &b);
	} else {
		if (host.len) {
			ut_buf_text(&b, b.len ? ", " : "");
			ut_buf_add(&b, host.ptr, host.len);
		}
		p.sub = places_keep(v, &b);
	}
	return places_add_place(v, p);
}

static uint32_t places_add_rank(struct ut_view *v, int32_t rank)
{
	struct ut_buf b = { 0 };

	ut_buf_fmt(&b, "rank %" PRId32, rank);
	v->rank_count++;
	return places_add_place(v, (struct ut_view_place){ .parent = UT_NO_PLACE,
							   .track = UT_NO_TRACK,
							   .kind = UT_PLACE_RANK,
							   .rank = rank,
							   .cpu = -1,
							   .name = places_keep(v, &b) });
}

/* The tracks of a process or device, those of a group together below it. */
static void add_tracks(struct ut_view *v, const struct shown *tracks, size_t count, uint32_t owner)
{
	const char *group = NULL;
	uint32_t parent = owner;

	for (size_t i = 0; i < count; i++) {
		const struct ut_view_track *t = &v->tracks[tracks[i].number];
		const char *its = t->trace->groups ? t->trace->groups[t->local] : NULL;

		if (!its)
			parent = owner;
		else if (!group || strcmp(group, its) != 0)
			parent = places_add_place(
				v, (struct ut_view_place){ .parent = owner,
							   .track = UT_NO_TRACK,
							   .kind = UT_PLACE_GROUP,
							   .rank = v->places[owner].rank,
							   .cpu = -1,
							   .name = { its, strlen(its) } });
		group = its;
		places_add_track(v, tracks[i].number, parent);
	}
}

static struct owner *list_owners(const struct ut_view *v, size_t *count)
{
	struct owner *all = NULL;
	size_t cap = 0;

	*count = 0;
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (uint32_t n = 0; n < t->process_count; n++) {
			const struct ut_process *p = &t->processes[n];

			all = ut_grow(all, *count + 1, &cap, sizeof(*all));
			all[*count] = (struct owner){ .trace = &v->traces[i],
						      .process = n,
						      .rank = p->rank,
						      .sort_index = p->sort_index,
						      .stray = !p->name && !p->sort_index,
						      .order = (uint32_t)*count };
			(*count)++;
		}
	}
	ut_sort(all, *count, sizeof(*all), by_order);
	return all;
}

void ut_view_make_places(struct ut_view *v)
{
	size_t count;
	struct owner *owners = list_owners(v, &count);
	uint32_t rank = UT_NO_PLACE;
	struct lists lists;

	make_lists(v, &lists, count);
	for (size_t i = 0; i < count; i++) {
		const struct owner *o = &owners[i];
		size_t shown;
		struct shown *tracks = list_tracks(v, &lists, o, &shown);
		uint32_t place;

		if (o->rank >= 0 && shown &&
		    (rank == UT_NO_PLACE || v->places[rank].rank != o->rank))
			rank = places_add_rank(v, o->rank);
		if (shown) {
			place = add_process(v, o, o->rank >= 0 ? rank : UT_NO_PLACE);
			add_tracks(v, tracks, shown, place);
		}
		free(tracks);
	}
	free(lists.head);
	free(lists.next);
	free(owners);
}

/* ---- asking --------------------------------------------------------------------------------- */

void ut_view_path_name(const struct ut_view *v, uint32_t place, struct ut_buf *b)
{
	uint32_t path[8] = { 0 };
	size_t depth = 0;

	for (; place < v->place_count && depth < 8; place = v->places[place].parent)
		path[depth++] = place;
	while (depth--) {
		struct ut_str name = v->places[path[depth]].name;

		ut_buf_add(b, name.ptr, name.len);
		ut_buf_text(b, depth ? " / " : "");
	}
}

uint32_t ut_view_device_of(const struct ut_view *v, uint32_t place)
{
	while (place < v->place_count && v->places[place].kind != UT_PLACE_DEVICE)
		place = v->places[place].parent;
	return place < v->place_count ? place : UT_NO_PLACE;
}
