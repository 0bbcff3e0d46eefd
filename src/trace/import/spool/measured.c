/*
 * measured.c - which kernels were measured: their numbers, their metrics as arguments, and the link
 * under which `unitrace metrics -q` shows them.
 */
#include <stdlib.h>
#include <string.h>

#include "import/spool/live_state.h"
#include "import/spool/steps.h"
#include "model/device_records.h"
#include "model/measured.h"
#include "model/shape.h"
#include "model/sink.h"
#include "unitrace/backend.h"

#define LINK_PORT 8000 /* of `unitrace metrics -q`, as of Intel's analyzeperfmetrics.py */

/* ---- numbers of kernels ---------------------------------------------------------------------- */

struct kernel {
	uint64_t start;
	size_t work;
};

static int measured_by_start(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->work > y->work) - (x->work < y->work);
}

static bool is_kernel(const struct ut_spool_work *w)
{
	return w->rec.type == UT_REC_WORK &&
	       ut_rec_low(&w->rec, UT_WORK_WORD_KIND) == UT_WORK_KERNEL;
}

/* From 1 on, as they started. */
static void number_kernels(struct ut_spool_import *im)
{
	struct kernel *all = calloc(im->works.count ? im->works.count : 1, sizeof(*all));
	uint32_t before = im->live ? im->live->kernels : 0;
	size_t count = 0;

	for (size_t i = 0; all && i < im->works.count; i++) {
		if (is_kernel(&im->works.items[i]))
			all[count++] = (struct kernel){ im->works.items[i].start, i };
	}
	if (count)
		qsort(all, count, sizeof(*all), measured_by_start);
	for (size_t i = 0; i < count; i++)
		im->works.items[all[i].work].instance = before + (uint32_t)i + 1;
	if (im->live)
		im->live->kernels += (uint32_t)count;
	free(all);
}

/* ---- before the work is sent ----------------------------------------------------------------- */

void ut_spool_prepare_measured(struct ut_spool_import *im)
{
	struct ut_spool_backend_data *backend_data = &im->backend_data;

	ut_spool_sort_values(im);
	for (size_t i = 0; i < backend_data->values.count; i++) {
		const struct ut_spool_values *v = &backend_data->values.items[i];
		uint64_t correlation = ut_spool_values_correlation(v);

		if (correlation && ut_spool_values_are_of_work(v) &&
		    !ut_idmap_get(&backend_data->values_of, correlation))
			ut_idmap_put(&backend_data->values_of, correlation, (uint32_t)i + 1);
	}
	if (backend_data->values.count || backend_data->samples.count || im->live)
		number_kernels(im);
}

/* ---- what a kernel gets ---------------------------------------------------------------------- */

/* Did a sample of the device hit the time between these? */
static bool is_hit(struct ut_spool_import *im, uint32_t device, uint64_t start, uint64_t end)
{
	const struct ut_spool_values *all = im->backend_data.values.items;
	size_t lo = 0, hi = im->backend_data.values.count;
	uint32_t set = 0;

	for (size_t i = 0; i < im->tables.metric_count && !set; i++) {
		uint32_t s = im->tables.metrics[i].set;

		if (ut_spool_object(&((struct ut_spool_import *)(uintptr_t)im)->tables, s)
			    ->domain == device)
			set = s;
	}
	while (set && lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (all[mid].set < set ||
		    (all[mid].set == set && ut_spool_values_middle(&all[mid]) < start))
			lo = mid + 1;
		else
			hi = mid;
	}
	return set && lo < im->backend_data.values.count && all[lo].set == set &&
	       ut_spool_values_is_sample(&all[lo]) && ut_spool_values_middle(&all[lo]) <= end;
}

/* Were stalls sampled on this device? */
static bool has_stalls(struct ut_spool_import *im, uint32_t device)
{
	for (size_t i = 0; i < im->backend_data.samples.count; i++) {
		const struct ut_spool_sample *s = &im->backend_data.samples.items[i];

		if (s->queue && ut_spool_object(&im->tables, s->place)->domain == device)
			return true;
	}
	return false;
}

static bool is_measured(struct ut_spool_import *im, const struct ut_spool_work *w, uint32_t device,
			uint32_t values)
{
	struct ut_spool_backend_data *t = &im->backend_data;

	if (values)
		return true;
	if (t->asked_device != device + 1) { /* works come queue by queue */
		t->asked_device = device + 1;
		t->device_has_stalls = has_stalls(im, device);
	}
	return t->device_has_stalls || is_hit(im, device, w->start, w->end);
}

/* What the path of a URL may hold as it is. */
static bool measured_is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       strchr("-_.~", c);
}

static void add_link(struct ut_spool_import *im, uint32_t name, uint32_t device, size_t mark,
		     uint32_t instance)
{
	struct ut_strtab *strings = &im->trace->strings;
	uint32_t api = ut_spool_object(&im->tables, device)->api;
	unsigned int lanes =
		ut_api_traits(ut_api_called(strings, ut_strtab_get(strings, api)).api)->lanes;
	struct ut_device_record r = { 0 };
	struct ut_buf shaped = { 0 }, link = { 0 };

	ut_buf_char(&shaped, '"');
	ut_device_record_read(&r, im->trace, mark);
	ut_shape_name(&shaped, ut_strtab_get(strings, name), &r.launch, lanes);
	ut_buf_char(&shaped, '"');
	ut_buf_fmt(&link, "http://localhost:%d/", LINK_PORT);
	for (size_t i = 0; i < shaped.len; i++) {
		if (shaped.data[i] && measured_is_plain(shaped.data[i]))
			ut_buf_char(&link, shaped.data[i]);
		else
			ut_buf_fmt(&link, "%%%02X", (unsigned char)shaped.data[i]);
	}
	ut_buf_fmt(&link, "/%u", instance);
	ut_trace_add_arg(im->trace, ut_strtab_intern_z(strings, "metrics"), UT_ARG_STR)->value.str =
		ut_strtab_intern(strings, link.data, link.len);
	ut_buf_release(&shaped);
	ut_buf_release(&link);
}

/*
 * Of the kernels of a list that was executed, each has values of its own, and all the same number:
 * they begin when the kernel does. Elsewhere there is one kernel for a number. Index + 1; 0 = none.
 */
static uint32_t values_of(struct ut_spool_import *im, const struct ut_spool_work *w,
			  uint32_t device)
{
	uint64_t correlation = ut_rec_word(&w->rec, UT_WORK_WORD_CORRELATION);
	uint32_t api = ut_spool_object(&im->tables, device)->api;
	uint32_t at = ut_idmap_get(&im->backend_data.values_of, correlation);
	const struct ut_spool_values *all = im->backend_data.values.items;

	if (!at || !ut_str_is(ut_strtab_get(&im->trace->strings, api), "Level Zero"))
		return at ? ut_idmap_take(&im->backend_data.values_of, correlation) : 0;
	for (size_t i = at - 1; i < im->backend_data.values.count &&
				all[i].set == all[at - 1].set && all[i].begin <= w->start;
	     i++) {
		if (all[i].begin == w->start && !all[i].sent &&
		    ut_spool_values_correlation(&all[i]) == correlation &&
		    ut_spool_values_are_of_work(&all[i])) {
			ut_idmap_put(&im->backend_data.values_of, correlation, (uint32_t)i + 1);
			return (uint32_t)i + 1;
		}
	}
	return 0;
}

void ut_spool_args_measured(struct ut_spool_import *im, const struct ut_spool_work *w,
			    uint32_t name, size_t mark)
{
	uint32_t device, values;

	if (!w->instance)
		return;
	device = ut_spool_object(&im->tables, w->place)->domain;
	values = values_of(im, w, device);
	if (!is_measured(im, w, device, values))
		return;
	ut_trace_add_arg(im->trace, ut_strtab_intern_z(&im->trace->strings, "instance"), UT_ARG_U64)
		->value.u64 = w->instance;
	add_link(im, name, device, mark, w->instance);
	if (values)
		ut_spool_args_values(im, values - 1);
}
