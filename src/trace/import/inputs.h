/*
 * inputs.h - the traces that a command line names: files, patterns, directories, "-".
 *
 * A directory stands for the traces in it (by content, not deeper than a session directory in
 * it); a pattern that the shell did not expand is expanded here. Sorted so that rank 10 comes
 * after rank 9, each file once. What may not be read in a directory is told and left out; so are
 * recordings whose results are stored (of a launcher that was killed then), unless there is nothing
 * else.
 */
#ifndef UT_IMPORT_INPUTS_H
#define UT_IMPORT_INPUTS_H

#include "import/importer.h"

struct ut_logger;

struct ut_inputs {
	char **paths;
	size_t count, cap;
	uint64_t bytes; /* of all files, as they lie on disk */
	bool has_stdin;
	char **stored;       /* recordings that are left out, while others are looked for */
	char *empty_session; /* the first session in which nothing is */
	size_t stored_count, stored_cap;
	const struct ut_logger *logger; /* while they are looked for */
};

/* A name that matches nothing is an error that says so. */
int ut_inputs_find(struct ut_inputs *in, int argc, const char *const *argv,
		   const struct ut_logger *logger, struct ut_err *err) UT_MUST_CHECK;
void ut_inputs_release(struct ut_inputs *in);

/*
 * Loads all inputs, on up to opts->threads threads (0 = one per core), and calls
 * each(ctx, i, store) for them in their order, one at a time; the store is released after the
 * call unless it was taken with ut_store_move(). At most a few are in memory at once. The first
 * failure stops everything.
 */
int ut_inputs_each(const struct ut_inputs *in, const struct ut_import_opts *opts,
		   int (*each)(void *ctx, size_t i, struct ut_store *store, struct ut_err *err),
		   void *ctx, struct ut_err *err) UT_MUST_CHECK;

#endif
