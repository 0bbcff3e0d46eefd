/*
 * cuda.h - the CUDA backend, between its files: cuda.c finds CUPTI and starts, cuda_calls.c sees
 * the program's calls, cuda_work.c takes in what devices did.
 */
#ifndef UT_BACKEND_CUDA_H
#define UT_BACKEND_CUDA_H

#include <stdbool.h>

#include "backend/cupti_abi.h"
#include "unitrace/backend.h"

extern const struct ut_host *ut_cuda_host;
extern struct cupti ut_cupti;

uint32_t ut_cuda_name(const char *text);

/* The callback of the subscription: contexts that go. */
void ut_cuda_callback(void *data, uint32_t domain, uint32_t id, const void *info);

/* A call, if the session wants it. One thread at a time. */
void ut_cuda_take_call(const struct cupti_api *record);

/* The two ends of CUPTI's buffers of records. */
void ut_cuda_give_buffer(uint8_t **buffer, size_t *size, size_t *most_records);
void ut_cuda_take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

/* Hands over what is complete; at the end also what CUPTI holds back. */
void ut_cuda_flush(bool all);

#endif
