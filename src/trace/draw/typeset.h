/*
 * typeset.h - how wide texts are, known without any font: by the widths of Helvetica, whose metric
 * twins (Liberation Sans, Nimbus Sans, Arial) are everywhere. Printers that find a wider font
 * squeeze what they draw into these widths, so that a layout holds wherever it is printed.
 */
#ifndef UT_DRAW_TYPESET_H
#define UT_DRAW_TYPESET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct ut_arena;
struct ut_lettering;

/* What printers ask their fonts for. */
#define UT_TYPE_FAMILY "Helvetica"
#define UT_TYPE_MONO   "Courier"

/* Are these letters whose widths are known, not guessed? */
bool ut_text_is_measured(struct ut_str text);

double ut_text_width(const struct ut_lettering *type, struct ut_str text);

/* The text, or a copy in the arena that lost its middle to fit. Never split inside a character. */
struct ut_str ut_text_fit(struct ut_arena *a, const struct ut_lettering *type, struct ut_str text,
			  double width);

#endif
