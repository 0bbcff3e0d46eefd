#include "view/sample_stacks.h"

#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/store.h"
#include "sample/hot_summary.h"
#include "sample/prof.h"
#include "sample/sample_walk.h"
#include "text/out.h"
#include "view/annotated.h"
#include "view/attached.h"
#include "view/view_parts.h"

/* What to optimise first is the verdict of the page, where no device is what it is about. */
static void make_findings(struct ut_view *v, struct ut_out *out)
{
	struct ut_stacks_scope scope = { .view = v };
	struct ut_prof_opts opts = { .event = NULL };
	struct ut_hot_summary summary;
	struct ut_prof p;

	ut_view_profile(&p, &opts, &scope);
	ut_hot_summary_init(&summary, &p);
	ut_out_text(out, "[");
	for (size_t i = 0; i < summary.count; i++) {
		const struct ut_hot_summary_line *l = &summary.lines[i];

		ut_out_fmt(out, "%s{\"tone\":\"%s\",\"tab\":\"hotspots\",\"say\":", i ? "," : "",
			   i ? "" : "warn");
		ut_out_json_str(out, l->say.data, l->say.len);
		ut_out_text(out, ",\"why\":");
		ut_out_json_str(out, l->why.data ? l->why.data : "", l->why.len);
		ut_out_text(out, l->is_unseen ? ",\"about\":\"unseen\"}" : "}");
	}
	ut_out_text(out, "]");
	ut_hot_summary_release(&summary);
	ut_prof_release(&p);
}

static bool has_device(const struct ut_view *v)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (uint32_t n = 0; n < t->process_count; n++) {
			if (ut_is_device(t, n))
				return true;
		}
	}
	return false;
}

static bool has_samples(const struct ut_store *s)
{
	for (uint32_t i = 0; i < s->types.count; i++) {
		if (ut_store_type(s, i)->kind == UT_KIND_SAMPLE)
			return ut_sample_event(s, NULL) != 0;
	}
	return false;
}

void ut_view_attach_stacks(struct ut_view *v)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		if (!has_samples(v->traces[i].store))
			continue;
		ut_view_attach_later(v, "hotspots", "Hotspots", "code", ut_make_code_sheet);
		if (!has_device(v))
			ut_view_attach_later(v, "hotspots", "Hotspots", "findings", make_findings);
		return;
	}
}
