/*
 * read_page.c - the viewer and the traces in one file.
 */
#include <errno.h>
#include <inttypes.h>

#include "ops/view_sheet.h"
#include "read/read_options.h"
#include "read/read_trace.h"
#include "report/one_page.h"
#include "text/out.h"
#include "view/view.h"

/* Times after the first event, as those of the view are; on its own clock they say nothing here. */
static const char *address_of(struct ut_read_options *o, const struct ut_view *view,
			      struct ut_arena *a)
{
	const struct ut_filter *f = &o->filter;

	if (!f->has_window || f->from_is_absolute || f->to_is_absolute)
		return NULL;
	return ut_str_fmt(a, "v=timeline&w=%" PRIu64 ",%" PRIu64, o->events.from ? f->from : 0,
			  o->events.to ? f->to : ut_view_span(view));
}

/* The view lends the stores, so nobody else may send them meanwhile. */
static void read_page_write_page(struct unitrace_trace *trace, struct ut_read_options *o,
				 struct ut_out *out)
{
	const uint64_t most = o->max_slices ? o->max_slices : UT_PAGE_SLICES;
	struct ut_view_about about = { .input = o->title };
	struct ut_view *view = ut_view_new();

	for (size_t i = 0; i < trace->inputs.count; i++)
		ut_view_lend(view, trace->inputs.paths[i], &trace->stores[i]);
	ut_view_ready(view, trace->threads);
	about.address = address_of(o, view, &o->arena);
	if (about.input || about.address)
		ut_view_describe(view, &about);
	ut_ops_attach(view, most);
	ut_one_page_write(view, most, out);
	ut_view_free(view);
}

int unitrace_page(struct unitrace_trace *trace, const char *path, const char *const *options,
		  struct unitrace_error *error)
{
	struct ut_read_options o = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_read_options_parse(&o, options, &err);

	if (!rc && ut_one_page_missing())
		rc = ut_err_set(&err, -ENOTSUP, "%s", ut_one_page_missing());
	if (!rc) {
		struct ut_out *out = ut_out_open(path, UT_OUT_OVERWRITE);

		pthread_mutex_lock(&trace->asking);
		read_page_write_page(trace, &o, out);
		pthread_mutex_unlock(&trace->asking);
		rc = ut_out_commit(out, &err);
	}
	ut_read_options_release(&o);
	return ut_read_result(rc, &err, error);
}
