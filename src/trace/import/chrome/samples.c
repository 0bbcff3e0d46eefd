/*
 * samples.c - the members "samples" and "stackFrames" of the outermost object.
 *
 * A sample names its innermost frame (sf), a frame its caller (parent), all by texts of the file's
 * own. Frames may stand before or behind the samples: until the end of the file the value of a
 * sample holds the string id of its sf in place of the stack.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "base/json_quoted.h"
#include "import/chrome/part.h"

#define UNKNOWN "[unknown]" /* our exporter's name for what has none */

/* ---- samples ------------------------------------------------------------------------------- */

/* The format tells no process: the first that has a thread of this id. */
static uint32_t chrome_samples_track_of(struct ut_chrome *c)
{
	const struct ut_trace *t = &c->build.store.trace;
	const struct ut_chrome_event *e = &c->event;

	for (uint32_t i = 0; !e->pid.given && !e->tid.text && i < t->track_count; i++) {
		if (t->tracks[i].type == UT_TRACK_THREAD && !t->tracks[i].id_text &&
		    t->tracks[i].id == e->tid.number)
			return i;
	}
	return ut_chrome_thread(c, e->pid, e->tid);
}

/* Takes a member out of what is kept of the sample; type UT_ARG_END if it is not there. */
static struct ut_arg take_member(struct ut_chrome *c, const char *key)
{
	uint32_t id = ut_strtab_intern_z(&c->build.store.trace.strings, key);
	struct ut_arg *found = ut_chrome_find(&c->extra, id), arg = { 0 };

	if (found && !found->flags) {
		arg = *found;
		ut_chrome_remove(&c->extra, found);
	} else if (found && found->flags == UT_ARG_TEXT) {
		arg = *found;
		ut_chrome_remove(&c->extra, found);
	}
	return arg;
}

/* The id of a frame as text: a number and its digits mean the same. */
static uint32_t frame_id(struct ut_chrome *c, const struct ut_arg *sf)
{
	char digits[24];

	if (sf->type != UT_ARG_U64)
		return sf->type == UT_ARG_END ? 0 : ut_chrome_text_of(c, sf);
	snprintf(digits, sizeof(digits), "%" PRIu64, sf->value.u64);
	return ut_strtab_intern_z(&c->build.store.trace.strings, digits);
}

void ut_chrome_take_sample(struct ut_chrome *c)
{
	struct ut_chrome_event *e = &c->event;
	struct ut_arg sf, weight;
	uint64_t heavy = 1;
	uint32_t frame;

	if (!e->has_ts) {
		ut_chrome_note(c, UT_ODD_NO_TIME, ut_json_offset(&c->json, e->start));
		return;
	}
	sf = take_member(c, "sf");
	weight = take_member(c, UT_SAMPLE_WEIGHT);
	frame = frame_id(c, &sf);
	if (weight.type == UT_ARG_U64 && !weight.flags)
		heavy = weight.value.u64;
	else if (weight.type != UT_ARG_END)
		heavy = UT_SAMPLE_WEIGHT_ARG;
	if (heavy >= UT_SAMPLE_WEIGHT_ARG)
		ut_chrome_add(&c->extra, weight);
	for (size_t i = 0; i < c->extra.count; i++)
		ut_chrome_add(&c->args, c->extra.items[i]);
	c->events++;
	c->sampled = true;
	c->first = e->ts < c->first ? e->ts : c->first;
	ut_build_add(&c->build, chrome_samples_track_of(c), (uint64_t)e->ts,
		     ut_sample_val(frame, heavy),
		     ut_chrome_type(c, e->name, e->cat, UT_KIND_SAMPLE, 0),
		     ut_arglists_add(&c->build.store.args, c->args.items, c->args.count));
}

/* ---- frames -------------------------------------------------------------------------------- */

struct frame {
	uint32_t parent; /* string id; 0 = none */
	uint32_t place;
	uint32_t stack; /* its number, once it is known */
	bool busy;      /* on the way outwards from a frame further in */
};

struct ut_chrome_frames {
	uint64_t start; /* of the value, if it was too large to keep */
	struct frame *items;
	size_t count, cap;
	struct ut_arena arena;
	struct ut_idmap by_id; /* string id -> index + 1 */
};

static uint32_t chrome_samples_text_of(struct ut_chrome *c, struct ut_str value)
{
	if (*value.ptr == '"')
		return ut_chrome_string(c, c->names,
					(struct ut_str){ value.ptr + 1, value.len - 2 });
	return ut_chrome_json(c, value, false);
}

static void take_frame_member(struct ut_chrome *c, struct frame *f, struct ut_place_in_code *p,
			      struct ut_str key, struct ut_str value)
{
	struct ut_json_number n;
	uint64_t number;

	if (ut_str_is(key, "parent"))
		f->parent = chrome_samples_text_of(c, value);
	else if (ut_str_is(key, "name"))
		p->function = chrome_samples_text_of(c, value);
	else if (ut_str_is(key, "category"))
		p->module = chrome_samples_text_of(c, value);
	else if (ut_str_is(key, "file"))
		p->file = chrome_samples_text_of(c, value);
	else if (ut_str_is(key, "line") && ut_json_number(value, &n) == UT_JSON_U64)
		p->line = n.u64 <= UINT32_MAX ? (uint32_t)n.u64 : 0;
	else if (ut_str_is(key, "address") && *value.ptr == '"' &&
		 ut_json_quoted_hex(value.ptr + 1, value.ptr + value.len, &number))
		p->address = number;
}

/* A name that our exporter has made up, because the format wants one. */
static bool is_made_up(const struct ut_trace *t, const struct ut_place_in_code *p)
{
	struct ut_str s = ut_strtab_get(&t->strings, p->function);
	char hex[24];

	snprintf(hex, sizeof(hex), "0x%" PRIx64, p->address);
	return !strcmp(s.ptr, p->address ? hex : UNKNOWN);
}

static bool read_frame(struct ut_chrome *c, struct ut_json *j, struct frame *f)
{
	struct ut_trace *t = &c->build.store.trace;
	struct ut_place_in_code p = { 0 };
	struct ut_str key, value;

	*f = (struct frame){ 0 };
	if (ut_json_peek(j) != '{')
		return ut_json_skip(j, NULL);
	ut_json_enter(j);
	while (ut_json_member(j, &key) && ut_json_skip(j, &value))
		take_frame_member(c, f, &p, key, value);
	if (j->trouble)
		return false;
	if (is_made_up(t, &p))
		p.function = 0;
	f->place = ut_stacks_place(&t->stacks, &t->arena, &p);
	return true;
}

/* The next one; false at the end of the object, and as ut_json_member(). */
static bool next_frame(struct ut_chrome *c, struct ut_json *j, struct ut_chrome_frames *all)
{
	struct ut_str key;
	struct frame f;
	uint32_t id;

	if (!ut_json_member(j, &key))
		return false;
	id = ut_chrome_string(c, c->names, key);
	if (!read_frame(c, j, &f))
		return false;
	all->items = ut_grow(all->items, all->count + 1, &all->cap, sizeof(f));
	all->items[all->count++] = f;
	ut_idmap_put(&all->by_id, id, (uint32_t)all->count);
	return true;
}

static struct ut_chrome_frames *frames_of(struct ut_chrome *c)
{
	if (!c->frames) {
		c->frames = ut_make(sizeof(*c->frames));
		*c->frames = (struct ut_chrome_frames){ 0 };
		ut_idmap_init(&c->frames->by_id, &c->frames->arena);
	}
	return c->frames;
}

bool ut_chrome_big_frames(struct ut_chrome *c)
{
	struct ut_json *j = &c->json;
	struct ut_chrome_frames *all = frames_of(c);
	bool ok;

	all->start = ut_json_offset(j, j->mark);
	j->at = j->mark;
	ut_json_enter(j);
	do {
		ut_json_mark(j);
		do
			ok = next_frame(c, j, all);
		while (!ok && ut_json_again(j));
	} while (ok);
	j->fresh = false;
	return j->trouble == UT_JSON_NONE;
}

void ut_chrome_free_frames(struct ut_chrome *c)
{
	if (!c->frames)
		return;
	ut_arena_release(&c->frames->arena);
	free(c->frames->items);
	free(c->frames);
	c->frames = NULL;
}

/* Callers first; a frame that calls itself in a circle has no caller. */
static uint32_t chrome_samples_stack_of(struct ut_chrome *c, struct ut_chrome_frames *all,
					uint32_t id)
{
	struct ut_trace *t = &c->build.store.trace;
	uint32_t at = id ? ut_idmap_get(&all->by_id, id) : 0, stack = 0;
	size_t deep = 0;
	uint32_t *way = NULL;
	size_t cap = 0;

	while (at && !all->items[at - 1].stack && !all->items[at - 1].busy) {
		way = ut_grow(way, deep + 1, &cap, sizeof(*way));
		way[deep++] = at;
		all->items[at - 1].busy = true;
		at = all->items[at - 1].parent
			     ? ut_idmap_get(&all->by_id, all->items[at - 1].parent)
			     : 0;
	}
	if (at)
		stack = all->items[at - 1].stack;
	while (deep) {
		struct frame *f = &all->items[way[--deep] - 1];

		stack = f->stack = ut_stacks_site(&t->stacks, &t->arena, stack, f->place);
		f->busy = false;
	}
	free(way);
	return stack;
}

static void finalize_rows(struct ut_chrome *c, struct ut_chrome_frames *all)
{
	struct ut_build *b = &c->build;

	for (size_t t = 0; t < b->row_cap; t++) {
		for (size_t n = 0; n < b->rows[t].block_count; n++) {
			struct ut_build_block *k = &b->rows[t].blocks[n];

			for (uint32_t i = 0; i < k->count; i++) {
				uint64_t val = k->val[i];

				if (ut_types_get(&b->store.types, k->type[i])->kind ==
				    UT_KIND_SAMPLE)
					k->val[i] =
						ut_sample_val(chrome_samples_stack_of(
								      c, all, ut_sample_stack(val)),
							      ut_sample_weight(val));
			}
		}
	}
}

void ut_chrome_finalize_samples(struct ut_chrome *c)
{
	uint32_t key = ut_strtab_intern_z(&c->build.store.trace.strings, "stackFrames");
	struct ut_arg *kept = c->sampled ? ut_chrome_find(&c->file, key) : NULL;
	struct ut_json j;
	struct ut_str s;

	/* nobody names them, and they were too large to keep */
	if (!c->sampled && c->frames)
		ut_chrome_note(c, UT_ODD_TOO_BIG, c->frames->start);
	if (!c->sampled)
		return;
	if (kept) {
		s = ut_strtab_get(&c->build.store.trace.strings, kept->value.str);
		ut_json_init_text(&j, s.ptr, s.len);
		if (ut_json_peek(&j) == '{') {
			ut_json_enter(&j);
			while (next_frame(c, &j, frames_of(c)))
				;
		}
		ut_json_release(&j);
		ut_chrome_remove(&c->file, kept);
	}
	finalize_rows(c, frames_of(c));
	ut_chrome_free_frames(c);
}
