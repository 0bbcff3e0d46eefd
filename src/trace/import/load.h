/*
 * load.h - what all that read traces have in common.
 */
#ifndef UT_IMPORT_LOAD_H
#define UT_IMPORT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "import/inputs.h"

struct ut_logger;

/* How many threads to use: as many as asked for, else one for each core that we may use. */
unsigned int ut_load_threads(uint64_t asked);

struct ut_load {
	const char *label; /* of the line that tells how far we are */
	unsigned int threads;
	bool checked; /* see struct ut_import_opts */
	const struct ut_logger *logger;
	bool reports_losses; /* the caller does: nothing is said here about what is missing */
};

/*
 * ut_inputs_each() with all that belongs around it: warnings about what is odd in an input, one
 * line each for spans that never ended and records that are missing in all of them together, and,
 * on a terminal, progress.
 */
int ut_load_each(const struct ut_inputs *in, const struct ut_load *how,
		 int (*each)(void *ctx, size_t i, struct ut_store *store, struct ut_err *err),
		 void *ctx, struct ut_err *err) UT_MUST_CHECK;

#endif
