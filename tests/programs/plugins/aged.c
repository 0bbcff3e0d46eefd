/*
 * A plugin that says another VERSION of the contract than today's, or hands over a struct that is
 * LONGER (by a member of that value) or SHORTER than ours. Compiled by tests/e2e/test_contract.py.
 */
#define _GNU_SOURCE
#define UT_BACKEND_IMPLEMENTATION
#include "unitrace/backend.h"

static const struct ut_host *host;
static uint32_t queue;

struct longer {
	struct ut_work work;
	uint64_t more;
};

static int start(const struct ut_host *h)
{
	host = h;
	queue = h->queue(h->device(&(struct ut_device){ .size = sizeof(struct ut_device),
							.name = "Aged device",
							.label = "a" }),
			 "q", 0);
	return 0;
}

__attribute__((visibility("default"))) const struct ut_backend unitrace_backend = {
	.version = VERSION, .size = sizeof(struct ut_backend), .name = "aged", .start = start
};

__attribute__((visibility("default"))) int unitrace_null_run(uint64_t count)
{
	if (!ut_backend_join(&unitrace_backend))
		return -ENOENT;
	for (uint64_t n = 1; n <= count; n++) {
		struct longer w = { .work = { .size = sizeof(struct ut_work),
					      .queue = queue,
					      .name = host->name("aged work", 9),
					      .start = host->now(),
					      .end = host->now() + 100 } };

#ifdef LONGER
		w.work.size = sizeof(w);
		w.more = LONGER;
#endif
#ifdef SHORTER
		w.work.size = offsetof(struct ut_work, correlation);
#endif
		host->work(&w.work);
	}
	return 0;
}
