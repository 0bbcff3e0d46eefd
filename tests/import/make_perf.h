/*
 * make_perf.h - a perf.data made by hand, record by record.
 */
#ifndef UT_TESTS_IMPORT_MAKE_PERF_H
#define UT_TESTS_IMPORT_MAKE_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct made_perf {
	struct ut_buf data; /* the records */
	uint64_t sample_type;
	int events; /* how many */
};

struct made_map {
	uint64_t start, len, offset;
	const char *path;
};

void perf_map(struct made_perf *p, uint32_t pid, const struct made_map *map, uint64_t time);
void perf_comm(struct made_perf *p, uint32_t pid, uint32_t tid, const char *name, uint64_t time);
void perf_fork(struct made_perf *p, uint32_t pid, uint32_t parent, uint64_t time);
/* ips: the innermost first; 0 ends them. */
void perf_sample(struct made_perf *p, uint32_t pid, uint32_t tid, uint64_t time, int event,
		 const uint64_t *ips);
void perf_record(struct made_perf *p, uint32_t type, const void *bytes, size_t size);

/* The file; the records are gone. */
void perf_finish(struct made_perf *p, struct ut_buf *file);

#endif
