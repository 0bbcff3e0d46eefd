#include "sample/flame_scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "base/path.h"
#include "base/str.h"
#include "draw/palette.h"
#include "draw/scene.h"
#include "draw/typeset.h"
#include "sample/call_tree.h"
#include "sample/hot_summary.h"
#include "sample/prof.h"
#include "sample/short_name.h"
#include "sample/whose.h"

#define WIDTH      1200.0
#define MARGIN     16.0
#define ROW        17.0
#define TEXT       10.5
#define LEAST      0.6 /* points of width below which a box is not drawn */
#define SEEN       3.0 /* below which none makes the picture higher: hairs of a single sample */
#define MOST_DEPTH 200u
#define HEAD       78.0
#define FOOT       26.0

/* Whose code: what it is called, its colour (light enough for letters). */
#define OWNER_LIST(X)                                                                              \
	X(PROGRAM, "the program", 0xf6a667ffu)                                                     \
	X(SCRIPT, "Python libraries", 0x9fd3a6ffu)                                                 \
	X(LIBRARY, "libraries", 0x9cc4e8ffu)                                                       \
	X(KERNEL, "the kernel", 0xcfcfd6ffu)

static const struct {
	const char *name;
	uint32_t colour;
} owners[UT_OWNERS] = {
#define OWNER_ROW(owner, name, colour) [UT_OWNER_##owner] = { name, colour },
	OWNER_LIST(OWNER_ROW)
#undef OWNER_ROW
};

struct flame {
	struct ut_scene *scene;
	struct ut_arena arena;
	const struct ut_prof *p;
	const struct ut_call_tree *t, *before;
	uint32_t *same; /* by node: the same one of the run before; 0 = it was not there */
	enum ut_prof_owner *owner; /* by function */
	double *x;                 /* by node: where its next child begins */
	double scale;              /* points for each unit of weight */
	uint32_t depth;            /* of what is drawn: found by the first of two walks */
	bool drawing;
	bool used[UT_OWNERS];
};

/* ---- colours ------------------------------------------------------------------------------- */

/* A function is the program's own if any of its frames is. */
static void find_owners(struct flame *f)
{
	const struct ut_prof *p = f->p;

	f->owner = ut_make((p->function_count + 1) * sizeof(*f->owner));
	for (size_t i = 0; i < p->function_count; i++)
		f->owner[i] = UT_OWNERS;
	for (size_t i = 0; i < p->frame_count; i++) {
		enum ut_prof_owner o = ut_prof_owner(p, &p->frames[i]),
				   *of = &f->owner[p->function_of[i]];

		*of = o < *of ? o : *of;
	}
}

/* Between white and a colour, by 0 to 1. */
static uint32_t tint(uint32_t colour, double by)
{
	uint32_t made = 0xff;

	by = by < 0 ? 0 : by > 1 ? 1 : by;
	for (int shift = 8; shift < 32; shift += 8) {
		double part = 255 - (255 - (double)(colour >> shift & 0xff)) * by;

		made |= (uint32_t)lround(part) << shift;
	}
	return made;
}

static double share_before(const struct flame *f, uint32_t node)
{
	uint64_t all = f->before->nodes[0].total;

	return all && f->same[node] ? (double)f->before->nodes[f->same[node]].total / (double)all
				    : 0;
}

static double share_now(const struct flame *f, uint32_t node)
{
	uint64_t all = f->t->nodes[0].total;

	return all ? (double)f->t->nodes[node].total / (double)all : 0;
}

/* By how much of the whole a box has changed: a tenth of it is the full colour. */
static uint32_t colour_of(struct flame *f, uint32_t node)
{
	enum ut_prof_owner o = f->owner[f->t->nodes[node].function];
	double change;

	if (f->before) {
		change = share_now(f, node) - share_before(f, node);
		return fabs(change) < 0.001 ? 0xf1f1f3ffu
		       : change > 0         ? tint(0xe4572eff, 0.15 + change * 8.5)
					    : tint(0x2e7de4ff, 0.15 - change * 8.5);
	}
	f->used[o] = true;
	/* neighbours of one owner differ a little, always the same for one function */
	return tint(owners[o].colour, 0.82 + 0.06 * (f->t->nodes[node].function % 4));
}

/* ---- boxes --------------------------------------------------------------------------------- */

static void add_note(struct flame *f, uint32_t node, struct ut_str name)
{
	const struct ut_tree_node *n = &f->t->nodes[node];
	const struct ut_prof_frame *fn = &f->p->functions[n->function];
	const char *module = ut_path_base(ut_prof_text(f->p, fn->module).ptr);
	struct ut_buf b = { 0 };

	ut_buf_add(&b, name.ptr, name.len);
	ut_buf_fmt(&b, "%s%s%s: %.2f%%, ", module[0] ? " (" : "", module, module[0] ? ")" : "",
		   100 * share_now(f, node));
	ut_prof_amount(f->p, n->total, &b);
	ut_buf_text(&b, "; self ");
	ut_prof_amount(f->p, n->self, &b);
	if (f->before)
		ut_buf_fmt(&b, "; %.2f%% before", 100 * share_before(f, node));
	ut_scene_note(f->scene, (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
}

static void draw_box(struct flame *f, uint32_t node, struct ut_box box)
{
	const struct ut_lettering type = { .size = TEXT, .colour = UT_INK_TEXT };
	const struct ut_prof_frame *fn = &f->p->functions[f->t->nodes[node].function];
	struct ut_str name = ut_prof_text(f->p, fn->function);
	const struct ut_paint paint = { .fill = colour_of(f, node),
					.stroke = 0xffffffffu,
					.width = 0.5 };
	struct ut_buf b = { 0 };

	if (!fn->function)
		name = ut_str_of("[unknown]");
	ut_scene_rect(f->scene, &paint, box);
	add_note(f, node, name);
	if (box.width < 28)
		return;
	ut_prof_label(&b, f->p, fn);
	ut_scene_text(
		f->scene, &type, (struct ut_point){ box.x + 3, box.y + ROW - 5 },
		ut_text_fit(&f->arena, &type, (struct ut_str){ b.data, b.len }, box.width - 6));
	ut_buf_release(&b);
}

/* Children stand beside each other from where their caller begins. */
static bool flame_scene_place(void *ctx, uint32_t node, uint32_t depth)
{
	struct flame *f = ctx;
	const struct ut_tree_node *n = &f->t->nodes[node];
	double width = (double)n->total * f->scale;
	struct ut_box box = { f->x[n->parent], HEAD + (depth + 1) * ROW, width, ROW - 1 };

	f->x[n->parent] += width;
	f->x[node] = box.x;
	if (width < LEAST || depth >= (f->drawing ? f->depth : MOST_DEPTH))
		return false;
	if (f->drawing)
		draw_box(f, node, box);
	else if (width >= SEEN && depth + 1 > f->depth)
		f->depth = depth + 1;
	return true;
}

static void flame_scene_walk(struct flame *f, bool drawing)
{
	f->drawing = drawing;
	f->x[0] = MARGIN;
	ut_call_tree_walk(f->t, flame_scene_place, f);
}

/* ---- around them --------------------------------------------------------------------------- */

static void draw_text(struct flame *f, double x, double y, double size, const char *text)
{
	const struct ut_lettering type = { .size = size,
					   .colour = size > 12 ? UT_INK_TEXT : UT_INK_MUTED,
					   .is_bold = size > 12 };

	ut_scene_text(f->scene, &type, (struct ut_point){ x, y },
		      ut_text_fit(&f->arena, &type, ut_str_of(text), WIDTH - MARGIN - x));
}

static void draw_head(struct flame *f)
{
	struct ut_buf b = { 0 };
	struct ut_hot_summary v;

	ut_hot_summary_init(&v, f->p);
	if (v.count) {
		draw_text(f, MARGIN, 26, 15, v.lines[0].say.data);
		ut_buf_text(&b, v.lines[0].why.len ? v.lines[0].why.data : "");
	}
	for (size_t i = 1; i < v.count && i < 3; i++)
		ut_buf_fmt(&b, "%s%s", b.len ? "; " : "", v.lines[i].say.data);
	if (b.len)
		draw_text(f, MARGIN, 44, 11, b.data);
	b.len = 0;
	ut_buf_fmt(&b, "%" PRIu64 " samples, ", f->p->samples);
	ut_prof_amount(f->p, f->p->weight, &b);
	if (f->before) {
		ut_buf_text(&b, "; before: ");
		ut_prof_amount(f->before->profile, f->before->profile->weight, &b);
	}
	draw_text(f, MARGIN, 62, 11, b.data);
	ut_hot_summary_release(&v);
	ut_buf_release(&b);
}

static void draw_root(struct flame *f)
{
	const struct ut_paint paint = { .fill = UT_INK_GRID };

	ut_scene_rect(f->scene, &paint,
		      (struct ut_box){ MARGIN, HEAD, WIDTH - 2 * MARGIN, ROW - 1 });
	draw_text(f, MARGIN + 3, HEAD + ROW - 5, TEXT, "all");
}

/* Of colours: what they mean. */
static void draw_key(struct flame *f, double y)
{
	const struct ut_lettering type = { .size = TEXT, .colour = UT_INK_MUTED };
	double x = MARGIN;

	if (f->before) {
		draw_text(f, x, y, TEXT,
			  "Red: a larger share than before. Blue: a smaller one. Width: the share "
			  "now.");
		return;
	}
	for (unsigned int i = 0; i < UT_OWNERS; i++) {
		const struct ut_paint paint = { .fill = owners[i].colour };

		if (!f->used[i])
			continue;
		ut_scene_rect(f->scene, &paint, (struct ut_box){ x, y - 9, 11, 11 });
		ut_scene_text(f->scene, &type, (struct ut_point){ x + 16, y },
			      ut_str_of(owners[i].name));
		x += 16 + ut_text_width(&type, ut_str_of(owners[i].name)) + 20;
	}
}

/* ---- the run before ------------------------------------------------------------------------ */

static struct ut_str name_in(const struct ut_call_tree *t, uint32_t node)
{
	return ut_prof_text(t->profile, t->profile->functions[t->nodes[node].function].function);
}

static uint32_t flame_scene_hash_of(uint32_t parent, struct ut_str name)
{
	return (uint32_t)ut_hash_bytes(name.ptr, name.len) + parent * 0x9e3779b1u;
}

/* By the names down to it. Parents come first. */
static void match(struct flame *f)
{
	struct ut_hashtab then = { 0 };

	for (uint32_t i = 1; i < f->before->count; i++)
		ut_hashtab_add(
			&then,
			flame_scene_hash_of(f->before->nodes[i].parent, name_in(f->before, i)), i);
	f->same = ut_make((f->t->count + 1) * sizeof(*f->same));
	for (uint32_t i = 1; i < f->t->count; i++) {
		uint32_t parent = f->same[f->t->nodes[i].parent], number;
		uint32_t hash = flame_scene_hash_of(parent, name_in(f->t, i)), at = hash;

		if (f->t->nodes[i].parent && !parent)
			continue;
		while ((number = ut_hashtab_next(&then, hash, &at)) &&
		       (f->before->nodes[number].parent != parent ||
			!ut_str_eq(name_in(f->before, number), name_in(f->t, i))))
			;
		f->same[i] = number;
	}
	ut_hashtab_release(&then);
}

struct ut_scene *ut_flame_scene(const struct ut_prof *p, const struct ut_prof *before)
{
	struct flame f = { .scene = ut_scene_new(), .p = p };
	struct ut_call_tree now, then;
	double height;

	ut_call_tree_init(&now, p, UT_TREE_TOP_DOWN, NULL);
	f.t = &now;
	if (before) {
		ut_call_tree_init(&then, before, UT_TREE_TOP_DOWN, NULL);
		f.before = &then;
		match(&f);
	}
	find_owners(&f);
	f.x = ut_make((now.count + 1) * sizeof(*f.x));
	f.scale = now.nodes[0].total ? (WIDTH - 2 * MARGIN) / (double)now.nodes[0].total : 0;
	flame_scene_walk(&f, false);
	height = HEAD + (f.depth + 1) * ROW + FOOT;
	ut_scene_title(f.scene, ut_str_of("Flame graph"));
	ut_scene_page(f.scene, WIDTH, height);
	draw_head(&f);
	draw_root(&f);
	flame_scene_walk(&f, true);
	draw_key(&f, height - 10);
	free(f.x);
	free(f.owner);
	free(f.same);
	ut_arena_release(&f.arena);
	ut_call_tree_release(&now);
	if (before)
		ut_call_tree_release(&then);
	return f.scene;
}
