/*
 * code_names.h - functions and lines of places in files of code, as a trace has them: for importers
 * of samples.
 *
 * Names are as people write them: demangled, without the version of a symbol, and without what a
 * compiler adds to the parts and copies of a function (".cold", ".constprop.0"), which are the same
 * function to whoever wrote it.
 *
 * Owner: the caller. One thread.
 */
#ifndef UT_IMPORT_CODE_NAMES_H
#define UT_IMPORT_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "symbol/binary.h"

struct ut_place_in_code;
struct ut_trace;

struct ut_code_names {
	struct ut_trace *trace;    /* where strings go */
	struct ut_idmap demangled; /* string id -> string id */
};

void ut_code_names_release(struct ut_code_names *n); /* trace stays the caller's */

/*
 * The functions at an offset of a file (NULL: nothing is known of it), the innermost first, at most
 * UT_BINARY_FRAMES. At least one: that of a stripped file is called by where it starts,
 * "libfoo.so+0x1a2b0", or has no name. path, module: of the file, and as a string of the trace.
 */
size_t ut_code_names_find(struct ut_code_names *n, struct ut_binary *code, const char *path,
			  uint32_t module, uint64_t offset, struct ut_place_in_code *frames);

/* A name as people write it: string id. */
uint32_t ut_code_name(struct ut_code_names *n, const char *name, size_t len);

#endif
