/*
 * perfetto_packet.h - packets of one sequence on their way into the file, and what they refer to:
 * strings are interned before their first use, and their numbers are our string ids.
 */
#ifndef UT_EXPORT_PERFETTO_PACKET_H
#define UT_EXPORT_PERFETTO_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/pbuf.h"

struct ut_out;
struct ut_trace;

enum ut_perfetto_table {
	UT_PERFETTO_NAMES = 1u << 0,
	UT_PERFETTO_CATEGORIES = 1u << 1,
	UT_PERFETTO_KEYS = 1u << 2,
	UT_PERFETTO_FUNCTIONS = 1u << 3,
	UT_PERFETTO_MODULES = 1u << 4,
	UT_PERFETTO_SOURCES = 1u << 5,
};

struct ut_perfetto_packets {
	struct ut_out *out;
	uint32_t sequence;
	struct ut_pbuf packet,
		interned;    /* the packet under construction; strings that go before it */
	struct ut_pbuf ours; /* our own fields of the next event: perfetto_ours.h */
	unsigned char *seen; /* by string id: enum ut_perfetto_table */
	size_t seen_cap;
};

/* An empty packet, to be filled in w->packet; then out with it. */
void ut_perfetto_start(struct ut_perfetto_packets *w, uint64_t flags);
void ut_perfetto_write(struct ut_perfetto_packets *w);

/* A packet with a track event. */
void ut_perfetto_write_event(struct ut_perfetto_packets *w, uint64_t ts,
			     const struct ut_pbuf *event);

/* A packet with other data of a moment, in this field. */
void ut_perfetto_write_data(struct ut_perfetto_packets *w, uint64_t ts, uint32_t field,
			    const struct ut_pbuf *data);

/* A string's number, written once per table before the next event. */
uint64_t ut_perfetto_intern(struct ut_perfetto_packets *w, const struct ut_trace *t, uint32_t id,
			    enum ut_perfetto_table table);

/* An event's categories: one, or where a comma parts several (list) each of them. */
void ut_perfetto_put_categories(struct ut_perfetto_packets *w, struct ut_pbuf *b,
				const struct ut_trace *t, uint32_t cat, bool list);

/* The next sequence knows nothing yet. */
void ut_perfetto_forget(struct ut_perfetto_packets *w);
void ut_perfetto_release(struct ut_perfetto_packets *w);

/* Debug annotations of an event: a list of arguments, a flag that is set, a number. */
void ut_perfetto_put_args(struct ut_perfetto_packets *w, struct ut_pbuf *b,
			  const struct ut_trace *t, uint32_t index);
/* The same list in our own field of that number; no strings are interned for it. */
void ut_perfetto_put_facts(struct ut_pbuf *b, uint32_t field, const struct ut_trace *t,
			   uint32_t index);
void ut_perfetto_put_flag(struct ut_pbuf *b, const char *name);
void ut_perfetto_put_number(struct ut_pbuf *b, const char *name, uint64_t value);

/* One moment on all clocks, once per file and before all else. */
void ut_perfetto_write_clocks(struct ut_perfetto_packets *w, const struct ut_trace *t, uint64_t ts);

/* What was lost, as numbers of an event; false if nothing was. */
bool ut_perfetto_put_losses(struct ut_pbuf *b, const struct ut_trace *t);

/* What the numbers of a trace are moved by. */
uint64_t ut_perfetto_salt(const struct ut_trace *t);

/* What nobody else has a place for: about the file, and which flows other files may have. */
void ut_perfetto_write_file_facts(struct ut_perfetto_packets *w, const struct ut_trace *t);
void ut_perfetto_write_globals(struct ut_perfetto_packets *w, const uint64_t *ids, size_t count);

#endif
