#include "sample/hotspots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/str.h"
#include "sample/whose.h"

const char *const ut_hot_by_words[UT_HOT_BYS] = {
#define UT_HOT_BY_WORD(by, word, title) word,
	UT_HOT_BY_LIST(UT_HOT_BY_WORD)
#undef UT_HOT_BY_WORD
};

const char *const ut_hot_by_titles[UT_HOT_BYS] = {
#define UT_HOT_BY_TITLE(by, word, title) title,
	UT_HOT_BY_LIST(UT_HOT_BY_TITLE)
#undef UT_HOT_BY_TITLE
};

/* ---- rows ---------------------------------------------------------------------------------- */

/* The number of the row with that key; index + 1. */
static uint32_t sample_hotspots_row(struct ut_hotspots *h, const struct ut_prof_frame *key)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(key, sizeof(*key)), at = hash, number;

	while ((number = ut_hashtab_next(&h->by_key, hash, &at)) &&
	       memcmp(&h->rows[number - 1].frame, key, sizeof(*key)) != 0)
		;
	if (number)
		return number;
	h->rows = ut_grow(h->rows, h->count + 1, &h->cap, sizeof(*h->rows));
	h->rows[h->count] = (struct ut_hot_row){ .frame = *key };
	number = (uint32_t)++h->count;
	ut_hashtab_add(&h->by_key, hash, number);
	return number;
}

static struct ut_prof_frame sample_hotspots_key_of(const struct ut_hotspots *h,
						   const struct ut_prof_frame *f)
{
	struct ut_prof_frame key = *f;

	key.address = 0;
	if (h->by == UT_HOT_BY_FUNCTION || h->by == UT_HOT_BY_OWN)
		key.file = key.line = 0;
	else if (h->by == UT_HOT_BY_MODULE)
		key = (struct ut_prof_frame){ .module = f->module };
	return key;
}

/* ---- from a tree --------------------------------------------------------------------------- */

struct counting {
	struct ut_hotspots *h;
	bool (*wanted)(const struct ut_prof *p, const struct ut_prof_frame *f);
	uint32_t *row_of; /* by frame: row + 1; 0 = not wanted */
	uint32_t *open;   /* by row: frames of it that are around */
	uint32_t *inside; /* rows of wanted frames that are around, outermost first */
	size_t depth, cap;
};

static void sample_hotspots_give(struct counting *c, uint32_t number, const struct ut_prof_node *n)
{
	c->h->rows[number].self += n->self;
	c->h->rows[number].samples += n->samples;
}

static void sample_hotspots_enter(void *ctx, uint32_t node)
{
	struct counting *c = ctx;
	const struct ut_prof_node *n = &c->h->profile->nodes[node];
	uint32_t number = c->row_of[n->frame];

	if (number) {
		if (!c->open[number - 1]++)
			c->h->rows[number - 1].total += n->total;
		c->inside = ut_grow_raw(c->inside, c->depth + 1, &c->cap, sizeof(*c->inside));
		c->inside[c->depth++] = number - 1;
	}
	if (c->depth)
		sample_hotspots_give(c, c->inside[c->depth - 1], n);
	else if (n->self)
		sample_hotspots_give(c, sample_hotspots_row(c->h, &(struct ut_prof_frame){ 0 }) - 1,
				     n);
}

static void sample_hotspots_leave(void *ctx, uint32_t node)
{
	struct counting *c = ctx;
	uint32_t number = c->row_of[c->h->profile->nodes[node].frame];

	if (number) {
		c->open[number - 1]--;
		c->depth--;
	}
}

static void count_frames(struct ut_hotspots *h,
			 bool (*wanted)(const struct ut_prof *p, const struct ut_prof_frame *f))
{
	const struct ut_prof *p = h->profile;
	struct counting c = { .h = h, .wanted = wanted };

	c.row_of = ut_make(p->frame_count * sizeof(*c.row_of));
	for (size_t i = 1; i < p->frame_count; i++) {
		struct ut_prof_frame key = sample_hotspots_key_of(h, &p->frames[i]);

		if (!wanted || wanted(p, &p->frames[i]))
			c.row_of[i] = sample_hotspots_row(h, &key);
	}
	c.open = ut_make((h->count + 1) * sizeof(*c.open));
	ut_prof_walk(p, sample_hotspots_enter, sample_hotspots_leave, &c);
	if (p->nodes[0].self) /* samples without a stack */
		sample_hotspots_give(&c, sample_hotspots_row(h, &(struct ut_prof_frame){ 0 }) - 1,
				     &p->nodes[0]);
	free(c.row_of);
	free(c.open);
	free(c.inside);
}

/* ---- from groups --------------------------------------------------------------------------- */

static void count_groups(struct ut_hotspots *h, enum ut_prof_group_kind kind)
{
	const struct ut_prof_groups *g = &h->profile->groups[kind];

	for (size_t i = 0; i < g->count; i++) {
		h->rows = ut_grow(h->rows, h->count + 1, &h->cap, sizeof(*h->rows));
		h->rows[h->count++] = (struct ut_hot_row){ .group = &g->items[i],
							   .self = g->items[i].weight,
							   .total = g->items[i].total,
							   .samples = g->items[i].samples };
	}
}

void ut_hot_row_name(const struct ut_hotspots *h, const struct ut_hot_row *r, struct ut_buf *b)
{
	const struct ut_prof *p = h->profile;
	uint32_t name = r->group                    ? r->group->name
			: h->by == UT_HOT_BY_MODULE ? r->frame.module
						    : r->frame.function;
	struct ut_str s = ut_prof_text(p, name);

	if (h->by == UT_HOT_BY_OWN && ut_prof_is_import(p, &r->frame))
		ut_buf_text(b, "[imports]");
	else if (h->by == UT_HOT_BY_OWN && !name && !r->frame.module)
		ut_buf_text(b, "[outside the program's own code]");
	else if (name)
		ut_buf_add(b, s.ptr, s.len);
	else if (h->by == UT_HOT_BY_TASK)
		ut_buf_text(b, "[outside any task]");
	else if (h->by == UT_HOT_BY_PYTHON_LINE && !r->frame.file)
		ut_buf_text(b, "[outside Python]");
	else
		ut_buf_text(b, r->group ? "[no name]" : "[unknown]");
	if (r->group && h->by != UT_HOT_BY_TASK)
		ut_buf_fmt(b, " (%" PRIu64 ")", r->group->id);
}

/* ---- the way in ---------------------------------------------------------------------------- */

static int by_self(const void *a, const void *b, void *ctx)
{
	const struct ut_hot_row *x = a, *y = b;
	const struct ut_hotspots *h = ctx;
	struct ut_buf m = { 0 }, n = { 0 };
	int order;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	ut_hot_row_name(h, x, &m);
	ut_hot_row_name(h, y, &n);
	order = strcmp(m.data, n.data);
	ut_buf_release(&m);
	ut_buf_release(&n);
	return order ? order : memcmp(&x->frame, &y->frame, sizeof(x->frame));
}

/* Frames of which no sample is left are no rows. */
static void sample_hotspots_finalize(struct ut_hotspots *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++) {
		if (h->rows[i].total < h->rows[i].self)
			h->rows[i].total = h->rows[i].self; /* of nobody's */
		if (h->rows[i].total || h->rows[i].samples)
			h->rows[kept++] = h->rows[i];
	}
	h->count = kept;
	ut_hashtab_release(&h->by_key);
	if (h->count)
		qsort_r(h->rows, h->count, sizeof(*h->rows), by_self, h);
}

static bool is_own_row(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	return ut_prof_is_own_or_import(p, f) || ut_prof_is_none(p, f);
}

static bool is_line_row(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	return ut_prof_is_script(p, f) || ut_prof_is_none(p, f);
}

void ut_hotspots_init(struct ut_hotspots *h, const struct ut_prof *p, enum ut_hot_by by)
{
	*h = (struct ut_hotspots){ .by = by, .profile = p };
	switch ((int)by) {
	case UT_HOT_BY_THREAD:
		count_groups(h, UT_GROUP_THREAD);
		break;
	case UT_HOT_BY_TASK:
		count_groups(h, UT_GROUP_TASK);
		break;
	case UT_HOT_BY_PROCESS:
		count_groups(h, UT_GROUP_PROCESS);
		break;
	case UT_HOT_BY_OWN:
		count_frames(h, is_own_row);
		break;
	default:
		count_frames(h, by == UT_HOT_BY_PYTHON_LINE ? is_line_row : NULL);
	}
	sample_hotspots_finalize(h);
}

uint64_t ut_hotspots_for_own(const struct ut_prof *p)
{
	uint64_t with = 0, alone = 0;
	struct ut_hotspots h;
	size_t own = 0;

	ut_hotspots_init(&h, p, UT_HOT_BY_OWN);
	for (size_t i = 0; i < h.count; i++) {
		if (!h.rows[i].frame.function || ut_prof_is_none(p, &h.rows[i].frame))
			continue;
		with += h.rows[i].self;
		own += h.rows[i].self != 0;
	}
	ut_hotspots_release(&h);
	if (own < 2)
		return 0;
	ut_hotspots_init(&h, p, UT_HOT_BY_FUNCTION);
	for (size_t i = 0; i < h.count; i++)
		alone += ut_prof_is_own_or_import(p, &h.rows[i].frame) ? h.rows[i].self : 0;
	ut_hotspots_release(&h);
	return with > alone ? with - alone : 0;
}

void ut_hotspots_release(struct ut_hotspots *h)
{
	free(h->rows);
	ut_hashtab_release(&h->by_key);
	*h = (struct ut_hotspots){ 0 };
}
