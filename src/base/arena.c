#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN       16u
#define FIRST_BLOCK ((size_t)16 << 10)
#define LAST_BLOCK  ((size_t)4 << 20) /* blocks double up to this size */

struct ut_arena_block {
	struct ut_arena_block *older;
	size_t size;
	alignas(ALIGN) unsigned char data[];
};

_Static_assert(sizeof(struct ut_arena_block) % ALIGN == 0, "data starts aligned");

static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "unitrace: out of memory (%zu bytes wanted)\n", size);
	abort();
}

/* calloc, because fresh pages are zero already: large blocks cost only what is touched. */
static struct ut_arena_block *new_block(size_t size)
{
	struct ut_arena_block *b = NULL;

	if (size <= SIZE_MAX / 2)
		b = calloc(1, sizeof(*b) + size);
	if (!b)
		out_of_memory(size);
	b->size = size;
	return b;
}

/* A request too big for the usual block gets one of its own, behind the block being filled. */
static void *alloc_alone(struct ut_arena *a, size_t size)
{
	struct ut_arena_block *b = new_block(size);

	if (a->head) {
		b->older = a->head->older;
		a->head->older = b;
	} else {
		a->head = b;
		a->used = size;
	}
	return b->data;
}

static void push_block(struct ut_arena *a)
{
	size_t size = a->head ? a->head->size * 2 : FIRST_BLOCK;
	struct ut_arena_block *b = new_block(size < LAST_BLOCK ? size : LAST_BLOCK);

	b->older = a->head;
	a->head = b;
	a->used = 0;
}

/* Bytes of n objects, rounded up. */
static size_t total_of(size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total) || total > SIZE_MAX / 4)
		out_of_memory(SIZE_MAX);
	return (total + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

void *ut_arena_alloc(struct ut_arena *a, size_t n, size_t size)
{
	size_t total = total_of(n, size);
	void *p;

	if (!a->head || total > a->head->size - a->used) {
		if (total > FIRST_BLOCK / 4)
			return alloc_alone(a, total);
		push_block(a);
	}
	p = a->head->data + a->used;
	a->used += total;
	return p;
}

void *ut_arena_alloc_alone(struct ut_arena *a, size_t n, size_t size)
{
	if (!a->head)
		push_block(a); /* the first block is never one that may be given back */
	return alloc_alone(a, total_of(n, size));
}

void ut_arena_give_back(struct ut_arena *a, void *alone)
{
	struct ut_arena_block **from = &a->head, *b;

	while (alone && (b = *from)) {
		if (b->data == alone) {
			*from = b->older;
			free(b);
			return;
		}
		from = &b->older;
	}
}

char *ut_arena_copy(struct ut_arena *a, const char *s, size_t len)
{
	char *copy = ut_arena_alloc(a, len + 1, 1);

	if (len)
		memcpy(copy, s, len);
	return copy;
}

void ut_arena_release(struct ut_arena *a)
{
	struct ut_arena_block *b = a->head;

	while (b) {
		struct ut_arena_block *older = b->older;

		free(b);
		b = older;
	}
	*a = (struct ut_arena){ 0 };
}
