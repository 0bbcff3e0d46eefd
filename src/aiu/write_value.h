/*
 * write_value.h - the pieces that events are written of: text goes straight into the output's
 * buffer, which has been reserved.
 */
#ifndef UT_AIU_WRITE_VALUE_H
#define UT_AIU_WRITE_VALUE_H

#include <string.h>

#include "aiu/number.h"
#include "aiu/write_event.h"
#include "export/digits.h"
#include "export/out.h"

/* Room for a number of any kind with its key. */
#define UT_AIU_PIECE 96

/* A literal at p. */
#define UT_AIU_LIT(p, text) ((p) = (char *)memcpy((p), (text), sizeof(text) - 1) + sizeof(text) - 1)

/* The JSON of a string, with quotes. */
struct ut_str ut_aiu_text(struct ut_aiu_writer *w, uint32_t id);

/* The same at p, which has room for it. */
static inline char *ut_aiu_copy(char *p, struct ut_str s)
{
	memcpy(p, s.ptr, s.len);
	return p + s.len;
}

static inline char *ut_aiu_put_int(char *p, int64_t v)
{
	if (v < 0)
		*p++ = '-';
	return ut_digits_u64(p, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* How much room ut_aiu_put_id() needs. */
size_t ut_aiu_id_room(struct ut_aiu_writer *w, uint32_t id);
char *ut_aiu_put_id(struct ut_aiu_writer *w, char *p, uint32_t id);

/* The members of an object: each has a comma before it but for the first. */
struct ut_aiu_members {
	struct ut_aiu_writer *w;
	bool any;
};

/* Into the output itself. */
void ut_aiu_put_value(struct ut_aiu_writer *w, const struct ut_arg *arg);
void ut_aiu_put_list(struct ut_aiu_members *m, uint32_t list, bool ids);
void ut_aiu_put_args(struct ut_aiu_members *m, const struct ut_aiu_event *e);

#endif
