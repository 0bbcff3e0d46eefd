#include "acelyzer/event_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/grow.h"

static void make_seq(struct ut_ace_table *t)
{
	t->seq = NULL;
	t->seq_count = t->seq_cap = 0;
	t->seq = ut_ace_big_grow(NULL, 1, &t->seq_cap, sizeof(*t->seq));
}

void ut_ace_table_init(struct ut_ace_table *t)
{
	static const char *const words[] = {
#define WORD(key, text) text,
		UT_ACE_KEY_LIST(WORD)
#undef WORD
	};

	*t = (struct ut_ace_table){ 0 };
	ut_strtab_init(&t->strings, &t->arena);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ut_strtab_intern_z(&t->strings, words[i]);
	ut_arglists_init(&t->lists);
	ut_idmap_init(&t->int_ids, &t->arena);
	ut_idmap_init(&t->str_ids, &t->arena);
	t->ids = ut_grow(NULL, 16, &t->id_cap, sizeof(*t->ids));
	t->id_count = 1;
	make_seq(t);
	ut_ace_dev_add(t);
}

void ut_ace_table_release(struct ut_ace_table *t)
{
	for (size_t i = 0; i < t->job_count; i++)
		free(t->jobs[i].path);
	free(t->jobs);
	free(t->events);
	free(t->devs);
	free(t->seq);
	free(t->scratch);
	free(t->ids);
	ut_arglists_release(&t->lists);
	ut_arena_release(&t->arena);
	*t = (struct ut_ace_table){ 0 };
}

void ut_ace_table_take(struct ut_ace_table *t, struct ut_ace_table *from)
{
	*t = *from;
	ut_strtab_set_arena(&t->strings, &t->arena);
	t->int_ids.arena = t->str_ids.arena = &t->arena;
	*from = (struct ut_ace_table){ 0 };
}

struct ut_ace_event *ut_ace_event_add(struct ut_ace_table *t)
{
	struct ut_ace_event *e;

	t->events =
		ut_ace_big_grow(t->events, t->event_count + 1, &t->event_cap, sizeof(*t->events));
	e = &t->events[t->event_count++];
	*e = (struct ut_ace_event){ 0 };
	return e;
}

uint32_t ut_ace_dev_add(struct ut_ace_table *t)
{
	t->devs = ut_ace_big_grow(t->devs, t->dev_count + 1, &t->dev_cap, sizeof(*t->devs));
	t->devs[t->dev_count] = (struct ut_ace_dev){ 0 };
	return (uint32_t)t->dev_count++;
}

uint32_t ut_ace_job_add(struct ut_ace_table *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct ut_ace_job *job;

	t->jobs = ut_grow(t->jobs, t->job_count + 1, &t->job_cap, sizeof(*t->jobs));
	job = &t->jobs[t->job_count];
	job->path = strdup(path);
	if (!job->path)
		abort();
	job->base = slash ? job->path + (slash + 1 - path) : job->path;
	job->base_len = strlen(job->base);
	job->rank = -1;
	return (uint32_t)t->job_count++;
}

void ut_ace_seq_add(struct ut_ace_table *t, uint32_t event)
{
	t->seq = ut_ace_big_grow(t->seq, t->seq_count + 1, &t->seq_cap, sizeof(*t->seq));
	t->seq[t->seq_count++] = event;
}

uint32_t *ut_ace_seq_take(struct ut_ace_table *t, size_t *count)
{
	uint32_t *seq = t->seq;

	*count = t->seq_count;
	make_seq(t);
	return seq;
}

void ut_ace_seq_sweep(struct ut_ace_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		if (!(ut_ace_at(t, i)->flags & UT_ACE_DROP))
			t->seq[kept++] = t->seq[i];
	}
	t->seq_count = kept;
}

static uint32_t append_id(struct ut_ace_table *t, const struct ut_ace_id *id)
{
	t->ids = ut_grow(t->ids, t->id_count + 1, &t->id_cap, sizeof(*t->ids));
	t->ids[t->id_count] = *id;
	return (uint32_t)t->id_count++;
}

uint32_t ut_ace_id_add(struct ut_ace_table *t, const struct ut_ace_id *id)
{
	bool text = id->kind == UT_ACE_ID_STR || id->kind == UT_ACE_ID_RAW;
	struct ut_idmap *map = text ? &t->str_ids : &t->int_ids;
	uint64_t key =
		text ? (uint64_t)id->str << 1 | (id->kind == UT_ACE_ID_RAW) : (uint64_t)id->num;
	uint32_t at;

	if (id->kind == UT_ACE_ID_NONE)
		return 0;
	/* A number of 2^63 and more shares its bits with a negative one: a table for both is
	 * enough because only one of them is common. */
	if (id->kind == UT_ACE_ID_U64) {
		map = &t->str_ids;
		key = (uint64_t)id->num; /* its highest bit is set: no string id has that */
	}
	at = ut_idmap_get(map, key);
	if (!at) {
		at = append_id(t, id);
		ut_idmap_put(map, key, at);
	}
	return at;
}

uint32_t ut_ace_id_int(struct ut_ace_table *t, int64_t num)
{
	return ut_ace_id_add(t, &(struct ut_ace_id){ .num = num, .kind = UT_ACE_ID_INT });
}
