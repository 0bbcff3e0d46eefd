#include "base/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/grow.h"

#define ASIDE 5 /* of 19: a third of what others get, where they want all of it */

struct pool {
	void (*work)(void *ctx);
	void *ctx;
};

size_t ut_thread_pool_size(size_t asked, size_t jobs)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = asked ? asked : cores > 0 ? (size_t)cores : 1;

	threads = threads < jobs ? threads : jobs;
	threads = threads < UT_THREAD_POOL_MAX ? threads : UT_THREAD_POOL_MAX;
	return threads ? threads : 1;
}

static void *help(void *arg)
{
	struct pool *pool = arg;

	pool->work(pool->ctx);
	return NULL;
}

void ut_thread_pool_run(size_t threads, void (*work)(void *ctx), void *ctx)
{
	struct pool pool = { work, ctx };
	pthread_t *ids = threads > 1 ? ut_make(threads * sizeof(*ids)) : NULL;
	size_t started = 0;

	while (started + 1 < threads && !pthread_create(&ids[started], NULL, help, &pool))
		started++;
	work(ctx);
	while (started)
		pthread_join(ids[--started], NULL);
	free(ids);
}

/* On Linux a priority is a thread's, and handed on to threads that it makes. */
static void *run_background(void *arg)
{
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + ASIDE);
	return help(arg);
}

void ut_thread_pool_run_background(void (*work)(void *ctx), void *ctx)
{
	struct pool pool = { work, ctx };
	pthread_t id;

	if (pthread_create(&id, NULL, run_background, &pool))
		work(ctx);
	else
		pthread_join(id, NULL);
}

struct jobs {
	_Atomic size_t next;
	size_t count;
	void (*job)(void *ctx, size_t i);
	void *ctx;
};

static void do_jobs(void *ctx)
{
	struct jobs *jobs = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&jobs->next, 1)) < jobs->count)
		jobs->job(jobs->ctx, i);
}

void ut_thread_pool_each(size_t threads, size_t count, void (*job)(void *ctx, size_t i), void *ctx)
{
	struct jobs jobs = { .count = count, .job = job, .ctx = ctx };

	ut_thread_pool_run(threads < count ? threads : count, do_jobs, &jobs);
}
