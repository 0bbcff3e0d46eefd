/*
 * hook.h - what the functions that the program calls have in common.
 *
 * Rules of a hook: no malloc, no lock, no stdio, no exit; errno is given back as found; any
 * argument may be NULL, any order of calls may come, from any thread or signal handler, before
 * main and after exit.
 */
#ifndef UT_COLLECT_HOOK_H
#define UT_COLLECT_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "collect/gate.h"
#include "collect/intern.h"
#include "itt/abi.h"

/* The calling thread if this call may record, else NULL. */
static inline struct ut_tbuf *ut_hook(void)
{
	return ut_gate_passes(&ut_me, UT_CALL_OTHER) ? &ut_me : NULL;
}

/* The same for a call with a domain: *id is its number. */
static inline struct ut_tbuf *ut_hook_domain(const __itt_domain *domain, uint32_t *id)
{
	*id = ut_domain_id(domain);
	return *id != UT_DOMAIN_UNWANTED ? ut_hook() : NULL;
}

/* The same for a call that ends what has been begun, perhaps before a pause. */
static inline struct ut_tbuf *ut_hook_end(const __itt_domain *domain, uint32_t *id)
{
	*id = ut_domain_id(domain);
	return *id != UT_DOMAIN_UNWANTED && ut_gate_passes(&ut_me, UT_CALL_LATE_END) ? &ut_me
										     : NULL;
}

/* Ids are stored by part (spool.h): words[0], words[step], words[2 * step]. */
static inline void ut_put_id(uint64_t *words, size_t step, const __itt_id *id)
{
	words[0] = id->d1;
	words[step] = id->d2;
	words[2 * step] = id->d3;
}

static inline int ut_id_is_null(const __itt_id *id)
{
	return !(id->d1 | id->d2 | id->d3);
}

/* The number of a clock domain; 0 for NULL: our own clock. */
static inline uint32_t ut_clock_id(const __itt_clock_domain *clock)
{
	return clock && clock->extra1 > 0 ? (uint32_t)clock->extra1 : 0;
}

#endif
