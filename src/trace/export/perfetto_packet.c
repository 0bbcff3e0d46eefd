#include "export/perfetto_packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "model/perfetto_code.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"
#include "model/trace.h"
#include "text/out.h"

void ut_perfetto_start(struct ut_perfetto_packets *w, uint64_t flags)
{
	w->packet.len = 0;
	ut_pbuf_varint(&w->packet, PACKET_SEQUENCE_ID, w->sequence);
	if (flags)
		ut_pbuf_varint(&w->packet, PACKET_SEQUENCE_FLAGS, flags);
}

void ut_perfetto_write(struct ut_perfetto_packets *w)
{
	unsigned char *head = (unsigned char *)ut_out_reserve(w->out, 16);

	*head = TRACE_PACKET << 3 | 2;
	ut_out_advance(w->out, (const char *)ut_pbuf_put(head + 1, w->packet.len));
	ut_out_write(w->out, w->packet.data, w->packet.len);
}

static void write_interned(struct ut_perfetto_packets *w)
{
	if (!w->interned.len)
		return;
	ut_perfetto_start(w, SEQ_NEEDS_STATE);
	ut_pbuf_bytes(&w->packet, PACKET_INTERNED_DATA, w->interned.data, w->interned.len);
	ut_perfetto_write(w);
	w->interned.len = 0;
}

void ut_perfetto_write_event(struct ut_perfetto_packets *w, uint64_t ts,
			     const struct ut_pbuf *event)
{
	ut_perfetto_write_data(w, ts, PACKET_TRACK_EVENT, event);
}

void ut_perfetto_write_data(struct ut_perfetto_packets *w, uint64_t ts, uint32_t field,
			    const struct ut_pbuf *event)
{
	write_interned(w);
	ut_perfetto_start(w, SEQ_NEEDS_STATE);
	ut_pbuf_varint(&w->packet, PACKET_TIMESTAMP, ts);
	ut_pbuf_bytes(&w->packet, field, event->data, event->len);
	if (w->ours.len)
		ut_pbuf_bytes(&w->packet, PACKET_OURS, w->ours.data, w->ours.len);
	w->ours.len = 0;
	ut_perfetto_write(w);
}

static void perfetto_packet_intern(struct ut_perfetto_packets *w, uint32_t field, uint64_t iid,
				   struct ut_str s)
{
	size_t mark = ut_pbuf_begin(&w->interned, field);

	ut_pbuf_varint(&w->interned, INTERNED_IID, iid);
	ut_pbuf_str(&w->interned, INTERNED_TEXT, s.ptr, s.len);
	ut_pbuf_end(&w->interned, mark);
}

static bool is_new(struct ut_perfetto_packets *w, uint32_t id, enum ut_perfetto_table table)
{
	if (id < w->seen_cap && w->seen[id] & table)
		return false;
	w->seen = ut_grow(w->seen, (size_t)id + 1, &w->seen_cap, 1);
	w->seen[id] |= (unsigned char)table;
	return true;
}

#define MOST_LIST 256 /* bytes; longer lists are taken for one category, here and by importers */

/* Names with commas between them. */
static bool is_list(struct ut_str s)
{
	if (!memchr(s.ptr, ',', s.len) || s.len > MOST_LIST || s.ptr[0] == ',')
		return false;
	return s.ptr[s.len - 1] != ',' && !memmem(s.ptr, s.len, ",,", 2);
}

void ut_perfetto_put_categories(struct ut_perfetto_packets *w, struct ut_pbuf *b,
				const struct ut_trace *t, uint32_t cat, bool list)
{
	struct ut_str s = ut_strtab_get(&t->strings, cat);
	bool new;

	if (!cat)
		return;
	if (!list || !is_list(s)) {
		ut_pbuf_varint(b, EVENT_CATEGORY_IIDS,
			       ut_perfetto_intern(w, t, cat, UT_PERFETTO_CATEGORIES));
		return;
	}
	new = is_new(w, cat, UT_PERFETTO_CATEGORIES);
	for (uint64_t iid = (UINT64_C(1) << 32) + cat;; iid += UINT64_C(1) << 32) {
		const char *comma = memchr(s.ptr, ',', s.len);
		size_t len = comma ? (size_t)(comma - s.ptr) : s.len;

		if (new)
			perfetto_packet_intern(w, INTERNED_CATEGORIES, iid,
					       (struct ut_str){ s.ptr, len });
		ut_pbuf_varint(b, EVENT_CATEGORY_IIDS, iid);
		if (!comma)
			return;
		s = (struct ut_str){ comma + 1, s.len - len - 1 };
	}
}

uint64_t ut_perfetto_intern(struct ut_perfetto_packets *w, const struct ut_trace *t, uint32_t id,
			    enum ut_perfetto_table table)
{
	static const uint32_t field[] = {
		[UT_PERFETTO_NAMES] = INTERNED_NAMES,
		[UT_PERFETTO_CATEGORIES] = INTERNED_CATEGORIES,
		[UT_PERFETTO_KEYS] = INTERNED_KEYS,
		[UT_PERFETTO_FUNCTIONS] = INTERNED_FUNCTIONS,
		[UT_PERFETTO_MODULES] = INTERNED_MODULES,
		[UT_PERFETTO_SOURCES] = INTERNED_SOURCES,
	};

	if (is_new(w, id, table))
		perfetto_packet_intern(w, field[table], id, ut_strtab_get(&t->strings, id));
	return id;
}

void ut_perfetto_forget(struct ut_perfetto_packets *w)
{
	free(w->seen);
	w->seen = NULL;
	w->seen_cap = 0;
}

void ut_perfetto_release(struct ut_perfetto_packets *w)
{
	ut_perfetto_forget(w);
	ut_pbuf_release(&w->packet);
	ut_pbuf_release(&w->interned);
	ut_pbuf_release(&w->ours);
}

static void put_clock(struct ut_pbuf *b, enum builtin_clock clock, uint64_t ns)
{
	size_t mark = ut_pbuf_begin(b, SNAPSHOT_CLOCKS);

	ut_pbuf_varint(b, CLOCK_ID, clock);
	ut_pbuf_varint(b, CLOCK_TIMESTAMP, ns);
	ut_pbuf_end(b, mark);
}

/*
 * One moment on all clocks. Once per file: snapshots must not go back in time, and every packet
 * of ours is on CLOCK_MONOTONIC, which is made the trace's own clock.
 */
void ut_perfetto_write_clocks(struct ut_perfetto_packets *w, const struct ut_trace *t, uint64_t ts)
{
	size_t mark;

	ut_perfetto_start(w, 0);
	mark = ut_pbuf_begin(&w->packet, PACKET_CLOCK_SNAPSHOT);
	put_clock(&w->packet, CLOCK_MONO, ts);
	put_clock(&w->packet, CLOCK_BOOT, ts + (uint64_t)t->boottime_offset);
	if (t->realtime_offset)
		put_clock(&w->packet, CLOCK_REAL, ts + (uint64_t)t->realtime_offset);
	ut_pbuf_varint(&w->packet, SNAPSHOT_PRIMARY, CLOCK_MONO);
	ut_pbuf_end(&w->packet, mark);
	ut_perfetto_write(w);
}

/*
 * Perfetto files may be joined with cat, so numbers should not start at 1 in each of them. 24
 * bits of what the process is keep files apart, and 16 more for the tracks keep them short.
 */
uint64_t ut_perfetto_salt(const struct ut_trace *t)
{
	struct ut_process first = { 0 };
	struct ut_str host;

	if (t->process_count)
		first = t->processes[0];
	host = ut_strtab_get(&t->strings, first.host);
	return (ut_hash_bytes(host.ptr, host.len) + first.pid * 0x9e3779b97f4a7c15ull + t->first) >>
	       40;
}

/* What was said about the file that the trace comes from: nobody else has a place for it. */
void ut_perfetto_write_file_facts(struct ut_perfetto_packets *w, const struct ut_trace *t)
{
	size_t mark;

	if (!t->file_args && !t->clock_error && !t->call_count)
		return;
	ut_perfetto_start(w, 0);
	mark = ut_pbuf_begin(&w->packet, PACKET_OURS);
	ut_perfetto_put_facts(&w->packet, OURS_FILE, t, t->file_args);
	if (t->clock_error)
		ut_pbuf_varint(&w->packet, OURS_ERROR, t->clock_error);
	for (size_t i = 0; i < t->call_count; i++) {
		struct ut_str s = ut_strtab_get(&t->strings, t->calls[i]);

		ut_pbuf_str(&w->packet, OURS_CALLS, s.ptr, s.len);
	}
	ut_pbuf_end(&w->packet, mark);
	ut_perfetto_write(w);
}

void ut_perfetto_write_globals(struct ut_perfetto_packets *w, const uint64_t *ids, size_t count)
{
	size_t mark;

	if (!count)
		return;
	ut_perfetto_start(w, 0);
	mark = ut_pbuf_begin(&w->packet, PACKET_OURS);
	for (size_t i = 0; i < count; i++)
		ut_pbuf_fixed64(&w->packet, OURS_GLOBAL_FLOW, ids[i]);
	ut_pbuf_end(&w->packet, mark);
	ut_perfetto_write(w);
}

bool ut_perfetto_put_losses(struct ut_pbuf *b, const struct ut_trace *t)
{
	bool any = false;

	for (size_t i = 0; i < UT_LOSSES; i++) {
		if (t->losses.all[i])
			ut_perfetto_put_number(b, ut_losses_names[i], t->losses.all[i]);
		any |= t->losses.all[i] != 0;
	}
	return any;
}
