/*
 * ops.h - what the fuzz targets of the ops report share.
 */
#ifndef UT_FUZZ_OPS_H
#define UT_FUZZ_OPS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bytes.h"
#include "ops/page_view.h"
#include "ops/report.h"
#include "ops/write_report.h"
#include "text/out.h"
#include "view/view.h"

/* The bytes up to the next zero byte, which is passed over. */
static inline const uint8_t *next_part(const uint8_t **data, size_t *left, size_t *len)
{
	const uint8_t *part = *data, *zero = *left ? memchr(part, 0, *left) : NULL;

	*len = zero ? (size_t)(zero - part) : *left;
	*data += *len + (zero != NULL);
	*left -= *len + (zero != NULL);
	return part;
}

/* In every format. */
static inline void write_report(struct ut_ops_report *r, struct ut_out *out)
{
	for (size_t i = 1; i < r->row_count; i++)
		need(r->rows[i - 1].when <= r->rows[i].when, "rows are in order");
	ut_ops_write_csv(r, out);
	ut_ops_write_json(r, out);
	ut_view_free(ut_ops_page_view(r, &(struct ut_ops_about){ "-", "logs" }));
}

#endif
