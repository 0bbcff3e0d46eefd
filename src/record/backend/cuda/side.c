/*
 * side.c - what goes on beside a device's work: the program waits, pages of managed memory
 * move by themselves. Each kind has a row of its own under the device.
 */
#include <stdio.h>

#include "backend/cuda/cuda.h"

#define CONTEXTS 256u
#define ROW_NAME "Waits of the host" /* the device does not work there: analyze/device_log.c */

/* Contexts are numbered from 1 on; those beyond the table count as device 0's. */
static uint32_t device_of_context[CONTEXTS];

void ut_cuda_take_context(const void *record)
{
	const struct cupti_context *c = record;

	if (c->id < CONTEXTS)
		device_of_context[c->id] = c->device;
}

static const char *wait_text(const struct cupti_sync *s, char *to, size_t size)
{
	switch (s->what) {
	case CUPTI_WAITS_FOR_EVENT:
		snprintf(to, size, "event %u", s->event);
		return "Wait for an event";
	case CUPTI_STREAM_WAITS:
		snprintf(to, size, "event %u, in stream %u", s->event, s->stream);
		return "A stream is to wait";
	case CUPTI_WAITS_FOR_STREAM:
		snprintf(to, size, "stream %u", s->stream);
		return "Wait for a stream";
	default:
		snprintf(to, size, "context %u", s->context);
		return "Wait for the device";
	}
}

void ut_cuda_take_sync(const void *record)
{
	const struct cupti_sync *s = record;
	uint32_t device = s->context < CONTEXTS ? device_of_context[s->context] : 0;
	char what[64];
	const char *name = wait_text(s, what, sizeof(what));
	struct ut_fact fact = { ut_cuda_name("waits for"), UT_VALUE_NAME, ut_cuda_name(what) };

	if (!ut_cuda_host->was_on(s->start))
		return;
	ut_cuda_host->work(&(struct ut_work){ .size = sizeof(struct ut_work),
					      .queue = ut_cuda_row(device, ROW_NAME),
					      .name = ut_cuda_name(name),
					      .kind = UT_WORK_SYNC,
					      .start = s->start,
					      .end = s->end,
					      .correlation = s->correlation,
					      .facts = &fact,
					      .fact_count = 1 });
}

/* ---- managed memory ------------------------------------------------------------------------- */

static const struct page_event {
	const char *name;
	const char *value; /* what the record's value is */
	uint32_t what;
	uint32_t kind; /* enum ut_work_kind */
	uint32_t type; /* enum ut_value_type, of the value */
} page_events[] = {
	{ "Pages move HtoD", "bytes", CUPTI_PAGES_TO_DEVICE, UT_WORK_COPY, UT_VALUE_U64 },
	{ "Pages move DtoH", "bytes", CUPTI_PAGES_TO_HOST, UT_WORK_COPY, UT_VALUE_U64 },
	{ "Pages move DtoD", "bytes", CUPTI_PAGES_BETWEEN_DEVICES, UT_WORK_COPY, UT_VALUE_U64 },
	{ "Page fault of the host", "instruction", CUPTI_PAGE_FAULT_OF_HOST, UT_WORK_OTHER,
	  UT_VALUE_HEX },
	{ "Page faults of the device", "faults", CUPTI_PAGE_FAULTS_OF_DEVICE, UT_WORK_OTHER,
	  UT_VALUE_U64 },
};

#define PAGE_EVENTS (sizeof(page_events) / sizeof(*page_events))

static int side_configure(uint32_t what)
{
	struct cupti_pages_config c = { .scope = CUPTI_ALL_DEVICES, .what = what, .on = 1 };

	return ut_cupti.ActivityConfigureUnifiedMemoryCounter(&c, 1);
}

/* Kinds that a machine does not have are done without. */
static int enable_pages(void)
{
	int rc = CUPTI_INVALID_PARAMETER;
	bool any = false;

	for (size_t i = 0; ut_cupti.ActivityConfigureUnifiedMemoryCounter && i < PAGE_EVENTS; i++) {
		rc = side_configure(page_events[i].what);
		any = any || !rc;
	}
	return any ? ut_cupti.ActivityEnable(CUPTI_UNIFIED_MEMORY) : rc;
}

bool ut_cuda_enable_pages(bool last_try)
{
	int rc = enable_pages();
	char text[160];

	if (!rc || (rc == CUPTI_NOT_READY && !last_try))
		return !rc;
	snprintf(text, sizeof(text),
		 "--cuda-unified-memory: this driver does not tell what managed memory does (%d)",
		 rc);
	ut_cuda_host->note(text);
	return true;
}

/* The device whose row it goes to; faults of the host have none, and go to the first. */
static uint32_t device_of_pages(const struct cupti_pages *p)
{
	switch (p->what) {
	case CUPTI_PAGES_TO_DEVICE:
	case CUPTI_PAGES_BETWEEN_DEVICES:
		return p->target;
	case CUPTI_PAGE_FAULT_OF_HOST:
		return 0;
	default:
		return p->source;
	}
}

static void put_pages(const struct page_event *e, const struct cupti_pages *p)
{
	bool has_end = p->what != CUPTI_PAGE_FAULT_OF_HOST && p->end > p->start;
	struct ut_fact facts[2] = { { ut_cuda_name(e->value), e->type, p->value },
				    { ut_cuda_name("address"), UT_VALUE_HEX, p->address } };

	ut_cuda_host->work(
		&(struct ut_work){ .size = sizeof(struct ut_work),
				   .queue = ut_cuda_row(device_of_pages(p), "Unified memory"),
				   .name = ut_cuda_name(e->name),
				   .kind = e->kind,
				   .start = p->start,
				   .end = has_end ? p->end : p->start,
				   .facts = facts,
				   .fact_count = 2 });
}

void ut_cuda_take_pages(const void *record)
{
	const struct cupti_pages *p = record;

	if (!ut_cuda_host->was_on(p->start))
		return;
	for (size_t i = 0; i < PAGE_EVENTS; i++) {
		if (page_events[i].what == p->what)
			put_pages(&page_events[i], p);
	}
}
