/*
 * event_words.h - what tables of events say of each: its kind and flags in words, how deep it lies.
 */
#ifndef UT_EXPORT_EVENT_WORDS_H
#define UT_EXPORT_EVENT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct ut_out;

/* "span", "instant", ... by enum ut_kind */
extern const char *const ut_kind_words[UT_KIND_COUNT];

/* "unfinished|global"; those that tell how a value is stored are not for readers. */
void ut_flag_words(struct ut_out *o, uint8_t flags);

/* The spans of a track that are open. {0} is none. */
struct ut_depth {
	uint64_t *ends; /* a heap, the first to end on top */
	size_t count, cap;
};

void ut_depth_release(struct ut_depth *d);

/* How many spans of the track are open when this one starts, which is the next in order. */
uint64_t ut_depth_of(struct ut_depth *d, const struct ut_event *span);

#endif
