/*
 * perfetto_lines.h - packets of Perfetto's format as lines of text. Tracks are numbered in the
 * order in which they appear, flows by their low bits.
 */
#ifndef TESTS_EXPORT_PERFETTO_LINES_H
#define TESTS_EXPORT_PERFETTO_LINES_H

#include "export/support.h"

/* Ends the script and compares what it has written. */
void perfetto_expect(struct script *s, const char *want);

#endif
