/*
 * objects.h - handles a program makes before a collector is there.
 *
 * They live in the lists of the copy (src/record/itt/abi.h), where the collector finds and adopts
 * them. Each
 * *_node() returns the node for these names and appends one if there is none; NULL when out of
 * memory. The caller holds the copy's mutex. Nodes stay put until ut_itt_free_nodes().
 */
#ifndef UT_SDK_OBJECTS_H
#define UT_SDK_OBJECTS_H

#include "itt/abi.h"

/* Inside the library only: two programs' copies must not find each other's. */
#pragma GCC visibility push(hidden)

__itt_domain *ut_itt_domain_node(__itt_global *copy, const char *name);
__itt_string_handle *ut_itt_string_node(__itt_global *copy, const char *name);

/* domain may be NULL. Same name and domain but another type is another counter. */
__itt_counter ut_itt_counter_node(__itt_global *copy, const char *name, const char *domain,
				  __itt_metadata_type type);

__itt_histogram *ut_itt_histogram_node(__itt_global *copy, const __itt_domain *domain,
				       const char *name, __itt_metadata_type x_type,
				       __itt_metadata_type y_type);

/* Notes one property of a counter; the first value stays. Properties we cannot copy are dropped. */
void ut_itt_metadata_node(__itt_global *copy, __itt_counter counter,
			  const __itt_context_metadata *metadata);

void ut_itt_free_nodes(__itt_global *copy);

#pragma GCC visibility pop

#endif
