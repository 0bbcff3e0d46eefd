#include "base/progress.h"

#include <stdio.h>
#include <time.h>

#include "base/logger.h"
#include "base/size.h"

#define SECOND UINT64_C(1000000000)
#define STEP   (SECOND / 4)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* "3.00 s left"; nothing while there is nothing to guess from, and when it is a matter of moments.
 */
static const char *rest(char *buf, size_t size, double share, uint64_t elapsed_ns)
{
	double left = share > 0 ? (double)elapsed_ns * (1 - share) / share : 0;
	char time[32];

	buf[0] = '\0';
	if (left >= (double)SECOND && left < 1e6 * (double)SECOND)
		snprintf(buf, size, ", %s left",
			 ut_time_text(time, sizeof(time), (uint64_t)left / SECOND * SECOND));
	return buf;
}

const char *ut_progress_text(char *buf, size_t size, const struct ut_progress *p, uint64_t done,
			     uint64_t elapsed_ns)
{
	double share = p->total ? (double)done / (double)p->total : 0;
	char have[32], all[32], rate[32], left[48];

	ut_size_text(have, sizeof(have), done);
	ut_size_text(rate, sizeof(rate),
		     (uint64_t)((double)done * (double)SECOND / (double)(elapsed_ns | 1)));
	if (!p->total || done > p->total) {
		snprintf(buf, size, "unitrace: %s: %s, %s/s", p->label, have, rate);
		return buf;
	}
	ut_size_text(all, sizeof(all), p->total);
	/* Rounded down: 100 % is for the end. */
	snprintf(buf, size, "unitrace: %s: %d %%, %s of %s, %s/s%s", p->label, (int)(100 * share),
		 have, all, rate, rest(left, sizeof(left), share, elapsed_ns));
	return buf;
}

/* True when the work is over. */
static bool wait_until(struct ut_progress *p, uint64_t when)
{
	struct timespec t = { .tv_sec = (time_t)(when / SECOND), .tv_nsec = (long)(when % SECOND) };
	bool stop;

	pthread_mutex_lock(&p->lock);
	while (!p->stop && now_ns() < when)
		pthread_cond_clockwait(&p->wake, &p->lock, CLOCK_MONOTONIC, &t);
	stop = p->stop;
	pthread_mutex_unlock(&p->lock);
	return stop;
}

static void *progress_show(void *ctx)
{
	struct ut_progress *p = ctx;
	uint64_t start = now_ns(), next = start + SECOND;
	char text[160];

	for (; !wait_until(p, next); next = now_ns() + STEP) {
		uint64_t done = atomic_load_explicit(&p->done, memory_order_relaxed);

		ut_logger_state(p->logger,
				ut_progress_text(text, sizeof(text), p, done, now_ns() - start));
	}
	ut_logger_state(p->logger, NULL);
	return NULL;
}

void ut_progress_start(struct ut_progress *p, const struct ut_logger *logger, const char *label,
		       uint64_t total)
{
	*p = (struct ut_progress){ .label = label, .total = total, .logger = logger };
	if (!ut_logger_wants_state(logger))
		return;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	p->running = !pthread_create(&p->thread, NULL, progress_show, p);
}

void ut_progress_done(struct ut_progress *p)
{
	if (!p->running)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	p->running = false;
}
