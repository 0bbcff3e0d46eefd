/*
 * perf_unpack.h - a stream of bytes as records, unpacked where perf has compressed them (record
 * -z).
 */
#ifndef UT_IMPORT_PERF_PERF_UNPACK_H
#define UT_IMPORT_PERF_PERF_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct ut_pdata_unpack {
	void (*record)(void *ctx, const uint8_t *bytes); /* whole, until it returns */
	void *ctx;
	struct ut_buf outer, inner; /* bytes of records that are not whole yet */
	uint64_t skip;              /* bytes that belong to no record */
	void *zstd;
	bool bad;
	const char *why;
};

void ut_pdata_unpack_add(struct ut_pdata_unpack *u, const uint8_t *bytes, size_t size);
void ut_pdata_unpack_release(struct ut_pdata_unpack *u);

#endif
