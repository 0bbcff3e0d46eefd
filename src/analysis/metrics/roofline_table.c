#include "metrics/roofline_table.h"

#include "text/table_report.h"

/* ---- kernels -------------------------------------------------------------------------------- */

#define FIXED(n) (UT_DIGITS_FIXED + (n))

static const struct ut_report_column columns[] = {
	{ .key = "kernel", .title = "kernel", .type = UT_REPORT_TEXT, .least = 12, .most = 48 },
	{ .key = "instances", .title = "calls", .type = UT_REPORT_COUNT },
	{ .key = "time", .title = "time", .unit = "ns", .type = UT_REPORT_TIME, .rest = true },
	{ .key = "share",
	  .title = "of all",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .digits = FIXED(2) },
	{ .key = "kind", .type = UT_REPORT_WORD, .readers = UT_FOR_PROGRAMS },
	{ .key = "bound", .title = "nearest roof", .type = UT_REPORT_WORD },
	{ .key = "reached",
	  .title = "of its roof",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .digits = FIXED(1) },
	{ .key = "unit", .title = "computes", .type = UT_REPORT_WORD },
	{ .key = "rate",
	  .title = "GFLOP/s",
	  .unit = "gflops",
	  .type = UT_REPORT_NUMBER,
	  .digits = FIXED(1) },
/* people: down to the last cache; --levels has the others */
#define READERS(level) ((UT_ROOF_##level) > UT_ROOF_L2 ? UT_FOR_PROGRAMS : 0)
#define INTENSITY(level, name, text, file)                                                         \
	{ .key = name,                                                                             \
	  .title = "flop/B " text,                                                                 \
	  .readers = READERS(level),                                                               \
	  .type = UT_REPORT_NUMBER,                                                                \
	  .group = "intensity",                                                                    \
	  .digits = 5,                                                                             \
	  .if_any = true },
#define BANDWIDTH(level, name, text, file)                                                         \
	{ .key = name,                                                                             \
	  .title = "GB/s " text,                                                                   \
	  .readers = READERS(level),                                                               \
	  .type = UT_REPORT_NUMBER,                                                                \
	  .group = "gb_per_s",                                                                     \
	  .digits = FIXED(1),                                                                      \
	  .if_any = true },
#define BYTES(level, name, text, file)                                                             \
	{ .key = name, .type = UT_REPORT_BYTES, .group = "bytes", .readers = UT_FOR_PROGRAMS },
#define FLOP(unit, name, text, file)                                                               \
	{ .key = name, .type = UT_REPORT_NUMBER, .group = "flop", .readers = UT_FOR_PROGRAMS },
#define USED(part, name, text, file)                                                               \
	{ .key = name, .type = UT_REPORT_SHARE, .group = "used", .readers = UT_FOR_PROGRAMS },
	UT_ROOF_LEVEL_LIST(INTENSITY) /**/
	UT_ROOF_LEVEL_LIST(BANDWIDTH) /**/
	UT_ROOF_UNIT_LIST(FLOP)       /**/
	UT_ROOF_LEVEL_LIST(BYTES)     /**/
	UT_ROOF_UNIT_LIST(USED)       /**/
	UT_ROOF_LEVEL_LIST(USED)      /**/
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const struct ut_report_table kernel_table = { columns, COLUMNS, false };

static struct ut_report_cell some(bool is_known, double value)
{
	return is_known ? ut_report_real(value) : ut_report_none();
}

static struct ut_report_cell part_cell(const struct ut_roof *r, unsigned int part)
{
	if (part == UT_ROOF_NONE)
		return ut_report_said(ut_report_none(), "-");
	return ut_report_said(ut_report_text(ut_roof_key(part)), ut_roof_title(&r->device, part));
}

static struct ut_report_cell kind_cell(unsigned int part)
{
	if (part == UT_ROOF_NONE)
		return ut_report_none();
	return ut_report_text(ut_roof_is_level(part) ? "memory" : "compute");
}

static double per_second(const struct ut_roof_work *w, double amount)
{
	return w->ns > 0 ? amount / w->ns : 0; /* 1e9 a second */
}

static void roofline_table_add_kernel(struct ut_report *report, const struct ut_roof *r,
				      const struct ut_roof_kernel *k)
{
	struct ut_report_cell cells[COLUMNS];
	const struct ut_roof_work *w = &k->work;
	size_t n = 0;

	cells[n++] = ut_report_said(ut_report_str(k->name), k->shown.ptr);
	cells[n++] = ut_report_u64(w->count);
	cells[n++] = ut_report_real(w->ns);
	cells[n++] = ut_report_real(100 * k->share);
	cells[n++] = kind_cell(k->bound);
	cells[n++] = part_cell(r, k->bound);
	cells[n++] = some(k->bound != UT_ROOF_NONE, 100 * ut_roof_reached(k));
	cells[n++] = part_cell(r, k->unit);
	cells[n++] = some(k->unit != UT_ROOF_NONE, k->rate / 1e9);
	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++)
		cells[n++] = some(k->intensity[l] > 0, k->intensity[l]);
	for (unsigned int p = UT_ROOF_UNITS; p < UT_ROOF_PARTS; p++)
		cells[n++] = some(w->known & 1u << p, per_second(w, w->done[p]));
	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++)
		cells[n++] = some(w->known & 1u << p, w->done[p]);
	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++)
		cells[n++] = some(w->known & 1u << p && r->device.peak[p] > 0, 100 * k->used[p]);
	ut_report_add(report, cells);
}

int ut_roof_table(struct ut_out *out, const struct ut_report_opts *opts, const struct ut_roof *r,
		  struct ut_err *err)
{
	struct ut_report *report = ut_report_open(out, opts);
	int rc = ut_report_begin(report, &kernel_table, err);

	for (size_t i = 0; !rc && i < r->count; i++)
		roofline_table_add_kernel(report, r, &r->kernels[i]);
	if (!rc)
		ut_report_end(report);
	ut_report_close(report);
	return rc;
}

/* ---- levels --------------------------------------------------------------------------------- */

static const struct ut_report_column level_columns[] = {
	{ .key = "kernel", .title = "kernel", .type = UT_REPORT_TEXT, .least = 12, .most = 48 },
	{ .key = "level", .title = "level", .type = UT_REPORT_WORD },
	{ .key = "bytes", .title = "bytes", .type = UT_REPORT_BYTES },
	{ .key = "read", .title = "read", .type = UT_REPORT_BYTES, .if_any = true },
	{ .key = "written", .title = "written", .type = UT_REPORT_BYTES, .if_any = true },
	{ .key = "rate",
	  .title = "GB/s",
	  .unit = "gb_per_s",
	  .type = UT_REPORT_NUMBER,
	  .digits = FIXED(1) },
	{ .key = "peak",
	  .title = "at most",
	  .unit = "gb_per_s",
	  .type = UT_REPORT_NUMBER,
	  .digits = FIXED(0),
	  .if_any = true },
	{ .key = "used",
	  .title = "of the most",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .if_any = true },
	{ .key = "hits", .title = "hits", .unit = "%", .type = UT_REPORT_SHARE, .if_any = true },
	{ .key = "intensity",
	  .title = "flop/B",
	  .type = UT_REPORT_NUMBER,
	  .digits = 5,
	  .if_any = true },
};

static const struct ut_report_table level_table = {
	level_columns, sizeof(level_columns) / sizeof(level_columns[0]), false
};

static void add_level(struct ut_report *report, const struct ut_roof *r,
		      const struct ut_roof_kernel *k, unsigned int level)
{
	const struct ut_roof_work *w = &k->work;
	unsigned int part = UT_ROOF_UNITS + level;
	double peak = r->device.peak[part];
	bool split = w->read[level] + w->written[level] > 0;
	const struct ut_report_cell cells[] = {
		ut_report_said(ut_report_str(k->name), k->shown.ptr),
		part_cell(r, part),
		ut_report_real(w->done[part]),
		some(split, w->read[level]),
		some(split, w->written[level]),
		ut_report_real(per_second(w, w->done[part])),
		some(peak > 0, peak / 1e9),
		some(peak > 0, 100 * k->used[part]),
		some(w->known_hits & 1u << level && w->ns > 0, w->hits[level] / w->ns),
		some(k->intensity[level] > 0, k->intensity[level]),
	};

	ut_report_add(report, cells);
}

int ut_roof_levels(struct ut_out *out, const struct ut_report_opts *opts, const struct ut_roof *r,
		   struct ut_err *err)
{
	struct ut_report *report = ut_report_open(out, opts);
	int rc = ut_report_begin(report, &level_table, err);

	for (size_t i = 0; !rc && i < r->count; i++) {
		for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
			if (r->kernels[i].work.known & 1u << (UT_ROOF_UNITS + l))
				add_level(report, r, &r->kernels[i], l);
		}
	}
	if (!rc)
		ut_report_end(report);
	ut_report_close(report);
	return rc;
}

int ut_roof_check_sort(bool levels, const char *sort, struct ut_err *err)
{
	return ut_report_check_sort(levels ? &level_table : &kernel_table, sort, err);
}
