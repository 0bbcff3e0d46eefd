/* likely.h - which way a branch on a hot path goes nearly always. */
#ifndef UT_BASE_LIKELY_H
#define UT_BASE_LIKELY_H

#define UT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define UT_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
