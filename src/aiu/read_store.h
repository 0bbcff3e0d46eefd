/*
 * read_store.h - traces that are no JSON: Perfetto and what else the trace engine imports.
 */
#ifndef UT_AIU_READ_STORE_H
#define UT_AIU_READ_STORE_H

#include "aiu/read.h"

/*
 * Fills the part with the spans of the file, as the torch dialect knows them. A trace that we made
 * from another tool's JSON says so: it is read as the JSON that it was.
 */
int ut_aiu_read_store(struct ut_aiu_part *part, const char *path, bool head,
		      struct ut_err *err) UT_MUST_CHECK;

#endif
