/*
 * rate.h - how many of the allocations are looked at: as many as it takes for good estimates, and
 * no more than a small share of a CPU's time allows.
 *
 * Of 2^bits bytes one is looked at. It begins with few bits, so that small programs are seen nearly
 * whole. With every LIVE blocks that are recorded and live at a time, one bit more is enough for
 * the next ones: what was there before keeps its own. Where recording takes more than its share of
 * the time, there is one bit more as well, and one less when it takes much less.
 *
 * Any thread; no lock.
 */
#ifndef UT_BACKEND_MEMORY_RATE_H
#define UT_BACKEND_MEMORY_RATE_H

#include <stdint.h>

#define UT_RATE_LEAST 10u /* bits */
#define UT_RATE_MOST  30u

/* bits 0 = as above; otherwise it stays what it is. */
void ut_rate_init(uint32_t bits, uint64_t now);

/* For the next draw. */
uint32_t ut_rate_bits(void);

/* Another allocation was recorded, which took so long; now and live: the time (ns), and how many
 * recorded blocks are live. */
void ut_rate_spent(uint64_t ns, uint64_t now, uint64_t live);

#endif
