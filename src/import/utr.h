/*
 * utr.h - checks a saved trace; reading one is ut_import_utr in importer.h.
 *
 * Opening a .utr file maps it and checks the header, the table of contents and whatever is small
 * and holds numbers that lead somewhere (types, tracks, shapes, lanes); rows, strings, argument
 * values and the pyramid are checked where they are used, so that opening takes no longer for a
 * larger file. Any content is safe. Not safe is changing the file while it is open; if it is cut
 * short the program is ended by SIGBUS. Nobody does that to a file written by us, which appears
 * under its name when it is complete and is replaced, never changed.
 */
#ifndef UT_IMPORT_UTR_H
#define UT_IMPORT_UTR_H

#include "base/err.h"

/* Opens the file and compares all checksums: reads every byte. err names the damaged place. */
int ut_utr_verify(const char *path, struct ut_err *err) UT_MUST_CHECK;

#endif
