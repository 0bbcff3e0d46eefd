/*
 * host_take.h - takes structs from backends of any version, by the size that they say, and lists
 * of facts of any length.
 */
#ifndef UT_COLLECT_HOST_TAKE_H
#define UT_COLLECT_HOST_TAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unitrace/backend.h"
#include "wire/spool.h"

enum ut_host_struct {
	UT_HOST_DEVICE,
	UT_HOST_WORK,
	UT_HOST_METRIC_SET,
	UT_HOST_VALUES,
	UT_HOST_FRAME,
	UT_HOST_SAMPLE,
	UT_HOST_MESSAGE,
	UT_HOST_ALLOCATION,
	UT_HOST_STRUCTS
};

/* The sizes of a struct: what the backend says, what is needed at least, what it is here. */
struct ut_host_sizes {
	size_t said, least, ours;
};

/*
 * Copies from into to, which has ours bytes; what was not said is 0. False when less was said than
 * is needed; then, and when something was said that we do not know, the user is told once.
 */
bool ut_host_take(enum ut_host_struct which, void *to, const void *from, struct ut_host_sizes size);

/* The same for a struct that begins with its size and needs all members up to last. */
#define UT_HOST_TAKE(which, to, from, last)                                                        \
	((from) && ut_host_take(which, to, from,                                                   \
				(struct ut_host_sizes){ (from)->size,                              \
							offsetof(__typeof__(*(to)), last) +        \
								sizeof((to)->last),                \
							sizeof(*(to)) }))

/*
 * Records count words and then facts, any number of them: what one record has no room for follows
 * in UT_REC_FACTS, under a number that a fact of the type UT_FACT_MORE in front names.
 */
void ut_host_record(enum ut_rec type, const uint64_t *words, size_t count,
		    const struct ut_fact *facts, size_t fact_count);

/* One line for the user, shown after the run. */
void ut_host_note(const char *text);

/* The rest of struct ut_host: host_metrics.c, host_samples.c, host_memory.c. */
uint32_t ut_host_metrics(const struct ut_metric_set *set);
void ut_host_values(const struct ut_values *values);
uint32_t ut_host_frame(const struct ut_code *frame);
uint32_t ut_host_stack(uint32_t parent, uint32_t frame);
void ut_host_samples(const struct ut_sample *samples, size_t count, size_t size);
void ut_host_message(const struct ut_message *message);
int ut_host_allocated(const struct ut_allocation *allocation);
void ut_host_freed(uint64_t address);

/* The host that a backend of version 1 gets, which passes on to the current one: host_v1.c. */
const void *ut_host_v1(const struct ut_host *host);

#endif
