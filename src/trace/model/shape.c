#include "model/shape.h"

#include <inttypes.h>

#include "model/device_records.h"

/* 64x1 as "{64; 1; 1}". */
static void put_size(struct ut_buf *to, const uint64_t size[3])
{
	for (int i = 0; i < 3; i++)
		ut_buf_fmt(to, "%s%" PRIu64, i ? "; " : "{", size[i] ? size[i] : 1);
	ut_buf_char(to, '}');
}

void ut_shape_name(struct ut_buf *to, struct ut_str name, const struct ut_device_launch *l,
		   unsigned int lanes)
{
	lanes = lanes ? lanes : l->lanes;
	ut_buf_add(to, name.ptr, name.len);
	if (!l->grid[0])
		return;
	ut_buf_char(to, '[');
	if (lanes)
		ut_buf_fmt(to, "SIMD%u ", lanes);
	put_size(to, l->grid);
	if (l->block[0]) {
		ut_buf_char(to, ' ');
		put_size(to, l->block);
	}
	ut_buf_char(to, ']');
}
