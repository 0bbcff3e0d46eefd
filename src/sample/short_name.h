/*
 * short_name.h - a function's name as people say it: of C++ without return type, template arguments
 * and parameters ("std::sort" of three lines of it), of others as it is.
 */
#ifndef UT_SAMPLE_SHORT_NAME_H
#define UT_SAMPLE_SHORT_NAME_H

#include "base/str.h"

struct ut_prof_frame;
struct ut_prof;

/* Appends it. Never nothing: what would be empty is kept whole. */
void ut_short_name(struct ut_buf *b, struct ut_str name);

/* The same of a frame, and where it is if its name says little: "<module> (train.py)". */
void ut_prof_label(struct ut_buf *b, const struct ut_prof *p, const struct ut_prof_frame *f);

#endif
