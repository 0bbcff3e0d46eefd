/*
 * ops_tracy_info.h - what a message says about an op: its JSON as cells of the report.
 */
#ifndef UT_TT_OPS_TRACY_INFO_H
#define UT_TT_OPS_TRACY_INFO_H

#include <stdbool.h>

#include "tt/ops_tracy_columns.h"

struct ut_tracy_info {
	struct ut_ops_range cells;
	bool code;            /* it tells the op's code: it is the whole, not only what is new */
	bool inputs, outputs; /* it tells its tensors */
	bool has_compute;
	double compute; /* ns, by the model */
	uint64_t call;  /* of the op that told it; 0 = it does not say */
};

/*
 * Puts the cells of one JSON object. False if it is none; what was read up to there stays, and
 * *why says what is wrong.
 */
bool ut_tracy_info_read(struct ut_tracy_info *info, const struct ut_tracy_columns *columns,
			struct ut_ops_report *r, struct ut_str json, const char **why);

#endif
