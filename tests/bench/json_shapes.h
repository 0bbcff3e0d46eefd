/*
 * json_shapes.h - made-up Chrome traces that look like those of real tools, for bench_json.c.
 * Members, order, blanks and kinds of values are those of the tools; names and times are dice.
 */
#ifndef UT_TESTS_BENCH_JSON_SHAPES_H
#define UT_TESTS_BENCH_JSON_SHAPES_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT_OF(list) (sizeof(list) / sizeof(*(list)))

static const char *const names[] = {
	"aten::convolution",
	"aten::linear",
	"zeCommandListAppendLaunchKernel",
	"cudaLaunchKernel",
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
	"at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
	"at::detail::Array<char*, 3>)",
	"gemm_kernel[SIMD32 {8192; 1; 1} {128; 1; 1}]",
	"iteration_3",
	"main::{lambda(auto:1)#4}[SIMD32 {4096; 1; 1} {256; 1; 1}]",
};

static const char *const cats[] = { "cpu_op", "kernel", "cuda_runtime", "user_annotation",
				    "gpu_memcpy" };

static uint32_t dice(uint32_t sides)
{
	static uint64_t state = 7;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % sides;
}

static const char *a_name(void)
{
	return names[dice(COUNT_OF(names))];
}

/* Dense: no blanks, lists as arguments, counters and flows. */
static void put_dense(FILE *f, uint64_t i, double ts)
{
	uint32_t pid = dice(4), tid = dice(8) + 100 * pid;

	if (i % 10 < 7)
		fprintf(f,
			"{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,"
			"\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"External id\":%" PRIu64
			",\"correlation\":%" PRIu64
			",\"Input Dims\":[[%u,3,244,244],[5,3,3,3],[5]],"
			"\"grid\":[%u,1,1],\"block\":[128,1,1]}}",
			a_name(), cats[dice(COUNT_OF(cats))], pid, tid, ts, dice(200000) / 1e3, i,
			i * 3, dice(64), dice(8192));
	else if (i % 10 == 7)
		fprintf(f,
			"{\"ph\":\"C\",\"name\":\"GPU Power\",\"pid\":%u,\"ts\":%.3f,"
			"\"args\":{\"W\":%.2f}}",
			pid, ts, dice(70000) / 1e2);
	else
		fprintf(f,
			"{\"ph\":\"%s,\"id\":%" PRIu64 ",\"name\":\"ac2g\",\"cat\":\"ac2g\","
			"\"pid\":%u,\"tid\":%u,\"ts\":%.3f}",
			i % 10 == 8 ? "s\"" : "f\",\"bp\":\"e\"", i, pid, tid, ts);
}

/* PyTorch's own writer: several lines per event, indented. */
static void put_torch(FILE *f, uint64_t i, double ts)
{
	if (i % 5 < 2)
		fprintf(f,
			"  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": "
			"4711, \"tid\": %u,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n"
			"      \"External id\": %" PRIu64 ",\"Record function id\": 0, \"Concrete "
			"Inputs\": [\"\", \"[%u, 3]\", \"False\"], \"Input type\": [\"float\", "
			"\"ScalarList\", \"Scalar\"], \"Input Strides\": [[%u, 1], [], []], "
			"\"Input Dims\": [[%u, 128], [], []], \"Ev Idx\": %" PRIu64 "\n    }\n  }",
			a_name(), 4711 + dice(3), ts, dice(200000) / 1e3, i, dice(64), dice(64),
			dice(64), i);
	else if (i % 5 == 2)
		fprintf(f,
			"  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
			"\"cudaLaunchKernel\", \"pid\": 4711, \"tid\": 4711,\n    \"ts\": %.3f, "
			"\"dur\": %.3f,\n    \"args\": {\n      \"External id\": %" PRIu64
			", \"cbid\": 211, \"correlation\": %" PRIu64 "\n    }\n  }",
			ts, dice(20000) / 1e3, i, i);
	else if (i % 5 == 3)
		fprintf(f,
			"  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": "
			"0, \"tid\": 7,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      "
			"\"External id\": %" PRIu64 ", \"queued\": 0, \"device\": 0, \"context\": "
			"1,\n      \"stream\": 7, \"correlation\": %" PRIu64
			", \"registers per thread\": %u,\n      \"shared memory\": 0, \"blocks per "
			"SM\": 0.%u,\n      \"warps per SM\": %u.%u,\n      \"grid\": [%u, 1, 1],"
			"\n      \"block\": [128, 1, 1],\n      \"est. achieved occupancy %%\": "
			"%u\n    }\n  }",
			a_name(), ts, dice(200000) / 1e3, i, i, dice(128), dice(999999), dice(64),
			dice(9999), dice(8192), dice(100));
	else
		fprintf(f,
			"  {\n    \"ph\": \"%s\", \"id\": %" PRIu64 ", \"pid\": 0, \"tid\": 7, "
			"\"ts\": %.3f,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  }",
			i % 10 < 5 ? "s" : "f", i, ts, i % 10 < 5 ? "" : ", \"bp\": \"e\"");
}

/* Intel's unitrace: blanks behind colons, six decimals. */
static void put_unitrace(FILE *f, uint64_t i, double ts)
{
	if (i % 4)
		fprintf(f,
			"{\"ph\": \"X\", \"tid\": %u, \"pid\": 31527, \"name\": \"%s\", \"cat\": "
			"\"cpu_op\", \"ts\": %.6f, \"dur\": %.6f, \"id\": 0}",
			31527 + dice(8), a_name(), ts, dice(200000) / 1e3);
	else
		fprintf(f,
			"{\"ph\": \"X\", \"tid\": 7, \"pid\": 4294967295, \"name\": \"%s\", "
			"\"cat\": \"gpu_op\", \"ts\": %.6f, \"dur\": %.6f, \"args\": {\"id\": "
			"\"%" PRIu64 "\"}}",
			a_name(), ts, dice(200000) / 1e3, i);
}

/* flex: pairs of begin and end, each with the same arguments, numbers as text. */
static void put_flex(FILE *f, uint64_t i, double ts)
{
	static char attr[200];
	static uint32_t kernel;

	if (i % 2 == 0) {
		kernel = dice(96);
		snprintf(attr, sizeof(attr),
			 "\"Power\":\"%u\",\"TS1\":\"%u\",\"TS2\":\"%u\",\"TS3\":\"%u\","
			 "\"TS4\":\"%u\",\"TS5\":\"%u\"",
			 dice(UINT32_MAX), dice(UINT32_MAX), dice(UINT32_MAX), dice(UINT32_MAX),
			 dice(UINT32_MAX), dice(UINT32_MAX));
	}
	fprintf(f,
		"{\"attr\":{%s},\"name\":\"addmm_MatMul_%u Cmpt Exec\",\"ph\":\"%c\",\"pid\":0,"
		"\"tid\":2009867741857745393,\"ts\":%.3f}",
		attr, kernel, i % 2 ? 'E' : 'B', ts);
}

/* viztracer: a function call per event, file and line in its name. */
static void put_viztracer(FILE *f, uint64_t i, double ts)
{
	uint32_t n = dice(3000);

	(void)i;
	fprintf(f,
		"{\"pid\":4711,\"tid\":4711,\"ts\":%.3f,\"ph\":\"X\",\"dur\":%.3f,\"name\":"
		"\"method_%u (/usr/lib/python3.11/site-packages/module_%u.py:%u)\",\"cat\":"
		"\"FEE\"}",
		ts, dice(20000) / 1e3, n, n % 50, 7 * n % 1000);
}

/* Reports of Nsight Systems, converted: places are texts. */
static void put_nsight(FILE *f, uint64_t i, double ts)
{
	if (i % 2)
		fprintf(f,
			"{\"name\": \"%s\", \"ph\": \"X\", \"cat\": \"cuda\", \"ts\": %.3f, "
			"\"dur\": %.3f, \"tid\": \"Stream %u\", \"pid\": \"Device 0\", \"args\": "
			"{\"Grid\": \"(%u, 1, 1)\", \"Block\": \"(128, 1, 1)\", \"correlationId\": "
			"%" PRIu64 "}}",
			a_name(), ts, dice(20000) / 1e3, 7 + dice(4), dice(512), i);
	else
		fprintf(f,
			"{\"name\": \"%s\", \"ph\": \"X\", \"cat\": \"nvtx\", \"ts\": %.3f, "
			"\"dur\": %.3f, \"tid\": \"NVTX %u\", \"pid\": \"Device 0\", \"args\": {}}",
			a_name(), ts, dice(20000) / 1e3, 4711 + dice(4));
}

/* What we write ourselves. */
static void put_ours(FILE *f, uint64_t i, double ts)
{
	fprintf(f,
		"{\"ph\":\"X\",\"pid\":6504,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"%s\","
		"\"cat\":\"example.hello\"%s}",
		6504 + dice(8), ts, dice(200000) / 1e3, a_name(),
		i % 4 ? "" : ",\"args\":{\"x, y\":[0,4]}");
}

struct shape {
	const char *name, *before, *after;
	void (*put)(FILE *f, uint64_t i, double ts);
};

static const struct shape shapes[] = {
	{ "dense", "{\"schemaVersion\":1,\"traceEvents\":[\n", "\n]}\n", put_dense },
	{ "torch", "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n", "\n  ]\n}\n", put_torch },
	{ "unitrace", "{ \"traceEvents\":[\n", "\n]}\n", put_unitrace },
	{ "flex", "[\n", "\n]\n", put_flex },
	{ "viztracer", "{\"traceEvents\":[", "],\"viztracer_metadata\":{}}", put_viztracer },
	{ "nsight", "[", "]", put_nsight },
	{ "ours", "{\"traceEvents\":[\n", "\n],\"displayTimeUnit\":\"ns\"}\n", put_ours },
};

#endif
