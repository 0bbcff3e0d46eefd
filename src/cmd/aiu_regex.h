/*
 * aiu_regex.h - patterns of --event_filter, which users write as Python knows them.
 *
 * What only sounds different in an extended regular expression is translated: classes (\d, [\w.]),
 * groups without a number, repetitions that take as little as possible, (?i), \A and \Z. Since it
 * only counts whether something matches, the result is the same. Looking ahead or behind and
 * references to groups have no counterpart and are refused.
 */
#ifndef UT_CMD_AIU_REGEX_H
#define UT_CMD_AIU_REGEX_H

#include <regex.h>
#include <stddef.h>

#include "base/err.h"

/* To be released with regfree(). */
int ut_aiu_regex(regex_t *regex, const char *pattern, size_t len, struct ut_err *err) UT_MUST_CHECK;

#endif
