/*
 * read_store.h - traces that are no JSON: Perfetto and what else the trace engine imports.
 */
#ifndef UT_ACELYZER_READ_STORE_H
#define UT_ACELYZER_READ_STORE_H

#include "acelyzer/options.h"
#include "acelyzer/read_input.h"

/*
 * Fills the part with the spans of the file, as the torch dialect knows them. A trace that we made
 * from another tool's JSON says so: it is read as the JSON that it was.
 */
int ut_ace_read_store(struct ut_ace_part *part, const char *path, enum ut_ace_release release,
		      struct ut_err *err) UT_MUST_CHECK;

#endif
