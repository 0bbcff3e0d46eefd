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
	uint8_t *is_task;  /* by id in the trace: 0 = not looked at, 1 = no, 2 = the pattern fits */
	uint32_t *node;    /* by number of a stack: after add_nodes() */
	uint64_t first, last;
};

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

void ut_prof_init(struct ut_prof *p, const struct ut_prof_opts *opts)
{
	*p = (struct ut_prof){ .opts = *opts };
	ut_strtab_init(&p->strings, &p->arena);
	p->nodes = ut_grow(NULL, 1, &p->node_cap, sizeof(*p->nodes));
	p->frames = ut_grow(NULL, 1, &p->frame_cap, sizeof(*p->frames));
	p->node_count = p->frame_count = 1; /* what is around all is nowhere */
	p->paths = ut_grow(NULL, 1, &p->path_cap, sizeof(*p->paths));
	p->path_count = 1;
	p->paths[0].group = group_number(&p->groups[UT_GROUP_TASK], &(struct ut_prof_group){ 0 });
}

void ut_prof_release(struct ut_prof *p)
{
	free(p->frames);
	free(p->nodes);
	free(p->function_of);
	free(p->functions);
	free(p->first_child);
	free(p->next_child);
	free(p->name_parts);
	free(p->paths);
	ut_hashtab_release(&p->path_by_key);
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
	bool found = false;

	for (int part = UT_NAME_SHORT; !found && part <= UT_NAME_WHOLE; part++) {
		b.len = 0;
		ut_name_part(&b, s, (enum ut_name_part)part);
		/* a name may hold characters that mean something in a pattern: "operator[]" */
		found = b.len && (!fnmatch(pattern, b.data, 0) || !strcmp(pattern, b.data));
	}
	ut_buf_release(&b);
	return found;
}

bool ut_prof_is_script(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	struct ut_str file = ut_prof_text(p, f->file);

	return f->file && (f->file == f->module || ut_str_has_end(file, ".py"));
}

bool ut_prof_is_none(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	return !f->module && ut_str_is(ut_prof_text(p, f->function), UT_SAMPLE_NONE);
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

static uint32_t prof_text(struct counting *c, uint32_t string)
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
		const struct ut_prof_frame f = { prof_text(c, code.function),
						 prof_text(c, code.module), prof_text(c, code.file),
						 code.line,
						 c->p->opts.addresses ? code.address : 0 };

		c->frame[place] = frame_number(c->p, &f) + 1;
	}
	return c->frame[place] - 1;
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

/* CPU time without a sample: nobody has seen where in the program it was spent. */
static bool has_no_sample(const struct counting *c, uint32_t stack)
{
	const struct ut_stacks *s = &c->trace->stacks;
	struct ut_place_in_code code;

	if (!stack)
		return false;
	code = ut_stacks_get_place(s, ut_stacks_get(s, stack).place);
	return !code.module &&
	       ut_str_is(ut_strtab_get(&c->trace->strings, code.function), UT_SAMPLE_NONE);
}

/* Was a task of that name open, be it around others? */
static bool is_in_task(struct counting *c, const struct ut_sample_seen *e)
{
	for (size_t i = e->task_count; i; i--) {
		uint32_t task = e->tasks[i - 1];

		if (!c->is_task[task])
			c->is_task[task] = fnmatch(c->p->opts.task,
						   ut_strtab_get(&c->trace->strings, task).ptr, 0)
						   ? 1
						   : 2;
		if (c->is_task[task] == 2)
			return true;
	}
	return false;
}

static bool prof_is_wanted(struct counting *c, const struct ut_sample_seen *e)
{
	const struct ut_prof_opts *o = &c->p->opts;

	if (o->wanted && !o->wanted(o->ctx, e))
		return false;
	if (o->task && (has_no_sample(c, e->stack) || !is_in_task(c, e)))
		return false;
	return !o->function || c->matches[e->stack];
}

static uint32_t path_number(struct counting *c, const struct ut_sample_seen *e)
{
	struct ut_prof *p = c->p;
	uint32_t path = 0;

	for (size_t i = 0; i < e->task_count; i++) {
		const struct ut_prof_group task = { .name = prof_text(c, e->tasks[i]) };
		const uint32_t key[2] = { path, group_number(&p->groups[UT_GROUP_TASK], &task) };
		uint32_t hash = (uint32_t)ut_hash_bytes(key, sizeof(key)), at = hash, number;

		while ((number = ut_hashtab_next(&p->path_by_key, hash, &at)) &&
		       (p->paths[number].parent != path || p->paths[number].group != key[1]))
			;
		if (!number) {
			p->paths = ut_grow(p->paths, p->path_count + 1, &p->path_cap,
					   sizeof(*p->paths));
			number = (uint32_t)p->path_count++;
			p->paths[number] = (struct ut_prof_path){ path, key[1], 0 };
			ut_hashtab_add(&p->path_by_key, hash, number);
		}
		path = number;
	}
	return path;
}

/* Tasks open when it was written down, at a thread's end, are not those that it was spent in. */
static uint32_t unsampled_path(struct counting *c)
{
	struct ut_prof *p = c->p;

	if (!p->none_path) {
		const struct ut_prof_group group = {
			.name = ut_strtab_intern_z(&p->strings, UT_SAMPLE_NONE),
		};

		p->paths = ut_grow(p->paths, p->path_count + 1, &p->path_cap, sizeof(*p->paths));
		p->none_path = (uint32_t)p->path_count++;
		p->paths[p->none_path] = (struct ut_prof_path){
			.group = group_number(&p->groups[UT_GROUP_TASK], &group),
		};
	}
	return p->none_path;
}

static void find_groups(struct counting *c, const struct ut_sample_seen *e,
			uint32_t groups[UT_GROUPS], uint32_t *path)
{
	const struct ut_track *t = &c->trace->tracks[e->track];
	const struct ut_process *process = &c->trace->processes[t->process];
	bool nobody = !t->id && ut_strtab_get(&c->trace->strings, t->name).ptr[0] == '[';
	const struct ut_prof_group keys[UT_GROUPS] = {
		[UT_GROUP_THREAD] = { .name = prof_text(c, t->name),
				      .process = prof_text(c, process->name),
				      .id = t->id },
		/* what is told of together is none of the process's own time */
		[UT_GROUP_PROCESS] = { .name = prof_text(c, nobody ? t->name : process->name),
				       .id = nobody ? 0 : process->pid },
	};

	*path = has_no_sample(c, e->stack) ? unsampled_path(c) : path_number(c, e);
	for (unsigned int i = 0; i < UT_GROUPS; i++)
		groups[i] = i == UT_GROUP_TASK ? c->p->paths[*path].group
					       : group_number(&c->p->groups[i], &keys[i]);
}

static void count_sample(void *ctx, const struct ut_sample_seen *e)
{
	struct counting *c = ctx;
	uint32_t groups[UT_GROUPS], path, samples;

	if (!prof_is_wanted(c, e))
		return;
	samples = !has_no_sample(c, e->stack);
	c->first = e->ts < c->first ? e->ts : c->first;
	c->last = e->ts > c->last ? e->ts : c->last;
	c->p->weight += e->weight;
	c->p->samples += samples;
	c->p->none += samples ? 0 : e->weight;
	find_groups(c, e, groups, &path);
	c->p->paths[path].weight += e->weight;
	for (unsigned int i = 0; i < UT_GROUPS; i++) {
		c->p->groups[i].items[groups[i]].weight += e->weight;
		c->p->groups[i].items[groups[i]].samples += samples;
	}
	c->self[e->stack] += e->weight;
	c->samples[e->stack] += samples;
}

/* ---- stores -------------------------------------------------------------------------------- */

/* A caller's number is smaller: when a stack is met, the node of its caller is known. */
static void add_nodes(struct counting *c)
{
	const struct ut_stacks *s = &c->trace->stacks;
	uint8_t *used = ut_make(s->site_count + 1);

	for (uint32_t i = (uint32_t)s->site_count; i; i--) {
		if (c->self[i] || c->samples[i] || used[i])
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

/* ---- what threads did ---------------------------------------------------------------------- */

static bool take_fact(const struct ut_trace *t, const struct ut_track *track, const char *key,
		      uint64_t *sum)
{
	for (uint32_t a = track->args; a && t->args[a].type != UT_ARG_END; a++) {
		if (t->args[a].type == UT_ARG_U64 &&
		    ut_str_is(ut_strtab_get(&t->strings, t->args[a].key), key)) {
			*sum += t->args[a].value.u64;
			return true;
		}
	}
	return false;
}

static void take_wait(void *ctx, uint32_t event, uint64_t ns)
{
	struct counting *c = ctx;
	struct ut_prof_did *did = &c->p->did;
	uint32_t name = prof_text(c, event);

	for (size_t i = 0; i < UT_PROF_WAITS; i++) {
		if (did->waits[i].name && did->waits[i].name != name)
			continue;
		did->waits[i].name = name;
		did->waits[i].ns += ns;
		return;
	}
}

static uint32_t wait_of(const struct ut_trace *t, const struct ut_track *track)
{
	for (uint32_t a = track->args; a && t->args[a].type != UT_ARG_END; a++) {
		if (t->args[a].type == UT_ARG_STR &&
		    ut_str_is(ut_strtab_get(&t->strings, t->args[a].key), "waits_for"))
			return t->args[a].value.str;
	}
	return 0;
}

/* Sums of whole threads say nothing of a part of the samples. */
static void take_did(struct counting *c, const struct ut_store *store)
{
	const struct ut_prof_opts *o = &c->p->opts;
	struct ut_prof_did *did = &c->p->did;
	const struct ut_trace *t = c->trace;

	if (o->filter || o->wanted || o->task || o->function)
		return;
	for (uint32_t i = 0; i < t->track_count; i++) {
		if (t->tracks[i].type != UT_TRACK_THREAD)
			continue;
		if (!did->mostly)
			did->mostly = prof_text(c, wait_of(t, &t->tracks[i]));
		did->known |= take_fact(t, &t->tracks[i], "cpu_ns", &did->ran);
		take_fact(t, &t->tracks[i], "waiting_ns", &did->waited);
		take_fact(t, &t->tracks[i], "ready_ns", &did->ready);
	}
	ut_sample_walk_waits(store, take_wait, c);
}

/* The same event in all stores. */
static uint32_t prof_event_of(const struct ut_prof *p, const struct ut_store *store)
{
	return ut_sample_event(store, p->event ? ut_prof_text(p, p->event).ptr : p->opts.event);
}

void ut_prof_add(struct ut_prof *p, const struct ut_store *store)
{
	const struct ut_trace *t = &store->trace;
	struct counting c = { .p = p, .trace = t, .first = UINT64_MAX };
	struct ut_sample_walk walk = { .store = store,
				       .filter = p->opts.filter,
				       .event = prof_event_of(p, store),
				       .each = count_sample,
				       .ctx = &c };
	size_t stacks = t->stacks.site_count + 1;

	c.strings = ut_make(((size_t)t->strings.count + 1) * sizeof(*c.strings));
	c.self = ut_make(stacks * sizeof(*c.self));
	c.samples = ut_make(stacks * sizeof(*c.samples));
	c.is_task = ut_make((size_t)t->strings.count + 1);
	c.frame = ut_make((t->stacks.place_count + 1) * sizeof(*c.frame));
	c.node = ut_make(stacks * sizeof(*c.node));
	if (!p->event)
		p->event = prof_text(&c, walk.event);
	if (p->opts.function)
		match_stacks(&c);
	ut_sample_walk(&walk);
	p->other += walk.other;
	add_nodes(&c);
	if (c.last > c.first && c.last - c.first > p->span)
		p->span = c.last - c.first;
	if (t->last > t->first && t->last - t->first > p->elapsed)
		p->elapsed = t->last - t->first;
	take_did(&c, store);
	free(c.self);
	free(c.samples);
	free(c.matches);
	free(c.node);
	free(c.frame);
	free(c.strings);
	free(c.is_task);
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

/* People see names in short: as much of each as tells it from the others. */
static void choose_names(struct ut_prof *p)
{
	struct ut_str *names = ut_make((p->function_count + 1) * sizeof(*names));
	uint8_t *parts = ut_make(p->function_count + 1);

	for (size_t i = 0; i < p->function_count; i++)
		names[i] = ut_prof_text(p, p->functions[i].function);
	ut_name_parts(names, p->function_count, parts);
	free(p->name_parts);
	p->name_parts = ut_make((size_t)p->strings.count + 1);
	for (size_t i = 0; i < p->function_count; i++)
		p->name_parts[p->functions[i].function] = parts[i];
	free(names);
	free(parts);
}

/* A task inside one of the same name counts once. */
static void sum_tasks(struct ut_prof *p)
{
	struct ut_prof_groups *tasks = &p->groups[UT_GROUP_TASK];
	uint32_t *seen =
		ut_make((tasks->count + 1) * sizeof(*seen)); /* in the path of this number */

	for (size_t kind = 0; kind < UT_GROUPS; kind++) {
		for (size_t i = 0; i < p->groups[kind].count; i++)
			p->groups[kind].items[i].total =
				kind == UT_GROUP_TASK ? 0 : p->groups[kind].items[i].weight;
	}
	tasks->items[p->paths[0].group].total = p->paths[0].weight;
	for (size_t i = 1; i < p->path_count; i++) {
		for (uint32_t at = (uint32_t)i; at && p->paths[i].weight;
		     at = p->paths[at].parent) {
			uint32_t group = p->paths[at].group;

			if (seen[group] != i)
				tasks->items[group].total += p->paths[i].weight;
			seen[group] = (uint32_t)i;
		}
	}
	free(seen);
}

void ut_prof_finalize(struct ut_prof *p)
{
	sum_tasks(p);
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
	choose_names(p);
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
