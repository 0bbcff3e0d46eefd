/*
 * sim_config.c - the settings of the simulated driver, its log and its clock.
 *
 * ZE_SIMULATED="devices=2 tiles=2 hz=12500000 ppm=50 ticks=N bits=32 clock_bits=36 kernel_ns=N
 * copy_ns=N bytes_us=N barrier_ns=N skew_ns=N version=104 strict=0 ddi=1 counted=1
 * stream_room=N log=PATH durations=NAME=NS,NAME=NS fail=FUNCTION:FROM-TO:RESULT raise=FUNCTION"
 *
 * In PATH, %p is the process id. fail may be given several times; RESULT is hexadecimal.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

struct sim_config sim_config = {
	.devices = 1,
	.hz = 12500000,
	.bits = 32,
	.clock_bits = 36,
	.kernel_ns = 10000,
	.copy_ns = 1000,
	.bytes_us = 16384,
	.barrier_ns = 500,
	.version = 118,
	.strict = true,
	.counted = true,
	.stream_room = 100000,
	.log = -1,
};

static uint64_t epoch; /* when the devices' clocks began */

uint64_t sim_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t sim_mask(unsigned int bits)
{
	return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

uint64_t sim_ticks(const struct sim_device *d, uint64_t ns)
{
	/* Cycles in 10^15 ns, each device a little different from the one before. */
	sim_wide rate =
		(sim_wide)sim_config.hz * (uint64_t)(1000000 + sim_config.ppm + (int64_t)d->index);
	sim_wide passed = ns > epoch ? ns - epoch : 0;

	return sim_config.ticks + d->index * 1000003u +
	       (uint64_t)(passed * rate / UINT64_C(1000000000000000));
}

/* ---- last words and the log ---------------------------------------------------------------- */

void sim_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("simulated driver: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

void sim_log(const char *format, ...)
{
	char line[700];
	va_list args;
	int n;

	if (sim_config.log < 0)
		return;
	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	n = n < (int)sizeof(line) - 1 ? n : (int)sizeof(line) - 2;
	line[n++] = '\n';
	if (write(sim_config.log, line, (size_t)n) != n)
		sim_config.log = -1;
}

static void open_log(const char *given)
{
	char path[4096];
	const char *p = strstr(given, "%p");

	if (p)
		snprintf(path, sizeof(path), "%.*s%d%s", (int)(p - given), given, (int)getpid(),
			 p + 2);
	else
		snprintf(path, sizeof(path), "%s", given);
	sim_config.log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (sim_config.log < 0)
		sim_die("%s: cannot be written", path);
}

/* ---- settings ------------------------------------------------------------------------------ */

static void add_fail(const char *text)
{
	struct sim_fail *f = &sim_config.fails[sim_config.fail_count];
	unsigned long long from = 1, to = 0;
	unsigned int result = 0;

	if (sim_config.fail_count == SIM_MOST_FAILS)
		sim_die("too many failures");
	if (sscanf(text, "%79[^:]:%llu-%llu:%x", f->function, &from, &to, &result) != 4)
		sim_die("fail=%s is not FUNCTION:FROM-TO:RESULT", text);
	f->from = from;
	f->to = to;
	f->result = (ze_result_t)result;
	sim_config.fail_count++;
}

bool sim_fails(const char *function, ze_result_t *result)
{
	for (unsigned int i = 0; i < sim_config.fail_count; i++) {
		struct sim_fail *f = &sim_config.fails[i];
		uint64_t n;

		if (strcmp(f->function, function) != 0)
			continue;
		n = __atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED);
		if (n >= f->from && n <= f->to) {
			*result = f->result;
			sim_log("FAILED %s %x", function, (unsigned int)f->result);
			return true;
		}
	}
	return false;
}

void sim_raise(const char *function)
{
	if (strcmp(sim_config.raises, function) != 0)
		return;
	pthread_mutex_lock(&sim_lock);
	raise(SIGUSR1);
	pthread_mutex_unlock(&sim_lock);
}

uint64_t sim_duration(const char *kernel)
{
	size_t len = strlen(kernel);
	const char *p = sim_config.durations;

	for (; p && *p; p += strcspn(p, ","), p += *p == ',') {
		if (!strncmp(p, kernel, len) && p[len] == '=')
			return strtoull(p + len + 1, NULL, 10);
	}
	return sim_config.kernel_ns;
}

static bool set_number(const char *key, const char *text)
{
	struct sim_config *c = &sim_config;
	uint64_t n = strtoull(text, NULL, 10);
	const struct {
		const char *key;
		uint64_t *to;
	} wide[] = { { "hz", &c->hz },
		     { "ticks", &c->ticks },
		     { "kernel_ns", &c->kernel_ns },
		     { "copy_ns", &c->copy_ns },
		     { "bytes_us", &c->bytes_us },
		     { "barrier_ns", &c->barrier_ns },
		     { "skew_ns", &c->skew_ns },
		     { "stream_room", &c->stream_room } };
	const struct {
		const char *key;
		unsigned int *to;
	} narrow[] = { { "devices", &c->devices },
		       { "tiles", &c->tiles },
		       { "bits", &c->bits },
		       { "clock_bits", &c->clock_bits },
		       { "version", &c->version } };
	const struct {
		const char *key;
		bool *to;
	} flags[] = { { "strict", &c->strict }, { "ddi", &c->ddi }, { "counted", &c->counted } };

	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++) {
		if (!strcmp(key, wide[i].key))
			return *wide[i].to = n, true;
	}
	for (size_t i = 0; i < sizeof(narrow) / sizeof(*narrow); i++) {
		if (!strcmp(key, narrow[i].key))
			return *narrow[i].to = (unsigned int)n, true;
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!strcmp(key, flags[i].key))
			return *flags[i].to = n, true;
	}
	if (!strcmp(key, "ppm"))
		return c->ppm = strtoll(text, NULL, 10), true;
	return false;
}

static void set(char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		sim_die("ZE_SIMULATED: '%s' is not KEY=VALUE", word);
	*value++ = '\0';
	if (!strcmp(word, "log"))
		open_log(value);
	else if (!strcmp(word, "fail"))
		add_fail(value);
	else if (!strcmp(word, "durations"))
		sim_config.durations = strdup(value);
	else if (!strcmp(word, "raise"))
		sim_config.raises = strdup(value);
	else if (!set_number(word, value))
		sim_die("ZE_SIMULATED: '%s' is not known", word);
}

static void configure(void)
{
	const char *text = getenv("ZE_SIMULATED");
	char *copy = strdup(text ? text : ""), *rest = copy, *word;

	epoch = sim_now();
	while ((word = strsep(&rest, " \n"))) {
		if (*word)
			set(word);
	}
	free(copy);
	if (sim_config.devices > SIM_MOST_DEVICES || sim_config.tiles > SIM_MOST_TILES ||
	    !sim_config.hz || !sim_config.bytes_us)
		sim_die("ZE_SIMULATED: too many devices or tiles, or a clock that stands");
}

void sim_configure(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, configure);
}

/* ---- objects ------------------------------------------------------------------------------- */

void *sim_object(const void *handle, enum sim_kind kind, const char *function)
{
	union {
		const void *handle;
		struct sim_object *object;
	} u = { .handle = handle };

	if (!handle)
		sim_die("%s: no handle", function);
	if (u.object->kind != (uint64_t)kind)
		sim_die("%s: %p is no object of the kind %x, or was destroyed", function, handle,
			(unsigned int)kind);
	return u.object;
}

void *sim_make(size_t size, enum sim_kind kind, struct sim_context *context)
{
	struct sim_object *o = calloc(1, size);

	if (!o)
		sim_die("no memory");
	o->kind = (uint64_t)kind;
	o->context = context;
	if (context)
		__atomic_add_fetch(&context->children, 1, __ATOMIC_RELAXED);
	return o;
}

void sim_unmake(struct sim_object *o)
{
	if (o->context)
		__atomic_sub_fetch(&o->context->children, 1, __ATOMIC_RELAXED);
	o->kind = 0;
	free(o);
}
