/*
 * hooks_cxx.c - operator new and delete, in all their forms.
 *
 * Those of the C++ library call malloc() and free(), which are ours anyway; but allocators that
 * take the place of malloc() bring operators of their own, which do not. So there are four cases,
 * by who stands below us:
 *
 *	STANDARD  the C++ library: it is left out, unless there is no memory and it has to throw
 *	NOBODY    yet: a program in C that will load C++ later, out of our sight; the same
 *	SAME      the allocator that malloc() is from, too: blocks are counted here
 *	OTHER     somebody else's: it is called, and if it calls malloc() that counts
 *
 * The forms differ in what follows the first parameter: how to align, that nothing shall be thrown,
 * how large the block was. Those are words that are passed on as they came.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/memory/alloc_watch.h"
#include "backend/memory/live_set.h"

/* name, its linker symbol, aligned by the second parameter?, throws? */
#define NEW_LIST(X)                                                                                \
	X(plain, "_Znwm", 0, 1)                                                                    \
	X(array, "_Znam", 0, 1)                                                                    \
	X(plain_quiet, "_ZnwmRKSt9nothrow_t", 0, 0)                                                \
	X(array_quiet, "_ZnamRKSt9nothrow_t", 0, 0)                                                \
	X(plain_aligned, "_ZnwmSt11align_val_t", 1, 1)                                             \
	X(array_aligned, "_ZnamSt11align_val_t", 1, 1)                                             \
	X(plain_aligned_quiet, "_ZnwmSt11align_val_tRKSt9nothrow_t", 1, 0)                         \
	X(array_aligned_quiet, "_ZnamSt11align_val_tRKSt9nothrow_t", 1, 0)

#define DELETE_LIST(X)                                                                             \
	X(plain, "_ZdlPv")                                                                         \
	X(array, "_ZdaPv")                                                                         \
	X(plain_quiet, "_ZdlPvRKSt9nothrow_t")                                                     \
	X(array_quiet, "_ZdaPvRKSt9nothrow_t")                                                     \
	X(plain_sized, "_ZdlPvm")                                                                  \
	X(array_sized, "_ZdaPvm")                                                                  \
	X(plain_aligned, "_ZdlPvSt11align_val_t")                                                  \
	X(array_aligned, "_ZdaPvSt11align_val_t")                                                  \
	X(plain_aligned_quiet, "_ZdlPvSt11align_val_tRKSt9nothrow_t")                              \
	X(array_aligned_quiet, "_ZdaPvSt11align_val_tRKSt9nothrow_t")                              \
	X(plain_sized_aligned, "_ZdlPvmSt11align_val_t")                                           \
	X(array_sized_aligned, "_ZdaPvmSt11align_val_t")

typedef void *new_fn(size_t size, uintptr_t second, uintptr_t third);
typedef void delete_fn(void *block, uintptr_t second, uintptr_t third);

enum below {
	STANDARD,
	NOBODY,
	SAME,
	OTHER,
};

/* A form of new or of delete as it is below us. */
struct new_below {
	new_fn *call;
	enum below who;
};

struct delete_below {
	delete_fn *call;
	enum below who;
};

static struct {
#define NEW_MEMBER(name, symbol, aligned, throws) struct new_below new_##name;
	NEW_LIST(NEW_MEMBER)
#undef NEW_MEMBER
#define DELETE_MEMBER(name, symbol) struct delete_below delete_##name;
	DELETE_LIST(DELETE_MEMBER)
#undef DELETE_MEMBER
} next;

/* ---- who stands below ---------------------------------------------------------------------- */

static bool hooks_cxx_is_library(const char *path, const char *name)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && !strncmp(slash ? slash + 1 : path, name, strlen(name));
}

static enum below who(void *function)
{
	void *(*allocates)(size_t) = ut_memory_below();
	Dl_info here, there;
	void *address;

	memcpy(&address, &allocates, sizeof(address));
	if (!function)
		return NOBODY;
	if (!dladdr(function, &here) || !dladdr(address, &there))
		return OTHER;
	if (here.dli_fbase == there.dli_fbase)
		return SAME;
	return hooks_cxx_is_library(here.dli_fname, "libstdc++.so") ||
			       hooks_cxx_is_library(here.dli_fname, "libc++")
		       ? STANDARD
		       : OTHER;
}

void ut_memory_find_cxx(void)
{
	void *found;

#define FIND(form, symbol)                                                                         \
	found = dlsym(RTLD_NEXT, symbol);                                                          \
	(form).who = who(found);                                                                   \
	memcpy(&(form).call, &found, sizeof(found));
#define NEW_FIND(name, symbol, aligned, throws) FIND(next.new_##name, symbol)
	NEW_LIST(NEW_FIND)
#undef NEW_FIND
#define DELETE_FIND(name, symbol) FIND(next.delete_##name, symbol)
	DELETE_LIST(DELETE_FIND)
#undef DELETE_FIND
#undef FIND
}

/* ---- new ----------------------------------------------------------------------------------- */

/* There is no memory, and C++ wants an exception: whoever can make one was loaded after us. */
static void *hooks_cxx_fail(size_t size, uintptr_t second, uintptr_t third)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++.so.1",
						 "libc++abi.so.1" };
	new_fn *theirs = NULL;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && !theirs; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		void *found = library ? dlsym(library, "_Znwm") : NULL;

		memcpy(&theirs, &found, sizeof(found));
	}
	if (!theirs)
		abort(); /* as an exception does that nobody catches */
	return theirs(size, second, third);
}

/* How the C++ library gets memory. */
static void *hooks_cxx_take(size_t size, bool aligned, uintptr_t alignment)
{
	void *block = NULL;

	size += !size;
	if (!aligned)
		return malloc(size);
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	return posix_memalign(&block, alignment, size) ? NULL : block;
}

/* Before anybody has looked all are zeros: whoever looks for malloc() looks for these, too. */
static inline __attribute__((always_inline)) void *hooks_cxx_make(const struct new_below *below,
								  size_t size, uintptr_t second,
								  uintptr_t third, bool aligned,
								  bool throws)
{
	struct ut_memory_mark before;
	void *block;

	if (UT_LIKELY(below->who <= NOBODY)) {
		block = hooks_cxx_take(size, aligned, second);
		if (UT_LIKELY(block != NULL) || !throws)
			return block;
		return below->call ? below->call(size, second, third)
				   : hooks_cxx_fail(size, second, third);
	}
	before = ut_memory_mark();
	block = below->call(size, second, third);
	if (below->who == SAME && !ut_memory_counted(before) && !ut_memory_passes(size))
		ut_memory_took(block, size, UT_MEMORY_MALLOC);
	return block;
}

#define NEW_HOOK(name, symbol, aligned, throws)                                                    \
	UT_EXPORT new_fn ut_memory_new_##name __asm__(symbol);                                     \
	void *ut_memory_new_##name(size_t size, uintptr_t second, uintptr_t third)                 \
	{                                                                                          \
		return hooks_cxx_make(&next.new_##name, size, second, third, aligned, throws);     \
	}

NEW_LIST(NEW_HOOK)

/* ---- delete -------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
hooks_cxx_end(const struct delete_below *below, void *block, uintptr_t second, uintptr_t third)
{
	if (UT_LIKELY(below->who <= NOBODY)) {
		free(block);
		return;
	}
	if (below->who == SAME && UT_UNLIKELY(ut_live_maybe((uintptr_t)block)))
		ut_memory_gives(block);
	below->call(block, second, third);
}

#define DELETE_HOOK(name, symbol)                                                                  \
	UT_EXPORT delete_fn ut_memory_delete_##name __asm__(symbol);                               \
	void ut_memory_delete_##name(void *block, uintptr_t second, uintptr_t third)               \
	{                                                                                          \
		hooks_cxx_end(&next.delete_##name, block, second, third);                          \
	}

DELETE_LIST(DELETE_HOOK)
