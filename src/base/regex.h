/*
 * regex.h - patterns that users write as Python and JavaScript know them.
 *
 * What only sounds different in an extended regular expression is translated: classes (\d, [\w.]),
 * groups without a number, repetitions that take as little as possible, (?i), \A and \Z. As long as
 * it only counts whether something matches, the result is the same. Looking ahead or behind and
 * references to groups have no counterpart and are refused.
 */
#ifndef UT_BASE_REGEX_H
#define UT_BASE_REGEX_H

#include <regex.h>
#include <stddef.h>

#include "base/err.h"

/*
 * The C library writes a repetition out, again for every repetition around it: a short pattern can
 * ask for all memory. All of these refuse patterns that become too large, or nest too deep.
 */

/* To be released with regfree(). */
int ut_regex(regex_t *regex, const char *pattern, size_t len, struct ut_err *err) UT_MUST_CHECK;

/*
 * The same where it counts what matches: regexec() tells the places. Repetitions that take as
 * little as possible and groups without a number are refused.
 */
int ut_regex_places(regex_t *regex, const char *pattern, size_t len,
		    struct ut_err *err) UT_MUST_CHECK;

/* An extended regular expression as it is, not translated; whether it matches. */
int ut_regex_extended(regex_t *regex, const char *pattern, struct ut_err *err) UT_MUST_CHECK;

#endif
