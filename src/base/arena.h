/*
 * arena.h - memory that lives and dies together.
 *
 * Everything read from one trace is allocated from that trace's arena and freed by one
 * ut_arena_release(). Nothing in an arena is freed on its own, but for large tables that grow and
 * were asked for alone. Not thread-safe: one owner.
 */
#ifndef UT_BASE_ARENA_H
#define UT_BASE_ARENA_H

#include <stddef.h>

struct ut_arena_block;

struct ut_arena {
	struct ut_arena_block *head; /* the block that is being filled; older ones behind it */
	size_t used;                 /* bytes of head that are taken */
};

/* Zeroed memory for n objects of size bytes, 16-aligned. Never NULL: running out aborts. */
void *ut_arena_alloc(struct ut_arena *a, size_t n, size_t size);

/* The same in a piece that can be given back before the arena is released. */
void *ut_arena_alloc_alone(struct ut_arena *a, size_t n, size_t size);
void ut_arena_give_back(struct ut_arena *a, void *alone); /* NULL is fine */

/* A NUL-terminated copy of len bytes. */
char *ut_arena_copy(struct ut_arena *a, const char *s, size_t len);

/* Frees everything; the arena is empty and usable again. */
void ut_arena_release(struct ut_arena *a);

#define UT_NEW(arena, type)          ((type *)ut_arena_alloc((arena), 1, sizeof(type)))
#define UT_NEW_N(arena, type, n)     ((type *)ut_arena_alloc((arena), (n), sizeof(type)))
#define UT_NEW_ALONE(arena, type, n) ((type *)ut_arena_alloc_alone((arena), (n), sizeof(type)))

#endif
