/*
 * cuda.c - CUDA through CUPTI. The driver loads us in cuInit (CUDA_INJECTION64_PATH) and calls
 * InitializeInjection(); CUPTI is the copy that the process has loaded already, or the one found.
 */
#define UT_BACKEND_IMPLEMENTATION
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_measure.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EXPORT        __attribute__((visibility("default")))
#define FLUSH_SECONDS 1 /* what a killed program may lose of its device's timeline */

const struct ut_host *ut_cuda_host;
struct cupti ut_cupti;

static _Atomic bool ending;
static pid_t owner; /* a forked child has no CUDA */

uint32_t ut_cuda_name(const char *text)
{
	return ut_cuda_host->name(text, strlen(text));
}

bool ut_cuda_tuned(const char *word)
{
	const char *list = ut_cuda_host->option("cuda.tune");
	size_t len = strlen(word);

	for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
		if (!strncmp(list, word, len) && (!list[len] || list[len] == ','))
			return true;
	}
	return false;
}

/* ---- CUPTI --------------------------------------------------------------------------------- */

static void *cupti_library;

static bool resolve(void *library)
{
	void *found;

#define TAKE(name, params)                                                                         \
	found = dlsym(library, "cupti" #name);                                                     \
	memcpy(&ut_cupti.name, &found, sizeof(found));
	CUPTI_FUNCTIONS(TAKE)
	CUPTI_OPTIONAL(TAKE)
#undef TAKE
#define TAKE(name, params)                                                                         \
	found = dlsym(library, "cupti" #name);                                                     \
	memcpy(&ut_cupti_metrics.name, &found, sizeof(found));
	CUPTI_METRIC_FUNCTIONS(TAKE)
#undef TAKE
	cupti_library = library;
#define MISSING(name, params) || !ut_cupti.name
	return !(0 CUPTI_FUNCTIONS(MISSING));
#undef MISSING
}

/*
 * The one that the user names, and no other; else the copy that the program has loaded: a second
 * one would not see its CUDA.
 */
static void *find_library(void)
{
	static const char *const names[] = {
		"libcupti.so.13",
		"libcupti.so.12",
		"libcupti.so",
		"/usr/local/cuda/lib64/libcupti.so",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
		"/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so",
	};
	const char *chosen = ut_cuda_host->option("cuda.cupti");
	void *library = NULL;

	if (chosen)
		return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !library && i < 3; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	for (size_t i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* Doubles of CUPTI bring a driver along. */
void *ut_cuda_driver(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	void *found = driver ? dlsym(driver, name) : NULL;

	return found ? found : dlsym(cupti_library, name);
}

/* Says what failed, in CUPTI's words. */
static int cuda_complain(const char *what, int result)
{
	const char *words = NULL;
	char text[400];

	if (ut_cupti.GetResultString)
		ut_cupti.GetResultString(result, &words);
	snprintf(text, sizeof(text), "CUDA is not recorded: %s: %s (%d)", what,
		 words ? words : "CUPTI error", result);
	ut_cuda_host->note(text);
	return -EIO;
}

/* The struct has grown between versions, and each accepts only its own size. */
static int try_subscribe(void **subscriber, char *holder, size_t size)
{
	struct cupti_subscriber_params params = {
		.size = sizeof(params), .name = "unitrace", .old_name = holder, .old_size = size
	};
	int rc = CUPTI_INVALID_PARAMETER;

	if (ut_cupti.Subscribe_v2)
		rc = ut_cupti.Subscribe_v2(subscriber, ut_cuda_callback, NULL, &params);
	if (ut_cupti.Subscribe_v2 && rc == CUPTI_INVALID_PARAMETER) {
		params.size = offsetof(struct cupti_subscriber_params, allow_several);
		rc = ut_cupti.Subscribe_v2(subscriber, ut_cuda_callback, NULL, &params);
	}
	if (rc == CUPTI_INVALID_PARAMETER)
		rc = ut_cupti.Subscribe(subscriber, ut_cuda_callback, NULL);
	return rc;
}

static int subscribe(void **subscriber)
{
	char holder[64] = "", text[300];
	int rc = try_subscribe(subscriber, holder, sizeof(holder));

	if (rc == CUPTI_OTHER_SUBSCRIBER) {
		snprintf(text, sizeof(text),
			 "CUDA is not recorded: another profiler%s%s%s uses CUPTI in this process "
			 "(torch.profiler?), and only one can",
			 holder[0] ? " (" : "", holder, holder[0] ? ")" : "");
		ut_cuda_host->note(text);
		return -EBUSY;
	}
	return rc ? cuda_complain("no place for a subscriber", rc) : 0;
}

/* Kinds that a version or a machine may refuse are done without. */
static int enable_work(void)
{
	static const uint32_t wanted[] = { CUPTI_MEMCPY, CUPTI_MEMSET,  CUPTI_MEMCPY2,
					   CUPTI_DEVICE, CUPTI_CONTEXT, CUPTI_OVERHEAD,
					   CUPTI_MEMORY2 };
	int rc = ut_cupti.ActivityEnable(CUPTI_CONCURRENT_KERNEL);

	if (rc)
		return cuda_complain("kernels cannot be recorded", rc);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (wanted[i] != CUPTI_MEMORY2 || !ut_cuda_tuned("no-memory"))
			(void)ut_cupti.ActivityEnable(wanted[i]);
	}
	return 0;
}

static void enable_calls(uint32_t want)
{
	if (ut_cuda_tuned("no-calls"))
		return;
	if (!(want & UT_WANT_CALLS) && !ut_cuda_tuned("all-calls") && ut_cuda_enable_submits())
		return;
	/* This slowed a training loop down by a tenth, and does no harm beside all other calls. */
	(void)ut_cupti.ActivityEnable(CUPTI_SYNCHRONIZATION);
	(void)ut_cupti.ActivityEnable(CUPTI_RUNTIME);
	(void)ut_cupti.ActivityEnable(CUPTI_DRIVER);
}

/* ---- the life of the backend --------------------------------------------------------------- */

static void sleep_a_while(void)
{
	struct timespec left = { .tv_sec = FLUSH_SECONDS };

	nanosleep(&left, NULL);
}

/* Without it, what the device did since CUPTI's buffer was last full would die with the program. */
static void *flush_now_and_then(void *arg)
{
	(void)arg;
	while (!atomic_load(&ending)) {
		sleep_a_while();
		if (!atomic_load(&ending))
			ut_cuda_flush(false);
	}
	return NULL;
}

static void start_thread(void)
{
	pthread_t thread;

	if (ut_cuda_thread(&thread, flush_now_and_then, "unitrace-cuda"))
		pthread_detach(thread);
}

/* Contexts are where metrics are switched on, and where pages are told of if not before. */
static void start_measuring(void *subscriber, uint32_t want)
{
	bool contexts = (want & UT_WANT_SAMPLING) != 0;

	if (want & UT_WANT_QUERY)
		(void)ut_cuda_query_start(subscriber);
	if (want & UT_WANT_STALLS)
		contexts |= ut_cuda_stalls_start(subscriber);
	/* The driver is being made ready, maybe not ready enough for pages. */
	if (want & UT_WANT_PAGES)
		contexts |= !ut_cuda_enable_pages(false);
	if (contexts)
		(void)ut_cupti.EnableCallback(1, subscriber, CUPTI_RESOURCE, CUPTI_CONTEXT_CREATED);
}

static uint64_t timestamp(void)
{
	return ut_cuda_host->now();
}

static int cuda_start(const struct ut_host *host)
{
	void *library, *subscriber = NULL;
	int rc;

	ut_cuda_host = host;
	owner = getpid();
	library = find_library();
	if (!library || !resolve(library)) {
		host->note("CUDA is not recorded: libcupti.so (12 or newer) was not found; set "
			   "UNITRACE_CUPTI to its path");
		return -ENOENT;
	}
	rc = subscribe(&subscriber);
	if (rc)
		return rc;
	/* The clock before anything else: what is enabled earlier would use another. */
	rc = ut_cupti.ActivityRegisterTimestampCallback(timestamp);
	if (rc)
		return cuda_complain("its clock cannot be set", rc);
	(void)ut_cupti.SetThreadIdType(CUPTI_SYSTEM_THREAD_ID);
	rc = ut_cupti.ActivityRegisterCallbacks(ut_cuda_give_buffer, ut_cuda_take_buffer);
	if (rc)
		return cuda_complain("its buffers cannot be had", rc);
	if (host->want & UT_WANT_WORK)
		rc = enable_work();
	start_measuring(subscriber, host->want);
	if (host->want & (UT_WANT_CALLS | UT_WANT_SUBMITS))
		enable_calls(host->want);
	(void)ut_cupti.EnableCallback(1, subscriber, CUPTI_RESOURCE,
				      CUPTI_CONTEXT_DESTROY_STARTING);
	if (!rc && !ut_cuda_tuned("no-flush"))
		start_thread();
	return rc;
}

static void cuda_flush(void)
{
	if (ut_cuda_host && getpid() == owner)
		ut_cuda_flush(false);
}

static void cuda_stop(void)
{
	if (!ut_cuda_host || getpid() != owner || atomic_exchange(&ending, true))
		return;
	ut_cuda_query_stop();
	ut_cuda_sampling_stop();
	ut_cuda_stalls_stop();
	ut_cuda_flush(true);
}

/* ---- which devices are there --------------------------------------------------------------- */

/* In a process of the launcher's own: asks the driver, not CUPTI. */
static int cuda_probe(struct ut_probe *p)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	union {
		void *pointer;
		int (*init)(unsigned int);
		int (*count)(int *);
		int (*name)(char *, int, int);
		int (*pci)(char *, int, int);
	} init, count, name, pci;
	int devices = 0;

	if (!driver) {
		snprintf(p->why, sizeof(p->why), "no NVIDIA driver (libcuda.so.1)");
		return -ENOENT;
	}
	init.pointer = dlsym(driver, "cuInit");
	count.pointer = dlsym(driver, "cuDeviceGetCount");
	name.pointer = dlsym(driver, "cuDeviceGetName");
	pci.pointer = dlsym(driver, "cuDeviceGetPCIBusId");
	if (!init.pointer || !count.pointer || !name.pointer || !pci.pointer || init.init(0) ||
	    count.count(&devices)) {
		snprintf(p->why, sizeof(p->why), "the NVIDIA driver finds no device");
		return -ENODEV;
	}
	for (int i = 0; i < devices; i++) {
		char text[128] = "", bus[32] = "";

		(void)name.name(text, sizeof(text), i);
		(void)pci.pci(bus, sizeof(bus), i);
		p->device(p->ctx, &(struct ut_device){ .size = sizeof(struct ut_device),
						       .name = text,
						       .label = bus,
						       .index = (uint32_t)i });
	}
	return 0;
}

EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "cuda",
	.probe = cuda_probe,
	.start = cuda_start,
	.flush = cuda_flush,
	.stop = cuda_stop,
};

EXPORT int InitializeInjection(void);

/* 1 is what NVIDIA's tools answer; the program goes on either way. */
EXPORT int InitializeInjection(void)
{
	static _Atomic bool done;

	if (!atomic_exchange(&done, true))
		(void)ut_backend_join(&unitrace_backend);
	return 1;
}
