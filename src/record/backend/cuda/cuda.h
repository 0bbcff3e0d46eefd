/*
 * cuda.h - the CUDA backend, between its files: cuda.c finds CUPTI and starts, calls.c sees
 * the program's calls, work.c takes in what devices did, side.c what the program waited
 * for and how memory moved by itself, nvtx.c what the program marks.
 */
#ifndef UT_BACKEND_CUDA_CUDA_H
#define UT_BACKEND_CUDA_CUDA_H

#include <stdbool.h>

#include "backend/cuda/cupti_abi.h"
#include "unitrace/backend.h"

extern const struct ut_host *ut_cuda_host;
extern struct cupti ut_cupti;

uint32_t ut_cuda_name(const char *text);

/* A function of the driver that the program has loaded; NULL = there is none. */
void *ut_cuda_driver(const char *name);

/* The callback of the subscription: contexts that come and go, and what cuda_measure.h needs. */
void ut_cuda_callback(void *data, uint32_t domain, uint32_t id, const void *info);

/* Is this word in the option cuda.tune? Ways to do without something, for measuring its cost. */
bool ut_cuda_tuned(const char *word);

/* Records of the calls that submit work or wait for it, of no others. False: CUPTI cannot. */
bool ut_cuda_enable_submits(void);

/* Was the call with this number made during a pause? Known for calls that are recorded. */
bool ut_cuda_call_was_off(uint32_t correlation);

/* A call, if the session wants it. One thread at a time. */
void ut_cuda_take_call(const void *record); /* struct cupti_api */

/* The two ends of CUPTI's buffers of records. */
void ut_cuda_give_buffer(uint8_t **buffer, size_t *size, size_t *most_records);
void ut_cuda_take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

/* The name that a stream is shown under, from the next work on it that is recorded. */
void ut_cuda_name_stream(void *stream, const char *name);

/*
 * Records of the pages of managed memory that move and are missed. False: the driver is not ready,
 * try again when it has a context. Everything else that goes wrong is said.
 */
bool ut_cuda_enable_pages(bool last_try);

/* Does the user want to see this kernel, by the name that is shown or by the compiler's? */
bool ut_cuda_wants_kernel(const char *name);

/* The number of a device; 0 = it is not wanted. Any thread. */
uint32_t ut_cuda_device(uint32_t device);

enum ut_cuda_queried {
	UT_CUDA_NOT_QUERIED, /* its record knows its times */
	UT_CUDA_QUERIED,
	UT_CUDA_HELPED, /* a kernel of CUPTI's own, which empties caches for the one that was */
};

/* When a kernel ran that was measured. Any thread. */
enum ut_cuda_queried ut_cuda_query_times(uint32_t correlation, uint32_t name, uint64_t *start,
					 uint64_t *end);
/* Is a kernel being measured now? */
bool ut_cuda_query_busy(void);

/* The number of a row of a device's, for what is no work of a stream's; 0 = none is wanted.
 * Any thread. */
uint32_t ut_cuda_row(uint32_t device, const char *name);

/* What is about memory and waiting (side.c). One thread at a time. */
void ut_cuda_take_context(const void *record); /* struct cupti_context */
void ut_cuda_take_sync(const void *record);    /* struct cupti_sync */
void ut_cuda_take_pages(const void *record);   /* struct cupti_pages */

/* Hands over what is complete; at the end also what CUPTI holds back. */
void ut_cuda_flush(bool all);

#endif
