/*
 * argument.h - what an event, a track or a process says about itself: a key and a typed value.
 */
#ifndef UT_MODEL_ARGUMENT_H
#define UT_MODEL_ARGUMENT_H

#include <stdint.h>

enum ut_arg_type {
	UT_ARG_END,  /* closes a list; a zeroed argument is an empty list */
	UT_ARG_STR,  /* value.str */
	UT_ARG_U64,  /* value.u64 */
	UT_ARG_I64,  /* value.i64 */
	UT_ARG_F64,  /* value.f64 */
	UT_ARG_PTR,  /* value.u64, shown in hex */
	UT_ARG_BOOL, /* value.u64 */
	UT_ARG_JSON, /* value.str: JSON text, no blanks: object, array, null, a huge number */
};

enum ut_arg_flag {
	UT_ARG_ARRAY = 1u << 0, /* one element of an array... */
	UT_ARG_MORE = 1u << 1,  /* ... and the next argument is the next element */
	/*
	 * Of UT_ARG_U64: it is the text of these decimal digits ("0", "4711", never "007"). Traces
	 * have millions of such texts that all differ; as strings they would cost ten times more.
	 */
	UT_ARG_TEXT = 1u << 2,
};

/* One argument, or one element of an array. Lists are contiguous and closed by UT_ARG_END. */
struct ut_arg {
	uint32_t key; /* string id */
	uint8_t type; /* enum ut_arg_type */
	uint8_t flags;
	uint16_t reserved;
	union {
		uint32_t str;
		uint64_t u64;
		int64_t i64;
		double f64;
	} value;
};

_Static_assert(sizeof(struct ut_arg) == 16, "arguments are packed by the million");

#endif
