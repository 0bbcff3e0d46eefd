/*
 * perfetto.c - packets, one after the other, through a window that slides over the file.
 *
 * A trace is a list of packets, each with its length in front. A file that ends in the middle of a
 * packet was cut off: what is complete is read, with a warning. A packet that is broken inside is
 * left out and counted. Where no packet starts, we are lost: that is an error.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/perfetto/shared.h"
#include "model/perfetto_code.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"
#include "text/source.h"

#define WINDOW      ((size_t)256 << 10) /* to begin with; fits the L2 cache */
#define MOST_PACKET ((uint64_t)1 << 30) /* no tool writes larger ones */
#define MOST_HEAD   20                  /* tag and length */

struct bytes {
	const unsigned char *at; /* NULL = not there */
	size_t len;
};

/* What one packet holds. */
struct packet {
	uint64_t ts;
	bool has_ts, has_clock, dropped;
	uint32_t seq_id, clock_id, flags;
	struct bytes event, interned, defaults, descriptor, clocks, ours;
	uint32_t other; /* the field of data of another kind; 0 = none */
	struct bytes data;
};

static struct bytes bytes_of(const struct ut_pb_field *f)
{
	return f->wire == UT_PB_BYTES ? (struct bytes){ f->data, f->value } : (struct bytes){ 0 };
}

static struct ut_pb message(struct bytes b)
{
	return (struct ut_pb){ .at = b.at, .end = b.at + b.len };
}

/* ---- one packet ---------------------------------------------------------------------------- */

static void read_field(struct packet *k, const struct ut_pb_field *f)
{
	switch (f->number) {
	case PACKET_TIMESTAMP:
		k->ts = f->value;
		k->has_ts = true;
		break;
	case PACKET_SEQUENCE_ID:
		k->seq_id = (uint32_t)f->value;
		break;
	case PACKET_SEQUENCE_FLAGS:
		k->flags |= (uint32_t)f->value;
		break;
	case PACKET_STATE_CLEARED:
		k->flags |= f->value ? SEQ_STATE_CLEARED : 0;
		break;
	case PACKET_PREVIOUS_DROPPED:
		k->dropped = f->value != 0;
		break;
	case PACKET_CLOCK_ID:
		k->clock_id = (uint32_t)f->value;
		k->has_clock = true;
		break;
	case PACKET_TRACK_EVENT:
		k->event = bytes_of(f);
		break;
	case PACKET_INTERNED_DATA:
		k->interned = bytes_of(f);
		break;
	case PACKET_DEFAULTS:
		k->defaults = bytes_of(f);
		break;
	case PACKET_TRACK_DESCRIPTOR:
		k->descriptor = bytes_of(f);
		break;
	case PACKET_CLOCK_SNAPSHOT:
		k->clocks = bytes_of(f);
		break;
	case PACKET_OURS:
		k->ours = bytes_of(f);
		break;
	default:
		if (f->wire == UT_PB_BYTES) {
			k->other = f->number;
			k->data = bytes_of(f);
		}
		break;
	}
}

static void perfetto_unpack(struct ut_pf *p, uint32_t field, struct bytes packed);

static void read_other(struct ut_pf *p, struct ut_pf_seq *s, uint32_t field, struct bytes data)
{
	switch (field) {
	case PACKET_FTRACE:
		ut_pf_ftrace(p, s->id, message(data));
		break;
	case PACKET_PROCESS_TREE:
		ut_pf_process_tree(p, message(data));
		break;
	case PACKET_THREAD_DESCRIPTOR:
		ut_pf_describe_of_old(p, s, message(data));
		break;
	case PACKET_PROCESS_DESCRIPTOR:
		ut_pf_describe_process(p, message(data));
		break;
	case PACKET_COMPRESSED:
	case PACKET_ZSTD_COMPRESSED:
		perfetto_unpack(p, field, data);
		break;
	default:
		if (!ut_pf_is_about_recording(field))
			p->troubles.left_out[field < 256 ? field : 0]++;
		break;
	}
}

static uint64_t perfetto_time_of(struct ut_pf *p, struct ut_pf_seq *s, const struct packet *k)
{
	if (k->has_ts)
		s->last_ts = ut_pf_clock_ns(&p->clocks, s->id,
					    k->has_clock ? k->clock_id : s->default_clock, k->ts);
	return s->last_ts;
}

/* What is known of the writer, before its data is looked at. */
static void update_sequence(struct ut_pf *p, struct ut_pf_seq *s, const struct packet *k)
{
	if (k->dropped)
		s->valid = false;
	if (k->flags & SEQ_STATE_CLEARED)
		ut_pf_seq_clear(s);
	if (k->clocks.at)
		ut_pf_clock_snapshot(&p->clocks, s->id, message(k->clocks), ut_pf_trace(p));
	if (k->interned.at) {
		ut_pf_seq_intern(&p->seqs, s, message(k->interned), &ut_pf_trace(p)->strings);
		ut_pf_intern_code(p, s, message(k->interned));
	}
	if (k->defaults.at)
		ut_pf_seq_defaults(s, message(k->defaults));
}

/* What we tell ourselves about the track or the event in the packet, or about the trace. */
static void read_ours(struct ut_pf *p, struct ut_pf_seq *s, const struct packet *k)
{
	struct ut_pf_ours ours;
	uint32_t track;

	p->ours = true;
	if (k->other == PACKET_PERF_SAMPLE)
		return; /* it is read with the sample */
	if (k->event.at) {
		ut_pf_ours_event(message(k->ours), &p->own);
		return;
	}
	if (!k->descriptor.at) {
		ut_pf_ours_trace(p, s, message(k->ours));
		return;
	}
	track = ut_pf_describe(p, message(k->descriptor));
	ours = ut_pf_read_ours(p, s, message(k->ours));
	if (ut_pf_at(p, track)->kind == UT_PF_PROCESS)
		ut_pf_ours_process(p, ut_pf_at(p, track)->process - 1, &ours);
	else
		ut_pf_ours_track(p, track, &ours);
}

static void read_packet(struct ut_pf *p, struct ut_pb m)
{
	struct packet k = { 0 };
	struct ut_pb_field f;
	struct ut_pf_seq *s;

	while (ut_pb_next(&m, &f))
		read_field(&k, &f);
	if (m.bad) {
		ut_pf_broken(p);
		return;
	}
	p->packets++;
	s = ut_pf_seq(&p->seqs, k.seq_id);
	update_sequence(p, s, &k);
	if (k.flags & SEQ_NEEDS_STATE && !s->valid) {
		p->troubles.lost++;
		return;
	}
	p->own = (struct ut_pf_own_event){ 0 };
	if (k.ours.at)
		read_ours(p, s, &k);
	else if (k.descriptor.at)
		ut_pf_describe(p, message(k.descriptor));
	if (k.event.at)
		ut_pf_event(p, s, perfetto_time_of(p, s, &k), message(k.event));
	if (k.other == PACKET_PERF_SAMPLE)
		ut_pf_sample(p, s, perfetto_time_of(p, s, &k), message(k.data), message(k.ours));
	else if (k.other)
		read_other(p, s, k.other, k.data);
}

/* ---- packets in a packet ------------------------------------------------------------------- */

/* Packets inside are not compressed once more, so one buffer is enough. */
static void perfetto_unpack(struct ut_pf *p, uint32_t field, struct bytes packed)
{
	struct ut_pb_field inside;
	struct ut_pb all;
	int rc;

	if (p->unpacking)
		return;
	rc = field == PACKET_COMPRESSED ? ut_pf_inflate(&p->unpacked, packed.at, packed.len)
					: ut_pf_unzstd(&p->unpacked, packed.at, packed.len);
	if (rc) {
		if (!p->troubles.packed++)
			p->troubles.packed_at = p->offset;
		return;
	}
	p->unpacking = true;
	all = (struct ut_pb){ .at = p->unpacked.data, .end = p->unpacked.data + p->unpacked.len };
	while (ut_pb_next(&all, &inside)) {
		if (inside.number == TRACE_PACKET)
			read_packet(p, ut_pb_inside(&inside));
	}
	if (all.bad)
		ut_pf_broken(p);
	p->unpacking = false;
}

/* ---- the file ------------------------------------------------------------------------------ */

struct window {
	const struct ut_pf_input *in;
	unsigned char *data;
	size_t at, end, cap; /* unread bytes lie between at and end */
	uint64_t base;       /* offset in the file of the first byte */
	bool eof;
};

enum step {
	STEP_PACKET,
	STEP_END,
	STEP_CUT,  /* the file ends inside of a packet */
	STEP_ZERO, /* nothing but zeros: the writer never came that far */
	STEP_LOST, /* no packet starts here */
};

/* Brings more of the file into the window, which grows if it is full. */
static int perfetto_read_more(struct window *w, struct ut_err *err)
{
	size_t left = w->end - w->at;
	ssize_t n;

	if (w->at)
		memmove(w->data, w->data + w->at, left);
	w->base += w->at;
	w->at = 0;
	w->end = left;
	if (left == w->cap)
		w->data = ut_grow(w->data, left ? 2 * left : WINDOW, &w->cap, 1);
	n = w->in->read(w->in->ctx, w->data + left, w->cap - left, err);
	if (n < 0)
		return (int)n;
	w->eof = !n;
	w->end += (size_t)n;
	return 0;
}

/* At least so many unread bytes, unless the file ends before. */
static int want(struct window *w, uint64_t bytes, struct ut_err *err)
{
	int rc = 0;

	while (!rc && w->end - w->at < bytes && !w->eof)
		rc = perfetto_read_more(w, err);
	return rc;
}

static bool only_zeros(const struct window *w)
{
	for (size_t i = w->at; i < w->end; i++) {
		if (w->data[i])
			return false;
	}
	return true;
}

/* The head of the packet at the cursor: its own length and that of the rest. */
static enum step perfetto_look(const struct window *w, size_t *head, uint64_t *len)
{
	const unsigned char *start = w->data + w->at, *p = start, *end = w->data + w->end;

	if (p == end)
		return STEP_END;
	if (*p++ != (TRACE_PACKET << 3 | UT_PB_BYTES))
		return only_zeros(w) ? STEP_ZERO : STEP_LOST;
	if (!ut_pb_varint(&p, end, len))
		return end - p < MOST_HEAD - 1 ? STEP_CUT : STEP_LOST;
	*head = (size_t)(p - start);
	return *len <= MOST_PACKET ? STEP_PACKET : STEP_LOST;
}

/* Takes the next packet; stays in front of it if it is not complete. */
static int next_packet(struct window *w, struct ut_pb *packet, enum step *what, struct ut_err *err)
{
	size_t head = 0;
	uint64_t len = 0;
	int rc;

	if (w->end - w->at < MOST_HEAD && (rc = want(w, MOST_HEAD, err)))
		return rc;
	*what = perfetto_look(w, &head, &len);
	if (*what != STEP_PACKET)
		return 0;
	if (w->end - w->at < head + len && (rc = want(w, head + len, err)))
		return rc;
	if (w->end - w->at < head + len) {
		*what = STEP_CUT;
		return 0;
	}
	packet->at = w->data + w->at + head;
	packet->end = packet->at + len;
	w->at += head + len;
	return 0;
}

static int perfetto_read_file(struct ut_pf *p, struct window *w, struct ut_err *err)
{
	struct ut_pb packet = { 0 };
	enum step what = STEP_END;
	int rc;

	do {
		p->offset = w->base + w->at;
		rc = next_packet(w, &packet, &what, err);
		if (rc)
			return rc;
		if (what == STEP_PACKET)
			read_packet(p, packet);
	} while (what == STEP_PACKET);
	p->offset = w->base + w->at;
	if (what == STEP_CUT)
		ut_pf_warn(p, true,
			   "offset %" PRIu64 ": the file ends inside a packet; everything before "
			   "it was read",
			   p->offset);
	else if (what == STEP_ZERO)
		ut_pf_warn(p, false,
			   "offset %" PRIu64 ": only zero bytes from here on; everything before "
			   "them was read",
			   p->offset);
	if (what == STEP_LOST || (!p->packets && p->troubles.broken))
		return ut_err_set(err, -EPROTO,
				  "%s: offset %" PRIu64 ": no packet of a Perfetto trace starts "
				  "here; the file is damaged or of another kind",
				  p->path, what == STEP_LOST ? p->offset : p->troubles.broken_at);
	return 0;
}

/* ---- the importer -------------------------------------------------------------------------- */

static void perfetto_release(struct ut_pf *p)
{
	ut_pf_clocks_release(&p->clocks);
	ut_pf_seqs_release(&p->seqs);
	ut_pf_tracks_release(&p->tracks);
	for (size_t i = 0; i < p->chunk_cap; i++)
		free(p->row_chunks[i]);
	free(p->row_chunks);
	free(p->flows);
	free(p->notes);
	free(p->file);
	ut_idmap_release(&p->file_keys);
	ut_idmap_release(&p->globals);
	free(p->numbers.items);
	free(p->args);
	free(p->values.items);
	free(p->value_tracks.items);
	free(p->doubles.items);
	free(p->double_tracks.items);
	free(p->flow_ids.items);
	free(p->last_flow_ids.items);
	ut_buf_release(&p->text);
	free(p->unpacked.data);
	free(p);
}

/* A list of the trace's arguments: its index, 0 = it is empty. */
static uint32_t perfetto_add_list(struct ut_trace *t, const struct ut_arg *items, size_t count)
{
	uint32_t list = (uint32_t)t->arg_count;

	if (!count)
		return 0;
	for (size_t i = 0; i < count; i++)
		*ut_trace_add_arg(t, 0, UT_ARG_END) = items[i];
	ut_trace_close_args(t);
	return list;
}

static void perfetto_finish(struct ut_pf *p, struct ut_store *store)
{
	struct ut_trace *trace = ut_pf_trace(p);

	trace->losses.unread += p->troubles.lost + p->troubles.broken + p->troubles.packed;
	ut_pf_make_lanes(p);
	ut_pf_make_flows(p);
	trace->global_args = perfetto_add_list(trace, p->notes, p->note_count);
	trace->file_args = perfetto_add_list(trace, p->file, p->file_count);
	ut_pf_report(p);
	ut_build_finish(&p->build, store);
}

int ut_perfetto_load(const struct ut_pf_input *in, const struct ut_import_opts *opts,
		     struct ut_store *store, struct ut_err *err)
{
	struct ut_pf *p = ut_make(sizeof(*p));
	struct window w = { .in = in };
	int rc;

	*store = (struct ut_store){ 0 };
	p->path = in->path;
	p->opts = opts;
	ut_build_init(&p->build);
	rc = perfetto_read_file(p, &w, err);
	free(w.data);
	if (rc)
		ut_build_abandon(&p->build);
	else
		perfetto_finish(p, store);
	perfetto_release(p);
	return rc;
}

/* ---- as one of the importers --------------------------------------------------------------- */

struct from_source {
	struct ut_source *source;
	const struct ut_import_opts *opts;
};

static ssize_t perfetto_read_source(void *ctx, void *to, size_t len, struct ut_err *err)
{
	struct from_source *from = ctx;
	uint64_t taken = from->source->taken;
	ssize_t n = ut_source_read(from->source, to, len, err);

	if (from->opts && from->opts->progress)
		*from->opts->progress += from->source->taken - taken;
	return n;
}

static int perfetto_load(struct ut_source *source, const struct ut_import_opts *opts,
			 struct ut_store *store, struct ut_err *err)
{
	struct from_source from = { source, opts };
	const struct ut_pf_input in = { source->path, perfetto_read_source, &from };
	int rc = ut_perfetto_load(&in, opts, store, err);

	if (!rc && source->cut && opts)
		ut_import_lost(opts, source->path, "the compressed data ends too early");
	return rc;
}

/* What a field of a packet is written as: numbers and messages, by the schema. */
static bool perfetto_fits(const struct ut_pb_field *f)
{
	switch (f->number) {
	case PACKET_TIMESTAMP:
	case PACKET_SEQUENCE_ID:
	case PACKET_SEQUENCE_FLAGS:
	case PACKET_STATE_CLEARED:
	case PACKET_PREVIOUS_DROPPED:
	case PACKET_CLOCK_ID:
	case 3:  /* trusted_uid */
	case 79: /* trusted_pid */
	case 87: /* first_packet_on_sequence */
	case 98: /* machine_id */
		return f->wire == UT_PB_VARINT;
	default:
		return f->wire == UT_PB_BYTES && f->number < 2000;
	}
}

/* Could a field start here? */
static bool starts_field(const unsigned char *p, const unsigned char *end)
{
	uint64_t tag;

	if (!ut_pb_varint(&p, end, &tag))
		return true; /* cut off */
	return tag >= 8 && tag <= UINT32_MAX &&
	       perfetto_fits(
		       &(struct ut_pb_field){ .number = (uint32_t)(tag >> 3), .wire = tag & 7 });
}

/* A text may begin with an empty line; packets are full of bytes that no text has. */
static bool perfetto_is_text(const char *s, size_t len)
{
	for (size_t i = 0; i < len && i < 256; i++) {
		if ((unsigned char)s[i] < ' ' && !memchr("\t\r\n", s[i], 3))
			return false;
	}
	return true;
}

/* A packet of fields that the schema knows; the last may be cut off by the end of head. */
static bool perfetto_probe(const char *head, size_t len)
{
	const unsigned char *p = (const unsigned char *)head, *end = p + len, *field;
	struct ut_pb_field f;
	struct ut_pb m;
	uint64_t size;
	bool cut;

	if (len < 4 || perfetto_is_text(head, len) || *p++ != (TRACE_PACKET << 3 | UT_PB_BYTES) ||
	    !ut_pb_varint(&p, end, &size) || size < 2 || size > MOST_PACKET)
		return false;
	cut = size > (uint64_t)(end - p);
	m = (struct ut_pb){ .at = p, .end = cut ? end : p + size };
	do {
		field = m.at;
		if (!ut_pb_next(&m, &f))
			return !m.bad || (cut && starts_field(field, end));
	} while (perfetto_fits(&f));
	return false;
}

const struct ut_importer ut_import_perfetto = {
	.name = "perfetto",
	.probe = perfetto_probe,
	.load = perfetto_load,
};
