/*
 * helper.h - a thread of ours that looks for complete commands a hundred times a second, so that
 * programs that never look lose nothing when they are killed. It sleeps when there is nothing to
 * do. docs/design/014-opencl-thread.md says why there is one.
 */
#ifndef UT_BACKEND_LEVELZERO_HELPER_H
#define UT_BACKEND_LEVELZERO_HELPER_H

/* Something was submitted: started at the first call. */
void ut_ze_helper_wake(void);

/* Tells what is complete, unless another thread is just doing it, or the driver may be gone. */
void ut_ze_helper_look(void);

/* The process ends: what is still under way gets a moment. Once. */
void ut_ze_helper_end(void);

void ut_ze_helper_forked(void);

#endif
