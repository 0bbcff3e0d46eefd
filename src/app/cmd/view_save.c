#include "cmd/view_save.h"

#include <inttypes.h>

#include "base/log.h"
#include "export/out_check.h"
#include "import/load.h"
#include "ops/view_sheet.h"
#include "report/one_page.h"
#include "report/page_image.h"
#include "text/out.h"
#include "text/replaced.h"
#include "view/view.h"

struct saving {
	const struct ut_inputs *inputs;
	struct ut_view *view;
};

static int take_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct saving *s = ctx;

	(void)err;
	ut_view_add(s->view, s->inputs->paths[i], store);
	return 0;
}

int ut_view_save(const struct ut_view_opts *o, const struct ut_inputs *inputs, struct ut_err *err)
{
	const struct ut_load how = { "reading", ut_load_threads(o->threads), .checked = false,
				     .logger = ut_log_stderr() };
	struct saving s = { inputs, ut_view_new() }, before = { o->before, NULL };
	struct ut_out *out;
	uint64_t many;
	int rc = ut_replaced_check(o->save, inputs->paths, inputs->count, err);

	if (!rc)
		rc = ut_out_check(o->save, NULL, UT_OUT_OVERWRITE, err);
	if (!rc)
		rc = ut_load_each(inputs, &how, take_store, &s, err);
	if (!rc && o->before) {
		before.view = ut_view_new();
		ut_view_compare(s.view, before.view);
		rc = ut_load_each(o->before, &how, take_store, &before, err);
		ut_view_ready(before.view, how.threads);
	}
	if (!rc) {
		ut_view_ready(s.view, how.threads);
		ut_view_allow_code(s.view);
		ut_ops_attach(s.view, UT_PAGE_SLICES);
		out = ut_out_open(o->save, UT_OUT_OVERWRITE);
		ut_one_page_write(s.view, UT_PAGE_SLICES, out);
		rc = ut_out_commit(out, err);
	}
	if (!rc)
		ut_log(UT_INFO, "view: %s", o->save);
	many = rc ? 0 : ut_page_too_many(s.view, UT_PAGE_SLICES);
	if (many)
		ut_log(UT_WARN,
		       "%s: %" PRIu64
		       " slices are more than a page holds; short ones that lie close "
		       "together are left out. Tables of the whole trace are exact; what is "
		       "counted "
		       "in the slices of the page says so",
		       o->save, many);
	ut_view_free(s.view);
	return rc;
}
