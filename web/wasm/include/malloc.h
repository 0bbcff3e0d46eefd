/*
 * malloc.h - glibc's settings of its allocator: this one has none.
 */
#ifndef UT_WASM_MALLOC_H
#define UT_WASM_MALLOC_H

#define M_MMAP_THRESHOLD 0
#define M_TRIM_THRESHOLD 0
#define M_ARENA_MAX      0

#define mallopt(what, value) ((void)0)

#endif
