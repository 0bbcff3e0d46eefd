/*
 * host_v1.c - backends that were built for version 1 of the contract. Its structs had no size;
 * everything else is as it was, so they record all that they did.
 *
 * The layouts here are those of version 1 and never change.
 */
#include <stddef.h>
#include <string.h>

#include "collect/host_take.h"

struct device_v1 {
	const char *name, *label;
	uint32_t index, reserved;
};

struct work_v1 {
	uint32_t queue, name, kind, thread;
	uint64_t queued, submitted, start, end, correlation;
	const struct ut_fact *facts;
	size_t fact_count;
};

struct host_v1 {
	uint32_t version, size, want, reserved;
	uint64_t (*now)(void);
	int (*on)(void);
	uint32_t (*name)(const char *text, size_t len);
	int (*wants_kernel)(const char *name);
	uint32_t (*device)(const struct device_v1 *device);
	uint32_t (*queue)(uint32_t device, const char *name, uint64_t id);
	void (*call_begin)(uint32_t api, uint32_t name, uint64_t correlation);
	void (*call_end)(uint32_t api, const struct ut_fact *facts, size_t fact_count);
	void (*call)(uint32_t api, const struct work_v1 *call);
	void (*work)(const struct work_v1 *work);
	void (*counter)(uint32_t device, uint32_t name, uint64_t time, double value);
	void (*note)(const char *text);
	const struct ut_zones *zones;
	int (*was_on)(uint64_t time);
};

_Static_assert(sizeof(struct host_v1) == offsetof(struct ut_host, option),
	       "the first part of struct ut_host is that of version 1");

static const struct ut_host *today;

static uint32_t device_v1(const struct device_v1 *d)
{
	return today->device(&(struct ut_device){ .size = sizeof(struct ut_device),
						  .index = d->index,
						  .name = d->name,
						  .label = d->label });
}

static struct ut_work work_of(const struct work_v1 *w)
{
	return (struct ut_work){ .size = sizeof(struct ut_work),
				 .queue = w->queue,
				 .name = w->name,
				 .kind = w->kind,
				 .thread = w->thread,
				 .queued = w->queued,
				 .submitted = w->submitted,
				 .start = w->start,
				 .end = w->end,
				 .correlation = w->correlation,
				 .facts = w->facts,
				 .fact_count = w->fact_count };
}

static void call_v1(uint32_t api, const struct work_v1 *c)
{
	const struct ut_work call = work_of(c);

	today->call(api, &call);
}

static void record_v1(const struct work_v1 *w)
{
	const struct ut_work work = work_of(w);

	today->work(&work);
}

const void *ut_host_v1(const struct ut_host *host)
{
	static struct host_v1 v1;

	today = host;
	memcpy(&v1, host, sizeof(v1)); /* the same up to the structs that have a size today */
	v1.version = 1;
	v1.size = sizeof(v1);
	v1.device = device_v1;
	v1.call = call_v1;
	v1.work = record_v1;
	return &v1;
}
