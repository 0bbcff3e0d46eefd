/*
 * utr_read.h - what reading a saved trace (ut_import_utr in importer.h) promises.
 *
 * Opening a .utr file maps it and checks the header, the table of contents and whatever is small
 * and holds numbers that lead somewhere (types, tracks, shapes, lanes); rows, strings, argument
 * values and the pyramid are checked where they are used, so that opening takes no longer for a
 * larger file. Any content is safe. Checksums are compared if that takes a moment (up to
 * UT_UTR_QUICK bytes) or the caller asks for it. Not safe is changing the file while it is open; if
 * it is cut short the program is ended with a line that says so (base/mapped.h). Nobody does that
 * to a file written by us, which appears under its name when it is complete and is replaced, never
 * changed.
 */
#ifndef UT_IMPORT_UTR_READ_H
#define UT_IMPORT_UTR_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_store;

#define UT_UTR_QUICK ((uint64_t)64 << 20) /* bytes: some 5 ms */

/*
 * The same for the bytes of a file in memory, without comparing checksums: a mapping (mmap), which
 * the store takes over, whether this succeeds or not. path is what messages call it.
 */
int ut_utr_open_memory(const char *path, void *map, size_t size, struct ut_store *store,
		       struct ut_err *err) UT_MUST_CHECK;

#endif
