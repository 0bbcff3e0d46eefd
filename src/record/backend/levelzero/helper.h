/* helper.h - the thread of ours that looks for complete commands (backend/helper_thread.h). */
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
