/*
 * out_check.h - will a result find its place? Asked before hours of work, not after.
 *
 * Nothing is made and nothing is left; what another process does in between shows when the file is
 * written. The text of an error names the file or the folder that is in the way.
 */
#ifndef UT_EXPORT_OUT_CHECK_H
#define UT_EXPORT_OUT_CHECK_H

#include "base/err.h"

struct ut_exporter;

/* Beside those of out.h. */
enum ut_out_check_flag {
	UT_OUT_MAKES_FOLDERS = 1u << 8, /* folders that are missing will be made */
};

/*
 * Could ut_out_open(path, flags) and what format writes succeed? format NULL: plain bytes.
 * -EEXIST for a file that must not be replaced.
 */
int ut_out_check(const char *path, const struct ut_exporter *format, unsigned int flags,
		 struct ut_err *err) UT_MUST_CHECK;

/* Could a folder of this name be made, or filled if it exists? */
int ut_out_check_folder(const char *path, struct ut_err *err) UT_MUST_CHECK;

#endif
