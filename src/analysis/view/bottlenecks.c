#include "view/bottlenecks.h"

#include <math.h>
#include <string.h>

#include "metrics/bottleneck_units.h"
#include "metrics/kernel_facts.h"
#include "model/store.h"
#include "text/out.h"
#include "view/attached.h"
#include "view/view_kernels.h"
#include "view/view_parts.h"

#define MOST_KERNELS 5000u /* of a trace, the first that were launched */

static void bottlenecks_put_text(struct ut_out *out, const char *key, struct ut_str s)
{
	ut_out_fmt(out, "\"%s\":", key);
	ut_out_json_str(out, s.ptr, s.len);
}

static void bottlenecks_put_number(struct ut_out *out, const char *key, double value)
{
	if (isnan(value))
		return;
	ut_out_fmt(out, ",\"%s\":", key);
	ut_out_json_double(out, value);
}

/* [["of the peak of device memory",80.9,"%"], ...] */
static void put_evidence(struct ut_out *out, const struct ut_kernel_variant *k)
{
	const struct ut_kernel_bottleneck *v = k->bottlenecks;

	ut_out_text(out, ",\"evidence\":[");
	for (size_t i = 0; i < v->evidence_count; i++) {
		const struct ut_kernel_fact_info *info = &ut_kernel_fact_info[v->evidence[i]];

		ut_out_fmt(out, "%s[\"%s\",\"%s\",", i ? "," : "", info->key, info->about);
		ut_out_json_double(out, k->facts.value[v->evidence[i]]);
		ut_out_fmt(out, ",\"%s\"]", info->unit);
	}
	ut_out_text(out, "]");
}

static void bottlenecks_put_kernel(struct ut_out *out, const struct ut_kernel_variant *k)
{
	const struct ut_kernel_bottleneck *v = k->bottlenecks;

	ut_out_text(out, "{");
	bottlenecks_put_text(out, "name", k->facts.name);
	bottlenecks_put_number(out, "blocks", k->blocks);
	bottlenecks_put_number(out, "threads", k->threads);
	ut_out_fmt(out, ",\"verdict\":\"%s\",", ut_kernel_rule_key(v->rule));
	bottlenecks_put_text(out, "why", ut_str_of(v->sentence));
	ut_out_text(out, ",");
	bottlenecks_put_text(out, "advice", ut_str_of(v->advice));
	bottlenecks_put_number(out, "loss", v->loss);
	put_evidence(out, k);
	ut_out_text(out, ",\"also\":[");
	for (size_t i = 1; i < k->bottleneck_count; i++) {
		ut_out_text(out, i > 1 ? "," : "");
		ut_out_json_str(out, v[i].sentence, strlen(v[i].sentence));
	}
	ut_out_text(out, "]}");
}

static void bottlenecks_put_trace(struct ut_out *out, struct ut_view *v, size_t trace, bool *any)
{
	const struct ut_kernel_set *set = &ut_view_kernels_take(v, trace)->set;

	for (size_t i = 0; i < set->count && i < MOST_KERNELS; i++) {
		const struct ut_kernel_variant *k = &set->variants[i];

		/* of kernels without any counter there is nothing to say, one by one */
		if (k->bottlenecks->rule == UT_BOUND_UNKNOWN && !ut_unit_busiest(&k->facts))
			continue;
		ut_out_text(out, *any ? "," : ""); /* a sheet is one line */
		bottlenecks_put_kernel(out, k);
		*any = true;
	}
	ut_view_kernels_drop(v, trace);
}

static void bottlenecks_make(struct ut_view *v, struct ut_out *out)
{
	bool any = false;

	ut_out_text(out, "{\"kernels\":[");
	for (size_t i = 0; i < v->trace_count; i++)
		bottlenecks_put_trace(out, v, i, &any);
	ut_out_text(out, "]}");
}

/* Rules are about devices that run grids of blocks. */
static bool has_devices(const struct ut_trace *t)
{
	for (uint32_t i = 0; i < t->process_count; i++) {
		if (ut_is_device(t, i) && !ut_api_traits(t->processes[i].api.api)->own_pages)
			return true;
	}
	return false;
}

void ut_view_attach_bottlenecks(struct ut_view *v)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		if (has_devices(&v->traces[i].store->trace)) {
			ut_view_attach_later(v, "kernels", "Kernels", "verdicts", bottlenecks_make);
			return;
		}
	}
}
