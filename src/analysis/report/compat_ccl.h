/*
 * compat_ccl.h - what `-r` prints: the oneCCL tasks of one process, in the layout of Intel's
 * unitrace to the byte, because scripts cut its columns.
 */
#ifndef UT_REPORT_COMPAT_CCL_H
#define UT_REPORT_COMPAT_CCL_H

#include <stdint.h>

struct ut_out;
struct ut_summary;

/* The summary is finished and has nothing but such tasks; nothing at all without one. rank -1 =
 * none.
 */
void ut_compat_ccl(struct ut_out *o, const struct ut_summary *s, uint32_t pid, int32_t rank);

#endif
