/*
 * ranks_pack.h - ranks as bytes, from one process of ours to another on the same kind of machine.
 */
#ifndef UT_RANKS_RANKS_PACK_H
#define UT_RANKS_RANKS_PACK_H

#include "ranks/ranks.h"

/* What was added, before it is settled. */
void ut_ranks_pack(const struct ut_ranks *r, struct ut_buf *out);

/* Adds it. -EPROTO: these bytes are not ours. */
int ut_ranks_unpack(struct ut_ranks *r, const char *data, size_t len,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
