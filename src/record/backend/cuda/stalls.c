/*
 * stalls.c - instructions that wait, and what for: CUPTI's PC sampling. Every so many cycles the
 * device notes where a warp of each multiprocessor stands and why it does not go on; CUPTI counts
 * these samples by instruction and reason, and a thread of ours takes them over once a second.
 *
 * Each context is enabled first and asked for its reasons afterwards: the other way round is
 * refused. The code of every module is kept beside the recording: assembly and lines of source are
 * found there after the run.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/cuda_measure.h"

#define MOST_REASONS   64u
#define MOST_PCS       16384u /* taken over at once */
#define SCRATCH_BYTES  (16u << 20)
#define HARDWARE_BYTES (256u << 20)
#define STEP_MS        100
#define STEPS          10   /* once a second */
#define ASSUMED_MHZ    1800 /* of a device; the period is a power of two anyway */

static const char prefix[] = "smsp__pcsamp_warps_issue_stalled_", not_issued[] = "_not_issued";

/* A reason of CUPTI's: of each there is one for all samples, and one for those of them in which
 * the scheduler issued nothing at all. */
struct reason {
	uint32_t index; /* CUPTI's */
	uint32_t name;  /* host's; 0 = it is no reason */
	bool idle;      /* the second kind */
};

struct context {
	void *context;
	uint32_t device;
	bool on, failed;
	bool rests; /* while counters are read */
	struct reason reasons[MOST_REASONS];
	uint32_t indices[MOST_REASONS];
	size_t reason_count;
	struct cupti_pc_data own, last; /* taken over; what CUPTI puts there in the end */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context contexts[UT_CUDA_MOST_CONTEXTS];
static size_t context_count;
static _Atomic bool ending;
static bool has_thread;
static pthread_t thread;
static uint32_t issued_name, idle_name;
static uint64_t lost;

/* ---- samples --------------------------------------------------------------------------------- */

static const struct reason *reason_of(const struct context *c, uint32_t index)
{
	for (size_t i = 0; i < c->reason_count; i++) {
		if (c->reasons[i].index == index)
			return &c->reasons[i];
	}
	return NULL;
}

static uint32_t module_name(uint64_t crc)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%016" PRIx64 ".cubin", crc);

	return ut_cuda_host->name(text, (size_t)len);
}

static uint32_t stalls_stack_of(const struct cupti_pc *pc)
{
	struct ut_code place = { .size = sizeof(place),
				 .function = ut_cuda_name(pc->function ? pc->function : "kernel"),
				 .address = pc->offset,
				 .module = module_name(pc->crc) };

	return ut_cuda_host->stack(0, ut_cuda_host->frame(&place));
}

/* Samples of one reason at one instruction: those of them in which nothing was issued are counted
 * by themselves, so that each is told once. */
static void send_reason(uint32_t name, uint64_t all, uint64_t idle, struct ut_sample *s)
{
	struct ut_sample two[2];
	size_t n = 0;

	s->reason = name;
	idle = idle < all ? idle : all;
	if (all > idle) {
		two[n] = *s;
		two[n].source = issued_name;
		two[n++].weight = all - idle;
	}
	if (idle) {
		two[n] = *s;
		two[n].source = idle_name;
		two[n++].weight = idle;
	}
	if (n)
		ut_cuda_host->samples(two, n, sizeof(*two));
}

static void send_pc(const struct context *c, const struct cupti_pc *pc, struct ut_sample *s)
{
	struct {
		uint32_t name;
		uint64_t all, idle;
	} sums[MOST_REASONS];
	size_t count = 0;

	for (size_t i = 0; i < pc->reason_count; i++) {
		const struct reason *r = reason_of(c, pc->reasons[i].index);
		size_t at = 0;

		if (!r || !r->name || !pc->reasons[i].samples)
			continue;
		while (at < count && sums[at].name != r->name)
			at++;
		if (at == count) {
			sums[count].name = r->name;
			sums[count].all = sums[count].idle = 0;
			count++;
		}
		*(r->idle ? &sums[at].idle : &sums[at].all) += pc->reasons[i].samples;
	}
	s->stack = count ? stalls_stack_of(pc) : 0;
	for (size_t i = 0; i < count; i++)
		send_reason(sums[i].name, sums[i].all, sums[i].idle, s);
}

static void stalls_take(struct context *c, struct cupti_pc_data *data)
{
	struct ut_sample s = { .time = ut_cuda_host->now(),
			       .queue = ut_cuda_row(c->device, "Stalls") };

	for (size_t i = 0; i < data->count; i++)
		send_pc(c, &data->pcs[i], &s);
	lost += data->dropped;
	data->count = 0;
	data->dropped = data->samples = 0;
}

static void stalls_collect(struct context *c)
{
	size_t before;

	do {
		int rc = ut_cupti_metrics.PCSamplingGetData(
			/* a pointer, NOLINTNEXTLINE(bugprone-sizeof-expression) */
			&CUPTI_PARAMS(cupti_pc_get, data, .context = c->context, .data = &c->own));

		before = c->own.count;
		stalls_take(c, &c->own);
		if (rc == CUPTI_NO_ROOM && !c->failed) {
			c->failed = true;
			ut_cuda_host->note(
				"--stall-sampling: the device's buffer was full, samples "
				"are missing: a longer --sampling-interval helps");
		}
	} while (c->own.remaining && before);
}

static void stalls_finish(struct context *c)
{
	if (!c->on)
		return;
	c->on = false;
	stalls_collect(c);
	(void)ut_cupti_metrics.PCSamplingDisable(
		&CUPTI_PARAMS(cupti_pc_context, context, .context = c->context));
	stalls_take(c, &c->last);
}

static void *stalls_run(void *arg)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };

	(void)arg;
	for (unsigned int n = 1; !atomic_load(&ending); n++) {
		nanosleep(&step, NULL);
		if (n % STEPS)
			continue;
		pthread_mutex_lock(&lock);
		for (size_t i = 0; i < context_count && !atomic_load(&ending); i++) {
			if (contexts[i].on)
				stalls_collect(&contexts[i]);
		}
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* ---- a context ------------------------------------------------------------------------------- */

/* CUPTI writes into arrays of ours, one for each instruction. */
static bool stalls_make_room(struct cupti_pc_data *d, size_t reasons)
{
	struct cupti_pc_reason *all = calloc(MOST_PCS * reasons, sizeof(*all));

	*d = (struct cupti_pc_data){ .size = sizeof(*d), .most = MOST_PCS };
	d->pcs = calloc(MOST_PCS, sizeof(*d->pcs));
	if (!all || !d->pcs) {
		free(all);
		free(d->pcs);
		return false;
	}
	for (size_t i = 0; i < MOST_PCS; i++) {
		d->pcs[i].size = sizeof(*d->pcs);
		d->pcs[i].reasons = all + i * reasons;
	}
	return true;
}

static void learn_reason(struct reason *r, uint32_t index, const char *text)
{
	size_t len = strlen(text), tail = sizeof(not_issued) - 1, head = sizeof(prefix) - 1;

	*r = (struct reason){ .index = index };
	if (strncmp(text, prefix, head) != 0)
		return; /* a count of samples */
	r->idle = len > head + tail && !strcmp(text + len - tail, not_issued);
	r->name = ut_cuda_host->name(text + head, len - head - (r->idle ? tail : 0));
}

static int learn_reasons(struct context *c)
{
	char texts[MOST_REASONS][CUPTI_PC_REASON_TEXT] = { 0 }, *names[MOST_REASONS];
	size_t count = 0;
	int rc = ut_cupti_metrics.PCSamplingGetNumStallReasons(&CUPTI_PARAMS(
		cupti_pc_reason_count, count, .context = c->context, .count = &count));

	if (rc || count > MOST_REASONS)
		return rc ? rc : CUPTI_INVALID_PARAMETER;
	for (size_t i = 0; i < count; i++)
		names[i] = texts[i];
	rc = ut_cupti_metrics.PCSamplingGetStallReasons(
		&CUPTI_PARAMS(cupti_pc_reason_names, names, .context = c->context, .count = count,
			      .indices = c->indices, .names = names));
	for (size_t i = 0; !rc && i < count; i++)
		learn_reason(&c->reasons[i], c->indices[i], texts[i]);
	c->reason_count = count;
	return rc;
}

/* The interval as a power of two of cycles, as the device wants it. */
static uint32_t period(void)
{
	const char *text = ut_cuda_host->option("metrics.interval");
	uint64_t ns = text ? strtoull(text, NULL, 10) : 50000;
	uint32_t bits = 5;

	while (bits < 31 && (3ull << bits) / 2 < ns * ASSUMED_MHZ / 1000)
		bits++;
	return bits;
}

static int stalls_configure(struct context *c)
{
	const char *mode = ut_cuda_host->option("cuda.stalls");
	struct cupti_pc_setting all[] = {
		{ .attribute = CUPTI_PC_MODE,
		  .u.number = mode && !strcmp(mode, "serialized") ? CUPTI_PC_SERIALIZED
								  : CUPTI_PC_CONTINUOUS },
		{ .attribute = CUPTI_PC_PERIOD, .u.number = period() },
		{ .attribute = CUPTI_PC_REASONS, .u.reasons = { c->reason_count, c->indices } },
		{ .attribute = CUPTI_PC_SCRATCH_BYTES, .u.bytes = SCRATCH_BYTES },
		{ .attribute = CUPTI_PC_HARDWARE_BYTES, .u.bytes = HARDWARE_BYTES },
		{ .attribute = CUPTI_PC_FORMAT, .u.number = CUPTI_PC_PARSED },
		{ .attribute = CUPTI_PC_BUFFER, .u.pointer = &c->last },
	};

	return ut_cupti_metrics.PCSamplingSetConfigurationAttribute(
		/* a pointer, NOLINTNEXTLINE(bugprone-sizeof-expression) */
		&CUPTI_PARAMS(cupti_pc_config, settings, .context = c->context,
			      .count = sizeof(all) / sizeof(*all), .settings = all));
}

static int enable(struct context *c)
{
	int rc = ut_cupti_metrics.PCSamplingEnable(
		&CUPTI_PARAMS(cupti_pc_context, context, .context = c->context));

	if (rc)
		return rc;
	if (!c->own.pcs) {
		rc = learn_reasons(c);
		if (!rc && (!stalls_make_room(&c->own, c->reason_count) ||
			    !stalls_make_room(&c->last, c->reason_count)))
			rc = CUPTI_INVALID_PARAMETER;
	}
	return rc ? rc : stalls_configure(c);
}

/* ---- beside counters ------------------------------------------------------------------------- */

static struct context *stalls_find(void *context)
{
	for (size_t i = 0; i < context_count; i++) {
		if (contexts[i].context == context)
			return &contexts[i];
	}
	return NULL;
}

void ut_cuda_stalls_rest(void *context)
{
	struct context *c;

	pthread_mutex_lock(&lock);
	c = stalls_find(context);
	if (c && c->on) {
		stalls_finish(c);
		c->rests = true;
	}
	pthread_mutex_unlock(&lock);
}

void ut_cuda_stalls_go_on(void *context)
{
	struct context *c;
	int rc;

	pthread_mutex_lock(&lock);
	c = stalls_find(context);
	if (c && c->rests && !atomic_load(&ending)) {
		rc = enable(c);
		c->rests = false;
		c->on = !rc;
		if (rc)
			ut_cuda_metrics_complain("stalls are no longer sampled", rc);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- contexts -------------------------------------------------------------------------------- */

void ut_cuda_stalls_context(void *context)
{
	struct context *c;
	int rc;

	pthread_mutex_lock(&lock);
	if (context_count < UT_CUDA_MOST_CONTEXTS && !atomic_load(&ending)) {
		c = &contexts[context_count];
		*c = (struct context){ .context = context };
		if (!ut_cupti_metrics.GetDeviceId(context, &c->device) &&
		    ut_cuda_device(c->device)) {
			rc = enable(c);
			c->on = !rc;
			context_count += !rc;
			if (rc)
				ut_cuda_metrics_complain("stalls cannot be sampled", rc);
			else if (!has_thread)
				has_thread = ut_cuda_thread(&thread, stalls_run, "unitrace-pc");
		}
	}
	pthread_mutex_unlock(&lock);
}

void ut_cuda_stalls_context_ends(void *context)
{
	struct context *c;

	pthread_mutex_lock(&lock);
	c = stalls_find(context);
	if (c) {
		stalls_finish(c);
		c->context = NULL; /* another one may come to lie at the same place */
	}
	pthread_mutex_unlock(&lock);
}

/* ---- modules --------------------------------------------------------------------------------- */

void ut_cuda_stalls_module(const struct cupti_module *module)
{
	static _Atomic bool reported;
	struct cupti_crc p = CUPTI_PARAMS(cupti_crc, crc, .crc = 0);
	char name[40];
	int rc;

	if (!module || !module->cubin || !module->size)
		return;
	p.bytes = module->size;
	p.cubin = module->cubin;
	rc = ut_cupti_metrics.GetCubinCrc(&p);
	if (!rc) {
		snprintf(name, sizeof(name), "%016" PRIx64 ".cubin", p.crc);
		rc = ut_cuda_host->keep(name, module->cubin, module->size);
	}
	if (rc && !atomic_exchange(&reported, true))
		ut_cuda_host->note("--stall-sampling: the code of a module could not be kept; its "
				   "kernels have no assembly and no lines");
}

/* What was sampled in it is not to be had later. */
void ut_cuda_stalls_module_ends(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < context_count; i++) {
		if (contexts[i].on)
			stalls_collect(&contexts[i]);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- start and end --------------------------------------------------------------------------- */

static bool has_functions(void)
{
	const struct cupti_metrics *c = &ut_cupti_metrics;

	return c->GetDeviceId && c->PCSamplingEnable && c->PCSamplingDisable &&
	       c->PCSamplingGetData && c->PCSamplingSetConfigurationAttribute &&
	       c->PCSamplingGetNumStallReasons && c->PCSamplingGetStallReasons && c->GetCubinCrc;
}

bool ut_cuda_stalls_start(void *subscriber)
{
	if (!has_functions() || !UT_HOST_HAS(ut_cuda_host, keep)) {
		ut_cuda_metrics_lack("--stall-sampling", "12.0");
		return false;
	}
	issued_name = ut_cuda_name("issued");
	idle_name = ut_cuda_name("not issued");
	(void)ut_cupti.EnableCallback(1, subscriber, CUPTI_RESOURCE, CUPTI_MODULE_LOADED);
	(void)ut_cupti.EnableCallback(1, subscriber, CUPTI_RESOURCE, CUPTI_MODULE_UNLOAD_STARTING);
	return true;
}

/* On a thread of its own, so that nothing of CUPTI's can hold up the end of the program. */
static void *finish_all(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < context_count; i++)
		stalls_finish(&contexts[i]);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void ut_cuda_stalls_stop(void)
{
	char text[160];
	pthread_t last;

	if (atomic_exchange(&ending, true) || !has_thread)
		return;
	if (!ut_cuda_join(thread) || !ut_cuda_thread(&last, finish_all, "unitrace-pc") ||
	    !ut_cuda_join(last)) {
		ut_cuda_host->note("--stall-sampling: the last samples were not to be had before "
				   "the end of the program");
		return;
	}
	if (lost) {
		snprintf(text, sizeof(text),
			 "--stall-sampling: the device dropped %" PRIu64
			 " samples: a longer --sampling-interval helps",
			 lost);
		ut_cuda_host->note(text);
	}
}
