/*
 * pass_comm.c - --comm_summarize_seq: the steps of one send or receive as one event.
 *
 * Steps belong together if they come from one file and their names have the same first number.
 */
#include <stdlib.h>
#include <string.h>

#include "acelyzer/stage.h"
#include "base/grow.h"
#include "base/str.h"

struct sequence {
	size_t left; /* steps that are still to come */
	double start, end;
	char *name; /* what all names begin with; in the arena */
	size_t name_len;
	int64_t *peers; /* sorted, each once */
	size_t peer_count, peer_cap;
};

struct ut_ace_comms {
	struct sequence *items;
	size_t count, cap;
	struct ut_idmap index; /* file and number -> place in items + 1 */
};

/* The first "_123" or "-123" of a name as a string id; 0 = none. */
static uint32_t pass_comm_number_of(struct ut_ace_analysis *a, uint32_t name)
{
	struct ut_str s = ut_ace_str(&a->table, name);

	for (size_t i = 0; i + 1 < s.len; i++) {
		size_t to = i + 1;

		if (s.ptr[i] != '_' && s.ptr[i] != '-')
			continue;
		while (to < s.len && s.ptr[to] >= '0' && s.ptr[to] <= '9')
			to++;
		if (to > i + 1)
			return ut_strtab_intern(&a->table.strings, s.ptr + i + 1, to - i - 1);
	}
	return 0;
}

static uint64_t pass_comm_key_of(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	uint32_t number;

	if (e->ph != 'X' || !(ut_ace_flags_of(a, e) & UT_ACE_NAME(SEN_RDMA)))
		return 0;
	number = pass_comm_number_of(a, e->name);
	return number ? (uint64_t)e->job << 32 | number : 0;
}

static void add_peer(struct ut_ace_analysis *a, struct sequence *s, const struct ut_ace_event *e)
{
	struct ut_arg arg;
	double value;
	size_t at = 0;

	if (!ut_ace_arg(&a->table, e->args, UT_ACE_K_PEER, &arg) ||
	    !ut_ace_arg_num(&a->table, &arg, &value))
		return;
	while (at < s->peer_count && s->peers[at] < (int64_t)value)
		at++;
	if (at < s->peer_count && s->peers[at] == (int64_t)value)
		return;
	s->peers = ut_grow(s->peers, s->peer_count + 1, &s->peer_cap, sizeof(*s->peers));
	memmove(s->peers + at + 1, s->peers + at, (s->peer_count - at) * sizeof(*s->peers));
	s->peers[at] = (int64_t)value;
	s->peer_count++;
}

static void add_step(struct ut_ace_analysis *a, struct sequence *s, const struct ut_ace_event *e)
{
	struct ut_str name = ut_ace_str(&a->table, e->name);
	double end = ut_ace_end(e);
	size_t same = 0;

	if (!s->left) {
		s->start = e->ts;
		s->end = end;
		s->name = ut_arena_copy(&a->table.arena, name.ptr, name.len);
		s->name_len = name.len;
	}
	while (same < s->name_len && same < name.len && s->name[same] == name.ptr[same])
		same++;
	s->name_len = same;
	s->start = e->ts < s->start ? e->ts : s->start;
	s->end = end > s->end ? end : s->end;
	s->left++;
	add_peer(a, s, e);
}

int ut_ace_pass_comm_collect(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_comms *c = UT_NEW(&t->arena, struct ut_ace_comms);

	ut_idmap_init(&c->index, &t->arena);
	for (size_t i = 0; i < t->seq_count; i++) {
		uint64_t key = pass_comm_key_of(a, ut_ace_at(t, i));
		uint32_t at;

		if (!key)
			continue;
		at = ut_idmap_get(&c->index, key);
		if (!at) {
			c->items = ut_grow(c->items, c->count + 1, &c->cap, sizeof(*c->items));
			at = (uint32_t)++c->count;
			ut_idmap_put(&c->index, key, at);
		}
		add_step(a, &c->items[at - 1], ut_ace_at(t, i));
	}
	a->comms = c;
	return 0;
}

static void pass_comm_replace(struct ut_ace_analysis *a, struct ut_ace_event *e,
			      const struct sequence *s)
{
	struct ut_arg arg = { .key = UT_ACE_K_PEERS, .type = UT_ARG_JSON };
	struct ut_buf b = { 0 };

	e->name = ut_strtab_intern(&a->table.strings, s->name, s->name_len);
	e->ts = s->start;
	e->dur = s->end - s->start;
	ut_buf_char(&b, '[');
	for (size_t i = 0; i < s->peer_count; i++)
		ut_buf_fmt(&b, "%s\"%lld\"", i ? "," : "", (long long)s->peers[i]);
	ut_buf_char(&b, ']');
	arg.value.str = ut_strtab_intern(&a->table.strings, b.data, b.len);
	e->args = ut_ace_arg_set(&a->table, e->args, &arg);
	ut_buf_release(&b);
}

void ut_ace_end_comms(struct ut_ace_analysis *a)
{
	struct ut_ace_comms *c = a->comms;

	for (size_t i = 0; c && i < c->count; i++)
		free(c->items[i].peers);
	if (c)
		free(c->items);
	a->comms = NULL;
}

int ut_ace_pass_comm_apply(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_comms *c = a->comms;

	for (size_t i = 0; c && i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);
		uint64_t key = pass_comm_key_of(a, e);
		uint32_t at = key ? ut_idmap_get(&c->index, key) : 0;

		if (!at)
			continue;
		if (--c->items[at - 1].left)
			e->flags |= UT_ACE_DROP;
		else
			pass_comm_replace(a, e, &c->items[at - 1]);
	}
	ut_ace_seq_sweep(t);
	ut_ace_end_comms(a);
	return 0;
}
