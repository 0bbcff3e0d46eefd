/*
 * shared.h - what the parts of the Perfetto importer share.
 *
 *	perfetto.c packets, one after the other, through a window that slides over the file
 *	inflate.c  packets that are compressed
 *	seq.c      packet sequences: what they have interned, their defaults
 *	clocks.c   times of any clock onto the clock of the trace
 *	tracks.c   descriptors of tracks, processes, threads
 *	track_event.c  track events
 *	legacy.c   track events in the manner of Chrome's JSON
 *	args.c     debug annotations
 *	ours.c     what our own exporter adds for ourselves
 *	samples.c  samples with their stacks
 *	ftrace.c   the kernel's events: who ran where, and marks written through it
 *	lanes.c    at the end: what belongs to no thread
 *	flow.c     at the end: which end of an arrow is which
 *	report.c   at the end: what could not be read
 *
 * Events of threads and counters go into the build as they come. Those of other tracks wait until
 * the end of the file, because only then is it known what a track is called and how many of them
 * stand for one row of the timeline: Perfetto draws tracks of the same name and parent as one, and
 * tools make a track for each overlapping span.
 */
#ifndef UT_IMPORT_PERFETTO_SHARED_H
#define UT_IMPORT_PERFETTO_SHARED_H

#include <sys/types.h>

#include "base/str.h"
#include "import/importer.h"
#include "import/perfetto/clocks.h"
#include "import/perfetto/inflate.h"
#include "import/perfetto/ours.h"
#include "import/perfetto/protobuf.h"
#include "import/perfetto/seq.h"
#include "import/perfetto/tracks.h"
#include "model/build.h"

/* Where the bytes come from: the next ones, 0 at the end, a negative errno with the reason. */
typedef ssize_t ut_pf_read(void *ctx, void *to, size_t len, struct ut_err *err);

struct ut_pf_input {
	const char *path; /* for messages */
	ut_pf_read *read;
	void *ctx;
};

/* The importer itself, for any kind of input. */
int ut_perfetto_load(const struct ut_pf_input *in, const struct ut_import_opts *opts,
		     struct ut_store *store, struct ut_err *err) UT_MUST_CHECK;

#define UT_PF_CHUNK 16384u

/* An event that waits for the end of the file. */
struct ut_pf_row {
	uint64_t ts, val;
	uint32_t track; /* index of the ut_pf_track */
	uint32_t type;  /* in the build; its kind may be a raw one */
	uint32_t args;
	uint32_t number; /* of its async span, if the file tells: index + 1 in p->numbers */
};

enum ut_pf_flow_end {
	UT_PF_FLOW_ANY,  /* the first in time is where it starts */
	UT_PF_FLOW_LAST, /* and ends here */
	UT_PF_FLOW_OUT,
	UT_PF_FLOW_STEP,
	UT_PF_FLOW_IN,
};

struct ut_pf_flow {
	uint64_t id, ts;
	uint32_t track; /* index of the ut_pf_track; in the end of the model's track */
	uint8_t end;    /* enum ut_pf_flow_end; in the end the kind */
};

/* What could not be read: told once, at the end. */
struct ut_pf_troubles {
	uint64_t broken, broken_at; /* packets that are no messages inside; offset of the first */
	uint64_t packed, packed_at; /* compressed packets that cannot be read */
	uint64_t lost;              /* packets whose sequence has lost what they refer to */
	uint64_t nameless;          /* references to names that were never defined */
	uint64_t kernel;            /* kernel events of other kinds */
	uint64_t typed;             /* arguments that are messages of their own */
	uint64_t legacy;            /* events in the manner of Chrome that say nothing to us */
	uint64_t left_out[256];     /* packets by their data field; [0]: of higher numbers */
};

struct ut_pf_known {
	struct ut_type type;
	uint32_t number; /* in the build; 0 = nothing is known */
};

struct ut_pf {
	struct ut_build build;
	const char *path;
	const struct ut_import_opts *opts;
	struct ut_pf_clocks clocks;
	struct ut_pf_seqs seqs;
	struct ut_pf_tracks tracks;
	struct ut_pf_troubles troubles;
	struct ut_pf_known types[256]; /* by a hash: most events are of a type seen just before */
	uint64_t offset;               /* of the packet in the file */
	uint64_t packets;              /* that could be read */

	struct ut_pf_row **row_chunks; /* of UT_PF_CHUNK rows: they never move */
	size_t row_count, chunk_cap;
	struct ut_pf_flow *flows;
	size_t flow_count, flow_cap;

	struct ut_arg *notes; /* about the trace as a whole */
	size_t note_count, note_cap;
	struct ut_arg *file; /* about the file that it came from */
	size_t file_count, file_cap;
	struct ut_idmap file_keys; /* of these */
	struct ut_pf_list numbers; /* of async spans, each with the arguments of its end */
	bool ours;                 /* written by us */
	struct ut_idmap globals;   /* ids of flows that other files may have; -> 1 */

	/* of one event, kept for the next */
	struct ut_pf_own_event own;
	struct ut_arg *args;
	size_t arg_count, arg_cap;
	bool is_value; /* they belong to a counter's value */
	struct ut_pf_list values, value_tracks, doubles, double_tracks, flow_ids, last_flow_ids;
	struct ut_buf text;
	struct ut_pf_unpacked unpacked;
	bool unpacking;
};

static inline struct ut_trace *ut_pf_trace(struct ut_pf *p)
{
	return &p->build.store.trace;
}

static inline struct ut_pf_track *ut_pf_at(struct ut_pf *p, uint32_t track)
{
	return &p->tracks.items[track];
}

static inline struct ut_pf_row *ut_pf_row_at(const struct ut_pf *p, size_t row)
{
	return &p->row_chunks[row / UT_PF_CHUNK][row % UT_PF_CHUNK];
}

/* The string in a field; 0 if there is none. */
static inline uint32_t ut_pf_string(struct ut_pf *p, const struct ut_pb_field *f)
{
	if (f->wire != UT_PB_BYTES)
		return 0;
	return ut_strtab_intern(&ut_pf_trace(p)->strings, (const char *)f->data, f->value);
}

static inline uint32_t ut_pf_interned(struct ut_pf *p, const struct ut_idmap *m, uint64_t iid)
{
	uint32_t id = ut_idmap_get(m, iid);

	p->troubles.nameless += !id;
	return id ? id - 1 : 0;
}

/* track_event.c */
void ut_pf_event(struct ut_pf *p, struct ut_pf_seq *s, uint64_t ts, struct ut_pb event);

/* A row with the arguments in p->args. */
void ut_pf_add(struct ut_pf *p, uint32_t track, uint64_t ts, uint64_t val, struct ut_type type);
void ut_pf_add_number(struct ut_pf *p, uint32_t track, uint64_t ts, int64_t value, uint32_t cat);
void ut_pf_add_double(struct ut_pf *p, uint32_t track, uint64_t ts, double value, uint32_t cat);
void ut_pf_add_flow(struct ut_pf *p, struct ut_pf_flow flow);

/* The track of the model for the counter values of a track: its index. */
uint32_t ut_pf_counter_track(struct ut_pf *p, uint32_t track);

/* args.c */
void ut_pf_annotation(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb annotation);
void ut_pf_place_args(struct ut_pf *p, const struct ut_pf_place *place);
struct ut_arg *ut_pf_add_arg(struct ut_pf *p, uint32_t key, enum ut_arg_type type);
bool ut_pf_is(struct ut_pf *p, uint32_t id, const char *text);

/* ftrace.c */
void ut_pf_ftrace(struct ut_pf *p, uint32_t seq_id, struct ut_pb bundle);

/* samples.c: what a sequence has interned for samples, and one of them. */
void ut_pf_intern_code(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pb interned);
void ut_pf_sample(struct ut_pf *p, struct ut_pf_seq *s, uint64_t ts, struct ut_pb sample,
		  struct ut_pb ours);

/* lanes.c, flow.c, report.c */
void ut_pf_make_lanes(struct ut_pf *p);
void ut_pf_make_flows(struct ut_pf *p);
void ut_pf_report(struct ut_pf *p);
void ut_pf_broken(struct ut_pf *p); /* counts the packet at hand */
void ut_pf_warn(struct ut_pf *p, bool lost, const char *fmt, ...) UT_PRINTF(3, 4);
bool ut_pf_is_about_recording(uint32_t field);

#endif
