/* roofline_page.c - the page of `unitrace roofline`: its sheet, and what is worth a look. */
#include "cmd/roofline_page.h"

#include "base/arena.h"
#include "metrics/roofline.h"
#include "metrics/roofline_words.h"
#include "report/one_page.h"
#include "text/out.h"
#include "view/roofline_sheet.h"
#include "view/view.h"

#define TOOL      UT_ROOFLINE_TOOL
#define SAID      6u /* findings */
#define NAME_MOST 80u

/* ---- findings ---------------------------------------------------------------------------------
 */

static void roofline_page_put_finding(struct ut_out *out, const char *tone, struct ut_buf *say,
				      struct ut_buf *why)
{
	ut_out_fmt(out, "{\"tone\":\"%s\",\"say\":", tone);
	ut_out_json_str(out, say->len ? say->data : "", say->len);
	ut_out_text(out, ",\"why\":");
	ut_out_json_str(out, why->len ? why->data : "", why->len);
	ut_out_text(out, ",\"tab\":\"" TOOL "\"}");
	ut_buf_release(say);
	ut_buf_release(why);
}

/* "DRAM 4,210 of 4,627 GB/s, FP32 12 of 65,291 GFLOP/s" */
static void put_rates(struct ut_buf *to, const struct ut_roof *r, const struct ut_roof_kernel *k)
{
	for (unsigned int p = UT_ROOF_PARTS; p-- > 0;) {
		if (k->work.done[p] <= 0)
			continue;
		ut_buf_fmt(to, "%s%s ", to->len ? ", " : "", ut_roof_title(&r->device, p));
		ut_roof_say_rate(r, k, p, to);
	}
	if (!to->len)
		ut_buf_text(to, "nothing was counted");
}

static struct ut_out *findings(const struct ut_roof *r)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_buf say = { 0 }, why = { 0 };

	ut_roof_say_all(r, &say);
	if (r->count)
		ut_roof_say_kernel(r, &r->kernels[0], NAME_MOST, &why);
	ut_out_text(out, "[");
	roofline_page_put_finding(out, "", &say, &why);
	for (size_t i = 1; i < r->count && i < SAID; i++) {
		const struct ut_roof_kernel *k = &r->kernels[i];

		ut_roof_say_kernel(r, k, NAME_MOST, &say);
		put_rates(&why, r, k);
		ut_out_text(out, ",");
		roofline_page_put_finding(out, ut_roof_reached(k) < UT_ROOF_NEAR ? "warn" : "",
					  &say, &why);
	}
	ut_out_text(out, "]");
	return out;
}

/* ---- the page ---------------------------------------------------------------------------------
 */

void ut_roofline_page_write(const struct ut_roof *r, struct ut_out *out)
{
	struct ut_view *view = ut_view_new();
	struct ut_out *json = ut_out_open_memory();
	struct ut_arena arena = { 0 };

	ut_view_ready(view, 1);
	ut_roofline_sheet(json, r);
	ut_view_attach(view, TOOL, "Roofline", "findings", findings(r));
	ut_view_attach(view, TOOL, "Roofline", TOOL, json);
	ut_view_describe(
		view, &(struct ut_view_about){ .input = "Roofline",
					       .subtitle = ut_arena_copy(&arena, r->device.name.ptr,
									 r->device.name.len),
					       .first = TOOL,
					       .no_file = true });
	ut_one_page_write(view, UT_PAGE_SLICES, out);
	ut_view_free(view);
	ut_arena_release(&arena);
}
