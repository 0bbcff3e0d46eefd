#include "sample/prof.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "model/store.h"
#include "sample/sample_walk.h"
#include "sample/short_name.h"

/* One store while it is counted. */
struct counting {
	struct ut_prof *p;
	const struct ut_trace *trace;
	uint64_t *self;    /* by number of a stack */
	uint64_t *samples; /* how many ended there */
	uint32_t *frame;   /* by number of a place: of the profile, plus 1 */
	uint32_t *strings; /* by id in the trace: of the profile */
	uint8_t *matches;  /* by number of a stack: has it a frame that the pattern fits? */
	uint32_t *node;    /* by number of a stack: after add_nodes() */
	uint64_t first, last;
};

void ut_prof_init(struct ut_prof *p, const struct ut_prof_opts *opts)
{
	*p = (struct ut_prof){ .opts = *opts };
	ut_strtab_init(&p->strings, &p->arena);
	p->nodes = ut_grow(NULL, 1, &p->node_cap, sizeof(*p->nodes));
	p->frames = ut_grow(NULL, 1, &p->frame_cap, sizeof(*p->frames));
	p->node_count = p->frame_count = 1; /* what is around all is nowhere */
}

void ut_prof_release(struct ut_prof *p)
{
	free(p->frames);
	free(p->nodes);
	free(p->function_of);
	free(p->functions);
	free(p->first_child);
	free(p->next_child);
	ut_hashtab_release(&p->frame_by_key);
	ut_hashtab_release(&p->node_by_key);
	for (size_t i = 0; i < UT_GROUPS; i++) {
		free(p->groups[i].items);
		ut_hashtab_release(&p->groups[i].by_key);
	}
	ut_arena_release(&p->arena);
}

const char *ut_prof_unit(const struct ut_prof *p)
{
	return ut_sample_unit(ut_prof_text(p, p->event));
}

bool ut_prof_matches(const struct ut_prof *p, uint32_t name, const char *pattern)
{
	struct ut_str s = ut_prof_text(p, name);
	struct ut_buf b = { 0 };
	bool found;

	if (!fnmatch(pattern, s.ptr, 0))
		return true;
	ut_short_name(&b, s);
	found = b.len && !fnmatch(pattern, b.data, 0);
	ut_buf_release(&b);
	return found;
}

bool ut_prof_is_script(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	struct ut_str file = ut_prof_text(p, f->file);

	return f->file && (f->file == f->module || ut_str_has_end(file, ".py"));
}

/* ---- frames, nodes, groups ------------------------------------------------------------------- */

static uint32_t frame_number(struct ut_prof *p, const struct ut_prof_frame *f)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(f, sizeof(*f)), at = hash, number;

	while ((number = ut_hashtab_next(&p->frame_by_key, hash, &at)) &&
	       memcmp(&p->frames[number], f, sizeof(*f)) != 0)
		;
	if (number)
		return number;
	p->frames = ut_grow(p->frames, p->frame_count + 1, &p->frame_cap, sizeof(*p->frames));
	p->frames[p->frame_count] = *f;
	ut_hashtab_add(&p->frame_by_key, hash, (uint32_t)p->frame_count);
	return (uint32_t)p->frame_count++;
}

static uint32_t node_number(struct ut_prof *p, uint32_t parent, uint32_t frame)
{
	const uint32_t key[2] = { parent, frame };
	uint32_t hash = (uint32_t)ut_hash_bytes(key, sizeof(key)), at = hash, number;

	while ((number = ut_hashtab_next(&p->node_by_key, hash, &at)) &&
	       (p->nodes[number].parent != parent || p->nodes[number].frame != frame))
		;
	if (number)
		return number;
	p->nodes = ut_grow(p->nodes, p->node_count + 1, &p->node_cap, sizeof(*p->nodes));
	p->nodes[p->node_count] = (struct ut_prof_node){ .parent = parent, .frame = frame };
	ut_hashtab_add(&p->node_by_key, hash, (uint32_t)p->node_count);
	return (uint32_t)p->node_count++;
}

static uint32_t text(struct counting *c, uint32_t string)
{
	struct ut_str s;

	if (!string || string > c->trace->strings.count)
		return 0;
	if (!c->strings[string]) {
		s = ut_strtab_get(&c->trace->strings, string);
		c->strings[string] = ut_strtab_intern(&c->p->strings, s.ptr, s.len);
	}
	return c->strings[string];
}

static uint32_t frame_of_place(struct counting *c, uint32_t place)
{
	struct ut_place_in_code code = ut_stacks_get_place(&c->trace->stacks, place);

	if (!c->frame[place]) {
		const struct ut_prof_frame f = { text(c, code.function), text(c, code.module),
						 text(c, code.file), code.line,
						 c->p->opts.addresses ? code.address : 0 };

		c->frame[place] = frame_number(c->p, &f) + 1;
	}
	return c->frame[place] - 1;
}

/* Its index; a group that was not there is made. */
static uint32_t group_number(struct ut_prof_groups *g, const struct ut_prof_group *key)
{
	const uint64_t bytes[2] = { key->name | (uint64_t)key->process << 32, key->id };
	uint32_t hash = (uint32_t)ut_hash_bytes(bytes, sizeof(bytes)), at = hash, number;

	while ((number = ut_hashtab_next(&g->by_key, hash, &at)) &&
	       (g->items[number - 1].name != key->name || g->items[number - 1].id != key->id ||
		g->items[number - 1].process != key->process))
		;
	if (!number) {
		g->items = ut_grow(g->items, g->count + 1, &g->cap, sizeof(*g->items));
		g->items[g->count] = *key;
		number = (uint32_t)++g->count;
		ut_hashtab_add(&g->by_key, hash, number);
	}
	return number - 1;
}

/* ---- samples ------------------------------------------------------------------------------- */

/* Which stacks have a frame that the pattern fits; callers come first. */
static void match_stacks(struct counting *c)
{
	const struct ut_stacks *s = &c->trace->stacks;
	uint8_t *fits = ut_make(s->place_count + 1); /* 0 = not looked at, 1 = no, 2 = yes */

	c->matches = ut_make(s->site_count + 1);
	for (uint32_t i = 1; i <= s->site_count; i++) {
		struct ut_callsite site = ut_stacks_get(s, i);
		const struct ut_prof_frame *f;

		if (c->matches[site.caller]) {
			c->matches[i] = 1;
			continue;
		}
		if (!fits[site.place]) {
			f = &c->p->frames[frame_of_place(c, site.place)];
			fits[site.place] =
				ut_prof_matches(c->p, f->function, c->p->opts.function) ? 2 : 1;
		}
		c->matches[i] = fits[site.place] == 2;
	}
	free(fits);
}

static bool is_wanted(struct counting *c, const struct ut_sample_seen *e, uint32_t task)
{
	const struct ut_prof_opts *o = &c->p->opts;

	if (o->wanted && !o->wanted(o->ctx, e))
		return false;
	if (o->task && (!task || fnmatch(o->task, ut_prof_text(c->p, task).ptr, 0) != 0))
		return false;
	return !o->function || c->matches[e->stack];
}

static void find_groups(struct counting *c, const struct ut_sample_seen *e, uint32_t task,
			uint32_t groups[UT_GROUPS])
{
	const struct ut_track *t = &c->trace->tracks[e->track];
	const struct ut_process *process = &c->trace->processes[t->process];
	const struct ut_prof_group keys[UT_GROUPS] = {
		[UT_GROUP_THREAD] = { .name = text(c, t->name),
				      .process = text(c, process->name),
				      .id = t->id },
		[UT_GROUP_TASK] = { .name = task },
		[UT_GROUP_PROCESS] = { .name = text(c, process->name), .id = process->pid },
	};

	for (unsigned int i = 0; i < UT_GROUPS; i++)
		groups[i] = group_number(&c->p->groups[i], &keys[i]);
}

static void count_sample(void *ctx, const struct ut_sample_seen *e)
{
	struct counting *c = ctx;
	uint32_t task = text(c, e->task), groups[UT_GROUPS];

	if (!is_wanted(c, e, task))
		return;
	c->first = e->ts < c->first ? e->ts : c->first;
	c->last = e->ts > c->last ? e->ts : c->last;
	c->p->weight += e->weight;
	c->p->samples++;
	find_groups(c, e, task, groups);
	for (unsigned int i = 0; i < UT_GROUPS; i++) {
		c->p->groups[i].items[groups[i]].weight += e->weight;
		c->p->groups[i].items[groups[i]].samples++;
	}
	c->self[e->stack] += e->weight;
	c->samples[e->stack]++;
}

static void tell_sample(void *ctx, const struct ut_sample_seen *e)
{
	struct counting *c = ctx;
	struct ut_prof_moment m = {
		.track = e->track, .ts = e->ts, .weight = e->weight, .node = c->node[e->stack]
	};
	uint32_t task = text(c, e->task);

	if (!is_wanted(c, e, task))
		return;
	find_groups(c, e, task, m.group);
	c->p->opts.each(c->p->opts.ctx, &m);
}

/* ---- stores -------------------------------------------------------------------------------- */

/* A caller's number is smaller: when a stack is met, the node of its caller is known. */
static void add_nodes(struct counting *c)
{
	const struct ut_stacks *s = &c->trace->stacks;
	uint8_t *used = ut_make(s->site_count + 1);

	for (uint32_t i = (uint32_t)s->site_count; i; i--) {
		if (c->samples[i] || used[i])
			used[i] = used[ut_stacks_get(s, i).caller] = 1;
	}
	for (uint32_t i = 1; i <= s->site_count; i++) {
		struct ut_callsite site = ut_stacks_get(s, i);

		if (!used[i])
			continue;
		c->node[i] = node_number(c->p, c->node[site.caller], frame_of_place(c, site.place));
		c->p->nodes[c->node[i]].self += c->self[i];
		c->p->nodes[c->node[i]].samples += c->samples[i];
	}
	c->p->nodes[0].self += c->self[0];
	c->p->nodes[0].samples += c->samples[0];
	free(used);
}

/* The same event in all stores. */
static uint32_t event_of(const struct ut_prof *p, const struct ut_store *store)
{
	return ut_sample_event(store, p->event ? ut_prof_text(p, p->event).ptr : p->opts.event);
}

void ut_prof_add(struct ut_prof *p, const struct ut_store *store)
{
	const struct ut_trace *t = &store->trace;
	struct counting c = { .p = p, .trace = t, .first = UINT64_MAX };
	struct ut_sample_walk walk = { .store = store,
				       .filter = p->opts.filter,
				       .event = event_of(p, store),
				       .each = count_sample,
				       .ctx = &c };
	size_t stacks = t->stacks.site_count + 1;

	c.strings = ut_make(((size_t)t->strings.count + 1) * sizeof(*c.strings));
	c.self = ut_make(stacks * sizeof(*c.self));
	c.samples = ut_make(stacks * sizeof(*c.samples));
	c.frame = ut_make((t->stacks.place_count + 1) * sizeof(*c.frame));
	c.node = ut_make(stacks * sizeof(*c.node));
	if (!p->event)
		p->event = text(&c, walk.event);
	if (p->opts.function)
		match_stacks(&c);
	ut_sample_walk(&walk);
	p->other += walk.other;
	add_nodes(&c);
	if (p->opts.each) {
		walk.each = tell_sample;
		ut_sample_walk(&walk);
	}
	if (c.last > c.first && c.last - c.first > p->span)
		p->span = c.last - c.first;
	free(c.self);
	free(c.samples);
	free(c.matches);
	free(c.node);
	free(c.frame);
	free(c.strings);
}

/* ---- all of them --------------------------------------------------------------------------- */

static void list_functions(struct ut_prof *p)
{
	struct ut_hashtab by_key = { 0 };

	free(p->function_of);
	p->function_of = ut_make(p->frame_count * sizeof(*p->function_of));
	p->function_count = 0;
	for (size_t i = 0; i < p->frame_count; i++) {
		const struct ut_prof_frame f = { .function = p->frames[i].function,
						 .module = p->frames[i].module };
		uint32_t hash = (uint32_t)ut_hash_bytes(&f, sizeof(f)), at = hash, number;

		while ((number = ut_hashtab_next(&by_key, hash, &at)) &&
		       memcmp(&p->functions[number - 1], &f, sizeof(f)) != 0)
			;
		if (!number) {
			p->functions = ut_grow(p->functions, p->function_count + 1,
					       &p->function_cap, sizeof(*p->functions));
			p->functions[p->function_count] = f;
			number = (uint32_t)++p->function_count;
			ut_hashtab_add(&by_key, hash, number);
		}
		p->function_of[i] = number - 1;
	}
	ut_hashtab_release(&by_key);
}

void ut_prof_settle(struct ut_prof *p)
{
	free(p->first_child);
	free(p->next_child);
	p->first_child = ut_make(p->node_count * sizeof(*p->first_child));
	p->next_child = ut_make(p->node_count * sizeof(*p->next_child));
	for (size_t i = 0; i < p->node_count; i++)
		p->nodes[i].total = p->nodes[i].self;
	for (size_t i = p->node_count - 1; i; i--) {
		uint32_t parent = p->nodes[i].parent;

		p->nodes[parent].total += p->nodes[i].total;
		p->next_child[i] = p->first_child[parent];
		p->first_child[parent] = (uint32_t)i;
	}
	list_functions(p);
}

void ut_prof_walk(const struct ut_prof *p, void (*enter)(void *ctx, uint32_t node),
		  void (*leave)(void *ctx, uint32_t node), void *ctx)
{
	uint32_t at = p->first_child[0];

	while (at) {
		enter(ctx, at);
		if (p->first_child[at]) {
			at = p->first_child[at];
			continue;
		}
		leave(ctx, at);
		while (at && !p->next_child[at]) {
			at = p->nodes[at].parent;
			if (at)
				leave(ctx, at);
		}
		at = at ? p->next_child[at] : 0;
	}
}
