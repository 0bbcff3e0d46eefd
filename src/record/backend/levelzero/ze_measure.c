/* ze_measure.c - see ze_measure.h. */
#include "backend/levelzero/ze_measure.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backend/levelzero/ze_memory.h"

#define MOST_GROUPS 256u /* of a device; Intel's have about fifty */
#define MOST_TABLE  16u

/* ---- the driver's functions ---------------------------------------------------------------- */

static struct zet_functions functions;
static bool has_functions;

static ut_ze_fn *entry(const char *getter, uint32_t place)
{
	ut_ze_fn *table[MOST_TABLE] = { 0 };
	union {
		void *pointer;
		ze_result (*get)(uint32_t version, ut_ze_fn **to);
	} u = { .pointer = ut_ze_driver_symbol(getter) };

	return u.get && !u.get(ZE_VERSION(1, 17), table) ? table[place] : NULL;
}

static void ze_measure_find_functions(void)
{
	ut_ze_fn *found;

#define ZET_FIND(table, place, name, parameters)                                                   \
	found = entry("zetGet" #table "ProcAddrTable", place);                                     \
	memcpy(&functions.name, &found, sizeof(found));
	ZET_LIST(ZET_FIND)
#undef ZET_FIND
	has_functions = functions.group_get && functions.group_properties && functions.calculate &&
			functions.metric_get && functions.metric_properties && functions.activate;
	if (!has_functions)
		ut_ze_measure_complain("this driver has no metrics", ZE_SUCCESS);
}

const struct zet_functions *ut_zet(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, ze_measure_find_functions);
	return has_functions ? &functions : NULL;
}

void ut_ze_measure_complain(const char *what, ze_result result)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *name = result ? ut_ze_result_name(result) : NULL;
	char text[300];

	if (atomic_flag_test_and_set(&said))
		return;
	snprintf(text, sizeof(text), "Level Zero: no hardware metrics: %s%s%s", what,
		 result ? ": " : "",
		 !result ? ""
		 : name  ? name
			 : "an error without a name");
	ut_ze.host->note(text);
}

/* ---- a group of a device ------------------------------------------------------------------- */

const char *ut_ze_group_asked(void)
{
	const char *name =
		UT_HOST_HAS(ut_ze.host, option) ? ut_ze.host->option("metrics.asked") : NULL;

	return name ? name : "ComputeBasic";
}

static uint32_t reported_type(uint32_t value)
{
	return value == ZET_F32 || value == ZET_F64 ? UT_VALUE_F64 : UT_VALUE_U64;
}

struct texts {
	struct zet_metric_properties one;
	char names[UT_ZE_MOST_METRICS][ZET_TEXT], units[UT_ZE_MOST_METRICS][ZET_TEXT];
	struct ut_metric metrics[UT_ZE_MOST_METRICS];
	ze_handle handles[UT_ZE_MOST_METRICS];
};

static void add_metric(struct ut_ze_group *g, struct texts *t, uint32_t i, bool stalls)
{
	uint32_t n = g->seen_count;

	t->one.name[ZET_TEXT - 1] = t->one.unit[ZET_TEXT - 1] = '\0';
	if (stalls)
		g->names[i] = ut_ze_name(t->one.name);
	if (t->one.kind == ZET_IP || !strcmp(t->one.name, "IP")) {
		g->ip = (int32_t)i;
	} else if (!strcmp(t->one.name, "GpuTime")) {
		g->time = (int32_t)i;
	} else if (t->one.kind == ZET_TIMESTAMP && !strcmp(t->one.name, "QueryBeginTime")) {
		g->begin = (int32_t)i;
	} else {
		memcpy(t->names[n], t->one.name, ZET_TEXT);
		snprintf(t->units[n], ZET_TEXT, "%s", zet_unit(t->one.unit));
		t->metrics[n] = (struct ut_metric){ .key = t->names[n],
						    .unit = t->units[n][0] ? t->units[n] : NULL,
						    .type = reported_type(t->one.value) };
		g->reported[g->seen_count++] = (uint16_t)i;
	}
}

static bool learn_metrics(struct ut_ze_group *g, struct texts *t, bool stalls)
{
	g->time = g->begin = g->ip = -1;
	g->count = UT_ZE_MOST_METRICS;
	if (functions.metric_get(g->handle, &g->count, t->handles))
		return false;
	g->count = g->count < UT_ZE_MOST_METRICS ? g->count : UT_ZE_MOST_METRICS;
	for (uint32_t i = 0; i < g->count; i++) {
		t->one = (struct zet_metric_properties){ .type = ZET_METRIC_PROPERTIES };
		if (functions.metric_properties(t->handles[i], &t->one))
			return false;
		add_metric(g, t, i, stalls);
	}
	return g->count != 0;
}

static ze_handle find_group(struct ut_ze_device *d, const char *name, uint32_t sampling)
{
	ze_handle all[MOST_GROUPS];
	uint32_t count = MOST_GROUPS;
	ze_result rc = functions.group_get(ut_ze_handle(&d->item), &count, all);
	struct zet_group_properties p;
	char text[400];

	if (rc) {
		ut_ze_measure_complain("the driver lists none", rc);
		return NULL;
	}
	for (uint32_t i = 0; i < count && i < MOST_GROUPS; i++) {
		p = (struct zet_group_properties){ .type = ZET_GROUP_PROPERTIES };
		if (!functions.group_properties(all[i], &p) && p.sampling & sampling &&
		    !strncmp(p.name, name, sizeof(p.name)))
			return all[i];
	}
	snprintf(text, sizeof(text), "the device has no group %.200s for %s", name,
		 sampling == ZET_EVENT_BASED ? "--metric-query" : "--metric-sampling");
	ut_ze_measure_complain(text, ZE_SUCCESS);
	return NULL;
}

struct ut_ze_group *ut_ze_group_of(struct ut_ze_device *d, const char *name, uint32_t sampling)
{
	bool stalls = sampling == ZET_TIME_BASED && !strcmp(name, "EuStallSampling");
	ze_handle handle = ut_zet() ? find_group(d, name, sampling) : NULL;
	struct ut_ze_group *g = handle ? ut_ze_alloc(sizeof(*g)) : NULL;
	struct texts *t = g ? ut_ze_alloc(sizeof(*t)) : NULL;
	bool good = false;

	if (t) {
		g->handle = handle;
		good = learn_metrics(g, t, stalls);
		if (good && !stalls)
			g->set = ut_ze.host->metrics(
				&(struct ut_metric_set){ .size = sizeof(struct ut_metric_set),
							 .device = d->id,
							 .title = name,
							 .metrics = t->metrics,
							 .count = g->seen_count });
		good = good && (stalls ? g->ip >= 0 : g->set != 0);
	}
	ut_ze_free(t, sizeof(*t));
	if (good)
		return g;
	ut_ze_free(g, sizeof(*g));
	return NULL;
}

/* ---- values -------------------------------------------------------------------------------- */

uint64_t ut_zet_integer(const struct zet_value *v)
{
	switch (v->type) {
	case ZET_U32:
		return v->value.u32;
	case ZET_F32:
		return v->value.f32 > 0 ? (uint64_t)v->value.f32 : 0;
	case ZET_F64:
		return v->value.f64 > 0 ? (uint64_t)v->value.f64 : 0;
	case ZET_BOOL:
		return v->value.b8;
	default:
		return v->value.u64;
	}
}

static uint64_t ze_measure_bits_of(const struct zet_value *v)
{
	double d = v->type == ZET_F32 ? (double)v->value.f32 : v->value.f64;
	uint64_t bits;

	if (v->type != ZET_F32 && v->type != ZET_F64)
		return ut_zet_integer(v);
	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

uint32_t ut_ze_group_values(const struct ut_ze_group *g, const uint8_t *raw, size_t size,
			    struct zet_value *values, uint32_t room)
{
	uint32_t sets = 0, count = 0, counts[8] = { 0 };
	ze_result rc = functions.calculate(g->handle, 0, size, raw, &sets, &count, NULL, NULL);

	if (!rc && sets && sets <= 8 && count <= room)
		rc = functions.calculate(g->handle, 0, size, raw, &sets, &count, counts, values);
	if (rc) {
		ut_ze_measure_complain("values cannot be calculated", rc);
		return 0;
	}
	/* Of a device with tiles, those of the first. */
	return count <= room && counts[0] <= count ? counts[0] : 0;
}

void ut_ze_group_send(const struct ut_ze_group *g, const struct zet_value *values,
		      struct ut_values *about)
{
	uint64_t bits[UT_ZE_MOST_METRICS];

	for (uint32_t i = 0; i < g->seen_count; i++)
		bits[i] = ze_measure_bits_of(&values[g->reported[i]]);
	about->size = sizeof(*about);
	about->set = g->set;
	about->values = bits;
	about->count = g->seen_count;
	ut_ze.host->values(about);
}
