#include "draw/picture.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "draw/paper.h"
#include "draw/svg.h"

enum ut_picture_format ut_picture_format_of(const char *path)
{
	static const struct {
		const char *end;
		enum ut_picture_format format;
	} ends[] = {
		{ ".svg", UT_PICTURE_SVG },     { ".svg.gz", UT_PICTURE_SVG },
		{ ".svg.zst", UT_PICTURE_SVG }, { ".pdf", UT_PICTURE_PDF },
		{ ".png", UT_PICTURE_PNG },
	};
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i].end);

		if (len > end && !strcasecmp(path + len - end, ends[i].end))
			return ends[i].format;
	}
	return UT_PICTURE_NONE;
}

int ut_picture_check(enum ut_picture_format format, struct ut_err *err)
{
	return format == UT_PICTURE_SVG ? 0 : ut_paper_check(err);
}

int ut_picture_write(const struct ut_scene *s, enum ut_picture_format format, struct ut_out *out,
		     struct ut_err *err)
{
	switch (format) {
	case UT_PICTURE_SVG:
		ut_svg_write(s, out);
		return 0;
	case UT_PICTURE_PDF:
		return ut_paper_pdf(s, out, err);
	case UT_PICTURE_PNG:
		return ut_paper_png(s, out, err);
	case UT_PICTURE_NONE:
		break;
	}
	return ut_err_set(err, -EINVAL, "a picture is .svg, .pdf or .png");
}
