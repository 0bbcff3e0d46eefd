/*
 * classify.h - what the texts of a trace mean, where nothing else says it: names of processes and
 * tracks that other tools (and older versions of ours) have written, and categories of events.
 *
 * The only place that knows these texts. Torch.profiler, Intel's unitrace, exports of Nsight
 * Systems, our own traces before places were typed.
 */
#ifndef UT_MODEL_CLASSIFY_H
#define UT_MODEL_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/place.h"

/* What a device does. The numbers are those of enum ut_work_kind in unitrace/backend.h. */
enum ut_device_kind {
	UT_DEVICE_KERNEL,
	UT_DEVICE_COPY,
	UT_DEVICE_FILL,
	UT_DEVICE_SYNC,
	UT_DEVICE_OTHER,
};

/* "kernel", "copy", ...; "other" if there is no such kind. */
const char *ut_device_kind_name(uint8_t kind);

/* Of a category: the name of the span tells, ut_classify_work(). */
#define UT_DEVICE_BY_NAME (UT_DEVICE_OTHER + 1)

/* What spans of a category are. */
enum ut_category_use {
	UT_CATEGORY_PLAIN,   /* what the program says about itself */
	UT_CATEGORY_WORK,    /* of a device */
	UT_CATEGORY_CALL,    /* of a runtime */
	UT_CATEGORY_CONTROL, /* when nothing was recorded */
	UT_CATEGORY_TOOL,    /* functions of a language; what a tool says about itself */
};

struct ut_category {
	struct ut_api_id api; /* of calls; NONE = some runtime */
	uint8_t use;          /* enum ut_category_use */
	uint8_t work;         /* enum ut_device_kind, or UT_DEVICE_BY_NAME */
	bool driver;          /* calls below those that the program made */
	bool anywhere;        /* work: also where no device is known */
	bool itself;          /* of a tool: about the tool, not the program */
	bool over_work;       /* of a tool: laid over the work on a device's queue */
};

/* What of Python spans of a category are; NONE: something else. */
enum ut_python_kind {
	UT_PYTHON_NONE,
	UT_PYTHON_FUNCTION,
	UT_PYTHON_LINE,
	UT_PYTHON_C_CALL,
};

enum ut_python_kind ut_classify_python(struct ut_str category);

#define UT_MOST_CALLS 256u /* categories; further ones are not known as calls */

/*
 * Spans of this category are calls of a runtime; said before the first of them. Those that the list
 * in classify.c has need not be said, and are not kept.
 */
void ut_classify_add_calls(struct ut_trace *trace, uint32_t category);

/* By the list of known ones, and by what the trace says itself. */
struct ut_category ut_classify_category(const struct ut_trace *trace, uint32_t category);

/*
 * Does a device work while such a span is on one of its queues? Waits do not count, nor what the
 * program or a tool lays over the work. Categories that nobody knows do: all that such a trace has
 * of a device is its work.
 */
bool ut_classify_is_busy(struct ut_category category, const char *name);

/* What kind of work has this name. */
enum ut_device_kind ut_classify_work(const char *name);

/* Is it a kernel of NCCL's? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" and older spellings. */
bool ut_is_nccl_kernel(struct ut_str name);

/* The api and type of a device from the label that its backend gives it, if they are not known. */
void ut_classify_label(struct ut_process *device, struct ut_str label);

/* Fills in what importers did not know: kinds of processes, roles of tracks, and what goes with
 * them. What is known stays. */
void ut_classify_places(struct ut_trace *trace);

struct ut_store;

/*
 * The same for a whole trace, where what a process holds says more: one of which nobody says what
 * it is, and that holds nothing but work of a device (kernels and copies that name their call), is
 * a device. Every importer's trace goes through here, so ut_is_device() is the one answer.
 */
void ut_classify_store(struct ut_store *store);

#endif
