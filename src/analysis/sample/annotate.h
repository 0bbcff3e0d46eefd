/*
 * annotate.h - a function with the time of each of its lines and instructions beside them.
 *
 * Lines: self is what was spent there, total that in what was called from there as well. They are
 * those of the function's own source; where somebody else's function was inlined, the line that
 * called it. Instructions: all of the function's code, what is inlined into it among it; their time
 * is self.
 */
#ifndef UT_SAMPLE_ANNOTATE_H
#define UT_SAMPLE_ANNOTATE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct ut_out;
struct ut_prof;
struct ut_report_opts;
struct ut_logger;

struct ut_annotate_opts {
	const char *function; /* pattern; the heaviest that fits is shown */
	const char *module;   /* with it, both are whole names instead; NULL = any */
	bool source, assembly;
	bool context; /* lines around those with samples for programs, too, as people see them */
	/* may the text of this file be shown? NULL = of any */
	bool (*readable)(struct ut_str path);
	const struct ut_logger *logger; /* who hears what cannot be shown, and why */
};

/* Of a profile with addresses, settled. -ENOENT: no function fits; -ENODATA: nothing can be shown.
 */
int ut_annotate_print(struct ut_out *out, const struct ut_prof *p,
		      const struct ut_annotate_opts *opts, const struct ut_report_opts *report,
		      struct ut_err *err) UT_MUST_CHECK;

#endif
