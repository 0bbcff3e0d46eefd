/*
 * track_event.h - one track event, taken apart; shared by track_event.c and
 * legacy.c. Its arguments, flows and extra counters are in the lists of struct ut_pf.
 */
#ifndef UT_IMPORT_PERFETTO_TRACK_EVENT_H
#define UT_IMPORT_PERFETTO_TRACK_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "import/perfetto/shared.h"

struct ut_pf_parts {
	uint64_t ts;    /* ns */
	uint64_t uuid;  /* of its track, if it has one */
	uint64_t type;  /* enum event_type */
	uint64_t value; /* counter: an int64_t or the bits of a double */
	bool has_uuid, is_double;
	uint32_t track;      /* of another track than the writer's: index + 1 */
	uint8_t flags;       /* enum ut_event_flag */
	uint32_t name, cat;  /* string ids */
	struct ut_pb legacy; /* empty if there is none */
};

/* An event with a phase as in Chrome's JSON. False: it has none, only additions. */
bool ut_pf_legacy(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pf_parts *e);

/* The track of an event: index of the ut_pf_track. */
uint32_t ut_pf_track_of(struct ut_pf *p, const struct ut_pf_seq *s, const struct ut_pf_parts *e);

#endif
