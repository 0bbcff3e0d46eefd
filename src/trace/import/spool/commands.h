/*
 * commands.h - command groups of SYCL's, and which piece of work came from which: the innermost
 * that was open on the thread when the runtime below was called.
 */
#ifndef UT_IMPORT_SPOOL_COMMANDS_H
#define UT_IMPORT_SPOOL_COMMANDS_H

#include <stdbool.h>

#include "base/idmap.h"
#include "import/spool/records.h"
#include "import/spool/vec.h"

struct ut_spool_import;

struct ut_spool_command {
	uint32_t name;           /* string id */
	struct ut_spool_rec end; /* with what is known about it; count 0 = it has not ended */
};

struct ut_spool_commands {
	uint32_t api;                          /* number of SYCL's name; 0 = it was not called */
	UT_VEC(struct ut_spool_command) items; /* from which work came */
	struct ut_idmap at;                    /* correlation of the command group -> index + 1 */
	struct ut_idmap of_call;               /* correlation of a call inside -> the same */
};

/* The call with this correlation is made in a command group, which has node. */
void ut_spool_command_note(struct ut_spool_import *im, uint64_t correlation, uint64_t node,
			   uint32_t name);
/* One ends. */
void ut_spool_command_end(struct ut_spool_import *im, uint64_t node, const struct ut_spool_rec *r);
/* What work is told about its own. placed: it has a place in the source already. */
void ut_spool_args_command(struct ut_spool_import *im, uint64_t correlation, bool placed);

#endif
