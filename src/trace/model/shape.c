#include "model/shape.h"

/* "64x1" or "[64,1,1]" as "{64; 1; 1}". */
static void put_size(struct ut_buf *to, const char *text)
{
	for (int i = 0; i < 3; i++) {
		size_t digits;

		text += strcspn(text, "0123456789");
		digits = strspn(text, "0123456789");
		ut_buf_fmt(to, "%s%.*s", i ? "; " : "{", digits ? (int)digits : 1,
			   digits ? text : "1");
		text += digits;
	}
	ut_buf_char(to, '}');
}

void ut_shape_name(struct ut_buf *to, struct ut_str name, const char *grid, const char *block,
		   unsigned int lanes)
{
	ut_buf_add(to, name.ptr, name.len);
	if (!grid)
		return;
	ut_buf_char(to, '[');
	if (lanes)
		ut_buf_fmt(to, "SIMD%u ", lanes);
	put_size(to, grid);
	if (block) {
		ut_buf_char(to, ' ');
		put_size(to, block);
	}
	ut_buf_char(to, ']');
}
