/*
 * tally_inputs.h - everything that a tally can be made of: reports (texts), tarballs and folders
 * of them, and traces of any tool.
 */
#ifndef UT_CATEGORY_TALLY_INPUTS_H
#define UT_CATEGORY_TALLY_INPUTS_H

#include "base/err.h"

struct ut_tally;
struct ut_logger;

struct ut_tally_load {
	unsigned int threads; /* that read traces */
	const struct ut_logger *logger;
};

/*
 * Adds all that the words name: files, "-", folders, patterns. What has no tables in it is told
 * and left out; -ENODATA if nothing had any.
 */
int ut_tally_inputs(struct ut_tally *t, const struct ut_tally_load *how, int count,
		    const char *const *words, struct ut_err *err) UT_MUST_CHECK;

#endif
