/* names.c - see names.h. */
#include "collect/names.h"

#include "collect/mem.h"

#define NODE_BITS  4u
#define NODE_SLOTS (1u << NODE_BITS)
#define CHAIN      4  /* names in a chain before it becomes a node */
#define DEEPEST    64 /* bits of a hash: equal ones stay in a chain */

/* A slot is 0, a chain (struct ut_name *), or a node, whose address is marked by its lowest bit. */
struct node {
	struct ut_name *chain; /* what was in the slot before */
	_Atomic uintptr_t slots[NODE_SLOTS];
};

static struct node *node_of(uintptr_t slot)
{
	return slot & 1 ? (struct node *)(slot - 1) : NULL;
}

static struct ut_name *in_chain(const struct ut_names *n, struct ut_name *chain, uint64_t hash,
				const char *text, size_t len)
{
	while (chain && (chain->hash != hash || !n->is(chain, text, len)))
		chain = chain->next;
	return chain;
}

/* Where a search has come to: a slot that holds no node. */
struct place {
	_Atomic uintptr_t *slot;
	uintptr_t value;
	unsigned int bits;     /* of the hash that have been used */
	struct ut_name *found; /* on the way there */
};

static struct place collect_names_walk(const struct ut_names *n, uint64_t hash, const char *text,
				       size_t len)
{
	struct place p = { .slot = &n->slots[hash & ((1ull << n->bits) - 1)], .bits = n->bits };
	struct node *node;

	while ((node = node_of(p.value = atomic_load_explicit(p.slot, memory_order_acquire)))) {
		p.found = in_chain(n, node->chain, hash, text, len);
		if (p.found)
			return p;
		p.slot = &node->slots[hash >> p.bits & (NODE_SLOTS - 1)];
		p.bits += NODE_BITS;
	}
	p.found = in_chain(n, (struct ut_name *)p.value, hash, text, len);
	return p;
}

struct ut_name *ut_names_find(const struct ut_names *n, uint64_t hash, const char *text, size_t len)
{
	return collect_names_walk(n, hash, text, len).found;
}

static int chain_length(const struct ut_name *chain)
{
	int length = 0;

	for (; chain && length < CHAIN; chain = chain->next)
		length++;
	return length;
}

/* Turns a full chain into a node. If that fails, somebody else was faster, or memory is gone and
 * the chain grows. */
static bool collect_names_split(const struct place *p)
{
	uintptr_t was = p->value;
	struct node *node;

	if (p->bits + NODE_BITS > DEEPEST || chain_length((struct ut_name *)was) < CHAIN)
		return false;
	node = ut_mem_alloc(sizeof(*node));
	if (!node)
		return false;
	node->chain = (struct ut_name *)was;
	(void)atomic_compare_exchange_strong(p->slot, &was, (uintptr_t)node | 1);
	return true;
}

struct ut_name *ut_names_add(const struct ut_names *n, struct ut_name *name, const char *text,
			     size_t len)
{
	for (;;) {
		struct place p = collect_names_walk(n, name->hash, text, len);

		if (p.found)
			return p.found;
		if (collect_names_split(&p))
			continue;
		name->next = (struct ut_name *)p.value;
		if (atomic_compare_exchange_strong(p.slot, &p.value, (uintptr_t)name))
			return name;
	}
}

static void visit_chain(struct ut_name *chain, void (*visit)(struct ut_name *name))
{
	while (chain) {
		struct ut_name *name = chain;

		chain = chain->next;
		visit(name);
	}
}

/* As deep as a hash has bits: sixteen calls. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void visit_slot(uintptr_t slot, void (*visit)(struct ut_name *name))
{
	struct node *node = node_of(slot);

	if (!node) {
		visit_chain((struct ut_name *)slot, visit);
		return;
	}
	visit_chain(node->chain, visit);
	for (unsigned int i = 0; i < NODE_SLOTS; i++)
		visit_slot(atomic_load_explicit(&node->slots[i], memory_order_acquire), visit);
}

void ut_names_each(const struct ut_names *n, void (*visit)(struct ut_name *name))
{
	for (uint64_t i = 0; i < 1ull << n->bits; i++)
		visit_slot(atomic_load_explicit(&n->slots[i], memory_order_acquire), visit);
}
