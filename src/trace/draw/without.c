/* without.c - stands in for PDF and PNG where cairo is missing. */
#include "draw/paper.h"

#include <errno.h>

int ut_paper_check(struct ut_err *err)
{
	return ut_err_set(err, -ENOTSUP,
			  "built without PDF and PNG: cairo is missing (Debian: libcairo2-dev); "
			  "SVG and HTML can be written");
}

int ut_paper_pdf(const struct ut_scene *s, struct ut_out *out, struct ut_err *err)
{
	(void)s;
	(void)out;
	return ut_paper_check(err);
}

int ut_paper_png(const struct ut_scene *s, struct ut_out *out, struct ut_err *err)
{
	return ut_paper_pdf(s, out, err);
}
