/*
 * stream.c - hardware metrics of a device over time (-k), and instructions that wait
 * (--stall-sampling): the device writes a report at every interval, and a thread of ours,
 * unitrace-zet, reads them.
 *
 * A stream has a context of its own, so that it does not end with one of the program's. It is
 * opened when the program makes its first queue on a device. Reports carry times of the device's
 * metrics; each batch is read together with that clock and ours.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/helper_thread.h"
#include "backend/levelzero/ze_measure.h"
#include "backend/levelzero/ze_memory.h"

#define MOST_STREAMS 16u
#define MOST_KERNELS 4096u
#define BATCH        512u /* reports */
#define MOST_RAW     ((size_t)8 << 20)
#define STACK        ((size_t)512 << 10)
#define LEAST_SLEEP  UINT64_C(1000000) /* ns */
#define MOST_SLEEP   UINT64_C(20000000)
#define JOIN_MS      1000u
#define IP_SHIFT     3 /* instructions are counted in units of eight bytes */
#define MOST_AT_END  1000

struct stream {
	struct ut_ze_device *device;
	struct ut_ze_group *group;
	ze_handle context, handle;
	uint32_t row; /* of stalls */
	bool dropped;
	uint8_t *raw;
	size_t room;
	struct zet_value *values;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of opening, and of kernels */
static struct stream streams[MOST_STREAMS];
static _Atomic uint32_t stream_count;
static _Atomic bool ending, runs, ended;

static uint64_t interval(void)
{
	const char *text =
		UT_HOST_HAS(ut_ze.host, option) ? ut_ze.host->option("metrics.interval") : NULL;
	uint64_t ns = text ? strtoull(text, NULL, 10) : 0;

	return ns ? ns : 50000;
}

/* ---- where kernels are --------------------------------------------------------------------- */

static struct {
	uint64_t base;
	uint32_t name;
} kernels[MOST_KERNELS]; /* sorted; under the lock */
static uint32_t kernel_count;

static void stream_add_kernel(uint64_t base, uint32_t name)
{
	uint32_t at = kernel_count;

	while (at && kernels[at - 1].base > base)
		at--;
	if (at && kernels[at - 1].base == base) { /* the place of one that is gone */
		kernels[at - 1].name = name;
		return;
	}
	if (kernel_count == MOST_KERNELS)
		return;
	memmove(&kernels[at + 1], &kernels[at], (kernel_count - at) * sizeof(*kernels));
	kernels[at].base = base;
	kernels[at].name = name;
	kernel_count++;
}

/* The driver says so by a function that has to be asked for. */
void ut_ze_kernel_met(struct ut_ze_kernel *k)
{
	static union {
		void *pointer;
		ze_result (*get)(ze_handle kernel, uint64_t *base);
	} u;
	const struct ut_ze_facts *facts = k ? atomic_load(&k->facts) : NULL;
	uint64_t base = 0;
	uint32_t count = 1;
	ze_handle driver;

	if (!ut_ze.stalls || !facts)
		return;
	pthread_mutex_lock(&lock);
	if (!u.pointer && !UT_ZE(zeDriverGet)(&count, &driver) && count)
		(void)UT_ZE(zeDriverGetExtensionFunctionAddress)(driver, "zexKernelGetBaseAddress",
								 &u.pointer);
	if (u.pointer && !u.get(ut_ze_handle(&k->item), &base) && base)
		stream_add_kernel(base, facts->name);
	pthread_mutex_unlock(&lock);
	if (!u.pointer)
		ut_ze_measure_complain("the driver does not say where kernels are", ZE_SUCCESS);
}

/* ---- reports ------------------------------------------------------------------------------- */

/* What our clock says when the metrics' says 0; false: it is not known. */
static bool read_clock(const struct stream *s, int64_t *zero)
{
	uint64_t before = ut_ze.host->now(), global = 0, metric = 0, after;

	if (!ut_zet()->timestamps || ut_zet()->timestamps(s->group->handle, 1, &global, &metric))
		return false;
	after = ut_ze.host->now();
	*zero = (int64_t)(before + (after - before) / 2) - (int64_t)metric;
	return true;
}

static void stream_send_report(const struct stream *s, const struct zet_value *values, int64_t zero)
{
	const struct ut_ze_group *g = s->group;
	uint64_t took = g->time >= 0 ? ut_zet_integer(&values[g->time]) : interval();
	int64_t begin = zero + (int64_t)ut_zet_integer(&values[g->begin]);
	struct ut_values about = { .flags = UT_VALUES_SAMPLE,
				   .begin = (uint64_t)begin,
				   .end = (uint64_t)begin + took };

	if (begin > 0 && ut_ze.host->was_on(about.begin))
		ut_ze_group_send(g, values, &about);
}

static void send_stalls(const struct stream *s, const struct zet_value *values)
{
	const struct ut_ze_group *g = s->group;
	uint64_t ip = ut_zet_integer(&values[g->ip]) << IP_SHIFT;
	struct ut_sample all[32];
	size_t count = 0;
	uint32_t at = kernel_count, stack;

	while (at && kernels[at - 1].base > ip)
		at--;
	if (!at)
		return;
	stack = ut_ze.host->stack(
		0, ut_ze.host->frame(&(struct ut_code){ .size = sizeof(struct ut_code),
							.function = kernels[at - 1].name,
							.address = ip - kernels[at - 1].base }));
	for (uint32_t i = 0; i < g->seen_count && count < 32; i++) {
		uint64_t weight = ut_zet_integer(&values[g->reported[i]]);

		if (weight)
			all[count++] = (struct ut_sample){ .time = ut_ze.host->now(),
							   .weight = weight,
							   .queue = s->row,
							   .reason = g->names[g->reported[i]],
							   .stack = stack };
	}
	if (count && ut_ze.host->on())
		ut_ze.host->samples(all, count, sizeof(*all));
}

static void print_report(const struct stream *s, uint32_t count, int64_t zero)
{
	if (s->row)
		pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i + s->group->count <= count; i += s->group->count) {
		if (s->row)
			send_stalls(s, &s->values[i]);
		else
			stream_send_report(s, &s->values[i], zero);
	}
	if (s->row)
		pthread_mutex_unlock(&lock);
}

static bool stream_make_room(struct stream *s, size_t size)
{
	if (size <= s->room)
		return true;
	ut_ze_free(s->raw, s->room);
	s->raw = size <= MOST_RAW ? ut_ze_alloc(size) : NULL;
	s->room = s->raw ? size : 0;
	return s->raw;
}

/* Reads a batch; how many reports it had. */
static uint32_t stream_drain(struct stream *s)
{
	size_t size = 0;
	ze_result rc = ut_zet()->stream_read(s->handle, BATCH, &size, NULL);
	uint32_t count;
	int64_t zero = 0;

	if (rc || !size || !stream_make_room(s, size))
		return 0;
	if (!s->row && (s->group->begin < 0 || !read_clock(s, &zero))) {
		ut_ze_measure_complain("the driver does not say what time its reports are of",
				       ZE_SUCCESS);
		return 0;
	}
	rc = ut_zet()->stream_read(s->handle, BATCH, &size, s->raw);
	s->dropped |= rc == ZE_DROPPED_DATA;
	if ((rc && rc != ZE_DROPPED_DATA) || !size)
		return 0;
	count = ut_ze_group_values(s->group, s->raw, size, s->values, BATCH * s->group->count);
	print_report(s, count, zero);
	return count / s->group->count;
}

/* ---- the thread ---------------------------------------------------------------------------- */

static void close_stream(struct stream *s)
{
	for (int i = 0; i < MOST_AT_END && stream_drain(s); i++)
		;
	(void)ut_zet()->stream_close(s->handle);
	(void)ut_zet()->activate(s->context, ut_ze_handle(&s->device->item), 0, NULL);
	(void)UT_ZE(zeContextDestroy)(s->context);
	if (s->dropped)
		ut_ze.host->note("Level Zero: the device's buffer was full for a while and samples "
				 "are missing: a longer --sampling-interval helps");
}

static void *stream_run(void *arg)
{
	uint64_t ns = interval() * 100;
	struct timespec nap = { 0 };

	ns = ns < LEAST_SLEEP ? LEAST_SLEEP : ns > MOST_SLEEP ? MOST_SLEEP : ns;
	nap.tv_nsec = (long)ns;
	while (!atomic_load(&ending)) {
		uint32_t most = 0;

		for (uint32_t i = 0; i < atomic_load(&stream_count); i++) {
			uint32_t n = stream_drain(&streams[i]);

			most = n > most ? n : most;
		}
		if (most < BATCH / 2)
			nanosleep(&nap, NULL);
	}
	for (uint32_t i = 0; i < atomic_load(&stream_count); i++)
		close_stream(&streams[i]);
	atomic_store(&ended, true);
	return arg;
}

/* ---- a device ------------------------------------------------------------------------------ */

static ze_handle make_context(void)
{
	const struct ze_base desc[2] = { { .type = ZE_CONTEXT_DESC } }; /* and its flags, 0 */
	uint32_t count = 1;
	ze_handle driver, context = NULL;

	if (UT_ZE(zeDriverGet)(&count, &driver) || !count ||
	    UT_ZE(zeContextCreate)(driver, desc, (ze_made)&context))
		return NULL;
	return context;
}

static ze_result open_stream(struct stream *s)
{
	struct zet_streamer_desc desc = { .type = ZET_STREAMER_DESC,
					  .notify = BATCH,
					  .period = (uint32_t)interval() };
	ze_result rc = ut_zet()->activate(s->context, ut_ze_handle(&s->device->item), 1,
					  &s->group->handle);

	if (!rc)
		rc = ut_zet()->stream_open(s->context, ut_ze_handle(&s->device->item),
					   s->group->handle, &desc, NULL, &s->handle);
	return rc;
}

static bool stream_prepare(struct stream *s, struct ut_ze_device *d)
{
	const char *name = ut_ze.stalls ? "EuStallSampling" : ut_ze_group_asked();
	ze_result rc;

	s->device = d;
	s->group = ut_ze_group_of(d, name, ZET_TIME_BASED);
	s->values = s->group ? ut_ze_alloc(BATCH * s->group->count * sizeof(*s->values)) : NULL;
	s->context = s->values ? make_context() : NULL;
	if (!s->context)
		return false;
	if (ut_ze.stalls)
		s->row = ut_ze.host->queue(d->id, "Stalls", UT_SIDE_ROW);
	rc = open_stream(s);
	if (!rc)
		return true;
	ut_ze_measure_complain("the device's reports cannot be had", rc);
	(void)UT_ZE(zeContextDestroy)(s->context);
	return false;
}

void ut_ze_stream_device(struct ut_ze_device *d)
{
	static struct ut_ze_device *tried[MOST_STREAMS];
	uint32_t i = 0;

	d = d->root ? d->root : d;
	if ((!ut_ze.sampling && !ut_ze.stalls) || !d->id || !ut_zet() || !ut_zet()->stream_open ||
	    atomic_load(&ending))
		return;
	pthread_mutex_lock(&lock);
	while (i < MOST_STREAMS && tried[i] && tried[i] != d)
		i++;
	if (i < MOST_STREAMS && !tried[i]) {
		uint32_t n = atomic_load(&stream_count);

		tried[i] = d;
		if (stream_prepare(&streams[n], d)) {
			atomic_store(&stream_count, n + 1);
			if (!n && ut_guest_thread("unitrace-zet", STACK, stream_run, NULL))
				atomic_store(&runs, true);
		}
	}
	pthread_mutex_unlock(&lock);
}

/* The end of the process waits for the last reports, not for ever. */
void ut_ze_streams_end(void)
{
	const struct timespec step = { 0, 1000000 };

	if (atomic_exchange(&ending, true) || !atomic_load(&runs))
		return;
	for (uint32_t ms = 0; ms < JOIN_MS && !atomic_load(&ended); ms++)
		nanosleep(&step, NULL);
	if (!atomic_load(&ended))
		ut_ze.host->note(
			"Level Zero: the last samples were not to be had before the end of "
			"the program");
}

/* The device is the parent's. */
void ut_ze_streams_forked(void)
{
	atomic_store(&runs, false);
	atomic_store(&ending, true);
}
