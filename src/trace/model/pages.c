#include "model/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/grow.h"
#include "model/store.h"

#define SPACE       ((size_t)1 << 40) /* addresses that are set aside; costs nothing */
#define SPACE_LEAST ((size_t)1 << 30)
#define SLAB_BLOCKS 64u /* made usable at once: 24 MiB */
#define SLAB_BYTES  (SLAB_BLOCKS * UT_PAGES_BYTES)
#define KEEP_WARM   128u /* blocks that keep their pages when they are freed */

_Static_assert(UT_PAGES_BYTES == UT_BLOCK_ROWS * 24, "a block holds the columns of its rows");

/* Blocks that nobody uses; the last one freed is the first one given out. */
struct stack {
	uint32_t *blocks; /* numbers */
	size_t count, cap;
};

/*
 * Block i lies at base + i * UT_PAGES_BYTES. Slabs become memory or part of the file one after
 * the other, so neighbours of the same sort are one mapping to the kernel, which limits their
 * number.
 */
static struct {
	pthread_mutex_t lock;
	bool started;
	char *base;       /* NULL: no addresses to be had, everything comes from malloc */
	size_t blocks;    /* that have addresses */
	uint32_t made;    /* and have become something */
	uint8_t *in_file; /* by slab */
	size_t slab_cap;
	struct stack memory, file;       /* unused ones */
	uint64_t memory_used, file_used; /* blocks */
	uint64_t limit;                  /* of memory_used */
	int fd;
	char dir[PATH_MAX];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static _Noreturn void out_of_room(const char *what, int error)
{
	fprintf(stderr, "unitrace: out of memory: %s %s: %s\n", what, pool.dir, strerror(error));
	abort();
}

/* ---- how much ------------------------------------------------------------------------------ */

/* A number from a file of the control group; "max" and what cannot be read are no limit. */
static uint64_t group_limit(void)
{
	uint64_t bytes = UINT64_MAX;
	FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");

	if (f && fscanf(f, "%" SCNu64, &bytes) != 1)
		bytes = UINT64_MAX;
	if (f)
		fclose(f);
	return bytes;
}

uint64_t ut_pages_usual(void)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t group = group_limit();

	return (machine < group ? machine : group) / 3;
}

static void model_pages_start(void)
{
	size_t space = SPACE;
	char *p = MAP_FAILED;

	pool.started = true;
	if (!pool.limit)
		pool.limit = ut_pages_usual() / UT_PAGES_BYTES;
	for (; p == MAP_FAILED && space >= SPACE_LEAST; space /= 2)
		p = mmap(NULL, space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			 0);
	if (p == MAP_FAILED)
		return;
	space *= 2; /* the loop has halved it once more */
	pool.base = p;
	pool.blocks = space / SLAB_BYTES * SLAB_BLOCKS;
}

/* ---- the file ------------------------------------------------------------------------------ */

static int open_unnamed(void)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX + 16];
	int fd;

	snprintf(pool.dir, sizeof(pool.dir), "%s", dir && *dir ? dir : "/var/tmp");
	fd = open(pool.dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/unitrace.XXXXXX", pool.dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static off_t place_in_file(uint32_t block)
{
	return (off_t)block * (off_t)UT_PAGES_BYTES; /* the file has holes where memory is */
}

/* A store into a hole of a full disk would kill us. */
static void claim_in_file(uint32_t block)
{
	int rc;

	do
		rc = posix_fallocate(pool.fd, place_in_file(block), (off_t)UT_PAGES_BYTES);
	while (rc == EINTR);
	if (rc)
		out_of_room("no room for more rows in", rc);
}

/* ---- slabs --------------------------------------------------------------------------------- */

static void model_pages_push(struct stack *s, uint32_t block)
{
	s->blocks = ut_grow(s->blocks, s->count + 1, &s->cap, sizeof(*s->blocks));
	s->blocks[s->count++] = block;
}

static void make_slab(bool in_file)
{
	char *at = pool.base + pool.made * UT_PAGES_BYTES;
	int flags = in_file ? MAP_SHARED | MAP_FIXED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	off_t offset = in_file ? place_in_file(pool.made) : 0;

	if (in_file && pool.fd < 0) {
		pool.fd = open_unnamed();
		if (pool.fd < 0)
			out_of_room("and no temporary file can be made in", errno);
	}
	if (mmap(at, SLAB_BYTES, PROT_READ | PROT_WRITE, flags, in_file ? pool.fd : -1, offset) ==
	    MAP_FAILED)
		out_of_room("no mapping of rows", errno);
	pool.in_file =
		ut_grow(pool.in_file, pool.made / SLAB_BLOCKS + 1, &pool.slab_cap, sizeof(uint8_t));
	pool.in_file[pool.made / SLAB_BLOCKS] = in_file;
	pool.made += SLAB_BLOCKS;
	for (uint32_t i = 1; i <= SLAB_BLOCKS; i++)
		model_pages_push(in_file ? &pool.file : &pool.memory, pool.made - i);
}

/* A block; NULL if there are no addresses left. */
static void *model_pages_take(void)
{
	bool in_file = pool.memory_used >= pool.limit;
	struct stack *s = in_file ? &pool.file : &pool.memory;
	uint32_t block;

	if (!s->count) {
		if (!pool.base || pool.made + SLAB_BLOCKS > pool.blocks)
			return NULL;
		make_slab(in_file);
	}
	block = s->blocks[--s->count];
	if (in_file)
		claim_in_file(block);
	if (in_file)
		pool.file_used++;
	else
		pool.memory_used++;
	return pool.base + block * UT_PAGES_BYTES;
}

static void model_pages_give_back(uint32_t block)
{
	char *at = pool.base + block * UT_PAGES_BYTES;

	if (pool.in_file[block / SLAB_BLOCKS]) {
		model_pages_push(&pool.file, block);
		/* Space on the disk is given back when nobody needs any: block by block we
		 * would wait for the kernel to write what nobody will read. */
		if (!--pool.file_used && ftruncate(pool.fd, 0))
			out_of_room("cannot cut the temporary file in", errno);
		return;
	}
	if (pool.memory.count >= KEEP_WARM)
		madvise(at, UT_PAGES_BYTES, MADV_DONTNEED);
	model_pages_push(&pool.memory, block);
	pool.memory_used--;
}

/* ---- for everybody ------------------------------------------------------------------------- */

void *ut_pages_alloc(size_t bytes)
{
	void *p = NULL;

	if (bytes == UT_PAGES_BYTES) {
		pthread_mutex_lock(&pool.lock);
		if (!pool.started)
			model_pages_start();
		p = model_pages_take();
		pthread_mutex_unlock(&pool.lock);
	}
	return p ? p : ut_make(bytes);
}

void ut_pages_free(void *p)
{
	char *base, *at = p;

	pthread_mutex_lock(&pool.lock);
	base = pool.base;
	if (base && at >= base && at < base + pool.made * UT_PAGES_BYTES) {
		model_pages_give_back((uint32_t)((size_t)(at - base) / UT_PAGES_BYTES));
		p = NULL;
	}
	pthread_mutex_unlock(&pool.lock);
	free(p);
}

void ut_pages_limit(uint64_t bytes)
{
	pthread_mutex_lock(&pool.lock);
	pool.limit = bytes / UT_PAGES_BYTES;
	pool.limit += !pool.limit;
	pthread_mutex_unlock(&pool.lock);
}

struct ut_pages_use ut_pages_used(void)
{
	struct ut_pages_use use;

	pthread_mutex_lock(&pool.lock);
	use.memory = pool.memory_used * UT_PAGES_BYTES;
	use.file = pool.file_used * UT_PAGES_BYTES;
	pthread_mutex_unlock(&pool.lock);
	return use;
}
