/*
 * ops_tracy_sub.h - which part of its chip (sub-device) each op ran on. The device's report does
 * not say, its log does: {"sub_device_id":0;...} beside a marker of the op.
 */
#ifndef UT_TT_OPS_TRACY_SUB_H
#define UT_TT_OPS_TRACY_SUB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"
#include "tt/ops_tracy_device.h"

struct ut_arena;

struct ut_tracy_sub {
	struct ut_idmap by_run; /* of a key -> sub-device, plus 1 */
};

/* Streams the log, however large it is; one that cannot be read tells nothing. */
void ut_tracy_sub_read(struct ut_tracy_sub *s, struct ut_arena *a, const char *path);

bool ut_tracy_sub_find(const struct ut_tracy_sub *s, const struct ut_tracy_key *key,
		       uint64_t *sub_device);

#endif
