/*
 * platform.h - what Linux has and WASI lacks, for sources that name it in functions which the page
 * never calls. Included before every source.
 */
#ifndef UT_WASM_PLATFORM_H
#define UT_WASM_PLATFORM_H

#include <errno.h>
#include <stddef.h>

#define ENODATA          61
#define O_TMPFILE        0
#define RENAME_NOREPLACE 0
#define UT_HAVE_SQLITE   0
#define UT_HAVE_ZLIB     0
#define UT_HAVE_ZSTD     0

void qsort_r(void *items, size_t count, size_t size,
	     int (*compare)(const void *a, const void *b, void *ctx), void *ctx);
char *realpath(const char *path, char *resolved);
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags);

#endif
