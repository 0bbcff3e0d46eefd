/*
 * thread_start.h - the function that a thread was started with: it tells who wanted the thread,
 * where nobody gave it a name.
 */
#ifndef UT_COLLECT_THREAD_START_H
#define UT_COLLECT_THREAD_START_H

#include <stdint.h>

/*
 * Of the calling thread, from what glibc keeps about it; 0 = unknown, as for the first thread of a
 * program. Asks the kernel whether the memory is there (base/readable.h): ut_writer_may_go_on() has
 * been asked. No lock; errno is kept.
 */
uint64_t ut_thread_start(void);

#endif
