#include "session/kernel_report.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/classify.h"
#include "model/event.h"
#include "model/place.h"
#include "ops/kernel_table.h"
#include "text/out.h"
#include "text/table_report.h"

/* Rows of one process: some 400 MB. Kernels of -q take milliseconds each and never come near. */
#define MOST_ROWS ((uint64_t)12 << 20)

static bool is_device(struct ut_kernel_report *r, const struct ut_trace *trace, uint32_t process)
{
	r->places = ut_grow(r->places, (size_t)process + 1, &r->place_cap, sizeof(*r->places));
	if (!r->places[process])
		r->places[process] = (uint8_t)(1 + ut_is_device(trace, process));
	return r->places[process] == 2;
}

static bool kernel_report_is_call(struct ut_kernel_report *r, const struct ut_trace *trace,
				  uint32_t category)
{
	r->categories = ut_grow(r->categories, (size_t)category + 1, &r->category_cap,
				sizeof(*r->categories));
	if (!r->categories[category]) {
		uint8_t use = ut_classify_category(trace, category).use;

		r->categories[category] =
			(uint8_t)(1 + (use == UT_CATEGORY_CALL || use == UT_CATEGORY_WORK));
	}
	return r->categories[category] == 2;
}

static void forget_process(struct ut_kernel_report *r)
{
	free(r->places);
	free(r->categories);
	r->places = r->categories = NULL;
	r->place_cap = r->category_cap = 0;
	r->rows = 0;
}

/* Tasks, functions and samples of CPUs may be millions, and no rule asks for them. */
static void kernel_report_take(struct ut_sink *sink, const struct ut_trace *trace,
			       const struct ut_event *event)
{
	struct ut_kernel_report *r = (struct ut_kernel_report *)sink;

	if (r->rows >= r->most || (!is_device(r, trace, trace->tracks[event->track].process) &&
				   !kernel_report_is_call(r, trace, event->cat)))
		return;
	r->rows++;
	ut_sink_event(&r->build.sink, trace, event);
}

void ut_kernel_report_init(struct ut_kernel_report *r)
{
	*r = (struct ut_kernel_report){ .sink.event = kernel_report_take,
					.most = MOST_ROWS,
					.begun = true };
	ut_kernel_groups_init(&r->groups, UT_BY_KERNEL);
	ut_build_init(&r->build);
}

void ut_kernel_report_release(struct ut_kernel_report *r)
{
	if (!r->begun)
		return;
	ut_build_abandon(&r->build);
	ut_kernel_groups_release(&r->groups);
	forget_process(r);
	*r = (struct ut_kernel_report){ 0 };
}

void ut_kernel_report_end(struct ut_kernel_report *r, const struct ut_trace *trace)
{
	struct ut_store store;

	if (r->rows >= r->most) {
		r->left = true;
		ut_build_abandon(&r->build);
	} else {
		ut_build_end_trace(&r->build, trace);
		ut_build_finish(&r->build, &store);
		ut_kernel_groups_add(&r->groups, &store);
		ut_store_release(&store);
	}
	forget_process(r);
	ut_build_init(&r->build);
}

void ut_kernel_report_print(struct ut_kernel_report *r, const struct ut_report_opts *opts,
			    struct ut_buf *to)
{
	bool people = opts->format == UT_REPORT_TABLE;
	struct ut_out *out;
	const char *data;
	size_t len;

	if (!r->begun || (!r->groups.group_count && !(r->left && people)))
		return;
	out = ut_out_open_memory();
	ut_out_text(out, to->len ? "\n" : "");
	if (people)
		ut_out_text(out,
			    r->left ? "What kernels are bound by is too much for a summary: "
				      "'unitrace kernels' tells it of the timeline\n"
				    : "What kernels are bound by ('unitrace kernels --by op' or "
				      "'--by line': who launched them)\n\n");
	ut_kernel_groups_finish(&r->groups);
	if (r->groups.group_count)
		ut_kernel_table_print(out, &r->groups, opts);
	data = ut_out_data(out, &len);
	ut_buf_add(to, data, len);
	ut_out_abandon(out);
}
