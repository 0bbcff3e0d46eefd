#include "cmd/table_options.h"

#include <errno.h>
#include <string.h>

#include "base/term.h"
#include "text/csv_write.h"
#include "text/table_report.h"

static bool table_options_is(const char *word, const char *other)
{
	return word && !strcmp(word, other);
}

int ut_table_opts_check(const struct ut_table_opts *o, struct ut_err *err)
{
	if (o->json && o->csv)
		return ut_err_set(err, -EINVAL, "--json and --csv exclude each other");
	if (o->colour && !table_options_is(o->colour, "auto") &&
	    !table_options_is(o->colour, "always") && !table_options_is(o->colour, "never"))
		return ut_err_set(err, -EINVAL,
				  "--color does not know '%s'; it takes auto, always, never",
				  o->colour);
	return 0;
}

struct ut_report_opts ut_table_report(const struct ut_table_opts *o, int fd, uint64_t usual)
{
	struct ut_report_opts r = { .sort = o->sort, .width = UT_REPORT_WIDTH_OWN };
	bool terminal = fd >= 0 && ut_term_is_screen(fd);

	ut_csv_set_safe(o->csv_safe);
	r.format = o->json ? UT_REPORT_JSON : o->csv ? UT_REPORT_CSV : UT_REPORT_TABLE;
	r.limit = r.format == UT_REPORT_TABLE ? usual : 0;
	if (o->limit != UINT64_MAX)
		r.limit = o->limit;
	if (o->rows != UINT64_MAX && r.format == UT_REPORT_TABLE)
		r.limit = o->rows;
	if (o->width != UINT64_MAX)
		r.width = (size_t)o->width;
	else if (terminal)
		r.screen = ut_term_columns(fd);
	r.colour = table_options_is(o->colour, "always") ||
		   (!table_options_is(o->colour, "never") && fd >= 0 && ut_term_has_colour(fd));
	return r;
}
