/*
 * perf_maps.h - what is mapped where, in each process of a perf.data, while its records pass by.
 */
#ifndef UT_IMPORT_PERF_PERF_MAPS_H
#define UT_IMPORT_PERF_PERF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "symbol/elf_file.h"
#include "symbol/unwind.h"

struct ut_binary;

/* A file that is mapped anywhere. */
struct ut_pdata_module {
	char *path;
	uint32_t name; /* string id of the trace */
	struct ut_build_id id;
	struct ut_binary *binary; /* NULL = not here, or another one */
	struct ut_unwind unwind;
	bool opened, can_unwind;
};

struct ut_pdata_map {
	uint64_t start, end, offset; /* [start, end) shows the file from offset on */
	uint32_t module;             /* index */
};

struct ut_pdata_space {
	struct ut_pdata_map *items; /* by start, none covers another */
	size_t count, cap;
};

struct ut_pdata_maps {
	struct ut_pdata_module *modules;
	size_t module_count, module_cap;
	struct ut_idmap module_by_name; /* string id -> index + 1 */
	struct ut_pdata_space *spaces;
	size_t space_count, space_cap;
	struct ut_idmap space_of; /* pid -> index + 1 */
	size_t map_count;         /* of all of them */
};

void ut_pdata_maps_release(struct ut_pdata_maps *m);

/* The index of a file; name is its path as a string of the trace. */
uint32_t ut_pdata_module(struct ut_pdata_maps *m, uint32_t name, const char *path);

/* A new mapping covers what was there. */
void ut_pdata_map_add(struct ut_pdata_maps *m, uint32_t pid, const struct ut_pdata_map *map);
void ut_pdata_map_fork(struct ut_pdata_maps *m, uint32_t pid, uint32_t parent);
void ut_pdata_map_clear(struct ut_pdata_maps *m, uint32_t pid); /* it runs another program now */

/* The mapping at an address; NULL = nothing is known to be there. Until the next change. */
const struct ut_pdata_map *ut_pdata_map_find(const struct ut_pdata_maps *m, uint32_t pid,
					     uint64_t address);

/* The file itself is opened when it is first asked for; NULL = not to be had. */
struct ut_binary *ut_pdata_module_binary(struct ut_pdata_module *m);
struct ut_unwind *ut_pdata_module_unwind(struct ut_pdata_module *m);

#endif
