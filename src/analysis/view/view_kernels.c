#include "view/view_kernels.h"

#include <stdlib.h>

#include "base/grow.h"
#include "view/view_parts.h"

#define MOST_KEPT 500000u /* pieces of work: some 100 MB */

const struct ut_view_kernels *ut_view_kernels_take(struct ut_view *v, size_t trace)
{
	struct ut_view_trace *t = &v->traces[trace];
	struct ut_view_kernels *k = t->kernels;

	if (k)
		return k;
	t->kernels = k = ut_make(sizeof(*k));
	ut_device_log_init(&k->log, false);
	ut_device_log_store(&k->log, t->store);
	ut_device_log_finish(&k->log);
	ut_kernel_set_make(&k->set, t->store, &k->log);
	return k;
}

void ut_view_kernels_drop(struct ut_view *v, size_t trace)
{
	struct ut_view_trace *t = &v->traces[trace];

	if (t->kernels->log.work_count <= MOST_KEPT)
		return;
	ut_view_kernels_free(t->kernels);
	t->kernels = NULL;
}

void ut_view_kernels_free(struct ut_view_kernels *k)
{
	if (!k)
		return;
	ut_kernel_set_release(&k->set);
	ut_device_log_release(&k->log);
	free(k);
}
