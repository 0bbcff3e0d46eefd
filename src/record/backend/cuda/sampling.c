/*
 * sampling.c - hardware metrics of a device over time: CUPTI's PM sampling. The device writes a
 * sample at every interval into a buffer; a thread of ours decodes them and hands them over.
 *
 * Started when the first context of a device is made, before any kernel can run: it takes a third
 * of a second. Ended by the thread itself, for which the end of the process waits a moment and no
 * longer: end of decoding, then stop, then what is left. It is not disabled: that crashes while a
 * process ends. Times are those of the clock that the backend has registered, host->now()'s.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/cuda_measure.h"

#define MOST_DEVICES   16u
#define HARDWARE_BYTES (64u << 20)
#define IMAGE_SAMPLES  512u /* decoded at once: 17 kB each */
#define LEAST_SLEEP_NS 1000000u
#define MOST_SLEEP_NS  20000000u
#define A_DRAIN        100u /* intervals between two looks */

struct sampler {
	void *object;
	struct ut_cuda_metrics metrics;
	uint8_t *image;
	size_t bytes;
	uint64_t samples;
	bool overflow;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of making samplers */
static struct sampler samplers[MOST_DEVICES];
static bool tried[MOST_DEVICES];
static _Atomic bool ending;
static bool has_thread;
static pthread_t thread;

static uint64_t interval(void)
{
	const char *text = ut_cuda_host->option("metrics.interval");
	uint64_t ns = text ? strtoull(text, NULL, 10) : 0;

	return ns ? ns : 50000;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static int reset_image(const struct sampler *s)
{
	return ut_cupti_metrics.PmSamplingCounterDataImageInitialize(
		&CUPTI_PARAMS(cupti_image_init, image, .profiler = s->object, .bytes = s->bytes,
			      .image = s->image));
}

static void cuda_sampling_send_sample(struct sampler *s, size_t index)
{
	struct cupti_pm_sample p =
		CUPTI_PARAMS(cupti_pm_sample, end, .sampler = s->object, .image = s->image,
			     .bytes = s->bytes, .index = index);
	double values[UT_CUDA_MOST_METRICS];

	if (ut_cupti_metrics.PmSamplingCounterDataGetSampleInfo(&p) ||
	    !ut_cuda_metrics_evaluate(&s->metrics, s->image, s->bytes, index, values))
		return;
	/* The first goes back to when the device was set up. */
	if (s->samples++ == 0 || p.end <= p.start || !ut_cuda_host->was_on(p.start))
		return;
	ut_cuda_metrics_send(
		&s->metrics, values,
		&(struct ut_values){ .flags = UT_VALUES_SAMPLE, .begin = p.start, .end = p.end });
}

/* What the device has written so far; how many samples that was. */
static size_t cuda_sampling_drain(struct sampler *s)
{
	struct cupti_pm_decode d = CUPTI_PARAMS(cupti_pm_decode, overflow, .sampler = s->object,
						.image = s->image, .bytes = s->bytes);
	struct cupti_pm_info info =
		CUPTI_PARAMS(cupti_pm_info, completed, .image = s->image, .bytes = s->bytes);

	if (ut_cupti_metrics.PmSamplingDecodeData(&d) ||
	    ut_cupti_metrics.PmSamplingGetCounterDataInfo(&info))
		return 0;
	s->overflow |= d.overflow != 0;
	for (size_t i = 0; i < info.completed; i++)
		cuda_sampling_send_sample(s, i);
	if (info.completed && reset_image(s))
		return 0;
	return info.completed;
}

static void pause_for(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000u),
			      .tv_nsec = (long)(ns % 1000000000u) };

	nanosleep(&t, NULL);
}

static void end_sampler(struct sampler *s)
{
	(void)ut_cupti_metrics.PmSamplingStop(
		&CUPTI_PARAMS(cupti_pm, sampler, .sampler = s->object));
	for (int i = 0; i < 1000 && cuda_sampling_drain(s); i++)
		;
	if (s->overflow)
		ut_cuda_host->note("-k: the device's buffer was full for a while and samples are "
				   "missing: a longer --sampling-interval or fewer metrics help");
}

static void *cuda_sampling_run(void *arg)
{
	uint64_t ns = interval() * A_DRAIN;

	(void)arg;
	ns = ns < LEAST_SLEEP_NS ? LEAST_SLEEP_NS : ns > MOST_SLEEP_NS ? MOST_SLEEP_NS : ns;
	while (!atomic_load(&ending)) {
		size_t most = 0;

		for (size_t i = 0; i < MOST_DEVICES; i++) {
			struct sampler *s = &samplers[i];
			size_t n = __atomic_load_n(&s->object, __ATOMIC_ACQUIRE)
					   ? cuda_sampling_drain(s)
					   : 0;

			most = n > most ? n : most;
		}
		if (most < IMAGE_SAMPLES / 2)
			pause_for(ns);
	}
	for (size_t i = 0; i < MOST_DEVICES; i++) {
		if (samplers[i].object)
			end_sampler(&samplers[i]);
	}
	return NULL;
}

/* ---- start ----------------------------------------------------------------------------------- */

static int cuda_sampling_start(struct sampler *s, void *object)
{
	struct cupti_pm_bytes b =
		CUPTI_PARAMS(cupti_pm_bytes, bytes, .sampler = object, .names = s->metrics.names,
			     .count = s->metrics.count, .most_samples = IMAGE_SAMPLES);
	int rc = ut_cupti_metrics.PmSamplingSetConfig(&CUPTI_PARAMS(
		cupti_pm_config, append, .sampler = object, .config_bytes = s->metrics.config_bytes,
		.config = s->metrics.config, .hardware_bytes = HARDWARE_BYTES,
		.interval = interval(), .trigger = CUPTI_BY_TIME));

	if (!rc)
		rc = ut_cupti_metrics.PmSamplingGetCounterDataSize(&b);
	s->bytes = b.bytes;
	s->image = rc ? NULL : calloc(1, s->bytes);
	if (!rc && !s->image)
		rc = CUPTI_INVALID_PARAMETER;
	if (!rc)
		rc = ut_cupti_metrics.PmSamplingCounterDataImageInitialize(
			&CUPTI_PARAMS(cupti_image_init, image, .profiler = object,
				      .bytes = s->bytes, .image = s->image));
	return rc ? rc
		  : ut_cupti_metrics.PmSamplingStart(
			    &CUPTI_PARAMS(cupti_pm, sampler, .sampler = object));
}

static void start_device(struct sampler *s, uint32_t device)
{
	struct cupti_pm_enable e = CUPTI_PARAMS(cupti_pm_enable, sampler, .device = device);
	uint8_t *availability =
		ut_cuda_counters(ut_cupti_metrics.PmSamplingGetCounterAvailability,
				 CUPTI_PARAMS(cupti_availability, image, .device = device));
	bool known = availability && ut_cuda_metrics_prepare(&s->metrics, CUPTI_PM_SAMPLING, device,
							     availability, NULL);
	int rc;

	free(availability);
	if (!known)
		return;
	rc = ut_cupti_metrics.PmSamplingEnable(&e);
	if (!rc)
		rc = cuda_sampling_start(s, e.sampler);
	if (rc) {
		ut_cuda_metrics_complain("the device's samples do not start", rc);
		return;
	}
	__atomic_store_n(&s->object, e.sampler, __ATOMIC_RELEASE);
	if (!has_thread)
		has_thread = ut_cuda_thread(&thread, cuda_sampling_run, "unitrace-pm");
}

static bool has_functions(void)
{
	const struct cupti_metrics *c = &ut_cupti_metrics;

	return c->PmSamplingGetCounterAvailability && c->PmSamplingEnable && c->PmSamplingStart &&
	       c->PmSamplingStop && c->PmSamplingSetConfig && c->PmSamplingDecodeData &&
	       c->PmSamplingCounterDataGetSampleInfo;
}

void ut_cuda_sampling_context(void *context)
{
	static int ready; /* -1 = it cannot be done */
	uint32_t device = 0;

	pthread_mutex_lock(&lock);
	if (!ready)
		ready = ut_cuda_metrics_initialize("--metric-sampling", has_functions()) ? 1 : -1;
	if (ready > 0 && !ut_cupti_metrics.GetDeviceId(context, &device) && device < MOST_DEVICES &&
	    !tried[device] && !atomic_load(&ending)) {
		tried[device] = true;
		if (ut_cuda_device(device))
			start_device(&samplers[device], device);
	}
	pthread_mutex_unlock(&lock);
}

void ut_cuda_sampling_stop(void)
{
	if (!atomic_exchange(&ending, true) && has_thread && !ut_cuda_join(thread))
		ut_cuda_host->note("-k: the last samples were not to be had before the end of the "
				   "program");
}
