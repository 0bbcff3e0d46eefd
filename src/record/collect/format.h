/*
 * format.h - printf for __itt_formatted_metadata_add: no malloc, no locale, no surprises.
 *
 * Understands what the API allows (%s %ls %d %i %u %x %c %p %f %e %g with h, hh, l, ll, z and a
 * precision); e and g print as f. Width and flags are read and not applied. At a conversion that
 * it does not know it stops interpreting and copies the rest.
 */
#ifndef UT_COLLECT_FORMAT_H
#define UT_COLLECT_FORMAT_H

#include <stdarg.h>

struct ut_text;

void ut_format(struct ut_text *text, const char *format, va_list *args);

#endif
