/*
 * objects.c - the lists of early handles, and a table beside each to find a handle in it: programs
 * make hundreds of thousands of names before their first real call.
 *
 * A process may be forked in the middle of a change, and its child go on with the lists: so each
 * change is one store of a pointer, and what may be missing besides is an entry of a table.
 */
#define INTEL_NO_MACRO_BODY
#include "sdk/objects.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables -------------------------------------------------------------------------------- */

/* What a handle is known by; members that its kind does not have are 0. */
struct key {
	const char *name, *domain;
	const void *owner;
	int type;
};

struct entry {
	uint64_t hash;
	struct key key; /* its texts are the node's */
	void *node;     /* NULL = free */
};

/* Open addressing; at most half full. */
struct entries {
	size_t size, count;
	struct entry all[];
};

/* Zeroed = empty. */
struct table {
	struct entries *entries;
	void *tail; /* the last node of the list, or one before it */
};

static struct table domains, strings, counters, histograms, metadata;

static uint64_t objects_add_text(uint64_t hash, const char *s)
{
	for (; s && *s; s++)
		hash = (hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t objects_hash_of(const struct key *k)
{
	uint64_t hash = objects_add_text(UINT64_C(0xcbf29ce484222325), k->name);

	hash = objects_add_text(hash, k->domain) ^ (uint64_t)(uintptr_t)k->owner ^
	       (uint64_t)k->type << 32;
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static bool objects_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool objects_same_key(const struct key *a, const struct key *b)
{
	return a->type == b->type && a->owner == b->owner && objects_same(a->name, b->name) &&
	       objects_same(a->domain, b->domain);
}

/*
 * The entry of the key, or the free one where it belongs. There is always one. Not base/hashtab.h:
 * this is linked into programs of others, and must not abort without memory.
 */
static struct entry *objects_look_up(struct entries *e, uint64_t hash, const struct key *k)
{
	size_t at = hash & (e->size - 1);

	while (e->all[at].node &&
	       (e->all[at].hash != hash || !objects_same_key(&e->all[at].key, k)))
		at = (at + 1) & (e->size - 1);
	return &e->all[at];
}

static void set_pointer(void *at, void *value)
{
	__atomic_store_n((void **)at, value, __ATOMIC_RELEASE);
}

static bool objects_make_room(struct table *t)
{
	struct entries *old = t->entries, *larger;
	size_t size = old ? 2 * old->size : 64;

	if (old && old->count < old->size / 2)
		return true;
	larger = calloc(1, sizeof(*larger) + size * sizeof(*larger->all));
	if (!larger)
		return false;
	old = t->entries; /* an allocator of the program's may have called us */
	larger->size = size;
	for (size_t i = 0; old && i < old->size; i++) {
		if (!old->all[i].node)
			continue;
		*objects_look_up(larger, old->all[i].hash, &old->all[i].key) = old->all[i];
		larger->count++;
	}
	set_pointer(&t->entries, larger);
	free(old);
	return true;
}

static void *objects_find(const struct table *t, const struct key *k)
{
	return t->entries ? objects_look_up(t->entries, objects_hash_of(k), k)->node : NULL;
}

/* Behind objects_make_room(). The texts of the key live as long as the node. */
static void objects_put(struct table *t, struct key k, void *node)
{
	uint64_t hash = objects_hash_of(&k);
	struct entry *e = objects_look_up(t->entries, hash, &k);

	t->entries->count++;
	e->hash = hash;
	e->key = k;
	set_pointer(&e->node, node);
	t->tail = node;
}

static void objects_release(struct table *t)
{
	struct entries *old = t->entries;

	set_pointer(&t->entries, NULL);
	t->tail = NULL;
	free(old);
}

/* ---- nodes --------------------------------------------------------------------------------- */

/* A copy of s, counted as success when there was nothing to copy. */
static bool copy_to(const char **to, const char *s)
{
	*to = s ? strdup(s) : NULL;
	return *to || !s;
}

static void free_str(const char *s)
{
	free((void *)(uintptr_t)s);
}

/* Each list is chained through its nodes' next, which the collector follows. */
#define APPEND(list, table, type, node)                                                            \
	do {                                                                                       \
		type *last_ = (table)->tail ? (table)->tail : (list);                              \
                                                                                                   \
		while (last_ && last_->next)                                                       \
			last_ = last_->next;                                                       \
		set_pointer(last_ ? &last_->next : &(list), node);                                 \
	} while (0)

__itt_domain *ut_itt_domain_node(__itt_global *copy, const char *name)
{
	struct key key = { .name = name };
	__itt_domain *node = objects_find(&domains, &key);

	if (node)
		return node;
	node = calloc(1, sizeof(*node));
	if (!node || !objects_make_room(&domains) || !copy_to(&node->nameA, name)) {
		free(node);
		return NULL;
	}
	node->flags = 1;
	APPEND(copy->domain_list, &domains, __itt_domain, node);
	key.name = node->nameA;
	objects_put(&domains, key, node);
	return node;
}

__itt_string_handle *ut_itt_string_node(__itt_global *copy, const char *name)
{
	struct key key = { .name = name };
	__itt_string_handle *node = objects_find(&strings, &key);

	if (node)
		return node;
	node = calloc(1, sizeof(*node));
	if (!node || !objects_make_room(&strings) || !copy_to(&node->strA, name)) {
		free(node);
		return NULL;
	}
	APPEND(copy->string_list, &strings, __itt_string_handle, node);
	key.name = node->strA;
	objects_put(&strings, key, node);
	return node;
}

__itt_counter ut_itt_counter_node(__itt_global *copy, const char *name, const char *domain,
				  __itt_metadata_type type)
{
	struct key key = { .name = name, .domain = domain, .type = (int)type };
	__itt_counter_info_t *node = objects_find(&counters, &key);

	if (node)
		return (__itt_counter)node;
	node = calloc(1, sizeof(*node));
	if (!node || !objects_make_room(&counters) || !copy_to(&node->nameA, name) ||
	    !copy_to(&node->domainA, domain)) {
		if (node)
			free_str(node->nameA);
		free(node);
		return NULL;
	}
	node->type = (int)type;
	APPEND(copy->counter_list, &counters, __itt_counter_info_t, node);
	key.name = node->nameA;
	key.domain = node->domainA;
	objects_put(&counters, key, node);
	return (__itt_counter)node;
}

__itt_histogram *ut_itt_histogram_node(__itt_global *copy, const __itt_domain *domain,
				       const char *name, __itt_metadata_type x_type,
				       __itt_metadata_type y_type)
{
	struct key key = { .name = name, .owner = domain };
	__itt_histogram *node = objects_find(&histograms, &key);

	if (node)
		return node;
	node = calloc(1, sizeof(*node));
	if (!node || !objects_make_room(&histograms) || !copy_to(&node->nameA, name)) {
		free(node);
		return NULL;
	}
	node->domain = domain;
	node->x_type = x_type;
	node->y_type = y_type;
	APPEND(copy->histogram_list, &histograms, __itt_histogram, node);
	key.name = node->nameA;
	objects_put(&histograms, key, node);
	return node;
}

static bool objects_is_text(__itt_context_type type)
{
	return type == __itt_context_nameA || type == __itt_context_deviceA ||
	       type == __itt_context_unitsA || type == __itt_context_pci_addrA;
}

static bool is_number(__itt_context_type type)
{
	return type >= __itt_context_tid && type <= __itt_context_cpu_cycles_flag;
}

void ut_itt_metadata_node(__itt_global *copy, __itt_counter counter,
			  const __itt_context_metadata *m)
{
	struct key key = { .owner = counter, .type = (int)m->type };
	__itt_counter_metadata *node;

	if (!m->value || (!objects_is_text(m->type) && !is_number(m->type)) ||
	    objects_find(&metadata, &key))
		return;
	node = calloc(1, sizeof(*node));
	if (!node || !objects_make_room(&metadata)) {
		free(node);
		return;
	}
	node->counter = counter;
	node->type = m->type;
	if (is_number(m->type))
		memcpy(&node->value, m->value, sizeof(node->value));
	else if (!copy_to(&node->str_valueA, m->value)) {
		free(node);
		return;
	}
	APPEND(copy->counter_metadata_list, &metadata, __itt_counter_metadata, node);
	objects_put(&metadata, key, node);
}

static void release_tables(void)
{
	objects_release(&domains);
	objects_release(&strings);
	objects_release(&counters);
	objects_release(&histograms);
	objects_release(&metadata);
}

void ut_itt_free_nodes(__itt_global *copy)
{
	release_tables();
	for (__itt_domain *d; (d = copy->domain_list);) {
		copy->domain_list = d->next;
		free_str(d->nameA);
		free(d);
	}
	for (__itt_string_handle *s; (s = copy->string_list);) {
		copy->string_list = s->next;
		free_str(s->strA);
		free(s);
	}
	for (__itt_counter_info_t *c; (c = copy->counter_list);) {
		copy->counter_list = c->next;
		free_str(c->nameA);
		free_str(c->domainA);
		free(c);
	}
	for (__itt_histogram *h; (h = copy->histogram_list);) {
		copy->histogram_list = h->next;
		free_str(h->nameA);
		free(h);
	}
	for (__itt_counter_metadata *m; (m = copy->counter_metadata_list);) {
		copy->counter_metadata_list = m->next;
		free_str(m->str_valueA);
		free(m);
	}
}
