/*
 * perf_attr.h - the events of a perf.data, and samples of them taken apart.
 */
#ifndef UT_IMPORT_PERF_PERF_ATTR_H
#define UT_IMPORT_PERF_PERF_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "base/str.h"

struct ut_pdata_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags, branches, regs_user;
	char name[128];
};

struct ut_pdata_attrs {
	struct ut_pdata_attr *items;
	size_t count, cap;
	struct ut_idmap by_id; /* of samples: index + 1 */
};

/* One more, from its bytes; how many of them it is told by size, or by itself. False: none. */
bool ut_pdata_attr_add(struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size);
void ut_pdata_attr_id(struct ut_pdata_attrs *a, size_t attr, uint64_t id);
void ut_pdata_attrs_release(struct ut_pdata_attrs *a);

/* What the samples of an event are called: clocks by their names, the rest by what it counts. */
void ut_pdata_event_name(const struct ut_pdata_attr *a, struct ut_buf *name);

/* A sample; what it does not have is 0. Pointers are into the record. */
struct ut_pdata_taken {
	const struct ut_pdata_attr *attr;
	uint64_t ip, time, period;
	uint32_t pid, tid;
	const uint8_t *chain; /* 8 bytes each */
	uint64_t chain_count;
	const uint8_t *regs; /* of the user's: 8 bytes for each bit of attr->regs_user */
	const uint8_t *stack;
	uint64_t stack_size;
};

/* False: the record is damaged, or of an event that nobody knows. size: behind its head. */
bool ut_pdata_sample(const struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size,
		     struct ut_pdata_taken *to);

/* When any record was written: 0 = it does not say. */
uint64_t ut_pdata_time(const struct ut_pdata_attrs *a, uint32_t type, const uint8_t *bytes,
		       size_t size);

#endif
