/*
 * modules.h - files that programs have mapped: which there are, and what unwinding needs of them.
 *
 * Numbered from 1, each file once; all processes share the table. A file is opened when it is first
 * needed, and stays open: what a program removes meanwhile is still there for us, and is kept in
 * the session's directory for whoever looks for names later. Owner: the caller. Not thread-safe.
 */
#ifndef UT_LAUNCH_CPU_MODULES_H
#define UT_LAUNCH_CPU_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hashtab.h"
#include "symbol/unwind.h"

struct ut_map;

struct ut_module {
	const char *path;
	uint64_t inode;
	uint32_t kind; /* enum ut_cpu_module */
	bool opened;
	struct ut_unwind unwind;
};

struct ut_modules {
	struct ut_arena arena;
	struct ut_module **items;
	size_t count, cap;
	struct ut_hashtab by_path;
};

/* These are always there. */
#define UT_MODULE_KERNEL  1u
#define UT_MODULE_UNKNOWN 2u
#define UT_MODULE_SCRIPT  3u

void ut_modules_init(struct ut_modules *m);
void ut_modules_release(struct ut_modules *m);

/* The number of a mapped file, by the name that the kernel gives it; inode 0 = not told. */
uint32_t ut_modules_number(struct ut_modules *m, const char *path, uint64_t inode);

static inline struct ut_module *ut_module(const struct ut_modules *m, uint32_t number)
{
	return m->items[number - 1];
}

/* Opens the file as this process sees it, once. One that cannot be read has no rows. */
void ut_module_open(struct ut_module *m, uint32_t pid, const struct ut_map *map);

/* Copies the files that are not where they were any more into the directory. */
void ut_modules_keep(const struct ut_modules *m, const char *dir);

#endif
