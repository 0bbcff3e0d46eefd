/*
 * alloc_watch.c - the slow way: what is recorded of the program's memory, and how the backend joins
 * the session.
 */
#define UT_BACKEND_IMPLEMENTATION
#include "backend/memory/alloc_watch.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/memory/alloc_python.h"
#include "backend/memory/live_set.h"
#include "backend/memory/poisson.h"
#include "backend/memory/rate.h"
#include "backend/memory/stack_numbers.h"
#include "backend/own_stack.h"

#define MOST_BITS 40u

_Thread_local struct ut_memory_thread ut_memory_me;

static _Atomic int mode;
static const struct ut_host *host;
static bool each; /* every allocation */

/* ---- recording ----------------------------------------------------------------------------- */

/* An allocation on its way. */
struct block {
	uintptr_t address;
	size_t size;
	enum ut_memory_kind kind;
	uint8_t bits; /* with which it was drawn; 0 = each is */
};

static int alloc_watch_put(const struct block *b, const uint64_t *frames, size_t count, bool cut)
{
	return host->allocated(
		&(struct ut_allocation){ .size = sizeof(struct ut_allocation),
					 .stack = ut_stack_number(host, frames, count, cut),
					 .address = b->address,
					 .bytes = b->size,
					 .kind = (uint16_t)b->kind,
					 .bits = b->bits });
}

static void record(const struct block *b, const uint64_t *frames, size_t count, bool cut)
{
	if (b->bits && !ut_live_add(b->address))
		return;
	if (!alloc_watch_put(b, frames, count, cut) && b->bits)
		ut_live_take(b->address);
}

/* Without those of ours between others: an allocator's operator new may call its malloc(). */
static size_t alloc_watch_walk(uint64_t frames[UT_MEMORY_DEEPEST], bool *cut)
{
	size_t count = ut_own_stack(frames, UT_MEMORY_DEEPEST, cut), kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!ut_own_stack_is_own(frames[i]))
			frames[kept++] = frames[i];
	}
	return kept;
}

static void record_roomy(void *ctx)
{
	const struct block *b = ctx;
	uint64_t frames[UT_MEMORY_DEEPEST];
	size_t count;
	bool cut;

	if (!host->on())
		return;
	count = alloc_watch_walk(frames, &cut);
	count = ut_python_weave(frames, count, UT_MEMORY_DEEPEST, &cut);
	record(b, frames, count, cut);
}

static void record_here(struct block *b)
{
	ut_own_stack_roomy(record_roomy, b);
}

static void record_drawn(struct block *b)
{
	uint64_t begin = host->now(), end;

	record_here(b);
	end = host->now();
	ut_rate_spent(end - begin, end, ut_live_count());
}

static void seed(struct ut_memory_thread *t)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	t->random = ((uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec) *
			    UINT64_C(0x9e3779b97f4a7c15) ^
		    (uint64_t)(uintptr_t)t;
	t->random += !t->random;
	for (int i = 0; i < 4; i++)
		ut_poisson_random(&t->random);
}

static void alloc_watch_draw(struct ut_memory_thread *t)
{
	t->bits = (uint8_t)ut_rate_bits();
	t->left = ut_poisson_next(&t->random, t->bits);
}

/* Does the next byte to be looked at lie in this allocation? *bits: how it was drawn. */
static bool is_drawn(struct ut_memory_thread *t, size_t size, uint8_t *bits)
{
	if (!t->random) {
		seed(t);
		alloc_watch_draw(t);
	}
	*bits = t->bits;
	if (size < t->left) {
		t->left -= size;
		return false;
	}
	alloc_watch_draw(t);
	return true;
}

static void take_early(const void *block, size_t size, enum ut_memory_kind kind)
{
	uint64_t frames[UT_MEMORY_DEEPEST];
	bool cut;
	size_t count = alloc_watch_walk(frames, &cut);

	ut_early_note(block, size, kind, frames, count);
}

static void alloc_watch_take(struct ut_memory_thread *t, void *block, size_t size,
			     enum ut_memory_kind kind)
{
	struct block b = { (uintptr_t)block, size, kind, 0 };

	switch (atomic_load_explicit(&mode, memory_order_acquire)) {
	case UT_MEMORY_EARLY:
		take_early(block, size, kind);
		break;
	case UT_MEMORY_SAMPLED:
		if (is_drawn(t, size, &b.bits))
			record_drawn(&b);
		break;
	case UT_MEMORY_EACH:
		record_here(&b);
		break;
	default:
		t->left = UINT64_MAX;
		break;
	}
}

void ut_memory_took(void *block, size_t size, enum ut_memory_kind kind)
{
	struct ut_memory_thread *t = &ut_memory_me;
	int saved = errno;

	if (!block || t->busy)
		return;
	t->busy = 1;
	t->taken++;
	alloc_watch_take(t, block, size, kind);
	t->busy = 0;
	errno = saved;
}

static bool alloc_watch_give(const void *block)
{
	switch (atomic_load_explicit(&mode, memory_order_acquire)) {
	case UT_MEMORY_EARLY:
		ut_early_note(block, SIZE_MAX, UT_MEMORY_MALLOC, NULL, 0);
		return true;
	case UT_MEMORY_SAMPLED:
		if (!ut_live_take((uintptr_t)block))
			return false;
		break;
	case UT_MEMORY_EACH:
		break;
	default:
		return false;
	}
	host->freed((uintptr_t)block);
	return true;
}

bool ut_memory_gives(const void *block)
{
	struct ut_memory_thread *t = &ut_memory_me;
	int saved = errno;
	bool was;

	if (!block || t->busy)
		return false;
	t->busy = 1;
	was = alloc_watch_give(block);
	t->busy = 0;
	errno = saved;
	return was;
}

void ut_memory_kept(const void *block)
{
	struct ut_memory_thread *t = &ut_memory_me;
	int saved = errno;

	if (t->busy || atomic_load_explicit(&mode, memory_order_acquire) < UT_MEMORY_SAMPLED)
		return;
	t->busy = 1;
	if (each || ut_live_add((uintptr_t)block))
		host->allocated(&(struct ut_allocation){ .size = sizeof(struct ut_allocation),
							 .back = 1,
							 .address = (uintptr_t)block });
	t->busy = 0;
	errno = saved;
}

void ut_memory_wake(bool sanitized)
{
	if (sanitized)
		atomic_store(&mode, UT_MEMORY_OFF);
	else if (atomic_load(&mode) == UT_MEMORY_EARLY)
		ut_live_all(true);
}

/* ---- the session --------------------------------------------------------------------------- */

/* How many bytes there are for each that is looked at, as a power of two; 0 = rate.h finds out. */
static uint32_t read_bits(const char *given)
{
	unsigned long long bytes = given ? strtoull(given, NULL, 10) : 0;
	uint32_t bits = bytes > 1 ? 63u - (uint32_t)__builtin_clzll(bytes) : 0;

	return bits < MOST_BITS ? bits : MOST_BITS;
}

static int alloc_watch_start(const struct ut_host *h)
{
	const char *given;

	if (!(h->want & UT_WANT_MEMORY))
		return -ECANCELED;
	if (!UT_HOST_HAS(h, locked_in)) {
		h->note("memory is not recorded: the collector is older than the backend");
		return -ENOSYS;
	}
	if (ut_memory_is_sanitized()) {
		h->note("memory is not recorded: the program is built with a sanitizer, which has "
			"an allocator of its own");
		return -ECANCELED;
	}
	host = h;
	ut_own_stack_ask(h->locked_in);
	given = host->option("memory.interval");
	each = given && !strcmp(given, "each");
	ut_rate_init(read_bits(given), host->now());
	return 0;
}

static void alloc_watch_stop(void)
{
	if (!ut_python_is_seen())
		host->note("memory: small objects of Python are not in it: its allocator was "
			   "replaced (PYTHONMALLOC, -X dev)");
}

static int alloc_watch_probe(struct ut_probe *p)
{
	(void)p; /* memory has no devices */
	return 0;
}

UT_EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "memory",
	.probe = alloc_watch_probe,
	.start = alloc_watch_start,
	.stop = alloc_watch_stop,
};

/* ---- the beginning ------------------------------------------------------------------------- */

static void early_allocated(uintptr_t block, size_t size, enum ut_memory_kind kind,
			    const uint64_t *frames, size_t count)
{
	struct block b = { block, size, kind, 0 };

	if (each || is_drawn(&ut_memory_me, size, &b.bits))
		record(&b, frames, count, false);
}

static void early_freed(uintptr_t block)
{
	if (each || ut_live_take(block))
		host->freed(block);
}

static void send_early(void)
{
	uint64_t lost = ut_early_send(early_allocated, early_freed);
	char text[160];

	if (!lost)
		return;
	snprintf(text, sizeof(text),
		 "memory: %llu allocations of constructors, before recording began, are not in it",
		 (unsigned long long)lost);
	host->note(text);
}

/* Blocks of the parent are not the child's. */
static void forked_child(void)
{
	ut_own_stack_forked();
	if (!each)
		ut_live_all(false);
}

/* Its symbol is no function there, but a way to one: in programs at a fixed address. */
static bool is_way(void *function)
{
	void *found = NULL;
	const ElfW(Sym) * symbol;
	Dl_info info;

	if (!dladdr1(function, &info, &found, RTLD_DL_SYMENT) || !found)
		return false;
	symbol = found;
	return symbol->st_shndx == SHN_UNDEF;
}

/*
 * Is it us that the program calls? One that brings an allocator of its own, linked into it, has it
 * in front of all libraries.
 */
static bool is_in_front(void)
{
	void *(*ours)(size_t) = malloc;
	void *program = dlopen(NULL, RTLD_LAZY); /* RTLD_DEFAULT would begin with ourselves */
	void *found = program ? dlsym(program, "malloc") : NULL, *own;

	memcpy(&own, &ours, sizeof(own));
	return found == own || (found && is_way(found));
}

static void alloc_watch_begin(void)
{
	bool joined = ut_backend_join(&unitrace_backend) != NULL;

	if (joined && !is_in_front()) {
		host->note("memory is not recorded: the program has an allocator linked into it");
		joined = false;
	}
	if (!each || !joined)
		ut_live_all(false);
	atomic_store_explicit(&mode,
			      !joined ? UT_MEMORY_OFF
			      : each  ? UT_MEMORY_EACH
				      : UT_MEMORY_SAMPLED,
			      memory_order_release);
	if (!joined)
		return;
	pthread_atfork(NULL, NULL, forked_child);
	ut_python_begin(host);
	send_early();
}

__attribute__((constructor)) static void alloc_watch_enter(void)
{
	struct ut_memory_thread *t = &ut_memory_me;
	int saved = errno;

	t->busy = 1;
	alloc_watch_begin();
	t->busy = 0;
	errno = saved;
}
