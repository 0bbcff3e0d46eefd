/*
 * cuda_side.c - what goes on beside a device's work: the program waits, pages of managed memory
 * move by themselves. Each kind has a row of its own under the device.
 */
#include <stdio.h>

#include "backend/cuda.h"

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
	ut_cuda_host->work(&(struct ut_work){ .queue = ut_cuda_row(device, ROW_NAME),
					      .name = ut_cuda_name(name),
					      .kind = UT_WORK_SYNC,
					      .start = s->start,
					      .end = s->end,
					      .correlation = s->correlation,
					      .facts = &fact,
					      .fact_count = 1 });
}

/* ---- managed memory ------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint32_t what;
	bool bytes; /* else a number of faults */
} page_events[] = {
	{ "Pages move HtoD", CUPTI_PAGES_TO_DEVICE, true },
	{ "Pages move DtoH", CUPTI_PAGES_TO_HOST, true },
	{ "Pages move DtoD", CUPTI_PAGES_BETWEEN_DEVICES, true },
	{ "Page faults of the host", CUPTI_PAGE_FAULTS_OF_HOST, false },
	{ "Page faults of the device", CUPTI_PAGE_FAULTS_OF_DEVICE, false },
};

#define PAGE_EVENTS (sizeof(page_events) / sizeof(*page_events))

static int configure(uint32_t what)
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
		rc = configure(page_events[i].what);
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

void ut_cuda_take_pages(const void *record)
{
	const struct cupti_pages *p = record;
	bool to_device = p->what == CUPTI_PAGES_TO_DEVICE || p->what == CUPTI_PAGES_BETWEEN_DEVICES;
	uint32_t device = to_device ? p->target : p->source;
	struct ut_fact facts[2] = { { 0, UT_VALUE_U64, p->value },
				    { ut_cuda_name("address"), UT_VALUE_HEX, p->address } };

	if (!ut_cuda_host->was_on(p->start))
		return;
	for (size_t i = 0; i < PAGE_EVENTS; i++) {
		if (page_events[i].what != p->what)
			continue;
		facts[0].key = ut_cuda_name(page_events[i].bytes ? "bytes" : "faults");
		ut_cuda_host->work(&(struct ut_work){
			.queue = ut_cuda_row(device, "Unified memory"),
			.name = ut_cuda_name(page_events[i].name),
			.kind = page_events[i].bytes ? UT_WORK_COPY : UT_WORK_OTHER,
			.start = p->start,
			.end = p->end > p->start ? p->end : p->start,
			.facts = facts,
			.fact_count = 2 });
	}
}
