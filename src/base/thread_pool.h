/*
 * thread_pool.h - several threads that share one piece of work.
 *
 * Everybody calls work(ctx) once; what is left to do is theirs to divide, usually with an atomic
 * counter in ctx. The caller works as well, and threads that cannot be had are done without: the
 * work is always done when ut_thread_pool_run() returns.
 */
#ifndef UT_BASE_THREAD_POOL_H
#define UT_BASE_THREAD_POOL_H

#include <stddef.h>

#define UT_THREAD_POOL_MAX 256u

/*
 * How many threads to use for jobs that can be done apart: asked, or one per core if that is 0; no
 * more than there are jobs, at least 1 and at most UT_THREAD_POOL_MAX.
 */
size_t ut_thread_pool_size(size_t asked, size_t jobs);

void ut_thread_pool_run(size_t threads, void (*work)(void *ctx), void *ctx);

/*
 * work(ctx) in a thread that steps aside, as do those that it starts: it gets what processors have
 * left over, and little while somebody waits for a short answer. Returns when it is done.
 */
void ut_thread_pool_run_background(void (*work)(void *ctx), void *ctx);

/* Jobs 0 to count - 1, each done once by whoever is free, in any order. */
void ut_thread_pool_each(size_t threads, size_t count, void (*job)(void *ctx, size_t i), void *ctx);

#endif
