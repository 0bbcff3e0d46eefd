/*
 * host.c - what the collector does for backends: unitrace/backend.h, the other side of it.
 *
 * Backends are called by their runtimes, on any thread; the rules of hook.h hold here as well.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collect/gate.h"
#include "collect/host_take.h"
#include "collect/intern.h"
#include "collect/number.h"
#include "collect/zones.h"
#include "unitrace/backend.h"
#include "wire/backend_options.h"
#include "wire/clock.h"
#include "wire/control.h"
#include "wire/disk.h"
#include "wire/process.h"
#include "wire/sandbox.h"
#include "wire/text.h"

#define MOST_BACKENDS 8u
#define MOST_DEVICES  64u

static const struct ut_backend *_Atomic backends[MOST_BACKENDS];
static _Atomic uint32_t backend_count;
static _Atomic bool watching; /* for the end of the process */

static uint64_t now(void)
{
	return ut_clock_ns(CLOCK_MONOTONIC);
}

static int on(void)
{
	return ut_gate_passes(&ut_me, UT_CALL_OTHER);
}

static int was_on(uint64_t time)
{
	return ut_gate_was_on(time);
}

/* Does the name hold one of these parts? Each is closed by a NUL, the list by an empty one. */
static bool holds_any(const char *parts, const char *name)
{
	for (; *parts; parts += strlen(parts) + 1) {
		if (strstr(name, parts))
			return true;
	}
	return false;
}

static int wants_kernel(const char *name)
{
	const struct ut_control *c = ut_gate_settings();

	if (!c || !name)
		return 1;
	if (c->include_kernels[0] && !holds_any(c->include_kernels, name))
		return 0;
	return !holds_any(c->exclude_kernels, name);
}

static uint32_t device(const struct ut_device *given)
{
	const struct ut_control *c = ut_gate_settings();
	struct ut_device d;
	uint64_t words[3];
	uint32_t id;

	if (!UT_HOST_TAKE(UT_HOST_DEVICE, &d, given, label) ||
	    (c && c->devices && !(c->devices >> (d.index < 64 ? d.index : 63) & 1)))
		return 0;
	id = ut_number_next();

	words[0] = ut_pack(id, ut_intern_z(d.name));
	words[1] = ut_pack(d.index, ut_intern_z(d.label));
	words[2] = ut_pack(d.api, 0);
	ut_number_define(UT_REC_DEVICE, words, 3, NULL, 0);
	return id;
}

static uint32_t add_queue(uint32_t device_id, const char *name, uint64_t number)
{
	uint32_t id = ut_number_next();
	const uint64_t words[3] = { ut_pack(id, device_id), ut_intern_z(name), number };

	ut_number_define(UT_REC_QUEUE, words, 3, NULL, 0);
	return id;
}

/* The one queue that stands for all of its device. Two threads that come first at once make two. */
static uint32_t only_queue(uint32_t device_id)
{
	static struct {
		_Atomic uint32_t device, queue;
	} known[MOST_DEVICES];
	uint32_t at = 0;

	while (at < MOST_DEVICES - 1 && known[at].device && known[at].device != device_id)
		at++;
	known[at].device = device_id;
	if (!known[at].queue)
		known[at].queue = add_queue(device_id, "all queues", 0);
	return known[at].queue;
}

static uint32_t queue(uint32_t device_id, const char *name, uint64_t number)
{
	const struct ut_control *c = ut_gate_settings();

	if (!device_id)
		return 0;
	return c && c->flags & UT_CONTROL_ONE_QUEUE && number < UT_SIDE_ROW
		       ? only_queue(device_id)
		       : add_queue(device_id, name, number);
}

static void call_begin(uint32_t api, uint32_t name, uint64_t correlation)
{
	const uint64_t words[2] = { ut_pack(api, name), correlation };

	if (ut_gate_passes(&ut_me, UT_CALL_BEGIN))
		ut_tbuf_words(&ut_me, UT_REC_CALL_BEGIN, words, 2);
}

static void call_begin_with(uint32_t api, uint32_t name, uint64_t correlation,
			    const struct ut_fact *facts, size_t fact_count)
{
	const uint64_t words[2] = { ut_pack(api, name), correlation };

	if (ut_gate_passes(&ut_me, UT_CALL_BEGIN))
		ut_host_record(UT_REC_CALL_BEGIN, words, 2, facts, fact_count);
}

static void call_end(uint32_t api, const struct ut_fact *facts, size_t fact_count)
{
	const uint64_t words[1] = { api };

	if (ut_gate_passes(&ut_me, UT_CALL_END))
		ut_host_record(UT_REC_CALL_END, words, 1, facts, fact_count);
}

static void collect_host_call(uint32_t api, const struct ut_work *given)
{
	struct ut_work c;
	uint64_t words[5];

	if (!UT_HOST_TAKE(UT_HOST_WORK, &c, given, fact_count))
		return;
	words[0] = ut_pack(api, c.name);
	words[1] = c.thread;
	words[2] = c.start;
	words[3] = c.end;
	words[4] = c.correlation;
	/* It may be told of after the pause that followed. */
	if (ut_gate_was_on(c.start) && ut_gate_passes(&ut_me, UT_CALL_LATE_END))
		ut_host_record(UT_REC_CALL, words, 5, c.facts, c.fact_count);
}

static void collect_host_work(const struct ut_work *given)
{
	struct ut_work w;
	uint64_t words[7];

	if (!UT_HOST_TAKE(UT_HOST_WORK, &w, given, fact_count))
		return;
	words[0] = ut_pack(w.queue, w.name);
	words[1] = ut_pack(w.kind, w.thread);
	words[2] = w.queued;
	words[3] = w.submitted;
	words[4] = w.start;
	words[5] = w.end;
	words[6] = w.correlation;
	/* Work was submitted while recording was on; it may be told of during a pause. */
	if (w.queue && ut_gate_passes(&ut_me, UT_CALL_LATE_END))
		ut_host_record(UT_REC_WORK, words, 7, w.facts, w.fact_count);
}

static void counter(uint32_t device_id, uint32_t name, uint64_t time, double value)
{
	uint64_t words[3] = { ut_pack(device_id, name), time };

	memcpy(&words[2], &value, sizeof(value));
	if (device_id && ut_gate_passes(&ut_me, UT_CALL_LATE_END))
		ut_tbuf_words(&ut_me, UT_REC_DEVICE_COUNTER, words, 3);
}

static const char *option(const char *key)
{
	const struct ut_control *c = ut_gate_settings();

	return c ? ut_backend_option(c->options, key) : NULL;
}

static void parallel(struct ut_parallel *given)
{
	struct ut_process_job job;
	struct ut_parallel p = { .size = given->size };
	size_t known = given->size < sizeof(p) ? given->size : sizeof(p);

	if (ut_sandbox_closed())
		job = (struct ut_process_job){ .rank = -1 };
	else
		ut_process_job(&job);
	p.rank = job.rank;
	p.ranks = job.ranks;
	p.local = job.local;
	p.job = job.id;
	memcpy(given, &p, known);
}

static void rank(int32_t number, int32_t ranks)
{
	(void)ranks;
	ut_writer_set_rank(number);
}

static int collect_host_keep(const char *name, const void *bytes, size_t size)
{
	int saved = errno, rc = -ENOENT;

	if (ut_gate_passes(&ut_me, UT_CALL_LATE_END) && !ut_sandbox_closed())
		rc = ut_disk_keep(name, bytes, size);
	errno = saved;
	return rc;
}

static int locked_in(void)
{
	return ut_sandbox_closed();
}

static struct ut_host host = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(host),
	.now = now,
	.on = on,
	.name = ut_intern,
	.wants_kernel = wants_kernel,
	.device = device,
	.queue = queue,
	.call_begin = call_begin,
	.call_begin_with = call_begin_with,
	.call_end = call_end,
	.call = collect_host_call,
	.work = collect_host_work,
	.counter = counter,
	.note = ut_host_note,
	.zones = &ut_zones,
	.was_on = was_on,
	.option = option,
	.metrics = ut_host_metrics,
	.values = ut_host_values,
	.frame = ut_host_frame,
	.stack = ut_host_stack,
	.samples = ut_host_samples,
	.message = ut_host_message,
	.parallel = parallel,
	.rank = rank,
	.keep = collect_host_keep,
	.allocated = ut_host_allocated,
	.freed = ut_host_freed,
	.locked_in = locked_in,
};

/* The last chance of every backend, before the runtimes go. */
static void process_ends(void)
{
	uint32_t count = atomic_load(&backend_count);

	for (uint32_t i = 0; i < count && i < MOST_BACKENDS; i++) {
		const struct ut_backend *b = atomic_load(&backends[i]);

		if (b && b->flush)
			b->flush();
		if (b && b->stop)
			b->stop();
	}
}

__attribute__((visibility("default"))) const struct ut_host *
unitrace_join(const struct ut_backend *backend);

/* Says in one line why a backend is not served. */
static void collect_host_refuse(const struct ut_backend *b)
{
	bool named = b->size >= offsetof(struct ut_backend, name) + sizeof(b->name) && b->name;
	char text[300];
	struct ut_text t = ut_text_init(text, sizeof(text));

	ut_text_str(&t, "the backend ");
	ut_text_str(&t, named ? b->name : "?");
	if (b->version > UT_BACKEND_VERSION) {
		ut_text_str(&t, " was built for a newer unitrace and is not used: its contract has "
				"version ");
		ut_text_u64(&t, b->version);
		ut_text_str(&t, ", this collector's ");
		ut_text_u64(&t, UT_BACKEND_VERSION);
	} else {
		ut_text_str(&t, " is damaged and is not used: it says that it has version ");
		ut_text_u64(&t, b->version);
		ut_text_str(&t, " and ");
		ut_text_u64(&t, b->size);
		ut_text_str(&t, " bytes");
	}
	ut_host_note(text);
}

/* All members that we call. */
static bool is_served(const struct ut_backend *b)
{
	return (b->version == UT_BACKEND_VERSION || b->version == 1) &&
	       b->size >= offsetof(struct ut_backend, stop) + sizeof(b->stop);
}

static const struct ut_host *collect_host_join(const struct ut_backend *backend)
{
	const struct ut_host *mine = &host;
	uint32_t at;

	if (!backend || !ut_gate_wake())
		return NULL;
	if (!is_served(backend)) {
		collect_host_refuse(backend);
		return NULL;
	}
	host.want = ut_gate_settings()->want;
	if (backend->version == 1)
		mine = ut_host_v1(&host);
	at = atomic_fetch_add(&backend_count, 1);
	if (at >= MOST_BACKENDS || (backend->start && backend->start(mine)))
		return NULL;
	atomic_store(&backends[at], backend);
	if (!atomic_exchange(&watching, true))
		atexit(process_ends);
	return mine;
}

const struct ut_host *unitrace_join(const struct ut_backend *backend)
{
	int saved = errno;
	const struct ut_host *mine = collect_host_join(backend);

	errno = saved;
	return mine;
}
