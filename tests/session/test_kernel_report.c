/* test_kernel_report.c - tests src/app/session/kernel_report.h: what is kept of a run to judge it
 * by */
#include "session/kernel_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "model/event.h"
#include "model/trace.h"
#include "support/unit.h"
#include "text/table_report.h"

/* A thread that has tasks, and a device that has kernels. */
struct run {
	struct ut_trace trace;
	uint32_t thread, queue;
};

static void begin(struct run *r)
{
	uint32_t host, device;

	ut_trace_init(&r->trace);
	host = ut_trace_add_process(&r->trace, 7);
	device = ut_trace_add_process(&r->trace, 8);
	r->trace.processes[device].kind = UT_PROCESS_DEVICE;
	r->thread = ut_trace_add_track(&r->trace, host, UT_TRACK_THREAD);
	r->queue = ut_trace_add_track(&r->trace, device, UT_TRACK_THREAD);
}

static void span(struct run *r, struct ut_kernel_report *to, uint32_t track, const char *cat,
		 uint64_t ts)
{
	const struct ut_event e = { .ts = ts,
				    .val = 50000,
				    .name = ut_strtab_intern(&r->trace.strings, "relu", 4),
				    .cat = ut_strtab_intern(&r->trace.strings, cat, strlen(cat)),
				    .track = track,
				    .kind = UT_KIND_SPAN };

	ut_sink_event(&to->sink, &r->trace, &e);
}

/* So many kernels, each with a task and a call around it. */
static void feed(struct ut_kernel_report *k, unsigned int kernels)
{
	struct run r;

	begin(&r);
	for (unsigned int i = 0; i < kernels; i++) {
		span(&r, k, r.thread, "my.tasks", 1000000u * i);
		span(&r, k, r.thread, "CUDA", 1000000u * i + 1);
		span(&r, k, r.queue, "kernel", 1000000u * i + 1000);
	}
	assert_int_equal(k->rows, 2 * kernels < k->most ? 2 * kernels : k->most);
	ut_kernel_report_end(k, &r.trace);
	ut_trace_release(&r.trace);
}

static void tasks_are_not_kept_and_processes_add_up(void **state)
{
	struct ut_kernel_report k;
	struct ut_buf text = { 0 };

	(void)state;
	ut_kernel_report_init(&k);
	feed(&k, 3);
	feed(&k, 4);
	ut_kernel_report_print(&k, &(struct ut_report_opts){ .format = UT_REPORT_CSV }, &text);
	assert_non_null(strstr(text.data, "name,launches,total_ns,share,"));
	assert_non_null(strstr(text.data, "\n\"relu\",7,350000,100.0000,"));
	ut_buf_release(&text);
	ut_kernel_report_release(&k);
}

static void a_run_that_is_too_long_is_reported(void **state)
{
	struct ut_kernel_report k;
	struct ut_buf text = { 0 };

	(void)state;
	ut_kernel_report_init(&k);
	k.most = 100;
	feed(&k, 2000);
	ut_kernel_report_print(&k, &(struct ut_report_opts){ .format = UT_REPORT_CSV }, &text);
	assert_int_equal(text.len, 0);
	ut_kernel_report_print(&k, &(struct ut_report_opts){ 0 }, &text);
	assert_non_null(strstr(text.data, "too much for a summary: 'unitrace kernels' tells it"));
	ut_buf_release(&text);
	ut_kernel_report_release(&k);
}

static void nothing_was_measured(void **state)
{
	struct ut_kernel_report k = { 0 };
	struct ut_buf text = { 0 };

	(void)state;
	ut_kernel_report_print(&k, &(struct ut_report_opts){ 0 }, &text);
	assert_int_equal(text.len, 0);
	ut_kernel_report_release(&k);
}

UT_TESTS(kernel_report)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_not_kept_and_processes_add_up),
		cmocka_unit_test(a_run_that_is_too_long_is_reported),
		cmocka_unit_test(nothing_was_measured),
	};

	return cmocka_run_group_tests_name("session/kernel_report", tests, NULL, NULL);
}
