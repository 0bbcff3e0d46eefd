/*
 * nvtx_ext_abi.h - the part of NVTX's extensions that an injected library uses: that for payloads.
 *
 * Newer parts of NVTX have an entry point of their own in the same library, which is called with a
 * module's functions: InitializeInjectionNvtxExtension(). What is left alone does nothing.
 */
#ifndef UT_BACKEND_CUDA_NVTX_EXT_ABI_H
#define UT_BACKEND_CUDA_NVTX_EXT_ABI_H

#include <stddef.h>
#include <stdint.h>

struct nvtx_segment {
	size_t id, count;
	intptr_t *functions;
};

struct nvtx_extension {
	uint16_t version, size;
	uint16_t module;
	uint16_t compatible;
	size_t segment_count;
	struct nvtx_segment *segments;
	void *export;
	const void *info;
};

#define NVTX_MODULE_PAYLOAD 2u

/* Functions of NVTX_MODULE_PAYLOAD. */
enum nvtx_payload_function {
	NVTX_SCHEMA_REGISTER = 0,
	NVTX_ENUM_REGISTER = 1,
	NVTX_MARK_PAYLOAD = 2,
	NVTX_RANGE_PUSH_PAYLOAD = 3,
	NVTX_RANGE_POP_PAYLOAD = 4,
	NVTX_RANGE_START_PAYLOAD = 5,
	NVTX_RANGE_END_PAYLOAD = 6,
	NVTX_DOMAIN_IS_ENABLED = 7,
};

/* One payload: what lies there is as the schema says, or is of one of the types below. */
struct nvtx_data {
	uint64_t schema;
	size_t size; /* SIZE_MAX: that of the schema */
	const void *bytes;
};

/* type, number, bytes, how it is read; see nvtx_payload.c. */
#define NVTX_TYPE_LIST(X)                                                                          \
	X(CHAR, 1, 1, SIGNED)                                                                      \
	X(UCHAR, 2, 1, UNSIGNED)                                                                   \
	X(SHORT, 3, 2, SIGNED)                                                                     \
	X(USHORT, 4, 2, UNSIGNED)                                                                  \
	X(INT, 5, 4, SIGNED)                                                                       \
	X(UINT, 6, 4, UNSIGNED)                                                                    \
	X(LONG, 7, 8, SIGNED)                                                                      \
	X(ULONG, 8, 8, UNSIGNED)                                                                   \
	X(LONGLONG, 9, 8, SIGNED)                                                                  \
	X(ULONGLONG, 10, 8, UNSIGNED)                                                              \
	X(INT8, 11, 1, SIGNED)                                                                     \
	X(UINT8, 12, 1, UNSIGNED)                                                                  \
	X(INT16, 13, 2, SIGNED)                                                                    \
	X(UINT16, 14, 2, UNSIGNED)                                                                 \
	X(INT32, 15, 4, SIGNED)                                                                    \
	X(UINT32, 16, 4, UNSIGNED)                                                                 \
	X(INT64, 17, 8, SIGNED)                                                                    \
	X(UINT64, 18, 8, UNSIGNED)                                                                 \
	X(FLOAT, 19, 4, REAL)                                                                      \
	X(DOUBLE, 20, 8, REAL)                                                                     \
	X(LONGDOUBLE, 21, 16, SKIPPED)                                                             \
	X(SIZE, 22, 8, UNSIGNED)                                                                   \
	X(ADDRESS, 23, 8, UNSIGNED)                                                                \
	X(WCHAR, 24, 4, SKIPPED)                                                                   \
	X(CHAR8, 25, 1, SKIPPED)                                                                   \
	X(CHAR16, 26, 2, SKIPPED)                                                                  \
	X(CHAR32, 27, 4, SKIPPED)                                                                  \
	X(BYTE, 32, 1, UNSIGNED)                                                                   \
	X(INT128, 33, 16, SKIPPED)                                                                 \
	X(UINT128, 34, 16, SKIPPED)                                                                \
	X(FLOAT16, 42, 2, SKIPPED)                                                                 \
	X(FLOAT32, 43, 4, REAL)                                                                    \
	X(FLOAT64, 44, 8, REAL)                                                                    \
	X(FLOAT128, 45, 16, SKIPPED)                                                               \
	X(BF16, 50, 2, SKIPPED)                                                                    \
	X(TF32, 52, 4, SKIPPED)                                                                    \
	X(CATEGORY, 68, 4, UNSIGNED)                                                               \
	X(COLOR, 69, 4, SKIPPED)                                                                   \
	X(SCOPE, 70, 8, UNSIGNED)                                                                  \
	X(PID32, 71, 4, UNSIGNED)                                                                  \
	X(PID64, 72, 8, UNSIGNED)                                                                  \
	X(TID32, 73, 4, UNSIGNED)                                                                  \
	X(TID64, 74, 8, UNSIGNED)                                                                  \
	X(CSTRING, 75, 8, TEXT)                                                                    \
	X(CSTRING_UTF8, 76, 8, TEXT)                                                               \
	X(CSTRING_UTF16, 77, 8, SKIPPED)                                                           \
	X(CSTRING_UTF32, 78, 8, SKIPPED)                                                           \
	X(REGISTERED, 80, 8, HANDLE)

/* Of struct nvtx_entry. */
enum nvtx_entry_flag {
	NVTX_ENTRY_POINTER = 1 << 1,
	NVTX_ENTRY_ELSEWHERE =
		3 << 2, /* the value is an offset: from the payload's begin, from here */
	NVTX_ENTRY_ARRAY = 7 << 4,
	NVTX_ENTRY_ARRAY_FIXED = 1 << 4, /* of detail elements */
	NVTX_ENTRY_HIDE = 1 << 9,
	NVTX_ENTRY_KIND = 3 << 10,
	NVTX_ENTRY_MESSAGE = 1 << 10,
};

/* A field of a payload. Offset 0 of all but the first: behind the one before. */
struct nvtx_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

/* Which of the attributes of a schema, and of an enumeration, count. */
enum nvtx_schema_known {
	NVTX_SCHEMA_HAS_ALIGN = 1 << 7,
	NVTX_SCHEMA_HAS_ID = 1 << 8,
	NVTX_ENUM_HAS_ID = 1 << 5,
};

enum nvtx_schema_type {
	NVTX_SCHEMA_STATIC = 1,
	NVTX_SCHEMA_DYNAMIC = 2
};

struct nvtx_schema {
	uint64_t known;
	const char *name;
	uint64_t type, flags;
	const struct nvtx_entry *entries;
	size_t entry_count, size, align;
	uint64_t id;
	void *extension;
};

struct nvtx_enum_value {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct nvtx_enum {
	uint64_t known;
	const char *name;
	const struct nvtx_enum_value *values;
	size_t value_count, size;
	uint64_t id;
	void *extension;
};

/* Programs choose numbers from here on; those that a collector gives out begin above. */
#define NVTX_FIRST_OWN_ID   ((uint64_t)1 << 24)
#define NVTX_FIRST_GIVEN_ID ((uint64_t)1 << 32)

_Static_assert(sizeof(struct nvtx_extension) == 40, "as NVTX lays it out");
_Static_assert(sizeof(struct nvtx_entry) == 64 && sizeof(struct nvtx_schema) == 80 &&
		       sizeof(struct nvtx_enum) == 56 && sizeof(struct nvtx_enum_value) == 24,
	       "as NVTX lays them out");

#endif
