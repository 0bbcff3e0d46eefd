#include "metrics/metrics_stalls.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "metrics/metrics_data.h"

struct reading {
	struct ut_metrics_file *file;
	struct ut_metrics_stalls *to;
	const struct ut_metrics_want *want;
	const struct ut_metrics_section *section;
	const struct ut_str *reasons; /* of the section, in our arena */
	struct ut_idmap kernels;      /* by name: number, from 1 */
	bool is_device_here;
};

int ut_metrics_stalls_check(const char *path, bool *is_stall, struct ut_err *err)
{
	struct ut_metrics_file *f;
	int rc = ut_metrics_open(&f, path, NULL, err);

	if (rc)
		return rc;
	*is_stall = ut_metrics_section(f, 0)->layout == UT_METRICS_STALL;
	ut_metrics_close(f);
	return 0;
}

static struct ut_str kept(struct ut_metrics_stalls *s, struct ut_str text)
{
	return (struct ut_str){ ut_arena_copy(&s->arena, text.ptr, text.len), text.len };
}

static void take_section(struct reading *r, const struct ut_metrics_section *s)
{
	struct ut_str *reasons = UT_NEW_N(&r->to->arena, struct ut_str, s->count - s->first);

	for (size_t i = s->first; i < s->count; i++)
		reasons[i - s->first] = kept(r->to, s->columns[i]);
	r->section = s;
	r->reasons = reasons;
	ut_idmap_clear(&r->kernels); /* other columns: kernels begin anew */
}

static size_t metrics_stalls_kernel_of(struct reading *r, uint32_t name)
{
	struct ut_metrics_stalls *s = r->to;
	uint32_t number = ut_idmap_get(&r->kernels, name);

	if (number)
		return number - 1;
	s->kernels = ut_grow(s->kernels, s->count + 1, &s->cap, sizeof(*s->kernels));
	s->kernels[s->count++].samples = (struct ut_stall_samples){
		.kernel = kept(s, ut_metrics_kernel(r->file, name)),
		.reasons = r->reasons,
		.reason_count = r->section->count - r->section->first,
		.module = { "", 0 },
	};
	ut_idmap_put(&r->kernels, name, (uint32_t)s->count);
	return s->count - 1;
}

static void grow(struct ut_metrics_stalled *k)
{
	size_t had = k->cap, counts = had * k->samples.reason_count;

	k->addresses =
		ut_grow_raw(k->addresses, k->samples.row_count + 1, &k->cap, sizeof(*k->addresses));
	if (k->cap != had)
		k->counts = ut_grow_raw(k->counts, k->cap * k->samples.reason_count, &counts,
					sizeof(*k->counts));
	k->samples.addresses = k->addresses;
	k->samples.counts = k->counts;
}

static int metrics_stalls_take_row(struct reading *r, const struct ut_metrics_row *row,
				   struct ut_err *err)
{
	size_t at = metrics_stalls_kernel_of(r, row->kernel); /* which may move them all */
	struct ut_metrics_stalled *k = &r->to->kernels[at];
	struct ut_stall_samples *s = &k->samples;
	uint64_t *counts;

	grow(k);
	k->addresses[s->row_count] = row->address;
	counts = &k->counts[s->row_count * s->reason_count];
	for (size_t i = 0; i < s->reason_count; i++) {
		double value;
		int rc = ut_metrics_value(r->file, r->section->first + i, &value, err);

		if (rc)
			return rc;
		if (value < 0 || value >= 0x1p63)
			return ut_err_set(err, -EINVAL, "line %" PRIu64 ": no count of samples",
					  row->line);
		counts[i] = isnan(value) ? 0 : (uint64_t)value;
	}
	s->row_count++;
	return 0;
}

static int metrics_stalls_look_at(struct reading *r, const struct ut_metrics_row *row,
				  struct ut_err *err)
{
	if (row->section->layout != UT_METRICS_STALL ||
	    (r->want->device != UT_METRICS_ANY && row->device != r->want->device))
		return 0;
	r->is_device_here = true;
	if (row->section != r->section)
		take_section(r, row->section);
	if (!ut_metrics_is_kernel(ut_metrics_kernel(r->file, row->kernel), r->want->kernel, true))
		return 0;
	return metrics_stalls_take_row(r, row, err);
}

int ut_metrics_stalls_read(struct ut_metrics_stalls *s, const char *path,
			   const struct ut_metrics_want *want, const struct ut_logger *logger,
			   struct ut_err *err)
{
	struct reading r = { .to = s, .want = want };
	struct ut_metrics_row row;
	int rc;

	*s = (struct ut_metrics_stalls){ .device = want->device == UT_METRICS_ANY ? 0
										  : want->device };
	rc = ut_metrics_open(&r.file, path, logger, err);
	if (rc)
		return rc;
	while ((rc = ut_metrics_next(r.file, &row, err)) == 1 &&
	       !(rc = metrics_stalls_look_at(&r, &row, err)))
		;
	if (!rc && !r.is_device_here)
		rc = ut_err_set(err, -ENODEV, "Device %" PRIu64 " not found in input file",
				s->device);
	else if (!rc && !s->count)
		rc = ut_metrics_no_kernel(want->kernel, s->device, err);
	ut_idmap_release(&r.kernels);
	ut_metrics_close(r.file);
	if (rc)
		ut_metrics_stalls_release(s);
	return rc;
}

void ut_metrics_stalls_release(struct ut_metrics_stalls *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->kernels[i].addresses);
		free(s->kernels[i].counts);
	}
	free(s->kernels);
	ut_arena_release(&s->arena);
	*s = (struct ut_metrics_stalls){ 0 };
}
