#include "acelyzer/file_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/grow.h"
#include "base/thread_pool.h"

/* The next event of a file. Of equal times the one that came last into the heap is first. */
struct front {
	double ts;
	uint64_t turn;
	size_t part, at;
};

static bool file_merge_before(const struct front *a, const struct front *b)
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
		if (child + 1 < n && file_merge_before(&heap[child + 1], &heap[child]))
			child++;
		if (!file_merge_before(&heap[child], &f))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = f;
}

/* To the part's next event that counts, from at on. */
static bool find_next(const struct ut_ace_table *t, struct front *f)
{
	while (f->at < t->event_count && t->events[f->at].flags & UT_ACE_DROP)
		f->at++;
	if (f->at == t->event_count)
		return false;
	f->ts = t->events[f->at].flags & UT_ACE_NO_TS ? 0 : t->events[f->at].ts;
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

static void map_part(struct ut_ace_table *t, struct ut_ace_table *from, struct map *m)
{
	m->strings = ut_make(((size_t)from->strings.count + 1) * sizeof(*m->strings));
	for (uint32_t i = 1; i <= from->strings.count; i++) {
		struct ut_str s = ut_strtab_get(&from->strings, i);

		m->strings[i] = ut_strtab_intern(&t->strings, s.ptr, s.len);
	}
	m->ids = ut_make(from->id_count * sizeof(*m->ids));
	for (size_t i = 1; i < from->id_count; i++) {
		struct ut_ace_id id = from->ids[i];

		id.str = m->strings[id.str];
		m->ids[i] = ut_ace_id_add(t, &id);
	}
}

/* Where the stamps of each part go, in one array of the right size. Row 0 of each is unused. */
static void place_devs(struct ut_ace_table *t, const struct ut_ace_part *parts, size_t count,
		       struct map *maps)
{
	size_t n = 1;

	for (size_t i = 0; i < count; i++) {
		maps[i].devs = (uint32_t)n - 1;
		n += parts[i].table.dev_count - 1;
	}
	free(t->devs);
	t->devs = ut_ace_big_make(n, sizeof(*t->devs));
	t->devs[0] = (struct ut_ace_dev){ 0 };
	t->dev_count = t->dev_cap = n;
}

/* Where each event goes: its link, until it has moved. */
static void place_events(struct ut_ace_table *t, struct ut_ace_part *parts, size_t count)
{
	struct front *heap = ut_make((count + 1) * sizeof(*heap));
	size_t n = 0, to = 0;
	uint64_t turn = 0;

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
		struct ut_ace_table *from = &parts[f->part].table;

		t->any_flags |= from->events[f->at].flags;
		from->events[f->at++].link = (uint32_t)to++;
		if (find_next(from, f))
			f->turn = ++turn;
		else
			heap[0] = heap[--n];
		if (n)
			sift(heap, n, 0);
	}
	free(heap);
	t->event_count = t->seq_count = to;
	t->events = ut_ace_big_grow(t->events, to, &t->event_cap, sizeof(*t->events));
	t->seq = ut_ace_big_grow(t->seq, to, &t->seq_cap, sizeof(*t->seq));
}

/* What moves the parts, several at once. */
struct move {
	struct ut_ace_table *to;
	struct ut_ace_part *parts;
	struct map *maps;
};

static void rename_lists(void *ctx, size_t part)
{
	const struct move *m = ctx;

	ut_arglists_rename(&m->parts[part].table.lists, m->maps[part].strings);
}

static struct ut_ace_event moved(const struct map *m, struct ut_ace_event e)
{
	e.pid = m->ids[e.pid];
	e.tid = m->ids[e.tid];
	e.name = m->strings[e.name];
	e.cat = m->strings[e.cat];
	e.args = moved_list(m, e.args);
	e.extra = moved_list(m, e.extra);
	e.dev = e.dev ? e.dev + m->devs : 0;
	e.link = 0;
	return e;
}

static void move_events(const struct move *m, size_t part)
{
	const struct ut_ace_part *p = &m->parts[part];

	for (size_t i = 0; !p->processed && i < p->table.event_count; i++) {
		const struct ut_ace_event *e = &p->table.events[i];

		if (e->flags & UT_ACE_DROP)
			continue;
		m->to->events[e->link] = moved(&m->maps[part], *e);
		m->to->events[e->link].job = (uint32_t)part;
		m->to->seq[e->link] = e->link;
	}
}

static void move_devs(struct ut_ace_table *t, size_t first, struct ut_ace_table *from)
{
	memcpy(t->devs + first, from->devs + 1, (from->dev_count - 1) * sizeof(*t->devs));
	free(from->devs);
	from->devs = NULL;
	from->dev_count = from->dev_cap = 0;
}

static void move_part(void *ctx, size_t part)
{
	const struct move *m = ctx;
	struct ut_ace_table *from = &m->parts[part].table;

	move_devs(m->to, m->maps[part].devs + 1, from);
	move_events(m, part);
	free(from->events);
	from->events = NULL;
	from->event_count = from->event_cap = 0;
}

static void file_merge_release(struct map *m)
{
	free(m->strings);
	free(m->ids);
}

void ut_ace_append(struct ut_ace_table *t, struct ut_ace_table *from)
{
	struct map m = { .devs = (uint32_t)t->dev_count - 1 };
	size_t devs = t->dev_count, events = t->event_count;

	map_part(t, from, &m);
	ut_arglists_rename(&from->lists, m.strings);
	m.lists = ut_arglists_join(&t->lists, &from->lists);
	ut_arglists_init(&from->lists);
	t->dev_count += from->dev_count - 1;
	t->devs = ut_ace_big_grow(t->devs, t->dev_count, &t->dev_cap, sizeof(*t->devs));
	move_devs(t, devs, from);
	t->event_count += from->event_count;
	t->events = ut_ace_big_grow(t->events, t->event_count, &t->event_cap, sizeof(*t->events));
	for (size_t i = 0; i < from->event_count; i++)
		t->events[events + i] = moved(&m, from->events[i]);
	from->event_count = 0;
	file_merge_release(&m);
}

/*
 * Spans of flex files whose process or thread has a name get a number instead: 10000 and up, the
 * same for the same name. The name stays among the arguments.
 */
static void number_names(struct ut_ace_table *t)
{
	size_t known = t->id_count;
	uint32_t *number = ut_make(known * sizeof(*number)), next = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);
		uint32_t *both[] = { &e->pid, &e->tid };

		if (e->ph != 'X' || t->jobs[e->job].dialect != UT_ACE_FLEX)
			continue;
		for (int k = 0; k < 2; k++) {
			uint32_t id = *both[k];

			if (id >= known || t->ids[id].kind != UT_ACE_ID_STR)
				continue;
			if (!number[id])
				number[id] = ut_ace_id_int(t, 10000 + next++);
			*both[k] = number[id];
		}
	}
	free(number);
}

static bool has_names(const struct ut_ace_table *t)
{
	for (size_t i = 1; i < t->id_count; i++) {
		if (t->ids[i].kind == UT_ACE_ID_STR)
			return true;
	}
	return false;
}

/* A single file's table becomes the common one. */
static void adopt(struct ut_ace_table *t, struct ut_ace_part *p)
{
	unsigned int threads = t->threads;

	ut_ace_table_release(t);
	ut_ace_table_take(t, &p->table);
	t->threads = threads;
	t->jobs[0].dialect = p->dialect;
	t->jobs[0].rank = p->rank;
	t->seq = ut_ace_big_grow(t->seq, t->event_count, &t->seq_cap, sizeof(*t->seq));
	for (size_t i = 0; !p->processed && i < t->event_count; i++) {
		if (t->events[i].flags & UT_ACE_DROP)
			continue;
		t->any_flags |= t->events[i].flags;
		t->seq[t->seq_count++] = (uint32_t)i;
	}
}

static void file_merge_merge(struct ut_ace_table *t, struct ut_ace_part *parts, size_t count)
{
	struct map *maps = ut_make((count + 1) * sizeof(*maps));
	struct move move = { t, parts, maps };

	for (size_t i = 0; i < count; i++) {
		uint32_t job = ut_ace_job_add(t, parts[i].table.jobs[0].path);

		t->jobs[job].dialect = parts[i].dialect;
		t->jobs[job].rank = parts[i].rank;
		map_part(t, &parts[i].table, &maps[i]);
	}
	ut_thread_pool_each(t->threads, count, rename_lists, &move);
	for (size_t i = 0; i < count; i++) {
		maps[i].lists = ut_arglists_join(&t->lists, &parts[i].table.lists);
		ut_arglists_init(&parts[i].table.lists);
	}
	place_devs(t, parts, count, maps);
	place_events(t, parts, count);
	ut_thread_pool_each(t->threads, count, move_part, &move);
	for (size_t i = 0; i < count; i++)
		file_merge_release(&maps[i]);
	free(maps);
}

void ut_ace_merge(struct ut_ace_table *t, struct ut_ace_part *parts, size_t count)
{
	if (count == 1)
		adopt(t, &parts[0]);
	else
		file_merge_merge(t, parts, count);
	if (has_names(t))
		number_names(t);
}
