/* handle_table.c - see handle_table.h. */
#include "backend/handle_table.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#define SLAB  ((size_t)256 << 10)
#define ALIGN 16u

/* A slab is handed out from its front; the first bytes say how much of it is taken. */
union slab {
	_Atomic size_t used;
	char align[ALIGN];
};

static _Atomic(union slab *) current;

static union slab *map_slab(size_t size)
{
	int saved = errno;
	union slab *s =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	if (s == MAP_FAILED)
		return NULL;
	atomic_store(&s->used, sizeof(*s));
	return s;
}

void *ut_guest_alloc(size_t size)
{
	union slab *s = atomic_load(&current), *fresh;

	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (size > SLAB / 4) {
		fresh = map_slab(size + sizeof(*fresh));
		return fresh ? (char *)fresh + sizeof(*fresh) : NULL;
	}
	for (;;) {
		size_t at = s ? atomic_fetch_add(&s->used, size) : SLAB;

		if (at + size <= SLAB)
			return (char *)s + at;
		fresh = map_slab(SLAB);
		if (!fresh)
			return NULL;
		if (atomic_compare_exchange_strong(&current, &s, fresh))
			s = fresh;
		else
			munmap(fresh, SLAB); /* another thread was faster: s is its slab now */
	}
}

/* Not base/hashtab.h: threads of the traced program find and add at once, without a lock. */
static size_t bucket_of(const void *handle)
{
	uint64_t mixed = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 51);
}

_Static_assert(UT_HANDLE_BUCKETS == 1u << (64 - 51), "bucket_of() gives 13 bits");

static void *find_from(struct ut_handle_item *i, const void *handle)
{
	while (i && i->handle != handle)
		i = i->next;
	return i;
}

void *ut_handle_find(const struct ut_handle_table *t, const void *handle)
{
	return find_from(atomic_load_explicit(&t->buckets[bucket_of(handle)], memory_order_acquire),
			 handle);
}

void *ut_handle_item_of(struct ut_handle_table *t, const void *handle)
{
	_Atomic(struct ut_handle_item *) *bucket = &t->buckets[bucket_of(handle)];
	struct ut_handle_item *head = atomic_load_explicit(bucket, memory_order_acquire);
	struct ut_handle_item *i = find_from(head, handle);

	if (i)
		return i;
	i = ut_guest_alloc(t->size);
	if (!i)
		return NULL;
	i->handle = handle;
	do {
		struct ut_handle_item *other = find_from(head, handle);

		if (other)
			return other; /* made meanwhile; ours is lost, which is rare and small */
		i->next = head;
	} while (!atomic_compare_exchange_strong(bucket, &head, i));
	i->all = atomic_load(&t->last);
	while (!atomic_compare_exchange_strong(&t->last, &i->all, i))
		;
	return i;
}
