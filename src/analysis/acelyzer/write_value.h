/*
 * write_value.h - the pieces that events are written of: text goes straight into the output's
 * buffer, which has been reserved.
 */
#ifndef UT_ACELYZER_WRITE_VALUE_H
#define UT_ACELYZER_WRITE_VALUE_H

#include <string.h>

#include "acelyzer/write_event.h"
#include "text/digits.h"
#include "text/out.h"
#include "text/shortest.h"

/* Room for a number of any kind with its key. */
#define UT_ACE_PIECE 96

/* A literal at p. */
#define UT_ACE_LIT(p, text) ((p) = (char *)memcpy((p), (text), sizeof(text) - 1) + sizeof(text) - 1)

/* The JSON of a string, with quotes. */
struct ut_str ut_ace_text(struct ut_ace_writer *w, uint32_t id);

/* The same at p, which has room for it. */
static inline char *ut_ace_copy(char *p, struct ut_str s)
{
	memcpy(p, s.ptr, s.len);
	return p + s.len;
}

static inline char *ut_ace_put_int(char *p, int64_t v)
{
	if (v < 0)
		*p++ = '-';
	return ut_digits_u64(p, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* How much room ut_ace_put_id() needs. */
size_t ut_ace_id_room(struct ut_ace_writer *w, uint32_t id);
char *ut_ace_put_id(struct ut_ace_writer *w, char *p, uint32_t id);

/* The members of an object: each has a comma before it but for the first. */
struct ut_ace_members {
	struct ut_ace_writer *w;
	bool any;
};

/* Into the output itself. */
void ut_ace_put_value(struct ut_ace_writer *w, const struct ut_arg *arg);
void ut_ace_put_list(struct ut_ace_members *m, uint32_t list, bool ids);
void ut_ace_put_args(struct ut_ace_members *m, const struct ut_ace_event *e);

#endif
