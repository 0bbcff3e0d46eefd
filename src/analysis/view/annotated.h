/*
 * annotated.h - functions with the time of each of their lines and instructions, for the page
 * (sample/annotate.h). Of this room alone.
 *
 *     annotate     {"rows": [...], "notes": [...]}: rows as `hotspots --annotate --json` has them,
 *                  with the lines around; notes say what cannot be shown, and why
 *     sheet code   {"functions": [{"function":, "module":, "source":, "assembly":}]}, the same of
 *                  those that took most: for a page that has nobody to ask
 *
 * Paths come from traces, which anybody may have written: text is read of files only that are
 * called like source, and only where ut_view_allow_code() was said.
 */
#ifndef UT_VIEW_ANNOTATED_H
#define UT_VIEW_ANNOTATED_H

#include <stdbool.h>

#include "base/logger.h"
#include "base/str.h"

struct ut_out;
struct ut_view;

void ut_make_code_sheet(struct ut_view *v, struct ut_out *out);

/* Is it called like source? Debug info may name anything: keys and passwords are not. */
bool ut_is_source(struct ut_str path);

/* Of a logger: one more text of a list in JSON, which ctx collects (ut_out_open_memory()). */
void ut_keep_note(void *ctx, enum ut_log_level level, const char *room, const char *text);

#endif
