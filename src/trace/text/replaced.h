/*
 * replaced.h - the one rule for results whose name is taken, docs/design/009-output-names.md:
 *
 * What is computed from files takes the name that the user gave, or that the command always has; an
 * older file is replaced, and that is told. A recording cannot be had again: it replaces nothing
 * unless --overwrite is given, nor do names that we choose; they get -2, -3 (output_names.h). An
 * input is never replaced.
 */
#ifndef UT_TEXT_REPLACED_H
#define UT_TEXT_REPLACED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ut_logger;

/* Do both names stand for one regular file? */
bool ut_same_file(const char *a, const char *b);

/* -EINVAL if the result would take the place of an input. output NULL or "-": fine. */
int ut_replaced_check(const char *output, char *const *inputs, size_t count,
		      struct ut_err *err) UT_MUST_CHECK;

/* The error that output is one of the inputs. */
int ut_replaced_refuse(const char *output, struct ut_err *err);

/* One line about what has been replaced, if something was. */
void ut_replaced_report(const struct ut_logger *logger);

#endif
