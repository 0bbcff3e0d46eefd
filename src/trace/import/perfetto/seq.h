/*
 * seq.h - packet sequences: the packets of one writer, in order.
 *
 * A writer says a name once and refers to it by number (iid) from then on; numbers are local to
 * the sequence and to the table. It starts over now and then (clears its state), so that a reader
 * who has missed packets can catch up; until then its packets cannot be understood.
 */
#ifndef UT_IMPORT_PERFETTO_SEQ_H
#define UT_IMPORT_PERFETTO_SEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "import/perfetto/protobuf.h"

struct ut_strtab;

/* A list of numbers that is filled again and again. */
struct ut_pf_list {
	uint64_t *items;
	size_t count, cap;
};

/* What samples refer to; functions, modules, sources, mappings: iid -> string id + 1. */
struct ut_pf_code {
	struct ut_idmap functions, modules, sources, mappings;
	struct ut_idmap frames, stacks; /* iid -> number in the trace's stacks */
};

void ut_pf_code_clear(struct ut_pf_code *c);
void ut_pf_code_release(struct ut_pf_code *c);

struct ut_pf_seq {
	uint32_t id;
	uint32_t epoch;         /* how often its state was cleared */
	bool valid;             /* nothing of its state is missing */
	bool has_track;         /* default_track is set */
	uint32_t default_clock; /* 0 = none */
	uint32_t thread;        /* older format: the track of its thread, index + 1 */
	uint64_t default_track; /* uuid */
	uint64_t last_ts;       /* ns */
	uint64_t reference_us;  /* older format: what the next difference counts from */
	struct ut_idmap names, cats, keys, texts; /* iid -> string id + 1 */
	struct ut_idmap places;                   /* iid -> index into ut_pf_seqs.places + 1 */
	struct ut_pf_list counters, doubles; /* default tracks of extra counter values: uuids */
	struct ut_pf_code code;
};

/* A place in somebody's source code. */
struct ut_pf_place {
	uint32_t file, function; /* string ids */
	uint64_t line;
};

struct ut_pf_seqs {
	struct ut_pf_seq **items; /* they stay where they are */
	size_t count, cap;
	struct ut_idmap by_id;
	struct ut_pf_seq *last; /* packets of one writer come in runs */
	struct ut_pf_place *places;
	size_t place_count, place_cap;
};

/* The sequence of that id, new if need be. */
struct ut_pf_seq *ut_pf_seq(struct ut_pf_seqs *all, uint32_t id);

/* The writer starts over. */
void ut_pf_seq_clear(struct ut_pf_seq *s);

void ut_pf_seq_intern(struct ut_pf_seqs *all, struct ut_pf_seq *s, struct ut_pb interned,
		      struct ut_strtab *strings);
void ut_pf_seq_defaults(struct ut_pf_seq *s, struct ut_pb defaults);
struct ut_pf_place ut_pf_read_place(struct ut_pb place, struct ut_strtab *strings);
void ut_pf_seqs_release(struct ut_pf_seqs *all);

void ut_pf_list_add(struct ut_pf_list *l, uint64_t value);

/* All elements of a repeated number. */
void ut_pf_list_read(struct ut_pf_list *l, const struct ut_pb_field *f, enum ut_pb_wire wire);

#endif
