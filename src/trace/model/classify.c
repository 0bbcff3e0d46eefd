#include "model/classify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/trace.h"

/* ---- categories ---------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t use, work, api;
	bool driver, anywhere, itself, over_work;
} categories[] = {
#define WORK(name, kind, anywhere)                                                                 \
	{                                                                                          \
		name, UT_CATEGORY_WORK, kind, UT_API_NONE, false, anywhere, false, false           \
	}
#define CALL(name, api, driver)                                                                    \
	{                                                                                          \
		name, UT_CATEGORY_CALL, 0, api, driver, true, false, false                         \
	}
#define TOOL(name, itself, over_work)                                                              \
	{                                                                                          \
		name, UT_CATEGORY_TOOL, 0, UT_API_NONE, false, true, itself, over_work             \
	}
	WORK("kernel", UT_DEVICE_KERNEL, true),
	WORK("copy", UT_DEVICE_COPY, false),
	WORK("fill", UT_DEVICE_FILL, false),
	WORK("sync", UT_DEVICE_SYNC, false),
	WORK("other", UT_DEVICE_OTHER, false),
	WORK("gpu_op", UT_DEVICE_BY_NAME, false), /* Intel's unitrace */
	WORK("gpu_memcpy", UT_DEVICE_COPY, true), /* torch.profiler */
	WORK("gpu_memset", UT_DEVICE_FILL, true),
	CALL("CUDA", UT_API_CUDA, false),
	CALL("cuda_runtime", UT_API_CUDA, false),
	CALL("CUDA driver", UT_API_CUDA, true),
	CALL("cuda_driver", UT_API_CUDA, true),
	CALL("xpu_runtime", UT_API_NONE, false),
	CALL("privateuse1_runtime", UT_API_NONE, false),
	CALL("OpenCL", UT_API_OPENCL, false),
	CALL("Level Zero", UT_API_LEVEL_ZERO, false),
	CALL("MPI", UT_API_MPI, false),
	CALL("NCCL", UT_API_NCCL, false),
	CALL("NULL", UT_API_DUMMY, false),
	{ "control", UT_CATEGORY_CONTROL, 0, UT_API_NONE, false, true, false, false },
	TOOL("gpu_user_annotation", false, true),
	TOOL("cuda_sync", false, true), /* torch.profiler: waits, on the rows of streams */
	TOOL("privateuse1_driver", false, false),
	TOOL("python_function", false, false),
	TOOL("Python", false, false),
	TOOL("Python line", false, false),
	TOOL("Python C call", false, false),
	TOOL("Trace", true, false),
	TOOL("overhead", true, false),
#undef WORK
#undef CALL
#undef TOOL
};

struct ut_category ut_classify_category(const struct ut_trace *trace, uint32_t category)
{
	const char *text = ut_strtab_get(&trace->strings, category).ptr;
	struct ut_category found = { .use = UT_CATEGORY_PLAIN };

	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		if (strcmp(text, categories[i].name) != 0)
			continue;
		return (struct ut_category){ .use = categories[i].use,
					     .work = categories[i].work,
					     .api.api = categories[i].api,
					     .driver = categories[i].driver,
					     .anywhere = categories[i].anywhere,
					     .itself = categories[i].itself,
					     .over_work = categories[i].over_work };
	}
	for (size_t i = 0; i < trace->call_count; i++) {
		if (trace->calls[i] != category)
			continue;
		found.use = UT_CATEGORY_CALL;
		found.anywhere = true;
		found.api.api = (uint8_t)ut_api_titled(ut_strtab_get(&trace->strings, category));
		if (found.api.api == UT_API_NONE)
			found.api = (struct ut_api_id){ .api = UT_API_OTHER, .text = category };
	}
	return found;
}

enum ut_python_kind ut_classify_python(struct ut_str category)
{
	static const struct {
		const char *name;
		enum ut_python_kind python;
	} known[] = {
		{ "Python", UT_PYTHON_FUNCTION },
		{ "python_function", UT_PYTHON_FUNCTION }, /* torch.profiler */
		{ "Python line", UT_PYTHON_LINE },
		{ "Python C call", UT_PYTHON_C_CALL },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (ut_str_is(category, known[i].name))
			return known[i].python;
	}
	return UT_PYTHON_NONE;
}

void ut_classify_add_calls(struct ut_trace *t, uint32_t category)
{
	if (!category || t->call_count == UT_MOST_CALLS ||
	    ut_classify_category(t, category).use == UT_CATEGORY_CALL)
		return;
	if (!t->calls)
		t->calls = UT_NEW_N(&t->arena, uint32_t, UT_MOST_CALLS);
	t->calls[t->call_count++] = category;
}

const char *ut_device_kind_name(uint8_t kind)
{
	static const char *const names[] = { [UT_DEVICE_KERNEL] = "kernel",
					     [UT_DEVICE_COPY] = "copy",
					     [UT_DEVICE_FILL] = "fill",
					     [UT_DEVICE_SYNC] = "sync",
					     [UT_DEVICE_OTHER] = "other" };

	return names[kind < UT_DEVICE_OTHER ? kind : UT_DEVICE_OTHER];
}

/* Intel's tool has one category for all work: its names are those of the calls. */
enum ut_device_kind ut_classify_work(const char *name)
{
	static const struct {
		const char *part;
		enum ut_device_kind kind;
	} signs[] = {
		{ "MemoryFill", UT_DEVICE_FILL },       { "clEnqueueFill", UT_DEVICE_FILL },
		{ "MemoryCopy", UT_DEVICE_COPY },       { "clEnqueueRead", UT_DEVICE_COPY },
		{ "clEnqueueWrite", UT_DEVICE_COPY },   { "clEnqueueCopy", UT_DEVICE_COPY },
		{ "clEnqueueMap", UT_DEVICE_COPY },     { "clEnqueueUnmap", UT_DEVICE_COPY },
		{ "clEnqueueSVMMem", UT_DEVICE_COPY },  { "AppendBarrier", UT_DEVICE_SYNC },
		{ "clEnqueueBarrier", UT_DEVICE_SYNC }, { "clEnqueueMarker", UT_DEVICE_SYNC },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (strstr(name, signs[i].part))
			return signs[i].kind;
	}
	return UT_DEVICE_KERNEL;
}

bool ut_classify_is_busy(struct ut_category category, const char *name)
{
	if (category.use != UT_CATEGORY_WORK)
		return category.use == UT_CATEGORY_PLAIN;
	if (category.work == UT_DEVICE_BY_NAME)
		return ut_classify_work(name) != UT_DEVICE_SYNC;
	return category.work != UT_DEVICE_SYNC;
}

bool ut_is_nccl_kernel(struct ut_str name)
{
	static const char *const starts[] = { "ncclDevKernel", "ncclKernel", "ncclSymkDevKernel_",
					      "ncclSymDevKernel_", "rcclDevKernel_" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (ut_str_has_start(name, starts[i]))
			return true;
	}
	return false;
}

/* ---- devices ------------------------------------------------------------------------------- */

/* "OpenCL GPU 0000:3a:00.0", "cuda:0 GPU-1a2b3c4d", "null" */
void ut_classify_label(struct ut_process *device, struct ut_str label)
{
	if (device->api.api == UT_API_NONE)
		device->api.api = (uint8_t)ut_api_starting(label);
	if (device->api.api != UT_API_OPENCL || device->device_type != UT_DEVICE_TYPE_UNKNOWN)
		return;
	if (ut_str_starts(label.ptr, "OpenCL CPU"))
		device->device_type = UT_DEVICE_TYPE_CPU;
	else if (ut_str_starts(label.ptr, "OpenCL GPU"))
		device->device_type = UT_DEVICE_TYPE_GPU;
}

/* "... #3", "... #3.1"; without it, the process is the number. */
static void number_device(struct ut_process *p, const char *name)
{
	const char *sign = strrchr(name, '#');
	char *end;

	p->device = (int32_t)(sign ? strtoul(sign + 1, &end, 10) : p->pid);
	if (sign && *end == '.' && end[1] >= '0' && end[1] <= '9')
		p->sub_device = (int32_t)strtoul(end + 1, NULL, 10);
}

/* "DEVICE [NAME] LABEL #0" of ours, "DEVICE<HOST>[NAME] 0:3a:0.0 #0" of Intel's tool. */
static void take_device(struct ut_trace *t, struct ut_process *p)
{
	const char *name = ut_strtab_get(&t->strings, p->name).ptr;
	const char *open = strchr(name, '['), *close = open ? strchr(open, ']') : NULL;
	const char *label = NULL;

	p->kind = UT_PROCESS_DEVICE;
	number_device(p, name);
	for (const char *at = close; at; at = strstr(at + 1, "] "))
		label = at + 1 + (at[1] == ' ');
	if (label)
		ut_classify_label(p, (struct ut_str){ label, strlen(label) });
	if (p->api.api == UT_API_NONE && ut_str_starts(name, "DEVICE<"))
		p->api.api = UT_API_LEVEL_ZERO;
	if (close)
		p->model = ut_strtab_intern(&t->strings, open + 1, (size_t)(close - open) - 1);
}

/* The number behind a text that begins so and holds nothing else; -1 = it does not. */
static int32_t number_after(struct ut_str s, const char *start, const char *end)
{
	size_t i = strlen(start);
	int32_t number = 0;

	if (s.len <= i + strlen(end) || s.len > i + strlen(end) + 6 || memcmp(s.ptr, start, i) != 0)
		return -1;
	for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++)
		number = number * 10 + (s.ptr[i] - '0');
	return s.len - i == strlen(end) && !memcmp(s.ptr + i, end, strlen(end)) ? number : -1;
}

/* Torch.profiler calls all processes like the program and labels them: {"labels":"GPU 0"}. */
static bool take_torch_device(struct ut_trace *t, struct ut_process *p)
{
	static const char start[] = "{\"labels\":\"", end[] = "\"}";

	for (const struct ut_arg *a = &t->args[p->args]; a->type != UT_ARG_END; a++) {
		struct ut_str label;
		int32_t number;

		if (a->type != UT_ARG_JSON ||
		    strcmp(ut_strtab_get(&t->strings, a->key).ptr, "process_labels") != 0)
			continue;
		label = ut_strtab_get(&t->strings, a->value.str);
		number = number_after(label, "{\"labels\":\"GPU ", end);
		if (number < 0)
			continue;
		p->kind = UT_PROCESS_DEVICE;
		p->device_type = UT_DEVICE_TYPE_GPU;
		p->api.api = UT_API_CUDA;
		p->device = number;
		p->title = ut_strtab_intern(&t->strings, label.ptr + strlen(start),
					    label.len - strlen(start) - strlen(end));
		return true;
	}
	return false;
}

/* "cuda:0": as PyTorch calls devices, and those who write traces of their own beside it. */
static bool take_named_device(const struct ut_trace *t, struct ut_process *p)
{
	struct ut_str name = ut_strtab_get(&t->strings, p->name);

	for (unsigned int i = 0; i < UT_APIS; i++) {
		const char *torch = ut_api_traits(i)->torch;
		char start[32];
		int32_t number;

		if (!torch)
			continue;
		snprintf(start, sizeof(start), "%s:", torch);
		number = number_after(name, start, "");
		if (number < 0)
			continue;
		p->kind = UT_PROCESS_DEVICE;
		p->device_type = UT_DEVICE_TYPE_GPU;
		p->api.api = (uint8_t)i;
		p->device = number;
		return true;
	}
	return false;
}

/*
 * Exports of Nsight Systems have no processes: "Device 0" holds the device's streams and the
 * threads that used it. Torch.profiler and Intel's tool have some for what belongs nowhere.
 */
static void take_other(const struct ut_trace *t, struct ut_process *p)
{
	static const char *const others[] = { "\"Spans\"", "\"Traces\"", "\"Trace\"" };
	struct ut_str id = ut_strtab_get(&t->strings, p->pid_text);
	int32_t device = number_after(id, "\"Device ", "\"");

	p->kind = UT_PROCESS_PROGRAM;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (!strcmp(id.ptr, others[i]))
			p->kind = UT_PROCESS_OTHER;
	}
	if (device >= 0) {
		p->kind = UT_PROCESS_OTHER;
		p->api.api = UT_API_CUDA;
		p->device = device;
	}
	if (ut_str_starts(ut_strtab_get(&t->strings, p->name).ptr, "HOST-OS-KMD<"))
		p->kind = UT_PROCESS_OTHER;
}

static void take_process(struct ut_trace *t, struct ut_process *p)
{
	if (p->kind != UT_PROCESS_UNKNOWN)
		return;
	p->guessed = true;
	if (ut_str_starts(ut_strtab_get(&t->strings, p->name).ptr, "DEVICE"))
		take_device(t, p);
	else if (!take_torch_device(t, p) && !take_named_device(t, p))
		take_other(t, p);
}

/* ---- tracks -------------------------------------------------------------------------------- */

/* "CUDA calls of thread 123 (2)" */
static bool take_calls(struct ut_trace *t, struct ut_track *k)
{
	static const char sign[] = "calls of thread ";
	struct ut_str name = ut_strtab_get(&t->strings, k->name);
	const char *at = strstr(name.ptr, sign);

	if (!at)
		return false;
	k->role = UT_ROLE_CALLS;
	k->thread = (uint32_t)strtoul(at + strlen(sign), NULL, 10);
	k->api.api = (uint8_t)ut_api_starting(name);
	if (k->api.api == UT_API_NONE && at > name.ptr)
		k->api = ut_api_called(&t->strings,
				       (struct ut_str){ name.ptr, (size_t)(at - name.ptr) - 1 });
	return true;
}

/* Rows of the CUDA backend's beside its streams. */
static bool is_beside_queues(const char *name)
{
	return ut_str_starts(name, "Overhead") || ut_str_starts(name, "Waits of the host") ||
	       ut_str_starts(name, "Unified memory");
}

static void take_track(struct ut_trace *t, struct ut_track *k)
{
	const char *name = ut_strtab_get(&t->strings, k->name).ptr;

	if (k->role != UT_ROLE_UNKNOWN || (k->type != UT_TRACK_THREAD && k->type != UT_TRACK_LANE))
		return;
	if (t->processes[k->process].kind == UT_PROCESS_DEVICE)
		k->role = is_beside_queues(name) ? UT_ROLE_SIDE : UT_ROLE_QUEUE;
	else if (!take_calls(t, k) && !strcmp(name, "Control"))
		k->role = UT_ROLE_CONTROL;
	k->guessed = k->role != UT_ROLE_UNKNOWN;
}

void ut_classify_places(struct ut_trace *t)
{
	for (size_t i = 0; i < t->process_count; i++)
		take_process(t, &t->processes[i]);
	for (size_t i = 0; i < t->track_count; i++)
		take_track(t, &t->tracks[i]);
}
