/*
 * file_maps.h - which files lie where in a process, and lay there a moment ago.
 *
 * Records of one CPU come in order, those of several do not: what was mapped over is kept for a
 * while, with the time until which it was there. Owner: the caller. Not thread-safe.
 */
#ifndef UT_LAUNCH_CPU_FILE_MAPS_H
#define UT_LAUNCH_CPU_FILE_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct ut_map {
	uint64_t start, end;
	uint64_t offset;     /* in the file */
	uint32_t module;     /* number of it, see modules.h */
	uint64_t born, died; /* ns; died 0 = it is still there */
};

struct ut_maps {
	struct ut_map *items; /* by start; none overlaps another */
	size_t count, cap;
	struct ut_map *old; /* what is gone */
	size_t old_count, old_cap;
	uint64_t changes; /* how often something was added */
};

void ut_maps_add(struct ut_maps *m, const struct ut_map *map);

/* What was there at this time; NULL = nothing that we know of. */
const struct ut_map *ut_maps_find(const struct ut_maps *m, uint64_t address, uint64_t time);

/* What was gone before this time is forgotten. */
void ut_maps_forget(struct ut_maps *m, uint64_t before);

/* A process that was forked has what its parent had. */
void ut_maps_copy(struct ut_maps *to, const struct ut_maps *from);
void ut_maps_release(struct ut_maps *m);

#endif
