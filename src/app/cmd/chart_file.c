#include "cmd/chart_file.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "base/str.h"
#include "draw/chart.h"
#include "draw/picture.h"
#include "draw/text_pages.h"
#include "export/out_check.h"
#include "model/build.h"
#include "model/store.h"
#include "report/one_page.h"
#include "text/out.h"
#include "view/view.h"

#define TOOL "charts"

static bool is_page(const char *path)
{
	size_t len = strlen(path);

	return (len > 5 && !strcasecmp(path + len - 5, ".html")) ||
	       (len > 4 && !strcasecmp(path + len - 4, ".htm"));
}

/* A name that says nothing is that of a PDF, as the original has it for all names. */
static enum ut_picture_format format_of(const char *path)
{
	enum ut_picture_format format = ut_picture_format_of(path);

	return format == UT_PICTURE_NONE && !strchr(ut_path_base(path), '.') ? UT_PICTURE_PDF
									     : format;
}

int ut_chart_file_check(const char *path, struct ut_err *err)
{
	enum ut_picture_format format = format_of(path);
	const char *missing = ut_one_page_missing();
	int rc = 0;

	if (is_page(path)) {
		if (missing)
			return ut_err_set(err, -ENOTSUP, "no page: %s", missing);
	} else if (format == UT_PICTURE_NONE) {
		return ut_err_set(err, -EINVAL, "%s: a chart is .pdf, .svg, .png or .html",
				  ut_path_base(path));
	} else {
		rc = ut_picture_check(format, err);
	}
	return rc ? rc : ut_out_check(path, NULL, UT_OUT_OVERWRITE, err);
}

struct ut_view *ut_chart_view(const struct ut_chart_file *f)
{
	struct ut_out *json = ut_out_open_memory();
	struct ut_view *v = ut_view_new();
	struct ut_build build;
	struct ut_store store;

	ut_build_init(&build);
	ut_build_finish(&build, &store);
	ut_view_add(v, f->input ? f->input : "", &store);
	ut_view_ready(v, 1);
	ut_out_text(json, "{\"charts\":[");
	for (size_t i = 0; i < f->count; i++) {
		ut_out_text(json, i ? "," : "");
		ut_chart_json(json, &f->charts[i]);
	}
	ut_out_text(json, "]}");
	ut_view_attach(v, TOOL, "Charts", "charts", json);
	ut_view_describe(v, &(struct ut_view_about){ .input = f->input,
						     .subtitle = f->title,
						     .first = TOOL,
						     .no_file = true });
	if (f->attach)
		f->attach(f->ctx, v);
	return v;
}

static void chart_file_write_page(const struct ut_chart_file *f, struct ut_out *out)
{
	struct ut_view *v = ut_chart_view(f);

	ut_one_page_write(v, UT_PAGE_SLICES, out);
	ut_view_free(v);
}

static int write_picture(const struct ut_chart_file *f, struct ut_out *out, struct ut_err *err)
{
	enum ut_picture_format format = format_of(f->path);
	struct ut_scene *scene = ut_scene_new();
	int rc;

	if (f->title)
		ut_scene_title(scene, ut_str_of(f->title));
	for (size_t i = 0; i < f->count; i++)
		ut_chart_page(scene, &f->charts[i]);
	if (format == UT_PICTURE_PDF)
		ut_text_pages(scene, f->report);
	rc = ut_picture_write(scene, format, out, err);
	ut_scene_free(scene);
	return rc;
}

int ut_chart_file_write(const struct ut_chart_file *f, struct ut_err *err)
{
	struct ut_out *out = ut_out_open(f->path, UT_OUT_OVERWRITE);
	int rc = 0;

	if (is_page(f->path))
		chart_file_write_page(f, out);
	else
		rc = write_picture(f, out, err);
	if (!rc)
		return ut_out_commit(out, err);
	ut_out_abandon(out);
	return rc;
}
