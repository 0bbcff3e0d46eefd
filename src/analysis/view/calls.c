/*
 * calls.c - the slices of a scope as a tree: who calls whom, from the top or from the bottom.
 *
 * Nodes are known by their parent and a key: the number of a name, or, where every slice stands for
 * itself, its place in the trace. A tree with more nodes than asked for keeps the heaviest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/sort.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/visit.h"

#define NODES_MOST (1u << 22) /* of all; what would be more is left out */
#define SENT_MOST  200000u
#define FINEST     4000u /* in order of time, a slice is at least this part of the scope */

struct node {
	uint64_t key, total, self, count, start;
	uint32_t parent, type;
	uint32_t children, sibling; /* the first, the next: number plus 1; 0 = none */
};

struct calls {
	struct ut_view *view;
	struct node *nodes; /* [0] is the root */
	size_t count, cap;
	uint32_t *slots; /* number plus 1 */
	size_t mask;
	uint32_t name;  /* of callers and callees; UINT32_MAX: there is none */
	uint64_t least; /* ns of a slice in order of time */
	uint64_t left;
	void (*grow)(struct calls *c, const struct ut_visit *visit);
	/* The path of the last slice and its nodes: the next one's often begins alike. */
	uint64_t *ids;
	uint32_t *at;
	size_t depth, ids_cap, at_cap;
};

/* ---- nodes ---------------------------------------------------------------------------------- */

static uint64_t view_calls_hash_of(uint32_t parent, uint64_t key)
{
	const uint64_t words[2] = { parent, key };

	return ut_hash_bytes(words, sizeof(words));
}

static void put_slot(struct calls *c, uint32_t node)
{
	size_t i = view_calls_hash_of(c->nodes[node].parent, c->nodes[node].key) & c->mask;

	while (c->slots[i])
		i = (i + 1) & c->mask;
	c->slots[i] = node + 1;
}

static void view_calls_make_room(struct calls *c)
{
	c->nodes = ut_grow(c->nodes, c->count + 1, &c->cap, sizeof(*c->nodes));
	if ((c->count + 1) * 2 <= c->mask)
		return;
	free(c->slots);
	c->mask = c->mask ? c->mask * 2 + 1 : 1023;
	c->slots = ut_make((c->mask + 1) * sizeof(*c->slots));
	for (size_t i = 1; i < c->count; i++)
		put_slot(c, (uint32_t)i);
}

/* The child of that key, made if it is new; 0 if there are too many nodes already. */
static uint32_t child(struct calls *c, uint32_t parent, uint64_t key, uint32_t type)
{
	size_t i;
	uint32_t n;

	view_calls_make_room(c);
	for (i = view_calls_hash_of(parent, key) & c->mask; c->slots[i]; i = (i + 1) & c->mask) {
		n = c->slots[i] - 1;
		if (c->nodes[n].parent == parent && c->nodes[n].key == key)
			return n;
	}
	if (c->count == NODES_MOST) {
		c->left++;
		return 0;
	}
	n = (uint32_t)c->count++;
	c->nodes[n] = (struct node){ .key = key, .parent = parent, .type = type };
	c->slots[i] = n + 1;
	return n;
}

static uint32_t named(struct calls *c, uint32_t parent, uint32_t type)
{
	return child(c, parent, c->view->name_of[type], type);
}

static void weigh(struct calls *c, uint32_t node, uint64_t total, uint64_t self)
{
	c->nodes[node].total += total;
	c->nodes[node].self += self;
	c->nodes[node].count++;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

/* The node of the slices around a visit: of the last path only what differs is looked up. */
static uint32_t path_node(struct calls *c, const struct ut_visit *visit)
{
	size_t same = 0;
	uint32_t n = 0;

	c->ids = ut_grow(c->ids, visit->depth + 1, &c->ids_cap, sizeof(*c->ids));
	c->at = ut_grow(c->at, visit->depth + 1, &c->at_cap, sizeof(*c->at));
	for (size_t i = 0; i < visit->depth; i++) {
		const struct ut_view_row *row = &visit->path[i].row;
		uint64_t id = ut_view_id(c->view, row->track, row->row);

		if (same == i && i < c->depth && c->ids[i] == id) {
			same++;
			n = c->at[i];
			continue;
		}
		n = named(c, n, row->type);
		if (!n)
			break;
		c->ids[i] = id;
		c->at[i] = n;
	}
	c->depth = n || !visit->depth ? visit->depth : 0;
	return n;
}

static void top_down(struct calls *c, const struct ut_visit *visit)
{
	uint32_t n = path_node(c, visit);

	if (visit->depth && !n)
		return;
	n = named(c, n, visit->row->type);
	if (n)
		weigh(c, n, visit->total, visit->self);
	if (!visit->depth)
		c->nodes[0].total += visit->total;
}

/* Each name with its self time, below it who it was in: the weight goes up to the callers. */
static void bottom_up(struct calls *c, const struct ut_visit *visit)
{
	uint32_t n = named(c, 0, visit->row->type), last = n;

	c->nodes[0].total += visit->self;
	if (n)
		weigh(c, n, visit->self, 0);
	for (size_t i = visit->depth; i-- && n;) {
		n = named(c, n, visit->path[i].row.type);
		if (n)
			weigh(c, n, visit->self, 0);
		last = n ? n : last;
	}
	c->nodes[last].self += last ? visit->self : 0;
}

static bool has_name(const struct calls *c, uint32_t type)
{
	return c->view->name_of[type] == c->name;
}

/* Above one name: those around it, each with the time of that name. Recursion counts once. */
static void callers(struct calls *c, const struct ut_visit *visit)
{
	uint32_t n = 0;

	if (!has_name(c, visit->row->type))
		return;
	for (size_t i = 0; i < visit->depth; i++) {
		if (has_name(c, visit->path[i].row.type))
			return;
	}
	weigh(c, 0, visit->total, 0);
	for (size_t i = visit->depth; i--;) {
		n = named(c, n, visit->path[i].row.type);
		if (!n)
			return;
		weigh(c, n, visit->total, 0);
	}
}

/* Below one name: what ran in it. */
static void callees(struct calls *c, const struct ut_visit *visit)
{
	size_t at = 0;
	uint32_t n = 0;

	while (at < visit->depth && !has_name(c, visit->path[at].row.type))
		at++;
	if (at == visit->depth && !has_name(c, visit->row->type))
		return;
	for (size_t i = at + 1; i < visit->depth; i++) {
		n = named(c, n, visit->path[i].row.type);
		if (!n)
			return;
	}
	if (at < visit->depth) {
		n = named(c, n, visit->row->type);
		if (!n)
			return;
	}
	weigh(c, n, visit->total, visit->self);
}

static uint32_t lone(struct calls *c, uint32_t parent, const struct ut_view_row *row)
{
	uint32_t n = child(c, parent, ut_view_id(c->view, row->track, row->row), row->type);

	if (n)
		c->nodes[n].start = row->start;
	return n;
}

/* Every slice for itself; those too short to be seen are left out. Inner ones come first: their
 * parents are made before their turn. */
static void in_time(struct calls *c, const struct ut_visit *visit)
{
	uint32_t n = 0;

	if (visit->total < c->least)
		return;
	for (size_t i = 0; i < visit->depth; i++) {
		n = lone(c, n, &visit->path[i].row);
		if (!n)
			return;
	}
	n = lone(c, n, visit->row);
	if (n) {
		c->nodes[n].total = visit->total;
		c->nodes[n].self = visit->self;
		c->nodes[n].count = 1;
	}
	if (!visit->depth)
		c->nodes[0].total += visit->total;
}

/* ---- the answer ----------------------------------------------------------------------------- */

static int larger(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* The total that a node needs to be among the limit heaviest ones. */
static uint64_t threshold(const struct calls *c, size_t limit)
{
	uint64_t *weights, least;

	if (c->count - 1 <= limit)
		return 0;
	weights = ut_make(c->count * sizeof(*weights));
	for (size_t i = 1; i < c->count; i++)
		weights[i - 1] = c->nodes[i].total;
	qsort(weights, c->count - 1, sizeof(*weights), larger);
	least = limit ? weights[limit - 1] : UINT64_MAX;
	free(weights);
	return least;
}

struct order {
	const struct node *nodes;
	bool timed;
};

static int in_order(const void *a, const void *b, void *ctx)
{
	const struct order *o = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct node *m = &o->nodes[x], *n = &o->nodes[y];

	if (o->timed && m->start != n->start)
		return m->start < n->start ? -1 : 1;
	if (!o->timed && m->total != n->total)
		return m->total > n->total ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Chains the children of each node, the last one first in order: so that a stack turns them. */
static void chain(struct calls *c, bool timed)
{
	uint32_t *order = ut_make((c->count + 1) * sizeof(*order));
	struct order how = { c->nodes, timed };

	for (size_t i = 1; i < c->count; i++)
		order[i - 1] = (uint32_t)i;
	if (c->count > 1)
		qsort_r(order, c->count - 1, sizeof(*order), in_order, &how);
	for (size_t i = 0; i + 1 < c->count; i++) {
		struct node *n = &c->nodes[order[i]], *parent = &c->nodes[n->parent];

		n->sibling = parent->children;
		parent->children = order[i] + 1;
	}
	free(order);
}

/* The nodes to be sent, parents before children. */
struct sent {
	uint32_t *node, *parent; /* parent: a place in this list */
	size_t count, node_cap, parent_cap;
};

static void flatten(struct calls *c, uint64_t least, struct sent *s)
{
	struct {
		uint32_t node, parent;
	} *stack = NULL, now;
	size_t depth = 1, cap = 0;

	stack = ut_grow(stack, 1, &cap, sizeof(*stack));
	stack[0].node = stack[0].parent = 0;
	while (depth) {
		now = stack[--depth];
		s->node = ut_grow(s->node, s->count + 1, &s->node_cap, sizeof(*s->node));
		s->parent = ut_grow(s->parent, s->count + 1, &s->parent_cap, sizeof(*s->parent));
		s->node[s->count] = now.node;
		s->parent[s->count++] = now.parent;
		for (uint32_t n = c->nodes[now.node].children; n; n = c->nodes[n - 1].sibling) {
			if (c->nodes[n - 1].total < least) {
				c->left++;
				continue;
			}
			stack = ut_grow(stack, depth + 1, &cap, sizeof(*stack));
			stack[depth].node = n - 1;
			stack[depth++].parent = (uint32_t)s->count - 1;
		}
	}
	free(stack);
}

#define PUT_NODES(out, head, s, value)                                                             \
	do {                                                                                       \
		ut_out_text((out), (head));                                                        \
		for (size_t i = 0; i < (s)->count; i++) {                                          \
			const struct node *n = &c->nodes[(s)->node[i]];                            \
                                                                                                   \
			ut_out_text((out), i ? "," : "");                                          \
			ut_out_u64((out), (value));                                                \
			(void)n;                                                                   \
		}                                                                                  \
	} while (0)

static void view_calls_put_names(const struct calls *c, const struct sent *s, struct ut_str label,
				 struct ut_out *out)
{
	ut_out_text(out, "],\"name\":[");
	ut_out_json_str(out, label.len ? label.ptr : "all", label.len ? label.len : 3);
	for (size_t i = 1; i < s->count; i++) {
		struct ut_str name = ut_view_type_name(c->view, c->nodes[s->node[i]].type);

		ut_out_text(out, ",");
		ut_out_json_str(out, name.ptr, name.len);
	}
}

static void put_tree(const struct calls *c, const struct sent *s, const struct ut_ask *a,
		     bool timed, struct ut_out *out)
{
	ut_out_text(out, "{\"parent\":[-1");
	for (size_t i = 1; i < s->count; i++) {
		ut_out_text(out, ",");
		ut_out_u64(out, s->parent[i]);
	}
	view_calls_put_names(c, s, a->name, out);
	PUT_NODES(out, "],\"type\":[", s, n->type);
	PUT_NODES(out, "],\"total\":[", s, n->total);
	PUT_NODES(out, "],\"self\":[", s, n->self);
	PUT_NODES(out, "],\"count\":[", s, n->count);
	if (timed)
		PUT_NODES(out, "],\"start\":[", s, n->start);
	ut_out_text(out, "],\"left\":");
	ut_out_u64(out, c->left);
	ut_out_text(out, "}");
}

static void grow_visit(void *ctx, const struct ut_visit *visit)
{
	struct calls *c = ctx;

	if (!visit->mark && !visit->aside)
		c->grow(c, visit);
}

static void view_calls_choose(struct calls *c, const struct ut_ask *a, bool *timed)
{
	static const struct {
		const char *kind;
		void (*grow)(struct calls *c, const struct ut_visit *visit);
	} kinds[] = { { "bottom-up", bottom_up },
		      { "time-order", in_time },
		      { "callers", callers },
		      { "callees", callees } };

	c->grow = top_down;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (ut_ask_is(a->kind, kinds[i].kind))
			c->grow = kinds[i].grow;
	}
	*timed = c->grow == in_time;
	c->least = ut_scope_span(c->view, &a->scope) / FINEST;
}

int ut_answer_tree(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err)
{
	struct calls c = { .view = v, .count = 1, .name = UINT32_MAX };
	uint32_t type = a->name.len ? ut_view_find_name(v, a->name) : UINT32_MAX;
	size_t limit = a->nodes < SENT_MOST ? (size_t)a->nodes : SENT_MOST;
	struct sent sent = { 0 };
	struct ut_search_query query;
	bool timed;
	int rc = ut_search_query_init(&query, v, (struct ut_str){ "", 0 }, &a->scope, err);

	if (rc)
		return rc;
	view_calls_choose(&c, a, &timed);
	view_calls_make_room(&c);
	if (type != UINT32_MAX) {
		c.nodes[0].type = type;
		c.name = v->name_of[type];
	}
	ut_view_walk(v, &a->scope, &query, grow_visit, &c);
	chain(&c, timed);
	flatten(&c, threshold(&c, limit), &sent);
	put_tree(&c, &sent, a, timed, out);
	free(sent.node);
	free(sent.parent);
	free(c.nodes);
	free(c.slots);
	free(c.ids);
	free(c.at);
	ut_search_query_release(&query);
	return 0;
}
