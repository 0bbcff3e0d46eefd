/*
 * short_name.h - a function's name as people say it: of C++ without return type, template arguments
 * and parameters ("std::sort" of three lines of it), of others as it is.
 */
#ifndef UT_SAMPLE_SHORT_NAME_H
#define UT_SAMPLE_SHORT_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct ut_prof_frame;
struct ut_prof;

/* Appends it. Never nothing: what would be empty is kept whole. */
void ut_short_name(struct ut_buf *b, struct ut_str name);

/* How much of a name it takes to tell it from others. */
enum ut_name_part {
	UT_NAME_SHORT,
	UT_NAME_ARGUMENTS, /* with template arguments: "W<1>::go" */
	UT_NAME_WHOLE,     /* with parameters, too */
};

/* For each of the names the least part that no other of them shares. Equal names are one. */
void ut_name_parts(const struct ut_str *names, size_t count, uint8_t *parts);

/* Appends that part of it. */
void ut_name_part(struct ut_buf *b, struct ut_str name, enum ut_name_part part);

/* A function of a profile, by the least part that no other function of it shares. */
void ut_prof_name(struct ut_buf *b, const struct ut_prof *p, uint32_t function);

/* The same of a frame, and where it is if its name says little: "<module> (train.py)". */
void ut_prof_label(struct ut_buf *b, const struct ut_prof *p, const struct ut_prof_frame *f);

#endif
