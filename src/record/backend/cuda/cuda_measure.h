/*
 * cuda_measure.h - hardware metrics, between the files of the CUDA backend: cuda_measure.c has what
 * all kinds share, query.c measures each kernel (-q), sampling.c the device over time (-k),
 * stalls.c finds instructions that wait (--stall-sampling). -q and --stall-sampling take turns: a
 * kernel that is measured is not sampled. Otherwise at most one of the three is on.
 *
 * CUPTI's own order of calls is kept strictly: what is known to fail, hang or crash otherwise is
 * said where it matters (docs/design/028-cuda-metrics.md).
 */
#ifndef UT_BACKEND_CUDA_CUDA_MEASURE_H
#define UT_BACKEND_CUDA_CUDA_MEASURE_H

#include <pthread.h>
#include <stdbool.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cupti_metrics_abi.h"

extern struct cupti_metrics ut_cupti_metrics;

#define UT_CUDA_MOST_CONTEXTS 32u
#define UT_CUDA_MOST_METRICS  256u

/* Metrics of one chip, ready to be measured. */
struct ut_cuda_metrics {
	const char *names[UT_CUDA_MOST_METRICS]; /* as CUPTI is asked for them */
	size_t count;
	size_t first; /* of those that are told; what is before is for ourselves */
	uint32_t set; /* host->metrics() */
	void *host;
	uint8_t *config;
	size_t config_bytes, passes;
};

/*
 * Chooses those that the chip has of the metrics that the user wants, and describes them to CUPTI
 * and to the host. own is one more, in front, that is not told; NULL = none. For PM sampling only
 * what fits into one pass is taken. False: nothing can be measured, which has been said.
 */
bool ut_cuda_metrics_prepare(struct ut_cuda_metrics *m, enum cupti_profiler_type type,
			     uint32_t device, const uint8_t *availability, const char *own);

/* The values of one range or sample, in the order of the set; false: CUPTI has none. */
bool ut_cuda_metrics_evaluate(const struct ut_cuda_metrics *m, const uint8_t *image, size_t bytes,
			      size_t index, double *values);

/* Hands them over; times, name and correlation are given. */
void ut_cuda_metrics_send(const struct ut_cuda_metrics *m, const double *values,
			  struct ut_values *about);

/* Makes CUPTI's profiler ready; false: said why not. option is what the user asked for. */
bool ut_cuda_metrics_initialize(const char *option, bool has_functions);

/* Says in one line that metrics are missing, why, and how to get them: once in a process. */
void ut_cuda_metrics_complain(const char *what, int result);

/* The same for something that this CUPTI does not have. */
void ut_cuda_metrics_lack(const char *what, const char *since);

/* Which counters there are: an image, the caller's to free; NULL: the user was told. */
uint8_t *ut_cuda_counters(int (*ask)(struct cupti_availability *), struct cupti_availability a);

/* A thread that no signal of the program's finds. */
bool ut_cuda_thread(pthread_t *thread, void *(*run)(void *), const char *name);

/* Waits for it a while, not for ever; false: it is stuck, and left to itself. */
bool ut_cuda_join(pthread_t thread);

/* ---- the three kinds ------------------------------------------------------------------------- */

bool ut_cuda_query_start(void *subscriber);
void ut_cuda_query_call(uint32_t id, const struct cupti_call *call);
void ut_cuda_query_context_ends(void *context);
void ut_cuda_query_stop(void);

void ut_cuda_sampling_context(void *context);
void ut_cuda_sampling_stop(void);

bool ut_cuda_stalls_start(void *subscriber);
void ut_cuda_stalls_context(void *context);
void ut_cuda_stalls_context_ends(void *context);
void ut_cuda_stalls_module(const struct cupti_module *module);
void ut_cuda_stalls_module_ends(void);
void ut_cuda_stalls_stop(void);

/* Counters of a kernel are about to be read, or have been: no samples in between. */
void ut_cuda_stalls_rest(void *context);
void ut_cuda_stalls_go_on(void *context);

#endif
