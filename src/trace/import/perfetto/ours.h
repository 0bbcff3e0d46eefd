/*
 * ours.h - inside the Perfetto importer: what our own exporter adds for ourselves because
 * the format has no place for it.
 */
#ifndef UT_IMPORT_PERFETTO_OURS_H
#define UT_IMPORT_PERFETTO_OURS_H

#include <stdbool.h>
#include <stdint.h>

#include "import/perfetto/protobuf.h"
#include "model/place.h"

struct ut_pf;
struct ut_pf_seq;
struct ut_pf_track;
struct ut_track;

/* What our own exporter says of an event in its own words. */
struct ut_pf_own_event {
	uint64_t track;  /* uuid of the track that it belongs to */
	uint64_t number; /* of its async span; of a counter: its value */
	bool has_track, has_number;
};

/* What a process or track stands for: model/place.h. */
struct ut_pf_own_place {
	uint8_t kind, device_type, role; /* 0 = not said */
	int32_t device, sub_device;      /* -1 = none */
	uint32_t model;                  /* string id */
	uint32_t thread;
	struct ut_api_id api;
};

/* And of a process or track; string ids. */
struct ut_pf_ours {
	bool any, named, hosted, has_id, async;
	uint32_t name, host, id_text, base, unit;
	uint32_t facts; /* a list of the trace's arguments; 0 = none */
	int32_t rank;
	uint64_t id, lane;
	struct ut_pf_own_place place;
};

struct ut_pf_ours ut_pf_read_ours(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m);
void ut_pf_ours_process(struct ut_pf *p, uint32_t process, const struct ut_pf_ours *o);
void ut_pf_ours_track(struct ut_pf *p, uint32_t track, const struct ut_pf_ours *o);
void ut_pf_give_role(const struct ut_pf_track *from, struct ut_track *to);
void ut_pf_ours_trace(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m);
void ut_pf_ours_event(struct ut_pb m, struct ut_pf_own_event *e);

#endif
