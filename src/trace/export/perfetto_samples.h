/*
 * perfetto_samples.h - samples and their stacks on their way into a Perfetto file.
 */
#ifndef UT_EXPORT_PERFETTO_SAMPLES_H
#define UT_EXPORT_PERFETTO_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "export/pbuf.h"

struct ut_event;
struct ut_perfetto_packets;
struct ut_trace;

/* What the sequence has interned so far, by number. Zeroed: nothing. */
struct ut_perfetto_samples {
	unsigned char *modules, *places, *stacks;
	size_t module_cap, place_cap, stack_cap;
	uint32_t *path; /* scratch */
	size_t path_cap;
	struct ut_pbuf body; /* scratch */
};

/* Where the sample was taken, in the file: a thread, and our own track. */
struct ut_perfetto_sampled {
	uint64_t uuid;
	int32_t pid, tid;
};

void ut_perfetto_put_sample(struct ut_perfetto_samples *s, struct ut_perfetto_packets *w,
			    const struct ut_trace *t, const struct ut_event *e,
			    const struct ut_perfetto_sampled *at);
void ut_perfetto_forget_samples(struct ut_perfetto_samples *s);

#endif
