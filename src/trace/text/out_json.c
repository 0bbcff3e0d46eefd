/* out_json.c - strings and doubles of JSON, into a file. */
#include "text/json_text.h"
#include "text/out.h"

void ut_out_json_str(struct ut_out *o, const char *s, size_t len)
{
	ut_out_write(o, "\"", 1);
	for (size_t done = 0; done < len;) {
		char *p = ut_out_reserve(o, UT_JSON_CHUNK_ROOM);

		ut_out_advance(o, ut_json_chunk_put(p, s, len, &done));
	}
	ut_out_write(o, "\"", 1);
}

void ut_out_json_double(struct ut_out *o, double value)
{
	ut_out_advance(o, ut_json_double_put(ut_out_reserve(o, UT_JSON_DOUBLE_ROOM), value));
}
