/*
 * event_table.h - the events that an analysis works on: rows, their device stamps, their arguments.
 *
 * An event is a small row; what only some have lies elsewhere and is known by an index: stamps of
 * the device (one row of devs per device event), arguments (packed lists), members of the event
 * that the format does not know (a list, too), process and thread ids (each distinct one once).
 * Times are microseconds in doubles, because the formats of this tool count so and its users
 * compare digits. Passes reorder seq, not the rows.
 *
 * Owner: the caller of init. Not thread-safe; several tables may be filled at once.
 */
/* limits: the one table of the room */
#ifndef UT_ACELYZER_EVENT_TABLE_H
#define UT_ACELYZER_EVENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acelyzer/key.h"
#include "base/arena.h"
#include "base/idmap.h"
#include "model/arglists.h"
#include "model/strtab.h"

#define UT_ACE_STAMPS 5 /* TS1..TS5 */

enum ut_ace_event_flag {
	UT_ACE_HAS_DUR = 1u << 0,    /* for a counter: a length that is not shown */
	UT_ACE_HAS_CAT = 1u << 1,    /* even if it is empty */
	UT_ACE_HAS_ARGS = 1u << 2,   /* even if there are none */
	UT_ACE_IN_ATTR = 1u << 3,    /* arguments still stand under "attr" */
	UT_ACE_NORMAL = 1u << 4,     /* phase 1 has seen it: stamps count */
	UT_ACE_HAS_JOB = 1u << 5,    /* belongs to a file */
	UT_ACE_JOBNAME = 1u << 6,    /* shows the file's name */
	UT_ACE_COLL = 1u << 8,       /* has an argument CollGroup */
	UT_ACE_TORCH_ID = 1u << 9,   /* has External id or Python id */
	UT_ACE_CORE_USED = 1u << 10, /* shows "core used" */
	UT_ACE_SHOW_DEV = 1u << 11,  /* shows its device */
	UT_ACE_TS_ADJ = 1u << 12,    /* was moved by its job's offset */
	UT_ACE_SHOW_RANK = 1u << 13, /* shows its file's rank */
	UT_ACE_SHOW_CLASS = 1u << 14,
	UT_ACE_OPEN = 1u << 15,  /* a B that waits for its E */
	UT_ACE_DROP = 1u << 16,  /* is left out of seq by the next sweep */
	UT_ACE_CLOCK = 1u << 17, /* a power sample: dur is its clock */
	UT_ACE_ENDS = 1u << 18,  /* a bandwidth sample: its stamps still count */
	UT_ACE_CORR = 1u << 19,  /* has an argument correlation */
	UT_ACE_FLOW = 1u << 20,  /* the half-made F event of --flow; dev is a row of it */
	UT_ACE_NO_PID = 1u << 21,
	UT_ACE_NO_TS = 1u << 22,
	UT_ACE_NO_NAME = 1u << 23,
	UT_ACE_WAS_BE = 1u << 24, /* came as a pair of B and E */
};

struct ut_ace_event {
	double ts, dur;     /* us */
	uint32_t pid, tid;  /* index into ids; 0 = none */
	uint32_t name, cat; /* string ids */
	uint32_t args;      /* list */
	uint32_t extra;     /* list: further members */
	uint32_t dev;       /* row of devs; 0 = none */
	uint32_t job;       /* index of its file */
	uint32_t orig;      /* string id of the name before it was shortened; 0 = none */
	uint32_t flags;     /* enum ut_ace_event_flag */
	uint32_t link;      /* of the pass that runs */
	char ph;
	uint8_t cls; /* enum ut_ace_class, with UT_ACE_SHOW_CLASS */
	uint16_t reserved;
};

_Static_assert(sizeof(struct ut_ace_event) == 64, "an event is one line of cache");

enum ut_ace_dev_flag {
	UT_ACE_DEV_POWER = 1u << 0,      /* has a reading */
	UT_ACE_DEV_POWER_SHOW = 1u << 1, /* show it (else it stands among the arguments) */
	UT_ACE_DEV_ALL = 1u << 2,        /* all[] is filled */
	UT_ACE_DEV_US = 1u << 3,         /* stamps on the device's clock are known, too */
	UT_ACE_DEV_OVC = 1u << 4,        /* ovc counts */
	UT_ACE_DEV_ADJUST = 1u << 5,     /* adjust_ts and adjust_dur count */
	UT_ACE_DEV_HEX = 1u << 6,        /* the input had them in hex */
};

/* The cycle counter at five moments: copy in, ready, start, end, copy out. */
struct ut_ace_dev {
	int64_t ts[UT_ACE_STAMPS];    /* cycles */
	double all[UT_ACE_STAMPS];    /* the same on the host's clock, us */
	double power;                 /* cumulative charge */
	double adjust_ts, adjust_dur; /* release 1.2: what the first correction changed, us */
	int32_t ovc;                  /* how often the counter had wrapped */
	uint8_t flags;                /* enum ut_ace_dev_flag */
	uint8_t wrapped; /* the first stamp after a wrap inside the event, 2..5; 0 = none */
	uint8_t part;    /* the row of a split event: 1 = copy in, 2 = computation, 3 = copy out */
	uint8_t reserved;
};

enum ut_ace_id_kind {
	UT_ACE_ID_NONE,
	UT_ACE_ID_INT, /* num */
	UT_ACE_ID_U64, /* num, as unsigned */
	UT_ACE_ID_STR, /* str */
	UT_ACE_ID_RAW, /* str is JSON */
};

struct ut_ace_id {
	int64_t num;
	uint32_t str;
	enum ut_ace_id_kind kind;
};

enum ut_ace_dialect {
	UT_ACE_FLEX,
	UT_ACE_TORCH,
};

/* One input file. */
struct ut_ace_job {
	char *path;       /* owned */
	const char *base; /* the last part of it */
	size_t base_len;
	enum ut_ace_dialect dialect;
	int64_t rank;  /* -1 = unknown */
	double offset; /* us to add to its device events, or that were added */
	bool has_offset;
};

struct ut_ace_table {
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_arglists lists;
	struct ut_ace_event *events;
	size_t event_count, event_cap;
	struct ut_ace_dev *devs; /* devs[0] is unused */
	size_t dev_count, dev_cap;
	struct ut_ace_id *ids; /* ids[0] = none */
	size_t id_count, id_cap;
	struct ut_idmap int_ids, str_ids;
	uint32_t *seq; /* the events that are still there, in their order */
	size_t seq_count, seq_cap;
	struct ut_ace_job *jobs;
	size_t job_count, job_cap;
	unsigned int threads; /* that sorting and merging may use; 0 is 1 */
	void *scratch;        /* of sorts */
	size_t scratch_cap;
	uint32_t any_flags; /* of the events that were merged: what none has need not be looked for
			     */
};

void ut_ace_table_init(struct ut_ace_table *t);
void ut_ace_table_release(struct ut_ace_table *t);

/* Everything that from has becomes t's, which was released before; from is released, too. */
void ut_ace_table_take(struct ut_ace_table *t, struct ut_ace_table *from);

/* A new zeroed event, not in seq yet. Pointers to events are valid until the next call. */
struct ut_ace_event *ut_ace_event_add(struct ut_ace_table *t);
uint32_t ut_ace_dev_add(struct ut_ace_table *t);
uint32_t ut_ace_job_add(struct ut_ace_table *t, const char *path);

/* Appends to seq. */
void ut_ace_seq_add(struct ut_ace_table *t, uint32_t event);

/* Hands seq over to a pass that makes another one; the caller frees what it gets. */
uint32_t *ut_ace_seq_take(struct ut_ace_table *t, size_t *count);

/* Takes the events with UT_ACE_DROP out of seq. */
void ut_ace_seq_sweep(struct ut_ace_table *t);

/* The index of an id. */
uint32_t ut_ace_id_int(struct ut_ace_table *t, int64_t num);
uint32_t ut_ace_id_add(struct ut_ace_table *t, const struct ut_ace_id *id);

/* The number behind an id; what is no number is 0. */
static inline int64_t ut_ace_num(const struct ut_ace_table *t, uint32_t id)
{
	return t->ids[id].kind == UT_ACE_ID_INT ? t->ids[id].num : 0;
}

static inline bool ut_ace_is_num(const struct ut_ace_table *t, uint32_t id)
{
	return t->ids[id].kind == UT_ACE_ID_INT;
}

#define UT_ACE_AHEAD 16 /* events */

/*
 * Event i of a list of count. Going over millions of events is waiting for memory, so those that
 * come soon are asked for now.
 */
static inline struct ut_ace_event *ut_ace_listed(const struct ut_ace_table *t, const uint32_t *list,
						 size_t count, size_t i)
{
	if (i + UT_ACE_AHEAD < count)
		__builtin_prefetch(&t->events[list[i + UT_ACE_AHEAD]]);
	return &t->events[list[i]];
}

/* The same with its stamps. */
static inline struct ut_ace_event *ut_ace_listed_dev(const struct ut_ace_table *t,
						     const uint32_t *list, size_t count, size_t i)
{
	if (i + UT_ACE_AHEAD < count) {
		const struct ut_ace_event *e = ut_ace_listed(t, list, count, i + UT_ACE_AHEAD);

		__builtin_prefetch(&t->devs[e->dev]);
		__builtin_prefetch(&t->devs[e->dev].flags);
	}
	return &t->events[list[i]];
}

/* Event i of seq. */
static inline struct ut_ace_event *ut_ace_at(const struct ut_ace_table *t, size_t i)
{
	return ut_ace_listed(t, t->seq, t->seq_count, i);
}

static inline struct ut_ace_event *ut_ace_at_dev(const struct ut_ace_table *t, size_t i)
{
	return ut_ace_listed_dev(t, t->seq, t->seq_count, i);
}

/* Is it an event of the device, as far as the FLEX dialect knows: a span with stamps? */
static inline bool ut_ace_has_stamps(const struct ut_ace_event *e)
{
	return e->dev && e->ph == 'X' && (e->flags & UT_ACE_NORMAL);
}

static inline double ut_ace_end(const struct ut_ace_event *e)
{
	return e->ts + e->dur;
}

static inline struct ut_str ut_ace_str(const struct ut_ace_table *t, uint32_t id)
{
	return ut_strtab_get(&t->strings, id);
}

#endif
