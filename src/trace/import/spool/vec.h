/*
 * vec.h - a growing array in the importer of recordings.
 */
#ifndef UT_IMPORT_SPOOL_VEC_H
#define UT_IMPORT_SPOOL_VEC_H

#include "base/grow.h"

/* A growing array: items, how many, room for how many. */
#define UT_VEC(type)                                                                               \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count, cap;                                                                 \
	}

#define UT_VEC_PUSH(vec)                                                                           \
	((vec)->items =                                                                            \
		 ut_grow((vec)->items, (vec)->count + 1, &(vec)->cap, sizeof(*(vec)->items)),      \
	 &(vec)->items[(vec)->count++])

#endif
