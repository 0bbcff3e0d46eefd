/*
 * next.c - the allocator that the program would have called without us: the C library's, or another
 * that was loaded in front of it.
 *
 * They are looked up at the first call, which comes from the loader or a constructor. The lookup
 * may allocate itself: it is given memory from a small reserve, which is never freed. Several
 * threads may look at once; they find the same.
 */
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <string.h>

#include "backend/memory/alloc_watch.h"
#include "backend/own_stack.h"

#define RESERVE 16384u
#define ALIGNED 16u

static _Alignas(ALIGNED) char reserve[RESERVE];
static _Atomic size_t reserve_used;
static _Thread_local bool looking;
static bool sanitized;
static void *(*below)(size_t);

bool ut_memory_is_sanitized(void)
{
	return sanitized;
}

void *(*ut_memory_below(void))(size_t)
{
	return below;
}

/* ---- while we look ------------------------------------------------------------------------- */

static bool is_reserve(const void *block)
{
	return (uintptr_t)block - (uintptr_t)reserve < RESERVE;
}

static void *from_reserve(size_t size)
{
	size_t bytes = (size + 2 * ALIGNED - 1) & ~(size_t)(ALIGNED - 1), at;

	if (size > RESERVE / 2)
		return NULL;
	at = atomic_fetch_add(&reserve_used, bytes);
	if (at + bytes > RESERVE)
		return NULL;
	*(size_t *)(void *)(reserve + at) = size; /* a copy elsewhere needs to know */
	return reserve + at + ALIGNED;
}

/* Behind the lookup, only where something of the reserve may still be in use. */
static void (*real_free)(void *);
static void *(*real_realloc)(void *, size_t);

static void careful_free(void *block)
{
	if (!is_reserve(block))
		real_free(block);
}

static void *careful_realloc(void *block, size_t size)
{
	size_t old;
	void *to;

	if (!is_reserve(block))
		return real_realloc(block, size);
	to = ut_memory_next.malloc(size);
	old = *(size_t *)(void *)((char *)block - ALIGNED);
	if (to)
		memcpy(to, block, old < size ? old : size);
	return to;
}

/* ---- looking ------------------------------------------------------------------------------- */

/* Under the name of the C library's version that brought the function. */
static void *find_versioned(const char *name)
{
#if defined(__GLIBC__) && defined(__x86_64__)
	return dlvsym(RTLD_NEXT, name,
		      strcmp(name, "aligned_alloc") ? "GLIBC_2.2.5" : "GLIBC_2.16");
#elif defined(__GLIBC__) && defined(__aarch64__)
	return dlvsym(RTLD_NEXT, name, "GLIBC_2.17");
#else
	(void)name;
	return NULL;
#endif
}

static bool is_of_libc(void *function)
{
	const char *(*known)(void) = gnu_get_libc_version; /* nobody has another one */
	Dl_info here, there;
	void *address;

	memcpy(&address, &known, sizeof(address));
	return dladdr(function, &here) && dladdr(address, &there) &&
	       here.dli_fbase == there.dli_fbase;
}

/*
 * What the program's own call would find. References of programs have a version, and two kinds of
 * libraries may stand in front of the C library: those without versions, and those that have the
 * function under the old one only, so that nobody links with it by mistake (libc_malloc_debug.so).
 */
static void find_function(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name), *versioned;

	if (!found || is_of_libc(found)) {
		versioned = find_versioned(name);
		found = versioned ? versioned : found;
	}
	memcpy(function, &found, sizeof(found));
}

static bool next_has(const char *symbol)
{
	return dlsym(RTLD_DEFAULT, symbol) != NULL;
}

/* They come with the program, not below us, and know every block. */
static bool find_sanitizer(void)
{
	return next_has("__asan_init") || next_has("__tsan_init") || next_has("__lsan_init") ||
	       next_has("__msan_init") || next_has("__hwasan_init");
}

static void next_look(void)
{
	struct ut_memory_next found;
	int saved = errno;

	looking = true;
	ut_memory_me.busy++;
	sanitized = find_sanitizer();
#define UT_MEMORY_NEXT_FIND(name, type, parameters) find_function(#name, &found.name);
	UT_MEMORY_NEXT_LIST(UT_MEMORY_NEXT_FIND)
#undef UT_MEMORY_NEXT_FIND
	ut_own_stack_init();
	below = found.malloc;
	ut_memory_find_cxx();
	ut_memory_wake(sanitized);
	dlerror(); /* what was not found is nobody's business */
	if (atomic_load(&reserve_used)) {
		real_free = found.free;
		real_realloc = found.realloc;
		found.free = careful_free;
		found.realloc = careful_realloc;
	}
#define UT_MEMORY_NEXT_SET(name, type, parameters)                                                 \
	__atomic_store_n(&ut_memory_next.name, found.name, __ATOMIC_RELEASE);
	UT_MEMORY_NEXT_LIST(UT_MEMORY_NEXT_SET)
#undef UT_MEMORY_NEXT_SET
	ut_memory_me.busy--;
	looking = false;
	errno = saved;
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static void *first_malloc(size_t size)
{
	if (looking)
		return from_reserve(size);
	next_look();
	return ut_memory_next.malloc(size);
}

static void first_free(void *block)
{
	if (looking || is_reserve(block))
		return;
	next_look();
	ut_memory_next.free(block);
}

static void *first_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (looking)
		return __builtin_mul_overflow(count, size, &bytes) ? NULL : from_reserve(bytes);
	next_look();
	return ut_memory_next.calloc(count, size);
}

static void *first_realloc(void *block, size_t size)
{
	void *to;

	if (!looking) {
		next_look();
		return ut_memory_next.realloc(block, size);
	}
	to = from_reserve(size);
	if (to && block) {
		size_t old = *(size_t *)(void *)((char *)block - ALIGNED);

		memcpy(to, block, old < size ? old : size);
	}
	return to;
}

static void *first_memalign(size_t alignment, size_t size)
{
	if (looking)
		return alignment <= ALIGNED ? from_reserve(size) : no_memory();
	next_look();
	return ut_memory_next.memalign(alignment, size);
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
	if (looking)
		return first_memalign(alignment, size);
	next_look();
	return ut_memory_next.aligned_alloc(alignment, size);
}

static int first_posix_memalign(void **block, size_t alignment, size_t size)
{
	if (looking)
		return ENOMEM;
	next_look();
	return ut_memory_next.posix_memalign(block, alignment, size);
}

static void *first_valloc(size_t size)
{
	if (looking)
		return no_memory();
	next_look();
	return ut_memory_next.valloc(size);
}

static void *first_pvalloc(size_t size)
{
	if (looking)
		return no_memory();
	next_look();
	return ut_memory_next.pvalloc(size);
}

static int first_dlclose(void *library)
{
	next_look();
	return ut_memory_next.dlclose(library);
}

struct ut_memory_next ut_memory_next = {
#define UT_MEMORY_NEXT_FIRST(name, type, parameters) .name = first_##name,
	UT_MEMORY_NEXT_LIST(UT_MEMORY_NEXT_FIRST)
#undef UT_MEMORY_NEXT_FIRST
};
