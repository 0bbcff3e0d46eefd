#include "metrics/metrics_index.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "text/out.h"

struct counting {
	struct ut_metrics_index *index;
	struct ut_idmap devices; /* by section and device: number in the index, from 1 */
	struct ut_idmap kernels; /* by that number and the name: number in the device, from 1 */
	uint64_t group;
};

static size_t metrics_index_device_of(struct counting *c, const struct ut_metrics_section *s,
				      uint64_t device)
{
	struct ut_metrics_index *x = c->index;
	uint64_t key = (uint64_t)s->number << 32 | device;
	uint32_t number = ut_idmap_get(&c->devices, key);

	if (number)
		return number - 1;
	x->devices = ut_grow(x->devices, x->count + 1, &x->cap, sizeof(*x->devices));
	x->devices[x->count++] = (struct ut_metrics_device){ .device = device, .section = s };
	ut_idmap_put(&c->devices, key, (uint32_t)x->count);
	return x->count - 1;
}

static struct ut_metrics_kernel *metrics_index_kernel_of(struct counting *c, size_t device,
							 uint32_t name)
{
	struct ut_metrics_device *d = &c->index->devices[device];
	uint64_t key = (uint64_t)device << 32 | name;
	uint32_t number = ut_idmap_get(&c->kernels, key);

	if (number)
		return &d->kernels[number - 1];
	d->kernels = ut_grow(d->kernels, d->count + 1, &d->cap, sizeof(*d->kernels));
	d->kernels[d->count++] = (struct ut_metrics_kernel){ .name = name };
	ut_idmap_put(&c->kernels, key, (uint32_t)d->count);
	return &d->kernels[d->count - 1];
}

static void count_row(struct counting *c, const struct ut_metrics_row *row)
{
	size_t device = metrics_index_device_of(c, row->section, row->device);
	struct ut_metrics_kernel *k = metrics_index_kernel_of(c, device, row->kernel);

	c->index->devices[device].rows++;
	k->first = k->rows++ ? k->first : row->instance;
	k->instances += row->section->layout != UT_METRICS_STALL && row->group != c->group;
	c->group = row->group;
}

/* Devices whose header no row has followed, too. Those of the older form have their device in rows.
 */
static void add_empty(struct counting *c)
{
	const struct ut_metrics_section *s;

	for (size_t i = 0; (s = ut_metrics_section(c->index->file, i)); i++) {
		if (s->layout != UT_METRICS_OLD)
			metrics_index_device_of(c, s, s->device);
	}
}

int ut_metrics_index_make(struct ut_metrics_index *x, const char *path,
			  const struct ut_logger *logger, struct ut_err *err)
{
	struct counting c = { .index = x };
	struct ut_metrics_row row;
	int rc;

	*x = (struct ut_metrics_index){ 0 };
	rc = ut_metrics_open(&x->file, path, logger, err);
	if (rc)
		return rc;
	while ((rc = ut_metrics_next(x->file, &row, err)) == 1)
		count_row(&c, &row);
	if (!rc)
		add_empty(&c);
	else
		ut_metrics_index_release(x);
	ut_idmap_release(&c.devices);
	ut_idmap_release(&c.kernels);
	return rc;
}

void ut_metrics_index_release(struct ut_metrics_index *x)
{
	for (size_t i = 0; i < x->count; i++)
		free(x->devices[i].kernels);
	free(x->devices);
	ut_metrics_close(x->file);
	*x = (struct ut_metrics_index){ 0 };
}

/* As the original lists them: ids are among them, what is behind StreamMarker is not. */
static void list_metrics(const struct ut_metrics_section *s, struct ut_out *out)
{
	bool has_ids = s->layout == UT_METRICS_QUERY || s->layout == UT_METRICS_TIME;

	for (size_t i = has_ids ? 1 : s->first; i < s->count; i++) {
		struct ut_str title = s->columns[i];

		ut_out_text(out, "        ");
		ut_out_write(out, title.ptr, title.len);
		ut_out_text(out, "\n");
		if (ut_str_is(title, "StreamMarker"))
			return;
	}
}

static void list_device(const struct ut_metrics_index *x, const struct ut_metrics_device *d,
			struct ut_out *out)
{
	bool is_stall = d->section->layout == UT_METRICS_STALL;

	ut_out_fmt(out, "Device %" PRIu64 "\n    Metric\n", d->device);
	list_metrics(d->section, out);
	ut_out_text(out, is_stall ? "    Kernel\n" : "    Kernel, Number of Instances\n");
	for (size_t i = 0; i < d->count; i++) {
		struct ut_str name = ut_metrics_kernel(x->file, d->kernels[i].name);

		ut_out_text(out, "        \"");
		ut_out_write(out, name.ptr, name.len);
		ut_out_text(out, "\"");
		if (!is_stall)
			ut_out_fmt(out, ", %" PRIu64, d->kernels[i].instances);
		ut_out_text(out, "\n");
	}
}

void ut_metrics_index_list(const struct ut_metrics_index *x, struct ut_out *out)
{
	for (size_t i = 0; i < x->count; i++)
		list_device(x, &x->devices[i], out);
}
