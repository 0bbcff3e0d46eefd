/*
 * share.h - which part of a list is whose.
 */
#ifndef UT_MPIJOB_SHARE_H
#define UT_MPIJOB_SHARE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Cuts n items of the given sizes into parts that are about equally large and lie one behind the
 * other in the order of the items; part gets [*first, *first + *count). Every part may be empty.
 * Depends on nothing but the arguments, so all ranks find the same.
 */
void ut_share(const uint64_t *sizes, size_t n, unsigned int parts, unsigned int part, size_t *first,
	      size_t *count);

#endif
