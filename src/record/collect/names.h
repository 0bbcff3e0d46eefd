/*
 * names.h - a table of names that grows without moving anything, for any number of threads.
 *
 * A name costs the same whether it is the first or the ten millionth: a slot holds a short chain;
 * when that is full, the slot becomes a node with sixteen slots, chosen by further bits of the
 * hash, for those that come later. Nothing is ever removed or moved, and every change is one
 * exchange of one slot, so a reader needs no lock and two threads never add the same name twice.
 *
 * Whoever keeps names embeds struct ut_name. Memory is ut_mem_alloc()'s; signal handlers may add.
 */
#ifndef UT_COLLECT_NAMES_H
#define UT_COLLECT_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_name {
	struct ut_name *next;
	uint64_t hash;
};

/* Is this the name with that text? Only asked when the hash is the same. */
typedef bool ut_name_is(const struct ut_name *name, const char *text, size_t len);

struct ut_names {
	_Atomic uintptr_t *slots; /* 1 << bits of them, zeroed */
	unsigned int bits;        /* of the hash, from the lowest */
	ut_name_is *is;
};

struct ut_name *ut_names_find(const struct ut_names *n, uint64_t hash, const char *text,
			      size_t len);

/* Adds it under name->hash, unless somebody has: what is there in the end. Never NULL. */
struct ut_name *ut_names_add(const struct ut_names *n, struct ut_name *name, const char *text,
			     size_t len);

/* Every name, in no order; none may be added meanwhile that has to be seen. */
void ut_names_each(const struct ut_names *n, void (*visit)(struct ut_name *name));

#endif
