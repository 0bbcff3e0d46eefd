#include "aiu/table.h"

#include <stdlib.h>
#include <string.h>

#include "aiu/big.h"
#include "base/grow.h"

#define MOST_ARGS 256 /* of a list that is looked into; the rest is passed on unread */

void ut_aiu_table_init(struct ut_aiu_table *t)
{
	static const char *const words[] = {
#define WORD(key, text) text,
		UT_AIU_KEY_LIST(WORD)
#undef WORD
	};

	*t = (struct ut_aiu_table){ 0 };
	ut_strtab_init(&t->strings, &t->arena);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ut_strtab_intern_z(&t->strings, words[i]);
	ut_arglists_init(&t->lists);
	ut_idmap_init(&t->int_ids, &t->arena);
	ut_idmap_init(&t->str_ids, &t->arena);
	t->ids = ut_grow(NULL, 16, &t->id_cap, sizeof(*t->ids));
	t->id_count = 1;
	ut_aiu_dev_add(t);
}

void ut_aiu_table_release(struct ut_aiu_table *t)
{
	for (size_t i = 0; i < t->job_count; i++)
		free(t->jobs[i].path);
	free(t->jobs);
	free(t->events);
	free(t->devs);
	free(t->seq);
	free(t->ids);
	ut_arglists_release(&t->lists);
	ut_arena_release(&t->arena);
	*t = (struct ut_aiu_table){ 0 };
}

struct ut_aiu_event *ut_aiu_event_add(struct ut_aiu_table *t)
{
	struct ut_aiu_event *e;

	t->events =
		ut_aiu_big_grow(t->events, t->event_count + 1, &t->event_cap, sizeof(*t->events));
	e = &t->events[t->event_count++];
	*e = (struct ut_aiu_event){ 0 };
	return e;
}

uint32_t ut_aiu_dev_add(struct ut_aiu_table *t)
{
	t->devs = ut_aiu_big_grow(t->devs, t->dev_count + 1, &t->dev_cap, sizeof(*t->devs));
	t->devs[t->dev_count] = (struct ut_aiu_dev){ 0 };
	return (uint32_t)t->dev_count++;
}

uint32_t ut_aiu_job_add(struct ut_aiu_table *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct ut_aiu_job *job;

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

void ut_aiu_seq_add(struct ut_aiu_table *t, uint32_t event)
{
	t->seq = ut_aiu_big_grow(t->seq, t->seq_count + 1, &t->seq_cap, sizeof(*t->seq));
	t->seq[t->seq_count++] = event;
}

void ut_aiu_seq_sweep(struct ut_aiu_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		if (!(t->events[t->seq[i]].flags & UT_AIU_DROP))
			t->seq[kept++] = t->seq[i];
	}
	t->seq_count = kept;
}

static uint32_t append_id(struct ut_aiu_table *t, const struct ut_aiu_id *id)
{
	t->ids = ut_grow(t->ids, t->id_count + 1, &t->id_cap, sizeof(*t->ids));
	t->ids[t->id_count] = *id;
	return (uint32_t)t->id_count++;
}

uint32_t ut_aiu_id_add(struct ut_aiu_table *t, const struct ut_aiu_id *id)
{
	bool text = id->kind == UT_AIU_ID_STR || id->kind == UT_AIU_ID_RAW;
	struct ut_idmap *map = text ? &t->str_ids : &t->int_ids;
	uint64_t key =
		text ? (uint64_t)id->str << 1 | (id->kind == UT_AIU_ID_RAW) : (uint64_t)id->num;
	uint32_t at;

	if (id->kind == UT_AIU_ID_NONE)
		return 0;
	/* A number of 2^63 and more shares its bits with a negative one: a table for both is
	 * enough because only one of them is common. */
	if (id->kind == UT_AIU_ID_U64) {
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

uint32_t ut_aiu_id_int(struct ut_aiu_table *t, int64_t num)
{
	return ut_aiu_id_add(t, &(struct ut_aiu_id){ .num = num, .kind = UT_AIU_ID_INT });
}

bool ut_aiu_arg(const struct ut_aiu_table *t, uint32_t list, uint32_t key, struct ut_arg *arg)
{
	struct ut_arg args[MOST_ARGS];
	size_t n = list ? ut_arglists_get(&t->lists, list, args, MOST_ARGS) : 0;

	for (size_t i = 0; i < n && i < MOST_ARGS; i++) {
		if (args[i].key == key) {
			*arg = args[i];
			return true;
		}
	}
	return false;
}

/* All arguments of a list, in memory that the caller frees; room for one more. */
static struct ut_arg *copy_list(const struct ut_aiu_table *t, uint32_t list, size_t *count)
{
	size_t n = list ? ut_arglists_get(&t->lists, list, NULL, 0) : 0;
	struct ut_arg *args = ut_make((n + 1) * sizeof(*args));

	if (n)
		ut_arglists_get(&t->lists, list, args, n);
	*count = n;
	return args;
}

uint32_t ut_aiu_arg_set(struct ut_aiu_table *t, uint32_t list, const struct ut_arg *arg)
{
	size_t n, i;
	struct ut_arg *args = copy_list(t, list, &n);

	for (i = 0; i < n && args[i].key != arg->key; i++)
		;
	args[i] = *arg;
	list = ut_arglists_add(&t->lists, args, i == n ? n + 1 : n);
	free(args);
	return list;
}

uint32_t ut_aiu_arg_drop(struct ut_aiu_table *t, uint32_t list, uint32_t key)
{
	size_t n, kept = 0;
	struct ut_arg *args = copy_list(t, list, &n);

	for (size_t i = 0; i < n; i++) {
		if (args[i].key != key)
			args[kept++] = args[i];
	}
	if (kept < n)
		list = ut_arglists_add(&t->lists, args, kept);
	free(args);
	return list;
}

struct ut_arg ut_aiu_str_arg(uint32_t key, uint32_t str)
{
	return (struct ut_arg){ .key = key, .type = UT_ARG_STR, .value.str = str };
}

struct ut_arg ut_aiu_num_arg(uint32_t key, double value)
{
	return (struct ut_arg){ .key = key, .type = UT_ARG_F64, .value.f64 = value };
}

struct ut_arg ut_aiu_int_arg(uint32_t key, int64_t value)
{
	return (struct ut_arg){ .key = key, .type = UT_ARG_I64, .value.i64 = value };
}

bool ut_aiu_arg_num(const struct ut_aiu_table *t, const struct ut_arg *arg, double *value)
{
	struct ut_str s;
	char *end;

	switch ((enum ut_arg_type)arg->type) {
	case UT_ARG_U64:
	case UT_ARG_PTR:
	case UT_ARG_BOOL:
		*value = (double)arg->value.u64;
		return true;
	case UT_ARG_I64:
		*value = (double)arg->value.i64;
		return true;
	case UT_ARG_F64:
		*value = arg->value.f64;
		return true;
	case UT_ARG_STR:
	case UT_ARG_JSON:
		s = ut_aiu_str(t, arg->value.str);
		*value = strtod(s.ptr, &end);
		return s.len && end != s.ptr && (size_t)(end - s.ptr) == s.len;
	case UT_ARG_END:
		break;
	}
	return false;
}
