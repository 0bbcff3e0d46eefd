/*
 * meta.c - metadata events: names and order of processes and threads, and whatever else
 * was said about them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/chrome/part.h"

/* ---- facts --------------------------------------------------------------------------------- */

/* The elements of an array come one after the other and are one fact. */
void ut_chrome_fact(struct ut_chrome *c, bool track, uint32_t index, struct ut_arg arg)
{
	size_t n = c->fact_count;
	bool more = n && c->facts[n - 1].arg.flags & UT_ARG_MORE;

	c->facts = ut_grow(c->facts, n + 1, &c->fact_cap, sizeof(*c->facts));
	c->facts[n] = (struct ut_chrome_fact){ .track = track, .index = index, .arg = arg };
	c->facts[n].number = more ? c->facts[n - 1].number : (uint32_t)n;
	c->facts[n].place = (uint32_t)n;
	c->fact_count++;
}

static int meta_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_owner(const struct ut_chrome_fact *a, const struct ut_chrome_fact *b)
{
	return a->track != b->track ? meta_compare(a->track, b->track)
				    : meta_compare(a->index, b->index);
}

/* Facts with the same key side by side, the latest first. */
static int meta_by_key(const void *x, const void *y)
{
	const struct ut_chrome_fact *a = x, *b = y;
	int order = by_owner(a, b);

	if (!order)
		order = meta_compare(a->arg.key, b->arg.key);
	return order ? order : meta_compare(b->number, a->number);
}

static int by_arrival(const void *x, const void *y)
{
	const struct ut_chrome_fact *a = x, *b = y;
	int order = by_owner(a, b);

	return order ? order : meta_compare(a->place, b->place);
}

/* What was said twice counts as it was said last. */
static void meta_drop_doubles(struct ut_chrome *c)
{
	size_t n = 0;

	qsort(c->facts, c->fact_count, sizeof(*c->facts), meta_by_key);
	for (size_t i = 0; i < c->fact_count; i++) {
		const struct ut_chrome_fact *f = &c->facts[i], *kept = n ? &c->facts[n - 1] : f;

		if (by_owner(kept, f) == 0 && kept->arg.key == f->arg.key &&
		    kept->number != f->number)
			continue;
		c->facts[n++] = *f;
	}
	c->fact_count = n;
}

/* Writes the facts to where they belong. */
void ut_chrome_place_facts(struct ut_chrome *c)
{
	struct ut_trace *t = &c->build.store.trace;

	if (!c->fact_count)
		return;
	meta_drop_doubles(c);
	qsort(c->facts, c->fact_count, sizeof(*c->facts), by_arrival);
	for (size_t i = 0; i < c->fact_count; i++) {
		const struct ut_chrome_fact *f = &c->facts[i];

		if (!i || by_owner(f - 1, f) != 0) {
			if (i)
				ut_trace_close_args(t);
			if (f->track)
				t->tracks[f->index].args = (uint32_t)t->arg_count;
			else
				t->processes[f->index].args = (uint32_t)t->arg_count;
		}
		*ut_trace_add_arg(t, 0, UT_ARG_END) = f->arg;
	}
	ut_trace_close_args(t);
	c->fact_count = 0;
}

static void gather_list(struct ut_chrome *c, bool track, uint32_t index, uint32_t *list)
{
	const struct ut_trace *t = &c->build.store.trace;

	for (size_t i = *list; t->args[i].type != UT_ARG_END; i++)
		ut_chrome_fact(c, track, index, t->args[i]);
	*list = 0;
}

/* The other way round: parts that were joined may have told the same things. */
void ut_chrome_gather_facts(struct ut_chrome *c)
{
	struct ut_trace *t = &c->build.store.trace;

	for (uint32_t i = 0; i < t->process_count; i++)
		gather_list(c, false, i, &t->processes[i].args);
	for (uint32_t i = 0; i < t->track_count; i++)
		gather_list(c, true, i, &t->tracks[i].args);
}

/* ---- metadata events ----------------------------------------------------------------------- */

/* "RANK 3 solver" is what we and Intel's tool call process "solver" of rank 3. */
static struct ut_str cut_rank(struct ut_str name, int32_t *rank)
{
	int32_t n = 0;
	size_t i = 5;

	if (!ut_str_has_start(name, "RANK "))
		return name;
	for (; i < name.len && i < 13 && name.ptr[i] >= '0' && name.ptr[i] <= '9'; i++)
		n = n * 10 + (name.ptr[i] - '0');
	if (i == 5 || i == name.len || name.ptr[i] != ' ' || (name.ptr[5] == '0' && i > 6))
		return name;
	*rank = n;
	return (struct ut_str){ name.ptr + i + 1, name.len - i - 1 };
}

/* The argument's text, whatever its type. */
static uint32_t meta_text_of(struct ut_chrome *c, uint32_t key)
{
	const struct ut_arg *arg = ut_chrome_find(&c->args, key);

	return arg ? ut_chrome_text_of(c, arg) : 0;
}

static int32_t sort_index(struct ut_chrome *c, int32_t known)
{
	const struct ut_arg *arg = ut_chrome_find(&c->args, c->words[UT_WORD_SORT_INDEX]);
	double v = !arg                      ? 0
		   : arg->type == UT_ARG_U64 ? (double)arg->value.u64
		   : arg->type == UT_ARG_I64 ? (double)arg->value.i64
		   : arg->type == UT_ARG_F64 ? arg->value.f64
					     : 0;

	if (v == 0)
		return known;
	return v >= INT32_MAX ? INT32_MAX : v > INT32_MIN ? (int32_t)v : INT32_MIN;
}

static void name_process(struct ut_chrome *c)
{
	struct ut_trace *t = &c->build.store.trace;
	uint32_t index = ut_chrome_process(c, c->event.pid);
	uint32_t name = meta_text_of(c, c->words[UT_WORD_NAME]);
	struct ut_process *p = &t->processes[index];
	struct ut_str s = cut_rank(ut_strtab_get(&t->strings, name), &p->rank);

	if (ut_str_has_start(s, "HOST<") || ut_str_has_start(s, "DEVICE<") ||
	    ut_str_has_start(s, "HOST-OS-KMD<"))
		c->traits |= UT_TRAIT_HOST;
	if (s.len) /* no name is not a new one */
		p->name = ut_strtab_intern(&t->strings, s.ptr, s.len);
}

static struct ut_str meta_string_of(struct ut_chrome *c, const struct ut_arg *arg)
{
	return arg->type == UT_ARG_STR
		       ? ut_strtab_get(&c->build.store.trace.strings, arg->value.str)
		       : (struct ut_str){ "", 0 };
}

/* What the row stands for; false: the argument does not say so. */
static bool take_role(struct ut_chrome *c, struct ut_track *k, const struct ut_arg *arg)
{
	const struct ut_strtab *strings = &c->build.store.trace.strings;
	uint8_t role;

	if (strcmp(ut_strtab_get(strings, arg->key).ptr, "role") != 0)
		return false;
	role = (uint8_t)ut_role_called(meta_string_of(c, arg));
	k->role = role != UT_ROLE_UNKNOWN ? role : k->role;
	return role != UT_ROLE_UNKNOWN;
}

/* Whose calls they are, and of what; it may stand in front of the role. */
static bool take_caller(struct ut_chrome *c, struct ut_track *k, const struct ut_arg *arg)
{
	struct ut_strtab *strings = &c->build.store.trace.strings;
	const char *key = ut_strtab_get(strings, arg->key).ptr;

	if (k->role != UT_ROLE_CALLS)
		return false;
	if (!strcmp(key, "thread") && arg->type == UT_ARG_U64 && arg->value.u64 <= UINT32_MAX)
		k->thread = (uint32_t)arg->value.u64;
	else if (!strcmp(key, "api") && arg->type == UT_ARG_STR)
		k->api = ut_api_called(strings, meta_string_of(c, arg));
	else
		return false;
	return true;
}

/* Our exporter tells with the name what is known of the thread besides. */
static void name_thread(struct ut_chrome *c)
{
	struct ut_trace *t = &c->build.store.trace;
	uint32_t index = ut_chrome_thread(c, c->event.pid, c->event.tid);
	uint32_t name = meta_text_of(c, c->words[UT_WORD_NAME]);
	struct ut_track *k = &t->tracks[index];

	if (name)
		k->name = name;
	for (size_t i = 0; i < c->args.count; i++)
		(void)take_role(c, k, &c->args.items[i]);
	for (size_t i = 0; i < c->args.count; i++) {
		const struct ut_arg *arg = &c->args.items[i];

		if (arg->key != c->words[UT_WORD_NAME] && !take_role(c, k, arg) &&
		    !take_caller(c, k, arg))
			ut_chrome_fact(c, true, index, *arg);
	}
}

/* Kept under its name, so that it can be written again. */
static void keep_metadata(struct ut_chrome *c)
{
	const struct ut_chrome_event *e = &c->event;
	struct ut_str name = ut_strtab_get(&c->build.store.trace.strings, e->name);
	struct ut_arg arg = { .key = e->name, .type = UT_ARG_JSON };
	bool track = ut_str_has_start(name, "thread_");

	if (!e->args.len)
		return;
	arg.value.str = ut_chrome_json(c, e->args, false);
	ut_chrome_fact(c, track,
		       track ? ut_chrome_thread(c, e->pid, e->tid) : ut_chrome_process(c, e->pid),
		       arg);
}

void ut_chrome_metadata(struct ut_chrome *c)
{
	struct ut_trace *t = &c->build.store.trace;
	const struct ut_chrome_event *e = &c->event;
	uint32_t at;

	if (e->name == c->words[UT_WORD_PROCESS_NAME]) {
		name_process(c);
	} else if (e->name == c->words[UT_WORD_THREAD_NAME]) {
		name_thread(c);
	} else if (e->name == c->words[UT_WORD_PROCESS_SORT_INDEX]) {
		at = ut_chrome_process(c, e->pid); /* may move the array */
		t->processes[at].sort_index = sort_index(c, t->processes[at].sort_index);
	} else if (e->name == c->words[UT_WORD_THREAD_SORT_INDEX]) {
		at = ut_chrome_thread(c, e->pid, e->tid);
		t->tracks[at].sort_index = sort_index(c, t->tracks[at].sort_index);
	} else {
		keep_metadata(c);
	}
}
