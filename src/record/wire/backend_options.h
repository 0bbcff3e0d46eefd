/*
 * backend_options.h - what the user tells a backend, on its way through the session's control file:
 * texts "BACKEND.KEY=VALUE", each closed by a NUL, the list by an empty one.
 *
 * No lock, no malloc: the collector looks here, too.
 */
#ifndef UT_WIRE_BACKEND_OPTIONS_H
#define UT_WIRE_BACKEND_OPTIONS_H

#include <stddef.h>

#include "base/err.h"
#include "wire/control.h"

/*
 * Adds "BACKEND.KEY=VALUE"; a later one of the same key wins. -EINVAL when it is none, -ENOSPC when
 * the list is full.
 */
int ut_backend_option_add(char list[UT_OPTION_BYTES], const char *text) UT_MUST_CHECK;

/* The value of a key; NULL = not given. */
const char *ut_backend_option(const char list[UT_OPTION_BYTES], const char *key);

#endif
