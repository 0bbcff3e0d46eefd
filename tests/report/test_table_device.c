/* test_table_device.c - tests src/analysis/report/table_device.h and compat_device.h: layouts that
 * scripts depend on */
#include "report/compat_device.h"
#include "report/table_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/device_summary.h"
#include "analyze/device_table.h"
#include "support/make_device.h"
#include "support/unit.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/table_report.h"

#define CUDA   "DEVICE [Fake] cuda:0 #0"
#define OPENCL "DEVICE [Fake] OpenCL GPU 0000:3a:00.0 #1"

static const struct ut_device_view plain = { 0 }, shaped = { .shapes = true };

struct fixture {
	struct device_maker maker;
	struct ut_out *out;
};

static int make(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	make_device_start(&f.maker);
	f.out = ut_out_open_memory();
	*state = &f;
	return 0;
}

static int release(void **state)
{
	struct fixture *f = *state;

	ut_out_abandon(f->out);
	make_device_release(&f->maker);
	return 0;
}

static void finish(struct fixture *f)
{
	f->maker.trace.first = 1000;
	f->maker.trace.last = 111842982;
	make_device_finish(&f->maker);
}

static void expect(struct fixture *f, const char *text)
{
	size_t len;
	const char *data;

	ut_out_text(f->out, "|");
	data = ut_out_data(f->out, &len);
	assert_int_equal(data[len - 1], '|');
	assert_int_equal(len - 1, strlen(text));
	assert_memory_equal(data, text, len - 1);
}

static void calls(struct fixture *f, const char *api)
{
	make_call(&f->maker, api, &(struct made_work){ .name = "launch", .start = 10, .end = 110 });
	make_call(&f->maker, api,
		  &(struct made_work){ .name = "launch", .start = 200, .end = 401 });
	make_call(&f->maker, api, &(struct made_work){ .name = "wait", .start = 500, .end = 1200 });
}

/* The names are shorter than their title, which does not move them: the original's columns. */
static void host_timing_of_cuda(void **state)
{
	struct fixture *f = *state;

	calls(f, "CUDA");
	finish(f);
	ut_table_host_timing(f->out, &f->maker.log, &plain);
	expect(f,
	       "\n=== API Timing Summary ===\n\n"
	       "             Total Execution Time (ns):            111841982\n"
	       "  Total API Time for CUDA backend (ns):                 1001\n"
	       "\n== CUDA Backend ==\n\n"
	       "Function,        Calls,            Time (ns),      Time (%),         Average (ns),"
	       "             Min (ns),             Max (ns)\n"
	       "  wait,            1,                  700,     69.930069,                  700,"
	       "                  700,                  700\n"
	       "launch,            2,                  301,     30.069929,                  150,"
	       "                  100,                  201\n\n\n");
}

/* What a call is for is known by the devices that the process uses. */
static void host_timing_of_opencl(void **state)
{
	struct fixture *f = *state;

	(void)make_queue(&f->maker, OPENCL, "queue");
	calls(f, "OpenCL");
	finish(f);
	ut_table_host_timing(f->out, &f->maker.log, &plain);
	expect(f, "\n=== API Timing Summary ===\n\n"
		  "             Total Execution Time (ns):            111841982\n"
		  "Total API Time for CL GPU backend (ns):                 1001\n"
		  "\n== CL GPU Backend ==\n\n"
		  "  Function,       Calls,           Time (ns),    Time (%),        Average (ns),"
		  "            Min (ns),            Max (ns)\n"
		  "      wait,           1,                 700,       69.93,                 700,"
		  "                 700,                 700\n"
		  "    launch,           2,                 301,       30.07,                 150,"
		  "                 100,                 201\n\n\n");
}

static void cuda_work(struct fixture *f)
{
	uint32_t queue = make_queue(&f->maker, CUDA, "Stream 7");

	make_work(&f->maker, queue,
		  &(struct made_work){ .name = "GEMM",
				       .start = 5000,
				       .end = 8000,
				       .queued = 2000,
				       .submitted = 4500,
				       .grid = "1x1024x1",
				       .block = "1024",
				       .registers = 128 });
	make_work(&f->maker, queue,
		  &(struct made_work){ .name = "Memcpy HtoD",
				       .cat = "copy",
				       .start = 9000,
				       .end = 10000,
				       .bytes = 4194304 });
}

static void device_timing_of_cuda_and_its_kernels(void **state)
{
	struct fixture *f = *state;

	cuda_work(f);
	finish(f);
	ut_table_device_timing(f->out, &f->maker.log, &plain);
	expect(f, "\n=== Device Timing Summary ===\n\n"
		  "                Total Execution Time (ns):            111841982\n"
		  "  Total Device Time for CUDA backend (ns):                 4000\n"
		  "\n== CUDA Backend ==\n\n"
		  "       Kernel,        Calls,            Time (ns),     Time (%),"
		  "         Average (ns),             Min (ns),             Max (ns)\n"
		  "       \"GEMM\",            1,                 3000,    75.000000,"
		  "                 3000,                 3000,                 3000\n"
		  "\"Memcpy HtoD\",            1,                 1000,    25.000000,"
		  "                 1000,                 1000,                 1000\n"
		  "\n\n=== Kernel Properties ===\n\n"
		  "       Kernel, Compiled, SIMD, Number of Arguments, SLM Per Work Group, Private "
		  "Memory Per Thread, Spill Memory Per Thread, Register File Size Per Thread\n"
		  "       \"GEMM\",  unknown,   32,             unknown,                  0,"
		  "                         0,                 unknown,"
		  "                           128\n\n\n");
}

/* In a file: names are whole, and few blanks before the others. */
static void one_long_name_does_not_move_the_others_away(void **state)
{
	struct fixture *f = *state;
	char name[2001], row[80];
	const char *text;
	size_t len;

	memset(name, 'x', 2000);
	name[2000] = '\0';
	cuda_work(f);
	make_work(&f->maker, make_queue(&f->maker, CUDA, "Stream 8"),
		  &(struct made_work){ .name = name, .start = 20000, .end = 30000 });
	finish(f);
	ut_table_device_timing(f->out, &f->maker.log, &plain);
	ut_out_write(f->out, "", 1);
	text = ut_out_data(f->out, &len);
	assert_non_null(strstr(text, name));
	snprintf(row, sizeof(row), "\n%*s,            1,", (int)UT_CELL_PAD + 2, "\"GEMM\"");
	assert_non_null(strstr(text, row));
}

/* On a terminal: the blanks before short names are no more than a long one may take. */
static void long_names_lose_their_middle_if_asked(void **state)
{
	static const struct ut_device_view narrow = { .name_columns = 7 };
	struct fixture *f = *state;
	const char *text;
	size_t len;

	cuda_work(f);
	finish(f);
	ut_table_device_timing(f->out, &f->maker.log, &narrow);
	ut_out_write(f->out, "", 1);
	text = ut_out_data(f->out, &len);
	assert_non_null(strstr(text, "\n   Kernel,        Calls,"));
	assert_non_null(strstr(text, "\n   \"GEMM\",            1,"));
	assert_non_null(strstr(text, "\n\"Mem…toD\",            1,"));
	assert_non_null(strstr(text, "\n   \"GEMM\",  unknown,   32,"));
}

static void submission_of_cuda(void **state)
{
	struct fixture *f = *state;

	cuda_work(f);
	finish(f);
	ut_table_submission(f->out, &f->maker.log, &shaped);
	expect(f,
	       "\n=== Kernel Submission Summary ===\n\n"
	       "                Total Execution Time (ns):            111841982\n"
	       "  Total Device Time for CUDA backend (ns):                 4000\n"
	       "\n== CUDA Backend ==\n\n"
	       "                                  Kernel,        Calls,          Append (ns),  "
	       "Append (%),          Submit (ns),  Submit (%),         Execute (ns),  Execute "
	       "(%)\n"
	       "\"GEMM[SIMD32 {1; 1024; 1} {1024; 1; 1}]\",            1,                 2500,  "
	       "100.000000,                  500,  100.000000,                 3000,    75.000000\n"
	       "                  \"Memcpy HtoD[4194304]\",            1,                    0,    "
	       "0.000000,                    0,    0.000000,                 1000,    25.000000\n"
	       "\n\n");
}

static void run_often(struct fixture *f, uint32_t queue, const char *name, const uint64_t *lengths)
{
	uint64_t start = 5000;

	for (; *lengths; start += *lengths++)
		make_work(&f->maker, queue,
			  &(struct made_work){
				  .name = name, .start = start, .end = start + *lengths });
}

/* The figures of a run of Intel's tool, and the table that it printed. */
static void device_timing_of_opencl_is_that_of_the_original(void **state)
{
	static const uint64_t gemm[] = { 9633280, 12989120, 10829120, 10829120, 0 };
	static const uint64_t write[] = { 153040, 203600, 174986, 174986, 174986,
					  174986, 174986, 174990, 0 };
	static const uint64_t read[] = { 222400, 240080, 237720, 237720, 0 };
	struct fixture *f = *state;
	uint32_t queue = make_queue(&f->maker, OPENCL, "queue");

	run_often(f, queue, "clEnqueueReadBuffer", read);
	run_often(f, queue, "clEnqueueWriteBuffer", write);
	run_often(f, queue, "GEMM", gemm);
	f->maker.trace.first = 1000;
	f->maker.trace.last = 1000 + 89614076;
	make_device_finish(&f->maker);
	ut_table_device_timing(f->out, &f->maker.log, &plain);
	expect(f, "\n=== Device Timing Summary ===\n\n"
		  "                Total Execution Time (ns):             89614076\n"
		  "Total Device Time for CL GPU backend (ns):             46625120\n"
		  "\n== CL GPU Backend ==\n\n"
		  "              Kernel,       Calls,           Time (ns),    Time (%),"
		  "        Average (ns),            Min (ns),            Max (ns)\n"
		  "                GEMM,           4,            44280640,       94.97,"
		  "            11070160,             9633280,            12989120\n"
		  "clEnqueueWriteBuffer,           8,             1406560,        3.02,"
		  "              175820,              153040,              203600\n"
		  " clEnqueueReadBuffer,           4,              937920,        2.01,"
		  "              234480,              222400,              240080\n"
		  "\n\n");
}

/* Shares as wide as in the other tables of OpenCL, and commas at the ends. */
static void submission_of_opencl(void **state)
{
	struct fixture *f = *state;

	make_work(&f->maker, make_queue(&f->maker, OPENCL, "queue"),
		  &(struct made_work){ .name = "GEMM",
				       .start = 5000,
				       .end = 8000,
				       .queued = 2000,
				       .submitted = 4500 });
	finish(f);
	ut_table_submission(f->out, &f->maker.log, &plain);
	expect(f, "\n=== Kernel Submission Summary ===\n\n"
		  "                Total Execution Time (ns):            111841982\n"
		  "Total Device Time for CL GPU backend (ns):                 3000\n"
		  "\n== CL GPU Backend ==\n\n"
		  "    Kernel,       Calls,         Queued (ns),  Queued (%),         Submit (ns),"
		  "  Submit (%),        Execute (ns), Execute (%),\n"
		  "      GEMM,           1,                2500,      100.00,                 500,"
		  "      100.00,                3000,      100.00,\n\n\n");
}

static void timeline_lines(void **state)
{
	struct fixture *f = *state;
	uint32_t queue;

	cuda_work(f);
	queue = make_queue(&f->maker, OPENCL, "queue");
	make_call(&f->maker, "OpenCL",
		  &(struct made_work){ .name = "clEnqueueNDRangeKernel",
				       .start = 11000,
				       .end = 11500,
				       .correlation = 4 });
	make_work(&f->maker, queue,
		  &(struct made_work){ .name = "GEMM",
				       .start = 12000,
				       .end = 13000,
				       .queued = 11100,
				       .submitted = 11200,
				       .correlation = 4,
				       .grid = "8" });
	finish(f);
	ut_table_device_timeline(f->out, &f->maker.log, 0);
	expect(f,
	       "Thread 0 Device 0 : \"GEMM[SIMD32 {1; 1024; 1} {1024; 1; 1}]\" [ns] 2000 (append)"
	       " 4500 (submit) 5000 (start) 8000 (end)\n"
	       "Thread 0 Device 0 : \"Memcpy HtoD[4194304]\" [ns] 9000 (append) 9000 (submit)"
	       " 9000 (start) 10000 (end)\n"
	       "Thread 7 Device 0x1 : GEMM [ns] 11100 (append) 11200 (submit) 12000 (start)"
	       " 13000 (end)\n");
}

/* An outer call ends after the inner one; with the same end, too. */
static void call_lines_nest(void **state)
{
	struct fixture *f = *state;

	make_call(&f->maker, "CUDA",
		  &(struct made_work){ .name = "outer", .start = 10, .end = 50, .bytes = 3 });
	make_call(&f->maker, "CUDA driver",
		  &(struct made_work){ .name = "inner", .start = 20, .end = 50 });
	make_call(&f->maker, "CUDA", &(struct made_work){ .name = "next", .start = 50, .end = 60 });
	finish(f);
	ut_table_call_log(f->out, &f->maker.log, 0, true, true);
	expect(f, ">>>> [10] <PID:100> <TID:7> outer: bytes = 3\n"
		  ">>>> [20] <PID:100> <TID:7> inner:\n"
		  "<<<< [50] <PID:100> <TID:7> inner [30 ns]\n"
		  "<<<< [50] <PID:100> <TID:7> outer [40 ns]\n"
		  ">>>> [50] <PID:100> <TID:7> next:\n"
		  "<<<< [60] <PID:100> <TID:7> next [10 ns]\n");
}

static void nothing_of_nothing(void **state)
{
	struct fixture *f = *state;

	finish(f);
	ut_table_host_timing(f->out, &f->maker.log, &plain);
	ut_table_device_timing(f->out, &f->maker.log, &shaped);
	ut_table_submission(f->out, &f->maker.log, &plain);
	ut_table_device_timeline(f->out, &f->maker.log, 0);
	ut_table_call_log(f->out, &f->maker.log, 0, false, false);
	expect(f, "");
}

static void rows_for_programs(void **state)
{
	const struct ut_device_rows_view all = { UT_DEVICE_ALL, true, true, false };
	struct fixture *f = *state;

	calls(f, "CUDA");
	cuda_work(f);
	finish(f);
	ut_device_rows_csv(f->out, &f->maker.log, &all);
	expect(f, "table,backend,name,calls,total_ns,average_ns,min_ns,max_ns,append_ns,submit_ns,"
		  "registers,shared_bytes,local_bytes\n"
		  "host,CUDA,\"wait\",1,700,700,700,700,,,,,\n"
		  "host,CUDA,\"launch\",2,301,150,100,201,,,,,\n"
		  "device,CUDA,\"GEMM\",1,3000,3000,3000,3000,2500,500,128,0,0\n"
		  "device,CUDA,\"Memcpy HtoD\",1,1000,1000,1000,1000,0,0,,,\n");
}

static void timeline_for_programs(void **state)
{
	struct fixture *f = *state;

	cuda_work(f);
	finish(f);
	ut_device_timeline_csv(f->out, &f->maker.log, UT_DEVICE_ALL);
	expect(f, "thread,backend,device,name,append_ns,submit_ns,start_ns,end_ns\n"
		  "0,CUDA,0,\"GEMM[SIMD32 {1; 1024; 1} {1024; 1; 1}]\",2000,4500,5000,8000\n"
		  "0,CUDA,0,\"Memcpy HtoD[4194304]\",9000,9000,9000,10000\n");
}

static void one_line_says_what_the_device_waits_for(void **state)
{
	struct fixture *f = *state;
	const struct ut_report_opts json = { .format = UT_REPORT_JSON };
	struct ut_device_summary s;
	const char *data;
	size_t len;

	cuda_work(f);
	finish(f);
	ut_device_summary_make(&s, &f->maker.log);
	ut_device_summary_text(f->out, &f->maker.log, &s, 0);
	ut_device_summary_csv(f->out, &f->maker.log, &s);
	ut_device_print(f->out, &f->maker.log, &s, &json);
	ut_device_summary_release(&s);
	ut_out_text(f->out, "");
	data = ut_out_data(f->out, &len);
	assert_non_null(strstr(data, CUDA ": device-bound: busy 80.0% of the time"));
	assert_non_null(strstr(
		data, "\"verdict\":\"device-bound\",\"run_ns\":111841982,\"window_ns\":5000"));
}

UT_TESTS(table_device)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(host_timing_of_cuda, make, release),
		cmocka_unit_test_setup_teardown(host_timing_of_opencl, make, release),
		cmocka_unit_test_setup_teardown(device_timing_of_cuda_and_its_kernels, make,
						release),
		cmocka_unit_test_setup_teardown(one_long_name_does_not_move_the_others_away, make,
						release),
		cmocka_unit_test_setup_teardown(long_names_lose_their_middle_if_asked, make,
						release),
		cmocka_unit_test_setup_teardown(submission_of_cuda, make, release),
		cmocka_unit_test_setup_teardown(device_timing_of_opencl_is_that_of_the_original,
						make, release),
		cmocka_unit_test_setup_teardown(submission_of_opencl, make, release),
		cmocka_unit_test_setup_teardown(timeline_lines, make, release),
		cmocka_unit_test_setup_teardown(call_lines_nest, make, release),
		cmocka_unit_test_setup_teardown(nothing_of_nothing, make, release),
		cmocka_unit_test_setup_teardown(rows_for_programs, make, release),
		cmocka_unit_test_setup_teardown(timeline_for_programs, make, release),
		cmocka_unit_test_setup_teardown(one_line_says_what_the_device_waits_for, make,
						release),
	};

	return cmocka_run_group_tests_name("report/table_device", tests, NULL, NULL);
}
