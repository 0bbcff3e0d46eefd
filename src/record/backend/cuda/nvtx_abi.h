/*
 * nvtx_abi.h - the part of NVTX's binary interface that an injected library uses: numbers and
 * layouts, version 3 (and 2, which is the same here).
 *
 * A program's copy of NVTX loads the library that NVTX_INJECTION64_PATH names and calls its
 * InitializeInjectionNvtx2() with a function that gives out tables. A table of a module holds, by
 * the number of the function, where NVTX keeps the pointer that it calls through.
 */
#ifndef UT_BACKEND_CUDA_NVTX_ABI_H
#define UT_BACKEND_CUDA_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum nvtx_module {
	NVTX_CORE = 1,
	NVTX_CUDA = 2,
	NVTX_CUDART = 4,
	NVTX_CORE2 = 5,
};

/* Of NVTX_CORE. A takes char, W takes wchar_t, Ex takes struct nvtx_attributes. */
enum nvtx_core {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A = 2,
	NVTX_MARK_W = 3,
	NVTX_RANGE_START_EX = 4,
	NVTX_RANGE_START_A = 5,
	NVTX_RANGE_START_W = 6,
	NVTX_RANGE_END = 7,
	NVTX_RANGE_PUSH_EX = 8,
	NVTX_RANGE_PUSH_A = 9,
	NVTX_RANGE_PUSH_W = 10,
	NVTX_RANGE_POP = 11,
	NVTX_NAME_CATEGORY_A = 12,
	NVTX_NAME_CATEGORY_W = 13,
	NVTX_NAME_OS_THREAD_A = 14,
	NVTX_NAME_OS_THREAD_W = 15,
};

/* Of NVTX_CORE2. */
enum nvtx_core2 {
	NVTX_DOMAIN_MARK_EX = 1,
	NVTX_DOMAIN_RANGE_START_EX = 2,
	NVTX_DOMAIN_RANGE_END = 3,
	NVTX_DOMAIN_RANGE_PUSH_EX = 4,
	NVTX_DOMAIN_RANGE_POP = 5,
	NVTX_DOMAIN_NAME_CATEGORY_A = 8,
	NVTX_DOMAIN_NAME_CATEGORY_W = 9,
	NVTX_DOMAIN_REGISTER_STRING_A = 10,
	NVTX_DOMAIN_REGISTER_STRING_W = 11,
	NVTX_DOMAIN_CREATE_A = 12,
	NVTX_DOMAIN_CREATE_W = 13,
};

/* Of NVTX_CUDA and of NVTX_CUDART. */
enum {
	NVTX_NAME_CU_STREAM_A = 5,
	NVTX_NAME_CU_STREAM_W = 6,
	NVTX_NAME_CUDA_STREAM_A = 3,
	NVTX_NAME_CUDA_STREAM_W = 4,
};

enum nvtx_message {
	NVTX_MESSAGE_ASCII = 1,
	NVTX_MESSAGE_WIDE = 2,
	NVTX_MESSAGE_REGISTERED = 3,
};

enum nvtx_payload {
	NVTX_PAYLOAD_U64 = 1,
	NVTX_PAYLOAD_I64 = 2,
	NVTX_PAYLOAD_DOUBLE = 3,
	NVTX_PAYLOAD_U32 = 4,
	NVTX_PAYLOAD_I32 = 5,
	NVTX_PAYLOAD_FLOAT = 6,
};

/* What a range or mark is; size says how much of it the program knows. */
struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type; /* enum nvtx_payload */
	int32_t reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		uint32_t u32;
		int32_t i32;
		float f32;
	} payload;
	int32_t message_type; /* enum nvtx_message */
	union {
		const char *ascii;
		const wchar_t *wide;
		void *registered; /* what registering the string gave */
	} message;
};

_Static_assert(offsetof(struct nvtx_attributes, payload) == 24, "as NVTX lays it out");
_Static_assert(sizeof(struct nvtx_attributes) == 48, "as NVTX lays it out");

/* payload_type of attributes whose payload is the address of struct nvtx_data, reserved their
 * count. */
#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xDFBD0009)

typedef void nvtx_function(void);
typedef nvtx_function **nvtx_slot; /* where NVTX keeps what it calls */

#define NVTX_CALLBACKS 1u /* the table that get_table() gives */

struct nvtx_callbacks {
	size_t size;
	/* 0 = there is no such module */
	int (*module_table)(int module, nvtx_slot **table, unsigned int *count);
};

typedef const void *nvtx_get_table(uint32_t table);

#endif
