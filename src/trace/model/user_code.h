/*
 * user_code.h - whose code a file is: the user's own, or that of an interpreter or a package that
 * was installed. Who asks "which line of mine" passes the latter over.
 */
#ifndef UT_MODEL_USER_CODE_H
#define UT_MODEL_USER_CODE_H

#include <stdbool.h>

#include "base/str.h"

/* ".../lib/python3.11/json/decoder.py", ".../site-packages/torch/_ops.py", "<frozen os>" */
bool ut_is_library_file(struct ut_str file);

#endif
