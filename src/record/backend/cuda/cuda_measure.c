/*
 * cuda_measure.c - what all kinds of hardware metrics share: which metrics a chip has, their values
 * on their way to the host, and what to say when there are none.
 */
#include "backend/cuda/cuda_measure.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/metric_list.h"

#define JOIN_SECONDS 3

struct cupti_metrics ut_cupti_metrics;

/* ---- what goes wrong ------------------------------------------------------------------------- */

static _Atomic bool complained;

static const char *remedy(int result)
{
	switch (result) {
	case CUPTI_NO_PRIVILEGES:
		return "the driver shows counters to administrators only (ERR_NVGPUCTRPERM): run "
		       "as "
		       "root or with CAP_SYS_ADMIN, or load the driver with "
		       "NVreg_RestrictProfilingToAdminUsers=0 (a line \"options nvidia "
		       "NVreg_RestrictProfilingToAdminUsers=0\" in /etc/modprobe.d, then restart)";
	case CUPTI_VIRTUAL_NO_PRIVILEGES:
		return "counters are off for this virtual GPU: the host's administrator has to set "
		       "enable_profiling=1 for it";
	case CUPTI_VIRTUALIZED:
		return "this virtual GPU has no counters";
	case CUPTI_CONFIDENTIAL_COMPUTING:
		return "the device is in confidential computing mode, which hides its counters";
	case CUPTI_MIG_DEVICE:
		return "this slice of a device (MIG) shows no counters to this CUPTI";
	case CUPTI_CMP_DEVICE:
	case CUPTI_NOT_SUPPORTED:
		return "this device has no counters for that";
	case CUPTI_WSL_DEVICE:
		return "counters have to be switched on in the NVIDIA Control Panel of Windows";
	case CUPTI_HARDWARE_BUSY:
		return "another tool uses the counters (Nsight, DCGM): end it, for example with "
		       "dcgmi profile --pause";
	default:
		return NULL;
	}
}

void ut_cuda_metrics_complain(const char *what, int result)
{
	const char *why = remedy(result), *words = NULL;
	char text[600];

	if (atomic_exchange(&complained, true))
		return;
	if (ut_cupti.GetResultString)
		ut_cupti.GetResultString(result, &words);
	if (why)
		snprintf(text, sizeof(text), "no hardware metrics: %s", why);
	else
		snprintf(text, sizeof(text), "no hardware metrics: %s: %s (%d)", what,
			 words ? words : "CUPTI error", result);
	ut_cuda_host->note(text);
}

void ut_cuda_metrics_lack(const char *what, const char *since)
{
	uint32_t version = 0;
	char text[300];

	(void)ut_cupti.GetVersion(&version);
	snprintf(text, sizeof(text),
		 "%s: this CUPTI (%u) cannot do it, version %s or newer can (UNITRACE_CUPTI=PATH "
		 "names another)",
		 what, version, since);
	ut_cuda_host->note(text);
}

bool ut_cuda_metrics_initialize(const char *option, bool has_functions)
{
	const struct cupti_metrics *c = &ut_cupti_metrics;
	int rc;

	if (!has_functions || !c->ProfilerInitialize || !c->DeviceGetChipName || !c->GetDeviceId ||
	    !c->ProfilerHostInitialize || !c->ProfilerHostGetMetricProperties) {
		ut_cuda_metrics_lack(option, "12.6");
		return false;
	}
	rc = c->ProfilerInitialize(&CUPTI_PARAMS(cupti_profiler_init, priv, .priv = NULL));
	if (rc)
		ut_cuda_metrics_complain("the profiler does not start", rc);
	return !rc;
}

uint8_t *ut_cuda_counters(int (*ask)(struct cupti_availability *), struct cupti_availability a)
{
	int rc = ask(&a); /* how large it is */

	if (!rc) {
		a.image = calloc(1, a.bytes);
		rc = a.image ? ask(&a) : CUPTI_INVALID_PARAMETER;
	}
	if (rc) {
		ut_cuda_metrics_complain("counters cannot be listed", rc);
		free(a.image);
		return NULL;
	}
	return a.image;
}

/* ---- threads --------------------------------------------------------------------------------- */

bool ut_cuda_thread(pthread_t *thread, void *(*run)(void *), const char *name)
{
	sigset_t all, before;
	bool made;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	made = !pthread_create(thread, NULL, run, NULL);
	if (made)
		pthread_setname_np(*thread, name);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return made;
}

bool ut_cuda_join(pthread_t thread)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_SECONDS;
	return !pthread_timedjoin_np(thread, NULL, &until);
}

/* ---- which metrics --------------------------------------------------------------------------- */

/* What is on its way to become a set. */
struct choice {
	struct ut_cuda_metrics *m;
	enum cupti_profiler_type type;
	const char *chip;
	const uint8_t *availability;
	struct ut_metric metrics[UT_CUDA_MOST_METRICS]; /* beside m->names */
	char left_out[240];                             /* names, as many as fit */
};

static int open_host(struct choice *c, void **host)
{
	struct cupti_host_init p = CUPTI_PARAMS(cupti_host_init, host, .type = c->type,
						.chip = c->chip, .availability = c->availability);
	int rc = ut_cupti_metrics.ProfilerHostInitialize(&p);

	*host = rc ? NULL : p.host;
	return rc;
}

static void close_host(void *host)
{
	if (host)
		(void)ut_cupti_metrics.ProfilerHostDeinitialize(
			&CUPTI_PARAMS(cupti_host_end, host, .host = host));
}

/* Asking is harmless; a name that is added without being known spoils the host object. */
static bool has_metric(void *host, const char *name, const char **unit)
{
	struct cupti_metric p = CUPTI_PARAMS(cupti_metric, type, .host = host, .name = name);

	if (ut_cupti_metrics.ProfilerHostGetMetricProperties(&p))
		return false;
	*unit = p.unit;
	return true;
}

static void leave_out(struct choice *c, const char *name, size_t len)
{
	size_t at = strlen(c->left_out), room = sizeof(c->left_out) - at;

	if (room > len + 8)
		snprintf(c->left_out + at, room, "%s%.*s", at ? ", " : "", (int)len, name);
	else if (room > 8 && !strstr(c->left_out, ", ..."))
		snprintf(c->left_out + at, room, ", ...");
}

/* The unit that the user gave, or CUPTI's in the same words. */
static char *unit_of(struct ut_str given, const char *cupti)
{
	if (given.len)
		return strndup(given.ptr, given.len);
	if (!cupti || !cupti[0])
		return NULL;
	return strdup(!strcmp(cupti, "percent") ? "%" : !strcmp(cupti, "byte") ? "bytes" : cupti);
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

static void add_metric(struct choice *c, void *host, const struct ut_metric_entry *e)
{
	struct ut_cuda_metrics *m = c->m;
	struct ut_str rest = e->names, first = { 0 };

	while (rest.len && m->count < UT_CUDA_MOST_METRICS) {
		struct ut_str one = ut_metric_piece(&rest, '|');
		const char *unit = NULL;
		char *name;

		if (ut_str_is(one, "-"))
			return;
		name = strndup(one.ptr, one.len);
		first = first.ptr ? first : one;
		if (name && has_metric(host, name, &unit)) {
			/* Sums are counts of something; the rest is averages and ratios. */
			c->metrics[m->count] = (struct ut_metric){
				.key = strndup(first.ptr, first.len),
				.unit = unit_of(e->unit, unit),
				.type = ends_with(name, ".sum") ? UT_VALUE_U64 : UT_VALUE_F64,
			};
			m->names[m->count++] = name;
			return;
		}
		free(name);
	}
	leave_out(c, first.ptr, first.len);
}

/* Those of the list that the chip has. */
static bool cuda_measure_choose(struct choice *c, const char *own)
{
	struct ut_str rest = { 0 };
	struct ut_metric_entry e;
	const char *list = ut_cuda_host->option("metrics.list");
	void *host;
	int rc = open_host(c, &host);

	if (rc) {
		ut_cuda_metrics_complain("this chip's metrics are not known", rc);
		return false;
	}
	rest = ut_str_of(list ? list : "");
	if (own)
		c->m->names[c->m->count++] = own;
	c->m->first = c->m->count;
	while (ut_metric_next(&rest, &e))
		add_metric(c, host, &e);
	close_host(host);
	return c->m->count > c->m->first;
}

/* ---- the configuration ----------------------------------------------------------------------- */

/* A host object that knows these metrics, and the image of what they need. */
static int cuda_measure_configure(struct choice *c, const char **names, size_t count,
				  struct ut_cuda_metrics *to)
{
	struct cupti_config_size s = CUPTI_PARAMS(cupti_config_size, bytes, .bytes = 0);
	struct cupti_passes p = CUPTI_PARAMS(cupti_passes, passes, .passes = 0);
	void *host = NULL;
	uint8_t *image = NULL;
	int rc = open_host(c, &host);

	if (!rc)
		rc = ut_cupti_metrics.ProfilerHostConfigAddMetrics(&CUPTI_PARAMS(
			cupti_config_add, count, .host = host, .names = names, .count = count));
	s.host = host;
	if (!rc)
		rc = ut_cupti_metrics.ProfilerHostGetConfigImageSize(&s);
	image = rc ? NULL : calloc(1, s.bytes);
	if (image)
		rc = ut_cupti_metrics.ProfilerHostGetConfigImage(&CUPTI_PARAMS(
			cupti_config_image, image, .host = host, .bytes = s.bytes, .image = image));
	p.bytes = s.bytes;
	p.image = image;
	if (!rc && image)
		rc = ut_cupti_metrics.ProfilerHostGetNumOfPasses(&p);
	if (rc || !image) {
		free(image);
		close_host(host);
		return rc ? rc : CUPTI_INVALID_PARAMETER;
	}
	to->host = host;
	to->config = image;
	to->config_bytes = s.bytes;
	to->passes = p.passes;
	return 0;
}

static void cuda_measure_forget(struct ut_cuda_metrics *m)
{
	close_host(m->host);
	free(m->config);
	m->host = NULL;
	m->config = NULL;
}

/* One after the other, each that fits beside those before it. */
static int configure_what_fits(struct choice *c)
{
	struct ut_cuda_metrics *m = c->m, trial = { 0 };
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < m->count; i++) {
		m->names[kept] = m->names[i];
		c->metrics[kept] = c->metrics[i];
		rc = cuda_measure_configure(c, m->names, kept + 1, &trial);
		if (!rc && (c->type != CUPTI_PM_SAMPLING || trial.passes == 1))
			kept++;
		else if (c->metrics[kept].key)
			leave_out(c, c->metrics[kept].key, strlen(c->metrics[kept].key));
		if (!rc)
			cuda_measure_forget(&trial);
	}
	m->count = kept;
	return kept > m->first ? cuda_measure_configure(c, m->names, kept, m) : rc;
}

static void send_left_out(const struct choice *c, const char *group)
{
	char text[500];

	snprintf(text, sizeof(text), "this device (%s) does not have these metrics of %s%s: %s",
		 c->chip, group ? group : "the group",
		 c->type == CUPTI_PM_SAMPLING ? ", or not at the same time" : "", c->left_out);
	ut_cuda_host->note(text);
}

static uint32_t define_set(struct choice *c, uint32_t device)
{
	const char *group = ut_cuda_host->option("metrics.group");

	if (c->left_out[0])
		send_left_out(c, group);
	return ut_cuda_host->metrics(&(struct ut_metric_set){ .size = sizeof(struct ut_metric_set),
							      .device = ut_cuda_device(device),
							      .title = group ? group : "Metrics",
							      .metrics = c->metrics + c->m->first,
							      .count = c->m->count - c->m->first });
}

bool ut_cuda_metrics_prepare(struct ut_cuda_metrics *m, enum cupti_profiler_type type,
			     uint32_t device, const uint8_t *availability, const char *own)
{
	struct cupti_chip chip = CUPTI_PARAMS(cupti_chip, name, .device = device);
	struct choice *c = calloc(1, sizeof(*c));
	int rc = c ? ut_cupti_metrics.DeviceGetChipName(&chip) : CUPTI_INVALID_PARAMETER;
	bool good = false;

	if (rc) {
		ut_cuda_metrics_complain("the chip is not known", rc);
		free(c);
		return false;
	}
	*c = (struct choice){
		.m = m, .type = type, .chip = chip.name, .availability = availability
	};
	*m = (struct ut_cuda_metrics){ 0 };
	if (cuda_measure_choose(c, own)) {
		rc = cuda_measure_configure(c, m->names, m->count, m);
		if (rc || (type == CUPTI_PM_SAMPLING && m->passes > 1)) {
			cuda_measure_forget(m);
			rc = configure_what_fits(c);
		}
		good = !rc && m->host;
		if (!good)
			ut_cuda_metrics_complain("these metrics cannot be measured together", rc);
	} else {
		ut_cuda_metrics_complain("this chip has none of the metrics",
					 CUPTI_INVALID_PARAMETER);
	}
	if (good)
		m->set = define_set(c, device);
	free(c);
	return good;
}

/* ---- values ---------------------------------------------------------------------------------- */

bool ut_cuda_metrics_evaluate(const struct ut_cuda_metrics *m, const uint8_t *image, size_t bytes,
			      size_t index, double *values)
{
	const char *const *names = m->names;
	const char **ours;

	memcpy(&ours, &names, sizeof(ours)); /* CUPTI does not write there */
	return !ut_cupti_metrics.ProfilerHostEvaluateToGpuValues(&CUPTI_PARAMS(
		cupti_evaluate, values, .host = m->host, .image = image, .bytes = bytes,
		.index = index, .names = ours, .count = m->count, .values = values));
}

static uint64_t cuda_measure_bits_of(const char *name, double value)
{
	uint64_t bits;

	if (ends_with(name, ".sum"))
		return isfinite(value) && value > 0 ? (uint64_t)(value + 0.5) : 0;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

void ut_cuda_metrics_send(const struct ut_cuda_metrics *m, const double *values,
			  struct ut_values *about)
{
	uint64_t bits[UT_CUDA_MOST_METRICS];

	for (size_t i = m->first; i < m->count; i++)
		bits[i - m->first] = cuda_measure_bits_of(m->names[i], values[i]);
	about->size = sizeof(*about);
	about->set = m->set;
	about->values = bits;
	about->count = m->count - m->first;
	ut_cuda_host->values(about);
}
