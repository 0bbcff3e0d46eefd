#include "metrics/metrics_data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "base/logger.h"

struct ut_str ut_metrics_unquoted(struct ut_str name)
{
	if (name.len >= 2 && name.ptr[0] == '"' && name.ptr[name.len - 1] == '"')
		return (struct ut_str){ name.ptr + 1, name.len - 2 };
	return name;
}

size_t ut_metrics_shape(struct ut_str name)
{
	const char *open = name.len ? memrchr(name.ptr, '[', name.len) : NULL;
	struct ut_str shape = { open, open ? name.len - (size_t)(open - name.ptr) : 0 };

	if (!open || name.ptr[name.len - 1] != ']' || !ut_str_has_start(shape, "[SIMD"))
		return name.len;
	return name.len - shape.len;
}

/* Equal, also if the user has written quotes twice, as files and lists do. */
static bool metrics_data_is_name(struct ut_str name, struct ut_str asked)
{
	size_t at = 0;

	if (ut_str_eq(name, asked))
		return true;
	for (size_t i = 0; i < asked.len; i++, at++) {
		if (at == name.len || name.ptr[at] != asked.ptr[i])
			return false;
		i += asked.ptr[i] == '"' && i + 1 < asked.len && asked.ptr[i + 1] == '"';
	}
	return at == name.len;
}

/* "chase" for "chase(int*, int)[SIMD32 {1; 1; 1} {32; 1; 1}]", as people say it. */
static bool is_short_name(struct ut_str name, struct ut_str plain)
{
	if (ut_str_has_start(name, "void "))
		name = ut_str_from(name, name.ptr + strlen("void "));
	return plain.len && plain.len < name.len && !memcmp(name.ptr, plain.ptr, plain.len) &&
	       name.ptr[plain.len] && strchr("([<", name.ptr[plain.len]);
}

bool ut_metrics_is_kernel(struct ut_str name, struct ut_str asked, bool is_stall)
{
	struct ut_str plain = ut_metrics_unquoted(asked);

	if (!asked.ptr || metrics_data_is_name(name, plain) || is_short_name(name, plain))
		return true;
	plain.len = ut_metrics_shape(plain);
	return is_stall && metrics_data_is_name(name, plain);
}

int ut_metrics_no_kernel(struct ut_str asked, uint64_t device, struct ut_err *err)
{
	struct ut_str name = ut_metrics_unquoted(asked);

	return ut_err_set(err, -ENOENT,
			  "Kernel \"%.*s\" not found on device %" PRIu64 ": -l lists them",
			  (int)(name.len < 300 ? name.len : 300), name.ptr, device);
}

struct reading {
	struct ut_metrics_file *file;
	struct ut_metrics_data *data;
	const struct ut_metrics_want *want;
	struct ut_str kernel;                     /* without quotes */
	const struct ut_metrics_section *section; /* whose columns these are */
	size_t *columns;      /* in the section; UT_METRICS_NONE = it has none */
	struct ut_idmap seen; /* instances of each kernel so far, by name */
	uint64_t group;       /* of the last row of the device */
	uint64_t groups;      /* of the device that are of the kernel, so far */
	bool is_wanted;       /* that group */
	bool is_device_here, is_kernel_here;
};

/* ---- what is wanted ------------------------------------------------------------------------- */

/* A title is told with its unit or without. */
static size_t find_column(const struct ut_metrics_section *s, struct ut_str title)
{
	size_t at = ut_metrics_column(s, title);

	for (size_t i = s->first; at == UT_METRICS_NONE && i < s->count; i++) {
		struct ut_str column = s->columns[i];

		if (column.len > title.len && column.ptr[title.len] == '[' &&
		    ut_str_eq((struct ut_str){ column.ptr, title.len }, title))
			return i;
	}
	return at;
}

static struct ut_str kept(struct ut_metrics_data *d, struct ut_str text)
{
	return (struct ut_str){ ut_arena_copy(&d->arena, text.ptr, text.len), text.len };
}

/* The columns of a section; those of the first one give the titles. */
static void take_section(struct reading *r, const struct ut_metrics_section *s)
{
	struct ut_metrics_data *d = r->data;

	r->section = s;
	d->layout = s->layout;
	for (size_t i = 0; i < d->count; i++) {
		r->columns[i] = find_column(s, r->want->titles[i]);
		if (r->columns[i] == UT_METRICS_NONE)
			continue;
		d->titles[i] = kept(d, s->columns[r->columns[i]]);
		if (!d->columns[i]) {
			d->columns[i] = ut_make((d->cap ? d->cap : 1) * sizeof(double));
			for (size_t k = 0; k < d->rows; k++)
				d->columns[i][k] = __builtin_nan("");
		}
	}
}

/* Looks at the first row of an instance. */
static void begin_group(struct reading *r, const struct ut_metrics_row *row)
{
	uint32_t nth = ut_idmap_get(&r->seen, row->kernel) + 1;

	r->group = row->group;
	ut_idmap_put(&r->seen, row->kernel, nth);
	r->is_wanted = ut_metrics_is_kernel(ut_metrics_kernel(r->file, row->kernel), r->kernel,
					    row->section->layout == UT_METRICS_STALL);
	r->is_kernel_here |= r->is_wanted;
	r->groups += r->is_wanted;
	if (r->want->id)
		r->is_wanted = row->instance == r->want->id;
	else if (r->want->instance && row->section->layout != UT_METRICS_STALL)
		r->is_wanted &= (r->kernel.ptr ? r->groups : nth) == r->want->instance;
}

static bool is_device(struct reading *r, const struct ut_metrics_row *row)
{
	if (r->want->device == UT_METRICS_ANY) {
		if (!r->data->rows)
			r->data->device = row->device;
		return row->device == r->data->device;
	}
	return row->device == r->want->device;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void grow(struct ut_metrics_data *d)
{
	size_t cap = d->cap;

	if (d->rows < d->cap)
		return;
	for (size_t i = 0; i < d->count; i++) {
		size_t own = cap;

		if (d->columns[i])
			d->columns[i] =
				ut_grow_raw(d->columns[i], d->rows + 1, &own, sizeof(double));
		d->cap = d->cap > own ? d->cap : own;
	}
	if (d->cap == cap) /* no column at all: rows are only counted */
		d->cap = cap ? 2 * cap : 16;
}

static void begin_run(struct reading *r, const struct ut_metrics_row *row)
{
	struct ut_metrics_data *d = r->data;

	d->runs = ut_grow(d->runs, d->run_count + 1, &d->run_cap, sizeof(*d->runs));
	d->runs[d->run_count++] = (struct ut_metrics_run){
		.first = d->rows,
		.kernel = ut_metrics_kernel(r->file, row->kernel),
		.instance = row->instance,
		.nth = ut_idmap_get(&r->seen, row->kernel),
	};
}

static int metrics_data_take_row(struct reading *r, struct ut_err *err)
{
	struct ut_metrics_data *d = r->data;
	int rc = 0;

	grow(d);
	for (size_t i = 0; i < d->count && !rc; i++) {
		if (!d->columns[i])
			continue;
		d->columns[i][d->rows] = __builtin_nan("");
		if (r->columns[i] != UT_METRICS_NONE)
			rc = ut_metrics_value(r->file, r->columns[i], &d->columns[i][d->rows], err);
	}
	if (rc)
		return rc;
	d->rows++;
	d->runs[d->run_count - 1].count++;
	return 0;
}

static int metrics_data_look_at(struct reading *r, const struct ut_metrics_row *row,
				struct ut_err *err)
{
	bool is_new = row->group != r->group;

	if (!is_device(r, row))
		return 0;
	r->is_device_here = true;
	if (row->section != r->section)
		take_section(r, row->section);
	if (is_new)
		begin_group(r, row);
	if (!r->is_wanted)
		return 0;
	if (is_new)
		begin_run(r, row);
	return metrics_data_take_row(r, err);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* A section without rows is a device, too. */
static bool has_device(const struct reading *r)
{
	const struct ut_metrics_section *s;

	if (r->is_device_here || r->want->device == UT_METRICS_ANY)
		return true;
	for (size_t i = 0; (s = ut_metrics_section(r->file, i)); i++) {
		if (s->layout != UT_METRICS_OLD && s->device == r->want->device)
			return true;
	}
	return false;
}

static int nothing(const struct reading *r, struct ut_err *err)
{
	const struct ut_metrics_want *w = r->want;

	if (!has_device(r))
		return ut_err_set(err, -ENODEV, "Device %" PRIu64 " not found in input file",
				  w->device);
	if (w->id)
		return ut_err_set(err, -ENOENT, "No metric data for the instance %" PRIu64, w->id);
	if (r->kernel.ptr && !r->is_kernel_here)
		return ut_metrics_no_kernel(r->kernel, r->data->device, err);
	if (!r->is_device_here)
		return ut_err_set(err, -ENOENT, "No kernel was measured on device %" PRIu64,
				  r->data->device);
	return ut_err_set(err, -ENOENT,
			  r->kernel.ptr ? "There is no instance %" PRIu64 ": %" PRIu64
					  " on device %" PRIu64 " were measured"
					: "No kernel has an instance %" PRIu64 ": %" PRIu64
					  " instances of all kernels on device %" PRIu64
					  " were measured",
			  w->instance, r->groups, r->data->device);
}

static int metrics_data_read_all(struct reading *r, struct ut_err *err)
{
	struct ut_metrics_row row;
	int rc;

	while ((rc = ut_metrics_next(r->file, &row, err)) == 1) {
		rc = metrics_data_look_at(r, &row, err);
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	if (!r->data->rows)
		return nothing(r, err);
	/* names outlive the file */
	for (size_t i = 0; i < r->data->run_count; i++) {
		struct ut_metrics_run *run = &r->data->runs[i], *before = run - 1;

		run->kernel = i && before->kernel.len == run->kernel.len &&
					      !memcmp(before->kernel.ptr, run->kernel.ptr,
						      run->kernel.len)
				      ? before->kernel
				      : kept(r->data, run->kernel);
	}
	return 0;
}

int ut_metrics_data_read(struct ut_metrics_data *d, const char *path,
			 const struct ut_metrics_want *want, const struct ut_logger *logger,
			 struct ut_err *err)
{
	struct reading r = { .data = d, .want = want, .kernel = want->kernel };
	int rc = ut_metrics_open(&r.file, path, logger, err);

	*d = (struct ut_metrics_data){ .count = want->count, .device = want->device };
	if (rc)
		return rc;
	if (want->device == UT_METRICS_ANY)
		d->device = 0;
	d->columns = ut_make((want->count + 1) * sizeof(*d->columns));
	d->titles = ut_make((want->count + 1) * sizeof(*d->titles));
	r.columns = ut_make((want->count + 1) * sizeof(*r.columns));
	rc = metrics_data_read_all(&r, err);
	free(r.columns);
	ut_idmap_release(&r.seen);
	ut_metrics_close(r.file);
	if (rc)
		ut_metrics_data_release(d);
	return rc;
}

void ut_metrics_data_release(struct ut_metrics_data *d)
{
	for (size_t i = 0; i < d->count && d->columns; i++)
		free(d->columns[i]);
	free(d->columns);
	free(d->titles);
	free(d->runs);
	ut_arena_release(&d->arena);
	*d = (struct ut_metrics_data){ 0 };
}
