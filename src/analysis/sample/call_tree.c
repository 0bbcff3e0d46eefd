#include "sample/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "sample/prof.h"
#include "sample/whose.h"

#define MOST_UP 1024u /* callers of callers that are told */

struct growing {
	struct ut_call_tree *t;
	const struct ut_prof *p;
	struct ut_hashtab by_key;
	uint8_t *wanted;  /* by function: the pattern fits */
	uint8_t *between; /* by node of the profile: the interpreter, on the way to others */
	uint32_t *at;     /* by depth of the walk: the node of the tree; 0 = outside of it */
	size_t depth, cap;
	uint32_t enclosing; /* wanted functions that are open */
};

static uint32_t child(struct growing *g, uint32_t parent, uint32_t function)
{
	const uint32_t key[2] = { parent, function };
	uint32_t hash = (uint32_t)ut_hash_bytes(key, sizeof(key)), at = hash, number;
	struct ut_call_tree *t = g->t;

	if (parent && t->nodes[parent].function == function && t->kind != UT_TREE_STACKS)
		return parent;
	while ((number = ut_hashtab_next(&g->by_key, hash, &at)) &&
	       (t->nodes[number].parent != parent || t->nodes[number].function != function))
		;
	if (number)
		return number;
	t->nodes = ut_grow(t->nodes, t->count + 1, &t->cap, sizeof(*t->nodes));
	t->nodes[t->count] = (struct ut_tree_node){ .parent = parent, .function = function };
	ut_hashtab_add(&g->by_key, hash, (uint32_t)t->count);
	return (uint32_t)t->count++;
}

/* ---- from the top -------------------------------------------------------------------------- */

static void call_tree_push(struct growing *g, uint32_t node)
{
	g->at = ut_grow_raw(g->at, g->depth + 1, &g->cap, sizeof(*g->at));
	g->at[g->depth++] = node;
}

/* Weights go to the nodes where samples end; totals are added up afterwards. */
static void enter_down(void *ctx, uint32_t node)
{
	struct growing *g = ctx;
	uint32_t function = ut_prof_function(g->p, node);
	uint32_t enclosing = g->depth ? g->at[g->depth - 1] : 0;
	struct ut_tree_node *n;

	if (g->wanted && !enclosing && !g->wanted[function]) {
		call_tree_push(g, 0);
		return;
	}
	if (g->between[node] && !(g->wanted && !enclosing)) {
		call_tree_push(g, enclosing);
		if (!g->p->nodes[node].samples)
			return;
		n = &g->t->nodes[child(g, enclosing, function)];
	} else {
		call_tree_push(g, child(g, enclosing, function));
		n = &g->t->nodes[g->at[g->depth - 1]];
	}
	n->self += g->p->nodes[node].self;
	n->samples += g->p->nodes[node].samples;
}

static void leave_down(void *ctx, uint32_t node)
{
	struct growing *g = ctx;

	(void)node;
	g->depth--;
}

static void add_totals(struct ut_call_tree *t)
{
	for (size_t i = 0; i < t->count; i++)
		t->nodes[i].total = t->nodes[i].self;
	for (size_t i = t->count - 1; i; i--)
		t->nodes[t->nodes[i].parent].total += t->nodes[i].total;
}

static void grow_down(struct growing *g)
{
	ut_prof_walk(g->p, enter_down, leave_down, g);
	if (!g->wanted) {
		g->t->nodes[0].self = g->p->nodes[0].self;
		g->t->nodes[0].samples = g->p->nodes[0].samples;
	}
	add_totals(g->t);
}

/* ---- from the bottom ----------------------------------------------------------------------- */

/* The function of a node and its callers, with this weight for each. */
static void add_up(struct growing *g, uint32_t node, uint64_t weight, uint64_t samples)
{
	uint32_t at = 0;

	g->t->nodes[0].total += weight;
	g->t->nodes[0].samples += samples;
	for (unsigned int up = 0; node && up < MOST_UP; up++, node = g->p->nodes[node].parent) {
		uint32_t next;

		if (up && g->between[node])
			continue;
		next = child(g, at, ut_prof_function(g->p, node));
		if (next != at) {
			g->t->nodes[next].total += weight;
			g->t->nodes[next].samples += samples;
		}
		at = next;
	}
	g->t->nodes[at].self += weight;
}

static void grow_up(struct growing *g)
{
	for (uint32_t i = 1; i < g->p->node_count; i++) {
		const struct ut_prof_node *n = &g->p->nodes[i];

		if (n->samples || n->self) /* CPU time that has no sample counts, too */
			add_up(g, i, n->self, n->samples);
	}
}

static uint64_t samples_below(const struct ut_prof *p, uint32_t node)
{
	uint64_t samples = 0;
	uint32_t at = node;

	for (;;) {
		samples += p->nodes[at].samples;
		if (p->first_child[at]) {
			at = p->first_child[at];
			continue;
		}
		while (at != node && !p->next_child[at])
			at = p->nodes[at].parent;
		if (at == node)
			return samples;
		at = p->next_child[at];
	}
}

static void enter_wanted(void *ctx, uint32_t node)
{
	struct growing *g = ctx;

	if (g->wanted[ut_prof_function(g->p, node)] && !g->enclosing++)
		add_up(g, node, g->p->nodes[node].total, samples_below(g->p, node));
}

static void leave_wanted(void *ctx, uint32_t node)
{
	struct growing *g = ctx;

	if (g->wanted[ut_prof_function(g->p, node)])
		g->enclosing--;
}

/* ---- order --------------------------------------------------------------------------------- */

static int heaviest_first(const void *a, const void *b, void *ctx)
{
	const struct ut_call_tree *t = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct ut_tree_node *x = &t->nodes[i], *y = &t->nodes[j];
	const struct ut_prof_frame *f = &t->profile->functions[x->function],
				   *g = &t->profile->functions[y->function];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (f->function != g->function)
		return ut_str_cmp(ut_prof_text(t->profile, f->function),
				  ut_prof_text(t->profile, g->function));
	return i < j ? -1 : i > j;
}

static void chain(struct ut_call_tree *t)
{
	uint32_t *order = ut_make(t->count * sizeof(*order));
	size_t count = t->count - 1;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i + 1;
	if (count)
		qsort_r(order, count, sizeof(*order), heaviest_first, t);
	for (size_t i = count; i; i--) {
		struct ut_tree_node *n = &t->nodes[order[i - 1]];

		n->next = t->nodes[n->parent].first;
		t->nodes[n->parent].first = order[i - 1];
	}
	free(order);
}

/* ---- the way in ---------------------------------------------------------------------------- */

/* Interpreters whose work is to call something that is none. Callers have smaller numbers. */
static void find_between(struct growing *g)
{
	const struct ut_prof *p = g->p;
	uint8_t *inside = ut_make(p->frame_count + 1); /* by frame: 1 = interpreter, 2 = not */
	uint8_t *carries = ut_make(p->node_count);

	g->between = ut_make(p->node_count);
	for (uint32_t i = (uint32_t)p->node_count - 1; i && g->t->kind != UT_TREE_STACKS; i--) {
		uint32_t frame = p->nodes[i].frame;

		if (!inside[frame])
			inside[frame] = ut_prof_is_interpreter(p, &p->frames[frame]) ? 1 : 2;
		g->between[i] = inside[frame] == 1 && carries[i];
		if (inside[frame] == 2 || carries[i])
			carries[p->nodes[i].parent] = 1;
	}
	free(inside);
	free(carries);
}

static void find_wanted(struct growing *g, const char *pattern)
{
	g->wanted = ut_make(g->p->function_count + 1);
	for (size_t i = 0; i < g->p->function_count; i++) {
		g->wanted[i] = g->p->functions[i].function &&
			       ut_prof_matches(g->p, g->p->functions[i].function, pattern);
		g->t->matched += g->wanted[i];
	}
}

void ut_call_tree_init(struct ut_call_tree *t, const struct ut_prof *p, enum ut_tree_kind kind,
		       const char *pattern)
{
	struct growing g = { .t = t, .p = p };

	*t = (struct ut_call_tree){ .kind = kind, .profile = p };
	t->nodes = ut_grow(NULL, 1, &t->cap, sizeof(*t->nodes));
	t->count = 1;
	find_between(&g);
	if (kind == UT_TREE_CALLERS || kind == UT_TREE_CALLEES)
		find_wanted(&g, pattern);
	if (kind == UT_TREE_BOTTOM_UP)
		grow_up(&g);
	else if (kind == UT_TREE_CALLERS)
		ut_prof_walk(p, enter_wanted, leave_wanted, &g);
	else
		grow_down(&g);
	chain(t);
	ut_hashtab_release(&g.by_key);
	free(g.wanted);
	free(g.between);
	free(g.at);
}

void ut_call_tree_release(struct ut_call_tree *t)
{
	free(t->nodes);
	*t = (struct ut_call_tree){ 0 };
}

uint32_t ut_call_tree_depth(const struct ut_call_tree *t, uint32_t node)
{
	uint32_t depth = 0;

	for (node = t->nodes[node].parent; node; node = t->nodes[node].parent)
		depth++;
	return depth;
}

void ut_call_tree_walk(const struct ut_call_tree *t,
		       bool (*visit)(void *ctx, uint32_t node, uint32_t depth), void *ctx)
{
	uint32_t at = t->nodes[0].first, depth = 0;

	while (at) {
		if (visit(ctx, at, depth) && t->nodes[at].first) {
			at = t->nodes[at].first;
			depth++;
			continue;
		}
		while (at && !t->nodes[at].next) {
			at = t->nodes[at].parent;
			depth--;
		}
		at = at ? t->nodes[at].next : 0;
	}
}
