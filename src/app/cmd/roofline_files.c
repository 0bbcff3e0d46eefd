#include "cmd/roofline_files.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/chart_file.h"
#include "cmd/roofline_page.h"
#include "draw/picture.h"
#include "export/out_check.h"
#include "metrics/roofline.h"
#include "metrics/roofline_chart.h"
#include "metrics/roofline_table.h"
#include "text/out.h"
#include "text/table_report.h"

enum kind {
	KIND_PAGE,
	KIND_PICTURE,
	KIND_CSV,
	KIND_JSON,
};

static bool ends(const char *path, const char *suffix)
{
	size_t len = strlen(path), tail = strlen(suffix);

	return len > tail && !strcasecmp(path + len - tail, suffix);
}

/* ---- kinds ------------------------------------------------------------------------------------
 */

int ut_roofline_file_check(struct ut_roofline_file *f, const char *output, struct ut_arena *a,
			   struct ut_err *err)
{
	*f = (struct ut_roofline_file){ output, KIND_PAGE };
	if (!output)
		return 0;
	if (ut_picture_format_of(output) != UT_PICTURE_NONE)
		f->kind = KIND_PICTURE;
	else if (ends(output, ".csv") || ends(output, ".csv.gz") || ends(output, ".csv.zst"))
		f->kind = KIND_CSV;
	else if (ends(output, ".json") || ends(output, ".json.gz") || ends(output, ".json.zst"))
		f->kind = KIND_JSON;
	else if (!ends(output, ".html"))
		f->path = ut_str_fmt(a, "%s.html", output); /* as the original does */
	if (f->kind == KIND_PAGE || f->kind == KIND_PICTURE)
		return ut_chart_file_check(f->path, err);
	return ut_out_check(f->path, NULL, UT_OUT_OVERWRITE, err);
}

static int write_picture(const struct ut_roofline_file *f, const struct ut_roof *r,
			 struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_chart charts[UT_ROOF_CHARTS];
	struct ut_chart_file file = { .path = f->path, .title = "Roofline", .charts = charts };
	struct ut_roof_picture picture;
	int rc;

	for (unsigned int i = 0; i < UT_ROOF_CHARTS; i++) {
		if (ut_roof_chart(r, (enum ut_roof_chart)i, &arena, &picture))
			charts[file.count++] = picture.chart;
	}
	rc = file.count
		     ? ut_chart_file_write(&file, err)
		     : ut_err_set(err, -ENODATA,
				  "nothing to draw: the device has no peak of what was measured");
	ut_arena_release(&arena);
	return rc;
}

static int write_table(const struct ut_roof *r, enum ut_report_format format, bool levels,
		       struct ut_out *out, struct ut_err *err)
{
	const struct ut_report_opts how = { .format = format };

	return (levels ? ut_roof_levels : ut_roof_table)(out, &how, r, err);
}

static int write_other(const struct ut_roofline_file *f, const struct ut_roof *r, bool levels,
		       struct ut_err *err)
{
	struct ut_out *out = ut_out_open(f->path, UT_OUT_OVERWRITE);
	int rc = 0;

	if (f->kind == KIND_PAGE)
		ut_roofline_page_write(r, out);
	else
		rc = write_table(r, f->kind == KIND_CSV ? UT_REPORT_CSV : UT_REPORT_JSON, levels,
				 out, err);
	if (!rc)
		return ut_out_commit(out, err);
	ut_out_abandon(out);
	return rc;
}

int ut_roofline_file_write(const struct ut_roofline_file *f, const struct ut_roof *r, bool levels,
			   struct ut_err *err)
{
	int rc =
		f->kind == KIND_PICTURE ? write_picture(f, r, err) : write_other(f, r, levels, err);

	if (!rc)
		ut_log(UT_INFO, "roofline: %s", f->path);
	return rc;
}
