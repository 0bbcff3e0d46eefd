#include "base/crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

struct crew {
	void (*work)(void *ctx);
	void *ctx;
};

size_t ut_crew_size(size_t asked, size_t jobs)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = asked ? asked : cores > 0 ? (size_t)cores : 1;

	threads = threads < jobs ? threads : jobs;
	threads = threads < UT_CREW_MOST ? threads : UT_CREW_MOST;
	return threads ? threads : 1;
}

static void *help(void *arg)
{
	struct crew *crew = arg;

	crew->work(crew->ctx);
	return NULL;
}

void ut_crew_run(size_t threads, void (*work)(void *ctx), void *ctx)
{
	struct crew crew = { work, ctx };
	pthread_t *ids = threads > 1 ? ut_make(threads * sizeof(*ids)) : NULL;
	size_t started = 0;

	while (started + 1 < threads && !pthread_create(&ids[started], NULL, help, &crew))
		started++;
	work(ctx);
	while (started)
		pthread_join(ids[--started], NULL);
	free(ids);
}
