/* platform.c - what the sources of the page's module need of an operating system that is not there.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/disk_space.h"
#include "base/grow.h"
#include "base/mapped.h"
#include "base/thread_pool.h"
#include "model/pages.h"
#include "text/source.h"

/* ---- one thread ------------------------------------------------------------------------------ */

size_t ut_thread_pool_size(size_t asked, size_t jobs)
{
	(void)asked;
	(void)jobs;
	return 1;
}

void ut_thread_pool_run(size_t threads, void (*work)(void *ctx), void *ctx)
{
	(void)threads;
	work(ctx);
}

void ut_thread_pool_run_background(void (*work)(void *ctx), void *ctx)
{
	work(ctx);
}

void ut_thread_pool_each(size_t threads, size_t count, void (*job)(void *ctx, size_t i), void *ctx)
{
	(void)threads;
	for (size_t i = 0; i < count; i++)
		job(ctx, i);
}

/* ---- no files -------------------------------------------------------------------------------- */

void ut_mapped_add(const void *map, size_t size, const char *path)
{
	(void)map;
	(void)size;
	(void)path;
}

void ut_mapped_remove(const void *map)
{
	(void)map;
}

ssize_t ut_source_read(struct ut_source *s, void *buf, size_t size, struct ut_err *err)
{
	(void)s;
	(void)buf;
	(void)size;
	(void)err;
	return -ENOSYS;
}

bool ut_disk_space_fd(int fd, struct ut_disk_space *space)
{
	(void)fd;
	(void)space;
	return false;
}

uint64_t ut_disk_reserve_kept(const struct ut_disk_reserve *reserve,
			      const struct ut_disk_space *space)
{
	(void)reserve;
	(void)space;
	return 0;
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	(void)from_dir;
	(void)from;
	(void)to_dir;
	(void)to;
	(void)flags;
	errno = ENOSYS;
	return -1;
}

char *realpath(const char *path, char *resolved)
{
	(void)path;
	(void)resolved;
	errno = ENOSYS;
	return NULL;
}

void *ut_pages_alloc(size_t bytes)
{
	return ut_make(bytes);
}

void ut_pages_free(void *p)
{
	free(p);
}
/* ---- sorting --------------------------------------------------------------------------------- */

typedef int (*compare_fn)(const void *a, const void *b, void *ctx);

/* Stable, as glibc's: what compares as equal keeps its order here, too. */
static void merge(char *items, char *room, size_t count, size_t size, compare_fn compare, void *ctx)
{
	size_t half = count / 2;
	char *left = room, *left_end = room + half * size, *right = items + half * size,
	     *end = items + count * size;

	if (count < 2)
		return;
	merge(items, room, half, size, compare, ctx);
	merge(right, room, count - half, size, compare, ctx);
	memcpy(room, items, half * size);
	while (left < left_end) {
		bool first = right == end || compare(left, right, ctx) <= 0;

		memcpy(items, first ? left : right, size);
		items += size;
		left += first ? size : 0;
		right += first ? 0 : size;
	}
}

void qsort_r(void *items, size_t count, size_t size, compare_fn compare, void *ctx)
{
	char *room = ut_make(count / 2 * size + 1);

	merge(items, room, count, size, compare, ctx);
	free(room);
}

static int without_context(const void *a, const void *b, void *compare)
{
	return ((int (*)(const void *, const void *))compare)(a, b);
}

void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	qsort_r(items, count, size, without_context, (void *)compare);
}
