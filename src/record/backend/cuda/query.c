/*
 * query.c - hardware metrics of each kernel: CUPTI's range profiler, which has the kernel run again
 * until all counters are read, with memory as it was before.
 *
 * It is started when a launch begins and stopped when it ends, which is when the kernel has ended,
 * too; so its values are known before the program goes on, whatever ends it later, and there is no
 * doubt which kernel they belong to. The cost of a kernel grows with the image of counters: one for
 * a single range is the cheapest. While CUPTI repeats a kernel its activity records tell no times,
 * so the kernel's time is that of the counters.
 *
 * Launches that are recorded into a graph do not run, and kernels of a graph cannot be measured one
 * by one: both are left alone.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_measure.h"
#include "base/metric_list.h"

#define KERNELS    8192u /* names, power of two; the rest counts as one */
#define TIMES      16384u
#define MOST_IDS   2048u
#define OWN_METRIC "gpu__time_duration.sum"

/* A context's profiler. */
struct profiler {
	void *context;
	void *object;
	struct ut_cuda_metrics metrics;
	uint8_t *image;
	size_t bytes;
	bool asleep; /* its object is gone until the next kernel */
};

/* Held from the begin of a launch that is measured to its end: one kernel at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct profiler profilers[UT_CUDA_MOST_CONTEXTS];
static size_t profiler_count;
static _Atomic bool on, graphs_reported;

/* ---- which launches -------------------------------------------------------------------------- */

/* How a call says where it launches. */
enum shape {
	NO_LAUNCH,
	PLAIN,    /* struct { function, 7 numbers, stream } */
	EXTENDED, /* struct { struct { 7 numbers, stream } *config, function } */
	GRAPH,
};

static uint8_t shapes[MOST_IDS]; /* enum shape, by number of the driver's function */

static enum shape cuda_query_shape_of(const char *name)
{
	static const struct {
		const char *name;
		enum shape shape;
	} all[] = {
		{ "cuLaunchKernel", PLAIN },
		{ "cuLaunchKernel_ptsz", PLAIN },
		{ "cuLaunchCooperativeKernel", PLAIN },
		{ "cuLaunchCooperativeKernel_ptsz", PLAIN },
		{ "cuLaunchKernelEx", EXTENDED },
		{ "cuLaunchKernelEx_ptsz", EXTENDED },
		{ "cuGraphLaunch", GRAPH },
		{ "cuGraphLaunch_ptsz", GRAPH },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!strcmp(all[i].name, name))
			return all[i].shape;
	}
	return NO_LAUNCH;
}

struct launch_config {
	uint32_t numbers[7];
	void *stream;
};

struct plain_launch {
	void *function;
	struct launch_config config;
};

struct extended_launch {
	const struct launch_config *config;
};

static void *cuda_query_stream_of(enum shape shape, const void *params)
{
	if (shape == PLAIN)
		return ((const struct plain_launch *)params)->config.stream;
	return ((const struct extended_launch *)params)->config->stream;
}

/* Is what is put into the stream being recorded, to run later? */
static bool is_captured(void *stream)
{
	static int (*ask)(void *stream, int *status);
	static _Atomic bool looked;
	int status = 0;

	if (!atomic_exchange(&looked, true)) {
		void *found = ut_cuda_driver("cuStreamIsCapturing");

		memcpy(&ask, &found, sizeof(found));
	}
	return ask && !ask(stream, &status) && status;
}

/* What is known of a kernel, by the number of its name. */
static struct kernel {
	uint32_t name; /* 0 = free */
	bool wanted;
	uint64_t instances;
} kernels[KERNELS];

static struct kernel *cuda_query_kernel_of(const char *symbol)
{
	uint32_t name = ut_cuda_name(symbol);
	size_t at = name * 2654435761u & (KERNELS - 1), tries = 0;

	while (kernels[at].name && kernels[at].name != name && ++tries < KERNELS)
		at = (at + 1) & (KERNELS - 1);
	if (!kernels[at].name) {
		kernels[at].wanted = ut_cuda_wants_kernel(symbol);
		kernels[at].name = name;
	}
	return &kernels[at];
}

/* ---- a context's profiler -------------------------------------------------------------------- */

static int set_image(struct profiler *p)
{
	int rc = ut_cupti_metrics.RangeProfilerCounterDataImageInitialize(
		&CUPTI_PARAMS(cupti_image_init, image, .profiler = p->object, .bytes = p->bytes,
			      .image = p->image));

	if (rc)
		return rc;
	return ut_cupti_metrics.RangeProfilerSetConfig(
		&CUPTI_PARAMS(cupti_range_config, target_nesting, .profiler = p->object,
			      .config_bytes = p->metrics.config_bytes, .config = p->metrics.config,
			      .bytes = p->bytes, .image = p->image, .range = CUPTI_AUTO_RANGE,
			      .replay = CUPTI_KERNEL_REPLAY, .most_ranges = 1, .nesting_levels = 1,
			      .least_nesting = 1, .target_nesting = 1));
}

static bool is_asked(const char *option, const char *value)
{
	const char *given = ut_cuda_host->option(option);

	return given && !strcmp(given, value);
}

/* Stalls are sampled too: how to keep the two apart. For measuring what has to be: off, pc, none.
 */
static bool takes_turns(bool with_profiler)
{
	const char *how = ut_cuda_host->option("cuda.together");

	if (!(ut_cuda_host->want & UT_WANT_STALLS))
		return false;
	return !how || !strcmp(how, "off") || (!with_profiler && !strcmp(how, "pc"));
}

/* Older versions refuse the longer struct. */
static int enable(struct profiler *p)
{
	struct cupti_range_enable e =
		CUPTI_PARAMS(cupti_range_enable, profiler, .context = p->context);
	int rc;

	if (is_asked("metrics.cache", "all")) {
		struct cupti_range_enable flush =
			CUPTI_PARAMS(cupti_range_enable, cache_mode, .context = p->context,
				     .cache_mode = CUPTI_FLUSH_CACHES);
		uint32_t version = 0;

		(void)ut_cupti.GetVersion(&version);
		rc = version >= 130400 ? ut_cupti_metrics.RangeProfilerEnable(&flush)
				       : CUPTI_INVALID_PARAMETER;
		if (!rc) {
			p->object = flush.profiler;
			return 0;
		}
		ut_cuda_metrics_lack("--cache-control all", "13.4");
	}
	rc = ut_cupti_metrics.RangeProfilerEnable(&e);
	p->object = e.profiler;
	return rc;
}

static _Atomic bool clocks_locked;

/* They stay locked when the process has gone. */
void ut_cuda_query_stop(void)
{
	if (atomic_exchange(&clocks_locked, false) && ut_cupti_metrics.ClockControlUnlock)
		(void)ut_cupti_metrics.ClockControlUnlock();
}

static void lock_clocks(void *context)
{
	int rc;

	if (!is_asked("metrics.clocks", "base"))
		return;
	if (!ut_cupti_metrics.ClockControlLock) {
		ut_cuda_metrics_lack("--clock-control base", "13.4");
		return;
	}
	rc = ut_cupti_metrics.ClockControlLock(context, CUPTI_BASE_CLOCKS);
	atomic_store(&clocks_locked, !rc);
	if (!rc)
		ut_cuda_host->note(
			"--clock-control base: the clocks are free again when the "
			"program ends by itself; if it was killed, nvidia-smi -rgc frees "
			"them");
	else
		ut_cuda_host->note(
			"--clock-control base: the driver does not let us; as root, "
			"nvidia-smi -lgc tdp,tdp does it, and nvidia-smi -rgc undoes it");
}

static bool set_up(struct profiler *p, uint32_t device)
{
	struct cupti_range_bytes b =
		CUPTI_PARAMS(cupti_range_bytes, bytes, .most_ranges = 1, .most_nodes = 1);
	uint8_t *availability =
		ut_cuda_counters(ut_cupti_metrics.ProfilerGetCounterAvailability,
				 CUPTI_PARAMS(cupti_availability, image, .context = p->context));
	bool known = availability && ut_cuda_metrics_prepare(&p->metrics, CUPTI_RANGE_PROFILER,
							     device, availability, OWN_METRIC);
	int rc;

	free(availability);
	if (!known)
		return false;
	lock_clocks(p->context);
	rc = enable(p);
	b.profiler = p->object;
	b.names = p->metrics.names;
	b.count = p->metrics.count;
	if (!rc)
		rc = ut_cupti_metrics.RangeProfilerGetCounterDataSize(&b);
	p->bytes = b.bytes;
	p->image = rc ? NULL : calloc(1, p->bytes);
	if (!rc)
		rc = p->image ? set_image(p) : CUPTI_INVALID_PARAMETER;
	if (rc)
		ut_cuda_metrics_complain("the range profiler does not start", rc);
	return !rc;
}

/* NULL: the context is not measured. */
static struct profiler *profiler_of(void *context)
{
	static int ready; /* -1 = it cannot be done */
	struct profiler *p;
	uint32_t device = 0;

	for (size_t i = 0; i < profiler_count; i++) {
		if (profilers[i].context == context)
			return profilers[i].object ? &profilers[i] : NULL;
	}
	if (profiler_count == UT_CUDA_MOST_CONTEXTS)
		return NULL;
	/* Not before: while the driver is being made ready it fails. */
	if (!ready)
		ready = ut_cuda_metrics_initialize("--metric-query", true) ? 1 : -1;
	p = &profilers[profiler_count++];
	p->context = context;
	if (ready < 0 || ut_cupti_metrics.GetDeviceId(context, &device) ||
	    !ut_cuda_device(device) || !set_up(p, device))
		p->object = NULL;
	return p->object ? p : NULL;
}

void ut_cuda_query_context_ends(void *context)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < profiler_count; i++) {
		/* Its profiler goes with it; another context may come to lie at the same place. */
		if (profilers[i].context == context)
			profilers[i].context = NULL;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* When measured kernels ran, the latest: their activity records do not know. */
static struct {
	uint32_t correlation, name;
	uint64_t start, end;
} times[TIMES];
static pthread_mutex_t times_lock = PTHREAD_MUTEX_INITIALIZER;

static void put_times(uint32_t correlation, uint32_t name, uint64_t start, uint64_t end)
{
	pthread_mutex_lock(&times_lock);
	times[correlation % TIMES].correlation = correlation;
	times[correlation % TIMES].name = name;
	times[correlation % TIMES].start = start;
	times[correlation % TIMES].end = end;
	pthread_mutex_unlock(&times_lock);
}

enum ut_cuda_queried ut_cuda_query_times(uint32_t correlation, uint32_t name, uint64_t *start,
					 uint64_t *end)
{
	enum ut_cuda_queried answer = UT_CUDA_NOT_QUERIED;

	if (!atomic_load(&on) || !correlation)
		return answer;
	pthread_mutex_lock(&times_lock);
	if (times[correlation % TIMES].correlation == correlation) {
		*start = times[correlation % TIMES].start;
		*end = times[correlation % TIMES].end;
		answer = times[correlation % TIMES].name == name ? UT_CUDA_QUERIED : UT_CUDA_HELPED;
	}
	pthread_mutex_unlock(&times_lock);
	return answer;
}

bool ut_cuda_query_busy(void)
{
	if (!atomic_load(&on))
		return false;
	if (pthread_mutex_trylock(&lock))
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Samples stop, and the profiler wakes up; false: it does not. */
static bool begin_turn(struct profiler *p)
{
	if (takes_turns(false))
		ut_cuda_stalls_rest(p->context);
	if (!p->asleep)
		return true;
	p->asleep = false;
	return !enable(p) && !set_image(p);
}

static void end_turn(struct profiler *p)
{
	if (takes_turns(true) && p->object && ut_cupti_metrics.RangeProfilerDisable) {
		p->asleep = !ut_cupti_metrics.RangeProfilerDisable(
			&CUPTI_PARAMS(cupti_range, profiler, .profiler = p->object));
	}
	if (takes_turns(false))
		ut_cuda_stalls_go_on(p->context);
}

/* The launch that this thread is in, if it is measured. */
static __thread struct {
	struct profiler *profiler;
	uint32_t name;
	uint32_t depth; /* of launches in launches: only the outermost is measured */
	uint64_t begin;
} now;

static bool start_range(struct profiler *p)
{
	int rc = CUPTI_INVALID_PARAMETER;

	if (begin_turn(p))
		rc = ut_cupti_metrics.RangeProfilerStart(
			&CUPTI_PARAMS(cupti_range, profiler, .profiler = p->object));
	if (!rc)
		return true;
	ut_cuda_metrics_complain("a kernel cannot be measured", rc);
	end_turn(p);
	return false;
}

static void cuda_query_begin(enum shape shape, const struct cupti_call *call)
{
	struct kernel *k;
	struct profiler *p;

	if (now.depth++ || !ut_cuda_host->on() || !call->params ||
	    is_captured(cuda_query_stream_of(shape, call->params)))
		return;
	pthread_mutex_lock(&lock);
	k = cuda_query_kernel_of(call->symbol ? call->symbol : "kernel");
	p = NULL;
	if (k->wanted &&
	    ut_metric_wants_instance(ut_cuda_host->option("metrics.instances"), ++k->instances))
		p = profiler_of(call->context);
	if (p && !start_range(p))
		p = NULL;
	if (!p) {
		pthread_mutex_unlock(&lock);
		return;
	}
	now.profiler = p;
	now.name = k->name;
	now.begin = ut_cuda_host->now();
	put_times(call->correlation, now.name, now.begin, now.begin);
}

/* The values of the kernel that has run, if it has. */
static bool read_values(struct profiler *p, double *values)
{
	struct cupti_range_info info =
		CUPTI_PARAMS(cupti_range_info, ranges, .image = p->image, .bytes = p->bytes);
	int rc = ut_cupti_metrics.RangeProfilerStop(
		&CUPTI_PARAMS(cupti_range_stop, all_submitted, .profiler = p->object));

	if (!rc)
		rc = ut_cupti_metrics.RangeProfilerDecodeData(
			&CUPTI_PARAMS(cupti_range_decode, dropped, .profiler = p->object));
	if (!rc)
		rc = ut_cupti_metrics.RangeProfilerGetCounterDataInfo(&info);
	if (rc)
		ut_cuda_metrics_complain("the counters of a kernel cannot be read", rc);
	return !rc && info.ranges == 1 &&
	       ut_cuda_metrics_evaluate(&p->metrics, p->image, p->bytes, 0, values);
}

static void cuda_query_end(const struct cupti_call *call)
{
	struct profiler *p = now.profiler;
	double values[UT_CUDA_MOST_METRICS];
	bool good;

	if ((now.depth && --now.depth) || !p)
		return;
	now.profiler = NULL;
	good = read_values(p, values);
	end_turn(p);
	if (!p->asleep && set_image(p))
		p->object = NULL; /* nothing more from this context */
	if (good) {
		uint64_t ns = isfinite(values[0]) && values[0] > 0 ? (uint64_t)values[0] : 0;

		put_times(call->correlation, now.name, now.begin, now.begin + ns);
		ut_cuda_metrics_send(&p->metrics, values,
				     &(struct ut_values){ .name = now.name,
							  .begin = now.begin,
							  .end = now.begin + (ns ? ns : 1),
							  .correlation = call->correlation });
	}
	pthread_mutex_unlock(&lock);
}

void ut_cuda_query_call(uint32_t id, const struct cupti_call *call)
{
	enum shape shape = id < MOST_IDS ? (enum shape)shapes[id] : NO_LAUNCH;

	if (!atomic_load(&on) || shape == NO_LAUNCH)
		return;
	if (shape == GRAPH) {
		if (!atomic_exchange(&graphs_reported, true))
			ut_cuda_host->note("-q: kernels of CUDA graphs cannot be measured one by "
					   "one and have no metrics");
	} else if (call->site == CUPTI_CALL_BEGINS) {
		cuda_query_begin(shape, call);
	} else {
		cuda_query_end(call);
	}
}

/* ---- start ----------------------------------------------------------------------------------- */

static bool has_functions(void)
{
	const struct cupti_metrics *c = &ut_cupti_metrics;

	return c->ProfilerGetCounterAvailability && c->RangeProfilerEnable &&
	       c->RangeProfilerStart && c->RangeProfilerStop && c->RangeProfilerSetConfig &&
	       c->RangeProfilerDecodeData && c->RangeProfilerGetCounterDataInfo;
}

bool ut_cuda_query_start(void *subscriber)
{
	if (!has_functions()) {
		ut_cuda_metrics_lack("--metric-query", "12.6");
		return false;
	}
	for (uint32_t id = 1; id < MOST_IDS; id++) {
		const char *name = NULL;

		if (ut_cupti.GetCallbackName(CUPTI_DRIVER_API, id, &name) || !name)
			continue;
		shapes[id] = (uint8_t)cuda_query_shape_of(name);
		if (shapes[id])
			(void)ut_cupti.EnableCallback(1, subscriber, CUPTI_DRIVER_API, id);
	}
	atomic_store(&on, true);
	return true;
}
