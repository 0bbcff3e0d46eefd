/*
 * sim_metrics.c - hardware metrics of the simulated devices: groups, queries around kernels,
 * streams of samples, stalls by instruction. Values follow from what ran when, so that tests can
 * work them out: XVE_ACTIVE is 50 while a kernel runs, GPU_MEMORY_BYTE_READ is 4 bytes a
 * nanosecond. As with Intel's driver there are none unless ZET_ENABLE_METRICS is set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_list.h"

#define MHZ    1600u
#define GROUPS 5u
#define STALLS 9u
#define LOOP   8u /* instructions that a kernel is seen at */

struct metric {
	struct sim_object object;
	const char *name, *unit, *about;
	zet_value_type_t type;
	zet_metric_type_t kind;
};

#define M(name, unit, type, kind)                                                                  \
	{                                                                                          \
		{ SIM_METRIC, NULL }, name, unit, "simulated: " name, ZET_VALUE_TYPE_##type,       \
			ZET_METRIC_TYPE_##kind                                                     \
	}

static struct metric basic[] = {
	M("GpuTime", "ns", UINT64, DURATION),
	M("GpuCoreClocks", "cycles", UINT64, EVENT),
	M("AvgGpuCoreFrequencyMHz", "MHz", UINT64, EVENT),
	M("XVE_ACTIVE", "percent", FLOAT32, RATIO),
	M("XVE_STALL", "percent", FLOAT32, RATIO),
	M("GPU_MEMORY_BYTE_READ", "bytes", UINT64, THROUGHPUT),
	M("QueryBeginTime", "ns", UINT64, TIMESTAMP),
	M("ReportReason", "", UINT32, RAW),
};
static struct metric vector[] = {
	M("GpuTime", "ns", UINT64, DURATION),
	M("XVE_INST_EXECUTED_FP32", "events", UINT64, EVENT),
	M("XVE_INST_EXECUTED_FP64", "events", UINT64, EVENT),
	M("QueryBeginTime", "ns", UINT64, TIMESTAMP),
};
static struct metric stall[] = {
	M("IP", "address", UINT64, IP_EXP),
	M("Active", "Events", UINT64, EVENT),
	M("ControlStall", "Events", UINT64, EVENT),
	M("PipeStall", "Events", UINT64, EVENT),
	M("SendStall", "Events", UINT64, EVENT),
	M("DistStall", "Events", UINT64, EVENT),
	M("SbidStall", "Events", UINT64, EVENT),
	M("SyncStall", "Events", UINT64, EVENT),
	M("InstrFetchStall", "Events", UINT64, EVENT),
	M("OtherStall", "Events", UINT64, EVENT),
};

struct group {
	struct sim_object object;
	const char *name, *about;
	uint32_t sampling;
	struct metric *metrics;
	uint32_t count;
};

#define G(name, sampling, list)                                                                    \
	{                                                                                          \
		{ SIM_GROUP, NULL }, name, "Simulated " name " metrics",                           \
			ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_##sampling, list,                      \
			sizeof(list) / sizeof(*(list))                                             \
	}

static struct group groups[GROUPS] = {
	G("ComputeBasic", EVENT_BASED, basic),     G("ComputeBasic", TIME_BASED, basic),
	G("VectorEngine138", EVENT_BASED, vector), G("VectorEngine138", TIME_BASED, vector),
	G("EuStallSampling", TIME_BASED, stall),
};

/* What the device writes. */
struct report {
	uint64_t begin, span; /* ns of the host */
	uint64_t ip, number;
	uint32_t device, running;
};

struct sim_query {
	struct sim_object object;
	struct group *group;
	struct sim_device *device;
	struct query_pool *pool;
	struct report report;
	bool ended;
};

struct query_pool {
	struct sim_object object;
	struct group *group;
	struct sim_device *device;
	uint32_t live;
};

struct streamer {
	struct sim_object object;
	struct group *group;
	struct sim_device *device;
	uint64_t period, next, number;
};

static struct group *_Atomic active[SIM_MOST_DEVICES]; /* contexts of several threads may set it */
static uint32_t streamers;

/* ---- groups -------------------------------------------------------------------------------- */

static bool is_on(void)
{
	const char *on = getenv("ZET_ENABLE_METRICS");

	return on && on[0] == '1';
}

ze_result_t sim_zetMetricGroupGet(zet_device_handle_t device, uint32_t *count,
				  zet_metric_group_handle_t *to)
{
	uint32_t n = *count && *count < GROUPS ? *count : GROUPS;

	SIM_OBJECT(device, SIM_DEVICE);
	SIM_MAY_FAIL();
	if (!is_on())
		return *count = 0, ZE_RESULT_ERROR_UNINITIALIZED;
	for (uint32_t i = 0; to && i < n; i++)
		to[i] = (zet_metric_group_handle_t)&groups[i];
	*count = n;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricGroupGetProperties(zet_metric_group_handle_t group,
					    zet_metric_group_properties_t *p)
{
	const struct group *g = SIM_OBJECT(group, SIM_GROUP);

	snprintf(p->name, sizeof(p->name), "%s", g->name);
	snprintf(p->description, sizeof(p->description), "%s", g->about);
	p->samplingType = g->sampling;
	p->domain = 0;
	p->metricCount = g->count;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricGet(zet_metric_group_handle_t group, uint32_t *count,
			     zet_metric_handle_t *to)
{
	const struct group *g = SIM_OBJECT(group, SIM_GROUP);
	uint32_t n = *count && *count < g->count ? *count : g->count;

	for (uint32_t i = 0; to && i < n; i++)
		to[i] = (zet_metric_handle_t)&g->metrics[i];
	*count = n;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricGetProperties(zet_metric_handle_t metric, zet_metric_properties_t *p)
{
	const struct metric *m = SIM_OBJECT(metric, SIM_METRIC);

	snprintf(p->name, sizeof(p->name), "%s", m->name);
	snprintf(p->description, sizeof(p->description), "%s", m->about);
	snprintf(p->component, sizeof(p->component), "GPU");
	snprintf(p->resultUnits, sizeof(p->resultUnits), "%s", m->unit);
	p->tierNumber = 1;
	p->metricType = m->kind;
	p->resultType = m->type;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetContextActivateMetricGroups(zet_context_handle_t context,
					       zet_device_handle_t device, uint32_t count,
					       zet_metric_group_handle_t *to)
{
	const struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);

	SIM_OBJECT(context, SIM_CONTEXT);
	SIM_MAY_FAIL();
	active[d->index] = count ? SIM_OBJECT(to[0], SIM_GROUP) : NULL;
	return ZE_RESULT_SUCCESS;
}

/* ---- values -------------------------------------------------------------------------------- */

static uint64_t device_ns(const struct report *r)
{
	const struct sim_device *d = &sim_devices[0];

	for (unsigned int i = 0; i < sim_device_count; i++) {
		if (sim_devices[i].index == r->device && !sim_devices[i].root)
			d = &sim_devices[i];
	}
	return (uint64_t)((sim_wide)sim_ticks(d, r->begin) * 1000000000u / sim_config.hz);
}

static uint64_t integer(const struct report *r, const char *name)
{
	static const char *const stalls[STALLS] = { "Active",    "ControlStall",    "PipeStall",
						    "SendStall", "DistStall",       "SbidStall",
						    "SyncStall", "InstrFetchStall", "OtherStall" };

	if (!strcmp(name, "GpuTime"))
		return r->span;
	if (!strcmp(name, "GpuCoreClocks"))
		return r->span * MHZ / 1000;
	if (!strcmp(name, "AvgGpuCoreFrequencyMHz"))
		return MHZ;
	if (!strcmp(name, "GPU_MEMORY_BYTE_READ"))
		return r->running ? r->span * 4 : 0;
	if (!strncmp(name, "XVE_INST", 8))
		return r->running ? r->span * (name[strlen(name) - 2] == '3' ? 2 : 1) : 0;
	if (!strcmp(name, "QueryBeginTime"))
		return device_ns(r);
	if (!strcmp(name, "IP"))
		return r->ip >> 3;
	for (uint64_t i = 0; i < STALLS; i++) {
		if (!strcmp(name, stalls[i]))
			return r->number % STALLS == i ? 2 : 0;
	}
	return 1;
}

static zet_typed_value_t value_of(const struct report *r, const struct metric *m)
{
	zet_typed_value_t v = { .type = m->type };

	if (m->type == ZET_VALUE_TYPE_FLOAT32)
		v.value.fp32 = r->running ? m->name[4] == 'A' ? 50.0f : 25.0f : 0.0f;
	else if (m->type == ZET_VALUE_TYPE_UINT32)
		v.value.ui32 = (uint32_t)integer(r, m->name);
	else
		v.value.ui64 = integer(r, m->name);
	return v;
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zetMetricGroupCalculateMultipleMetricValuesExp(
	zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type, size_t size,
	const uint8_t *raw, uint32_t *set_count, uint32_t *value_count, uint32_t *counts,
	zet_typed_value_t *values)
{
	const struct group *g = SIM_OBJECT(group, SIM_GROUP);
	uint32_t reports = (uint32_t)(size / sizeof(struct report)), n = 0;

	(void)type;
	SIM_MAY_FAIL();
	if (size % sizeof(struct report))
		sim_die("metrics are calculated of %zu bytes", size);
	if (values) {
		for (uint32_t i = 0; i < reports; i++) {
			struct report r;

			memcpy(&r, raw + i * sizeof(r), sizeof(r));
			for (uint32_t k = 0; k < g->count && n < *value_count; k++)
				values[n++] = value_of(&r, &g->metrics[k]);
		}
		counts[0] = n;
	}
	*set_count = 1;
	*value_count = reports * g->count;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricGroupGetGlobalTimestampsExp(zet_metric_group_handle_t group,
						     ze_bool_t with_host, uint64_t *global,
						     uint64_t *metric)
{
	struct report r = { .begin = sim_now() };

	(void)with_host;
	SIM_OBJECT(group, SIM_GROUP);
	*global = sim_ticks(&sim_devices[0], r.begin) & sim_mask(sim_config.clock_bits);
	*metric = device_ns(&r);
	return ZE_RESULT_SUCCESS;
}

/* ---- queries ------------------------------------------------------------------------------- */

ze_result_t sim_zetMetricQueryPoolCreate(zet_context_handle_t context, zet_device_handle_t device,
					 zet_metric_group_handle_t group,
					 const zet_metric_query_pool_desc_t *desc,
					 zet_metric_query_pool_handle_t *to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	struct query_pool *p;

	(void)desc;
	SIM_MAY_FAIL();
	p = sim_make(sizeof(*p), SIM_QUERY_POOL, c);
	p->group = SIM_OBJECT(group, SIM_GROUP);
	p->device = SIM_OBJECT(device, SIM_DEVICE);
	if (p->group->sampling != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
		sim_die("a query pool for a group that is sampled");
	*to = (zet_metric_query_pool_handle_t)p;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricQueryPoolDestroy(zet_metric_query_pool_handle_t pool)
{
	struct query_pool *p = SIM_OBJECT(pool, SIM_QUERY_POOL);

	if (p->live)
		sim_die("a query pool is destroyed that has queries");
	sim_unmake(&p->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricQueryCreate(zet_metric_query_pool_handle_t pool, uint32_t index,
				     zet_metric_query_handle_t *to)
{
	struct query_pool *p = SIM_OBJECT(pool, SIM_QUERY_POOL);
	struct sim_query *q;

	(void)index;
	SIM_MAY_FAIL();
	q = sim_make(sizeof(*q), SIM_QUERY, p->object.context);
	q->group = p->group;
	q->device = p->device;
	q->pool = p;
	__atomic_add_fetch(&p->live, 1, __ATOMIC_RELAXED);
	*to = (zet_metric_query_handle_t)q;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricQueryDestroy(zet_metric_query_handle_t query)
{
	struct sim_query *q = SIM_OBJECT(query, SIM_QUERY);

	__atomic_sub_fetch(&q->pool->live, 1, __ATOMIC_RELAXED);
	sim_unmake(&q->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricQueryReset(zet_metric_query_handle_t query)
{
	struct sim_query *q = SIM_OBJECT(query, SIM_QUERY);

	pthread_mutex_lock(&sim_lock);
	q->ended = false;
	pthread_mutex_unlock(&sim_lock);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricQueryGetData(zet_metric_query_handle_t query, size_t *size, uint8_t *to)
{
	struct sim_query *q = SIM_OBJECT(query, SIM_QUERY);
	ze_result_t rc = ZE_RESULT_SUCCESS;

	pthread_mutex_lock(&sim_lock);
	sim_pump();
	if (!q->ended)
		rc = ZE_RESULT_NOT_READY;
	else if (to)
		memcpy(to, &q->report, sizeof(q->report));
	*size = sizeof(q->report);
	pthread_mutex_unlock(&sim_lock);
	return rc;
}

void sim_query_begin(struct sim_query *q, uint64_t ns)
{
	q->report = (struct report){ .begin = ns, .device = q->device->index, .running = 1 };
}

void sim_query_end(struct sim_query *q, uint64_t ns)
{
	q->report.span = ns - q->report.begin;
	q->ended = true;
}

static ze_result_t append_query(zet_command_list_handle_t list, zet_metric_query_handle_t query,
				enum sim_work work)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = { .work = work, .query = SIM_OBJECT(query, SIM_QUERY) };

	if (active[l->device->index] != c.query->group)
		sim_die("a query of a group that is not active");
	return sim_append(l, &c, NULL, 0, NULL);
}

ze_result_t sim_zetCommandListAppendMetricQueryBegin(zet_command_list_handle_t list,
						     zet_metric_query_handle_t query)
{
	SIM_MAY_FAIL();
	return append_query(list, query, SIM_WORK_QUERY_BEGIN);
}

ze_result_t sim_zetCommandListAppendMetricQueryEnd(zet_command_list_handle_t list,
						   zet_metric_query_handle_t query,
						   ze_event_handle_t signal, uint32_t wait_count,
						   ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = { .work = SIM_WORK_QUERY_END,
				 .query = SIM_OBJECT(query, SIM_QUERY) };

	SIM_MAY_FAIL();
	return sim_append(l, &c, signal, wait_count, waits);
}

/* ---- streams ------------------------------------------------------------------------------- */

/* limits: Level Zero's */
ze_result_t sim_zetMetricStreamerOpen(zet_context_handle_t context, zet_device_handle_t device,
				      zet_metric_group_handle_t group,
				      zet_metric_streamer_desc_t *desc, ze_event_handle_t event,
				      zet_metric_streamer_handle_t *to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	const struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);
	struct streamer *s;

	(void)event;
	SIM_MAY_FAIL();
	if (streamers & 1u << d->index)
		return ZE_RESULT_ERROR_NOT_AVAILABLE; /* one at a time, as on hardware */
	s = sim_make(sizeof(*s), SIM_STREAMER, c);
	s->group = SIM_OBJECT(group, SIM_GROUP);
	s->device = SIM_OBJECT(device, SIM_DEVICE);
	if (active[d->index] != s->group)
		sim_die("a stream of a group that is not active");
	s->period = desc->samplingPeriod ? desc->samplingPeriod : 50000;
	s->next = sim_now();
	streamers |= 1u << d->index;
	*to = (zet_metric_streamer_handle_t)s;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zetMetricStreamerClose(zet_metric_streamer_handle_t streamer)
{
	struct streamer *s = SIM_OBJECT(streamer, SIM_STREAMER);

	streamers &= ~(1u << s->device->index);
	sim_unmake(&s->object);
	return ZE_RESULT_SUCCESS;
}

static bool make_report(struct streamer *s, struct report *r)
{
	const struct sim_kernel_info *k = sim_ran_at(s->device, s->next + s->period / 2);
	bool stalls = s->group->metrics == stall;

	*r = (struct report){ .begin = s->next,
			      .span = s->period,
			      .device = s->device->index,
			      .running = k != NULL };
	if (k) {
		r->number = s->number++;
		r->ip = k->base + 16 * (r->number % LOOP);
	}
	s->next += s->period;
	return k || !stalls;
}

ze_result_t sim_zetMetricStreamerReadData(zet_metric_streamer_handle_t streamer, uint32_t most,
					  size_t *size, uint8_t *to)
{
	struct streamer *s = SIM_OBJECT(streamer, SIM_STREAMER);
	uint64_t now = sim_now(), have, room = *size / sizeof(struct report);
	ze_result_t rc = ZE_RESULT_SUCCESS;
	size_t n = 0;

	SIM_MAY_FAIL();
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	have = now > s->next ? (now - s->next) / s->period : 0;
	if (have > sim_config.stream_room) {
		if (to)
			s->next += (have - sim_config.stream_room) * s->period;
		have = sim_config.stream_room;
		rc = to ? SIM_DROPPED_DATA : ZE_RESULT_SUCCESS;
	}
	have = have < most ? have : most;
	if (!to) {
		*size = have * sizeof(struct report);
		pthread_mutex_unlock(&sim_lock);
		return ZE_RESULT_SUCCESS;
	}
	for (uint64_t i = 0; i < have && n < room; i++) {
		struct report r;

		if (make_report(s, &r))
			memcpy(to + n++ * sizeof(r), &r, sizeof(r));
	}
	*size = n * sizeof(struct report);
	pthread_mutex_unlock(&sim_lock);
	return rc;
}
