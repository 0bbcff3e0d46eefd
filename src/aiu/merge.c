#include "aiu/merge.h"

#include <stdlib.h>
#include <string.h>

#include "aiu/big.h"
#include "base/grow.h"

/* The next event of a file. Of equal times the one that came last into the heap is first. */
struct front {
	double ts;
	uint64_t turn;
	size_t part, at;
};

static bool before(const struct front *a, const struct front *b)
{
	return a->ts < b->ts || (a->ts == b->ts && a->turn > b->turn);
}

static void sift(struct front *heap, size_t n, size_t i)
{
	struct front f = heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &f))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = f;
}

/* To the part's next event that counts, from at on. */
static bool find_next(const struct ut_aiu_table *t, struct front *f)
{
	while (f->at < t->event_count && t->events[f->at].flags & UT_AIU_DROP)
		f->at++;
	if (f->at == t->event_count)
		return false;
	f->ts = t->events[f->at].flags & UT_AIU_NO_TS ? 0 : t->events[f->at].ts;
	return true;
}

/* What the numbers of a part are called in the common table. */
struct map {
	uint32_t *strings, *ids;
	uint32_t lists, devs;
};

static uint32_t moved_list(const struct map *m, uint32_t list)
{
	return list ? list + m->lists : 0;
}

static void move_event(struct ut_aiu_table *t, const struct map *m, const struct ut_aiu_event *from,
		       size_t part)
{
	struct ut_aiu_event *e = ut_aiu_event_add(t);

	*e = *from;
	e->pid = m->ids[from->pid];
	e->tid = m->ids[from->tid];
	e->name = m->strings[from->name];
	e->cat = m->strings[from->cat];
	e->args = moved_list(m, from->args);
	e->extra = moved_list(m, from->extra);
	e->dev = from->dev ? from->dev + m->devs : 0;
	e->job = (uint32_t)part;
	t->any_flags |= e->flags;
	ut_aiu_seq_add(t, (uint32_t)(t->event_count - 1));
}

static void map_part(struct ut_aiu_table *t, struct ut_aiu_table *from, struct map *m)
{
	m->strings = ut_make(((size_t)from->strings.count + 1) * sizeof(*m->strings));
	for (uint32_t i = 1; i <= from->strings.count; i++) {
		struct ut_str s = ut_strtab_get(&from->strings, i);

		m->strings[i] = ut_strtab_intern(&t->strings, s.ptr, s.len);
	}
	m->ids = ut_make(from->id_count * sizeof(*m->ids));
	for (size_t i = 1; i < from->id_count; i++) {
		struct ut_aiu_id id = from->ids[i];

		id.str = m->strings[id.str];
		m->ids[i] = ut_aiu_id_add(t, &id);
	}
	ut_arglists_rename(&from->lists, m->strings);
	m->lists = ut_arglists_join(&t->lists, &from->lists);
	ut_arglists_init(&from->lists);
}

/* The stamps of all parts in one array of the right size. Row 0 of each is unused. */
static void move_devs(struct ut_aiu_table *t, struct ut_aiu_part *parts, size_t count,
		      struct map *maps)
{
	size_t n = 1;

	for (size_t i = 0; i < count; i++)
		n += parts[i].table.dev_count - 1;
	free(t->devs);
	t->devs = ut_aiu_big_make(n, sizeof(*t->devs));
	t->devs[0] = (struct ut_aiu_dev){ 0 };
	t->dev_count = 1;
	t->dev_cap = n;
	for (size_t i = 0; i < count; i++) {
		struct ut_aiu_table *from = &parts[i].table;

		maps[i].devs = (uint32_t)t->dev_count - 1;
		memcpy(t->devs + t->dev_count, from->devs + 1,
		       (from->dev_count - 1) * sizeof(*t->devs));
		t->dev_count += from->dev_count - 1;
		free(from->devs);
		from->devs = NULL;
		from->dev_count = from->dev_cap = 0;
	}
}

static void reserve(struct ut_aiu_table *t, const struct ut_aiu_part *parts, size_t count)
{
	size_t n = 1;

	for (size_t i = 0; i < count; i++)
		n += parts[i].table.event_count;
	t->events = ut_aiu_big_grow(t->events, n, &t->event_cap, sizeof(*t->events));
	t->seq = ut_aiu_big_grow(t->seq, n, &t->seq_cap, sizeof(*t->seq));
}

static void merge_events(struct ut_aiu_table *t, struct ut_aiu_part *parts, size_t count,
			 const struct map *maps)
{
	struct front *heap = ut_make((count + 1) * sizeof(*heap));
	uint64_t turn = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		turn++;
		heap[n] = (struct front){ .part = i, .turn = turn };
		if (!parts[i].processed && find_next(&parts[i].table, &heap[n]))
			n++;
	}
	for (size_t i = n; i--;)
		sift(heap, n, i);
	while (n) {
		struct front *f = &heap[0];
		struct ut_aiu_table *from = &parts[f->part].table;

		move_event(t, &maps[f->part], &from->events[f->at++], f->part);
		if (find_next(from, f)) {
			f->turn = ++turn;
		} else {
			free(from->events);
			from->events = NULL;
			from->event_count = from->event_cap = 0;
			heap[0] = heap[--n];
		}
		if (n)
			sift(heap, n, 0);
	}
	free(heap);
}

/*
 * Spans of flex files whose process or thread has a name get a number instead: 10000 and up, the
 * same for the same name. The name stays among the arguments.
 */
static void number_names(struct ut_aiu_table *t)
{
	size_t known = t->id_count;
	uint32_t *number = ut_make(known * sizeof(*number)), next = 0;

	for (size_t i = 0; i < t->event_count; i++) {
		struct ut_aiu_event *e = &t->events[i];
		uint32_t *both[] = { &e->pid, &e->tid };

		if (e->ph != 'X' || t->jobs[e->job].dialect != UT_AIU_FLEX)
			continue;
		for (int k = 0; k < 2; k++) {
			uint32_t id = *both[k];

			if (id >= known || t->ids[id].kind != UT_AIU_ID_STR)
				continue;
			if (!number[id])
				number[id] = ut_aiu_id_int(t, 10000 + next++);
			*both[k] = number[id];
		}
	}
	free(number);
}

static bool has_names(const struct ut_aiu_table *t)
{
	for (size_t i = 1; i < t->id_count; i++) {
		if (t->ids[i].kind == UT_AIU_ID_STR)
			return true;
	}
	return false;
}

void ut_aiu_merge(struct ut_aiu_table *t, struct ut_aiu_part *parts, size_t count)
{
	struct map *maps = ut_make((count + 1) * sizeof(*maps));

	for (size_t i = 0; i < count; i++) {
		uint32_t job = ut_aiu_job_add(t, parts[i].table.jobs[0].path);

		t->jobs[job].dialect = parts[i].dialect;
		t->jobs[job].rank = parts[i].rank;
		map_part(t, &parts[i].table, &maps[i]);
	}
	move_devs(t, parts, count, maps);
	reserve(t, parts, count);
	merge_events(t, parts, count, maps);
	if (has_names(t))
		number_names(t);
	for (size_t i = 0; i < count; i++) {
		free(maps[i].strings);
		free(maps[i].ids);
	}
	free(maps);
}
